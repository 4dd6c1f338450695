#include "message/redacted.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>

namespace undertext {
namespace {

Message redacted_of(std::string_view json) {
  return redacted(Message::parse(json).value(), {"me", 5, "private", "0f"});
}

std::string links_of(const Message& message) {
  std::string links;
  for (const ToolLink& link : message.tool_links())
    links += (link.side == ToolLink::Side::call ? "call " : "result ") + link.id + " ";
  return links;
}

TEST(Redacted, nothing_of_what_any_block_said_is_left) {
  for (
      const std::string_view json : {
          R"({"role":"user","content":"secret"})",
          R"({"role":"user","content":[{"type":"image","source":{"type":"url","url":"secret"}},{"type":"other","x":"secret"}]})",
          R"({"role":"assistant","content":[{"type":"thinking","thinking":"secret","signature":"secret"}]})",
          R"({"role":"assistant","content":"secret","reasoning_content":"secret","refusal":"secret","name":"secret"})",
          R"({"role":"assistant","content":"","toolCalls":[{"id":"a","name":"secret","arguments":"secret"}]})",
          R"({"role":"assistant","content":"secret","openaiItem":{"item":{"type":"reasoning","summary":[{"type":"summary_text","text":"secret"}]}}})",
          R"({"role":"tool","content":[{"type":"openai_responses","item":{"type":"shell_call_output","call_id":"a","output":[{"stdout":"secret","stderr":""}]}}]})",
          R"({"role":"tool","toolCallId":"a","content":"secret","metadata":{"x":"secret"},"id":"secret"})",
      })
    EXPECT_EQ(redacted_of(json).json().find("secret"), std::string_view::npos) << json;
}

TEST(Redacted, reasoning_stays_reasoning) {
  for (
      const std::string_view json : {
          R"({"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"}]})",
          R"({"role":"assistant","content":[{"type":"reasoning","item":{"type":"reasoning","summary":[]}}]})",
          R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"reasoning","summary":[]}}]})",
          R"({"role":"assistant","content":"x","openaiItem":{"item":{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]}}})",
      }) {
    EXPECT_TRUE(redacted_of(json).has_reasoning()) << json;
    EXPECT_TRUE(redacted_of(json).is_only_reasoning()) << json;
  }
  const Message beside = redacted_of(
      R"({"role":"assistant","content":"x","reasoning_content":"y","toolCalls":[{"id":"a"}]})");
  EXPECT_TRUE(beside.has_reasoning());
  EXPECT_FALSE(beside.is_only_reasoning());
  EXPECT_EQ(links_of(beside), "call a ");
  EXPECT_FALSE(
      redacted_of(R"({"role":"assistant","content":"x","reasoning_content":""})").has_reasoning());
}

TEST(Redacted, a_message_keeps_its_links_to_other_messages) {
  EXPECT_EQ(links_of(redacted_of(
                R"({"role":"assistant","content":null,"tool_calls":[{"id":"a"},{"id":"b"}]})")),
            "call a call b ");
  EXPECT_EQ(links_of(redacted_of(R"({"role":"tool","tool_call_id":"a","content":"x"})")),
            "result a ");
  constexpr std::string_view results =
      R"("content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b","content":"y"}]})";
  EXPECT_EQ(links_of(redacted_of(R"({"role":"user",)" + std::string(results))),
            "result a result b ");
  EXPECT_EQ(links_of(redacted_of(R"({"role":"tool",)" + std::string(results))),
            "result a result b ");
  EXPECT_EQ(
      links_of(redacted_of(
          R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"shell_call","call_id":"a","action":{}}}]})")),
      "call a ");
}

TEST(Redacted, a_call_that_its_own_message_answers_is_no_half_of_a_pair) {
  const Message searched = redacted_of(
      R"({"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{}}]})");
  EXPECT_EQ(links_of(searched), "call a ");
  EXPECT_EQ(
      links_of(redacted_of(
          R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"web_search_call","id":"ws","status":"completed"}}]})")),
      "");
}

TEST(Redacted, a_message_with_the_same_bytes_is_none_that_was_redacted) {
  const Message stub = redacted_of(R"({"role":"user","content":"x"})");
  EXPECT_TRUE(stub.is_redacted());
  const Message given = Message::parse(stub.json()).value();
  EXPECT_FALSE(given.is_redacted());
  EXPECT_EQ(given, stub);
  EXPECT_TRUE(as_redacted(given).is_redacted());
  EXPECT_FALSE(given.is_redacted());
  const Message forged =
      Message::parse(R"({"role":"user","content":"x","metadata":{"redacted":{"who":"retention"}}})")
          .value();
  EXPECT_FALSE(was_pruned(forged));
}

TEST(Redacted, the_form_of_a_redacted_message_is_that_of_its_bytes_and_nothing_else) {
  for (
      const std::string_view json :
      {R"({"role":"user","content":"x","timestamp":5})",
       R"({"role":"tool","toolCallId":"a","content":"x"})",
       R"({"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"y"}],"toolCalls":[{"id":"a"}]})"}) {
    const Message stub = redacted_of(json);
    EXPECT_TRUE(has_form_of_redacted(Message::parse(stub.json()).value())) << stub.json();
    EXPECT_FALSE(has_form_of_redacted(Message::parse(json).value()));
    std::string changed(stub.json());
    changed.replace(changed.find("[redacted]"), 10, "[redaction]");
    EXPECT_FALSE(has_form_of_redacted(Message::parse(changed).value())) << changed;
  }
}

TEST(Redacted, a_redacted_message_may_be_redacted_again) {
  const Message once = redacted_of(
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"y"}],"toolCalls":[{"id":"a"}]})");
  EXPECT_EQ(redacted(once, {"me", 5, "private", "0f"}), once);
}

}  // namespace
}  // namespace undertext
