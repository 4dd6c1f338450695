#include "json/models_json.hpp"

#include <string>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "json/kept_settings.hpp"
#include "json/request.hpp"
#include "json/settings_json.hpp"

namespace undertext {
namespace {

Conversation with_settings(const std::string& json) {
  return Conversation::open(read_settings(json).value().settings).value();
}

std::string asked(const std::string& settings, const std::string& query) {
  Conversation conversation = with_settings(settings);
  return answer(conversation, query);
}

bool has(const std::string& answer, const std::string& part) {
  return answer.find(part) != std::string::npos;
}

TEST(ModelsJson, EveryProfileOfTheTableIsThereAndNoDialectHasTwo) {
  for (const std::string& name : model_names()) {
    std::uint32_t dialects = 0;
    for (const std::string& profile : find_model(name).profiles) {
      ASSERT_TRUE(find_profile(profile)) << name << ": " << profile;
      const std::uint32_t bit = 1u << static_cast<unsigned>(find_profile(profile).value().dialect);
      EXPECT_EQ(dialects & bit, 0u) << name;
      dialects |= bit;
    }
  }
}

TEST(ModelsJson, TokenizerCostsProfileAndWindowFollowFromTheModel) {
  const std::string settings = R"({"model":"Anthropic/Claude-Opus-4.7"})";
  EXPECT_TRUE(has(asked(settings, R"({"query":"tokens"})"),
                  R"("tokenizer":"estimate:claude-4.7","costs":"anthropic-4.7","exact":false)"));
  EXPECT_TRUE(has(asked(settings, R"({"query":"fit"})"), R"("tokensMax":1000000)"));
  EXPECT_TRUE(has(asked(settings, R"({"query":"fit","budget":{"reserve":1000}})"),
                  R"("tokensMax":999000)"));
  EXPECT_TRUE(
      has(asked(settings, R"({"query":"fit","budget":{"window":50}})"), R"("tokensMax":50)"));
  EXPECT_TRUE(has(asked(settings, R"({"query":"render"})"),
                  R"({"ok":true,"result":{"request":{"messages")"));
  EXPECT_TRUE(has(asked(settings, R"({"query":"render","dialect":"gemini"})"), R"("contents")"))
      << "one that its model has no profile for";
}

TEST(ModelsJson, ADialectHasTheProfileOfTheModel) {
  const std::string messages =
      R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"system","content":"c"},)"
      R"({"role":"user","content":"d"}])";
  const auto valid = [&](const std::string& settings, const std::string& query) {
    Conversation conversation = with_settings(settings);
    EXPECT_TRUE(has(answer(conversation, R"({"operation":"APPEND","messages":)" + messages + "}"),
                    R"("ok":true)"));
    return has(answer(conversation, query), R"("valid":true)");
  };
  const std::string query = R"({"query":"validate","dialect":"anthropic"})";
  EXPECT_EQ(valid("{}", query), valid(R"({"model":"parrot"})", query))
      << "an unknown model has the dialect's own";
  EXPECT_FALSE(valid(R"({"model":"claude-opus-4-7"})", query))
      << "no system message after the first turn";
  EXPECT_EQ(valid(R"({"model":"claude-opus-4-7","profile":"anthropic"})", query),
            valid("{}", query))
      << "the setting comes first";
  EXPECT_FALSE(valid(R"({"model":"claude-opus-4-7"})", R"({"query":"validate"})"));
}

TEST(ModelsJson, WhatIsSetComesBeforeTheModel) {
  const std::string answer = asked(
      R"({"model":"claude-opus-4-7","tokenizer":"estimate","costs":"gemini","profile":"mistral","window":1234})",
      R"({"query":"model"})");
  EXPECT_TRUE(has(answer, R"("name":"claude-opus-4-7","known":true)")) << answer;
  EXPECT_TRUE(has(answer, R"("tokenizer":"estimate","costs":"gemini","profiles":["mistral",)"))
      << answer;
  EXPECT_TRUE(has(answer, R"("limits":{"window":1234})")) << answer;
}

TEST(ModelsJson, AnUnknownModelIsNoErrorAndSaysSo) {
  EXPECT_EQ(
      asked(R"({"model":"parrot"})", R"({"query":"model"})"),
      R"({"ok":true,"result":{"name":"parrot","known":false,"tokenizer":"estimate","costs":"openai","profiles":[]}})");
  EXPECT_TRUE(has(asked(R"({"model":"parrot"})", R"({"query":"fit"})"), R"("field":"budget")"));
  EXPECT_TRUE(has(asked(R"({"model":"parrot"})", R"({"query":"render"})"), R"("field":"dialect")"));
}

TEST(ModelsJson, WhatIsWrongInSettingsIsNamed) {
  EXPECT_EQ(read_settings(R"({"profile":"parrot"})").error().field, "profile");
  EXPECT_EQ(read_settings(R"({"window":-1})").error().field, "window");
  EXPECT_EQ(Conversation::open({.costs = "parrot"}).error().field, "costs");
}

TEST(ModelsJson, AStoredConversationIsCountedAsItsModelUntilAnotherIsGiven) {
  const std::shared_ptr<Store> store = memory_store();
  const auto counting = [&](std::optional<std::string> config) {
    return open_kept(store, "a", {.config = config}).value().counting();
  };
  EXPECT_EQ(counting(R"({"model":"Claude-Opus-4.7"})"), "claude-opus-4-7");
  EXPECT_EQ(counting(std::nullopt), "claude-opus-4-7");
  {
    Conversation conversation = open_kept(store, "a").value();
    ASSERT_TRUE(conversation.set_tokenizer("estimate"));
    EXPECT_EQ(conversation.counting(), "estimate+anthropic-4.7")
        << "the costs are still the model's";
  }
  EXPECT_EQ(counting(std::nullopt), "estimate+anthropic-4.7");
  EXPECT_EQ(counting(R"({"model":"gemini-2.5-pro"})"), "gemini-2-5-pro");
}

TEST(ModelsJson, ACountIsExactOnlyIfEveryPartOfItIs) {
  if (!find_tokenizer("o200k_base")) GTEST_SKIP() << "vocabularies: o200k_base is not there";
  const std::string png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJg"
      "gg==";
  const std::string text = R"({"role":"user","content":"Hello"})";
  const std::string image =
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,)" +
      png + R"("}}]})";
  const std::string elsewhere =
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]})";
  const std::string call =
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{}"}]})";
  const auto exact = [&](const std::string& model, const std::string& message) {
    Conversation conversation = with_settings(R"({"model":")" + model + R"("})");
    EXPECT_TRUE(has(
        answer(conversation, R"({"operation":"APPEND","messages":[)" + text + "," + message + "]}"),
        R"("ok":true)"));
    return has(answer(conversation, R"({"query":"tokens"})"), R"("exact":true)");
  };
  EXPECT_TRUE(exact("gpt-4o", text));
  EXPECT_TRUE(exact("gpt-4o", image));
  EXPECT_FALSE(exact("gpt-4o", elsewhere)) << "nobody knows its size";
  EXPECT_FALSE(exact("gpt-4o", call)) << "its frame is fitted";
  EXPECT_FALSE(exact("gpt-5.5", text)) << "so is what stands around a message";
  EXPECT_FALSE(exact("GPT-5.5", image));
  EXPECT_FALSE(exact("claude-3-5-sonnet", text)) << "an estimate";
}

TEST(ModelsJson, ToolsAreCountedAsTheConversationCounts) {
  const std::string query =
      R"({"query":"countTools","tools":[{"name":"f","description":"Does it."}]})";
  const std::string by_model =
      R"({"query":"countTools","model":"Claude-Opus-4-7","tools":[{"name":"f","description":"Does it."}]})";
  EXPECT_EQ(asked(R"({"model":"claude-opus-4-7"})", query), asked("{}", by_model));
  EXPECT_NE(asked("{}", query), asked("{}", by_model));
  EXPECT_TRUE(has(asked("{}", R"({"query":"countTools"})"), R"("field":"tools")"));
  EXPECT_TRUE(has(asked("{}", R"({"query":"countTools","tools":{}})"), R"("field":"tools")"));
}

}  // namespace
}  // namespace undertext
