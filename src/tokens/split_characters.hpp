// How the split patterns look at text: character by character, as classes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tokens/unicode_classes.hpp"

namespace undertext {

inline constexpr ClassSet letters =
    class_set(CharacterClass::upper, CharacterClass::lower, CharacterClass::caseless);
inline constexpr ClassSet white_space = class_set(CharacterClass::space, CharacterClass::newline);

struct Seen {
  CharacterClass character;
  std::uint8_t size;  // in bytes
  bool is(ClassSet set) const { return is_in(set, character); }
};

inline std::uint32_t byte_at(const char* at, std::size_t i = 0) {
  return static_cast<std::uint8_t>(at[i]);
}

// The character at `at`, of valid UTF-8.
inline Seen see(const char* at) {
  const std::uint32_t lead = byte_at(at);
  if (lead < 0x80) return {class_table.classes[ascii_block << ClassTable::block_bits | lead], 1};
  if (lead < 0xE0) return {class_of((lead & 0x1F) << 6 | (byte_at(at, 1) & 0x3F)), 2};
  if (lead < 0xF0)
    return {class_of((lead & 0x0F) << 12 | (byte_at(at, 1) & 0x3F) << 6 | (byte_at(at, 2) & 0x3F)),
            3};
  return {class_of((lead & 0x07) << 18 | (byte_at(at, 1) & 0x3F) << 12 |
                   (byte_at(at, 2) & 0x3F) << 6 | (byte_at(at, 3) & 0x3F)),
          4};
}

// How many of the eight bytes at `at`, from the first on, are small letters of ASCII.
inline std::size_t small_letters(const char* at) {
  constexpr std::uint64_t each = 0x0101010101010101u;
  std::uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  const std::uint64_t seven_bits = bytes & 0x7F * each;
  // the uppermost bit of each byte: at least a
  const std::uint64_t from_a = seven_bits + (0x80 - 'a') * each;
  const std::uint64_t beyond_z = seven_bits + (0x80 - 'z' - 1) * each;  // beyond z
  const std::uint64_t others = (~from_a | beyond_z | bytes) & 0x80 * each;
  return static_cast<std::size_t>(std::countr_zero(others)) / 8;
}

// The end of the run of such characters.
inline const char* skip(ClassSet set, const char* at, const char* end) {
  while (at != end) {
    const Seen seen = see(at);
    if (!seen.is(set)) break;
    at += seen.size;
  }
  return at;
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d) at `at`: its end, or `at` where there is none. The long s (U+017F)
// is an s that ignores case.
inline const char* skip_contraction(const char* at, const char* end) {
  if (end - at < 2 || *at != '\'') return at;
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  const char first = lower(at[1]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  if (end - at < 3) return at;
  if (at[1] == '\xC5' && at[2] == '\xBF') return at + 3;
  const char second = lower(at[2]);
  if (((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l'))
    return at + 3;
  return at;
}

// \s*[\r\n]+|\s+(?!\S)|\s+ at white space: up to the last newline of the run; else all of the run
// but the last character, which goes with what follows; else, where only one is there or nothing
// follows, the run.
inline const char* skip_white_space(const char* at, const char* end) {
  const char* after_newline = nullptr;
  const char* last = at;
  const char* here = at;
  while (here != end) {
    const Seen seen = see(here);
    if (!seen.is(white_space)) break;
    last = here;
    here += seen.size;
    if (seen.character == CharacterClass::newline) after_newline = here;
  }
  if (after_newline != nullptr) return after_newline;
  return here == end || last == at ? here : last;
}

}  // namespace undertext
