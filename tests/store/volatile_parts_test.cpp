// Rendering a conversation that follows a client: volatile parts are those of the newest request.
#include "client_requests.hpp"
#include "kinds.hpp"

namespace undertext {
namespace {

using test::Recording;

constexpr const char* marked = R"(,"cache_control":{"type":"ephemeral"})";

std::string claude_request(const std::string& billing, const std::vector<std::string>& messages) {
  std::string body = R"({"system":[{"type":"text","text":"x-anthropic-billing-header: )" + billing +
                     R"("},{"type":"text","text":"be good")" + marked + R"(}],"messages":[)";
  for (std::size_t i = 0; i < messages.size(); ++i) body += (i == 0 ? "" : ",") + messages[i];
  return body + "]}";
}
std::string said(const std::string& role, const std::string& text, bool is_marked = false) {
  return R"({"role":")" + role + R"(","content":[{"type":"text","text":")" + text + '"' +
         (is_marked ? marked : "") + "}]}";
}

Rendering rendered(const Conversation& conversation, const char* profile,
                   CacheMarkers markers = CacheMarkers::given) {
  const Profile found = find_profile(profile).value();
  RenderOptions options;
  options.volatile_now = conversation.volatile_now(found.dialect).value();
  options.cache_markers = markers;
  return render(conversation.view(), found, options).value();
}

TEST(VolatileParts, ARenderedRequestHasThoseOfTheNewestRequestByteForByte) {
  Conversation conversation;
  Recording recording("claude_code");
  const std::string first = claude_request("1", {said("user", "one", true)});
  recording.take(conversation, first);
  EXPECT_EQ(rendered(conversation, "anthropic").json, first);
  const std::string second = claude_request(
      "22", {said("user", "one"), said("assistant", "two", true), said("user", "three", true)});
  recording.take(conversation, second);
  EXPECT_EQ(rendered(conversation, "anthropic").json, second);
  EXPECT_TRUE(rendered(conversation, "anthropic").findings.empty());
}

TEST(VolatileParts, AMarkerInsideAToolResultStandsWhereItStood) {
  Conversation conversation;
  Recording recording("claude_code");
  const std::string body = claude_request(
      "1",
      {said("user", "go"),
       R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]})",
       R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"},)"
       R"({"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}]})"});
  recording.take(conversation, body);
  EXPECT_EQ(rendered(conversation, "anthropic").json, body);
}

TEST(VolatileParts, WhatIsNotInTheViewHasNoMarker) {
  Conversation conversation;
  Recording recording("claude_code");
  recording.take(conversation,
                 claude_request("1", {said("user", "one", true), said("assistant", "two"),
                                      said("user", "three")}));
  ASSERT_TRUE(conversation.apply(
      {op::Compress{Names::indices({1, 2}), Message::make(Role::user, "summary").value()}}));
  EXPECT_EQ(
      rendered(conversation, "anthropic").json,
      R"({"system":[{"type":"text","text":"x-anthropic-billing-header: 1"},{"type":"text","text":"be good",)"
      R"("cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"summary"},)" +
          said("user", "three") + "]}");
}

TEST(VolatileParts, AnotherDialectGetsNoneAndAutomaticMarkersTakeTheirPlace) {
  Conversation conversation;
  Recording recording("claude_code");
  recording.take(conversation, claude_request("1", {said("user", "one", true)}));
  EXPECT_EQ(rendered(conversation, "openai_chat").json.find("billing"), std::string::npos);
  const std::string automatic = rendered(conversation, "anthropic", CacheMarkers::automatic).json;
  EXPECT_NE(automatic.find("x-anthropic-billing-header: 1"), std::string::npos);
  EXPECT_NE(automatic.find("cache_control"), std::string::npos);
}

TEST(VolatileParts, WithoutARecordStoredPartsStay) {
  Conversation conversation;
  const ClientProfile client = find_client("claude_code").value();
  const std::string body = claude_request("1", {said("user", "one")});
  ASSERT_TRUE(conversation.apply({read_client_request(client, {}, body).value().reconcile}));
  EXPECT_FALSE(conversation.volatile_now(Dialect::anthropic).value());
  EXPECT_NE(rendered(conversation, "anthropic").json.find("x-anthropic-billing-header: 1"),
            std::string::npos);
}

}  // namespace
}  // namespace undertext
