// A tokenizer over any list of merges, by definition and without short cuts: for vocabularies that
// the tables of bpe_vocabulary.hpp cannot hold, and in tests to see whether those tables are right.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <undertext/tokenizer.hpp>

#include "tokens/bpe_vocabulary.hpp"
#include "tokens/pair_merges.hpp"

namespace undertext {

class MergeTokenizer final : public Tokenizer {
 public:
  // Bytes are the numbers 0 to 255; `ids` has what users see for every number.
  MergeTokenizer(VocabularyFacts facts, PairMerges merges, std::vector<std::uint32_t> ids)
      : facts_(std::move(facts)), merges_(std::move(merges)), ids_(std::move(ids)) {}

  std::string_view name() const noexcept override { return facts_.name; }
  bool is_exact() const noexcept override { return true; }
  std::uint64_t count(std::string_view text) const override;
  Result<std::vector<std::uint32_t>> encode(std::string_view text) const override;

 private:
  VocabularyFacts facts_;
  PairMerges merges_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace undertext
