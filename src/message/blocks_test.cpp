// tests/scenarios/blocks.json has what is read of every format, for all APIs. Here is what only C++
// can see.
#include <undertext/blocks.hpp>

#include <gtest/gtest.h>

#include "message/edit.hpp"

namespace undertext {
namespace {

Message parsed(std::string_view json) { return Message::parse(json).value(); }

// An item of the Responses API in the engine's own form.
Message item(std::string_view role, std::string_view json) {
  return parsed(R"({"role":")" + std::string(role) +
                R"(","content":[{"type":"openai_responses","item":)" + std::string(json) + "}]}");
}

std::string links_of(const Message& message) {
  std::string links;
  for (const ToolLink& link : message.tool_links())
    links += (link.side == ToolLink::Side::call ? "call " : "result ") + link.id + " ";
  return links;
}

TEST(Blocks, every_kind_of_call_and_result_is_linked_by_its_id) {
  struct Case {
    std::string_view role, item, links;
  };
  for (
      const Case& c : {
          Case{"assistant", R"({"type":"shell_call","id":"sh_1","call_id":"c","action":{}})",
               "call c "},
          Case{"tool", R"({"type":"shell_call_output","call_id":"c","output":[]})", "result c "},
          Case{"assistant", R"({"type":"local_shell_call","id":"ls_1","call_id":"c","action":{}})",
               "call c "},
          Case{"tool", R"({"type":"local_shell_call_output","id":"c","output":""})", "result c "},
          Case{"assistant", R"({"type":"apply_patch_call","call_id":"c","operation":{}})",
               "call c "},
          Case{"tool", R"({"type":"apply_patch_call_output","call_id":"c","status":"completed"})",
               "result c "},
          Case{"assistant", R"({"type":"computer_call","id":"cu_1","call_id":"c","action":{}})",
               "call c "},
          Case{
              "tool",
              R"({"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot"}})",
              "result c "},
          Case{"assistant", R"({"type":"custom_tool_call","call_id":"c","name":"f","input":""})",
               "call c "},
          Case{"assistant",
               R"({"type":"mcp_approval_request","id":"r","name":"f","arguments":"{}"})",
               "call r "},
          Case{"tool",
               R"({"type":"mcp_approval_response","approval_request_id":"r","approve":true})",
               "result r "},
          Case{"assistant", R"({"type":"some_new_tool_call","call_id":"c"})", "call c "},
          Case{"tool", R"({"type":"some_new_tool_call_output","call_id":"c"})", "result c "},
          // These hold their own result, so they are no half of a pair.
          Case{"assistant", R"({"type":"web_search_call","id":"ws_1","status":"completed"})", ""},
          Case{"assistant",
               R"({"type":"mcp_call","id":"mcp_1","name":"f","arguments":"{}","output":"x"})", ""},
      })
    EXPECT_EQ(links_of(item(c.role, c.item)), c.links) << c.item;
  EXPECT_EQ(
      links_of(parsed(
          R"({"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]})")),
      "call s ");
}

TEST(Blocks, reasoning_is_known_in_every_format) {
  struct Case {
    std::string_view members;
    bool has, only;
  };
  for (
      const Case& c : {
          Case{R"("content":"x")", false, false},
          Case{R"("content":[{"type":"thinking","thinking":"hm","signature":"s"}])", true, true},
          Case{R"("content":[{"type":"redacted_thinking","data":"s"},{"type":"text","text":"x"}])",
               true, false},
          Case{R"("content":[{"type":"reasoning","item":{"type":"reasoning","summary":[]}}])", true,
               true},
          Case{
              R"("content":[{"type":"reasoning","text":"hm"},{"type":"tool_use","id":"a","name":"f","input":{}}])",
              true, false},
          Case{R"("content":"","toolCalls":[{"id":"a"}],"reasoning_content":"hm")", true, false},
          Case{R"("content":"x","reasoning":"hm")", true, false},
          Case{R"("content":"x","reasoning_details":[{"type":"reasoning.encrypted","data":"s"}])",
               true, false},
          Case{R"("content":"x","reasoning_content":"","reasoning":"","reasoning_details":[])",
               false, false},
          Case{
              R"("content":"x","reasoning_content":null,"reasoning":null,"reasoning_details":null)",
              false, false},
          Case{R"("content":"reasoning","openaiItem":{"item":{"type":"reasoning","summary":[]}})",
               true, true},
          Case{R"("content":"edited","openaiItem":{"item":{"type":"reasoning","summary":[]}})",
               false, false},
      }) {
    const Message message = parsed(R"({"role":"assistant",)" + std::string(c.members) + "}");
    EXPECT_EQ(message.has_reasoning(), c.has) << c.members;
    EXPECT_EQ(message.is_only_reasoning(), c.only) << c.members;
  }
}

TEST(Blocks, the_text_of_an_item_is_found_and_edited_where_it_stands) {
  const Message output = item(
      "tool",
      R"({"type":"shell_call_output","call_id":"c","output":[{"stdout":"caf\u00e9 au lait","stderr":"warning","outcome":{"type":"exit","exit_code":0}}]})");
  EXPECT_EQ(output.text(), "café au lait\nwarning");
  EXPECT_TRUE(output.text_contains("au lait"));
  EXPECT_EQ(
      truncate_text(output, {.chars_max = 4, .keep = TruncateText::Keep::head, .marker = "…"}, {})
          .value(),
      item(
          "tool",
          R"({"type":"shell_call_output","call_id":"c","output":[{"stdout":"caf\u00e9…","stderr":"warn…","outcome":{"type":"exit","exit_code":0}}]})"));
}

TEST(Blocks, a_cleared_result_stays_what_its_provider_takes) {
  const StubOf stub = [](std::string_view id) {
    return std::optional("cleared " + std::string(id));
  };
  EXPECT_EQ(
      replace_tool_results(
          item(
              "tool",
              R"({"type":"shell_call_output","call_id":"c","output":[{"stdout":"long","stderr":"text","outcome":{"type":"timeout"}}]})"),
          stub, {})
          .value(),
      item(
          "tool",
          R"({"type":"shell_call_output","call_id":"c","output":[{"stdout":"cleared c","stderr":"","outcome":{"type":"timeout"}}]})"));
  EXPECT_EQ(
      replace_tool_results(
          item("tool", R"({"type":"apply_patch_call_output","call_id":"c","output":"long"})"), stub,
          {})
          .value(),
      item("tool", R"({"type":"apply_patch_call_output","call_id":"c","output":"cleared c"})"));
  const Message screenshot = item(
      "tool",
      R"({"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"data:…"}})");
  EXPECT_EQ(replace_tool_results(screenshot, stub, {}).value(), screenshot);
}

TEST(Blocks, what_came_of_a_call_that_holds_its_own_result_is_text) {
  struct Case {
    std::string_view item, text;
    bool is_error;
  };
  for (
      const Case& c : {
          Case{
              R"({"type":"mcp_call","id":"m","name":"f","arguments":"{\"q\":1}","output":"caf\u00e9","error":null})",
              "café", false},
          Case{
              R"({"type":"mcp_call","id":"m","name":"f","arguments":"{}","error":{"type":"http_error","message":"no host"}})",
              "no host", true},
          Case{
              R"({"type":"mcp_call","id":"m","name":"f","arguments":"{}","output":"half","error":"cut"})",
              "half\ncut", true},
          Case{
              R"({"type":"code_interpreter_call","id":"c","code":"1+1","outputs":[{"type":"logs","logs":"2"},{"type":"image","url":"u"}]})",
              "2", false},
          Case{
              R"({"type":"file_search_call","id":"f","queries":["q"],"results":[{"text":"one"},{"text":"two"}]})",
              "one\ntwo", false},
          Case{R"({"type":"web_search_call","id":"w","action":{"query":"q"}})", "", false},
      }) {
    const Message message = item("assistant", c.item);
    EXPECT_EQ(message.text(), c.text) << c.item;
    EXPECT_EQ(links_of(message), "") << c.item;
    const std::vector<ContentBlock> blocks = read_blocks(message);
    ASSERT_EQ(blocks.size(), 1u) << c.item;
    EXPECT_EQ(blocks[0].kind, ContentBlock::Kind::call) << c.item;
    EXPECT_EQ(blocks[0].is_error, c.is_error) << c.item;
    std::string said;
    for (const ContentBlock& block : blocks[0].blocks)
      said += (said.empty() ? "" : "\n") + block.text;
    EXPECT_EQ(said, c.text) << c.item;
  }
  const Message before =
      item("assistant",
           R"({"type":"mcp_call","id":"m","name":"key","arguments":"key","output":"the key"})");
  EXPECT_EQ(
      replace_text(before, {.find = "key", .with = "door"}, {}).value(),
      item("assistant",
           R"({"type":"mcp_call","id":"m","name":"key","arguments":"key","output":"the door"})"));
}

TEST(Blocks, calls_of_Gemini_without_ids_are_told_apart) {
  const Message message = parsed(
      R"({"role":"assistant","content":[{"type":"gemini","item":{"functionCall":{"name":"f","args":{}}}},{"type":"gemini","item":{"functionCall":{"name":"g","args":{}}}}]})");
  const std::vector<ContentBlock> blocks = read_blocks(message);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_NE(blocks[0].call_id, blocks[1].call_id);
  EXPECT_EQ(links_of(message), "");
}

// A block takes a hundred times the three bytes of `{},`.
TEST(Blocks, a_message_has_one_part_or_call_for_each_64_bytes_of_its_limit) {
  const auto list = [](std::string_view element, std::size_t count) {
    std::string all = "[";
    for (std::size_t k = 0; k < count; ++k) (all += k > 0 ? "," : "") += element;
    return all + "]";
  };
  const MessageLimits limits{.message_bytes = 64 * 5000};
  const auto code_of = [&](const std::string& json) {
    const Result<Message> message = Message::parse(json, limits);
    return message ? std::string("ok") : std::string(name(message.error().code));
  };
  const auto calls = [&](std::size_t count) {
    return R"({"role":"assistant","content":null,"toolCalls":)" + list("{}", count) + "}";
  };
  const auto parts = [&](std::size_t count) {
    return R"({"role":"user","content":)" + list("{}", count) + "}";
  };
  const auto results = [&](std::size_t count) {
    return R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":)" +
           list("{}", count) + "}]}";
  };
  const auto gemini = [&](std::size_t count) {
    return R"({"role":"user","content":[{"type":"gemini","item":{"functionResponse":{"name":"f","response":{},"parts":)" +
           list("{}", count) + "}}}]}";
  };
  EXPECT_EQ(code_of(calls(5000)), "ok");
  EXPECT_EQ(code_of(calls(5001)), "too_large");
  EXPECT_EQ(code_of(parts(5000)), "ok");
  EXPECT_EQ(code_of(parts(5001)), "too_large");
  EXPECT_EQ(code_of(results(4999)), "ok");
  EXPECT_EQ(code_of(results(5000)), "too_large");
  EXPECT_EQ(code_of(gemini(4999)), "ok");
  EXPECT_EQ(code_of(gemini(5000)), "too_large");
  EXPECT_TRUE(Message::parse(calls(200'000)));
  EXPECT_FALSE(Message::parse(calls(300'000)));
}

TEST(Blocks, a_message_of_many_calls_is_read_in_linear_time) {
  std::string calls;
  for (int i = 0; i < 100'000; ++i)
    calls += (i > 0 ? "," : "") + std::string(R"({"id":"c)") + std::to_string(i) +
             R"(","name":"f","arguments":"{}"})";
  const Message message = parsed(R"({"role":"assistant","content":"","toolCalls":[)" + calls +
                                 R"(],"tool_calls":[)" + calls + "]}");
  EXPECT_EQ(read_blocks(message).size(), 100'000u);
  EXPECT_EQ(message.tool_links().size(), 100'000u);
}

}  // namespace
}  // namespace undertext
