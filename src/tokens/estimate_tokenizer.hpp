// A tokenizer that needs no vocabulary: it looks at kinds of characters (words of letters, digits, signs, white space, and each
// script by itself) and weighs them with what a known tokenizer makes of such text.
//
//     estimate_tokenizer("")->count("Hello, world");         // near what o200k_base counts
//     estimate_tokenizer("claude")->count("Hello, world");   // near what Claude counts, as far as one can know
//
// How near, and against what each family was measured, stands in docs/tokens.md. An estimate is the same on every machine, is 0 for no
// text and at least 1 for any, and has no tokens to show: encode() is unsupported.
#pragma once

#include <memory>
#include <string_view>

#include <undertext/tokenizer.hpp>

namespace undertext {

// Families: "" (o200k_base, the default), "o200k", "cl100k", "llama3", "qwen", "deepseek", "gemini", "claude" (Claude 3 to 4.6),
// "claude-4.7" (and newer). Null for any other name. Costs nothing: every family is one object that lives as long as the process.
std::shared_ptr<const Tokenizer> estimate_tokenizer(std::string_view family);

}  // namespace undertext
