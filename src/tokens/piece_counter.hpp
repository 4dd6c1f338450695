// Counts the tokens of text piece by piece, and remembers the pieces it has seen.
//
// A piece of up to 28 bytes is looked for in the memory, which is small enough to stay near the
// processor; then, if it is short, among the tokens themselves; and only then counted, by merging
// or, if it is long, by the encoder. All of it goes in batches, so that one piece does not wait for
// another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tokens/bpe_encoder.hpp"
#include "tokens/bpe_vocabulary.hpp"
#include "tokens/merge_lanes.hpp"
#include "tokens/short_piece.hpp"

namespace undertext {

// For one vocabulary, and one thread at a time. Holds 3 MB once it has seen much.
class PieceCounter {
 public:
  explicit PieceCounter(std::shared_ptr<const BpeVocabulary> vocabulary);

  // Valid UTF-8.
  std::uint64_t count(std::string_view text);

  const BpeVocabulary* vocabulary() const { return vocabulary_.get(); }

 private:
  class Batch;

  // Up to 28 bytes: the same keys, two of them.
  struct LongPiece {
    ShortPiece front;
    ShortPiece back;
  };
  // no more: the rest of a piece must not be empty, as free memory is
  static constexpr std::size_t long_front = short_piece_max;
  static constexpr std::size_t long_piece_max = long_front + short_piece_max;

  static constexpr std::size_t short_places = std::size_t{1} << 17;
  static constexpr std::size_t long_places = std::size_t{1} << 15;

  struct Free {
    void operator()(void* places) const;
  };
  std::shared_ptr<const BpeVocabulary> vocabulary_;
  std::unique_ptr<ShortPiece[], Free> short_memory_;
  std::unique_ptr<LongPiece[], Free> long_memory_;
  MergeLanes lanes_;
  BpeEncoder encoder_;
};

}  // namespace undertext
