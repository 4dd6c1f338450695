#include "history/pairs.hpp"

#include <algorithm>
#include <tuple>

namespace undertext {
namespace {

bool keeps(const Stretches& kept, std::uint64_t index) {
  const auto after = std::upper_bound(kept.begin(), kept.end(), index, [](std::uint64_t i, const Range& r) { return i < r.start; });
  return after != kept.begin() && index < std::prev(after)->end;
}

// Entries that reach back across an edge of `kept`: every pair with one half kept and one not has its later half among them.
std::vector<std::uint64_t> reaching_across(const PlacedView& view, const Stretches& kept) {
  std::vector<std::uint64_t> found;
  const auto cut = [&](std::uint64_t p) {
    if (p == 0 || p >= view.size()) return;
    const std::uint32_t place = view.entries[p - 1].place;
    view.entries.visit(
        p, view.size(), [&](const EntrySums& s) { return s.reach_min <= place; },
        [&](std::uint64_t i, const Entry& e) {
          if (e.reach <= place) found.push_back(i);
          return true;
        });
  };
  if (kept.empty() || !view.has_pairs()) return found;
  for (const Range& r : kept) {
    cut(r.start);
    cut(r.end);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
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
    for (const ToolLink& link : log.message(ordinal).tool_links()) {
      for (const PairPlaces& pair : pairs_of(log, before, link.id, ordinal)) {
        if (keeps(kept, pair.call) == keeps(kept, pair.result)) continue;
        const bool call_stays = keeps(kept, pair.call);
        Half half;
        half.index = call_stays ? pair.call : pair.result;
        half.ordinal = call_stays ? pair.call_ordinal : pair.result_ordinal;
        half.side = call_stays ? ToolLink::Side::call : ToolLink::Side::result;
        half.id = link.id;
        bool whole = false;
        for (const PairPlaces& other : pairs_of(log, before, link.id, half.ordinal)) {
          const std::uint64_t partner = call_stays ? other.result : other.call;
          if ((call_stays ? other.call : other.result) != half.index) continue;
          if (keeps(kept, partner)) whole = true;
          half.partners.push_back(partner);
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

void add_stretch(Stretches& stretches, std::uint64_t start, std::uint64_t end) {
  if (start >= end) return;
  if (!stretches.empty() && stretches.back().end == start) {
    stretches.back().end = end;
  } else {
    stretches.push_back({start, end});
  }
}

Stretches with_indices(const Stretches& stretches, const std::vector<std::uint64_t>& rising) {
  Stretches all;
  std::size_t next = 0;
  const auto add_below = [&](std::uint64_t limit) {
    for (; next < rising.size() && rising[next] < limit; ++next) add_stretch(all, rising[next], rising[next] + 1);
  };
  for (const Range& r : stretches) {
    add_below(r.start);
    add_stretch(all, r.start, r.end);
    while (next < rising.size() && rising[next] < r.end) ++next;
  }
  add_below(std::numeric_limits<std::uint64_t>::max());
  return all;
}

Stretches without_indices(const Stretches& stretches, const std::vector<std::uint64_t>& rising) {
  Stretches left;
  std::size_t next = 0;
  for (const Range& r : stretches) {
    std::uint64_t start = r.start;
    while (next < rising.size() && rising[next] < start) ++next;
    for (; next < rising.size() && rising[next] < r.end; ++next) {
      add_stretch(left, start, rising[next]);
      start = rising[next] + 1;
    }
    add_stretch(left, start, r.end);
  }
  return left;
}

Stretches complement(const Stretches& stretches, std::uint64_t size) {
  Stretches gaps;
  std::uint64_t next = 0;
  for (const Range& r : stretches) {
    add_stretch(gaps, next, r.start);
    next = r.end;
  }
  add_stretch(gaps, next, size);
  return gaps;
}

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
    std::ptrdiff_t link;  // which of the message's own
    Warning warning;
  };
  std::vector<Found> found;
  for (const Half& half : halves(log, before, kept)) {
    const std::optional<std::uint64_t> index = after.index_of(half.ordinal);
    if (!index) continue;
    bool whole = false;
    for (const PairPlaces& pair : pairs_of(log, after, half.id, half.ordinal)) {
      whole = whole || (half.side == ToolLink::Side::call ? pair.call : pair.result) == *index;
    }
    if (whole) {
      after.link_up(log, half.ordinal);
      continue;
    }
    const std::vector<ToolLink> links = log.message(half.ordinal).tool_links();
    found.push_back(
        {*index,
         std::find(links.begin(), links.end(), ToolLink{half.side, half.id}) - links.begin(),
         {half.side == ToolLink::Side::call ? Warning::Code::tool_call_without_result : Warning::Code::tool_result_without_call,
          Ordinal(half.ordinal), half.id}});
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return std::tie(a.index, a.link) < std::tie(b.index, b.link); });
  std::vector<Warning> warnings;
  warnings.reserve(found.size());
  for (Found& f : found) warnings.push_back(std::move(f.warning));
  return warnings;
}

}  // namespace undertext
