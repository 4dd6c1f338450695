// Vocabularies for tests: few tokens, learned from a text as the large ones were, with the
// exception that chance has a say in what is merged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens/bpe_tokenizer.hpp"
#include "tokens/make_vocabulary.hpp"
#include "tokens/merge_tokenizer.hpp"
#include "tokens/split.hpp"

namespace undertext {

struct SmallVocabulary {
  VocabularySource source;
  std::shared_ptr<const Tokenizer> fast;
  std::shared_ptr<const Tokenizer> plain;  // by definition
};

// `chance` gives numbers of any size.
template <class Chance>
SmallVocabulary learn_vocabulary(std::string_view text, SplitPattern pattern,
                                 std::size_t merge_count, Chance chance) {
  SmallVocabulary made;
  VocabularySource& source = made.source;
  source.facts = {.name = "small", .pattern = pattern};
  std::set<std::string> known;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    source.tokens.push_back({std::string(1, static_cast<char>(byte)), 1000 + byte});
    source.parts.push_back({byte, byte});
  }
  std::vector<std::vector<TokenNumber>> pieces;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const next = piece_end(pattern, at, end);
    std::vector<TokenNumber>& piece = pieces.emplace_back();
    for (; at != next; ++at) piece.push_back(static_cast<std::uint8_t>(*at));
  }
  PairMerges merges;
  while (source.tokens.size() < 256 + merge_count) {
    std::map<std::pair<TokenNumber, TokenNumber>, std::uint32_t> pairs;
    for (const std::vector<TokenNumber>& piece : pieces)
      for (std::size_t i = 1; i < piece.size(); ++i) ++pairs[{piece[i - 1], piece[i]}];
    // One of the most common, mostly.
    std::vector<std::pair<std::uint32_t, std::pair<TokenNumber, TokenNumber>>> by_count;
    for (const auto& [pair, count] : pairs)
      if (!known.contains(source.tokens[pair.first].bytes + source.tokens[pair.second].bytes))
        by_count.push_back({count, pair});
    if (by_count.empty()) break;
    std::sort(by_count.rbegin(), by_count.rend());
    const std::size_t among =
        chance() % 4 == 0 ? by_count.size() : std::min<std::size_t>(by_count.size(), 3);
    const auto [left, right] = by_count[chance() % among].second;
    const auto result = static_cast<TokenNumber>(source.tokens.size());
    source.tokens.push_back(
        {source.tokens[left].bytes + source.tokens[right].bytes, 5000 + result});
    source.parts.push_back({left, right});
    known.insert(source.tokens.back().bytes);
    merges.add(left, right, {.rank = result, .result = result});
    for (std::vector<TokenNumber>& piece : pieces) merges.apply(piece);
  }
  std::vector<std::uint32_t> ids;
  for (const VocabularySource::Token& token : source.tokens) ids.push_back(token.id);
  made.fast = std::make_shared<BpeTokenizer>(make_open_vocabulary(source).value());
  made.plain = std::make_shared<MergeTokenizer>(source.facts, std::move(merges), std::move(ids));
  return made;
}

}  // namespace undertext
