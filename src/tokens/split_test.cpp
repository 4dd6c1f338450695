#include "tokens/split.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace undertext {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(SplitPattern pattern, std::string_view text) {
  Pieces pieces;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const next = piece_end(pattern, at, end);
    pieces.emplace_back(at, next);
    at = next;
  }
  return pieces;
}
Pieces o200k(std::string_view text) { return split(SplitPattern::o200k, text); }
Pieces cl100k(std::string_view text) { return split(SplitPattern::cl100k, text); }

TEST(Split, AWordTakesOneSignOrSpaceBeforeIt) {
  for (const SplitPattern pattern :
       {SplitPattern::o200k, SplitPattern::cl100k, SplitPattern::qwen2}) {
    EXPECT_EQ(split(pattern, "Hello, world"), (Pieces{"Hello", ",", " world"}));
    EXPECT_EQ(split(pattern, "a\tb(c"), (Pieces{"a", "\tb", "(c"}));
    EXPECT_EQ(split(pattern, "x  y"), (Pieces{"x", " ", " y"}));
  }
  EXPECT_EQ(split(SplitPattern::gpt2, "a\tb (c"), (Pieces{"a", "\t", "b", " (", "c"}));
}

TEST(Split, O200kCutsAWordWhereCapitalsBeginAgain) {
  EXPECT_EQ(o200k("fooBarBAZqux"), (Pieces{"foo", "Bar", "BAZqux"}));
  EXPECT_EQ(o200k("HTTPServer"), (Pieces{"HTTPServer"}));
  EXPECT_EQ(o200k("ABC"), (Pieces{"ABC"}));
  EXPECT_EQ(cl100k("fooBarBAZ"), (Pieces{"fooBarBAZ"}));
}

TEST(Split, InO200kALetterWithoutCaseEndsAWordUnlessSmallLettersFollow) {
  EXPECT_EQ(o200k("漢A"), (Pieces{"漢", "A"}));
  EXPECT_EQ(o200k("漢Ab"), (Pieces{"漢Ab"}));
  EXPECT_EQ(o200k("漢字A字B"), (Pieces{"漢字A字", "B"}));
  EXPECT_EQ(cl100k("漢A"), (Pieces{"漢A"}));
}

TEST(Split, InO200kAMarkBelongsToAWordAndMayBeginOne) {
  EXPECT_EQ(o200k("e\u0301a"), (Pieces{"e\u0301a"}));
  EXPECT_EQ(o200k("\u0301ab"), (Pieces{"\u0301ab"}));
  EXPECT_EQ(o200k("\u0301AB"), (Pieces{"\u0301", "AB"}));
  EXPECT_EQ(o200k(" \u0301!"), (Pieces{" \u0301", "!"}));
  EXPECT_EQ(cl100k("e\u0301a"), (Pieces{"e", "\u0301a"}));
}

TEST(Split, ContractionsGoWithTheWordInO200kAndByThemselvesElsewhere) {
  EXPECT_EQ(o200k("don't we'LL it'sa"), (Pieces{"don't", " we'LL", " it's", "a"}));
  EXPECT_EQ(cl100k("don't we'LL"), (Pieces{"don", "'t", " we", "'LL"}));
  EXPECT_EQ(split(SplitPattern::gpt2, "don't we'LL"), (Pieces{"don", "'t", " we", "'", "LL"}));
  EXPECT_EQ(o200k("it'\u017F"), (Pieces{"it'\u017F"}));  // a long s is an s
  EXPECT_EQ(cl100k("it'\u017F"), (Pieces{"it", "'\u017F"}));
  EXPECT_EQ(split(SplitPattern::gpt2, "it'\u017F"), (Pieces{"it", "'", "\u017F"}));
}

TEST(Split, DigitsComeInThreesOrOneByOneOrAllTogether) {
  EXPECT_EQ(o200k("1234567"), (Pieces{"123", "456", "7"}));
  EXPECT_EQ(cl100k(" 1234"), (Pieces{" ", "123", "4"}));
  EXPECT_EQ(split(SplitPattern::qwen2, "123"), (Pieces{"1", "2", "3"}));
  EXPECT_EQ(split(SplitPattern::gpt2, "a 1234"), (Pieces{"a", " 1234"}));
  EXPECT_EQ(o200k("١٢Ⅷ²"), (Pieces{"١٢Ⅷ", "²"}));
}

TEST(Split, SignsTakeTheNewlinesBehindThemAndInO200kSlashesToo) {
  EXPECT_EQ(o200k("a;\n\n//b"), (Pieces{"a", ";\n\n//", "b"}));
  EXPECT_EQ(cl100k("a;\n\n//b"), (Pieces{"a", ";\n\n", "//", "b"}));
  EXPECT_EQ(o200k("x =\r\ny"), (Pieces{"x", " =\r\n", "y"}));
}

TEST(Split, WhiteSpaceEndsBehindItsLastNewline) {
  EXPECT_EQ(o200k("a \n \n  b"), (Pieces{"a", " \n \n", " ", " b"}));
  EXPECT_EQ(o200k("a   "), (Pieces{"a", "   "}));
  EXPECT_EQ(o200k("   1"), (Pieces{"  ", " ", "1"}));
  EXPECT_EQ(split(SplitPattern::gpt2, "a\n\n b"), (Pieces{"a", "\n\n", " b"}));
}

TEST(Split, TheNextLineIsWhiteSpaceAndAByteOrderMarkIsNot) {
  EXPECT_EQ(o200k("\u0085\u0085 a"), (Pieces{"\u0085\u0085", " a"}));
  EXPECT_EQ(o200k("\uFEFF\uFEFF;"), (Pieces{"\uFEFF\uFEFF;"}));
  EXPECT_EQ(o200k("\uFEFFa"), (Pieces{"\uFEFFa"}));
}

TEST(Split, APatternIsFoundByItsText) {
  for (std::uint32_t i = 0; i < split_pattern_count; ++i) {
    const auto pattern = static_cast<SplitPattern>(i);
    EXPECT_EQ(find_pattern(pattern_text(pattern)), pattern);
  }
  EXPECT_EQ(find_pattern("\\w+"), std::nullopt);
}

}  // namespace
}  // namespace undertext
