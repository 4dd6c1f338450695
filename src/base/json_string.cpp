// Units and decoding of JSON string bodies that have been read, so nothing here can fail.
#include "base/json_string.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace undertext {
namespace {

constexpr bool is_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }
constexpr bool is_high_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDBFF; }
constexpr bool is_low_surrogate(char32_t c) { return c >= 0xDC00 && c <= 0xDFFF; }

char32_t hex_digits(std::string_view digits) {
  char32_t value = 0;
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  return value;
}

JsonUnit escape_unit(std::string_view body, std::size_t at) {
  switch (body[at + 1]) {
    case 'b': return {2, '\b'};
    case 'f': return {2, '\f'};
    case 'n': return {2, '\n'};
    case 'r': return {2, '\r'};
    case 't': return {2, '\t'};
    case 'u': break;
    // the quote, the backslash and the slash are themselves
    default: return {2, static_cast<char32_t>(body[at + 1])};
  }
  const char32_t first = hex_digits(body.substr(at + 2, 4));
  if (is_high_surrogate(first) && body.size() - at >= 12 && body[at + 6] == '\\' &&
      body[at + 7] == 'u') {
    const char32_t second = hex_digits(body.substr(at + 8, 4));
    if (is_low_surrogate(second))
      return {12, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)};
  }
  return {6, first};
}

}  // namespace

JsonUnit json_unit(std::string_view body, std::size_t at) {
  const auto byte = [body, at](std::size_t i) {
    return static_cast<char32_t>(static_cast<std::uint8_t>(body[at + i]));
  };
  const char32_t lead = byte(0);
  if (lead == '\\') return escape_unit(body, at);
  if (lead < 0x80) return {1, lead};
  if (lead < 0xE0) return {2, (lead & 0x1F) << 6 | (byte(1) & 0x3F)};
  if (lead < 0xF0) return {3, (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F)};
  return {4,
          (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F)};
}

std::uint64_t count_json_units(std::string_view body) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < body.size(); at += json_unit(body, at).size) ++count;
  return count;
}

void append_json_decoded(std::string& out, std::string_view body, LoneSurrogates lone) {
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t escape = std::min(body.find('\\', at), body.size());
    out.append(body, at, escape - at);
    at = escape;
    if (at == body.size()) break;
    const JsonUnit unit = escape_unit(body, at);
    append_utf8(out, lone == LoneSurrogates::replace && is_surrogate(unit.code_point)
                         ? replacement_character
                         : unit.code_point);
    at += unit.size;
  }
}

}  // namespace undertext
