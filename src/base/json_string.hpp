// The body of a JSON string: the bytes between the quotes, as spelled. An edit that cuts and joins
// bodies between their units keeps every other byte as it was given.
//
//     body     c a f \ u 0 0 e 9   \ u d 8 3 d \ u d e 0 0 \ n
//     units    1 1 1      6      1            12            2     bytes each, one code point each
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace undertext {

struct JsonUnit {
  std::size_t size;     // bytes as spelled
  char32_t code_point;  // a lone surrogate for the escape of one
};

// The unit at `at` < body.size(). `body` is from JSON text that has been read.
JsonUnit json_unit(std::string_view body, std::size_t at);

std::uint64_t count_json_units(std::string_view body);

// What stands for the escape of a lone surrogate, which has no UTF-8: U+FFFD for readers; its own
// three bytes where different strings must stay different, as keys must.
enum class LoneSurrogates : std::uint8_t { replace, keep };

void append_json_decoded(std::string& out, std::string_view body,
                         LoneSurrogates lone = LoneSurrogates::replace);

}  // namespace undertext
