#include "tokens/estimate_features.hpp"

#include "tokens/estimate_features_avx2.hpp"
#include "tokens/estimate_features_scan.hpp"

namespace undertext {
namespace {

// One byte for each byte there is: a bit for each mask that does not look at the byte before.
enum Class : std::uint8_t {
  letter = 1,
  upper = 2,
  vowel = 4,
  underscore = 8,
  digit = 16,
  space = 32,
  newline = 64,
  tab = 128
};

constexpr auto class_table = [] {
  std::array<std::uint8_t, 256> table{};
  const auto put = [&table](char c, int classes) {
    table[static_cast<std::uint8_t>(c)] |= static_cast<std::uint8_t>(classes);
  };
  for (char c = 'a'; c <= 'z'; ++c) put(c, letter);
  for (char c = 'A'; c <= 'Z'; ++c) put(c, letter | upper);
  for (const char c : {'a', 'e', 'i', 'o', 'u', 'y', 'A', 'E', 'I', 'O', 'U', 'Y'}) put(c, vowel);
  for (char c = '0'; c <= '9'; ++c) put(c, digit);
  put('_', underscore);
  put(' ', space);
  put('\n', newline);
  put('\r', newline);
  put('\t', tab);
  return table;
}();

// Eight bytes of eight bits, the first byte lowest, become eight bytes of which the k-th has bit k
// of each.
Bits transposed(Bits x) {
  Bits t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AA;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCC;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0;
  return x ^ t ^ (t << 28);
}

class PortableMasks {
 public:
  Masks read(const std::uint8_t* bytes) const {
    Masks masks{};
    Bits* const of_class[8] = {&masks.letter, &masks.upper, &masks.vowel,   &masks.underscore,
                               &masks.digit,  &masks.space, &masks.newline, &masks.tab};
    for (unsigned word = 0; word < block_bytes / 8; ++word) {
      Bits classes = 0, high = 0;
      for (unsigned i = 0; i < 8; ++i) {
        const std::uint8_t byte = bytes[word * 8 + i];
        classes |= static_cast<Bits>(class_table[byte]) << (8 * i);
        high |= static_cast<Bits>(byte >> 7) << i;
      }
      classes = transposed(classes);
      for (unsigned k = 0; k < 8; ++k) *of_class[k] |= (classes >> (8 * k) & 0xFF) << (8 * word);
      masks.high |= high << (8 * word);
    }
    return masks;
  }
  Bits again(const std::uint8_t* bytes) const {
    Bits bits = bytes[0] == last_ ? 1 : 0;
    for (std::size_t i = 1; i < block_bytes; ++i)
      bits |= static_cast<Bits>(bytes[i] == bytes[i - 1]) << i;
    return bits;
  }
  void next(const std::uint8_t* bytes, std::size_t size) { last_ = bytes[size - 1]; }

 private:
  std::uint8_t last_ = 0;
};

}  // namespace

Features portable_features_of(std::string_view text) { return count_features<PortableMasks>(text); }

Features features_of(std::string_view text) {
  static FeaturesFunction* const chosen =
      avx2_features() != nullptr ? avx2_features() : portable_features_of;
  return chosen(text);
}

}  // namespace undertext
