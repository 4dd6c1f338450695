// A hash of a text that is part of stored pages: the same on every machine and in every release.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace undertext {

// SipHash-1-3 with a fixed key. Texts with equal hashes, or equal halves of them, can only be found
// by trying, which takes 2^32 trials for one half: so nobody fills an index with collisions.
inline std::uint64_t text_hash(std::string_view text) {
  std::uint64_t v0 = 0x736f6d6570736575, v1 = 0x646f72616e646f6d, v2 = 0x6c7967656e657261,
                v3 = 0x7465646279746573;
  const auto mix = [&] {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  };
  const auto take = [&](std::uint64_t word) {
    v3 ^= word;
    mix();
    v0 ^= word;
  };
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i % 8));
    if (i % 8 != 7) continue;
    take(word);
    word = 0;
  }
  take(word | static_cast<std::uint64_t>(text.size()) << 56);
  v2 ^= 0xff;
  mix(), mix(), mix();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace undertext
