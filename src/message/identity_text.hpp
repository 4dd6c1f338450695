// An identity as stored bytes, and as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <undertext/identity.hpp>

namespace undertext {

inline std::string identity_bytes(const Identity& identity) {
  std::string bytes;
  for (const std::uint64_t word : {identity.high, identity.low})
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift);
  return bytes;
}

// Nothing: not 16 bytes.
inline std::optional<Identity> identity_of_bytes(std::string_view bytes) {
  if (bytes.size() != 16) return std::nullopt;
  Identity identity;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t& word = i < 8 ? identity.high : identity.low;
    word = (word << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return identity;
}

inline std::string identity_hex(const Identity& identity) {
  std::string hex;
  for (const char byte : identity_bytes(identity))
    for (const int shift : {4, 0})
      hex += "0123456789abcdef"[(static_cast<unsigned char>(byte) >> shift) & 15];
  return hex;
}

// Nothing: not 32 digits.
inline std::optional<Identity> identity_of_hex(std::string_view hex) {
  if (hex.size() != 32) return std::nullopt;
  Identity identity;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(hex[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    std::uint64_t& word = i < 16 ? identity.high : identity.low;
    word = (word << 4) | digit;
  }
  return identity;
}

}  // namespace undertext
