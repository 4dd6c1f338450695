#include "history/cuts.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace undertext {
namespace {

// A pair, or a join, on both sides of a cut: indices of its first and its last message.
struct Bond {
  std::uint64_t first = 0, last = 0;
};

// The pairs of a view, by message. Each message is read once at most.
class Pairings {
 public:
  Pairings(const Log& log_of_all, const PlacedView& view_of_it) : log(log_of_all), view(view_of_it) {}

  // Those in which this message of the view is one half and another message the other.
  const std::vector<PairPlaces>& of(std::uint32_t ordinal) {
    const auto [known, is_new] = known_.try_emplace(ordinal);
    if (!is_new || !log.message(ordinal).has_tool_links()) return known->second;
    const std::vector<ToolLink> links = log.message(ordinal).tool_links();
    for (const LinkedId& linked : linked_ids(links)) {
      for (const PairPlaces& pair : pairs_of(log, view, linked.id, ordinal)) {
        if (pair.has(ordinal) && pair.call != pair.result) known->second.push_back(pair);
      }
    }
    return known->second;
  }

  const Log& log;
  const PlacedView& view;

 private:
  std::unordered_map<std::uint32_t, std::vector<PairPlaces>> known_;
};

std::optional<Bond> pair_across(Pairings& pairings, std::uint64_t cut) {
  std::optional<Bond> found;
  const EntryTree& entries = pairings.view.entries;
  const std::uint32_t place = entries[cut - 1].place;
  entries.visit(
      cut, entries.size(), [&](const EntrySums& s) { return s.reach_min <= place; },
      [&](std::uint64_t, const Entry& e) {
        if (e.reach > place) return true;
        // `reach` may be lower than it must be: the message tells.
        for (const PairPlaces& pair : pairings.of(e.ordinal)) {
          const Bond bond{std::min(pair.call, pair.result), std::max(pair.call, pair.result)};
          if (bond.first < cut && cut <= bond.last) found = bond;
        }
        return !found;
      });
  return found;
}

// Whether the model may have thought before a call that the message at `index` answers: no such call stands further back than the message
// reaches, and one behind it would reach back to it. Spares most messages the reading.
bool may_answer_thinking(const Pairings& pairings, std::uint64_t index) {
  constexpr int looks_max = 8;
  const EntryTree& entries = pairings.view.entries;
  const Entry& entry = entries[index];
  int looks = 0;
  for (std::uint64_t i = index; i-- > 0;) {
    const Entry& earlier = entries[i];
    if (earlier.place < entry.reach) break;
    if (++looks > looks_max || pairings.log.message(earlier.ordinal).has_reasoning()) return true;
  }
  return !entries.visit(
      index + 1, entries.size(), [&](const EntrySums& s) { return s.reach_min <= entry.place; },
      [&](std::uint64_t, const Entry& later) { return later.reach > entry.place; });
}

// A provider wants a turn's thinking back unchanged as long as the turn's tools are part of the request. So what an assistant says after a
// result belongs to that result when it thinks itself, or thought when it made the call. System messages in between do not count.
std::optional<Bond> thinking_across(Pairings& pairings, std::uint64_t cut) {
  const EntryTree& entries = pairings.view.entries;
  Bond bond{cut - 1, cut};
  while (bond.last + 1 < entries.size() && entries[bond.last].role() == Role::system) ++bond.last;
  const Entry& after = entries[bond.last];
  if (after.role() != Role::assistant) return {};
  while (bond.first > 0 && entries[bond.first].role() == Role::system) --bond.first;
  const Entry& before = entries[bond.first];
  if (before.role() != Role::tool && before.role() != Role::user) return {};
  const bool thinks = pairings.log.message(after.ordinal).has_reasoning();
  if (!thinks && !may_answer_thinking(pairings, bond.first)) return {};
  for (const PairPlaces& pair : pairings.of(before.ordinal)) {
    if (pair.result_ordinal == before.ordinal && (thinks || pairings.log.message(pair.call_ordinal).has_reasoning())) return bond;
  }
  return {};
}

std::optional<Bond> bond_across(Pairings& pairings, std::uint64_t cut) {
  if (cut == 0 || cut >= pairings.view.size()) return {};
  if (std::optional<Bond> pair = pair_across(pairings, cut)) return pair;
  return thinking_across(pairings, cut);
}

// Stretches that take in whatever is bound to them. What the stretches began with is found at their edges; each message that came in since is
// asked what it is bound to itself. So a turn of k messages costs k times O(log n), however long the stretches are.
class Growth {
 public:
  Growth(const Log& log, const PlacedView& view, Stretches kept)
      : pairings_(log, view), entries_(view.entries), kept_(std::move(kept)) {}

  Stretches grown() {
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const std::uint64_t next = k + 1 < kept_.size() ? kept_[k + 1].start : entries_.size();
      look_across(kept_[k].start, kept_[k].end);
      look_across(kept_[k].end, next);
    }
    while (!open_.empty()) {
      const std::uint64_t index = open_.back();
      open_.pop_back();
      add_partners(entries_[index].ordinal);
      add_thinking(index);
      add_thinking(index + 1);
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

  // What is bound across `edge`, and lies before `next_edge`. Places never fall, so of the edges before an entry the nearest tells.
  void look_across(std::uint64_t edge, std::uint64_t next_edge) {
    if (edge == 0 || edge >= entries_.size()) return;
    const std::uint32_t place = entries_[edge - 1].place;
    entries_.visit(
        edge, next_edge, [&](const EntrySums& s) { return s.reach_min <= place; },
        [&](std::uint64_t, const Entry& e) {
          if (e.reach <= place) add_partners(e.ordinal);
          return true;
        });
    add_thinking(edge);
  }
  void add_partners(std::uint32_t ordinal) {
    for (const PairPlaces& pair : pairings_.of(ordinal)) join(pair.call, pair.result);
  }
  void add_thinking(std::uint64_t cut) {
    if (cut == 0 || cut >= entries_.size()) return;
    if (const std::optional<Bond> bond = thinking_across(pairings_, cut)) join(bond->first, bond->last);
  }

  Pairings pairings_;
  const EntryTree& entries_;
  Stretches kept_;
  std::set<std::uint64_t> more_;
  std::vector<std::uint64_t> open_;  // of more_, those yet to be asked
};

}  // namespace

bool is_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index) {
  Pairings pairings(log, view);
  return !view.has_pairs() || !bond_across(pairings, index);
}

std::uint64_t next_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index) {
  if (!view.has_pairs()) return index;
  Pairings pairings(log, view);
  while (const std::optional<Bond> bond = bond_across(pairings, index)) index = bond->last + 1;
  return index;
}

std::uint64_t previous_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index) {
  if (!view.has_pairs()) return index;
  Pairings pairings(log, view);
  while (const std::optional<Bond> bond = bond_across(pairings, index)) index = bond->first;
  return index;
}

Stretches with_whole_turns(const Log& log, const PlacedView& view, Stretches kept) {
  if (!view.has_pairs()) return kept;
  return Growth(log, view, std::move(kept)).grown();
}

}  // namespace undertext
