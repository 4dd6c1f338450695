#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/client.hpp>

#include "client/markers.hpp"

namespace undertext {
namespace {

ClientRequest read(std::string_view client, const std::string& body, const ClientRequestHead& head = {}) {
  Result<ClientRequest> request = read_client_request(find_client(client).value(), {}, body, {}, head);
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return std::move(request).value();
}

std::string without(const std::string& json) {
  const JsonText text = JsonText::parse(json, {}).value();
  return without_markers(json, text.root());
}

TEST(ClientRequest, MarkersAreLeftOutOfPartsAndOfNothingElse) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"messages":[{"role":"user","content":"x"}]})", R"({"messages":[{"role":"user","content":"x"}]})"},
      {R"({"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]})",
       R"({"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]})"},
      {R"([{"content":[{"cache_control":{"a":1}, "text":"x"}]}])", R"([{"content":[{"text":"x"}]}])"},
      {R"([{"content":[{"cache_control":null}]}])", R"([{"content":[{}]}])"},
      {R"([{"content":[{"a":1,"cache_control":1,"prompt_cache_breakpoint":2,"b":3}]}])", R"([{"content":[{"a":1,"b":3}]}])"},
      {R"([{"content":[{"cache_control":1,"prompt_cache_breakpoint":2,"b":3}]}])", R"([{"content":[{"b":3}]}])"},
      {R"({"system":[{"text":"S","cache_control":1}],"tools":[{"name":"t","cache_control":1}],"messages":[]})",
       R"({"system":[{"text":"S"}],"tools":[{"name":"t","cache_control":1}],"messages":[]})"},
      {R"([{"content":[{"type":"tool_result","content":[{"text":"a","cache_control":1}],"cache_control":2}]}])",
       R"([{"content":[{"type":"tool_result","content":[{"text":"a"}]}]}])"},
      {R"([{"content":[{"type":"tool_use","input":{"cache_control":1,"content":[{"cache_control":1}]}}]}])",
       R"([{"content":[{"type":"tool_use","input":{"cache_control":1,"content":[{"cache_control":1}]}}]}])"},
  };
  for (const auto& [given, expected] : cases) EXPECT_EQ(without(given), expected);
}

TEST(ClientRequest, TheSessionStandsWhereTheProfileSays) {
  const std::string body =
      R"({"messages":[{"role":"user","content":"x"}],"metadata":{"user_id":"{\"device\":1,\"session_id\":\"s-1\"}"}})";
  EXPECT_EQ(read("claude_code", body).session, "s-1");
  EXPECT_EQ(read("claude_code", body, {{}, {{"X-Claude-Code-Session-Id", "s-2"}}}).session, "s-2");
  EXPECT_EQ(read("anthropic", body).session, "");
  EXPECT_EQ(read("claude_code", body, {{}, {{"x-claude-code-agent-id", "a-1"}}}).agent, "a-1");
  const ClientRequest codex = read("codex", R"({"input":[],"prompt_cache_key":"k"})",
                                   {{}, {{"x-codex-turn-metadata", R"({"forked_from_thread_id":"p","request_kind":"turn"})"}}});
  EXPECT_EQ(codex.session, "k");
  EXPECT_EQ(codex.parent, "p");
}

TEST(ClientRequest, WhatARequestIsForIsTold) {
  const auto kind = [](std::string_view client, const std::string& body, const ClientRequestHead& head = {}) {
    return name(read(client, body, head).kind);
  };
  EXPECT_EQ(kind("claude_code", R"({"messages":[{"role":"user","content":"x"}],"tools":[{}]})"), "turn");
  EXPECT_EQ(kind("claude_code", R"({"messages":[{"role":"user","content":"x"}]})", {"/v1/messages/count_tokens", {}}),
            "count_tokens");
  EXPECT_EQ(kind("claude_code", R"({"messages":[{"role":"user","content":"x"}],"tools":[],"output_config":{"format":{}}})"),
            "side_request");
  EXPECT_EQ(kind("claude_code", R"({"messages":[{"role":"user","content":[{"type":"text","text":"x\n"},
                                    {"type":"text","text":"CRITICAL: Respond with TEXT ONLY."}]}],"tools":[{}]})"),
            "compaction");
  EXPECT_EQ(kind("codex", R"({"input":[{"type":"compaction_trigger"}]})"), "compaction");
  EXPECT_EQ(kind("codex", R"({"input":[]})", {{}, {{"X-Codex-Turn-Metadata", R"({"request_kind":"compaction"})"}}}), "compaction");
}

TEST(ClientRequest, WhatHoldsOnlyWhatIsNewIsADelta) {
  EXPECT_FALSE(read("openai_responses", R"({"input":"x","previous_response_id":null})").reconcile.is_delta);
  const ClientRequest after = read("openai_responses", R"({"input":"x","previous_response_id":"resp_1"})");
  EXPECT_TRUE(after.reconcile.is_delta);
  EXPECT_EQ(after.previous_response, "resp_1");
  EXPECT_EQ(read("openai_responses", R"({"input":"x","conversation":{"id":"conv_1"}})").conversation, "conv_1");
  EXPECT_EQ(read("openai_responses", R"({"input":"x","conversation":"conv_2"})").conversation, "conv_2");
  EXPECT_TRUE(read("gemini", R"({"contents":[],"cachedContent":"cachedContents/1"})").reconcile.is_delta);
}

TEST(ClientRequest, AnIdThatADialectLacksDoesNotCount) {
  const auto identities = [](const std::string& contents) {
    std::vector<Identity> found;
    for (const op::Reconcile::Sent& sent : read("gemini", R"({"contents":[)" + contents + "]}").reconcile.list)
      found.push_back(sent.identity);
    return found;
  };
  const std::string call = R"({"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]})";
  const std::string answer = R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]})";
  const std::vector<Identity> both = identities(call + "," + answer + "," + call + "," + answer);
  EXPECT_EQ(both[0], both[2]);
  EXPECT_EQ(both[1], both[3]);
}

TEST(ClientRequest, EveryProfileIsThereByItsName) {
  for (const std::string_view name : client_names()) EXPECT_EQ(find_client(name).value().name, name);
  EXPECT_EQ(find_client("nobody").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace undertext
