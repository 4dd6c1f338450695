#include "tokens/image_size.hpp"

namespace undertext {
namespace {

constexpr std::size_t head_bytes = 32;  // as far as PNG, GIF and WebP need
constexpr std::size_t jpeg_head_bytes = 64u << 10;

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

std::uint32_t byte(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}
std::uint32_t big16(std::string_view bytes, std::size_t at) {
  return byte(bytes, at) << 8 | byte(bytes, at + 1);
}
std::uint32_t big32(std::string_view bytes, std::size_t at) {
  return big16(bytes, at) << 16 | big16(bytes, at + 2);
}
std::uint32_t little16(std::string_view bytes, std::size_t at) {
  return byte(bytes, at) | byte(bytes, at + 1) << 8;
}
std::uint32_t little24(std::string_view bytes, std::size_t at) {
  return little16(bytes, at) | byte(bytes, at + 2) << 16;
}

std::optional<PixelSize> sized(std::uint32_t width, std::uint32_t height) {
  return width == 0 || height == 0 ? std::nullopt : std::optional(PixelSize{width, height});
}

// A JPEG is a row of segments, each with its length; the one that begins the picture has its size.
std::optional<PixelSize> jpeg_size(std::string_view bytes) {
  for (std::size_t at = 2; at + 9 <= bytes.size();) {
    if (byte(bytes, at) != 0xFF) return std::nullopt;
    const std::uint32_t marker = byte(bytes, at + 1);
    if (marker == 0xFF) {  // filling
      ++at;
      continue;
    }
    const bool begins_picture =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (begins_picture) return sized(big16(bytes, at + 7), big16(bytes, at + 5));
    const std::uint32_t length = big16(bytes, at + 2);
    if (length < 2) return std::nullopt;
    at += 2 + length;
  }
  return std::nullopt;
}

std::optional<PixelSize> webp_size(std::string_view bytes) {
  const std::string_view chunk = bytes.substr(12, 4);
  if (chunk == "VP8X") return sized(little24(bytes, 24) + 1, little24(bytes, 27) + 1);
  if (chunk == "VP8 ") return sized(little16(bytes, 26) & 0x3FFF, little16(bytes, 28) & 0x3FFF);
  if (chunk == "VP8L") {
    const std::uint32_t packed = little24(bytes, 21) | byte(bytes, 24) << 24;
    return sized((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1);
  }
  return std::nullopt;
}

}  // namespace

void append_base64_decoded(std::string& out, std::string_view base64, std::size_t bytes_max) {
  std::uint32_t bits = 0;
  unsigned held = 0;
  std::size_t appended = 0;
  for (std::size_t i = 0; i < base64.size() && appended < bytes_max; ++i) {
    const char c = base64[i];
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '\\') {
      // Some write / as \/; \n and \r break lines.
      if (i + 1 < base64.size() && base64[i + 1] != '/') ++i;
      continue;
    }
    const int digit = digit_of(c);
    if (digit < 0) return;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(static_cast<std::uint8_t>(bits >> held));
      ++appended;
    }
  }
}

std::optional<PixelSize> image_size(std::string_view base64) {
  std::string bytes;
  append_base64_decoded(bytes, base64, head_bytes);
  const std::string_view head = bytes;
  if (head.starts_with("\xFF\xD8\xFF")) {
    bytes.clear();
    append_base64_decoded(bytes, base64, jpeg_head_bytes);
    return jpeg_size(bytes);
  }
  if (head.size() >= 24 && head.starts_with("\x89PNG\r\n\x1A\n"))
    return sized(big32(head, 16), big32(head, 20));
  if (head.size() >= 10 && (head.starts_with("GIF87a") || head.starts_with("GIF89a")))
    return sized(little16(head, 6), little16(head, 8));
  if (head.size() >= 30 && head.starts_with("RIFF") && head.substr(8, 4) == "WEBP")
    return webp_size(head);
  return std::nullopt;
}

}  // namespace undertext
