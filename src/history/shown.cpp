#include "history/shown.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "history/pairs.hpp"
#include "message/redacted.hpp"

namespace undertext {
namespace {

// The first of `open`, or of what `more` leads to from there, that is wanted.
template <class More, class Wanted>
std::optional<std::uint32_t> find_from(std::vector<std::uint32_t> open, More more, Wanted is_wanted) {
  std::unordered_set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t ordinal = open.back();
    open.pop_back();
    if (is_wanted(ordinal)) return ordinal;
    for (const std::uint32_t next : more(ordinal)) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return {};
}

// Among what stands for a message, or for what does.
template <class Wanted>
std::optional<std::uint32_t> find_above(const Log& log, std::uint32_t ordinal, Wanted is_wanted) {
  const auto above = [&](std::uint32_t other) { return log.stand_ins_of(other); };
  return find_from(above(ordinal), above, is_wanted);
}

// Among what a message stands for, and what that stands for.
template <class Wanted>
std::optional<std::uint32_t> find_below(const Log& log, std::uint32_t ordinal, Wanted is_wanted) {
  const auto below = [&](std::uint32_t other) {
    const std::vector<std::uint32_t>* const originals = log.stands_for(other);
    return originals ? *originals : std::vector<std::uint32_t>();
  };
  return find_from(below(ordinal), below, is_wanted);
}

class Returning {
 public:
  Returning(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals)
      : rep_(rep), log_(rep.log), view_(rep.head.placed()), all_(ordinals.begin(), ordinals.end()) {}

  std::vector<std::uint32_t> take() {
    std::set<std::uint32_t> fresh = all_;
    while (!fresh.empty()) {
      const std::set<std::uint32_t> before = all_;
      add_units_last_seen(fresh);
      for (const std::uint32_t ordinal : all_)
        if (!before.contains(ordinal)) fresh.insert(ordinal);
      // A partner may have been hidden by itself, or with versions that were pruned since.
      const std::set<std::uint32_t> partners = lone_partners(fresh);
      fresh.clear();
      for (const std::uint32_t ordinal : partners)
        if (can_return(ordinal) && all_.insert(ordinal).second) fresh.insert(ordinal);
    }
    std::vector<std::uint32_t> found(all_.begin(), all_.end());
    log_.order.sort(found);
    return found;
  }

 private:
  bool is_here(std::uint32_t ordinal) const { return all_.contains(ordinal) || view_.shows(ordinal); }

  // Hidden, and told by nothing that is here: neither by what stands for it nor by what it stands for.
  bool can_return(std::uint32_t ordinal) const {
    const auto is_shown = [&](std::uint32_t other) { return is_here(other); };
    return !is_here(ordinal) && !find_above(log_, ordinal, is_shown) && !find_below(log_, ordinal, is_shown) &&
           (rep_.first_version == 0 || !was_given_up(log_.message(ordinal)));
  }

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

  void add_units_last_seen(const std::set<std::uint32_t>& fresh) {
    std::set<std::uint32_t> wanted;
    for (const std::uint32_t ordinal : fresh)
      if (may_have_unit(ordinal)) wanted.insert(ordinal);
    visit_last_seen(std::move(wanted), [&](std::uint64_t, const PlacedView& then, const std::vector<std::uint64_t>& indices) {
      const Stretches units = mend_units(log_, then, with_indices({}, indices), Pairs::grow, {});
      for (const std::uint32_t ordinal : then.ordinals(units)) {
        if (can_return(ordinal)) all_.insert(ordinal);
      }
    });
  }

  bool may_have_unit(std::uint32_t ordinal) const {
    return log_.stored[ordinal].role() == Role::assistant || log_.count_links(ordinal) > 0;
  }

  struct Lone {
    std::uint32_t ordinal;
    bool wants_call;
    std::vector<std::uint32_t> others;  // that could be its partner
  };
  std::vector<Lone> lone(const std::set<std::uint32_t>& among) const {
    std::vector<Lone> found;
    for (const std::uint32_t ordinal : among) {
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
  std::set<std::uint32_t> lone_partners(const std::set<std::uint32_t>& among) const {
    const std::vector<Lone> found = lone(among);
    std::set<std::uint32_t> wanted;
    for (const Lone& one : found) wanted.insert(one.others.begin(), one.others.end());
    std::map<std::uint32_t, std::uint64_t> seen;
    visit_last_seen(wanted, [&](std::uint64_t state, const PlacedView& then, const std::vector<std::uint64_t>& indices) {
      for (const std::uint64_t index : indices) seen[then.entries[index].ordinal] = state + 1;
    });
    std::set<std::uint32_t> partners;
    for (const Lone& one : found) {
      std::uint64_t last = 0;
      for (const std::uint32_t other : one.others) last = std::max(last, seen[other]);
      std::vector<std::uint32_t> others;
      for (const std::uint32_t other : one.others)
        if (seen[other] == last) others.push_back(other);
      if (!others.empty()) partners.insert(nearest(one.ordinal, std::move(others), one.wants_call));
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
  return find_above(log, ordinal, [&](std::uint32_t other) { return view.shows(other); });
}

std::optional<std::uint32_t> stand_in(const Log& log, std::uint32_t ordinal, const std::set<std::uint32_t>& others) {
  return find_above(log, ordinal, [&](std::uint32_t other) { return others.contains(other); });
}

std::vector<std::uint32_t> with_hidden_units(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals) {
  return Returning(rep, ordinals).take();
}

}  // namespace undertext
