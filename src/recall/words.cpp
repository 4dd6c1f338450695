#include "recall/words.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/utf8.hpp"
#include "recall/forms.hpp"
#include "recall/stem.hpp"

namespace undertext {
namespace {

enum class Kind : std::uint8_t { other, letter, digit, joiner, link, apostrophe, ideograph };

// Scripts that are written without spaces, and Hangul, whose words carry their particles.
constexpr bool is_ideograph(char32_t c) {
  return (c >= 0x0E00 && c <= 0x0EFF) ||  // Thai, Lao
         (c >= 0x1000 && c <= 0x109F) ||  // Myanmar
         (c >= 0x1100 && c <= 0x11FF) ||  // Hangul Jamo
         (c >= 0x1780 && c <= 0x17FF) ||  // Khmer
         // Hiragana, Katakana without
         c == 0x3005 || (c >= 0x3041 && c <= 0x30FA) ||
         // the dot between two words
         (c >= 0x30FC && c <= 0x30FF) || (c >= 0x3100 && c <= 0x31FF) ||  // Bopomofo and the like
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||  // Han
         (c >= 0xAC00 && c <= 0xD7AF) || (c >= 0xF900 && c <= 0xFAFF) ||  // Hangul, Han
         (c >= 0xFF66 && c <= 0xFF9F) || (c >= 0x20000 && c <= 0x323AF);  // Katakana, Han
}

// Punctuation, symbols and spaces beyond ASCII.
constexpr bool is_mark(char32_t c) {
  return (c <= 0xBF && c != 0xAA && c != 0xB5 && c != 0xBA) || c == 0xD7 || c == 0xF7 ||
         (c >= 0x2000 && c <= 0x2BFF) || (c >= 0x2E00 && c <= 0x2E7F) ||
         (c >= 0x3000 && c <= 0x303F) || c == 0x30FB || (c >= 0xE000 && c <= 0xF8FF) ||
         (c >= 0xFE00 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF65) || c >= 0xFFE0;
}

constexpr Kind kind_of_ascii(unsigned char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::letter;
  if (c >= '0' && c <= '9') return Kind::digit;
  if (c == '_') return Kind::joiner;
  if (c == '.' || c == '/' || c == '-' || c == ':' || c == '\\' || c == '@') return Kind::link;
  return c == '\'' ? Kind::apostrophe : Kind::other;
}
constexpr auto ascii_kinds = [] {
  std::array<Kind, 128> kinds = {};
  for (unsigned c = 0; c < 128; ++c) kinds[c] = kind_of_ascii(static_cast<unsigned char>(c));
  return kinds;
}();

// U+00C0 to U+017F without accents. Two letters where one stands for two.
constexpr const char* latin[] = {
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i",  "i",
    "d", "n", "o", "o", "o", "o", "o",  "",  "o", "u", "u", "u", "u", "y", "th", "ss",
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i",  "i",
    "d", "n", "o", "o", "o", "o", "o",  "",  "o", "u", "u", "u", "u", "y", "th", "y"};
static_assert(std::size(latin) == 0x100 - 0xC0);
// U+0100 to U+017F.
constexpr std::string_view latin_extended =
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
    "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
static_assert(latin_extended.size() == 0x80);

// U+1E00 to U+1EFF, the letters of Vietnamese among them. (Capital sharp s is one s here.)
constexpr std::string_view latin_additional =
    "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm"
    "mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv"
    "wwwwwwwwwwxxxxyyzzzzzzhtwyassssdaaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
    "eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyyllvvyy";
static_assert(latin_additional.size() == 0x100);
// U+0386 to U+03CE, and U+1F00 to U+1FFF; a final sigma is a sigma. A hyphen: no letter.
constexpr std::u16string_view greek =
    u"α·εηι-ο-υωιαβγδεζηθικλμνξοπρ-στυφχψωι"
    u"υαεηιυαβγδεζηθικλμνξοπρσστυφχψωιυουω";
static_assert(greek.size() == 0x3CF - 0x386);
constexpr std::u16string_view greek_extended =
    u"ααααααααααααααααεεεεεε--εεεεεε--ηηηηηηηηηηηηηηηηιιιιιιιιιιιιιιιι"
    u"οοοοοο--οοοοοο--υυυυυυυυ-υ-υ-υ-υωωωωωωωωωωωωωωωωααεεηηιιοουυωω--"
    u"ααααααααααααααααηηηηηηηηηηηηηηηηωωωωωωωωωωωωωωωωααααα-ααααααα-ι-"
    u"--ηηη-ηηεεηηη---ιιιι--ιιιιιι----υυυυρρυυυυυυρ-----ωωω-ωωοοωωω---";
static_assert(greek_extended.size() == 0x100);

// What another letter than c is read for it, of `letters` from `first` on; else c.
constexpr char32_t letter_of(std::u16string_view letters, char32_t first, char32_t c) {
  const char16_t letter = letters[c - first];
  return letter == u'-' ? c : letter;
}

void append_folded(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  } else if (c >= 0xC0 && c <= 0xFF) {
    out += latin[c - 0xC0];
  } else if (c >= 0x100 && c < 0x100 + latin_extended.size()) {
    out += latin_extended[c - 0x100];
  } else if (c == 0x1A0 || c == 0x1A1) {
    out += 'o';  // with a horn, of Vietnamese
  } else if (c == 0x1AF || c == 0x1B0) {
    out += 'u';
  } else if (c >= 0x1E00 && c < 0x1E00 + latin_additional.size()) {
    out += latin_additional[c - 0x1E00];
  } else if (c >= 0x386 && c < 0x386 + greek.size()) {
    append_utf8(out, letter_of(greek, 0x386, c));
  } else if (c >= 0x1F00 && c < 0x1F00 + greek_extended.size()) {
    append_utf8(out, letter_of(greek_extended, 0x1F00, c));
  } else if (c >= 0x410 && c <= 0x42F) {
    append_utf8(out, c + 32);  // Cyrillic
  } else if (c >= 0x400 && c <= 0x40F) {
    append_utf8(out, c + 80);
  } else {
    append_utf8(out, c);
  }
}

bool is_upper(char32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE) || (c >= 0x391 && c <= 0x3A9) ||
         (c >= 0x400 && c <= 0x42F);
}

Word hash_of(std::string_view text, std::uint32_t seed = 2166136261u) {
  std::uint32_t hash = seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  hash ^= hash >> 16;
  hash *= 0x7feb352du;
  hash ^= hash >> 15;
  return hash;
}
// An odd number's inverse among the numbers of 32 bits.
constexpr std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t inverse = odd;
  for (int i = 0; i < 4; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}
constexpr std::uint32_t first_factor = 0x9E3779B1u, second_factor = 0x85EBCA77u,
                        pair_offset = 0x27220A95u, early_mix = 0x7feb352du, late_mix = 0x846ca68bu;

constexpr Word hash_of_pair(char32_t a, char32_t b) {
  std::uint32_t hash = static_cast<std::uint32_t>(a) * first_factor +
                       static_cast<std::uint32_t>(b) * second_factor + pair_offset;
  hash ^= hash >> 16;
  hash *= early_mix;
  hash ^= hash >> 15;
  return hash * late_mix;
}
// a * first_factor + b * second_factor, where the word is the hash of a and b.
constexpr std::uint32_t sum_of_pair(Word hash) {
  hash *= inverse_of(late_mix);
  hash ^= hash >> 15;
  hash ^= hash >> 30;
  hash *= inverse_of(early_mix);
  hash ^= hash >> 16;
  return hash - pair_offset;
}
static_assert(sum_of_pair(hash_of_pair(U'\u732B', U'\u54AA')) ==
              0x732Bu * first_factor + 0x54AAu * second_factor);

// Pairs that ask, as "when" and "what" do: in what is asked, and seldom in what answers it.
bool is_stop_pair(char32_t a, char32_t b) {
  static constexpr char32_t pairs[][2] = {
      {U'什', U'么'}, {U'么', U'时'}, {U'时', U'候'}, {U'哪', U'里'}, {U'哪', U'个'},
      {U'哪', U'些'}, {U'是', U'谁'}, {U'怎', U'么'}, {U'么', U'样'}, {U'为', U'什'},
      {U'多', U'少'}, {U'是', U'什'}, {U'了', U'什'}, {U'我', U'们'}, {U'い', U'つ'},
      {U'何', U'を'}, {U'何', U'が'}, {U'ど', U'こ'}, {U'ど', U'の'}, {U'だ', U'れ'},
      {U'誰', U'が'}, {U'な', U'ぜ'}, {U'で', U'す'}, {U'す', U'か'}, {U'ま', U'し'},
      {U'し', U'た'}, {U'た', U'か'}, {U'ま', U'す'}, {U'し', U'ま'}, {U'で', U'し'},
      {U'と', U'い'}, {U'い', U'う'}, {U'こ', U'と'}, {U'な', U'に'}, {U'う', U'し'},
  };
  return std::any_of(std::begin(pairs), std::end(pairs),
                     [&](const auto& pair) { return pair[0] == a && pair[1] == b; });
}

template <class Value>
void sort_without_repeats(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Each costs a look at all words of the index.
constexpr std::size_t characters_alone_max = 4;

// Whether `other` is a common character of the script of `c`.
constexpr bool is_common_beside(char32_t c, char32_t other) {
  const auto is_in = [other](char32_t first, char32_t last) {
    return other >= first && other <= last;
  };
  if (c >= 0xAC00 && c <= 0xD7A3) return is_in(0xAC00, 0xD7A3);
  if (c >= 0x3000) return other == 0x3005 || is_in(0x3041, 0x30FF) || is_in(0x4E00, 0x9FFF);
  return is_in(c & ~char32_t{0xFF}, c | 0xFF);
}

// Takes words, with the place of the first byte of each.
struct WordsAlone {
  void push_back(Word word, std::size_t) { words.push_back(word); }
  std::vector<Word> words = {};
};
struct WordsAndPlaces {
  void push_back(Word word, std::size_t at) { words.push_back({word, at}); }
  std::vector<PlacedWord> words = {};
};

// Also the stems of what is no identifier, and whether the text is in German.
struct WordsToAsk {
  void push_back(Word word, std::size_t) { words.push_back(word); }
  void add_stem(const std::string& stem) { stems.push_back(stem); }
  void add_either(Word one, Word other) { either.push_back({one, other}); }
  void leave_out(std::string_view stop_word) {
    if (is_german(stop_word)) language = Language::german;
  }
  std::vector<Word> words = {};
  std::vector<std::string> stems = {};
  std::vector<std::vector<Word>> either = {};
  Language language = Language::any;
};

// A number, or one with a v before it: versions are written both ways.
bool is_version(std::string_view word) {
  if (word.starts_with('v')) word.remove_prefix(1);
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}
std::string other_spelling(std::string_view version) {
  return version.starts_with('v') ? std::string(version.substr(1)) : "v" + std::string(version);
}

template <class Words>
class Reader {
 public:
  explicit Reader(Words& out) : out_(out) {}

  void read(std::string_view text) {
    const char* at = text.data();
    const char* const begin = at;
    const char* const end = at + text.size();
    while (at < end) {
      at_ = static_cast<std::size_t>(at - begin);
      const auto byte = static_cast<unsigned char>(*at);
      if (byte < 0x80) {
        take(ascii_kinds[byte], byte);
        ++at;
        continue;
      }
      const std::size_t size = utf8_sequence_size(at, end);
      if (size == 0) {
        take(Kind::other, replacement_character);
        ++at;
        continue;
      }
      take_beyond_ascii(decode(at, size));
      at += size;
    }
    end_token();
    end_ideographs();
  }
  // The characters of scripts without spaces that have no neighbour of their kind.
  const std::vector<char32_t>& alone() const { return alone_; }

 private:
  static char32_t decode(const char* at, std::size_t size) {
    const auto byte = [&](std::size_t i) {
      return static_cast<char32_t>(static_cast<unsigned char>(at[i]));
    };
    if (size == 2) return ((byte(0) & 0x1F) << 6) | (byte(1) & 0x3F);
    if (size == 3) return ((byte(0) & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F);
    return ((byte(0) & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) |
           (byte(3) & 0x3F);
  }

  void take_beyond_ascii(char32_t c) {
    if (c >= 0xFF01 && c <= 0xFF5E) {  // full-width ASCII
      c -= 0xFEE0;
      take(ascii_kinds[c], c);
    } else if (c == 0x2019) {
      take(Kind::apostrophe, c);
    } else if (is_ideograph(c)) {
      take(Kind::ideograph, c);
    } else if (c >= 0x300 && c <= 0x36F) {
      // A combining accent: the letter before it is enough.
    } else {
      take(is_mark(c) ? Kind::other : Kind::letter, c);
    }
  }

  void take(Kind kind, char32_t c) {
    if (kind == Kind::ideograph) {
      end_token();
      link_ = 0;
      take_ideograph(c);
      return;
    }
    if (characters_ > 0) end_ideographs();
    switch (kind) {
      case Kind::letter:
      case Kind::digit: take_letter(c); return;
      case Kind::joiner: part_ends_ = !token_.empty(); return;
      case Kind::link:
        // Only between two tokens, with nothing else in between.
        if (token_.empty()) {
          link_ = 0;
        } else {
          end_token();
          link_ = static_cast<char>(c == '\\' ? '/' : c);
        }
        return;
      case Kind::apostrophe:
        if (!token_.empty()) {
          end_token();
          link_ = '\'';
        }
        return;
      default: end_token(); link_ = 0;
    }
  }

  void take_letter(char32_t c) {
    const bool upper = is_upper(c);
    if (token_.empty()) {
      token_at_ = at_;
    } else {
      if (part_ends_ || (upper && !was_upper_ && !was_digit_)) {
        begins_.push_back(token_.size());
      } else if (!upper && was_upper_ && uppers_ > 1 && !is_digit(c)) {
        begins_.push_back(last_begin_);  // HTTPServer: the last capital begins the next part
      }
    }
    part_ends_ = false;
    last_begin_ = token_.size();
    append_folded(token_, c);
    uppers_ = upper ? uppers_ + 1 : 0;
    was_upper_ = upper;
    was_digit_ = is_digit(c);
  }
  static bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

  void end_token() {
    if (token_.empty()) return;
    if (link_ == '\'' && token_.size() <= 2) {
      // What follows an apostrophe: 's, 't, 're.
    } else {
      add_token();
    }
    previous_.swap(token_);
    previous_at_ = token_at_;
    token_.clear();
    begins_.clear();
    part_ends_ = was_upper_ = was_digit_ = false;
    uppers_ = 0;
    link_ = 0;
  }

  void add_token() {
    if (begins_.empty()) {
      add_part(token_);
    } else {
      std::size_t from = 0;
      for (const std::size_t to : begins_) {
        add_part(std::string_view(token_).substr(from, to - from));
        from = to;
      }
      add_part(std::string_view(token_).substr(from));
      out_.push_back(hash_of(token_), token_at_);
    }
    if (link_ != 0 && link_ != '\'' && !previous_.empty()) add_linked();
  }

  // re-index is found by reindex, too.
  void add_linked() {
    part_ = previous_;
    if (link_ != '-') part_ += link_;
    part_ += token_;
    if (link_ == '-') stem(part_);
    if constexpr (requires { out_.add_either(Word(), Word()); }) {
      if (link_ == '.' && is_version(previous_) && is_version(token_))
        return out_.add_either(hash_of(part_), hash_of(other_spelling(part_)));
    }
    out_.push_back(hash_of(part_), previous_at_);
  }

  void add_part(std::string_view part) {
    if (part.empty()) return;
    if (is_stop_word(part)) {
      if constexpr (requires { out_.leave_out(part); }) out_.leave_out(part);
      return;
    }
    part_ = part;
    if constexpr (requires { out_.add_either(Word(), Word()); }) {
      if (begins_.empty() && is_version(part))
        return out_.add_either(hash_of(part), hash_of(other_spelling(part)));
    }
    if (part.size() <= longest_stemmed) stem(part_);
    if constexpr (requires { out_.add_stem(part_); })
      if (begins_.empty()) out_.add_stem(part_);
    out_.push_back(hash_of(part_), token_at_);
  }

  void take_ideograph(char32_t c) {
    if (characters_ > 0 && !is_stop_pair(before_, c))
      out_.push_back(hash_of_pair(before_, c), before_at_);
    before_ = c;
    before_at_ = at_;
    ++characters_;
  }
  void end_ideographs() {
    if (characters_ == 1) {
      out_.push_back(hash_of_pair(before_, 0), before_at_);
      alone_.push_back(before_);
    }
    characters_ = 0;
  }

  static constexpr std::size_t longest_stemmed = 40;

  Words& out_;
  std::vector<char32_t> alone_;
  std::string token_, previous_, part_;
  std::vector<std::size_t> begins_;  // of its parts, but for the first
  std::size_t at_ = 0;               // of the character that is read
  std::size_t token_at_ = 0, previous_at_ = 0, before_at_ = 0;
  std::size_t last_begin_ = 0;
  std::size_t uppers_ = 0;  // in a row
  std::size_t characters_ = 0;
  char32_t before_ = 0;
  char link_ = 0;  // what stands between the token before and this one
  bool part_ends_ = false, was_upper_ = false, was_digit_ = false;
};

}  // namespace

std::vector<Word> text_words(std::string_view text) {
  WordsAlone out;
  out.words.reserve(text.size() / 6);
  Reader(out).read(text);
  return std::move(out.words);
}

std::vector<PlacedWord> placed_words(std::string_view text) {
  WordsAndPlaces out;
  Reader(out).read(text);
  return std::move(out.words);
}

MessageWords text_words(const Message& message) {
  MessageWords found;
  if (message.is_redacted()) return found;
  std::vector<Word> words = text_words(message.text());
  std::sort(words.begin(), words.end());
  found.length = static_cast<std::uint32_t>(words.size());
  for (std::size_t i = 0; i < words.size();) {
    std::size_t end = i + 1;
    while (end < words.size() && words[end] == words[i]) ++end;
    found.counts.push_back({words[i], static_cast<std::uint32_t>(end - i)});
    i = end;
  }
  return found;
}

bool WordsWith::has(Word word) const {
  const std::uint32_t sum = sum_of_pair(word), itself = character_;
  const char32_t after = (sum - itself * first_factor) * inverse_of(second_factor),
                 before = (sum - itself * second_factor) * inverse_of(first_factor);
  return after == 0 || is_common_beside(character_, after) || is_common_beside(character_, before);
}

std::size_t AskedWords::index_of(Word word) const {
  const auto at = std::lower_bound(words.begin(), words.end(), word);
  if (at != words.end() && *at == word) return static_cast<std::size_t>(at - words.begin());
  for (std::size_t i = 0; i < any_of.size(); ++i)
    if (std::binary_search(any_of[i].begin(), any_of[i].end(), word)) return words.size() + i;
  for (std::size_t i = 0; i < any_with.size(); ++i)
    if (any_with[i].has(word)) return words.size() + any_of.size() + i;
  return size();
}

AskedWords asked_words(std::string_view text) {
  WordsToAsk out;
  Reader reader(out);
  reader.read(text);
  AskedWords asked{std::move(out.words)};
  sort_without_repeats(asked.words);
  for (const std::string& stem : out.stems) {
    std::vector<Word> forms;
    for (const std::string& form : forms_of(stem, out.language)) forms.push_back(hash_of(form));
    if (forms.size() == 1) continue;
    std::erase(asked.words, forms.front());
    sort_without_repeats(forms);
    asked.any_of.push_back(std::move(forms));
  }
  for (std::vector<Word>& spellings : out.either) {
    sort_without_repeats(spellings);
    asked.any_of.push_back(std::move(spellings));
  }
  sort_without_repeats(asked.any_of);
  std::vector<char32_t> alone = reader.alone();
  sort_without_repeats(alone);
  alone.resize(std::min(alone.size(), characters_alone_max));
  for (const char32_t c : alone) {
    asked.any_with.emplace_back(c);
    std::erase(asked.words, hash_of_pair(c, 0));
  }
  return asked;
}

}  // namespace undertext
