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
std::optional<std::uint32_t> find_from(std::vector<std::uint32_t> open, More more,
                                       Wanted is_wanted) {
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
  const auto above = [&](std::uint32_t other) {
    log.go_on();
    return log.stand_ins_of(other);
  };
  return find_from(above(ordinal), above, is_wanted);
}

// Among what a message stands for, and what that stands for.
template <class Wanted>
std::optional<std::uint32_t> find_below(const Log& log, std::uint32_t ordinal, Wanted is_wanted) {
  const auto below = [&](std::uint32_t other) {
    log.go_on();
    const std::vector<std::uint32_t>* const originals = log.stands_for(other);
    return originals ? *originals : std::vector<std::uint32_t>();
  };
  return find_from(below(ordinal), below, is_wanted);
}

class Returning {
 public:
  Returning(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals)
      : rep_(rep),
        log_(rep.log),
        view_(rep.head.placed()),
        all_(ordinals.begin(), ordinals.end()) {}

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
  bool is_here(std::uint32_t ordinal) const {
    return all_.contains(ordinal) || view_.shows(ordinal);
  }

  // Hidden, and told by nothing that is here: neither by what stands for it nor by what it stands
  // for.
  bool can_return(std::uint32_t ordinal) const {
    const auto is_shown = [&](std::uint32_t other) { return is_here(other); };
    return !is_here(ordinal) && !find_above(log_, ordinal, is_shown) &&
           !find_below(log_, ordinal, is_shown) &&
           (rep_.first_version == 0 || !was_pruned(log_.message(ordinal)));
  }

  // Calls visit(state, its view, indices) for the states in which some of `wanted` were last seen,
  // the newest first. Looks only at what each state has and the one after it has not.
  template <class Visit>
  void visit_last_seen(std::set<std::uint32_t> wanted, Visit visit) const {
    EntryTree newer = rep_.head.view;
    for (std::uint64_t k = rep_.states.size(); k-- > 0 && !wanted.empty();) {
      const PlacedView then = rep_.states[k].placed();
      const std::uint64_t prefix = then.entries.common_prefix(newer);
      const std::uint64_t suffix =
          then.entries.common_suffix(newer, std::min(then.size(), newer.size()) - prefix);
      std::vector<std::uint64_t> indices;
      then.entries.visit(
          prefix, then.size() - suffix,
          [&](const EntrySums& s) {
            return !wanted.empty() && s.ordinal_max >= *wanted.begin() &&
                   s.ordinal_min <= *wanted.rbegin();
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
    visit_last_seen(std::move(wanted), [&](std::uint64_t, const PlacedView& then,
                                           const std::vector<std::uint64_t>& indices) {
      if (!showed_others(then)) return;
      const Stretches units = mend_units(log_, then, with_indices({}, indices), Pairs::grow, {});
      for (const std::uint32_t ordinal : then.ordinals(units)) {
        if (can_return(ordinal)) all_.insert(ordinal);
      }
    });
  }

  // Whether a view has messages that are hidden now and do not return yet. Without any, no unit has
  // to be walked through, however large it is.
  bool showed_others(const PlacedView& then) const {
    const EntryTree& now = rep_.head.view;
    const std::uint64_t prefix = then.entries.common_prefix(now);
    const std::uint64_t suffix =
        then.entries.common_suffix(now, std::min(then.size(), now.size()) - prefix);
    const std::vector<std::uint32_t> between = then.ordinals({{prefix, then.size() - suffix}});
    return std::any_of(between.begin(), between.end(),
                       [&](std::uint32_t ordinal) { return !is_here(ordinal); });
  }

  bool may_have_unit(std::uint32_t ordinal) const {
    return log_.stored[ordinal].role() == Role::assistant || log_.count_links(ordinal) > 0;
  }

  // The messages that mention an id.
  struct Mentions {
    std::vector<std::uint32_t> calls, results;
    bool has_call = false, has_result = false;  // that are here

    std::vector<std::uint32_t>& of(bool are_calls) { return are_calls ? calls : results; }
  };
  Mentions mentions_around(std::uint64_t hash, std::uint32_t ordinal) const {
    Mentions found;
    const auto look = [&](const Link& link, std::uint64_t) {
      if (is_here(link.ordinal)) (link.is_call() ? found.has_call : found.has_result) = true;
      if (can_return(link.ordinal)) found.of(link.is_call()).push_back(link.ordinal);
      return true;
    };
    log_.visit_mentions_below(hash, ordinal, look);
    log_.visit_mentions_from(hash, ordinal, look);
    return found;
  }

  struct Lone {
    std::uint32_t ordinal;
    std::uint64_t hash;
    bool wants_call;
  };

  // Of the messages that could be a partner those that were seen last, and of these the nearest: an
  // edit that was undone does not count.
  std::set<std::uint32_t> lone_partners(const std::set<std::uint32_t>& among) const {
    std::map<std::uint64_t, Mentions> known;
    std::vector<Lone> found;
    for (const std::uint32_t ordinal : among) {
      for (const Mention& mention : log_.mentions(ordinal)) {
        auto mentions = known.find(mention.hash);
        if (mentions == known.end())
          mentions = known.emplace(mention.hash, mentions_around(mention.hash, ordinal)).first;
        if (!mentions->second.has_call) found.push_back({ordinal, mention.hash, true});
        if (!mentions->second.has_result) found.push_back({ordinal, mention.hash, false});
      }
    }
    keep_last_seen(known);
    std::set<std::uint32_t> partners;
    for (const Lone& one : found) {
      const std::vector<std::uint32_t>& others = known[one.hash].of(one.wants_call);
      if (!others.empty()) partners.insert(nearest(one.ordinal, others, one.wants_call));
    }
    return partners;
  }

  // In the log's order.
  void keep_last_seen(std::map<std::uint64_t, Mentions>& known) const {
    std::set<std::uint32_t> wanted;
    for (auto& [hash, mentions] : known) {
      if (!mentions.has_call) wanted.insert(mentions.calls.begin(), mentions.calls.end());
      if (!mentions.has_result) wanted.insert(mentions.results.begin(), mentions.results.end());
    }
    std::map<std::uint32_t, std::uint64_t> seen;
    visit_last_seen(std::move(wanted), [&](std::uint64_t state, const PlacedView& then,
                                           const std::vector<std::uint64_t>& indices) {
      for (const std::uint64_t index : indices) seen[then.entries[index].ordinal] = state + 1;
    });
    for (auto& [hash, mentions] : known) {
      for (const bool are_calls : {true, false}) {
        std::vector<std::uint32_t>& others = mentions.of(are_calls);
        std::uint64_t last = 0;
        for (const std::uint32_t other : others) last = std::max(last, seen[other]);
        std::erase_if(others, [&](std::uint32_t other) { return seen[other] != last; });
        log_.order.sort(others);
      }
    }
  }

  // The last call before a result, or else the first one after it; of results the other way round.
  std::uint32_t nearest(std::uint32_t ordinal, const std::vector<std::uint32_t>& others,
                        bool are_calls) const {
    const auto after = std::partition_point(others.begin(), others.end(), [&](std::uint32_t other) {
      return log_.order.before(other, ordinal);
    });
    const bool is_before = are_calls ? after != others.begin() : after == others.end();
    return is_before ? *std::prev(after) : *after;
  }

  const History::Rep& rep_;
  const Log& log_;
  const PlacedView view_;
  std::set<std::uint32_t> all_;
};

}  // namespace

std::optional<std::uint32_t> stand_in(const Log& log, const PlacedView& view, std::uint32_t ordinal,
                                      const std::set<std::uint32_t>& leaving) {
  return find_above(log, ordinal, [&](std::uint32_t other) {
    return view.shows(other) && !leaving.contains(other);
  });
}

std::optional<std::uint32_t> visible_original(const Log& log, const PlacedView& view,
                                              std::uint32_t ordinal) {
  return find_below(log, ordinal, [&](std::uint32_t other) { return view.shows(other); });
}

std::vector<std::uint32_t> visible_copies(const Log& log, const PlacedView& view,
                                          std::uint32_t ordinal) {
  const auto is_copy = [&](std::uint32_t other) {
    return log.stands_for(other) && !log.originals(other);
  };
  const auto related = [&](std::uint32_t other) {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t maker : log.stand_ins_of(other))
      if (is_copy(maker)) all.push_back(maker);
    if (is_copy(other))
      all.insert(all.end(), log.stands_for(other)->begin(), log.stands_for(other)->end());
    return all;
  };
  std::vector<std::uint32_t> found;
  find_from({ordinal}, related, [&](std::uint32_t other) {
    if (view.shows(other)) found.push_back(other);
    return false;
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::uint32_t> stand_in(const Log& log, std::uint32_t ordinal,
                                      const std::set<std::uint32_t>& others) {
  return find_above(log, ordinal, [&](std::uint32_t other) { return others.contains(other); });
}

std::vector<std::uint32_t> with_hidden_units(const History::Rep& rep,
                                             const std::vector<std::uint32_t>& ordinals) {
  return Returning(rep, ordinals).take();
}

}  // namespace undertext
