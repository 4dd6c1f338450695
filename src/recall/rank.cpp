#include "recall/rank.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace undertext {
namespace {

constexpr std::uint32_t near_max = 8;

// What a word that stands somewhere gives to the messages around it: of several near ones, the
// best.
class Spread {
 public:
  Spread(BlockScores& scores, const RankWeights& weights)
      : scores_(scores), reach_(std::min(weights.near_messages, near_max)) {
    weights_[reach_] = 1;
    double weight = weights.near;
    for (std::uint32_t d = 1; d <= reach_; ++d) {
      weights_[reach_ + d] = static_cast<float>(weight);
      weights_[reach_ - d] = static_cast<float>(weight * weights.near_before);
      weight *= weights.near_step;
    }
  }

  struct Value {
    std::uint32_t ordinal = 0;
    float value = 0;
  };
  // Rising ordinals.
  void add(const std::vector<Value>& values) {
    for (std::size_t first = 0; first < values.size();) {
      std::size_t end = first + 1;
      while (end < values.size() && values[end].ordinal - values[end - 1].ordinal <= 2 * reach_)
        ++end;
      if (end == first + 1)
        add_alone(values[first]);
      else
        add_group(values, first, end);
      first = end;
    }
  }
  // The same, but nothing to a message without a score.
  void add_where_scored(std::vector<Value> values) {
    std::erase_if(values, [this](const Value& each) {
      const std::uint32_t end = end_near(each.ordinal);
      for (std::uint32_t i = first_near(each.ordinal); i < end; ++i)
        if (scores_[i] > 0) return false;
      return true;
    });
    only_scored_ = true;
    add(values);
  }
  // Whether add_where_scored() may have a use for it. Quick.
  bool may_be_scored(std::uint32_t ordinal) const {
    return scores_.is_used(first_near(ordinal) / BlockScores::block_size) ||
           scores_.is_used((end_near(ordinal) - 1) / BlockScores::block_size);
  }

 private:
  // The part of [ordinal - reach, ordinal + reach] that there is.
  std::uint32_t first_near(std::uint32_t ordinal) const {
    return ordinal > reach_ ? ordinal - reach_ : 0;
  }
  std::uint32_t end_near(std::uint32_t ordinal) const {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(scores_.size(), std::size_t{ordinal} + reach_ + 1));
  }

  void add_alone(const Value& value) {
    const std::uint32_t first = first_near(value.ordinal), end = end_near(value.ordinal);
    const float* const weight = weights_.data() + (reach_ - (value.ordinal - first));
    if (only_scored_) {
      for (std::uint32_t i = first; i < end; ++i)
        if (scores_[i] > 0) *scores_.use(i, i + 1) += value.value * weight[i - first];
      return;
    }
    float* const scores = scores_.use(first, end);
    // Nearly all: a number that the compiler knows.
    constexpr std::uint32_t whole = 2 * RankWeights{}.near_messages + 1;
    if (end - first == whole)
      for (std::uint32_t i = 0; i < whole; ++i) scores[i] += value.value * weight[i];
    else
      for (std::uint32_t i = 0; i < end - first; ++i) scores[i] += value.value * weight[i];
  }
  void add_group(const std::vector<Value>& values, std::size_t begin, std::size_t behind) {
    const std::uint32_t first = first_near(values[begin].ordinal),
                        end = end_near(values[behind - 1].ordinal);
    best_.assign(end - first, 0);
    for (std::size_t k = begin; k < behind; ++k) {
      const std::uint32_t from = first_near(values[k].ordinal), to = end_near(values[k].ordinal);
      const float* const weight = weights_.data() + (reach_ - (values[k].ordinal - from));
      float* const best = best_.data() + (from - first);
      for (std::uint32_t i = 0; i < to - from; ++i)
        best[i] = std::max(best[i], values[k].value * weight[i]);
    }
    if (only_scored_) {
      for (std::uint32_t i = first; i < end; ++i)
        if (scores_[i] > 0) *scores_.use(i, i + 1) += best_[i - first];
      return;
    }
    float* const scores = scores_.use(first, end);
    for (std::uint32_t i = 0; i < end - first; ++i) scores[i] += best_[i];
  }

  BlockScores& scores_;
  const std::uint32_t reach_;
  std::array<float, 2 * near_max + 1> weights_ = {};  // by distance, from -reach to reach
  std::vector<float> best_;
  bool only_scored_ = false;
};

}  // namespace

BlockScores::BlockScores(std::uint32_t size)
    : size_(size), is_used_((std::size_t{size} + block_size - 1) / block_size) {
  values_ = std::make_unique_for_overwrite<float[]>(is_used_.size() * block_size);
}

void BlockScores::clear(std::size_t block) {
  is_used_[block] = 1;
  std::fill_n(values_.get() + block * block_size, block_size, 0.0f);
}

Ranking::Ranking(const RecallIndex& index, const AskedWords& asked, const RankWeights& weights) {
  std::vector<std::vector<Posting>> found;
  const auto take = [&](std::vector<Posting> postings) {
    if (!postings.empty()) found.push_back(std::move(postings));
  };
  for (const Word word : asked.words) take(index.find(word));
  for (const std::vector<Word>& words : asked.any_of) take(index.find_any(words));
  for (const WordsWith& words : asked.any_with) take(index.find_any(words));
  if (found.empty()) return;
  // The rarest first: sums of floats depend on their order, and this one depends on the log alone.
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const double few =
      std::min<double>(weights.common_share_max * index.size(), weights.common_postings);
  const auto common =
      static_cast<std::size_t>(std::max({16.0, weights.common_share * index.size(), few}));
  while (found.size() > 1 && found.back().size() > common) found.pop_back();
  scores_ = BlockScores(index.size());
  has_word_.resize(index.size());
  std::size_t added = 0;
  for (const std::vector<Posting>& postings : found) {
    add_word(index, postings, weights,
             added < weights.common_postings ? Reach::everywhere : Reach::where_scored);
    added += postings.size();
  }
  constexpr float unlimited = std::numeric_limits<float>::infinity();
  bests_.reserve(scores_.blocks());
  for (std::size_t block = 0; block < scores_.blocks(); ++block)
    if (scores_.is_used(block))
      bests_.push_back({best_below(block, unlimited), static_cast<std::uint32_t>(block)});
  std::erase_if(bests_, [](const BlockBest& each) { return each.score <= 0; });
  std::make_heap(bests_.begin(), bests_.end());
}

// The best score of a block among those below a limit. No score is negative, so their bits rise as
// they do: whole numbers are compared, which compilers do several at a time.
float Ranking::best_below(std::size_t block, float below) const {
  const float* const scores = scores_.block(block);
  const auto limit = std::bit_cast<std::int32_t>(below);
  std::int32_t best = 0;
  for (std::size_t i = 0; i < BlockScores::block_size; ++i) {
    const auto score = std::bit_cast<std::int32_t>(scores[i]);
    best = std::max(best, score < limit ? score : 0);
  }
  return std::bit_cast<float>(best);
}

void Ranking::add_word(const RecallIndex& index, const std::vector<Posting>& postings,
                       const RankWeights& weights, Reach reach) {
  const double n = index.size(), with = static_cast<double>(postings.size());
  const auto rarity =
      static_cast<float>(std::log(1 + (n - with + 0.5) / (with + 0.5)) * (weights.k1 + 1));
  const double average = std::max(1.0, static_cast<double>(index.words()) / std::max(1.0, n));
  const auto short_part = static_cast<float>(weights.k1 * (1 - weights.b));
  const auto length_part = static_cast<float>(weights.k1 * weights.b / average);
  Spread spread(scores_, weights);
  std::vector<Spread::Value> values;
  if (reach == Reach::everywhere) values.reserve(postings.size());
  for (const Posting& posting : postings) {
    has_word_[posting.ordinal] = 1;
    if (reach == Reach::where_scored && !spread.may_be_scored(posting.ordinal)) continue;
    const auto count = static_cast<float>(posting.count);
    values.push_back(
        {posting.ordinal,
         rarity * count / (count + short_part + length_part * static_cast<float>(posting.length))});
  }
  if (reach == Reach::everywhere)
    spread.add(values);
  else
    spread.add_where_scored(std::move(values));
}

// All messages of the best block that have its best score. Of other blocks with that score those
// behind it come first, as the order of the heap has it.
void Ranking::take_best_of_block() {
  std::pop_heap(bests_.begin(), bests_.end());
  const auto [score, block] = bests_.back();
  const float* const scores = scores_.block(block);
  for (std::uint32_t i = 0; i < BlockScores::block_size; ++i)
    if (scores[i] == score) taken_.push_back(block * BlockScores::block_size + i);
  bests_.back().score = best_below(block, score);
  if (bests_.back().score > 0)
    std::push_heap(bests_.begin(), bests_.end());
  else
    bests_.pop_back();
}

std::vector<std::uint32_t> Ranking::next(std::size_t count) {
  std::vector<std::uint32_t> best;
  best.reserve(std::min<std::size_t>(count, scores_.size()));
  while (best.size() < count) {
    if (taken_.empty()) {
      if (bests_.empty()) break;
      take_best_of_block();
    }
    best.push_back(taken_.back());
    taken_.pop_back();
  }
  return best;
}

}  // namespace undertext
