#include "message/quotes.hpp"

#include <string>

#include <gtest/gtest.h>

#include "message/redacted.hpp"

namespace undertext {
namespace {

QuotableTexts texts_of(std::string_view json) {
  QuotableTexts texts;
  texts.add(Message::parse(json).value());
  return texts;
}

TEST(Quotes, eight_bytes_in_a_row_are_a_quote) {
  const QuotableTexts texts = texts_of(R"({"role":"user","content":"my number is 4242-4242"})");
  EXPECT_TRUE(texts.quoted_in("we remove 4242-424 here"));
  EXPECT_FALSE(texts.quoted_in("we remove x4242-42x here"));
  EXPECT_TRUE(texts.quoted_in("my number is 4242-4242"));
  EXPECT_FALSE(texts.quoted_in(""));
}

TEST(Quotes, a_shorter_text_is_a_quote_when_it_is_wholly_part_of_the_other) {
  EXPECT_TRUE(texts_of(R"({"role":"user","content":"my number is 4242-4242"})").quoted_in("4242"));
  EXPECT_TRUE(texts_of(R"({"role":"user","content":"4242"})").quoted_in("the number 4242!"));
  EXPECT_FALSE(texts_of(R"({"role":"user","content":"ok"})").quoted_in("a broken link"));
  EXPECT_FALSE(texts_of(R"({"role":"user","content":"my number is 4242-4242"})").quoted_in("424"));
}

TEST(Quotes, every_string_of_a_message_can_be_quoted_but_its_role_and_types) {
  const QuotableTexts texts = texts_of(
      R"({"role":"assistant","content":[{"type":"text_of_a_part","text":"first \u0070art of it"}],)"
      R"("toolCalls":[{"id":"a","name":"read_the_file","arguments":"{\"path\":\"/home/ann/diary\"}"}],"metadata":{"k":["deep inside"]}})");
  EXPECT_TRUE(texts.quoted_in("it says: first part"));
  EXPECT_TRUE(texts.quoted_in("/home/ann"));
  EXPECT_TRUE(texts.quoted_in("read_the_file"));
  EXPECT_TRUE(texts.quoted_in("deep inside"));
  EXPECT_FALSE(texts.quoted_in("cut the assistant"));
  EXPECT_FALSE(texts.quoted_in("text_of_a_part"));
}

TEST(Quotes, rules_and_blanks_are_no_quotes) {
  EXPECT_FALSE(texts_of(R"({"role":"user","content":"a ------------          b"})")
                   .quoted_in("-------- and         !"));
}

TEST(Quotes, what_only_looks_redacted_can_be_quoted) {
  EXPECT_TRUE(
      texts_of(R"({"role":"user","content":"a secret","metadata":{"redacted":{"who":"me"}}})")
          .quoted_in("it was a secret"));
}

TEST(Quotes, what_was_redacted_cannot_be_quoted) {
  const Message stub = redacted(Message::parse(R"({"role":"user","content":"a secret"})").value(),
                                {"somebody", 5, "it was private", "0f"});
  QuotableTexts texts;
  texts.add(stub);
  EXPECT_FALSE(texts.quoted_in("[redacted] by somebody: it was private"));
}

}  // namespace
}  // namespace undertext
