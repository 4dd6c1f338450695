// Makes the tables of a vocabulary out of its tokens. Takes about a second for 200,000 of them;
// mapping what comes out, no time at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/error.hpp>

#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

struct VocabularySource {
  struct Token {
    std::string bytes;
    std::uint32_t id;
  };
  VocabularyFacts facts;
  // the 256 bytes first, by value; then the others in the order of their merging
  std::vector<Token> tokens;
  // of every token its pair; what stands there for a byte is not looked at
  std::vector<std::pair<TokenNumber, TokenNumber>> parts;
};

// The bytes of a vocabulary file. unsupported: too many tokens, or tokens that are too long.
Result<std::string> make_vocabulary(const VocabularySource& source);

// The same, opened.
Result<std::shared_ptr<const BpeVocabulary>> make_open_vocabulary(const VocabularySource& source);

}  // namespace undertext
