#include "history/cuts.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "history/units.hpp"

namespace undertext {
namespace {

// Two messages that belong together, on both sides of a cut: indices.
struct Bond {
  std::uint64_t first = 0, last = 0;
};

// What is bound to what in a view.
class Bonds {
 public:
  Bonds(const Log& log, const PlacedView& view, Whole whole = Whole::turns)
      : reasoning_(log, view),
        log_(log),
        entries_(view.entries),
        whole_(whole),
        search_(log, view) {}

  // Calls visit(pair) -> bool for each pair of this message with another, until it answers false;
  // answers whether it got to the end. visit() asks for no other pairs.
  template <class Visit>
  bool visit_pairs(std::uint64_t index, Visit visit) const {
    const std::uint32_t ordinal = entries_[index].ordinal;
    for (const Mention& mention : log_.mentions(ordinal)) {
      for (const PairPlaces& pair : search_.pairs_of(mention.hash, ordinal, index)) {
        if (pair.call != pair.result && !visit(pair)) return false;
      }
    }
    return true;
  }

  // A bond across the cut. Of those with one reasoning, and of the pairs, the one that ends last.
  std::optional<Bond> across(std::uint64_t cut) const {
    if (cut == 0 || cut >= entries_.size()) return {};
    if (const std::optional<std::uint64_t> reasoning = reasoning_.before(cut)) {
      const std::optional<std::uint64_t> last = reasoning_.last(*reasoning);
      if (last && *last >= cut) return Bond{*reasoning, *last};
    }
    if (std::optional<Bond> pair = pair_across(cut)) return pair;
    return thinking_across(cut);
  }

  // A provider wants a turn's thinking back unchanged as long as the turn's tools are part of the
  // request. So what an assistant says after a result belongs to that result when it thinks itself,
  // or thought when it made the call. System messages in between do not count.
  std::optional<Bond> thinking_across(std::uint64_t cut) const {
    if (cut == 0 || cut >= entries_.size()) return {};
    Bond bond{cut - 1, cut};
    while (bond.last + 1 < entries_.size() && entries_[bond.last].role() == Role::system)
      ++bond.last;
    const Entry& after = entries_[bond.last];
    if (after.role() != Role::assistant || (whole_ == Whole::steps && after.reasons)) return {};
    while (bond.first > 0 && entries_[bond.first].role() == Role::system) --bond.first;
    const Entry& before = entries_[bond.first];
    if (before.role() != Role::tool && before.role() != Role::user) return {};
    if (!after.reasons && !may_answer_thinking(bond.first)) return {};
    const bool none = visit_pairs(bond.first, [&](const PairPlaces& pair) {
      return pair.result_ordinal != before.ordinal ||
             !(after.reasons || entries_[pair.call].reasons);
    });
    return none ? std::nullopt : std::optional(bond);
  }

  const Reasoning& reasoning() const { return reasoning_; }

  // Whether it is a message of results.
  bool answers(const Entry& e) const {
    return e.role() == Role::tool || (e.role() == Role::user && log_.count_links(e.ordinal) > 0);
  }

 private:
  std::optional<Bond> pair_across(std::uint64_t cut) const {
    std::optional<Bond> found;
    const std::uint32_t place = entries_[cut - 1].place;
    entries_.visit_back(
        cut, entries_.size(), [&](const EntrySums& s) { return s.reach_min <= place; },
        [&](std::uint64_t index, const Entry& e) {
          if (e.reach > place) return true;
          // `reach` may be lower than it must be: the links tell.
          return visit_pairs(index, [&](const PairPlaces& pair) {
            const Bond bond{std::min(pair.call, pair.result), std::max(pair.call, pair.result)};
            if (bond.first < cut && cut <= bond.last) found = bond;
            return !found;
          });
        });
    return found;
  }

  // Whether the model may have thought before a call that the message at `index` answers: no such
  // call stands further back than the message reaches, and one behind it would reach back to it.
  // Spares most messages the search for their calls.
  bool may_answer_thinking(std::uint64_t index) const {
    const Entry& entry = entries_[index];
    bool found = false;
    entries_.visit_back(
        0, index,
        [&](const EntrySums& s) { return s.reasoning_count > 0 || s.place_max < entry.reach; },
        [&](std::uint64_t, const Entry& earlier) {
          if (earlier.place < entry.reach) return false;
          found = earlier.reasons;
          return !found;
        });
    return found ||
           !entries_.visit(
               index + 1, entries_.size(),
               [&](const EntrySums& s) { return s.reach_min <= entry.place; },
               [&](std::uint64_t, const Entry& later) { return later.reach > entry.place; });
  }

  const Reasoning reasoning_;
  const Log& log_;
  const EntryTree& entries_;
  const Whole whole_;
  mutable PairSearch search_;  // remembers
};

// Stretches that take in whatever is bound to them. What the stretches began with is found at their
// edges; each message that came in since is asked what it is bound to itself. So a turn of k
// messages costs k times O(log n), however long the stretches are.
class Growth {
 public:
  Growth(const Log& log, const PlacedView& view, Stretches kept, Whole whole)
      : bonds_(log, view, whole), entries_(view.entries), kept_(std::move(kept)) {}

  Stretches grown() {
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const std::uint64_t next = k + 1 < kept_.size() ? kept_[k + 1].start : entries_.size();
      look_across(kept_[k].start, kept_[k].end);
      look_across(kept_[k].end, next);
    }
    while (!open_.empty()) {
      const std::uint64_t index = open_.back();
      open_.pop_back();
      add_partners(index);
      if (!is_in(parallel_, index)) look_back_across(index, index + 1, end_of_results(index));
      add_thinking(index);
      add_thinking(index + 1);
      if (entries_[index].reasons) add_following(index);
      if (const std::optional<std::uint64_t> reasoning = bonds_.reasoning().before(index)) {
        if (bonds_.reasoning().last(*reasoning) >= index) join(*reasoning, index);
      }
    }
    return with_indices(kept_, {more_.begin(), more_.end()});
  }

 private:
  bool has(std::uint64_t index) const { return more_.count(index) > 0 || keeps(kept_, index); }
  void join(std::uint64_t a, std::uint64_t b) {
    const bool has_a = has(a);
    if (has_a == has(b)) return;
    const std::uint64_t other = has_a ? b : a;
    more_.insert(other);
    open_.push_back(other);
  }

  // What is bound across `edge`, and lies before `next_edge`. Places never fall, so of the edges
  // before an entry the nearest tells.
  void look_across(std::uint64_t edge, std::uint64_t next_edge) {
    if (edge == 0 || edge >= entries_.size()) return;
    look_back_across(edge, edge, next_edge);
    add_thinking(edge);
    const std::optional<std::uint64_t> reasoning = bonds_.reasoning().before(edge);
    if (reasoning && reasoning != last_reasoning_) add_following(*reasoning);
    if (reasoning) last_reasoning_ = reasoning;
  }
  // The pairs of the messages [from, to) that reach across `edge`.
  void look_back_across(std::uint64_t edge, std::uint64_t from, std::uint64_t to) {
    if (edge == 0) return;
    const std::uint32_t place = entries_[edge - 1].place;
    entries_.visit(
        from, to, [&](const EntrySums& s) { return s.reach_min <= place; },
        [&](std::uint64_t index, const Entry& e) {
          if (e.reach <= place) add_partners(index);
          return true;
        });
  }
  void add_partners(std::uint64_t index) {
    bonds_.visit_pairs(index, [&](const PairPlaces& pair) {
      join(pair.call, pair.result);
      add_between(pair.call, pair.result);
      return true;
    });
  }
  static bool is_in(const Range& range, std::uint64_t index) {
    return range.start <= index && index < range.end;
  }
  // Of the assistants from `index` on and the results that follow them.
  std::uint64_t end_of_results(std::uint64_t index) const {
    bool answers = bonds_.answers(entries_[index]);
    std::uint64_t end = entries_.size();
    entries_.visit(
        index + 1, end, [](const EntrySums&) { return true; },
        [&](std::uint64_t i, const Entry& e) {
          const bool is_result = bonds_.answers(e);
          const bool goes_on =
              is_result || e.role() == Role::system || (e.role() == Role::assistant && !answers);
          answers = answers || is_result;
          if (!goes_on) end = i;
          return goes_on;
        });
    return end;
  }
  // Calls of one time may each have a message of their own, so that others and their results stand
  // between a call and its result: assistants first, then results. All of them stay or none,
  // because a summary in the place of some would part a call from its result.
  void add_between(std::uint64_t call, std::uint64_t result) {
    const auto has_inside = [&](const Range& range) {
      return call < range.start && range.end <= result;
    };
    if (result <= call + 1 || has_inside(no_parallel_)) return;
    const bool is_known = is_in(parallel_, call);
    const std::uint64_t start = is_known ? parallel_.end : call + 1;
    std::optional<std::uint64_t> first_result;
    if (is_known) first_result = parallel_.end - 1;
    std::vector<std::uint64_t> between;
    const bool is_parallel = entries_.visit(
        start, std::max(start, result), [](const EntrySums&) { return true; },
        [&](std::uint64_t index, const Entry& e) {
          if (e.role() == Role::system) return true;
          const bool answers = bonds_.answers(e);
          if (answers && !first_result) first_result = index;
          if (!answers && (e.role() == Role::user || first_result)) {
            no_parallel_ = {e.role() == Role::user ? index : *first_result, index + 1};
            return false;
          }
          between.push_back(index);
          return true;
        });
    if (!is_parallel) return;
    for (const std::uint64_t index : between)
      if (has(index)) join(call, index);
    if (!has(call)) return;
    join(call, result);
    for (const std::uint64_t index : between) join(call, index);
    parallel_ = {is_known ? parallel_.start : call, std::max(start, result + 1)};
  }
  void add_thinking(std::uint64_t cut) {
    if (const std::optional<Bond> bond = bonds_.thinking_across(cut)) join(bond->first, bond->last);
  }
  // Also what stands in between: a summary in its place would part the two.
  void add_following(std::uint64_t reasoning) {
    const std::optional<std::uint64_t> last = bonds_.reasoning().last(reasoning);
    if (!last) return;
    entries_.visit(
        reasoning + 1, *last + 1, [](const EntrySums&) { return true; },
        [&](std::uint64_t index, const Entry& e) {
          if (e.role() != Role::system) join(reasoning, index);
          return true;
        });
  }

  Bonds bonds_;
  const EntryTree& entries_;
  Stretches kept_;
  std::set<std::uint64_t> more_;
  std::vector<std::uint64_t> open_;  // of more_, those yet to be asked
  std::optional<std::uint64_t> last_reasoning_;
  Range parallel_ = {0, 0};     // calls and results that stand together as above
  Range no_parallel_ = {0, 0};  // nothing that has all of this inside does
};

}  // namespace

bool is_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index) {
  return !view.may_have_units() || !Bonds(log, view).across(index);
}

std::uint64_t next_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index,
                             Whole whole) {
  if (!view.may_have_units()) return index;
  const Bonds bonds(log, view, whole);
  while (const std::optional<Bond> bond = bonds.across(index)) index = bond->last + 1;
  return index;
}

std::uint64_t previous_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index,
                                 Whole whole) {
  if (!view.may_have_units()) return index;
  const Bonds bonds(log, view, whole);
  while (const std::optional<Bond> bond = bonds.across(index)) index = bond->first;
  return index;
}

Stretches with_whole_turns(const Log& log, const PlacedView& view, Stretches kept, Whole whole) {
  if (!view.may_have_units()) return kept;
  return Growth(log, view, std::move(kept), whole).grown();
}

}  // namespace undertext
