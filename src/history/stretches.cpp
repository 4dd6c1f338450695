#include "history/stretches.hpp"

#include <algorithm>
#include <limits>

namespace undertext {

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
    for (; next < rising.size() && rising[next] < limit; ++next)
      add_stretch(all, rising[next], rising[next] + 1);
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

Stretches without(const Stretches& stretches, const Stretches& others) {
  Stretches left;
  auto other = others.begin();
  for (const Range& r : stretches) {
    std::uint64_t start = r.start;
    while (other != others.end() && other->end <= start) ++other;
    for (; other != others.end() && other->start < r.end; ++other) {
      add_stretch(left, start, std::max(start, other->start));
      start = std::max(start, other->end);
      if (start >= r.end) break;
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

Stretches joined_stretches(const Stretches& a, const Stretches& b) {
  Stretches both(a.size() + b.size()), all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin(),
             [](const Range& x, const Range& y) { return x.start < y.start; });
  for (const Range& range : both) add_stretch(all, range.start, range.end);
  return all;
}

bool keeps(const Stretches& kept, std::uint64_t index) {
  const auto after = std::upper_bound(kept.begin(), kept.end(), index,
                                      [](std::uint64_t i, const Range& r) { return i < r.start; });
  return after != kept.begin() && index < std::prev(after)->end;
}

}  // namespace undertext
