// Decomposes, orders marks, and composes again (Unicode Standard Annex 15); but only from the first
// character on that could change.
#include "tokens/normalize.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/utf8.hpp"

namespace undertext {
namespace {

struct Decomposition {
  char32_t character;
  char32_t first;
  char32_t second;
  bool composes;
};
struct CombiningRange {
  char32_t first;
  char32_t last;
  std::uint8_t combining;
};

#include "tokens/unicode_nfc.inc"

constexpr char32_t hangul_first = 0xAC00, lead_first = 0x1100, vowel_first = 0x1161,
                   tail_first = 0x11A7;
constexpr std::uint32_t lead_count = 19, vowel_count = 21, tail_count = 28,
                        hangul_count = lead_count * vowel_count * tail_count;

struct Tables {
  std::unordered_map<char32_t, const Decomposition*> decompositions;
  std::unordered_map<std::uint64_t, char32_t> compositions;
  std::unordered_map<char32_t, std::uint8_t> combining;
  // Whether a character may be changed, or may change the one before it. Below U+0300 none does.
  std::vector<bool> matters = std::vector<bool>(0x110000);

  Tables() {
    for (const Decomposition& row : decomposition_rows) {
      decompositions.emplace(row.character, &row);
      if (!row.composes) {
        matters[row.character] = true;
        continue;
      }
      compositions.emplace(std::uint64_t{row.first} << 32 | row.second, row.character);
      matters[row.second] = true;
    }
    for (const CombiningRange& range : combining_ranges) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        combining.emplace(c, range.combining);
        matters[c] = true;
      }
    }
    for (std::uint32_t i = 0; i < vowel_count; ++i) matters[vowel_first + i] = true;
    for (std::uint32_t i = 1; i < tail_count; ++i) matters[tail_first + i] = true;
  }
};

const Tables& tables() {
  // never destroyed, so that it can be used while the program ends
  static const Tables* const made = new Tables;
  return *made;
}

struct Marked {
  char32_t character;
  std::uint8_t combining;
};

char32_t decode(const char* at, std::size_t size) {
  const auto byte = [at](std::size_t i) {
    return static_cast<char32_t>(static_cast<std::uint8_t>(at[i]));
  };
  switch (size) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3: return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
             (byte(3) & 0x3F);
  }
}

class Normalizer {
 public:
  explicit Normalizer(std::string& out) : out_(out) {}

  void add(char32_t character) {
    if (character >= hangul_first && character < hangul_first + hangul_count) {
      const std::uint32_t index = character - hangul_first;
      put(lead_first + index / (vowel_count * tail_count));
      put(vowel_first + index % (vowel_count * tail_count) / tail_count);
      if (index % tail_count != 0) put(tail_first + index % tail_count);
      return;
    }
    const auto place = tables_.decompositions.find(character);
    if (place == tables_.decompositions.end()) return put(character);
    add(place->second->first);  // a few levels deep at most
    if (place->second->second != 0) add(place->second->second);
  }

  void finish() { flush(); }

 private:
  void put(char32_t character) {
    const auto place = tables_.combining.find(character);
    const std::uint8_t combining =
        place == tables_.combining.end() ? std::uint8_t{0} : place->second;
    // A character that stands by itself ends what came before, unless it composes with it.
    if (combining == 0 && !waiting_.empty() && !tables_.matters[character]) flush();
    waiting_.push_back({character, combining});
  }

  void flush() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (at->combining == 0) {
        ++at;
        continue;
      }
      const auto end =
          std::find_if(at, waiting_.end(), [](const Marked& m) { return m.combining == 0; });
      std::stable_sort(at, end,
                       [](const Marked& a, const Marked& b) { return a.combining < b.combining; });
      at = end;
    }
    compose();
    for (const Marked& marked : waiting_) append_utf8(out_, marked.character);
    waiting_.clear();
  }

  char32_t composed(char32_t first, char32_t second) const {
    if (first - lead_first < lead_count && second - vowel_first < vowel_count) {
      return hangul_first +
             ((first - lead_first) * vowel_count + (second - vowel_first)) * tail_count;
    }
    if (first - hangul_first < hangul_count && (first - hangul_first) % tail_count == 0 &&
        second - tail_first < tail_count && second != tail_first) {
      return first + (second - tail_first);
    }
    const auto place = tables_.compositions.find(std::uint64_t{first} << 32 | second);
    return place == tables_.compositions.end() ? 0 : place->second;
  }

  void compose() {
    std::size_t starter = waiting_.size();
    std::size_t kept = 0;
    int last_class = -1;  // of what was kept behind the starter; -1 for nothing
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const Marked now = waiting_[i];
      if (starter < kept && last_class < static_cast<int>(now.combining)) {
        if (const char32_t made = composed(waiting_[starter].character, now.character); made != 0) {
          waiting_[starter].character = made;
          continue;
        }
      }
      if (now.combining == 0) {
        starter = kept;
        last_class = -1;
      } else {
        last_class = now.combining;
      }
      waiting_[kept++] = now;
    }
    waiting_.resize(kept);
  }

  const Tables& tables_ = tables();
  std::string& out_;
  std::vector<Marked> waiting_;
};

}  // namespace

std::string_view normalize_nfc(std::string_view text, std::string& storage) {
  const char* const end = text.data() + text.size();
  // The last character that begins anew: from there on, what follows can change.
  const char* begin = text.data();
  const char* at = text.data();
  for (bool found = false; at != end && !found;) {
    if (static_cast<std::uint8_t>(*at) < 0xCC) {  // below U+0300
      begin = at;
      at += static_cast<std::uint8_t>(*at) < 0x80 ? 1 : 2;
      continue;
    }
    const std::size_t size = utf8_sequence_size(at, end);
    found = tables().matters[decode(at, size)];
    if (found) break;
    begin = at;
    at += size;
  }
  if (at == end) return text;
  storage.assign(text.data(), begin);
  Normalizer normalizer(storage);
  for (at = begin; at != end;) {
    const std::size_t size = utf8_sequence_size(at, end);
    normalizer.add(decode(at, size));
    at += size;
  }
  normalizer.finish();
  return storage;
}

}  // namespace undertext
