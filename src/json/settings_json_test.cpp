#include "json/settings_json.hpp"

#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(SettingsJson, WhatIsNotSaidHasItsDefault) {
  const DoorSettings door = read_settings("{}").value();
  EXPECT_EQ(door.settings.tokenizer, "estimate");
  EXPECT_FALSE(door.settings.token_limit);
  EXPECT_EQ(door.settings.pairs, Pairs::literal);
  EXPECT_EQ(door.settings.limits.message.message_bytes, 16u << 20);
  EXPECT_EQ(door.line_bytes, 256u << 20);
}

TEST(SettingsJson, EverySettingArrives) {
  const DoorSettings door =
      read_settings(R"({"tokenizer":"estimate","tokenLimit":8000,"pairs":"grow","limits":{"messageBytes":100,"lineBytes":1000},)"
                    R"("compressionConfig":{"enabled":false,"threshold":6000,"strategy":"sliding_window","more":[1]}})")
          .value();
  EXPECT_EQ(door.settings.token_limit, 8000u);
  EXPECT_EQ(door.settings.pairs, Pairs::grow);
  EXPECT_EQ(door.settings.limits.message.message_bytes, 100u);
  EXPECT_EQ(door.line_bytes, 1000u);
}

TEST(SettingsJson, CompressionIsNotSupportedYet) {
  const Error error = read_settings(R"({"compressionConfig":{"enabled":true}})").error();
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_EQ(error.path, "compressionConfig.enabled");
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
      {R"({"compressionConfig":true})", "compressionConfig"},
      {R"({"compressionConfig":{"enabled":1}})", "enabled"},
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

}  // namespace
}  // namespace undertext
