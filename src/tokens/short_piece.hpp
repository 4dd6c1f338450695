// A piece of at most 14 bytes as two words, which compare at once. The uppermost byte is free, for
// a count.
#pragma once

#include <cstdint>
#include <cstring>

namespace undertext {

struct ShortPiece {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // bytes 8 to 13, above them the size, above it 0

  friend bool operator==(const ShortPiece&, const ShortPiece&) = default;
};
static_assert(sizeof(ShortPiece) == 16);

inline constexpr std::size_t short_piece_max = 14;
inline constexpr std::uint32_t count_shift = 56;

inline ShortPiece mask_short_piece(std::uint64_t low, std::uint64_t high, std::size_t size) {
  const std::uint64_t low_mask = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
  const std::uint64_t high_mask = size <= 8 ? 0 : (std::uint64_t{1} << 8 * (size - 8)) - 1;
  return {low & low_mask, (high & high_mask) | std::uint64_t{size} << 48};
}

// Reads 16 bytes, whatever the size is.
inline ShortPiece load_short_piece(const char* at, std::size_t size) {
  std::uint64_t low, high;
  std::memcpy(&low, at, 8);
  std::memcpy(&high, at + 8, 8);
  return mask_short_piece(low, high, size);
}

// Reads the piece only.
inline ShortPiece copy_short_piece(const char* at, std::size_t size) {
  char bytes[16] = {};
  std::memcpy(bytes, at, size);
  return load_short_piece(bytes, size);
}

inline std::uint32_t hash_short_piece(const ShortPiece& piece) {
  std::uint64_t hash = (piece.low ^ piece.high * 0xD6E8FEB86659FD93u) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 29;
  return static_cast<std::uint32_t>(hash * 0xBF58476D1CE4E5B9u >> 32);
}

}  // namespace undertext
