// The four patterns, each as one function that follows the alternatives of its expression in their
// order.
#include "tokens/split.hpp"

#include <array>

#include "tokens/split_characters.hpp"

namespace undertext {
namespace {

constexpr ClassSet marks_and_letters = letters | class_set(CharacterClass::mark);
constexpr ClassSet not_lower =
    class_set(CharacterClass::upper, CharacterClass::caseless, CharacterClass::mark);
constexpr ClassSet not_upper =
    class_set(CharacterClass::lower, CharacterClass::caseless, CharacterClass::mark);
// in ASCII
constexpr ClassSet before_words = class_set(CharacterClass::other, CharacterClass::space);
// [^\s\p{L}\p{N}]
constexpr ClassSet symbols = class_set(CharacterClass::other, CharacterClass::mark);

// [U]*[W]+ of o200k, where U is not_lower and W is not_upper: the end, or `at` where there is no
// match. In 漢Ab the b is the W; in 漢A only the 漢 can be, so that the match ends before the A.
const char* skip_word(const char* at, const char* end) {
  const char* after_last_w = at;
  const char* here = at;
  while (here != end) {
    const Seen seen = see(here);
    if (!seen.is(not_lower)) {
      if (seen.character == CharacterClass::lower) return skip(not_upper, here + seen.size, end);
      break;
    }
    here += seen.size;
    if (seen.character != CharacterClass::upper) after_last_w = here;
  }
  return after_last_w;
}

// Most pieces of most texts are small letters of ASCII, perhaps behind one other character of ASCII
// that may stand before a word, up to a character of ASCII that is neither a letter nor an
// apostrophe. The end of such a piece, or null. Capitals are left to the others.
const char* plain_word_end(const char* at, const char* end) {
  const bool prefix = *at < 'a' || *at > 'z';
  if (prefix && (byte_at(at) >= 0x80 || !is_in(before_words, see(at).character))) return nullptr;
  const char* here = at + prefix;
  const char* const begin = here;
  for (;;) {
    if (end - here < 9) return nullptr;
    const std::size_t run = small_letters(here);
    here += run;
    if (run != 8) break;
  }
  const std::uint32_t next = byte_at(here);
  return here == begin || next >= 0x80 || next == '\'' ? nullptr : here;
}

const char* o200k_end(const char* at, const char* end) {
  if (const char* word = plain_word_end(at, end)) return word;
  const Seen first = see(at);
  const char* const second = at + first.size;
  if (first.is(letters)) {
    const char* word = skip_word(at, end);
    if (word == at) word = skip(not_lower, at, end);  // capitals only
    return skip_contraction(word, end);
  }
  if (first.character == CharacterClass::number) {
    const char* here = second;
    for (int digits = 1; digits < 3 && here != end; ++digits) {
      const Seen seen = see(here);
      if (seen.character != CharacterClass::number) break;
      here += seen.size;
    }
    return here;
  }
  if (first.character != CharacterClass::newline && second != end) {
    const Seen next = see(second);
    if (next.is(marks_and_letters)) {
      const char* word = skip_word(second, end);
      if (word != second) return skip_contraction(word, end);
      if (first.character != CharacterClass::mark)
        return skip_contraction(skip(not_lower, second, end), end);
    }
    if (*at == ' ' && next.is(symbols)) at = second;
  }
  // a mark alone is a word too
  if (first.character == CharacterClass::mark) return skip_contraction(second, end);
  if (!is_in(white_space, first.character) || at == second) {
    const char* here = skip(symbols, at, end);
    while (here != end && (*here == '\r' || *here == '\n' || *here == '/')) ++here;
    return here;
  }
  return skip_white_space(at, end);
}

template <int digits_max>
const char* cl100k_end(const char* at, const char* end) {
  // Here capitals go on with the word, and an apostrophe may begin a piece of its own.
  if (*at != '\'') {
    if (const char* word = plain_word_end(at, end); word != nullptr && (*word < 'A' || *word > 'Z'))
      return word;
  }
  if (const char* contraction = skip_contraction(at, end); contraction != at) return contraction;
  const Seen first = see(at);
  const char* const second = at + first.size;
  if (first.is(letters)) return skip(letters, second, end);
  if (first.character == CharacterClass::number) {
    const char* here = second;
    for (int digits = 1; digits < digits_max && here != end; ++digits) {
      const Seen seen = see(here);
      if (seen.character != CharacterClass::number) break;
      here += seen.size;
    }
    return here;
  }
  if (first.character != CharacterClass::newline && second != end) {
    const Seen next = see(second);
    if (next.is(letters)) return skip(letters, second, end);
    if (*at == ' ' && next.is(symbols)) at = second;
  }
  if (!is_in(white_space, first.character) || at == second) {
    const char* here = skip(symbols, at, end);
    while (here != end && (*here == '\r' || *here == '\n')) ++here;
    return here;
  }
  return skip_white_space(at, end);
}

// Contractions in small letters only, and nothing but a space goes before a word.
const char* gpt2_end(const char* at, const char* end) {
  if (*at == '\'' && end - at >= 2 && at[1] >= 'a') {
    const char* contraction = skip_contraction(at, end);
    const bool small =
        contraction - at == 2 || (contraction - at == 3 && at[2] >= 'a' && byte_at(at, 1) < 0x80);
    if (small) return contraction;
  }
  const char* const word = *at == ' ' && at + 1 != end ? at + 1 : at;
  const Seen first = see(word);
  if (first.is(letters)) return skip(letters, word, end);
  if (first.character == CharacterClass::number)
    return skip(class_set(CharacterClass::number), word, end);
  if (first.is(symbols)) return skip(symbols, word, end);
  // \s+(?!\S)|\s+, to which newlines are nothing special.
  const char* last = at;
  const char* here = at;
  while (here != end) {
    const Seen seen = see(here);
    if (!seen.is(white_space)) break;
    last = here;
    here += seen.size;
  }
  return here == end || last == at ? here : last;
}

constexpr std::array<std::string_view, split_pattern_count> texts = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
};

}  // namespace

std::string_view pattern_text(SplitPattern pattern) {
  return texts[static_cast<std::size_t>(pattern)];
}

std::optional<SplitPattern> find_pattern(std::string_view text) {
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i] == text) return static_cast<SplitPattern>(i);
  return std::nullopt;
}

const char* piece_end(SplitPattern pattern, const char* at, const char* end) {
  switch (pattern) {
    case SplitPattern::o200k: return o200k_end(at, end);
    case SplitPattern::cl100k: return cl100k_end<3>(at, end);
    case SplitPattern::qwen2: return cl100k_end<1>(at, end);
    case SplitPattern::gpt2: return gpt2_end(at, end);
  }
  return end;
}

}  // namespace undertext
