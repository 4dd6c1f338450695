// Many pieces at once against merging by definition, one by one.
#include "tokens/merge_lanes.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tokens/small_vocabulary.hpp"

namespace undertext {
namespace {

std::uint64_t seed() {
  const char* given = std::getenv("SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20240501;
}

class Merging {
 public:
  Merging(std::string_view lesson, std::size_t merge_count, std::mt19937_64& random) {
    const SmallVocabulary small =
        learn_vocabulary(lesson, SplitPattern::o200k, merge_count, random);
    vocabulary_ = make_open_vocabulary(small.source).value();
    for (TokenNumber number = 256; number < small.source.parts.size(); ++number) {
      const auto [left, right] = small.source.parts[number];
      merges_.add(left, right, {.rank = number, .result = number});
    }
  }

  std::vector<std::size_t> by_definition(const std::vector<std::string>& pieces) const {
    std::vector<std::size_t> counts;
    for (const std::string& piece : pieces) {
      std::vector<TokenNumber> parts;
      for (const char byte : piece) parts.push_back(static_cast<std::uint8_t>(byte));
      merges_.apply(parts);
      counts.push_back(parts.size());
    }
    return counts;
  }

  std::vector<std::size_t> in_lanes(const std::vector<std::string>& pieces) {
    const std::vector<std::string_view> views(pieces.begin(), pieces.end());
    std::vector<std::uint8_t> counts(pieces.size());
    lanes_.count(*vocabulary_, views, counts.data());
    return {counts.begin(), counts.end()};
  }

 private:
  PairMerges merges_;
  std::shared_ptr<const BpeVocabulary> vocabulary_;
  MergeLanes lanes_;
};

constexpr std::string_view lesson =
    "the cat and the hat aaaaaaaa abababab привет приветы 你好你好世界 =====----- ";

std::string random_piece(std::mt19937_64& random, std::size_t size) {
  // Stretches of the lesson, beginning and ending anywhere, and now and then a byte from nowhere.
  std::string piece;
  while (piece.size() < size) {
    piece += lesson.substr(random() % lesson.size(), 1 + random() % 12);
    if (random() % 8 == 0) piece += static_cast<char>(random());
  }
  piece.resize(size);
  return piece;
}

TEST(MergeLanes, PiecesOfAllSizesAreAsManyTokensAsMergingMakes) {
  SCOPED_TRACE("SEED=" + std::to_string(seed()));
  std::mt19937_64 random(seed());
  for (int round = 0; round < 40; ++round) {
    Merging merging(lesson, random() % 90, random);
    std::vector<std::string> pieces;
    for (int i = 0; i < 6; ++i)
      for (std::size_t size = 1; size <= lane_piece_max; ++size)
        pieces.push_back(random_piece(random, size));
    std::shuffle(pieces.begin(), pieces.end(), random);
    ASSERT_EQ(merging.in_lanes(pieces), merging.by_definition(pieces));
  }
}

TEST(MergeLanes, FewPiecesAndNoneAreCountedToo) {
  std::mt19937_64 random(seed());
  Merging merging(lesson, 60, random);
  std::vector<std::string> pieces;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(merging.in_lanes(pieces), merging.by_definition(pieces)) << i;
    pieces.push_back(random_piece(random, 1 + random() % lane_piece_max));
  }
}

// The bytes, and whatever is added to them.
struct Source : VocabularySource {
  Source() {
    facts = {.name = "bytes", .pattern = SplitPattern::o200k};
    for (std::uint32_t byte = 0; byte < 256; ++byte)
      add(byte, byte, std::string(1, static_cast<char>(byte)));
  }
  TokenNumber add(TokenNumber left, TokenNumber right) {
    return add(left, right, tokens[left].bytes + tokens[right].bytes);
  }
  TokenNumber add(TokenNumber left, TokenNumber right, std::string bytes) {
    const auto number = static_cast<TokenNumber>(tokens.size());
    tokens.push_back({std::move(bytes), number});
    parts.push_back({left, right});
    return number;
  }
};

TEST(MergeLanes, OfEqualPairsTheLeftmostIsMergedFirst) {
  Source source;
  source.add(source.add('a', 'a'), 'a');
  const std::shared_ptr<const BpeVocabulary> vocabulary = make_open_vocabulary(source).value();
  // aa|a becomes one; a|aa would not.
  const std::vector<std::string_view> pieces = {"a", "aa", "aaa", "aaaa", "aaaaa"};
  std::vector<std::uint8_t> counts(pieces.size());
  MergeLanes().count(*vocabulary, pieces, counts.data());
  EXPECT_EQ(counts, (std::vector<std::uint8_t>{1, 1, 1, 2, 2}));
}

TEST(MergeLanes, PairsWhoseBucketWasFullAreFound) {
  SCOPED_TRACE("SEED=" + std::to_string(seed()));
  std::mt19937_64 random(seed());
  Source source;
  for (TokenNumber x = 'a'; x <= 'z'; ++x)
    for (TokenNumber y = 'a'; y <= 'z'; ++y) source.add(x, y);
  const std::size_t pairs = source.tokens.size() - 256;
  // Two of them side by side, as many as a table takes without growing.
  std::set<std::pair<TokenNumber, TokenNumber>> chosen;
  while (source.tokens.size() + chosen.size() < 0x4000)
    chosen.emplace(256 + static_cast<TokenNumber>(random() % pairs),
                   256 + static_cast<TokenNumber>(random() % pairs));
  for (const auto& [left, right] : chosen) source.add(left, right);
  const std::shared_ptr<const BpeVocabulary> vocabulary = make_open_vocabulary(source).value();
  std::size_t beyond = 0;  // pairs that are not in the bucket they belong to
  for (std::size_t slot = 0; slot < vocabulary->pairs.size(); ++slot) {
    const std::uint64_t entry = vocabulary->pairs[slot];
    if (entry == 0) continue;
    beyond += pair_bucket(entry / tokens_max, vocabulary->pairs.size()) !=
              slot / pair_bucket_size * pair_bucket_size;
  }
  EXPECT_GT(beyond, 0u);
  std::vector<std::string_view> pieces;
  for (const VocabularySource::Token& token : source.tokens) pieces.push_back(token.bytes);
  PairMerges merges;
  std::vector<std::uint8_t> expected, counts(pieces.size());
  for (TokenNumber number = 256; number < source.tokens.size(); ++number)
    merges.add(source.parts[number].first, source.parts[number].second,
               {.rank = number, .result = number});
  for (const std::string_view piece : pieces) {
    std::vector<TokenNumber> parts;
    for (const char byte : piece) parts.push_back(static_cast<std::uint8_t>(byte));
    merges.apply(parts);
    expected.push_back(static_cast<std::uint8_t>(parts.size()));
  }
  MergeLanes().count(*vocabulary, pieces, counts.data());
  EXPECT_EQ(counts, expected);
}

}  // namespace
}  // namespace undertext
