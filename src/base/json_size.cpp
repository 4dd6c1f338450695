#include "base/json_size.hpp"

#include <cstddef>

namespace undertext {

std::uint64_t json_reading_bytes(std::string_view text) {
  // 16 bytes of the table, which is there twice while it grows, and as much again for a key of a large object.
  constexpr std::uint64_t bytes_of_value = 64;
  // Every value but the outermost stands behind a bracket, a comma or a colon.
  std::uint64_t values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '{' || c == ',' || c == ':') ++values;
    if (c != '"') continue;
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\') ++at;
  }
  return values * bytes_of_value;
}

}  // namespace undertext
