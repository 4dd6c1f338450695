#include "tokens/estimate.hpp"

#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

std::uint32_t estimate(const std::string& json) { return estimate_tokens(Message::parse(json).value()); }
std::uint32_t of_content(const std::string& content) { return estimate(R"({"role":"user","content":)" + content + "}") - 4; }

TEST(EstimateTokens, AMessageCostsFourAndItsTextATokenForFourAsciiCharacters) {
  EXPECT_EQ(estimate(R"({"role":"tool","content":""})"), 4u);
  EXPECT_EQ(of_content(R"("a")"), 1u);
  EXPECT_EQ(of_content(R"("abcd")"), 1u);
  EXPECT_EQ(of_content(R"("abcde")"), 2u);
  EXPECT_EQ(of_content("\"" + std::string(600, 'x') + "\""), 150u);
}

TEST(EstimateTokens, AChineseJapaneseOrKoreanCharacterIsOneToken) {
  EXPECT_EQ(of_content(R"("消息数组")"), 4u);
  EXPECT_EQ(of_content(R"("カナ")"), 2u);
  EXPECT_EQ(of_content(R"("한국")"), 2u);
  EXPECT_EQ(of_content(R"("，")"), 1u);
  EXPECT_EQ(of_content("\"\xF0\xA0\x80\x80\""), 1u);  // U+20000
}

TEST(EstimateTokens, OtherCharactersAreHalfAToken) {
  EXPECT_EQ(of_content(R"("привет")"), 3u);
  EXPECT_EQ(of_content(R"("😀😀")"), 1u);
  EXPECT_EQ(of_content(R"("a€")"), 1u);  // 1/4 + 1/2
}

TEST(EstimateTokens, WhatATextSaysCountsNotHowItIsEscaped) {
  EXPECT_EQ(of_content(R"("\u0061\u0062\u0063\u0064")"), 1u);
  EXPECT_EQ(of_content(R"("\n\t\"\\")"), 1u);
  EXPECT_EQ(of_content(R"("\u6d88")"), 1u);
  EXPECT_EQ(of_content(R"("\ud83d\ude00\ud83d\ude00")"), 1u);
  EXPECT_EQ(of_content(R"("abcdefgh\nabcdefgh消")"), 6u);  // 17/4 + 1
}

TEST(EstimateTokens, TextPartsCountLikeText) {
  EXPECT_EQ(of_content(R"([{"type":"text","text":"abcd"},{"text":"efgh","type":"text"}])"), 2u);
  EXPECT_EQ(of_content(R"([ { "type" : "text" , "text" : "abcd" } ])"), 1u);
}

TEST(EstimateTokens, AnImageCostsTheSameWhateverItsLength) {
  const std::string data = "data:image/png;base64," + std::string(100000, 'A');
  EXPECT_EQ(of_content(R"([{"type":"image_url","image_url":{"url":")" + data + R"("}}])"), 765u);
  EXPECT_EQ(of_content(R"([{"type":"image","image_url":{"url":"https://x"}}])"), 765u);
  EXPECT_EQ(of_content(R"([{"type":"text","text":"abcd"},{"type":"image","source":{"data":"QQ=="}}])"), 766u);
}

TEST(EstimateTokens, EncodedBytesInsideOtherPartsAreNotCountedByLength) {
  const std::string base64(1000000, 'Q');
  EXPECT_LT(of_content(R"([{"type":"document","source":{"type":"base64","data":")" + base64 + R"("}}])"), 1000u);
  EXPECT_LT(of_content(R"([{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"data":")" + base64 +
                       R"("}}]}])"),
            1000u);
}

TEST(EstimateTokens, ToolCallsAndToolPartsCountAsTheirJson) {
  // [{"id":"c1"}] has 13 characters.
  EXPECT_EQ(estimate(R"({"role":"assistant","content":"","toolCalls":[{"id":"c1"}]})"), 4u + 4u);
  EXPECT_EQ(estimate(R"({"role":"assistant","content":null,"tool_calls":[ {"id" : "c1"} ]})"), 4u + 4u);
  EXPECT_GT(of_content(R"([{"type":"tool_use","id":"a","name":"f","input":{"q":"a long question about something"}}])"), 15u);
  EXPECT_GT(of_content(R"([{"type":"tool_result","tool_use_id":"a","content":"a long answer about something else"}])"), 15u);
}

TEST(EstimateTokens, OtherFieldsAreNotCounted) {
  EXPECT_EQ(
      estimate(
          R"({"id":"0123456789","role":"user","timestamp":1700000000000,"metadata":{"note":"a very long note"},"content":"abcd","x":[1,[2],"]"]})"),
      5u);
}

TEST(EstimateTokens, AKeyMayBeSpelledWithEscapes) { EXPECT_EQ(estimate(R"({"role":"user","\u0063ontent":"abcd"})"), 5u); }

}  // namespace
}  // namespace undertext
