#include "recall/stem.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace undertext {
namespace {

constexpr std::size_t stem_min = 3;

bool has_vowel(std::string_view text) {
  return text.find_first_of("aeiouy") != std::string_view::npos;
}

bool drop(std::string& word, std::string_view ending, std::string_view with = {}) {
  if (!word.ends_with(ending) || word.size() < ending.size() + stem_min) return false;
  word.replace(word.size() - ending.size(), ending.size(), with);
  return true;
}

void drop_plural(std::string& word) {
  if (word.size() > 4 && word.ends_with("ies")) {
    word.replace(word.size() - 3, 3, "y");
  } else if (word.ends_with("sses")) {
    word.resize(word.size() - 2);
  } else if (word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") &&
             !word.ends_with("is")) {
    word.pop_back();
  }
}

void drop_verb_ending(std::string& word) {
  for (const std::string_view ending : {"ingly", "edly", "ing", "ed"}) {
    if (!word.ends_with(ending) || word.size() < ending.size() + stem_min) continue;
    if (!has_vowel(std::string_view(word).substr(0, word.size() - ending.size()))) continue;
    word.resize(word.size() - ending.size());
    const char last = word.back();
    const bool is_doubled =
        last == word[word.size() - 2] && last != 'l' && last != 's' && last != 'z';
    if (is_doubled) word.pop_back();
    return;
  }
}

struct Ending {
  std::string_view ending, with;
};
constexpr Ending endings[] = {
    {"ational", "ate"}, {"ization", "ize"}, {"fulness", "ful"}, {"iveness", "ive"},
    {"ation", "ate"},   {"ment", ""},       {"ness", ""},       {"tion", "t"},
    {"ly", ""},         {"ern", ""},        {"er", ""},         {"or", ""},
    {"en", ""},         {"em", ""},         {"ful", ""},        {"able", ""},
    {"ance", ""},       {"ence", ""},       {"al", ""},         {"ity", ""},
    {"ive", ""},
};

}  // namespace

void stem(std::string& word) {
  if (word.size() <= stem_min) return;
  drop_plural(word);
  drop_verb_ending(word);
  for (const Ending& each : endings)
    if (drop(word, each.ending, each.with)) break;
  if (word.size() > stem_min && word.ends_with('e')) word.pop_back();
  if (word.size() > stem_min && word.ends_with('y')) word.back() = 'i';
}

bool is_stop_word(std::string_view word) {
  static const std::unordered_set<std::string_view> words = {
      // English
      "a",
      "about",
      "also",
      "am",
      "an",
      "and",
      "any",
      "are",
      "as",
      "at",
      "be",
      "been",
      "but",
      "by",
      "can",
      "could",
      "did",
      "do",
      "does",
      "done",
      "for",
      "from",
      "had",
      "has",
      "have",
      "he",
      "her",
      "his",
      "how",
      "i",
      "if",
      "in",
      "into",
      "is",
      "it",
      "its",
      "just",
      "may",
      "me",
      "might",
      "my",
      "no",
      "not",
      "of",
      "on",
      "or",
      "our",
      "she",
      "should",
      "so",
      "some",
      "such",
      "than",
      "that",
      "the",
      "their",
      "them",
      "then",
      "there",
      "these",
      "they",
      "this",
      "to",
      "too",
      "us",
      "very",
      "was",
      "we",
      "were",
      "what",
      "when",
      "where",
      "which",
      "who",
      "why",
      "will",
      "with",
      "would",
      "you",
      "your",
      // German
      "aber",
      "als",
      "am",
      "auch",
      "auf",
      "aus",
      "bei",
      "bin",
      "bis",
      "da",
      "dann",
      "das",
      "dass",
      "dem",
      "den",
      "der",
      "des",
      "die",
      "dir",
      "du",
      "durch",
      "ein",
      "eine",
      "einem",
      "einen",
      "einer",
      "eines",
      "er",
      "es",
      "fur",
      "hat",
      "hast",
      "hatte",
      "hatten",
      "haben",
      "ich",
      "ihr",
      "ihre",
      "im",
      "ins",
      "ist",
      "kann",
      "man",
      "mein",
      "meine",
      "mich",
      "mir",
      "mit",
      "nach",
      "nicht",
      "noch",
      "nur",
      "oder",
      "ob",
      "schon",
      "sein",
      "seine",
      "sich",
      "sie",
      "sind",
      "um",
      "und",
      "uns",
      "vom",
      "von",
      "vor",
      "wann",
      "war",
      "waren",
      "warum",
      "was",
      "wegen",
      "welche",
      "welchen",
      "welcher",
      "welches",
      "wem",
      "wen",
      "wenn",
      "wer",
      "werden",
      "wie",
      "wieso",
      "wir",
      "wird",
      "wo",
      "wohin",
      "wurde",
      "wurden",
      "zu",
      "zum",
      "zur",
      "uber",
  };
  return words.contains(word);
}

}  // namespace undertext
