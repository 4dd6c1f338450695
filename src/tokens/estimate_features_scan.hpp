// The body of features_of(), which is compiled twice: for any machine (estimate_features.cpp), and
// for those with AVX2 (estimate_features_avx2.cpp). What differs is a MaskReader, which turns 64
// bytes into words of 64 bits, a bit for each byte; runs are then found by shifting. What is not
// ASCII is looked at one character at a time.
//
// Everything here has internal linkage, so that the two never mix.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/utf8.hpp"
#include "tokens/estimate_features.hpp"
#include "tokens/estimate_han.hpp"

namespace undertext {
namespace {

using Bits = std::uint64_t;
constexpr std::size_t block_bytes = 64;

// The kind of a character beyond ASCII: what it counts as, and what its run counts as, if anything.
struct Kind {
  Feature feature;
  Feature run;  // the same as `feature` when runs do not count
};

constexpr Kind kinds[] = {
    {Feature::other, Feature::other},
    {Feature::latin, Feature::latin},
    {Feature::latin_far, Feature::latin_far},
    {Feature::latin_tones, Feature::latin_tones},
    {Feature::latin_sign, Feature::latin_sign},
    {Feature::combining, Feature::combining},
    {Feature::greek, Feature::greek_run},
    {Feature::cyrillic, Feature::cyrillic_run},
    {Feature::caucasian, Feature::caucasian_run},
    {Feature::ethiopic, Feature::ethiopic},
    {Feature::hebrew, Feature::hebrew_run},
    {Feature::arabic, Feature::arabic_run},
    {Feature::devanagari, Feature::devanagari_run},
    {Feature::indic, Feature::indic_run},
    {Feature::thai, Feature::thai_run},
    {Feature::southeast, Feature::southeast_run},
    {Feature::hangul, Feature::hangul_run},
    {Feature::hiragana, Feature::hiragana_run},
    {Feature::katakana, Feature::katakana_run},
    {Feature::han, Feature::han_run},
    {Feature::han_rare, Feature::han_rare},
    {Feature::east_sign, Feature::east_sign},
    {Feature::general_sign, Feature::general_sign},
    {Feature::symbol, Feature::symbol},
    {Feature::emoji, Feature::emoji},
};
constexpr std::uint8_t no_kind = 255;

constexpr std::uint8_t kind_of(Feature feature) {
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    if (kinds[i].feature == feature) return static_cast<std::uint8_t>(i);
  return 0;
}

// Blocks of 32 code points; where a script begins within one, the script that has more of it takes
// it whole.
struct Range {
  char32_t first, last;
  Feature feature;
};
constexpr Range ranges[] = {
    {0x0080, 0x00BF, Feature::latin_sign},   {0x00C0, 0x00FF, Feature::latin},
    {0x0100, 0x02BF, Feature::latin_far},    {0x02C0, 0x037F, Feature::combining},
    {0x0380, 0x03FF, Feature::greek},        {0x0400, 0x053F, Feature::cyrillic},
    {0x0580, 0x05FF, Feature::hebrew},       {0x0600, 0x06FF, Feature::arabic},
    {0x0740, 0x077F, Feature::arabic},       {0x08A0, 0x08FF, Feature::arabic},
    {0x0900, 0x097F, Feature::devanagari},   {0x0980, 0x0DFF, Feature::indic},
    {0x0E00, 0x0E7F, Feature::thai},         {0x0E80, 0x109F, Feature::southeast},
    {0x1780, 0x17FF, Feature::southeast},    {0x1E00, 0x1EFF, Feature::latin_tones},
    {0x0540, 0x057F, Feature::caucasian},    {0x10A0, 0x10FF, Feature::caucasian},
    {0x1200, 0x139F, Feature::ethiopic},     {0x1F00, 0x1FFF, Feature::greek},
    {0x2000, 0x205F, Feature::general_sign}, {0x2060, 0x2DFF, Feature::symbol},
    {0x2E00, 0x2E7F, Feature::general_sign}, {0x2E80, 0x2FFF, Feature::han_rare},
    {0x3000, 0x303F, Feature::east_sign},    {0x3040, 0x309F, Feature::hiragana},
    {0x30A0, 0x30FF, Feature::katakana},     {0x3400, 0x4DBF, Feature::han_rare},
    {0x4E00, 0x9FFF, Feature::han},          {0xAC00, 0xD7BF, Feature::hangul},
    {0xF900, 0xFAFF, Feature::han_rare},     {0xFB40, 0xFDFF, Feature::arabic},
    {0xFE00, 0xFE1F, Feature::general_sign}, {0xFE20, 0xFE5F, Feature::east_sign},
    {0xFE60, 0xFEFF, Feature::arabic},       {0xFF00, 0xFF5F, Feature::east_sign},
    {0xFF60, 0xFF9F, Feature::katakana},
};

constexpr auto kind_table = [] {
  std::array<std::uint8_t, 0x10000 / 32> table{};
  for (const Range& range : ranges)
    for (char32_t c = range.first; c <= range.last; c += 32) table[c / 32] = kind_of(range.feature);
  return table;
}();

constexpr std::uint8_t kind_of_code_point(char32_t c) {
  if (c < 0x10000) return kind_table[c / 32];
  if (c >= 0x1F000 && c < 0x1FB00) return kind_of(Feature::emoji);
  if (c >= 0x20000 && c < 0x40000) return kind_of(Feature::han_rare);
  return kind_of(Feature::other);
}

// A bit for each byte of a block, the first byte in the lowest.
struct Masks {
  Bits letter, upper, vowel, underscore, digit, space, newline, tab, high;
};

// A word of bits, and the one of the block before it, whose last byte is in its highest bit.
class Carried {
 public:
  void set(Bits bits) { bits_ = bits; }
  Bits bits() const { return bits_; }
  // of the byte n before; 0 < n < 64
  Bits back(unsigned n) const { return back_of(bits_, n); }
  // of `bits` in place of bits()
  Bits back_of(Bits bits, unsigned n) const { return bits << n | before_ >> (64 - n); }
  // `size` > 0 bytes of the block were used
  void next(std::size_t size) { before_ = bits_ << (block_bytes - size); }

 private:
  Bits bits_ = 0;
  Bits before_ = 0;
};

// What is beyond ASCII, one character at a time.
class Characters {
 public:
  explicit Characters(Features& counts) : counts_(counts) {}

  struct Found {
    // how many bytes of the block to use: a character that goes on behind it is left to the next
    // one
    std::size_t size;
    Bits latin;  // the bytes of Latin letters
  };

  // Of the block at `at` in the text.
  [[gnu::noinline]] Found read(const std::uint8_t* bytes, std::size_t size, std::size_t at,
                               bool is_last, Bits high) {
    const char* const chars = reinterpret_cast<const char*>(bytes);
    Bits strays = high;  // bytes that belong to no character
    Bits latin = 0;
    for (Bits left = high; left != 0;) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      const std::uint8_t lead = bytes[i];
      const std::size_t wanted = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      if (i + wanted > size && !is_last && i > 0) {
        size = i;
        break;
      }
      const std::size_t length = utf8_sequence_size(chars + i, chars + size);
      if (length == 0) {
        left &= left - 1;
        continue;
      }
      const Bits own = ((Bits{1} << length) - 1) << i;
      strays &= ~own;
      left &= ~own;
      const auto low = [bytes, i](std::size_t k) {
        return static_cast<char32_t>(bytes[i + k] & 0x3F);
      };
      const char32_t c =
          length == 2 ? (static_cast<char32_t>(lead & 0x1F) << 6 | low(1))
          : length == 3
              ? (static_cast<char32_t>(lead & 0x0F) << 12 | low(1) << 6 | low(2))
              : (static_cast<char32_t>(lead & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3));
      if (count(c, at + i, length)) latin |= own;
    }
    if (size < block_bytes) strays &= (Bits{1} << size) - 1;
    add(Feature::invalid, static_cast<std::uint64_t>(std::popcount(strays)));
    return {size, latin};
  }

 private:
  void add(Feature feature, std::uint64_t n) { counts_[static_cast<std::size_t>(feature)] += n; }

  // Whether it is a letter of Latin.
  bool count(char32_t c, std::size_t at, std::size_t length) {
    const std::uint8_t kind = kind_of_code_point(c);
    const auto [feature, run] = kinds[kind];
    const bool goes_on = last_end_ == at && last_kind_ == kind;
    const bool is_again = feature == Feature::symbol && goes_on && last_ == c;
    add(is_again ? Feature::symbol_again : feature, 1);
    if (run != feature && !goes_on) add(run, 1);
    if (feature == Feature::han &&
        (common_han[(c - han_first) / 64] >> ((c - han_first) % 64) & 1) == 0)
      add(Feature::han_uncommon, 1);
    last_ = c;
    last_kind_ = kind;
    last_end_ = at + length;
    return feature == Feature::latin || feature == Feature::latin_far ||
           feature == Feature::latin_tones;
  }

  Features& counts_;
  char32_t last_ = 0;
  std::uint8_t last_kind_ = no_kind;
  std::size_t last_end_ = 0;
};

// The state between blocks stays in registers as far as it can: nothing takes its address.
template <class MaskReader>
Features count_features(std::string_view text) {
  Features counts{};
  Characters characters(counts);
  const auto add = [&counts](Feature feature, Bits bits) {
    counts[static_cast<std::size_t>(feature)] += static_cast<std::uint64_t>(std::popcount(bits));
  };
  MaskReader reader;
  Carried letter, upper, consonant, underscore, digit, group, space, newline, tab, sign;
  std::array<std::uint8_t, block_bytes> padded;

  for (std::size_t at = 0; at < text.size();) {
    auto bytes = reinterpret_cast<const std::uint8_t*>(text.data()) + at;
    std::size_t size = std::min(block_bytes, text.size() - at);
    if (size < block_bytes) {
      padded = {};
      std::memcpy(padded.data(), bytes, size);
      bytes = padded.data();
    }
    Masks masks = reader.read(bytes);
    if (masks.high != 0) {
      const Characters::Found found =
          characters.read(bytes, size, at, at + size == text.size(), masks.high);
      size = found.size;
      masks.letter |= found.latin;
    }
    const Bits used = ~Bits{0} >> (block_bytes - size);
    letter.set(masks.letter & used);
    upper.set(masks.upper & used);
    consonant.set(masks.letter & ~masks.vowel & ~masks.high & used);
    underscore.set(masks.underscore & used);
    digit.set(masks.digit & used);
    space.set(masks.space & used);
    newline.set(masks.newline & used);
    tab.set(masks.tab & used);
    sign.set(~(masks.letter | masks.digit | masks.space | masks.newline | masks.tab | masks.high) &
             used);

    const Bits after_letter = letter.back(1), after_sign = sign.back(1);
    const Bits word = letter.bits() & ~after_letter;
    add(Feature::word, word);
    add(Feature::word_after_sign, word & after_sign);
    // The word is known to be over only behind it.
    add(Feature::letter_alone, ~letter.bits() & used & after_letter & ~letter.back(2));
    const Bits letter_5 =
        letter.bits() & after_letter & letter.back(2) & letter.back(3) & letter.back(4);
    add(Feature::letter_5, letter_5);
    add(Feature::letter_8, letter_5 & letter.back(5) & letter.back(6) & letter.back(7));
    add(Feature::consonants,
        consonant.bits() & consonant.back(1) & consonant.back(2) & consonant.back(3));
    const Bits further_sign = sign.bits() & after_sign;
    add(Feature::sign_run, sign.bits() & ~after_sign);

    // What follows is rare in prose, so that to ask first is faster.
    if (further_sign != 0) {
      const Bits again = reader.again(bytes);
      add(Feature::sign, further_sign & ~again);
      add(Feature::sign_again, further_sign & again);
    }
    if (const Bits after_underscore = underscore.back(1); after_underscore != 0)
      add(Feature::word_after_underscore, word & after_underscore);
    if (upper.bits() != 0) {
      add(Feature::word_capital, word & upper.bits());
      add(Feature::hump, upper.bits() & after_letter & ~upper.back(1));
      add(Feature::capital, upper.bits() & upper.back(1));
    }
    group.set(0);
    if (const Bits after_digit = digit.back(1); (digit.bits() | after_digit) != 0) {
      const Bits number = digit.bits() & ~after_digit, further_digit = digit.bits() & after_digit;
      add(Feature::number, number);
      add(Feature::digit_2, further_digit);
      // Every third digit from the first on; most numbers have no more than three.
      const Bits fourth = further_digit & digit.back(2) & digit.back(3);
      Bits groups = number;
      for (Bits more = group.back_of(groups, 3) & fourth; more != 0;
           more = group.back_of(groups, 3) & fourth & ~groups)
        groups |= more;
      group.set(groups);
      add(Feature::digit_group, groups & ~number);
      add(Feature::mixed, (digit.bits() & after_letter) | (letter.bits() & after_digit));
      add(Feature::number_after_space, digit.bits() & space.back(1));
    }
    if (const Bits further_space = space.bits() & space.back(1); further_space != 0) {
      add(Feature::space_run, further_space & ~space.back(2));
      add(Feature::space_long, further_space & space.back(2) & space.back(3) & space.back(4));
    }
    if (const Bits after_line = newline.back(1) | tab.back(1);
        (newline.bits() | tab.bits() | after_line) != 0) {
      const Bits line = newline.bits() & ~newline.back(1);
      add(Feature::word_after_line, word & after_line);
      add(Feature::line, line);
      add(Feature::line_after_sign, line & after_sign);
      add(Feature::line_again, newline.bits() & newline.back(1));
      add(Feature::tab, tab.bits());
    }

    const auto next = [size](auto&... carried) { (carried.next(size), ...); };
    next(letter, upper, consonant, underscore, digit, group, space, newline, tab, sign);
    reader.next(bytes, size);
    at += size;
  }

  const auto count = [&counts](Feature feature) -> std::uint64_t& {
    return counts[static_cast<std::size_t>(feature)];
  };
  const std::uint64_t foreign =
      count(Feature::latin) + count(Feature::latin_far) + count(Feature::latin_tones);
  count(Feature::foreign_word) = std::min(count(Feature::word), 16 * foreign);
  count(Feature::foreign_letter) = std::min(count(Feature::letter_5), 16 * foreign);
  return counts;
}

}  // namespace
}  // namespace undertext
