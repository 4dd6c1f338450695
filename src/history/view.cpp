#include <undertext/view.hpp>

#include <algorithm>

#include "history/state.hpp"

namespace undertext {
namespace {

ViewSums public_sums(const MessageSums& sums) {
  ViewSums s;
  std::copy(std::begin(sums.role_counts), std::end(sums.role_counts), s.role_counts);
  std::copy(std::begin(sums.role_tokens), std::end(sums.role_tokens), s.role_tokens);
  s.bytes = sums.bytes;
  return s;
}

}  // namespace

std::uint64_t View::size() const { return rep_->is_log ? rep_->log_length : rep_->placed.size(); }

ViewSums View::sums() const { return rep_->is_log ? sums(0, size()) : public_sums(rep_->placed.entries.sums()); }

ViewSums View::sums(std::uint64_t start, std::uint64_t end) const {
  if (rep_->is_log) return public_sums(rep_->log.stored.sums(start, std::min(end, size())));
  return public_sums(rep_->placed.entries.sums(start, end));
}

Ordinal View::ordinal(std::uint64_t index) const { return Ordinal(rep_->is_log ? index : rep_->placed.entries[index].ordinal); }

Message View::operator[](std::uint64_t index) const { return rep_->log.stored[ordinal(index).value].message; }

std::int64_t View::time_ms(std::uint64_t index) const { return rep_->log.stored[ordinal(index).value].time_ms; }

std::uint32_t View::tokens(std::uint64_t index) const { return rep_->log.stored[ordinal(index).value].tokens; }

std::optional<std::uint64_t> View::index_of(Ordinal ordinal) const {
  if (ordinal.value >= rep_->log.size()) return {};
  if (!rep_->is_log) return rep_->placed.index_of(static_cast<std::uint32_t>(ordinal.value));
  if (ordinal.value < rep_->log_length) return ordinal.value;
  return {};
}

std::optional<std::uint64_t> View::index_of_role(Role role, std::uint64_t k) const {
  const auto count = [r = static_cast<std::size_t>(role)](const MessageSums& s) { return s.role_counts[r]; };
  const std::uint64_t index = rep_->is_log ? rep_->log.stored.seek(count, k) : rep_->placed.entries.seek(count, k);
  if (index >= size()) return {};
  return index;
}

std::uint64_t View::tail_within(std::uint64_t tokens_max) const {
  const std::uint64_t all = sums().tokens();
  if (all <= tokens_max) return 0;
  // The tail after index i fits when the tokens up to and with i are at least all - tokens_max.
  const auto tokens = [](const MessageSums& s) { return s.tokens(); };
  const std::uint64_t target = all - tokens_max - 1;
  return 1 + (rep_->is_log ? rep_->log.stored.seek(tokens, target) : rep_->placed.entries.seek(tokens, target));
}

View::iterator View::begin() const {
  iterator it;
  it.rep_ = rep_.get();
  it.load();
  return it;
}

View::iterator View::end() const {
  iterator it;
  it.rep_ = rep_.get();
  it.index_ = size();
  return it;
}

// Neighbours in the view are mostly neighbours in the log too, so both are read a stretch at a time.
void View::iterator::load() {
  if (index_ >= entries_end_ && !rep_->is_log) {
    message_ = nullptr;
    if (index_ >= rep_->placed.size()) return;
    const EntryTree::Chunk c = rep_->placed.entries.chunk(index_);
    entries_ = c.items;
    entries_begin_ = c.begin;
    entries_end_ = c.end;
  } else if (rep_->is_log && index_ >= rep_->log_length) {
    message_ = nullptr;
    return;
  }
  ordinal_ = rep_->is_log ? index_ : static_cast<const Entry*>(entries_)[index_ - entries_begin_].ordinal;
  if (ordinal_ < stored_begin_ || ordinal_ >= stored_end_) {
    const StoredTree::Chunk c = rep_->log.stored.chunk(ordinal_);
    stored_ = c.items;
    stored_begin_ = c.begin;
    stored_end_ = c.end;
  }
  message_ = &static_cast<const StoredMessage*>(stored_)[ordinal_ - stored_begin_].message;
}

}  // namespace undertext
