// How many tokens short pieces are, by merging as it is defined: the lowest pair first, the
// leftmost of equals.
//
// Which pair is merged next depends on what the table of pairs says about the merge before, and
// that table is too large to be near the processor. So several pieces are merged by turns: each
// asks the memory for what it needs next and lets the others go on meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

inline constexpr std::size_t lane_piece_max = 63;  // bytes

// Keeps its memory from call to call. One thread at a time.
class MergeLanes {
 public:
  // Pieces of 1 to 63 bytes; `counts` has a place for each.
  void count(const BpeVocabulary& vocabulary, std::span<const std::string_view> pieces,
             std::uint8_t* counts);

 private:
  static constexpr std::size_t lanes_max = 8;

  // Two neighbours and where the table has them, if it has.
  struct Question {
    const std::uint64_t* bucket;
    std::uint64_t pair;
  };

  // The parts of a piece, linked, at places 1 to its size; a part lies where its first byte was.
  // What stands before and behind them merges with nothing.
  struct Lane {
    std::array<std::uint32_t, 64>
        // of the part here and the next: the token that makes and the place; the lowest is made
        // first
        merges;
    std::array<TokenNumber, 65> parts;
    std::array<std::uint8_t, 65> next, before;
    std::size_t merges_end;  // a multiple of 8
    std::size_t piece;
    std::uint32_t count;
    // About the part that was merged last: not answered yet.
    std::uint32_t at, at_before;
    Question with_next, with_before;
  };

  static void begin(const BpeVocabulary& vocabulary, std::string_view piece, Lane& lane);
  static bool step(const BpeVocabulary& vocabulary, Lane& lane);
  static Question ask(const BpeVocabulary& vocabulary, TokenNumber left, TokenNumber right);
  static std::uint32_t answer(const BpeVocabulary& vocabulary, Question question);

  std::array<Lane, lanes_max> lanes_;
};

}  // namespace undertext
