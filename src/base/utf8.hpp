// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace undertext {

inline constexpr char32_t replacement_character = 0xFFFD;

// The length of the well-formed sequence at `at`, 1 to 4, or 0 when there is none. `at` < `end`.
inline std::size_t utf8_sequence_size(const char* at, const char* end) {
  const auto byte = [at](std::size_t i) { return static_cast<std::uint8_t>(at[i]); };
  const auto continues = [&byte](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const std::uint8_t lead = byte(0);
  const auto left = static_cast<std::size_t>(end - at);
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation byte, or the lead of an overlong form
  if (lead < 0xE0) return left >= 2 && continues(1) ? 2 : 0;
  if (lead < 0xF0) {
    if (left < 3 || !continues(1) || !continues(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;   // overlong
    if (lead == 0xED && byte(1) >= 0xA0) return 0;  // a surrogate
    return 3;
  }
  if (lead > 0xF4 || left < 4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;   // overlong
  if (lead == 0xF4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
  return 4;
}

// The offset of the first byte that begins no well-formed sequence.
std::optional<std::uint64_t> find_invalid_utf8(std::string_view text);

// How many bytes append_utf8() adds.
constexpr std::size_t utf8_size(char32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

// A surrogate is written like any other number of three bytes; callers that want UTF-8 do not pass
// one.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace undertext
