#include "tokens/estimate_features_avx2.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

// The standard library's functions are included first: they must not be compiled for a machine that
// the program may not run on.
#  include <algorithm>
#  include <array>
#  include <bit>
#  include <cstring>

#  include <cpuid.h>
#  include <immintrin.h>

#  include "base/utf8.hpp"

#  if defined(__clang__)
#    pragma clang attribute push(__attribute__((target("avx2,popcnt,bmi"))), apply_to = function)
#  else
#    pragma GCC push_options
#    pragma GCC target("avx2,popcnt,bmi")
#  endif

#  include "tokens/estimate_features_scan.hpp"

namespace undertext {
namespace {

// A byte's kind is what its upper and its lower half allow: one table for each half, a bit for each
// rectangle of the ASCII chart, whose rows are the upper halves and whose columns are the lower
// ones.
constexpr char letters_1 = 1;  // A to O and a to o: rows 4 and 6, columns 1 to 15
constexpr char letters_2 = 2;  // P to Z and p to z: rows 5 and 7, columns 0 to 10
constexpr char vowels_1 = 4;   // A, E, I, O: rows 4 and 6, columns 1, 5, 9, 15
constexpr char vowels_2 = 8;   // U, Y: rows 5 and 7, columns 5, 9
constexpr char digits = 16;    // row 3, columns 0 to 9
constexpr char spaces = 32;    // row 2, column 0
constexpr char newlines = 64;  // row 0, columns 10 and 13
constexpr char tabs = -128;    // row 0, column 9

constexpr std::array<char, 16> rows = {newlines | tabs,
                                       0,
                                       spaces,
                                       digits,
                                       letters_1 | vowels_1,
                                       letters_2 | vowels_2,
                                       letters_1 | vowels_1,
                                       letters_2 | vowels_2};
constexpr auto columns = [] {
  std::array<char, 16> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const bool is_vowel = i == 1 || i == 5 || i == 9 || i == 15;
    table[i] = static_cast<char>((i >= 1 ? letters_1 : 0) | (i <= 10 ? letters_2 : 0) |
                                 (is_vowel ? vowels_1 : 0) | (i == 5 || i == 9 ? vowels_2 : 0) |
                                 (i <= 9 ? digits : 0) | (i == 0 ? spaces : 0) |
                                 (i == 10 || i == 13 ? newlines : 0) | (i == 9 ? tabs : 0));
  }
  return table;
}();

class Avx2Masks {
 public:
  Masks read(const std::uint8_t* bytes) const {
    Masks masks{};
    read_half<0>(bytes, masks);
    read_half<32>(bytes + 32, masks);
    return masks;
  }
  Bits again(const std::uint8_t* bytes) const {
    const Bits from_1 = bits(_mm256_cmpeq_epi8(load(bytes + 1), load(bytes))) << 1;
    const Bits from_32 = bits(_mm256_cmpeq_epi8(load(bytes + 32), load(bytes + 31))) << 32;
    return from_1 | from_32 | static_cast<Bits>(bytes[0] == last_);
  }
  void next(const std::uint8_t* bytes, std::size_t size) { last_ = bytes[size - 1]; }

 private:
  static __m256i load(const std::uint8_t* bytes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  }
  static __m256i load_twice(const std::array<char, 16>& table) {
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
  }
  // The highest bit of each byte; or the k-th.
  static Bits bits(__m256i x) { return static_cast<std::uint32_t>(_mm256_movemask_epi8(x)); }
  static Bits bits(__m256i x, int k) { return bits(_mm256_slli_epi16(x, 7 - k)); }

  template <unsigned at>
  static void read_half(const std::uint8_t* bytes, Masks& masks) {
    const __m256i v = load(bytes), low_half = _mm256_set1_epi8(0x0F);
    const __m256i row =
        _mm256_shuffle_epi8(load_twice(rows), _mm256_and_si256(_mm256_srli_epi16(v, 4), low_half));
    const __m256i column = _mm256_shuffle_epi8(load_twice(columns), _mm256_and_si256(v, low_half));
    const __m256i kind = _mm256_and_si256(row, column);
    const Bits letter = bits(kind, 0) | bits(kind, 1);
    masks.letter |= letter << at;
    masks.upper |= (letter & ~bits(v, 5)) << at;  // a small letter has bit 5
    masks.vowel |= (bits(kind, 2) | bits(kind, 3)) << at;
    masks.digit |= bits(kind, 4) << at;
    masks.space |= bits(kind, 5) << at;
    masks.newline |= bits(kind, 6) << at;
    masks.tab |= bits(kind, 7) << at;
    masks.underscore |= bits(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('_'))) << at;
    masks.high |= bits(v) << at;
  }

  std::uint8_t last_ = 0;
};

Features features_with_avx2(std::string_view text) { return count_features<Avx2Masks>(text); }

}  // namespace
}  // namespace undertext

#  if defined(__clang__)
#    pragma clang attribute pop
#  else
#    pragma GCC pop_options
#  endif

namespace undertext {
namespace {

// Asked of the processor itself: __builtin_cpu_supports() needs a library that not every compiler
// brings. The system must save the wide registers too.
bool processor_has_all() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 || (c & bit_POPCNT) == 0)
    return false;
  unsigned saved = 0, above = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(above) : "c"(0));
  constexpr unsigned wide_registers = 6;
  if ((saved & wide_registers) != wide_registers || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
    return false;
  return (b & bit_AVX2) != 0 && (b & bit_BMI) != 0;
}

}  // namespace

FeaturesFunction* avx2_features() {
  const bool has_all = processor_has_all();
  return has_all ? features_with_avx2 : nullptr;
}
}  // namespace undertext

#else

namespace undertext {
FeaturesFunction* avx2_features() { return nullptr; }
}  // namespace undertext

#endif
