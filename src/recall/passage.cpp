#include "recall/passage.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace undertext {
namespace {

struct Hit {
  std::size_t at = 0;    // in the text
  std::size_t word = 0;  // its index among the words asked
};

}  // namespace

std::optional<std::size_t> best_passage(std::string_view text, const AskedWords& asked,
                                        std::size_t bytes_max) {
  std::vector<Hit> hits;
  std::vector<std::size_t> counts(asked.size());
  const std::vector<PlacedWord> placed = placed_words(text);
  for (const PlacedWord& each : placed) {
    const std::size_t word = asked.index_of(each.word);
    if (word == asked.size()) continue;
    hits.push_back({each.at, word});
    ++counts[word];
  }
  if (hits.empty()) return {};
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    return std::tie(a.at, a.word) < std::tie(b.at, b.word);
  });
  std::vector<double> worth(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (counts[i] > 0)
      worth[i] = std::log(1 + static_cast<double>(placed.size()) / static_cast<double>(counts[i]));
  // A window over the hits, and how often it has each word. Each of its words counts once.
  std::vector<std::size_t> inside(asked.size());
  constexpr double rounding = 1e-9;
  double sum = 0, best_sum = 0;
  std::size_t best = 0, end = 0;
  for (std::size_t begin = 0; begin < hits.size(); ++begin) {
    for (; end < hits.size() && hits[end].at - hits[begin].at < bytes_max; ++end)
      if (inside[hits[end].word]++ == 0) sum += worth[hits[end].word];
    if (sum > best_sum + rounding) {
      best_sum = sum;
      best = hits[begin].at;
    }
    if (end == begin) {
      ++end;  // bytes_max is 0
    } else if (--inside[hits[begin].word] == 0) {
      sum -= worth[hits[begin].word];
    }
  }
  if (best_sum == 0) return {};
  return best;
}

std::size_t lead_to(std::string_view text, std::size_t at, std::size_t bytes) {
  if (at <= bytes) return 0;
  std::size_t begin = at - bytes;
  if (const std::size_t line = text.find('\n', begin - 1); line < at) return line + 1;
  while (begin < at && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;
  return begin;
}

}  // namespace undertext
