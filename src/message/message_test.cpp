#include <undertext/message.hpp>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace undertext {
namespace {

using namespace std::string_literals;

Message parsed(std::string_view json) { return Message::parse(json).value(); }

void accepts(std::string_view json, Role role) {
  const Result<Message> message = Message::parse(json);
  ASSERT_TRUE(message) << json << ": " << message.error().message;
  EXPECT_EQ(message->role(), role) << json;
  EXPECT_EQ(message->json(), json);
}

// A path of "" stands for the field itself.
void refuses(std::string_view json, std::string_view field, std::string_view path = "") {
  const Result<Message> message = Message::parse(json);
  ASSERT_FALSE(message) << json;
  EXPECT_EQ(message.error().code, ErrorCode::invalid_argument) << json;
  EXPECT_EQ(message.error().field, field) << json << ": " << message.error().message;
  EXPECT_EQ(message.error().path, path) << json << ": " << message.error().message;
  EXPECT_FALSE(message.error().message.empty()) << json;
}

TEST(Message, the_bytes_come_back_as_they_were_given) {
  for (
      const std::string_view json : {
          R"({"role":"user","content":"Hello"})",
          R"({ "content" : "caf\u00e9 \/ \ud83d\ude00 é" ,  "role":"user", "n": 1.50e+007, "m":123456789012345678901234567890 })",
          R"({"zebra":1,"role":"user","apple":{"b":2,"a":[ ]},"content":[{"type":"x-unknown","y":null}]})",
          R"({"role":"user","content":"\ud83d","\u0061":1e400})",
      })
    EXPECT_EQ(parsed(json).json(), json);
}

TEST(Message, surrounding_white_space_is_not_kept) {
  EXPECT_EQ(parsed(" \t\r\n{ \"role\":\"user\",\"content\":\"x\"} \n").json(),
            "{ \"role\":\"user\",\"content\":\"x\"}");
}

TEST(Message, role_and_content_are_needed_and_have_few_values) {
  accepts(R"({"role":"system","content":"x"})", Role::system);
  accepts(R"({"role":"developer","content":"x"})", Role::system);
  accepts(R"({"role":"user","content":"x"})", Role::user);
  accepts(R"({"role":"assistant","content":"x"})", Role::assistant);
  accepts(R"({"role":"tool","content":"x"})", Role::tool);
  accepts(R"({"role":"us\u0065r","content":"x"})", Role::user);
  accepts(R"({"r\u006fle":"user","content":"x"})", Role::user);
  accepts(R"({"role":"user","content":" "})", Role::user);
  accepts(R"({"role":"user","content":[{"type":"text","text":""}]})", Role::user);
  accepts(R"({"role":"user","content":[{}]})", Role::user);

  refuses(R"({"content":"x"})", "role");
  for (const char* role :
       {"\"\"", "\"User\"", "\"function\"", "\"user \"", "null", "1", "[\"user\"]", "{}"})
    refuses("{\"role\":"s + role + ",\"content\":\"x\"}", "role");
  refuses(R"({"role":"user"})", "content");
  for (const char* content : {"1", "true", "{}", R"({"type":"text","text":"x"})"})
    refuses("{\"role\":\"user\",\"content\":"s + content + "}", "content");
}

TEST(Message, an_unknown_role_is_answered_with_the_four_that_are_known) {
  const std::string message = Message::parse(R"({"role":"bot","content":"x"})").error().message;
  for (const char* role : {"system", "user", "assistant", "tool"})
    EXPECT_NE(message.find(role), std::string::npos) << message;
}

TEST(Message, saying_nothing_is_for_tools_and_for_assistants_that_call_them) {
  const auto with = [](const char* role, const char* content, const char* more = "") {
    return "{\"role\":\""s + role + "\",\"content\":" + content + more + "}";
  };
  constexpr const char* call = R"(,"toolCalls":[{"id":"c1"}])";
  for (const char* role : {"system", "developer", "user", "assistant"})
    for (const char* content : {"\"\"", "null", "[]"}) {
      refuses(with(role, content), "content");
      refuses(with(role, content, R"(,"toolCalls":[])"), "content");
      refuses(with(role, content, R"(,"tool_calls":[])"), "content");
    }
  for (const char* content : {"\"\"", "null", "[]"}) {
    accepts(with("assistant", content, call), Role::assistant);
    accepts(with("assistant", content, R"(,"tool_calls":[{}])"), Role::assistant);
    refuses(with("user", content, call), "content");
    refuses(with("system", content, call), "content");
  }
  accepts(R"({"toolCalls":[{"id":"c1"}],"content":null,"role":"assistant"})", Role::assistant);
  accepts(with("tool", "\"\""), Role::tool);
  accepts(with("tool", "[]"), Role::tool);
  refuses(with("tool", "null"), "content");
  refuses(with("tool", "null", call), "content");
  refuses(R"({"role":"assistant","toolCalls":[{"id":"c1"}]})", "content");
}

TEST(Message, optional_fields_are_checked_when_they_are_there) {
  const auto with = [](const std::string& member) {
    return R"({"role":"user","content":"x",)" + member + "}";
  };
  for (const char* fine :
       {R"("id":"m1")", R"("id":"")", R"("timestamp":0)", R"("timestamp":-1)",
        R"("timestamp":1700000000000)", R"("timestamp":9223372036854775807)", R"("toolCalls":[])",
        R"("toolCalls":[{"id":"a"},{"name":"b"}])", R"("tool_calls":[{}])", R"("toolCallId":"a")",
        R"("tool_call_id":"a")", R"("metadata":{})", R"("metadata":{"a":[1]})", R"("name":5)",
        R"("other":null)"})
    accepts(with(fine), Role::user);
  struct Case {
    const char* member;
    const char* field;
    const char* path;
  };
  for (const Case& c : std::initializer_list<Case>{
           {R"("id":1)", "id", ""},
           {R"("timestamp":1.5)", "timestamp", ""},
           {R"("timestamp":1.0)", "timestamp", ""},
           {R"("timestamp":1e3)", "timestamp", ""},
           {R"("timestamp":"1")", "timestamp", ""},
           {R"("timestamp":null)", "timestamp", ""},
           {R"("timestamp":9223372036854775808)", "timestamp", ""},
           {R"("toolCalls":{})", "toolCalls", ""},
           {R"("toolCalls":"x")", "toolCalls", ""},
           {R"("toolCalls":["x"])", "toolCalls", "toolCalls[0]"},
           {R"("toolCalls":[{"id":"a"},{"id":1}])", "toolCalls", "toolCalls[1].id"},
           {R"("tool_calls":1)", "tool_calls", ""},
           {R"("tool_calls":[[]])", "tool_calls", "tool_calls[0]"},
           {R"("toolCallId":1)", "toolCallId", ""},
           {R"("tool_call_id":[])", "tool_call_id", ""},
           {R"("metadata":[])", "metadata", ""},
           {R"("metadata":"x")", "metadata", ""},
       })
    refuses(with(c.member), c.field, c.path);
}

TEST(Message, parts_are_objects_whose_type_is_a_string) {
  refuses(R"({"role":"user","content":["x"]})", "content", "content[0]");
  refuses(R"({"role":"user","content":[{"type":"text"},null]})", "content", "content[1]");
  refuses(R"({"role":"user","content":[{"type":1}]})", "content", "content[0].type");
  refuses(R"({"role":"tool","content":[[]]})", "content", "content[0]");
  accepts(R"({"role":"user","content":[{"type":"text"},{"type":"tool_use","id":7},{"kind":"?"}]})",
          Role::user);
}

TEST(Message, what_is_no_JSON_object_is_refused) {
  for (const char* json : {"[]", "null", "\"x\"", "1"}) refuses(json, "");
  for (const char* json : {"", "{", "{\"role\":\"user\",\"content\":\"x\"} x", "{'role':'user'}"}) {
    refuses(json, "");
    EXPECT_TRUE(Message::parse(json).error().byte_offset) << json;
  }
}

TEST(Message, the_byte_of_an_error_counts_from_the_text_given) {
  const Error error = Message::parse("  {\"role\":\"user\",\"content\":\"caf\xe9\"}").error();
  EXPECT_EQ(error.byte_offset, 31u);
  EXPECT_EQ(error.message, "invalid UTF-8 at byte 31");
}

TEST(Message, a_repeated_key_is_the_field_at_fault) {
  refuses(R"({"role":"user","content":"x","role":"user"})", "role");
  refuses(R"({"role":"user","content":"x","\u0063ontent":"y"})", "content");
  refuses(R"({"role":"user","content":"x","metadata":{"a":1,"a":1}})", "a");
}

TEST(Message, nesting_counts_the_message_itself) {
  const auto nested = [](std::size_t depth) {
    return R"({"role":"user","content":"x","deep":)" + std::string(depth - 1, '[') +
           std::string(depth - 1, ']') + "}";
  };
  EXPECT_TRUE(Message::parse(nested(128)));
  refuses(nested(129), "deep", "deep[0][0][0][0][0][0][0]");
  EXPECT_NE(Message::parse(nested(129)).error().message.find("128"), std::string::npos);
  EXPECT_TRUE(Message::parse(nested(512), {.depth = 512}));
  EXPECT_FALSE(Message::parse(nested(513), {.depth = 512}));
  EXPECT_EQ(Message::parse(nested(512), {.depth = 512}).value().text(), "x");
}

TEST(Message, a_message_over_the_limit_is_too_large_and_one_at_the_limit_is_not) {
  const std::string json = R"({"role":"user","content":"Hello"})";
  EXPECT_TRUE(Message::parse("  " + json + "  ", {.message_bytes = json.size()}));
  const Result<Message> refused = Message::parse(json, {.message_bytes = json.size() - 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
  const std::string at_limit =
      R"({"role":"user","content":")" + std::string((16u << 20) - 28, 'x') + R"("})";
  ASSERT_EQ(at_limit.size(), 16u << 20);
  EXPECT_TRUE(Message::parse(at_limit));
  EXPECT_EQ(Message::parse(at_limit + at_limit).error().code, ErrorCode::too_large);
}

TEST(Message, a_timestamp_is_kept_in_full) {
  EXPECT_EQ(parsed(R"({"role":"user","content":"x"})").timestamp_ms(), std::nullopt);
  EXPECT_EQ(parsed(R"({"role":"user","content":"x","timestamp":1700000000001})").timestamp_ms(),
            1700000000001);
  EXPECT_EQ(
      parsed(R"({"timestamp":-9223372036854775808,"role":"user","content":"x"})").timestamp_ms(),
      std::numeric_limits<std::int64_t>::min());
}

TEST(Message, the_text_is_the_string_or_the_text_parts_and_tool_results_joined_by_newlines) {
  struct Case {
    std::string_view content;
    std::string_view text;
  };
  for (
      const Case& c : std::initializer_list<Case>{
          {R"("Hello")", "Hello"},
          {R"("a\n\"b\" \u00e9 \ud83d\ude00")", "a\n\"b\" é 😀"},
          {R"([{"type":"text","text":"one"}])", "one"},
          {R"([{"type":"text","text":"one"},{"type":"text","text":"two\t"}])", "one\ntwo\t"},
          {R"([{"type":"text","text":""},{"type":"text","text":"two"}])", "\ntwo"},
          {R"([{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"b"}},{"type":"thinking","thinking":"c"}])",
           "a"},
          {R"([{"type":"tool_use","id":"t","name":"f","input":{"text":"hidden"}}])", ""},
          {R"([{"type":"tool_result","tool_use_id":"t","content":"r"}])", "r"},
          {R"([{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r1"},{"type":"image"},{"type":"text","text":"r2"}]}])",
           "r1\nr2"},
          {R"([{"type":"tool_result","tool_result":{"tool_use_id":"t","content":"inner"}}])",
           "inner"},
          {R"([{"type":"tool_result","tool_result":{"tool_use_id":"t","content":[{"type":"text","text":"inner"}]}}])",
           "inner"},
          {R"([{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"t","content":"b"},{"type":"text","text":"c"}])",
           "a\nb\nc"},
          {R"([{"type":"text"},{"type":"text","text":7},{"type":"tool_result"},{"type":"tool_result","content":7},{"text":"untyped"}])",
           ""},
      }) {
    EXPECT_EQ(parsed(R"({"role":"user","content":)" + std::string(c.content) + "}").text(), c.text)
        << c.content;
  }
  EXPECT_EQ(
      parsed(
          R"({"role":"assistant","content":null,"toolCalls":[{"id":"t","arguments":"hidden"}],"name":"hidden"})")
          .text(),
      "");
}

TEST(Message, a_search_finds_what_the_text_contains_and_nothing_else) {
  const Message plain =
      parsed(R"({"role":"user","content":"The user said: hello","note":"secret"})");
  EXPECT_TRUE(plain.text_contains("hello"));
  EXPECT_TRUE(plain.text_contains("user"));
  EXPECT_TRUE(plain.text_contains(""));
  EXPECT_FALSE(plain.text_contains("Hello"));
  EXPECT_FALSE(plain.text_contains("role"));
  EXPECT_FALSE(plain.text_contains("secret"));
  EXPECT_FALSE(plain.text_contains("hello\",\"note"));

  const Message escaped = parsed(R"({"role":"user","content":"a\nb \"q\" caf\u00e9 C:\\new"})");
  EXPECT_TRUE(escaped.text_contains("a\nb"));
  EXPECT_TRUE(escaped.text_contains("\"q\""));
  EXPECT_TRUE(escaped.text_contains("café"));
  EXPECT_TRUE(escaped.text_contains("\\new"));
  EXPECT_FALSE(escaped.text_contains("\\n\\"));
  EXPECT_FALSE(escaped.text_contains("nb"));
  EXPECT_FALSE(escaped.text_contains("u00e9"));

  const Message parts = parsed(
      R"({"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]})");
  EXPECT_TRUE(parts.text_contains("one\ntwo"));
  EXPECT_TRUE(parts.text_contains("\n"));
  EXPECT_FALSE(parts.text_contains("onetwo"));
  EXPECT_FALSE(parts.text_contains("one\n\ntwo"));
  EXPECT_FALSE(parts.text_contains("text"));
}

TEST(Message, a_search_takes_linear_time_whatever_is_searched) {
  const Message message =
      parsed(R"({"role":"user","content":")" + std::string(8u << 20, 'a') + R"("})");
  EXPECT_FALSE(
      message.text_contains(std::string(1u << 20, 'a') + "b" + std::string(1u << 20, 'a')));
}

TEST(Message, tool_links_are_the_ids_of_calls_and_results_each_once) {
  struct Case {
    std::string_view members;
    std::vector<ToolLink> links;
  };
  constexpr auto call = ToolLink::Side::call;
  constexpr auto result = ToolLink::Side::result;
  for (
      const Case& c : std::initializer_list<Case>{
          {R"("role":"user","content":"x")", {}},
          {R"("role":"assistant","content":null,"toolCalls":[{"id":"a"},{"id":"b"},{"id":"a"},{"name":"c"}])",
           {{call, "a"}, {call, "b"}}},
          {R"("role":"assistant","content":"","tool_calls":[{"id":"\u0061"}])", {{call, "a"}}},
          {R"("role":"assistant","content":[{"type":"tool_use","id":"u"},{"type":"tool_use","tool_use":{"id":"v"}}])",
           {{call, "u"}, {call, "v"}}},
          {R"("role":"tool","content":"","toolCallId":"a")", {{result, "a"}}},
          {R"("role":"tool","content":"","tool_call_id":"a")", {{result, "a"}}},
          {R"("role":"user","content":[{"type":"tool_result","tool_use_id":"u"},{"type":"tool_result","tool_result":{"tool_use_id":"v"}}])",
           {{result, "u"}, {result, "v"}}},
          {R"("role":"assistant","content":[{"type":"tool_result","tool_use_id":"a"}],"toolCalls":[{"id":"a"}])",
           {{call, "a"}, {result, "a"}}},
          {R"("role":"assistant","content":"x","toolCallId":"a")", {}},
          {R"("role":"tool","content":"","toolCallId":"")", {}},
          {R"("role":"assistant","content":null,"toolCalls":[{"id":""}])", {}},
          {R"("role":"assistant","content":[{"type":"tool_use","id":7},{"type":"text","id":"u"}])",
           {}},
      }) {
    const Message message = parsed("{" + std::string(c.members) + "}");
    EXPECT_EQ(message.tool_links(), c.links) << c.members;
    EXPECT_EQ(message.has_tool_links(), !c.links.empty()) << c.members;
  }
}

TEST(Message, id_and_metadata_are_there_when_they_were_given) {
  const Message bare = parsed(R"({"role":"tool","content":"x"})");
  EXPECT_EQ(bare.id(), std::nullopt);
  EXPECT_EQ(bare.metadata_json(), "");
  const Message full = parsed(
      R"({"id":"m\u0031","tool_call_id":"c1","metadata":{ "a":1 },"role":"tool","content":"x"})");
  EXPECT_EQ(full.id(), "m1");
  EXPECT_EQ(full.metadata_json(), R"({ "a":1 })");
}

TEST(Message, copies_share_the_bytes_and_outlive_the_original) {
  Message kept = parsed(R"({"role":"user","content":"old"})");
  const char* bytes = nullptr;
  {
    const Message original = parsed(R"({"role":"user","content":"shared"})");
    bytes = original.json().data();
    kept = original;
  }
  EXPECT_EQ(kept.json().data(), bytes);
  EXPECT_EQ(kept.text(), "shared");
  Message moved = std::move(kept);
  kept = moved;
  EXPECT_EQ(kept, moved);
  Message target = std::move(moved);
  moved = std::move(target);
  EXPECT_EQ(moved.text(), "shared");
}

TEST(Message, messages_are_equal_when_their_bytes_are) {
  EXPECT_EQ(parsed(R"({"role":"user","content":"x"})"),
            parsed(R"( {"role":"user","content":"x"})"));
  EXPECT_NE(parsed(R"({"role":"user","content":"x"})"), parsed(R"({"content":"x","role":"user"})"));
}

TEST(Message, any_thread_may_copy_and_read_the_same_message) {
  const Message shared = parsed(R"({"role":"user","content":"shared\n"})");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([shared] {
      for (int k = 0; k < 1000; ++k) {
        const Message copy = shared;
        EXPECT_EQ(copy.text(), "shared\n");
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Message, roles_have_the_names_they_are_given_by) {
  for (const Role role : {Role::system, Role::user, Role::assistant, Role::tool})
    EXPECT_EQ(role_named(name(role)), role);
  EXPECT_EQ(role_named("developer"), std::nullopt);
  EXPECT_EQ(role_named(""), std::nullopt);
}

TEST(Message, AnOptionalMemberThatIsNullIsKeptAndCountsAsAbsent) {
  const Message m = parsed(
      R"({"role":"assistant","content":"x","id":null,"toolCalls":null,"tool_calls":null,"toolCallId":null,"metadata":null})");
  EXPECT_EQ(m.id(), std::nullopt);
  EXPECT_EQ(m.metadata_json(), "");
  EXPECT_FALSE(m.has_tool_links());
  EXPECT_TRUE(m.tool_links().empty());
  refuses(R"({"role":"assistant","content":null,"toolCalls":null})", "content");
}

TEST(Message, CanBeMadeOfARoleAndAText) {
  EXPECT_EQ(Message::make(Role::tool, "a \"b\"\n\x01").value().json(),
            R"({"role":"tool","content":"a \"b\"\n\u0001"})");
  EXPECT_EQ(Message::make(Role::user, "").error().field, "content");
  EXPECT_EQ(Message::make(Role::user, "\xff").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace undertext
