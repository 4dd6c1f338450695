// A tokenizer that needs no vocabulary: it looks at kinds of characters (words of letters, digits,
// signs, white space, and each script by itself) and weighs them with what a known tokenizer makes
// of such text.
//
//     estimate_tokenizer("")->count("Hello, world");         // near what o200k_base counts
//     estimate_tokenizer("qwen")->count("Hello, world");     // near what that family counts, as far as one can know
//
// How near, and against what each family was measured, stands in docs/tokens.md. An estimate is the
// same on every machine, is 0 for no text and at least 1 for any, and has no tokens to show:
// encode() is unsupported.
#pragma once

#include <memory>
#include <string_view>

#include <undertext/tokenizer.hpp>

namespace undertext {

// "" is the general estimate, near o200k_base; the others are the rows `estimates` of models.json.
// Null for any other name.
std::shared_ptr<const Tokenizer> estimate_tokenizer(std::string_view family);

// Whether a vocabulary of this name was measured (estimate_weights.hpp).
bool has_weights(std::string_view name);

}  // namespace undertext
