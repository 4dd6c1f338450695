// Byte pair encoding of one piece in linear time: takes the longest token at each place, and goes
// back where it cannot stand beside the one before it. Gives what merging gives (see
// pair_merges.hpp), for vocabularies whose every token is what merging makes of its bytes.
//
// Two tokens can stand side by side when merging the bytes of both ends in these two; whether it
// does can be read from the pairs they were merged from, without merging anything. And tokens of
// which every two neighbours can stand side by side are what merging makes of all their bytes,
// however they were found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

// Keeps its memory from piece to piece. One thread at a time.
class BpeEncoder {
 public:
  // How many tokens the piece is; any bytes will do.
  std::size_t count(const BpeVocabulary& vocabulary, std::string_view piece);
  // Appends their ids.
  void encode(const BpeVocabulary& vocabulary, std::string_view piece,
              std::vector<std::uint32_t>& ids);

 private:
  // A merge that would have been made across the border of two tokens, so that they cannot stand
  // side by side.
  struct BorderMerge {
    TokenNumber right_part = no_token;  // what the right token begins with
    TokenNumber result = no_token;      // none: they can
  };

  void run(const BpeVocabulary& vocabulary, std::string_view piece);
  bool guess(const BpeVocabulary& vocabulary, std::string_view piece);
  void search(const BpeVocabulary& vocabulary, std::string_view piece);
  enum class Whole : std::uint8_t { may_merge, cannot_merge };  // the two tokens themselves
  static BorderMerge find_border_merge(const BpeVocabulary& vocabulary, TokenNumber left,
                                       TokenNumber right, Whole whole = Whole::may_merge);
  static bool has_border_merge(const BpeVocabulary& vocabulary, TokenNumber right,
                               BorderMerge merge);

  // Long pieces that are hard, such as a line of a thousand signs, are those that repeat
  // themselves. In them the same question is not answered twice: what the longest token at a place
  // is, and whether two tokens can stand together.
  static constexpr std::size_t remember_from = 256;  // bytes of a piece
  struct Longest {
    std::size_t at = 0;
    std::size_t seen = 0;  // how many bytes from there it depends on; 0 for an empty place
    TokenNumber token = no_token;
  };
  struct Border {
    TokenNumber left = no_token;
    TokenNumber right = no_token;
    BorderMerge merge;
  };
  TokenNumber recall_longest(const BpeVocabulary& vocabulary, std::string_view piece,
                             std::size_t at);
  BorderMerge recall_border_merge(const BpeVocabulary& vocabulary, TokenNumber left,
                                  TokenNumber right);

  std::vector<TokenNumber> tokens_;  // the answer
  // a bit for every place from which the rest cannot be reached
  std::vector<std::uint64_t> dead_ends_;
  std::vector<Longest> longest_;  // both empty for short pieces
  std::vector<Border> borders_;
};

}  // namespace undertext
