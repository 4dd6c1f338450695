// The words of a text, as numbers: the one reader of words, for what is indexed and for what is
// asked.
//
//   alphabets        runs of letters and digits, without case and accents, by their stem (English and
//                    German endings); the commonest words of both languages are left out
//   identifiers      parts of camelCase and snake_case, and the whole
//   paths, versions  the parts, and each two neighbours with what joins them: src/main.cpp has src,
//                    main, cpp, src/main, main.cpp; a question for 18.2 finds v18.2, too
//   Han, Kana, Hangul, Thai and other scripts without spaces: pairs of neighbouring characters; one that
//                    stands alone is a word in a text, and in a question all pairs that it can be part of
//
// A word is a hash of 32 bits. Two words with one hash count as one: of 100,000 words about one has
// another's hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <undertext/message.hpp>

namespace undertext {

using Word = std::uint32_t;

// In their order, with repeats. Time linear in the text.
std::vector<Word> text_words(std::string_view text);

struct PlacedWord {
  Word word = 0;
  std::size_t at = 0;  // of its first byte in the text
};
// The same words, with their places, which may fall: all words of an identifier are where it
// begins.
std::vector<PlacedWord> placed_words(std::string_view text);

struct WordCount {
  Word word = 0;
  std::uint32_t count = 0;
  friend bool operator==(const WordCount&, const WordCount&) = default;
};

struct MessageWords {
  std::vector<WordCount> counts = {};  // rising by word
  std::uint32_t length = 0;            // of all counts together
  friend bool operator==(const MessageWords&, const MessageWords&) = default;
};

// Of the message's text. A redacted message has none.
MessageWords text_words(const Message& message);

// Any word that a text has where this character of a script without spaces stands: alone, or
// beside a common character of its script.
class WordsWith {
 public:
  explicit WordsWith(char32_t character) : character_(character) {}
  bool has(Word word) const;  // in constant time: the hash of a pair can be inverted
  friend bool operator==(const WordsWith&, const WordsWith&) = default;

 private:
  char32_t character_;
};

// What a question asks for.
struct AskedWords {
  std::vector<Word> words = {};  // without repeats, rising
  // each stands for one word that has many hashes; rising
  std::vector<std::vector<Word>> any_of = {};
  // likewise, of characters that stand alone
  std::vector<WordsWith> any_with = {};
  // The place of a word among these, in this order; size(): it is none of them.
  std::size_t index_of(Word word) const;
  std::size_t size() const { return words.size() + any_of.size() + any_with.size(); }
};
AskedWords asked_words(std::string_view text);

}  // namespace undertext
