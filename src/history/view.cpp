#include <undertext/view.hpp>

#include <algorithm>
#include <cstddef>

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

std::uint64_t View::count(Role role, std::uint64_t start, std::uint64_t end) const {
  CountOf count;
  count.wanted[static_cast<std::size_t>(role)] = true;
  return rep_->is_log ? rep_->log.stored.total(start, std::min(end, size()), count) : rep_->placed.entries.total(start, end, count);
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
  CountOf count;
  count.wanted[static_cast<std::size_t>(role)] = true;
  const std::uint64_t index = rep_->is_log ? rep_->log.stored.seek(count, k) : rep_->placed.entries.seek(count, k);
  if (index >= size()) return {};
  return index;
}

std::uint64_t View::tail_within(std::uint64_t tokens_max) const {
  const std::uint64_t all = rep_->is_log ? sums().tokens() : rep_->placed.entries.total(TokensOf());
  if (all <= tokens_max) return 0;
  // The tail after index i fits when the tokens up to and with i are at least all - tokens_max.
  const std::uint64_t target = all - tokens_max - 1;
  return 1 + (rep_->is_log ? rep_->log.stored.seek(TokensOf(), target) : rep_->placed.entries.seek(TokensOf(), target));
}

View::iterator View::begin() const {
  iterator it;
  it.rep_ = rep_.get();
  if (it.next_entries()) it.find_message();
  return it;
}

View::iterator View::end() const {
  iterator it;
  it.rep_ = rep_.get();
  it.index_ = size();
  return it;
}

bool View::iterator::next_entries() {
  static_assert(entry_bytes == sizeof(Entry) && offsetof(Entry, ordinal) == 0);
  message_ = nullptr;
  if (rep_->is_log) {
    ordinal_ = index_;
    return index_ < rep_->log_length;
  }
  if (index_ >= rep_->placed.size()) return false;
  EntryTree::Walk walk{walk_parent_, walk_child_};
  const EntryTree::Chunk c = rep_->placed.entries.chunk(index_, walk);
  walk_parent_ = walk.parent;
  walk_child_ = walk.child;
  entry_ = reinterpret_cast<const std::byte*>(c.items);
  left_ = c.end - c.begin - 1;
  ordinal_ = c.items->ordinal;
  return true;
}

void View::iterator::find_message() {
  static_assert(stored_bytes == sizeof(StoredMessage) && offsetof(StoredMessage, message) == 0);
  const StoredTree::Chunk c = rep_->log.stored.chunk(ordinal_);
  stretches_[(ordinal_ / stretch_ordinals) % stretch_count] = {reinterpret_cast<const std::byte*>(c.items),
                                                               static_cast<std::uint32_t>(c.begin),
                                                               static_cast<std::uint32_t>(c.end - c.begin)};
  // What comes next may lie scattered over the heap; let it come while this one is being read.
  if (ordinal_ == c.begin) {
    for (std::uint64_t k = 0; k < c.end - c.begin; ++k) c.items[k].message.prefetch();
  }
  message_ = &c.items[ordinal_ - c.begin].message;
}

}  // namespace undertext
