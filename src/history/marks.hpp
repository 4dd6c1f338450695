// Marks: labels on messages, hidden ones included. A value: copies share everything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared.hpp"
#include "sequence/entry.hpp"

namespace undertext {

struct MarkNote {
  Shared<std::string> label;
  std::uint32_t ordinal;
  friend bool operator==(const MarkNote& a, const MarkNote& b) { return a.ordinal == b.ordinal && *a.label == *b.label; }
};
struct MarkSums {
  const MarkNote* last = nullptr;  // lives in the node these are the sums of
  static MarkSums of(const MarkNote& note) { return {&note}; }
  MarkSums& operator+=(const MarkSums& next) {
    if (next.last) last = next.last;
    return *this;
  }
  friend bool operator==(const MarkSums&, const MarkSums&) = default;
};

class Marks {
 public:
  void add(std::string_view label, const std::vector<std::uint32_t>& ordinals);     // O(k log n)
  void remove(std::string_view label, const std::vector<std::uint32_t>& ordinals);  // O(k log n)
  std::vector<std::uint32_t> ordinals(std::string_view label) const;                // rising; O(log n + answer)

 private:
  std::uint64_t lower_bound(std::string_view label, std::uint32_t ordinal) const;
  bool stands_at(std::uint64_t at, std::string_view label, std::uint32_t ordinal) const;
  HouseTree<MarkNote, MarkSums> notes_;  // ordered by label, then ordinal
};

}  // namespace undertext
