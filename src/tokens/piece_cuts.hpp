// Where a piece can be cut without changing its tokens.
//
// A merge makes a token of the vocabulary out of neighbours. So where no token has the end of one
// character beside the beginning of the next, nothing is ever merged across that place, and the
// piece can be counted in two halves. Texts without spaces, such as Chinese, are pieces of dozens
// of characters; most of their neighbours are in no token, and what lies between the cuts is mostly
// one character.
//
// Looked at are characters of three bytes. A token that begins or ends in the middle of a character
// makes all characters that it could belong to `no_cut_before` or `no_cut_after`.
#pragma once

#include <cstdint>

#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

// how many tokens the character is by itself; 0 for characters of other sizes
inline constexpr std::uint8_t alone_mask = 0x0F;
inline constexpr std::uint8_t no_cut_before = 0x40;
inline constexpr std::uint8_t no_cut_after = 0x80;

constexpr std::uint32_t cut_hash(std::uint32_t before, std::uint32_t after) {
  return (before * 0x9E3779B1u ^ after * 0x85EBCA6Bu) >> 13;
}
static_assert(1u << (32 - 13) == cut_filter_bits);

}  // namespace undertext
