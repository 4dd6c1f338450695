#include <undertext/view.hpp>

#include <algorithm>
#include <cstddef>

#include "history/cuts.hpp"
#include "history/linked.hpp"
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

template <class Ask>
auto asking_units(const View::Rep& rep, Ask ask) {
  return rep.log.links_known ? ask(rep) : ask(with_links(rep));
}

}  // namespace

std::uint64_t View::size() const { return rep_->is_log ? rep_->log_length : rep_->placed.size(); }

ViewSums View::sums() const {
  return rep_->is_log ? sums(0, size()) : public_sums(rep_->placed.entries.sums());
}

ViewSums View::sums(std::uint64_t start, std::uint64_t end) const {
  if (rep_->is_log) return public_sums(rep_->log.stored.sums(start, std::min(end, size())));
  return public_sums(rep_->placed.entries.sums(start, end));
}

std::uint64_t View::count(Role role, std::uint64_t start, std::uint64_t end) const {
  CountOf count;
  count.wanted[static_cast<std::size_t>(role)] = true;
  return rep_->is_log ? rep_->log.stored.total(start, std::min(end, size()), count)
                      : rep_->placed.entries.total(start, end, count);
}

Ordinal View::ordinal(std::uint64_t index) const {
  return Ordinal(rep_->is_log ? index : rep_->placed.entries[index].ordinal);
}

Message View::operator[](std::uint64_t index) const {
  return rep_->log.message(static_cast<std::uint32_t>(ordinal(index).value));
}

std::int64_t View::time_ms(std::uint64_t index) const {
  return rep_->log.stored[ordinal(index).value].time_ms;
}

std::uint32_t View::tokens(std::uint64_t index) const {
  return rep_->log.stored[ordinal(index).value].tokens;
}

std::optional<std::uint64_t> View::index_of(Ordinal ordinal) const {
  if (ordinal.value >= rep_->log.size()) return {};
  if (!rep_->is_log) return rep_->placed.index_of(static_cast<std::uint32_t>(ordinal.value));
  if (ordinal.value < rep_->log_length) return ordinal.value;
  return {};
}

std::optional<std::uint64_t> View::index_of_role(Role role, std::uint64_t k) const {
  CountOf count;
  count.wanted[static_cast<std::size_t>(role)] = true;
  const std::uint64_t index =
      rep_->is_log ? rep_->log.stored.seek(count, k) : rep_->placed.entries.seek(count, k);
  if (index >= size()) return {};
  return index;
}

std::uint64_t View::tail_within(std::uint64_t tokens_max) const {
  const std::uint64_t all = rep_->is_log ? sums().tokens() : rep_->placed.entries.total(TokensOf());
  if (all <= tokens_max) return 0;
  // The tail after index i fits when the tokens up to and with i are at least all - tokens_max.
  const std::uint64_t target = all - tokens_max - 1;
  return 1 + (rep_->is_log ? rep_->log.stored.seek(TokensOf(), target)
                           : rep_->placed.entries.seek(TokensOf(), target));
}

bool View::is_legal_cut(std::uint64_t index) const {
  return rep_->is_log || asking_units(*rep_, [&](const View::Rep& rep) {
           return undertext::is_legal_cut(rep.log, rep.placed, index);
         });
}

std::uint64_t View::next_legal_cut(std::uint64_t index) const {
  return rep_->is_log ? index : asking_units(*rep_, [&](const View::Rep& rep) {
    return undertext::next_legal_cut(rep.log, rep.placed, index);
  });
}

std::uint64_t View::previous_legal_cut(std::uint64_t index) const {
  return rep_->is_log ? index : asking_units(*rep_, [&](const View::Rep& rep) {
    return undertext::previous_legal_cut(rep.log, rep.placed, index);
  });
}

View::iterator View::begin() const {
  iterator it;
  it.rep_ = rep_.get();
  it.look_ahead();
  it.read_on();
  return it;
}

View::iterator View::end() const {
  iterator it;
  it.rep_ = rep_.get();
  it.index_ = size();
  return it;
}

void View::iterator::read_on() {
  at_ = 0;
  count_ = ahead_count_;
  half_ ^= read_max;
  look_ahead();
}

// Messages lie scattered over the heap. Looking all of a stretch up while the stretch before it is
// read lets them come at once, not one after another.
void View::iterator::look_ahead() {
  const Message** const messages = messages_ + (half_ ^ read_max);
  std::uint32_t* const ordinals = ordinals_ + (half_ ^ read_max);
  std::uint32_t count = 0;
  std::shared_ptr<std::vector<Message>> fetched;
  Stretch stretch;
  const auto look_up = [&](std::uint32_t ordinal) {
    if (ordinal - stretch.begin >= stretch.count) {
      Stretch& known = stretches_[(ordinal / stretch_ordinals) % stretch_count];
      if (ordinal - known.begin >= known.count) {
        rep_->log.check_ordinal(ordinal);
        StoredTree::Walk walk;
        const StoredTree::Chunk c = rep_->log.stored.chunk(ordinal, walk);
        known = {c.items, static_cast<std::uint32_t>(c.begin),
                 static_cast<std::uint32_t>(c.end - c.begin)};
      }
      stretch = known;
    }
    const MessageSlot& body =
        static_cast<const StoredMessage*>(stretch.items)[ordinal - stretch.begin].body;
    if (body.is_here()) {
      (*body).prefetch();
      messages[count] = &*body;
    } else {
      if (!fetched) {
        fetched = std::make_shared<std::vector<Message>>();
        fetched->reserve(read_max);  // pointed into
      }
      fetched->push_back(rep_->log.bodies->body(ordinal));
      messages[count] = &fetched->back();
    }
    if (rep_->log.work) rep_->log.work->read(messages[count]->json());
    ordinals[count++] = ordinal;
  };
  if (rep_->is_log) {
    const std::uint64_t end = std::min<std::uint64_t>(rep_->log_length, ahead_index_ + read_max);
    for (std::uint64_t i = ahead_index_; i < end; ++i) look_up(static_cast<std::uint32_t>(i));
  } else if (ahead_index_ < rep_->placed.size()) {
    EntryTree::Walk walk{walk_parent_, walk_child_};
    const EntryTree::Chunk c = rep_->placed.entries.chunk(ahead_index_, walk);
    walk_parent_ = walk.parent;
    walk_child_ = walk.child;
    for (const Entry* e = c.items; e != c.items + (c.end - c.begin); ++e) look_up(e->ordinal);
  }
  fetched_[half_ == 0 ? 1 : 0] = std::move(fetched);
  ahead_count_ = count;
  ahead_index_ += count;
}

}  // namespace undertext
