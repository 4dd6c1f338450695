// Counts the tokens of many short pieces side by side, as BpeEncoder does one by one. One piece alone mostly waits for memory: for the next
// node of the trie, for what is known of a token, for an entry of the table of pairs. Here every step asks for what the next one will
// read, and while that comes the other pieces take their steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tokens/bpe_encoder.hpp"
#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

class LaneEncoder {
 public:
  static constexpr std::size_t piece_max = 63;  // bytes: a place in a piece is a bit of a word

  struct Task {
    const char* begin;
    const char* end;      // 1 to piece_max bytes later
    std::uint32_t count;  // the answer
  };

  void count(const BpeVocabulary& vocabulary, Task* tasks, std::size_t task_count);

 private:
  static constexpr std::size_t lane_count = 16;

  enum class Step : std::uint8_t {
    walk,   // down the trie, by one byte
    judge,  // whether the token that was found can stand here
    look,   // whether two parts at the border are a pair at all
    probe,  // whether that pair is merged early enough
    done,
  };

  struct Lane {
    Step step;
    Task* task;
    const char* begin;
    const char* end;
    const char* at;  // where the next token begins

    // Walking.
    const char* here;
    std::uint32_t link;
    TokenNumber token;  // the longest so far; then the one that is judged
    const char* token_end;

    // Judging.
    TokenNumber left, right;  // parts at the border
    TokenNumber until;
    BorderMerge merge;  // in the way of a longer token at this place

    std::uint32_t guesses;
    std::uint64_t dead_ends;  // places from which the rest cannot be reached
    std::uint64_t longest;    // of the tokens: that it was the longest at its place
    std::uint32_t filled;
    TokenNumber tokens[piece_max];
  };

  class Run;
  std::array<Lane, lane_count> lanes_;
};

}  // namespace undertext
