// Searching for bytes in bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include <string.h>

namespace undertext {

// Where `needle` first stands in `text` at or after `from`, or npos. Linear in the text whatever
// the needle, which std::string_view::find is not: a filter for "aaa…ab" must not become a way to
// stop the engine.
inline std::size_t find_bytes(std::string_view text, std::string_view needle,
                              std::size_t from = 0) {
  if (from > text.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  const void* const found =
      memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace undertext
