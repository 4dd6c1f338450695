#include <undertext/identity.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace undertext {
namespace {

Identity of(const std::string& json) { return identity(Message::parse(json).value()); }

// What clients send back for what they were given.
struct Pair {
  std::string given, sent;
};

TEST(Identity, AMessageThatComesBackInAnotherSpellingIsTheSame) {
  const std::vector<Pair> pairs = {
      // A string is a list of one text, and markers move.
      {R"({"role":"user","content":"hi"})",
       R"({"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]})"},
      // Keys in another order, other escapes, other white space.
      {R"({"role":"user","content":"caf\u00e9\/"})",
       R"({ "content" : "café/" , "role" : "user" })"},
      // Null, absent and "" are alike.
      {R"({"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]})",
       R"({"role":"assistant","content":"","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"f"},"id":"c","type":"function"}]})"},
      {R"({"role":"assistant","content":[],"toolCalls":[{"id":"c","name":"f","arguments":""}]})",
       R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]})"},
      // Arguments are values: order of keys, spelling of numbers, a string that holds JSON.
      {R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"b":[1.0,-0],"a":1e2}}]})",
       R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{\"a\": 100, \"b\": [1, 0]}"}]})"},
      // Fields of an answer that a client does not send back.
      {R"({"role":"assistant","content":"yes","annotations":[],"audio":null,"id":"msg_1","timestamp":5,"metadata":{"usage":9}})",
       R"({"role":"assistant","content":"yes"})"},
      {R"({"role":"assistant","content":[{"type":"output_text","text":"yes","annotations":[{"url":"u"}],"logprobs":[]}]})",
       R"({"role":"assistant","content":"yes"})"},
      // Items with their ids, states, and what some clients add.
      {R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"web_search_call","id":"ws_1","status":"completed","action":{"query":"x"}}}]})",
       R"({"role":"assistant","content":[{"type":"openai_responses","item":{"action":{"query":"x"},"type":"web_search_call","content":null}}]})"},
      {R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x","queries":null,"sources":[]}}}]})",
       R"({"role":"assistant","content":[{"type":"openai_responses","item":{"action":{"query":"x","type":"search"},"type":"web_search_call"}}]})"},
      // Reasoning that cannot be read: it has an id.
      {R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null,"status":null}}]})",
       R"({"role":"assistant","content":[{"type":"openai_responses","item":{"id":"rs_1","summary":[],"type":"reasoning","status":"completed"}}]})"},
      // What is meant where nothing is said.
      {R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a/b","detail":"auto"}}]})",
       R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a/b"}}]})"},
      // Base64 in the alphabet of URLs, as some SDKs write the bytes that they were given.
      {R"({"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"+\/+/AA=="}}]})",
       R"({"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"-_-_AA"}}]})"},
      // The name of the tool beside the id of its call.
      {R"({"role":"tool","tool_call_id":"c","name":"f","content":"done"})",
       R"({"role":"tool","tool_call_id":"c","content":"done"})"},
      // The result of a tool, as a string or as one text.
      {R"({"role":"tool","toolCallId":"c","content":"done"})",
       R"({"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"done"}]})"},
      {R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done","is_error":false}]})",
       R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"done"}],"cache_control":{"type":"ephemeral"}}]})"},
      // Ids that a reader made for calls without one.
      {R"({"role":"assistant","content":[{"type":"tool_use","id":"gemini_call_3","name":"f","input":{}}]})",
       R"({"role":"assistant","content":[{"type":"tool_use","id":"gemini_call_1","name":"f","input":{}}]})"},
      // A text that is empty beside another.
      {R"({"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"hi"}]})",
       R"({"role":"user","content":"hi"})"},
  };
  for (const Pair& pair : pairs)
    EXPECT_EQ(of(pair.given), of(pair.sent)) << pair.given << '\n' << pair.sent;
}

TEST(Identity, AMessageThatSaysSomethingElseIsAnother) {
  const std::vector<std::string> messages = {
      R"({"role":"user","content":"hi"})",
      R"({"role":"assistant","content":"hi"})",
      R"({"role":"system","content":"hi"})",
      R"({"role":"developer","content":"hi"})",
      R"({"role":"user","name":"x","content":"hi"})",
      R"({"role":"user","content":"hi "})",
      R"({"role":"user","content":"HI"})",
      R"({"role":"user","content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]})",
      R"({"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"https://a/b"}}]})",
      R"({"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"https://a/c"}}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{}"}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"d","name":"f","arguments":"{}"}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"g","arguments":"{}"}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{\"a\":null}"}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{\"a\":\"1\"}"}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{\"a\":1}"}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{\"a\":[1]}"}]})",
      R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"not json"}]})",
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"hi"}]})",
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"t"},{"type":"text","text":"hi"}]})",
      R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"reasoning","id":"rs_1","summary":[]}}]})",
      R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"reasoning","id":"rs_2","summary":[]}}]})",
      R"({"role":"assistant","content":[{"type":"refusal","refusal":"hi"}]})",
      R"({"role":"tool","toolCallId":"c","content":"done"})",
      R"({"role":"tool","toolCallId":"d","content":"done"})",
      R"({"role":"tool","toolCallId":"c","content":"failed"})",
      // The item's own id is that of the call.
      R"({"role":"tool","content":[{"type":"local_shell_call_output","id":"c","output":"done"}]})",
      R"({"role":"tool","content":[{"type":"local_shell_call_output","id":"d","output":"done"}]})",
      R"({"role":"assistant","content":[{"type":"mcp_approval_request","id":"c","name":"f","arguments":"{}"}]})",
      R"({"role":"assistant","content":[{"type":"mcp_approval_request","id":"d","name":"f","arguments":"{}"}]})",
      R"({"role":"assistant","content":[{"type":"server_tool_use","id":"c","name":"f","input":{}}]})",
      R"({"role":"assistant","content":[{"type":"server_tool_use","id":"d","name":"f","input":{}}]})",
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done","is_error":true}]})",
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]})",
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"},{"type":"text","text":"hi"}]})",
      R"({"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}]})",
      R"({"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"context":"a letter"}]})",
      R"({"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"context":"a draft"}]})",
      R"({"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"citations":{"enabled":true}}]})",
  };
  for (std::size_t i = 0; i < messages.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_NE(of(messages[i]), of(messages[j])) << messages[i] << '\n' << messages[j];
}

TEST(Identity, VolatilePartsAreData) {
  const Message one =
      Message::parse(
          R"({"role":"system","content":[{"type":"text","text":"bill: 1"},{"type":"text","text":"be"}]})")
          .value();
  const Message two =
      Message::parse(
          R"({"role":"system","content":[{"type":"text","text":"bill: 2"},{"type":"text","text":"be"}]})")
          .value();
  EXPECT_NE(identity(one), identity(two));
  VolatileParts parts = VolatileParts::common();
  parts.system_texts = {"bill:"};
  EXPECT_EQ(identity(one, parts), identity(two, parts));

  const Message thought =
      Message::parse(R"({"role":"assistant","content":"a","reasoning_content":"hm"})").value();
  const Message said = Message::parse(R"({"role":"assistant","content":"a"})").value();
  EXPECT_NE(identity(thought, parts), identity(said, parts));
  parts.members.push_back("reasoning_content");
  EXPECT_EQ(identity(thought, parts), identity(said, parts));
}

TEST(Identity, ADigestStaysWhatItWasInStoredPages) {
  EXPECT_EQ(of(R"({"role":"user","content":"hi"})"),
            (Identity{0x7906e08131f9b079, 0xeab40173da4dee0a}));
  EXPECT_EQ(
      of(R"({"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"+/+/AA=="}}]})"),
      (Identity{0xc70acae0f377f7dc, 0x01e49ca382afed6e}));
}

}  // namespace
}  // namespace undertext
