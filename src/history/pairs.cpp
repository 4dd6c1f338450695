#include "history/pairs.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace undertext {
namespace {

// Entries that reach back across an edge of `kept`: every pair with one half kept and one not has its later half among them. Places never
// fall, so of the edges before an entry the nearest tells.
std::vector<std::uint64_t> reaching_across(const PlacedView& view, const Stretches& kept) {
  std::vector<std::uint64_t> found;
  if (kept.empty() || !view.has_pairs()) return found;
  const auto look = [&](std::uint64_t edge, std::uint64_t next_edge) {
    if (edge == 0) return;
    const std::uint32_t place = view.entries[edge - 1].place;
    view.entries.visit(
        edge, next_edge, [&](const EntrySums& s) { return s.reach_min <= place; },
        [&](std::uint64_t i, const Entry& e) {
          if (e.reach <= place) found.push_back(i);
          return true;
        });
  };
  for (std::size_t k = 0; k < kept.size(); ++k) {
    look(kept[k].start, kept[k].end);
    look(kept[k].end, k + 1 < kept.size() ? kept[k + 1].start : view.size());
  }
  return found;
}

// A kept message whose partners for one id all go.
struct Half {
  std::uint64_t index = 0;
  std::uint32_t ordinal = 0;
  std::string id;
  ToolLink::Side side = ToolLink::Side::call;
  std::vector<std::uint64_t> partners;
};

std::vector<Half> halves(const Log& log, const PlacedView& before, const Stretches& kept) {
  std::vector<Half> found;
  for (const std::uint64_t later : reaching_across(before, kept)) {
    const std::uint32_t ordinal = before.entries[later].ordinal;
    const std::vector<ToolLink> links = log.message(ordinal).tool_links();
    for (const LinkedId& linked : linked_ids(links)) {
      const std::vector<PairPlaces> pairs = pairs_of(log, before, linked.id, ordinal);
      for (const PairPlaces& pair : pairs) {
        const bool call_stays = keeps(kept, pair.call);
        if (!pair.has(ordinal) || call_stays == keeps(kept, pair.result)) continue;
        Half half;
        half.index = call_stays ? pair.call : pair.result;
        half.ordinal = call_stays ? pair.call_ordinal : pair.result_ordinal;
        half.side = call_stays ? ToolLink::Side::call : ToolLink::Side::result;
        half.id = linked.id;
        bool whole = false;
        for (const PairPlaces& other : pairs) {
          if ((call_stays ? other.call : other.result) != half.index) continue;
          half.partners.push_back(call_stays ? other.result : other.call);
          whole = whole || keeps(kept, half.partners.back());
        }
        if (!whole) found.push_back(std::move(half));
      }
    }
  }
  const auto key = [](const Half& h) { return std::tie(h.index, h.id, h.side); };
  std::sort(found.begin(), found.end(), [&](const Half& a, const Half& b) { return key(a) < key(b); });
  found.erase(std::unique(found.begin(), found.end(), [&](const Half& a, const Half& b) { return key(a) == key(b); }), found.end());
  return found;
}

void sort_unique(std::vector<std::uint64_t>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

}  // namespace

Stretches kept_between(const PlacedView& before, const PlacedView& after) {
  const std::uint64_t n = before.size(), m = after.size();
  const std::uint64_t prefix = before.entries.common_prefix(after.entries);
  const std::uint64_t suffix = before.entries.common_suffix(after.entries, std::min(n, m) - prefix);
  Stretches kept;
  add_stretch(kept, 0, prefix);
  if (m > prefix + suffix) {
    for (std::uint64_t i = prefix; i < n - suffix; ++i) {
      if (after.shows(before.entries[i].ordinal)) add_stretch(kept, i, i + 1);
    }
  }
  add_stretch(kept, n - suffix, n);
  return kept;
}

Stretches mend_pairs(const Log& log, const PlacedView& before, Stretches kept, Pairs pairs,
                     const std::vector<std::uint64_t>& pinned) {
  if (pairs == Pairs::literal) return kept;
  for (;;) {
    std::vector<std::uint64_t> change;
    for (const Half& half : halves(log, before, kept)) {
      if (pairs == Pairs::grow) {
        change.insert(change.end(), half.partners.begin(), half.partners.end());
      } else if (!std::binary_search(pinned.begin(), pinned.end(), half.index)) {
        change.push_back(half.index);
      }
    }
    if (change.empty()) return kept;
    sort_unique(change);
    kept = pairs == Pairs::grow ? with_indices(kept, change) : without_indices(kept, change);
  }
}

std::vector<Warning> broken_pairs(const Log& log, const PlacedView& before, const Stretches& kept, PlacedView& after) {
  struct Found {
    std::uint64_t index;
    std::size_t link;  // which of the message's own
    Warning warning;
  };
  std::vector<Found> found;
  const std::vector<Half> all = halves(log, before, kept);
  for (std::size_t k = 0; k < all.size();) {  // a message's halves stand together
    const std::uint32_t ordinal = all[k].ordinal;
    const std::optional<std::uint64_t> index = after.index_of(ordinal);
    std::vector<ToolLink> links;
    std::map<std::pair<std::string_view, ToolLink::Side>, std::size_t> order;
    if (k + 1 < all.size() && all[k + 1].ordinal == ordinal) links = log.message(ordinal).tool_links();
    for (std::size_t i = 0; i < links.size(); ++i) order.emplace(std::pair(std::string_view(links[i].id), links[i].side), i);
    bool lost_a_call = false;
    for (; k < all.size() && all[k].ordinal == ordinal; ++k) {
      const Half& half = all[k];
      if (!index) continue;
      const bool is_call = half.side == ToolLink::Side::call;
      lost_a_call = lost_a_call || !is_call;
      bool whole = false;
      for (const PairPlaces& pair : pairs_of(log, after, half.id, ordinal))
        whole = whole || (is_call ? pair.call : pair.result) == *index;
      if (whole) continue;
      found.push_back({*index,
                       order.empty() ? 0 : order.at({half.id, half.side}),
                       {is_call ? Warning::Code::tool_call_without_result : Warning::Code::tool_result_without_call,
                        Ordinal(ordinal), half.id}});
    }
    // It answers another call now, or may come to.
    if (lost_a_call) after.link_up(log, ordinal);
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return std::tie(a.index, a.link) < std::tie(b.index, b.link); });
  std::vector<Warning> warnings;
  warnings.reserve(found.size());
  for (Found& f : found) warnings.push_back(std::move(f.warning));
  return warnings;
}

PlacedView only_kept(const Log& log, const PlacedView& before, const Stretches& kept) {
  PlacedView after = before;
  after.keep_only(log, kept);
  if (before.has_pairs()) broken_pairs(log, before, kept, after);
  return after;
}

}  // namespace undertext
