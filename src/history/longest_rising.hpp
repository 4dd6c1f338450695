// A longest part of a list that rises.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace undertext {

// Places in a list of `count` elements, from the first to the last. before(i, j) tells whether
// element i comes before element j in the order that counts. O(count log count).
template <class Before>
std::vector<std::size_t> longest_rising(std::size_t count, Before before) {
  std::vector<std::size_t> ends;  // ends[k]: where the best rising part of length k + 1 ends
  std::vector<std::size_t> previous(count, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), i, before);
    if (at != ends.begin()) previous[i] = *std::prev(at);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<std::size_t> places;
  for (std::size_t i = ends.empty() ? count : ends.back(); i < count; i = previous[i])
    places.push_back(i);
  std::reverse(places.begin(), places.end());
  return places;
}

}  // namespace undertext
