// Plain text as the digest reads it: bytes that are safe to show, lines, sentences, and pieces cut
// between characters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace undertext::digest {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_upper(c) || is_lower(c); }
constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_word(char c) { return is_alnum(c) || c == '_'; }
constexpr bool is_ascii(char c) { return static_cast<std::uint8_t>(c) < 0x80; }
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c; }

bool equal_ignoring_case(std::string_view text, std::string_view lower);
std::string lower(std::string_view text);

struct Character {
  char32_t code_point = 0;
  std::size_t size = 1;
};

// The character at `at` < text.size(). `text` is UTF-8.
Character character_at(std::string_view text, std::size_t at);

// written without spaces: a word next to it is not part of it
bool is_cjk(char32_t code_point);
bool is_cjk_punctuation(char32_t code_point);  // ends whatever stands before it

// The text without what can harm or hide: terminal sequences, control characters, marks that turn
// the direction of writing or have no width. A tab is a space, any line ending is "\n".
std::string clean(std::string_view utf8);

std::string_view trim(std::string_view text);
std::string one_line(std::string_view text);  // every stretch of white space is one space

// The longest beginning of at most `bytes` that ends between two characters.
std::string_view first_bytes(std::string_view text, std::size_t bytes);
// The same for the end.
std::string_view last_bytes(std::string_view text, std::size_t bytes);

// At most `bytes` (at least 8): the text itself, or its beginning and end around " … ", where words
// end if that costs little. People write what they want first or, below something pasted, last.
std::string shorten(std::string_view text, std::size_t bytes);
// At most `bytes` (at least 8): the text itself, or its beginning and "…".
std::string shorten_end(std::string_view text, std::size_t bytes);

template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    visit(text.substr(at, end - at));
    at = end + 1;
  }
}

// Where the sentence that begins at `from` ends, its mark included: at a mark of its end that white
// space or nothing follows, and at any such mark of Chinese or Japanese. Nothing ends inside
// `code`.
std::size_t sentence_end(std::string_view line, std::size_t from);

}  // namespace undertext::digest
