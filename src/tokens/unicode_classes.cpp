// The table of classes, made by the compiler from the ranges of unicode_classes.inc.
#include "tokens/unicode_classes.hpp"

#include <cstddef>
#include <iterator>

namespace undertext {
namespace {

constexpr std::uint32_t ranges[] = {
#include "tokens/unicode_classes.inc"
};
constexpr std::size_t class_count = 8;

constexpr ClassTable make_table() {
  ClassTable table{};
  // The first blocks are those of one class throughout, which most are.
  for (std::uint32_t i = 0; i < class_count * ClassTable::block_size; ++i)
    table.classes[i] = static_cast<CharacterClass>(i >> ClassTable::block_bits);
  std::uint32_t blocks = class_count;
  std::size_t range = 0;
  const auto range_end = [&](std::size_t i) {
    return i + 1 < std::size(ranges) ? ranges[i + 1] >> 3 : 0x110000u;
  };
  for (std::uint32_t block = 0; block < table.block_of.size(); ++block) {
    const std::uint32_t begin = block << ClassTable::block_bits;
    while (range_end(range) <= begin) ++range;
    if (range_end(range) >= begin + ClassTable::block_size) {
      table.block_of[block] = static_cast<std::uint8_t>(ranges[range] & 7);
      continue;
    }
    table.block_of[block] = static_cast<std::uint8_t>(blocks);
    for (std::uint32_t i = 0; i < ClassTable::block_size; ++i) {
      while (range_end(range) <= begin + i) ++range;
      table.classes[blocks << ClassTable::block_bits | i] =
          static_cast<CharacterClass>(ranges[range] & 7);
    }
    ++blocks;
  }
  return table;
}

}  // namespace

constexpr ClassTable class_table = make_table();
static_assert(class_table.block_of[0] == ascii_block);

}  // namespace undertext
