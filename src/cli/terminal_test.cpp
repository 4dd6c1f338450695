#include "cli/terminal.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/utf8.hpp"

namespace undertext {
namespace {

using Lines = std::vector<std::string>;

TEST(Terminal, OrdinaryTextIsPrintedAsItIs) {
  for (const std::string_view text :
       {"", "Hello, world", "naïve café", "日本語", "🙂 👩‍💻", "e\u0301"})
    EXPECT_EQ(printable(text), text);
}

TEST(Terminal, EscapeSequencesInATextCannotReachTheTerminal) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "␛[31mred␛[0m");
  EXPECT_EQ(printable("\x1b]0;title\a"), "␛]0;title␇");
  EXPECT_EQ(printable("a\nb\tc\rd\b"), "a␊b␉c␍d␈");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "␀");
  EXPECT_EQ(printable("\x7f"), "␡");
  // the control sequence introducer as one character
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m");
}

TEST(Terminal, TextCannotReorderOrHideWhatStandsAroundIt) {
  EXPECT_EQ(printable("user\u202Etxt"), "user\\u202etxt");
  EXPECT_EQ(printable("\u2066a\u2069\u200F\u061C"), "\\u2066a\\u2069\\u200f\\u061c");
  EXPECT_EQ(printable("a\u200Bb\uFEFFc\u2028d\u00ADe"), "a\\u200bb\\ufeffc\\u2028d\\u00ade");
  EXPECT_EQ(printable("\U000E0041"), "\\u{e0041}");
}

TEST(Terminal, JsonSaysTheSameToATerminalWithoutActingOnIt) {
  EXPECT_EQ(json_for_terminal(R"({"a":"日本 \u001b"})"), R"({"a":"日本 \u001b"})");
  EXPECT_EQ(json_for_terminal("[\"\u009b31m\u202e\x7f\"]\n"), R"(["\u009b31m\u202e\u007f"] )");
  EXPECT_EQ(json_for_terminal("\"\U000E0041\""), R"("\udb40\udc41")");
}

TEST(Terminal, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(printable("a\xffz"), "a\uFFFDz");
  EXPECT_EQ(printable("\xe6\x97"), "\uFFFD\uFFFD");
  // C1 as one byte, to which some terminals still listen
  EXPECT_EQ(printable("\x9b\x33"), "\uFFFD3");
}

TEST(Terminal, NoCharacterAtAllPrintsAControl) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    const std::string out = printable(text);
    ASSERT_FALSE(out.empty());
    ASSERT_EQ(printable(out), out) << "U+" << std::hex << static_cast<std::uint32_t>(c);
    for (const char byte : out)
      ASSERT_FALSE(static_cast<std::uint8_t>(byte) < 0x20 || byte == 0x7F);
  }
}

TEST(Terminal, WideAndCombiningCharactersAreCountedInCells) {
  EXPECT_EQ(count_cells(""), 0u);
  EXPECT_EQ(count_cells("abc"), 3u);
  EXPECT_EQ(count_cells("日本語"), 6u);
  EXPECT_EQ(count_cells("한국어 ｆｕｌｌ"), 15u);
  EXPECT_EQ(count_cells("e\u0301"), 1u);
  EXPECT_EQ(count_cells("🙂"), 2u);
  EXPECT_EQ(count_cells("├─● █▏…"), 7u);
}

TEST(Terminal, ClippedTextFillsNoMoreThanItsCells) {
  EXPECT_EQ(clip("hello", 5), "hello");
  EXPECT_EQ(clip("hello", 4), "hel…");
  EXPECT_EQ(clip("hello world", 7), "hello…");
  EXPECT_EQ(clip("日本語", 6), "日本語");
  EXPECT_EQ(clip("日本語", 5), "日本…");
  EXPECT_EQ(clip("日本語", 4), "日…");
  EXPECT_EQ(clip("hello", 1), "…");
  EXPECT_EQ(clip("hello", 0), "");
  EXPECT_EQ(clip("", 0), "");
}

TEST(Terminal, TextIsBrokenBetweenWords) {
  EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("one two three", 100), (Lines{"one two three"}));
  EXPECT_EQ(wrap("unbreakable", 5), (Lines{"unbr…"}));
  EXPECT_EQ(wrap("", 5), Lines{});
}

TEST(Terminal, ABarShowsEighthsOfACell) {
  EXPECT_EQ(bar(0, 800, 10), "");
  EXPECT_EQ(bar(1, 800, 10), "▏");  // something is never nothing
  EXPECT_EQ(bar(40, 800, 10), "▌");
  EXPECT_EQ(bar(100, 800, 10), "█▎");
  EXPECT_EQ(bar(800, 800, 10), "██████████");
  EXPECT_EQ(bar(5000, 800, 10), "██████████");
  EXPECT_EQ(bar(5, 0, 10), "");
  EXPECT_EQ(bar(5, 10, 0), "");
}

TEST(Terminal, ColumnsSaysHowWideTheOutputIs) {
  const char* before = std::getenv("COLUMNS");
  const std::string kept = before == nullptr ? "" : before;
  setenv("COLUMNS", "72", 1);
  EXPECT_EQ(terminal_columns(), 72u);
  for (const char* nonsense : {"0", "-5", "wide", "70x", "99999999"}) {
    setenv("COLUMNS", nonsense, 1);
    EXPECT_GT(terminal_columns(), 0u);
    EXPECT_NE(terminal_columns(), 70u);
  }
  if (before == nullptr) {
    unsetenv("COLUMNS");
  } else {
    setenv("COLUMNS", kept.c_str(), 1);
  }
}

TEST(Terminal, ALineIsCutToTheScreenAndItsColoursEndWithIt) {
  Line line;
  line.pad_to(2).add("日本語", {.color = 71}).add_right("9", 12, {.bold = true}).add("beyond");
  EXPECT_EQ(line.cells(), 18u);

  testing::internal::CaptureStdout();
  Screen(Screen::Options{.columns = 7}).print(line);
  Screen(Screen::Options{.color = true, .columns = 12}).print(line);
  Screen plain(Screen::Options{.columns = 12});
  plain.print(line);
  EXPECT_TRUE(plain.flush());
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "  日本\n"
            "  \x1b[38;5;71m日本語\x1b[0m   \x1b[1m9\x1b[0m\n"
            "  日本語   9\n");
}

}  // namespace
}  // namespace undertext
