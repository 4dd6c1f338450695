// UTF-8: the parts that need not be inline.
#include "base/utf8.hpp"

namespace undertext {

std::optional<std::uint64_t> find_invalid_utf8(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const std::size_t size = utf8_sequence_size(at, end);
    if (size == 0) return static_cast<std::uint64_t>(at - text.data());
    at += size;
  }
  return std::nullopt;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto continuation = [code_point](int shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  switch (utf8_size(code_point)) {
    case 1: out += static_cast<char>(code_point); return;
    case 2: (out += static_cast<char>(0xC0 | (code_point >> 6))) += continuation(0); return;
    case 3:
      ((out += static_cast<char>(0xE0 | (code_point >> 12))) += continuation(6)) += continuation(0);
      return;
    default:
      (((out += static_cast<char>(0xF0 | (code_point >> 18))) += continuation(12)) +=
       continuation(6)) += continuation(0);
  }
}

}  // namespace undertext
