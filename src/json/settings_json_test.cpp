#include "json/settings_json.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "json/kept_settings.hpp"

namespace undertext {
namespace {

TEST(SettingsJson, WhatIsNotSaidHasItsDefault) {
  const DoorSettings door = read_settings("{}").value();
  EXPECT_EQ(door.settings.tokenizer, "")
      << "as a stored conversation is counted, else the estimate";
  EXPECT_FALSE(door.settings.token_limit);
  EXPECT_EQ(door.settings.pairs, Pairs::literal);
  EXPECT_EQ(door.settings.limits.message.message_bytes, 16u << 20);
  EXPECT_EQ(door.line_bytes, 256u << 20);
}

TEST(SettingsJson, EverySettingArrives) {
  const DoorSettings door =
      read_settings(
          R"({"tokenizer":"estimate","tokenLimit":8000,"pairs":"grow","limits":{"messageBytes":100,"lineBytes":1000},)"
          R"("compressionConfig":{"enabled":false,"threshold":6000,"targetTokens":4000,"strategy":"keep_recent"}})")
          .value();
  EXPECT_EQ(door.settings.token_limit, 8000u);
  EXPECT_EQ(door.settings.pairs, Pairs::grow);
  EXPECT_EQ(door.settings.limits.message.message_bytes, 100u);
  EXPECT_EQ(door.line_bytes, 1000u);
  EXPECT_FALSE(door.settings.compression.enabled);
  EXPECT_EQ(door.settings.compression.threshold, 6000u);
  EXPECT_EQ(door.settings.compression.target_tokens, 4000u);
  EXPECT_EQ(door.settings.compression.strategy->name(), "keep_recent");
}

TEST(SettingsJson, TheTokenLimitIsTheThresholdWhereNoneIsGiven) {
  const CompressionConfig config =
      read_settings(
          R"({"tokenLimit":900,"compressionConfig":{"enabled":true,"strategy":{"name":"keep_recent","n":3}}})")
          .value()
          .settings.compression;
  EXPECT_TRUE(config.enabled);
  EXPECT_EQ(config.threshold, 0u) << "Conversation::open() takes the limit";
  EXPECT_FALSE(config.target_tokens);
  EXPECT_EQ(config.strategy->name(), "keep_recent");
}

TEST(SettingsJson, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"tokenLimt":1})", "tokenLimt"},
      {R"({"tokenLimit":-1})", "tokenLimit"},
      {R"({"tokenLimit":"8k"})", "tokenLimit"},
      {R"({"tokenLimit":null})", "tokenLimit"},
      {R"({"tokenizer":1})", "tokenizer"},
      {R"({"pairs":"both"})", "pairs"},
      {R"({"limits":1})", "limits"},
      {R"({"limits":{"messageBytes":1.5}})", "messageBytes"},
      {R"({"limits":{"depth":1}})", "depth"},
      {R"({"summarisers":{"digest":{"kind":"openai","baseUrl":"http://127.0.0.1:1/v1","model":"m"}}})",
       "name"},
      {R"({"compressionConfig":true})", "compressionConfig"},
      {R"({"compressionConfig":{"enabled":1}})", "enabled"},
      {R"({"compressionConfig":{"treshold":1}})", "treshold"},
      {R"({"compressionConfig":{"strategy":{"name":"shrink"}}})", "name"},
      {R"({"compressionConfig":{"strategy":{"name":"default","keep":3}}})", "keep"},
      {R"({"compressionConfig":{"strategy":{"name":"default","summariser":"nobody"}}})",
       "summariser"},
      {R"({"compressionConfig":{"strategy":{"name":"smart_summary","summariser":["digest"]}}})",
       "summariser"},
      {R"({"compressionConfig":{"strategy":{"name":"smart_summary","fallbacks":["digest","nobody"]}}})",
       "fallbacks"},
      {R"({"compressionConfig":{"strategy":{"name":"smart_summary","fallbacks":[1]}}})",
       "fallbacks"},
      {"[]", ""},
      {"", ""},
      {"{", ""},
      {"{}x", ""},
  };
  for (const auto& [json, field] : cases) {
    const Result<DoorSettings> door = read_settings(json);
    ASSERT_FALSE(door) << json;
    EXPECT_EQ(door.error().code, ErrorCode::invalid_argument) << json;
    EXPECT_EQ(door.error().field, field) << json;
  }
}

// Writes nothing.
class Down final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "down"; }
  bool is_slow() const noexcept override { return false; }
  Result<Summary> summarise(const SummaryRequest&) const override {
    return Error{ErrorCode::unavailable, "nobody answers"};
  }
};

TEST(SettingsJson, FallbacksOfASummariserAreTried) {
  Settings own;
  own.summarisers["down"] = own.summarisers["down too"] = std::make_shared<Down>();
  for (const char* name : {"default", "smart_summary"}) {
    const std::string config =
        R"({"compressionConfig":{"enabled":true,"threshold":300,"strategy":{"name":")" +
        std::string(name) + R"(","summariser":"down","fallbacks":["down too","digest"]}}})";
    Conversation conversation =
        Conversation::open(read_settings(config, own).value().settings).value();
    for (int i = 0; conversation.history().receipts().empty() && i < 100; ++i) {
      conversation
          .apply({op::Append{{Message::make(Role::user, "some words to be summarised").value()}}})
          .value();
    }
    const Receipt receipt = conversation.history().receipts().at(0);
    EXPECT_EQ(receipt.summariser, "digest");
    EXPECT_NE(receipt.reason.find("down"), std::string::npos) << receipt.reason;
  }
}

TEST(SettingsJson, AStoredConversationIsOpenedAsItWasMade) {
  const std::shared_ptr<Store> store = memory_store();
  const KeptOpen only_there{.options = {.make = OpenOptions::Make::never}};
  EXPECT_EQ(open_kept(store, "a", only_there).error().code, ErrorCode::not_found);
  const std::string note = R"({"tokenLimit":7,"pairs":"grow"})";
  EXPECT_EQ(open_kept(store, "a", {.config = note}).value().settings().token_limit, 7u);
  const Conversation opened = open_kept(store, "a", only_there).value();
  EXPECT_EQ(opened.settings().token_limit, 7u);
  EXPECT_EQ(opened.settings().pairs, Pairs::grow);
  EXPECT_EQ(open_kept(store, "b").value().id(), "b")
      << "made where it is missing, unless told otherwise";
}

}  // namespace
}  // namespace undertext
