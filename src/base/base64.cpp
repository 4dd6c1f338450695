#include "base/base64.hpp"

#include <cstdint>

namespace undertext {
namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view some = bytes.substr(at, 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < some.size() ? static_cast<unsigned char>(some[i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= some.size() ? letters[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_padding = at >= text.size() - padding;
    const std::size_t letter = is_padding ? 0 : letters.find(text[at]);
    if (letter == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(letter);
    if (at % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(group >> shift & 0xff);
    group = 0;
  }
  bytes.resize(bytes.size() - padding);
  if (base64(bytes) != text) return std::nullopt;  // bits that mean nothing
  return bytes;
}

}  // namespace undertext
