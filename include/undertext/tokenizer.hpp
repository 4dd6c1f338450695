// Counts the tokens of texts.
//
//     std::shared_ptr<const Tokenizer> tokenizer = find_tokenizer("o200k_base").value();
//     tokenizer->count("Hello, world");   // 3
//
// A Tokenizer is immutable; any number of threads may use one at once. Special tokens such as
// <|endoftext|> in a text count as ordinary characters. Counting takes linear time for every text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>

namespace undertext {

class UNDERTEXT_API Tokenizer {
 public:
  virtual ~Tokenizer();

  virtual std::string_view name() const noexcept = 0;
  virtual bool is_exact() const noexcept = 0;  // false: an estimate

  // Each maximal invalid part of the text counts as U+FFFD, which a JSON encoder would send for it.
  virtual std::uint64_t count(std::string_view text) const = 0;

  // The tokens themselves. unsupported: an estimate has none.
  virtual Result<std::vector<std::uint32_t>> encode(std::string_view text) const = 0;
};

// "estimate" is always available. "o200k_base" and "cl100k_base" are exact, and need their
// vocabulary. A model's name, such as "gpt-4o" or "claude-sonnet-4", gives the model's tokenizer,
// or the estimate for it. A path (a name with a '/') loads a `.tiktoken` file, or a Hugging Face
// `tokenizer.json` with byte-level BPE.
// not_found: the vocabulary is missing (the message says how to get it), or no such name.
// unsupported: a tokenizer.json of another kind. corrupt: the file is damaged.
// A vocabulary is loaded once per process and shared.
UNDERTEXT_API Result<std::shared_ptr<const Tokenizer>> find_tokenizer(std::string_view name);

}  // namespace undertext
