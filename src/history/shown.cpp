#include "history/shown.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "history/pairs.hpp"
#include "message/redacted.hpp"

namespace undertext {
namespace {

class Returning {
 public:
  Returning(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals)
      : rep_(rep), log_(rep.log), view_(rep.head.placed()), all_(ordinals.begin(), ordinals.end()) {}

  std::vector<std::uint32_t> take() {
    add_units_last_seen();
    // A partner may have been hidden by itself, or with versions that were given up since.
    for (std::vector<std::uint32_t> more = lone_partners(); !more.empty(); more = lone_partners())
      all_.insert(more.begin(), more.end());
    std::vector<std::uint32_t> found(all_.begin(), all_.end());
    log_.order.sort(found);
    return found;
  }

 private:
  bool can_return(std::uint32_t ordinal) const {
    return !view_.shows(ordinal) && !stand_in(log_, view_, ordinal) &&
           (rep_.first_version == 0 || !was_given_up(log_.message(ordinal)));
  }
  bool is_here(std::uint32_t ordinal) const { return all_.contains(ordinal) || view_.shows(ordinal); }

  // Calls visit(state, its view, indices) for the states in which some of `wanted` were last seen, the newest first. Looks only at what each state has and
  // the one after it has not.
  template <class Visit>
  void visit_last_seen(std::set<std::uint32_t> wanted, Visit visit) const {
    EntryTree newer = rep_.head.view;
    for (std::uint64_t k = rep_.states.size(); k-- > 0 && !wanted.empty();) {
      const PlacedView then = rep_.states[k].placed();
      const std::uint64_t prefix = then.entries.common_prefix(newer);
      const std::uint64_t suffix = then.entries.common_suffix(newer, std::min(then.size(), newer.size()) - prefix);
      std::vector<std::uint64_t> indices;
      then.entries.visit(
          prefix, then.size() - suffix,
          [&](const EntrySums& s) {
            return !wanted.empty() && s.ordinal_max >= *wanted.begin() && s.ordinal_min <= *wanted.rbegin();
          },
          [&](std::uint64_t index, const Entry& e) {
            if (wanted.erase(e.ordinal) > 0) indices.push_back(index);
            return true;
          });
      if (!indices.empty()) visit(k, then, indices);
      newer = then.entries;
    }
  }

  void add_units_last_seen() {
    visit_last_seen(all_, [&](std::uint64_t, const PlacedView& then, const std::vector<std::uint64_t>& indices) {
      const Stretches units = mend_units(log_, then, with_indices({}, indices), Pairs::grow, {});
      for (const std::uint32_t ordinal : then.ordinals(units)) {
        if (can_return(ordinal)) all_.insert(ordinal);
      }
    });
  }

  struct Lone {
    std::uint32_t ordinal;
    bool wants_call;
    std::vector<std::uint32_t> others;  // that could be its partner
  };
  std::vector<Lone> lone() const {
    std::vector<Lone> found;
    for (const std::uint32_t ordinal : all_) {
      for (const Mention& mention : log_.mentions(ordinal)) {
        std::vector<std::uint32_t> calls, results;
        bool has_call = mention.calls, has_result = mention.answers;
        const auto look = [&](const Link& link, std::uint64_t) {
          if (is_here(link.ordinal)) (link.is_call() ? has_call : has_result) = true;
          (link.is_call() ? calls : results).push_back(link.ordinal);
          return true;
        };
        log_.visit_mentions_below(mention.hash, ordinal, look);
        log_.visit_mentions_from(mention.hash, std::uint64_t{ordinal} + 1, look);
        if (!has_call) found.push_back({ordinal, true, std::move(calls)});
        if (!has_result) found.push_back({ordinal, false, std::move(results)});
      }
    }
    for (Lone& one : found) std::erase_if(one.others, [&](std::uint32_t other) { return !can_return(other); });
    return found;
  }

  // Of the messages that could be a partner those that were seen last, and of these the nearest: an edit that was undone does not count.
  std::vector<std::uint32_t> lone_partners() const {
    const std::vector<Lone> found = lone();
    std::set<std::uint32_t> wanted;
    for (const Lone& one : found) wanted.insert(one.others.begin(), one.others.end());
    std::map<std::uint32_t, std::uint64_t> seen;
    visit_last_seen(wanted, [&](std::uint64_t state, const PlacedView& then, const std::vector<std::uint64_t>& indices) {
      for (const std::uint64_t index : indices) seen[then.entries[index].ordinal] = state + 1;
    });
    std::vector<std::uint32_t> partners;
    for (const Lone& one : found) {
      std::uint64_t last = 0;
      for (const std::uint32_t other : one.others) last = std::max(last, seen[other]);
      std::vector<std::uint32_t> others;
      for (const std::uint32_t other : one.others)
        if (seen[other] == last) others.push_back(other);
      if (!others.empty()) partners.push_back(nearest(one.ordinal, std::move(others), one.wants_call));
    }
    return partners;
  }

  // The last call before a result, or else the first one after it; of results the other way round.
  std::uint32_t nearest(std::uint32_t ordinal, std::vector<std::uint32_t> others, bool are_calls) const {
    log_.order.sort(others);
    const auto after =
        std::partition_point(others.begin(), others.end(), [&](std::uint32_t other) { return log_.order.before(other, ordinal); });
    const bool is_before = are_calls ? after != others.begin() : after == others.end();
    return is_before ? *std::prev(after) : *after;
  }

  const History::Rep& rep_;
  const Log& log_;
  const PlacedView view_;
  std::set<std::uint32_t> all_;
};

}  // namespace

std::optional<std::uint32_t> stand_in(const Log& log, const PlacedView& view, std::uint32_t ordinal) {
  std::vector<std::uint32_t> open = log.makers_of(ordinal);
  std::unordered_set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t maker = open.back();
    open.pop_back();
    if (view.shows(maker)) return maker;
    for (const std::uint32_t next : log.makers_of(maker)) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return {};
}

std::vector<std::uint32_t> with_hidden_units(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals) {
  return Returning(rep, ordinals).take();
}

}  // namespace undertext
