#include "gateway/request_text.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(RequestText, SaysWhatMattersForAnEdit) {
  const RequestText text = read_request_text(
      Dialect::anthropic,
      R"({"model":"m","max_tokens":7,"tools":[{"name":"a"}],"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]})",
      "/v1/messages");
  EXPECT_EQ(text.model, "m");
  EXPECT_EQ(text.tools, R"([{"name":"a"}])");
  EXPECT_EQ(text.answer_tokens, 7u);
  EXPECT_EQ(text.cache_lifetime_ms, 3'600'000);
}

TEST(RequestText, TheModelOfGeminiStandsInThePath) {
  const RequestText text = read_request_text(
      Dialect::gemini, R"({"contents":[],"generationConfig":{"maxOutputTokens":9}})",
      "/v1beta/models/gemini-2.5-pro:streamGenerateContent");
  EXPECT_EQ(text.model, "gemini-2.5-pro");
  EXPECT_EQ(text.answer_tokens, 9u);
}

TEST(RequestText, ACacheIsTakenToLiveAsLongAsItMay) {
  EXPECT_EQ(read_request_text(Dialect::anthropic, R"({"messages":[]})", "").cache_lifetime_ms,
            300'000);
  EXPECT_EQ(read_request_text(Dialect::openai_chat, R"({"messages":[]})", "").cache_lifetime_ms,
            3'600'000);
  EXPECT_EQ(read_request_text(Dialect::openai_responses,
                              R"({"input":[],"prompt_cache_retention":"24h"})", "")
                .cache_lifetime_ms,
            86'400'000);
}

TEST(RequestText, RenderedMembersTakeTheirPlacesAndAllElseStays) {
  EXPECT_EQ(with_rendered(Dialect::anthropic,
                          R"({ "model":"m", "system":"old","messages":[1, 2],"n":1.50})",
                          R"({"system":"new","messages":[3]})"),
            R"({"model":"m","system":"new","messages":[3],"n":1.50})");
  EXPECT_EQ(
      with_rendered(Dialect::anthropic, R"({"system":"old","messages":[]})", R"({"messages":[3]})"),
      R"({"messages":[3]})");
  EXPECT_EQ(with_rendered(Dialect::gemini, R"({"system_instruction":1,"contents":[]})",
                          R"({"systemInstruction":2,"contents":[3]})"),
            R"({"contents":[3],"systemInstruction":2})");
  EXPECT_EQ(with_rendered(Dialect::openai_chat, R"({"messages":[],"tools":[1]})",
                          R"({"messages":[3],"tools":[2]})"),
            R"({"messages":[3],"tools":[2]})");
}

}  // namespace
}  // namespace undertext
