// Lists of notes about messages, ordered by ordinal.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sequence/entry.hpp"

namespace undertext {

struct OrdinalSums {
  std::uint32_t ordinal_max = 0;
  template <class Note>
  static OrdinalSums of(const Note& note) {
    return {note.ordinal};
  }
  OrdinalSums& operator+=(const OrdinalSums& next) {
    ordinal_max = std::max(ordinal_max, next.ordinal_max);
    return *this;
  }
  friend bool operator==(const OrdinalSums&, const OrdinalSums&) = default;
};
template <>
struct SumsCodec<OrdinalSums> {
  static void write(PageOut& out, const OrdinalSums& sums) { out.number(sums.ordinal_max); }
  static OrdinalSums read(PageIn& in) { return {in.number32()}; }
};

template <class Note>
using ByOrdinal = HouseTree<Note, OrdinalSums>;

// Where the notes of messages from `ordinal` on begin. The tree's items have an ordinal, its sums
// the greatest one.
template <class Tree>
std::uint64_t first_from(const Tree& tree, std::uint64_t ordinal) {
  std::uint64_t found = tree.size();
  tree.visit(
      0, tree.size(), [&](const auto& sums) { return sums.ordinal_max >= ordinal; },
      [&](std::uint64_t index, const auto& note) {
        if (note.ordinal < ordinal) return true;
        found = index;
        return false;
      });
  return found;
}

}  // namespace undertext
