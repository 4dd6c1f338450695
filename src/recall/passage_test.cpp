#include "recall/passage.hpp"

#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

std::string some_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "step " + std::to_string(i) + " of the build took a second\n";
  return text;
}

void expect_passage(const std::string& text, std::string_view asked, std::string_view begin) {
  const std::optional<std::size_t> at = best_passage(text, asked_words(asked), 200);
  ASSERT_TRUE(at) << asked;
  EXPECT_EQ(std::string_view(text).substr(*at, begin.size()), begin) << asked;
}

TEST(Passage, BeginsWhereMostOfTheWordsStandTogether) {
  const std::string text = some_lines(400) + "The migrations of the database timed out.\n" +
                           some_lines(400) + "database\n";
  expect_passage(text, "why did the migration of the database time out", "migrations");
  expect_passage(text, "databases", "database timed");
}

TEST(Passage, PrefersTheRareWordToTheOneOnEveryLine) {
  const std::string text = some_lines(400) + "the linker was killed\n";
  const std::optional<std::size_t> at =
      best_passage(text, asked_words("which build killed it"), 200);
  ASSERT_TRUE(at);
  EXPECT_NE(text.substr(*at, 200).find("killed"), std::string::npos);
}

TEST(Passage, IsFoundWithinALongLineAndInScriptsWithoutSpaces) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "今天的天气很好。";
  text += "数据库连接超时。";
  expect_passage(text, "数据库的连接", "数据");
  expect_passage(text, "库", "据库");
}

TEST(Passage, IsNowhereWithoutAWord) {
  EXPECT_FALSE(best_passage(some_lines(3), asked_words("zebra"), 200));
  EXPECT_FALSE(best_passage("", asked_words("zebra"), 200));
  EXPECT_FALSE(best_passage("zebra", asked_words("the"), 200));
  EXPECT_EQ(best_passage("a zebra", asked_words("zebra"), 0), std::nullopt)
      << "no word begins within nothing";
}

TEST(Passage, IsLedToFromTheStartOfALineOrACodePoint) {
  const std::string text = "first\nsecond line here";
  EXPECT_EQ(lead_to(text, text.find("here"), 12), 6u);
  EXPECT_EQ(lead_to(text, text.find("here"), 5), text.find("here") - 5);
  EXPECT_EQ(lead_to(text, 3, 200), 0u);
  EXPECT_EQ(lead_to("数据库", 6, 2), 6u);
  EXPECT_EQ(lead_to("数据库", 6, 3), 3u);
}

}  // namespace
}  // namespace undertext
