// Byte pair encoding of one piece in linear time: takes the longest token at each place, and goes back where it cannot stand beside the one
// before it. Gives what merging gives (see pair_merges.hpp), for vocabularies whose every token is what merging makes of its bytes.
//
// Two tokens can stand side by side when merging the bytes of both ends in these two; whether it does can be read from the pairs they
// were merged from, without merging anything. Then a row of tokens of which every two neighbours can is what merging makes of all their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

// A merge that would have been made across the border of two tokens.
struct BorderMerge {
  TokenNumber right_part = no_token;  // what the right token begins with
  TokenNumber result = no_token;      // none: the two can stand together
};
BorderMerge find_border_merge(const BpeVocabulary& vocabulary, TokenNumber left, TokenNumber right);

// Whether another right token has the same merge across its border: if it begins with the same part, and that is not merged earlier in it.
bool has_border_merge(const BpeVocabulary& vocabulary, TokenNumber right, BorderMerge merge);

// The steps of find_border_merge(). The token that the pair makes, if it is merged before `until`; else no_token. Asks the table of
// pairs only; most pairs that are none can be told by the filter.
TokenNumber find_pair(const BpeVocabulary& vocabulary, TokenNumber left, TokenNumber right, TokenNumber until);

// From two parts at a border to the two that were there before the later of them was merged, and which merge ended that. False when
// both are bytes.
inline bool undo_merge(const BpeVocabulary& vocabulary, TokenNumber& left, TokenNumber& right, TokenNumber& until) {
  // Of equal merges the left one comes first, so that the right one still finds its neighbour as it was.
  if (left > right) {
    if (left < 256) return false;
    until = left;
    left = vocabulary.parts[left].right;
  } else {
    if (right < 256) return false;
    until = right + 1;
    right = vocabulary.parts[right].left;
  }
  return true;
}

// Keeps its memory from piece to piece. One thread at a time.
class BpeEncoder {
 public:
  // How many tokens the piece is; any bytes will do.
  std::size_t count(const BpeVocabulary& vocabulary, std::string_view piece);
  // Appends their ids.
  void encode(const BpeVocabulary& vocabulary, std::string_view piece, std::vector<std::uint32_t>& ids);

 private:
  void run(const BpeVocabulary& vocabulary, std::string_view piece);
  TokenNumber recall_longest(const BpeVocabulary& vocabulary, std::string_view piece, std::size_t at);
  BorderMerge recall_border_merge(const BpeVocabulary& vocabulary, TokenNumber left, TokenNumber right);

  // Long pieces that are hard, such as a line of a thousand signs, are those that repeat themselves. In them the same question is not
  // answered twice: what the longest token at a place is, and whether two tokens can stand together.
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

  std::vector<TokenNumber> tokens_;
  std::vector<Longest> longest_;  // both empty for short pieces
  std::vector<Border> borders_;
  std::vector<std::uint64_t> dead_ends_;  // a bit for every place from which the rest cannot be reached
};

}  // namespace undertext
