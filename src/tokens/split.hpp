// Cuts text into pieces, as the pattern of a BPE tokenizer would; each piece is then encoded by
// itself. The patterns are written out by hand, because a regular expression engine that backtracks
// can be made to take forever, or all of the stack, by a long run of spaces.
//
//     for (const char* at = text.begin(); at != end;) { const char* next = piece_end(SplitPattern::o200k, at, end); … at = next; }
//
// A pattern gives the same pieces as the regular expression that pattern_text() shows. Every piece
// is found in time linear in its own length and that of the piece after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace undertext {

enum class SplitPattern : std::uint8_t {  // stored in vocabulary files: add at the end only
  o200k,
  cl100k,  // also of Llama 3
  qwen2,   // cl100k with every digit by itself
  gpt2,
};
inline constexpr std::uint32_t split_pattern_count = 4;

// The regular expression, as tokenizer.json files spell it.
std::string_view pattern_text(SplitPattern pattern);
std::optional<SplitPattern> find_pattern(std::string_view text);

// The end of the piece that begins at `at`, which lies in [at + 1, end]. The text is valid UTF-8,
// and `at` != `end`.
const char* piece_end(SplitPattern pattern, const char* at, const char* end);

}  // namespace undertext
