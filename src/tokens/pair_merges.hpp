// Byte pair encoding as it is defined: of all neighbours that may be merged, those of the lowest
// rank are, the leftmost first, until none is left. Takes any list of merges. O(n log n);
// bpe_encoder.hpp is faster, for the vocabularies it can take.
//
//     PairMerges merges;
//     merges.add(a, b, {.rank = 0, .result = ab});
//     std::vector<TokenNumber> parts = {a, b, a};
//     merges.apply(parts);   // {ab, a}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace undertext {

using TokenNumber = std::uint32_t;

class PairMerges {
 public:
  struct Merge {
    std::uint32_t rank;
    TokenNumber result;
  };

  PairMerges();
  // Of two merges of the same pair, the one of the lower rank counts.
  void add(TokenNumber left, TokenNumber right, Merge merge);
  std::optional<Merge> find(TokenNumber left, TokenNumber right) const;
  std::size_t count() const { return count_; }

  // Merges until nothing is left to merge, or until `parts` have become `parts_min`.
  void apply(std::vector<TokenNumber>& parts, std::size_t parts_min = 1) const;

 private:
  struct Slot {
    std::uint64_t pair;
    Merge merge;
  };
  std::size_t slot_of(std::uint64_t pair) const;
  void grow();

  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::size_t count_ = 0;
};

}  // namespace undertext
