// A tokenizer over a vocabulary.
#pragma once

#include <memory>
#include <string>

#include <undertext/tokenizer.hpp>

#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

class BpeTokenizer final : public Tokenizer {
 public:
  explicit BpeTokenizer(std::shared_ptr<const BpeVocabulary> vocabulary);

  std::string_view name() const noexcept override { return vocabulary_->facts().name; }
  bool is_exact() const noexcept override { return true; }
  std::uint64_t count(std::string_view text) const override;
  Result<std::vector<std::uint32_t>> encode(std::string_view text) const override;

 private:
  std::shared_ptr<const BpeVocabulary> vocabulary_;
};

}  // namespace undertext
