#include "recall/rank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace undertext {
namespace {

constexpr std::uint32_t near_max = 8;

// What a word that stands somewhere gives to the messages around it: of several near ones, the best.
class Spread {
 public:
  Spread(std::vector<float>& scores, const RankWeights& weights)
      : scores_(scores), reach_(std::min(weights.near_messages, near_max)) {
    double weight = 1;
    for (std::uint32_t d = 0; d <= reach_; ++d) {
      weights_[reach_ + d] = weights_[reach_ - d] = static_cast<float>(weight);
      weight = d == 0 ? weights.near : weight * weights.near_step;
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
      while (end < values.size() && values[end].ordinal - values[end - 1].ordinal <= 2 * reach_) ++end;
      if (end == first + 1)
        add_alone(values[first]);
      else
        add_group(values, first, end);
      first = end;
    }
  }

 private:
  // The part of [ordinal - reach, ordinal + reach] that there is.
  std::uint32_t first_near(std::uint32_t ordinal) const { return ordinal > reach_ ? ordinal - reach_ : 0; }
  std::uint32_t end_near(std::uint32_t ordinal) const {
    return static_cast<std::uint32_t>(std::min<std::size_t>(scores_.size(), std::size_t{ordinal} + reach_ + 1));
  }

  void add_alone(const Value& value) {
    const std::uint32_t first = first_near(value.ordinal), end = end_near(value.ordinal);
    const float* weight = weights_.data() + (reach_ - (value.ordinal - first));
    for (std::uint32_t i = first; i < end; ++i) scores_[i] += value.value * *weight++;
  }
  void add_group(const std::vector<Value>& values, std::size_t begin, std::size_t behind) {
    const std::uint32_t first = first_near(values[begin].ordinal), end = end_near(values[behind - 1].ordinal);
    best_.assign(end - first, 0);
    for (std::size_t k = begin; k < behind; ++k) {
      const std::uint32_t from = first_near(values[k].ordinal), to = end_near(values[k].ordinal);
      const float* weight = weights_.data() + (reach_ - (values[k].ordinal - from));
      for (std::uint32_t i = from; i < to; ++i) best_[i - first] = std::max(best_[i - first], values[k].value * *weight++);
    }
    for (std::uint32_t i = first; i < end; ++i) scores_[i] += best_[i - first];
  }

  std::vector<float>& scores_;
  const std::uint32_t reach_;
  std::array<float, 2 * near_max + 1> weights_ = {};  // by distance, from -reach to reach
  std::vector<float> best_;
};

}  // namespace

Ranking::Ranking(const RecallIndex& index, const std::vector<Word>& words, const RankWeights& weights) {
  std::vector<std::vector<Posting>> found;
  for (const Word word : words) {
    std::vector<Posting> postings = index.find(word);
    if (!postings.empty()) found.push_back(std::move(postings));
  }
  if (found.empty()) return;
  // The rarest first: sums of floats depend on their order, and this one depends on the log alone.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto share = static_cast<std::size_t>(weights.common_share * index.size());
  const std::size_t common = std::max<std::size_t>(16, std::min<std::size_t>(share, weights.common_messages));
  while (found.size() > 1 && found.back().size() > common) found.pop_back();
  scores_.resize(index.size());
  has_word_.resize(index.size());
  for (const std::vector<Posting>& postings : found) add_word(index, postings, weights);
  block_best_.reserve(scores_.size() / block_size + 1);
  for (std::size_t first = 0; first < scores_.size(); first += block_size) {
    float best = 0;
    for (std::size_t i = first; i < std::min<std::size_t>(scores_.size(), first + block_size); ++i)
      best = scores_[i] > best ? scores_[i] : best;
    block_best_.push_back(best);
    best_ = std::max(best_, best);
  }
}

void Ranking::add_word(const RecallIndex& index, const std::vector<Posting>& postings, const RankWeights& weights) {
  const double n = index.size(), with = static_cast<double>(postings.size());
  const auto rarity = static_cast<float>(std::log(1 + (n - with + 0.5) / (with + 0.5)) * (weights.k1 + 1));
  const double average = std::max(1.0, static_cast<double>(index.words()) / std::max(1.0, n));
  const auto short_part = static_cast<float>(weights.k1 * (1 - weights.b));
  const auto length_part = static_cast<float>(weights.k1 * weights.b / average);
  std::vector<Spread::Value> values;
  values.reserve(postings.size());
  for (const Posting& posting : postings) {
    const auto count = static_cast<float>(posting.count);
    values.push_back({posting.ordinal, rarity * count / (count + short_part + length_part * static_cast<float>(posting.length))});
    has_word_[posting.ordinal] = 1;
  }
  Spread(scores_, weights).add(values);
}

std::vector<std::uint32_t> Ranking::next(std::size_t count) {
  std::vector<std::uint32_t> best;
  // Down by a third each time, until there are enough: mostly few are near the best score.
  constexpr float step = 2.0f / 3, lowest = 1.0f / 64;
  while (best.size() < count && best_ > 0 && !(has_taken_ && taken_ <= 0)) {
    const float upper = has_taken_ ? taken_ : std::numeric_limits<float>::infinity();
    float lower = (has_taken_ ? taken_ : best_) * step;
    if (lower < best_ * lowest) lower = 0;
    const std::size_t before = best.size();
    for (std::uint32_t block = 0; block < block_best_.size(); ++block) {
      if (block_best_[block] == 0 || block_best_[block] < lower) continue;
      const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(scores_.size(), (std::size_t{block} + 1) * block_size));
      for (std::uint32_t ordinal = block * block_size; ordinal < end; ++ordinal)
        if (scores_[ordinal] > 0 && scores_[ordinal] >= lower && scores_[ordinal] < upper) best.push_back(ordinal);
    }
    std::sort(best.begin() + static_cast<std::ptrdiff_t>(before), best.end(),
              [&](std::uint32_t a, std::uint32_t b) { return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a > b; });
    taken_ = lower;
    has_taken_ = true;
  }
  return best;
}

}  // namespace undertext
