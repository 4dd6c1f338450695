// What the split patterns of BPE tokenizers ask about a character: Unicode 16.0, whatever the
// machine knows.
#pragma once

#include <array>
#include <cstdint>

namespace undertext {

// make_unicode_classes.py has the same order.
enum class CharacterClass : std::uint8_t {
  other,
  upper,     // \p{Lu} \p{Lt}
  lower,     // \p{Ll}
  caseless,  // \p{Lm} \p{Lo}
  mark,      // \p{M}
  number,    // \p{N}
  newline,   // \r \n
  space,     // every other White_Space: U+0085 is one, U+FEFF is none
};

// A set of classes, for questions such as "is it a letter".
using ClassSet = std::uint8_t;
template <class... Classes>
constexpr ClassSet class_set(Classes... classes) {
  return static_cast<ClassSet>(((1u << static_cast<unsigned>(classes)) | ...));
}
constexpr bool is_in(ClassSet set, CharacterClass character) {
  return (set >> static_cast<unsigned>(character) & 1) != 0;
}

struct ClassTable {
  static constexpr std::uint32_t block_bits = 7;
  static constexpr std::uint32_t block_size = 1u << block_bits;
  static constexpr std::uint32_t blocks_max = 256;

  std::array<std::uint8_t, (0x110000 >> block_bits)> block_of;
  std::array<CharacterClass, blocks_max * block_size> classes;
};
extern const ClassTable class_table;
inline constexpr std::uint32_t ascii_block = 8;  // in which block of the table it is

inline CharacterClass class_of(char32_t code_point) {
  const std::uint32_t block = class_table.block_of[code_point >> ClassTable::block_bits];
  return class_table
      .classes[block << ClassTable::block_bits | (code_point & (ClassTable::block_size - 1))];
}

}  // namespace undertext
