// How well each message of a log fits a text.
//
// BM25 (k1 = 0.9, b = 0.4), and each word also counts for the messages around the one that has it:
// at a distance of d with 0.6 · 0.7^(d-1), up to four messages away, and before it with 0.7 of
// that: what answers a question follows it. Of several near ones the best counts, not the sum. A
// question is seldom answered in its own words, but near them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "recall/index.hpp"

namespace undertext {

struct RankWeights {
  double k1 = 0.9;
  double b = 0.4;
  double near = 0.6;
  double near_step = 0.7;
  double near_before = 0.7;  // of this, for the messages before the word
  std::uint32_t near_messages = 4;
  // A word that more messages have than this share of all is left out where a rarer one is found:
  // it says little. Up to `common_postings` of them it may be in a larger share: it costs little,
  // too.
  double common_share = 0.25, common_share_max = 0.6;
  // Words count the rarest first. Once they have so many postings together, each further one counts
  // only where another one did: it finds nothing of its own, and costs less.
  std::uint32_t common_postings = 4096;
};

// A number for each message, 0 where none was set. Blocks in which all are 0 are never written.
class BlockScores {
 public:
  static constexpr std::uint32_t block_size = 64;

  BlockScores() = default;
  explicit BlockScores(std::uint32_t size);

  std::uint32_t size() const { return size_; }
  std::size_t blocks() const { return is_used_.size(); }
  bool is_used(std::size_t block) const { return is_used_[block] != 0; }
  float operator[](std::uint32_t ordinal) const {
    return is_used(ordinal / block_size) ? values_[ordinal] : 0;
  }
  // Of a block that is used.
  const float* block(std::size_t block) const { return values_.get() + block * block_size; }
  // To write [first, end), which is not empty.
  float* use(std::uint32_t first, std::uint32_t end) {
    for (std::size_t block = first / block_size; block <= (end - 1) / block_size; ++block)
      if (!is_used(block)) clear(block);
    return values_.get() + first;
  }

 private:
  void clear(std::size_t block);

  std::uint32_t size_ = 0;
  std::unique_ptr<float[]> values_;  // of whole blocks
  std::vector<std::uint8_t> is_used_;
};

class Ranking {
 public:
  // Costs the postings of the words, and a byte for each message.
  Ranking(const RecallIndex& index, const AskedWords& asked, const RankWeights& weights = {});

  double score(std::uint32_t ordinal) const {
    return ordinal < scores_.size() ? scores_[ordinal] : 0;
  }
  bool has_word(std::uint32_t ordinal) const {
    return ordinal < has_word_.size() && has_word_[ordinal] != 0;
  }

  // The next best ones, `count` unless there are no more; of equal scores the later message first.
  // Looks at two blocks of scores for each.
  std::vector<std::uint32_t> next(std::size_t count);

 private:
  enum class Reach : std::uint8_t { everywhere, where_scored };
  // The best score of a block among those that were not taken.
  struct BlockBest {
    float score = 0;
    std::uint32_t block = 0;
    friend auto operator<=>(const BlockBest&, const BlockBest&) = default;
  };
  float best_below(std::size_t block, float below) const;
  void take_best_of_block();
  void add_word(const RecallIndex& index, const std::vector<Posting>& postings,
                const RankWeights& weights, Reach reach);

  BlockScores scores_;
  std::vector<std::uint8_t> has_word_;
  std::vector<BlockBest> bests_;      // a heap of the blocks that have more, the best on top
  std::vector<std::uint32_t> taken_;  // to be returned next, the last one first
};

}  // namespace undertext
