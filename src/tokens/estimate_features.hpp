// What the estimate sees of a text: how often each kind of thing stands in it. The weights that
// turn this into tokens are in estimate_weights.hpp; tests/tokens/calibrate_estimate.py finds them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace undertext {

enum class Feature : std::uint8_t {
  // ASCII, and the letters of Latin beyond it. A run is as long as it can be.
  word,                   // a run of letters
  word_after_sign,        // of these, one that begins behind a sign, as in "(word"
  word_after_underscore,  // or behind "_", which is a sign as well
  word_after_line,        // or behind a newline or a tab
  word_capital,           // that begins with a capital
  letter_alone,           // a word of one letter
  letter_5,               // a letter that is the fifth or a later one of its word
  letter_8,
  hump,         // a capital behind a small letter, as in "someName"
  capital,      // a capital behind a capital
  consonants,   // a letter at the end of four that are no vowels
  number,       // a run of digits
  digit_2,      // a digit that is the second or a later one of its number
  digit_group,  // a digit that is the fourth, seventh, tenth, … of its number
  mixed,        // a letter behind a digit, or a digit behind a letter
  sign_run,     // a run of signs
  sign,         // a further sign in it, other than the one before
  sign_again,   // a further sign in it, the same as the one before
  number_after_space,
  space_run,   // two or more spaces
  space_long,  // a space that is the fifth or a later one
  line,        // a run of newlines
  line_after_sign,
  line_again,
  tab,
  // Beyond ASCII: characters, and runs of them where words or syllables matter.
  latin,           // U+00C0 to U+00FF
  latin_far,       // U+0100 to U+02BF
  latin_tones,     // U+1E00 to U+1EFF, most of Vietnamese
  foreign_word,    // words in a text with such letters, at most 16 for each of these
  foreign_letter,  // letter_5 likewise
  latin_sign,      // U+0080 to U+00BF
  combining,
  greek,
  greek_run,
  cyrillic,
  cyrillic_run,
  caucasian,  // Armenian, Georgian
  caucasian_run,
  ethiopic,
  hebrew,
  hebrew_run,
  arabic,
  arabic_run,
  devanagari,
  devanagari_run,
  indic,  // the scripts of India without Devanagari
  indic_run,
  thai,
  thai_run,
  southeast,  // Lao, Tibetan, Burmese, Khmer
  southeast_run,
  hangul,
  hangul_run,
  hiragana,
  hiragana_run,
  katakana,
  katakana_run,
  han,
  han_run,
  han_uncommon,  // of these, one that is not in estimate_han.hpp
  han_rare,      // outside the main block
  east_sign,     // the punctuation of Chinese and Japanese, full width forms
  general_sign,  // dashes, typographic quotes, joiners
  symbol,        // arrows, mathematics, boxes
  symbol_again,  // the same as the one before
  emoji,
  other,
  invalid,  // bytes that are no UTF-8
};
inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::invalid) + 1;

using Features = std::array<std::uint64_t, feature_count>;

// Any bytes will do. Linear, and about as fast as memory for ASCII.
Features features_of(std::string_view text);
// The same without what is particular to one kind of machine, for comparison.
Features portable_features_of(std::string_view text);

}  // namespace undertext
