#include "history/pairs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "history/units.hpp"

namespace undertext {
namespace {

struct Reaching {
  std::uint64_t index;
  std::uint32_t ordinal;
  std::uint64_t first_link;
};

// Entries that reach back across an edge of `kept`: every pair with one half kept and one not has
// its later half among them. Places never fall, so of the edges before an entry the nearest tells.
// Nothing when they have more than `links_max` links.
std::optional<std::vector<Reaching>> reaching_across(const Log& log, const PlacedView& view,
                                                     const Stretches& kept,
                                                     std::uint64_t links_max) {
  std::vector<Reaching> found;
  std::uint64_t links = 0;
  const auto look = [&](std::uint64_t edge, std::uint64_t next_edge) {
    if (edge == 0) return true;
    const std::uint32_t place = view.entries[edge - 1].place;
    return view.entries.visit(
        edge, next_edge, [&](const EntrySums& s) { return s.reach_min <= place; },
        [&](std::uint64_t i, const Entry& e) {
          if (e.reach > place) return true;
          const std::uint64_t first = log.first_link(e.ordinal);
          found.push_back({i, e.ordinal, first});
          links += log.first_link(std::uint64_t{e.ordinal} + 1) - first;
          return links <= links_max;
        });
  };
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (!look(kept[k].start, kept[k].end)) return {};
    if (!look(kept[k].end, k + 1 < kept.size() ? kept[k + 1].start : view.size())) return {};
  }
  return found;
}

// Collects halves, given a message that is one half of broken pairs, or all that a view says of an
// id.
class Halves {
 public:
  Halves(const Log& log, const PlacedView& before, const Stretches& kept)
      : log_(log), kept_(kept), search_(log, before) {}

  void add_around(std::uint64_t index, std::uint32_t ordinal) {
    add_around(index, ordinal, log_.mentions(ordinal));
  }
  void add_around(const Reaching& later) {
    add_around(later.index, later.ordinal, log_.mentions(later.ordinal, later.first_link));
  }
  void add_mention(std::uint64_t hash, std::uint64_t index, std::uint32_t ordinal) {
    const Mentioned& mentioned = search_.around(hash, ordinal);
    const std::span<const PairPlaces> pairs = mentioned.pairs_with(index);
    if (pairs.empty()) return;
    const PairPlaces first = pairs.front();
    const bool is_call = first.call == index;
    if (!keeps(kept_, first.call)) {
      add_results(mentioned, pairs, hash);
    } else if ((is_call || !keeps(kept_, first.result)) &&
               asked_.emplace(first.call, first.call_link).second) {
      // Around a result not all the others may be found.
      const Mentioned& of_call = is_call ? mentioned : search_.around(hash, first.call_ordinal);
      add_call(first, of_call, of_call.pairs_with(first.call), hash);
    }
  }

  void add_all(const Mentioned& mentioned, std::uint64_t hash) {
    const std::span<const PairPlaces> pairs = mentioned.pairs;
    for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
      while (end < pairs.size() && pairs[end].call == pairs[begin].call) ++end;
      const std::span<const PairPlaces> of_call = pairs.subspan(begin, end - begin);
      if (keeps(kept_, of_call.front().call)) {
        add_call(of_call.front(), mentioned, of_call, hash);
      } else {
        add_results(mentioned, of_call, hash);
      }
    }
  }

  std::vector<Half> take() {
    const auto key = [](const Half& h) { return std::tie(h.index, h.link); };
    const auto comes_before = [&](const Half& a, const Half& b) { return key(a) < key(b); };
    if (!std::is_sorted(found_.begin(), found_.end(), comes_before))
      std::sort(found_.begin(), found_.end(), comes_before);
    const auto same = [&](const Half& a, const Half& b) { return key(a) == key(b); };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    return std::move(found_);
  }

 private:
  void add_around(std::uint64_t index, std::uint32_t ordinal,
                  const std::vector<Mention>& mentions) {
    for (const Mention& mention : mentions) add_mention(mention.hash, index, ordinal);
  }

  // Of a call that goes: those that stay. Each has one call.
  void add_results(const Mentioned& mentioned, std::span<const PairPlaces> pairs,
                   std::uint64_t hash) {
    const auto stays = [&](std::uint64_t call) { return keeps(kept_, call); };
    const bool are_alone =
        mentioned.is_whole && std::none_of(mentioned.calls.begin(), mentioned.calls.end(), stays);
    for (const PairPlaces& pair : pairs) {
      if (!keeps(kept_, pair.result)) continue;
      found_.push_back({pair.result,
                        pair.result_ordinal,
                        pair.result_link,
                        hash,
                        false,
                        {pair.call},
                        pair.call_ordinal,
                        are_alone});
    }
  }

  // A call that stays, if all its pairs are broken.
  void add_call(const PairPlaces& first, const Mentioned& mentioned,
                std::span<const PairPlaces> pairs, std::uint64_t hash) {
    if (std::any_of(pairs.begin(), pairs.end(),
                    [&](const PairPlaces& pair) { return keeps(kept_, pair.result); }))
      return;
    const bool is_alone = mentioned.is_whole && mentioned.result_count == pairs.size();
    Half half{first.call, first.call_ordinal,   first.call_link, hash, true,
              {},         first.result_ordinal, is_alone};
    for (const PairPlaces& pair : pairs) half.partners.push_back(pair.result);
    found_.push_back(std::move(half));
  }

  const Log& log_;
  const Stretches& kept_;
  PairSearch search_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> asked_;  // calls that stay: index, link
  std::vector<Half> found_;
};

// One walk through the view, the links of its messages and their notes, in which those of an id
// stand together.
class HalvesByWalk {
 public:
  HalvesByWalk(const Log& log, const PlacedView& before, const Stretches& kept)
      : log_(log), before_(before), kept_(kept) {
    const EntrySums sums = before.entries.sums();
    lowest_ = sums.ordinal_min;
    if (sums.ordinal_max >= lowest_) places_.resize(sums.ordinal_max - lowest_ + 1, no_place);
  }

  std::vector<Half> halves() {
    if (places_.empty()) return {};
    read_view();
    if (!read_links()) return {};
    Halves found(log_, before_, kept_);
    visit_ids([&](std::uint32_t upper) { add_ids(found, upper); });
    return found.take();
  }

  // About how many steps that takes.
  static std::uint64_t cost(const Log& log, const PlacedView& before) {
    const EntrySums sums = before.entries.sums();
    return before.size() + (std::uint64_t{sums.ordinal_max} - sums.ordinal_min) + log.notes.size();
  }

 private:
  struct Noted {
    std::uint64_t note, link;
  };

  void read_view() {
    is_kept_.resize(before_.size(), false);
    for (const Range& range : kept_)
      std::fill(is_kept_.begin() + static_cast<std::ptrdiff_t>(range.start),
                is_kept_.begin() + static_cast<std::ptrdiff_t>(range.end), true);
    before_.entries.visit(
        0, before_.size(), [](const EntrySums&) { return true; },
        [&](std::uint64_t index, const Entry& e) {
          if (has_place(e.ordinal))
            places_[e.ordinal - lowest_] = static_cast<std::uint32_t>(index);
          return true;
        });
  }

  // False: nothing that stays has a link.
  bool read_links() {
    bool stays = false;
    first_link_ = log_.first_link(lowest_);
    const std::uint64_t last_link = log_.first_link(lowest_ + places_.size());
    log_.links.visit(
        first_link_, last_link, [](const LinkSums&) { return true; },
        [&](std::uint64_t, const Link& link) {
          links_.push_back(link);
          const std::uint32_t index = index_of(link);
          stays = stays || (index != no_place && is_kept_[index]);
          return true;
        });
    return stays;
  }

  bool has_place(std::uint64_t ordinal) const {
    return ordinal >= lowest_ && ordinal - lowest_ < places_.size();
  }
  std::uint32_t index_of(const Link& link) const {
    return has_place(link.ordinal) ? places_[link.ordinal - lowest_] : no_place;
  }

  // Calls visit(upper half of the hash) for the notes of each, which stand in `noted_` by then.
  template <class Visit>
  void visit_ids(Visit visit) {
    std::uint32_t upper = 0;
    log_.notes.visit(
        0, log_.notes.size(), [](const NoteSums&) { return true; },
        [&](std::uint64_t at, const LinkNote& note) {
          if (note.hash != upper && !noted_.empty()) {
            visit(upper);
            noted_.clear();
          }
          upper = note.hash;
          noted_.push_back({at, note.link});
          return true;
        });
    if (!noted_.empty()) visit(upper);
  }

  // Of the ids with this upper half of their hash.
  void add_ids(Halves& found, std::uint32_t upper) {
    seen_.clear();
    bool stays = false, goes = false;
    std::uint64_t hash = 0;
    bool is_one_id = true;
    for (const Noted& noted : noted_) {
      if (noted.link < first_link_ || noted.link - first_link_ >= links_.size()) continue;
      const Link& link = links_[noted.link - first_link_];
      const std::uint32_t index = index_of(link);
      if (index == no_place || LinkNote::of(link.hash(), 0).hash != upper) continue;
      is_one_id = is_one_id && (seen_.empty() || link.hash() == hash);
      hash = link.hash();
      (is_kept_[index] ? stays : goes) = true;
      seen_.push_back({noted.note, noted.link, index, link.ordinal, link.is_call()});
    }
    if (!stays || !goes) return;
    if (is_one_id && noted_.size() <= Log::few_notes) {
      mentioned_.pair(seen_);
      mentioned_.is_whole = true;
      found.add_all(mentioned_, hash);
      return;
    }
    for (const SeenLink& seen : seen_)
      if (!is_kept_[seen.index])
        found.add_mention(log_.links[seen.link].hash(), seen.index, seen.ordinal);
  }

  const Log& log_;
  const PlacedView& before_;
  const Stretches& kept_;
  std::uint64_t lowest_ = 0, first_link_ = 0;
  std::vector<std::uint32_t> places_;  // indices of the view, by ordinal
  std::vector<bool> is_kept_;
  std::vector<Link> links_;
  std::vector<Noted> noted_;
  std::vector<SeenLink> seen_;
  Mentioned mentioned_;
};

template <class Visit>
void visit_hidden(const PlacedView& view, const Stretches& kept, Visit visit) {
  for (const Range& gap : complement(kept, view.size())) {
    view.entries.visit(
        gap.start, gap.end, [](const EntrySums&) { return true; },
        [&](std::uint64_t index, const Entry& e) {
          visit(index, e);
          return true;
        });
  }
}

std::uint64_t count_hidden(const PlacedView& view, const Stretches& kept) {
  std::uint64_t hidden = view.size();
  for (const Range& r : kept) hidden -= r.end - r.start;
  return hidden;
}

std::vector<Half> halves_among(const Log& log, const PlacedView& before, const Stretches& kept,
                               const std::optional<std::vector<Reaching>>& reaching) {
  Halves found(log, before, kept);
  if (reaching) {
    for (const Reaching& later : *reaching) found.add_around(later);
  } else {
    visit_hidden(before, kept,
                 [&](std::uint64_t index, const Entry& e) { found.add_around(index, e.ordinal); });
  }
  return found.take();
}

void sort_unique(std::vector<std::uint64_t>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

// Calls visit(reasoning) for all reasoning from which it follows that a unit crosses an edge of
// `kept`, each once.
template <class Visit>
void visit_reasoning_at_edges(const Reasoning& reasoning, const PlacedView& view,
                              const Stretches& kept, Visit visit) {
  std::optional<std::uint64_t> last;
  const auto look = [&](std::uint64_t edge) {
    if (edge == 0 || edge >= view.size()) return;
    const std::optional<std::uint64_t> found = reasoning.before(edge);
    if (found && found != last) visit(*found);
    if (found) last = found;
  };
  for (const Range& r : kept) {
    look(r.start);
    look(r.end);
  }
}

// What stays of a view, while units are mended: each round asks only what the last one changed.
class Mending {
 public:
  Mending(const Log& log, const PlacedView& before, const Stretches& kept, Pairs pairs,
          const std::vector<std::uint64_t>& pinned)
      : log_(log),
        before_(before),
        kept_(kept),
        grows_(pairs == Pairs::grow),
        pinned_(pinned),
        search_(log, before),
        reasoning_(log, before) {}

  Stretches mended() {
    std::vector<std::uint64_t> change;
    for (const Half& half : halves(log_, before_, kept_)) {
      if (!grows_) {
        change.push_back(half.index);
      } else {
        change.insert(change.end(), half.partners.begin(), half.partners.end());
      }
    }
    visit_reasoning_at_edges(reasoning_, before_, kept_,
                             [&](std::uint64_t index) { add_unit(index, change); });
    while (take_over(change)) {
      std::vector<std::uint64_t> next;
      for (const std::uint64_t index : change) {
        add_pairs(index, next);
        add_reasoning(index, next);
      }
      change = std::move(next);
    }
    std::vector<std::uint64_t> all(changed_.begin(), changed_.end());
    std::sort(all.begin(), all.end());
    return grows_ ? with_indices(kept_, all) : without_indices(kept_, all);
  }

 private:
  bool has(std::uint64_t index) const { return (changed_.count(index) > 0) != keeps(kept_, index); }
  bool is_pinned(std::uint64_t index) const {
    return std::binary_search(pinned_.begin(), pinned_.end(), index);
  }

  // Leaves in `change` what is new, and makes it so. False when there is nothing.
  bool take_over(std::vector<std::uint64_t>& change) {
    sort_unique(change);
    const auto is_known = [&](std::uint64_t i) {
      return has(i) == grows_ || (!grows_ && is_pinned(i));
    };
    change.erase(std::remove_if(change.begin(), change.end(), is_known), change.end());
    changed_.insert(change.begin(), change.end());
    return !change.empty();
  }

  // What the pairs of a message that came or went make come or go.
  void add_pairs(std::uint64_t index, std::vector<std::uint64_t>& change) {
    const std::uint32_t ordinal = before_.entries[index].ordinal;
    for (const Mention& mention : log_.mentions(ordinal)) {
      const std::span<const PairPlaces> pairs = search_.pairs_of(mention.hash, ordinal, index);
      if (pairs.empty()) continue;
      const PairPlaces first = pairs.front();
      const bool is_call = first.call == index;
      const auto has_result = [&](const PairPlaces& pair) { return has(pair.result); };
      if (grows_ && !is_call) {
        change.push_back(first.call);
      } else if (grows_) {
        // One of its results is enough.
        if (std::none_of(pairs.begin(), pairs.end(), has_result))
          for (const PairPlaces& pair : pairs) change.push_back(pair.result);
      } else if (is_call) {
        for (const PairPlaces& pair : pairs) change.push_back(pair.result);
      } else if (has(first.call) && !has_results(first, mention.hash)) {
        change.push_back(first.call);
      }
    }
  }

  // Whether a result of this pair's call is left. Results only go: so each is asked for once.
  bool has_results(const PairPlaces& of_call, std::uint64_t hash) {
    const std::span<const PairPlaces> pairs =
        search_.pairs_of(hash, of_call.call_ordinal, of_call.call);
    std::uint64_t& from = results_left_[{of_call.call, of_call.call_link}];
    auto left = std::partition_point(pairs.begin(), pairs.end(),
                                     [&](const PairPlaces& pair) { return pair.result < from; });
    while (left != pairs.end() && !has(left->result)) ++left;
    from = left == pairs.end() ? before_.size() : left->result;
    return left != pairs.end();
  }

  void add_reasoning(std::uint64_t index, std::vector<std::uint64_t>& change) {
    if (before_.entries[index].reasons) add_unit(index, change);
    if (const std::optional<std::uint64_t> reasoning = reasoning_.of(index))
      add_unit(*reasoning, change);
  }

  // Once broken, a unit comes or goes as a whole but for what is pinned, and need not be asked
  // again.
  void add_unit(std::uint64_t index, std::vector<std::uint64_t>& change) {
    if (done_.count(index) > 0) return;
    const std::vector<std::uint64_t> following = reasoning_.all(index);
    const auto is_here = [&](std::uint64_t i) { return has(i); };
    const bool is_kept = has(index);
    const bool is_whole = is_kept ? std::all_of(following.begin(), following.end(), is_here)
                                  : std::none_of(following.begin(), following.end(), is_here);
    if (following.empty() || is_whole) return;
    // What is pinned stays, and so does the reasoning that it follows from.
    const auto is_pinned_here = [&](std::uint64_t i) { return is_pinned(i) && has(i); };
    if (!grows_ && is_kept &&
        (is_pinned(index) || std::any_of(following.begin(), following.end(), is_pinned_here)))
      return;
    done_.insert(index);
    change.push_back(index);
    change.insert(change.end(), following.begin(), following.end());
  }

  const Log& log_;
  const PlacedView& before_;
  const Stretches kept_;
  const bool grows_;
  const std::vector<std::uint64_t>& pinned_;
  PairSearch search_;
  const Reasoning reasoning_;
  std::unordered_set<std::uint64_t> changed_, done_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>
      results_left_;  // by index and link of a call: the first that can be there
};

// The ids of a message's links, by hash.
class LinkIds {
 public:
  explicit LinkIds(const Log& log) : log_(log) {}

  // Of a half: read from it if it has few links, else from whichever of the two messages has fewer.
  std::string of(const Half& half) {
    const bool own =
        has_few(half) || log_.count_links(half.ordinal) <= log_.count_links(half.partner_ordinal);
    std::optional<std::string> id = find(own ? half.ordinal : half.partner_ordinal, half.hash);
    if (!id) id = find(own ? half.partner_ordinal : half.ordinal, half.hash);
    return id ? std::move(*id) : std::string();
  }

 private:
  static constexpr std::size_t few = 8;

  bool has_few(const Half& half) const {
    const auto is_other = [&](std::uint64_t link) {
      return link >= log_.links.size() || log_.links[link].ordinal != half.ordinal;
    };
    return is_other(half.link + few) && (half.link < few || is_other(half.link - few));
  }

  // What has few links is as soon read again as remembered.
  std::optional<std::string> find(std::uint32_t ordinal, std::uint64_t hash) {
    if (const auto known = known_.find(ordinal); known != known_.end())
      return found_in(known->second, hash);
    std::vector<ToolLink> links = log_.message(ordinal).tool_links();
    if (links.size() <= 2 * few) {
      for (ToolLink& link : links)
        if (Log::hash_of(link.id) == hash) return std::move(link.id);
      return std::nullopt;
    }
    std::unordered_map<std::uint64_t, std::string>& ids = known_[ordinal];
    for (ToolLink& link : links) {
      const std::uint64_t of_link = Log::hash_of(link.id);
      ids.emplace(of_link, std::move(link.id));
    }
    return found_in(ids, hash);
  }

  static std::optional<std::string> found_in(
      const std::unordered_map<std::uint64_t, std::string>& ids, std::uint64_t hash) {
    const auto found = ids.find(hash);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  }

  const Log& log_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint64_t, std::string>> known_;
};

}  // namespace

ViewChange change_between(const PlacedView& before, const PlacedView& after) {
  const std::uint64_t n = before.size(), m = after.size();
  const std::uint64_t prefix = before.entries.common_prefix(after.entries);
  const std::uint64_t suffix = before.entries.common_suffix(after.entries, std::min(n, m) - prefix);
  ViewChange change;
  add_stretch(change.kept, 0, prefix);
  change.seams.push_back(prefix);
  if (m > prefix + suffix) {
    for (std::uint64_t i = prefix; i < n - suffix; ++i) {
      if (after.shows(before.entries[i].ordinal)) add_stretch(change.kept, i, i + 1);
      change.seams.push_back(i + 1);
    }
  }
  add_stretch(change.kept, n - suffix, n);
  return change;
}

ViewChange change_in_order(const PlacedView& before, const PlacedView& after) {
  ViewChange change;
  std::uint64_t next = 0;  // in `before`
  const auto add_seam = [&] {
    if (change.seams.empty() || change.seams.back() != next) change.seams.push_back(next);
  };
  before.compare(
      after,
      [&](std::uint64_t index, std::uint64_t, std::uint64_t count) {
        add_stretch(change.kept, index, index + count);
        next = index + count;
      },
      [&](std::uint64_t, std::uint64_t end) {
        add_seam();
        next = end;
      },
      [&](std::uint64_t, std::uint64_t) { add_seam(); });
  return change;
}

std::vector<Half> halves_by_edges(const Log& log, const PlacedView& before, const Stretches& kept) {
  return halves_among(log, before, kept, reaching_across(log, before, kept, ~std::uint64_t{0}));
}
std::vector<Half> halves_by_hidden(const Log& log, const PlacedView& before,
                                   const Stretches& kept) {
  return halves_among(log, before, kept, {});
}

std::vector<Half> halves_by_walk(const Log& log, const PlacedView& before, const Stretches& kept) {
  return HalvesByWalk(log, before, kept).halves();
}

std::vector<Half> halves(const Log& log, const PlacedView& before, const Stretches& kept) {
  if (kept.empty() || !before.may_have_units()) return {};
  // A few more lookups are cheaper than finding out.
  constexpr std::uint64_t lookups_free = 16;
  const std::uint64_t hidden = count_hidden(before, kept);
  if (hidden == 0) return {};
  // What each edge or hidden message costs at the least, in steps of a walk.
  constexpr std::uint64_t steps_each = 16;
  const std::uint64_t asked = std::min<std::uint64_t>(hidden, kept.size());
  if (asked * steps_each > before.size() && asked * steps_each > HalvesByWalk::cost(log, before))
    return HalvesByWalk(log, before, kept).halves();
  return halves_among(log, before, kept, reaching_across(log, before, kept, hidden + lookups_free));
}

Stretches mend_units(const Log& log, const PlacedView& before, Stretches kept, Pairs pairs,
                     const std::vector<std::uint64_t>& pinned) {
  if (pairs == Pairs::literal || !before.may_have_units()) return kept;
  return Mending(log, before, kept, pairs, pinned).mended();
}

void relink(const Log& log, const std::vector<Half>& lost, PlacedView& after, bool only_hides) {
  PairSearch search(log, after);
  for (const Half& half : lost) {
    if (!half.is_call && !(only_hides && half.is_alone))
      after.link_up(search, half.ordinal, half.hash);
  }
}

std::vector<Warning> warnings_of(const Log& log, const PlacedView& before, const ViewChange& change,
                                 const std::vector<Half>& lost, const PlacedView& after,
                                 bool only_hides) {
  struct Found {
    std::uint64_t index, link;
    Warning warning;
  };
  std::vector<Found> found;
  // What stays stands in the same order as before, where nothing returns.
  const auto index_in_after = [&](std::uint64_t index, std::uint32_t ordinal) {
    return only_hides ? index : after.index_of(ordinal).value_or(index);
  };
  LinkIds ids(log);
  PairSearch search(log, after);
  for (const Half& half : lost) {
    if (!only_hides || !half.is_alone) {
      const std::optional<std::uint64_t> index = after.index_of(half.ordinal);
      if (!index) continue;
      const std::span<const PairPlaces> pairs = search.pairs_of(half.hash, half.ordinal, *index);
      const auto has_partner = [&](const PairPlaces& pair) {
        return (half.is_call ? pair.call : pair.result) == *index;
      };
      if (std::any_of(pairs.begin(), pairs.end(), has_partner)) continue;
    }
    const auto code = half.is_call ? Warning::Code::tool_call_without_result
                                   : Warning::Code::tool_result_without_call;
    found.push_back({index_in_after(half.index, half.ordinal),
                     half.link,
                     {code, Ordinal(half.ordinal), ids.of(half)}});
  }
  const Reasoning was(log, before), is(log, after);
  std::optional<std::uint64_t> last;
  constexpr std::size_t few_seams = 8;
  const bool may_reason =
      change.seams.size() <= few_seams || before.entries.sums().reasoning_count > 0;
  for (std::size_t k = 0; may_reason && k < change.seams.size(); ++k) {
    const std::uint64_t seam = change.seams[k];
    const std::optional<std::uint64_t> reasoning = was.before(seam);
    if (!reasoning || reasoning == last) continue;
    last = reasoning;
    // A message that calls itself has its calls.
    if (before.entries[*reasoning].calls || !keeps(change.kept, *reasoning) ||
        was.count_calls(*reasoning) == 0)
      continue;
    const std::uint32_t ordinal = before.entries[*reasoning].ordinal;
    const std::optional<std::uint64_t> index = after.index_of(ordinal);
    if (!index || is.count_calls(*index) > 0) continue;
    found.push_back({index_in_after(*reasoning, ordinal),
                     log.links.size(),
                     {Warning::Code::reasoning_without_call, Ordinal(ordinal), {}}});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.index, a.link) < std::tie(b.index, b.link);
  });
  std::vector<Warning> warnings;
  warnings.reserve(found.size());
  for (Found& f : found) warnings.push_back(std::move(f.warning));
  return warnings;
}

bool splits_reasoning(const Log& log, const PlacedView& before, const Stretches& kept,
                      const PlacedView& after) {
  const Reasoning was(log, before), is(log, after);
  const auto index_in_after = [&](std::uint64_t index) {
    return *after.index_of(before.entries[index].ordinal);
  };
  bool splits = false;
  visit_reasoning_at_edges(was, before, kept, [&](std::uint64_t reasoning) {
    if (splits) return;
    const std::vector<std::uint64_t> following = was.all(reasoning);
    if (!keeps(kept, reasoning)) {
      splits = std::any_of(following.begin(), following.end(), [&](std::uint64_t i) {
        return keeps(kept, i) && !is.of(index_in_after(i));
      });
    } else {
      splits = is.all(index_in_after(reasoning)).size() < following.size();
    }
  });
  return splits;
}

PlacedView only_kept(const Log& log, const PlacedView& before, const Stretches& kept) {
  PlacedView after = before;
  after.keep_only(log, kept);
  relink(log, halves(log, before, kept), after, true);
  return after;
}

}  // namespace undertext
