// Tools that a provider does not take by their names.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "history/random_conversation.hpp"

namespace undertext {
namespace {

History calling(const std::vector<std::string>& tools) {
  std::vector<Message> messages = {Message::make(Role::user, "q").value()};
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string id = "c" + std::to_string(i);
    messages.push_back(
        Message::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                       R"(","name":")" + tools[i] + R"(","input":{}}]})")
            .value());
    messages.push_back(
        Message::parse(R"({"role":"tool","toolCallId":")" + id + R"(","content":"r"})").value());
  }
  return RandomConversation::applied(History(), op::Append{messages});
}

constexpr Dialect every_dialect[] = {Dialect::openai_chat, Dialect::openai_responses,
                                     Dialect::anthropic, Dialect::gemini};

// The name that a provider knows the caller's tool by.
std::string sent_name(const ToolNames& names, const std::string& own) {
  for (const auto& [sent, name] : names)
    if (name == own) return sent;
  return own;
}

TEST(ToolNames, ThatDifferInForbiddenLettersStayApart) {
  const std::vector<std::string> tools = {"my tool", "my/tool", "my_tool", std::string(130, 'a'),
                                          std::string(131, 'a')};
  for (const Dialect dialect : every_dialect) {
    SCOPED_TRACE(name(dialect));
    const Rendering rendering = render(calling(tools).view(), default_profile(dialect)).value();
    EXPECT_TRUE(validate_request(rendering.json, default_profile(dialect)).value().empty())
        << rendering.json;
    std::set<std::string> sent;
    for (const std::string& tool : tools) {
      sent.insert(sent_name(rendering.tool_names, tool));
      EXPECT_NE(rendering.json.find('"' + sent_name(rendering.tool_names, tool) + '"'),
                std::string::npos)
          << rendering.json;
    }
    EXPECT_EQ(sent.size(), tools.size());
    EXPECT_EQ(rendering.tool_names.size(), tools.size() - 1) << "my_tool is taken as it is";
  }
}

TEST(ToolNames, AreTheSameInEveryRequest) {
  const Profile profile = default_profile(Dialect::openai_chat);
  const ToolNames alone = render(calling({"my.tool"}).view(), profile).value().tool_names;
  const ToolNames among =
      render(calling({"my tool", "my.tool", "my_tool"}).view(), profile).value().tool_names;
  EXPECT_EQ(sent_name(alone, "my.tool"), sent_name(among, "my.tool"));
}

TEST(ToolNames, OfTheRequestsToolsAreMappedToo) {
  const Profile profile = default_profile(Dialect::openai_chat);
  const Rendering rendering =
      render(
          calling({"my.tool"}).view(), profile,
          {.request =
               R"({"tools":[{"type":"function","function":{"name":"my.tool"}},{"type":"function","function":{"name":"b/c"}}]})"})
          .value();
  EXPECT_EQ(rendering.tool_names.size(), 2u);
  EXPECT_EQ(rendering.json.substr(0, rendering.json.find(R"(,"messages")")),
            R"({"tools":[{"type":"function","function":{"name":")" +
                sent_name(rendering.tool_names, "my.tool") +
                R"("}},{"type":"function","function":{"name":")" +
                sent_name(rendering.tool_names, "b/c") + R"("}}])");
  for (const Finding& finding : rendering.findings) EXPECT_NE(finding.code, "TOOL_UNDEFINED");
  // A tool that has the name already keeps it.
  const std::string taken = sent_name(rendering.tool_names, "my.tool");
  const Rendering other =
      render(calling({"my.tool"}).view(), profile,
             {.request = R"({"tools":[{"name":")" + taken + R"("},{"name":"my.tool"}]})"})
          .value();
  EXPECT_NE(sent_name(other.tool_names, "my.tool"), taken);
  EXPECT_EQ(render(calling({"f"}).view(), profile, {.request = R"({"tools":[{"name":"f"}]})"})
                .value()
                .json.find("tools"),
            std::string::npos);
}

struct Answer {
  Dialect dialect;
  std::string json;  // with @ where the tool's name stands
};
const std::vector<Answer>& answers() {
  static const std::vector<Answer> list = {
      {Dialect::openai_chat,
       R"({"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"@","arguments":"{}"},"extra_content":{"x":1}}]}}]})"},
      {Dialect::openai_responses,
       R"({"output":[{"type":"function_call","id":"fc_1","call_id":"a","name":"@","arguments":"{}","status":"completed"}]})"},
      {Dialect::anthropic,
       R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"@","input":{"name":"@"}}],"stop_reason":"tool_use"})"},
      {Dialect::gemini,
       R"({"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"@","args":{}},"thoughtSignature":"s"}]}}]})"},
  };
  return list;
}
std::string naming(std::string json, const std::string& name) {
  const std::size_t at = json.find('@');
  return json.replace(at, 1, name);
}

TEST(ToolNames, OfAnAnswerAreTheCallersAgain) {
  const std::string own = "mein/werkzeug mit leerzeichen";
  for (const Answer& answer : answers()) {
    SCOPED_TRACE(answer.json);
    const Profile profile = default_profile(answer.dialect);
    const History asked = calling({own});
    const Rendering rendering = render(asked.view(), profile).value();
    const std::string sent = sent_name(rendering.tool_names, own);
    ASSERT_NE(sent, own);
    const Imported imported =
        import_messages(answer.dialect, naming(answer.json, sent), {}, rendering.tool_names)
            .value();
    ASSERT_EQ(imported.messages.size(), 1u);
    EXPECT_NE(imported.messages[0].json().find(own), std::string::npos)
        << imported.messages[0].json();
    EXPECT_EQ(imported.messages[0].json().find(sent), std::string::npos)
        << imported.messages[0].json();
    // What it answers goes back to the provider under the name that it gave.
    History going_on = RandomConversation::applied(asked, op::Append{imported.messages});
    going_on = RandomConversation::applied(
        going_on,
        op::Append{{Message::parse(R"({"role":"tool","toolCallId":"a","content":"r"})").value()}});
    const Rendering next = render(going_on.view(), profile).value();
    EXPECT_EQ(next.tool_names, rendering.tool_names);
    EXPECT_EQ(next.json.find(own), std::string::npos) << next.json;
    const bool is_kept = next.json.find(R"("extra_content":{"x":1})") != std::string::npos;
    EXPECT_TRUE(is_kept || answer.dialect != Dialect::openai_chat) << next.json;
    // A client that repeats all that it was sent needs no names for tools that the conversation has
    // called.
    const Imported back = import_after(asked.view(), profile, next.json).value();
    EXPECT_EQ(back.known, asked.view().size());
    ASSERT_FALSE(back.messages.empty());
    EXPECT_NE(back.messages[0].json().find(own), std::string::npos) << back.messages[0].json();
  }
}

TEST(ToolNames, OfAStreamAreTheCallersAgain) {
  const ToolNames names = {{"my_f_1", "my.f"}};
  StreamAssembler anthropic(Dialect::anthropic, names), responses(Dialect::openai_responses, names);
  for (
      const char* event :
      {R"({"type":"message_start","message":{"role":"assistant","content":[]}})",
       R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"my_f_1","input":{}}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"name\":\"my_f_1\"}"}})",
       R"({"type":"content_block_stop","index":0})", R"({"type":"message_stop"})"})
    ASSERT_TRUE(anthropic.feed(event));
  const std::string message = anthropic.finish().message;
  EXPECT_NE(message.find(R"("name":"my.f")"), std::string::npos) << message;
  EXPECT_NE(message.find(R"({"name":"my_f_1"})"), std::string::npos)
      << "arguments are the model's own: " << message;
  ASSERT_TRUE(responses.feed(
      R"({"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"my_f_1","arguments":"{}"}})"));
  EXPECT_NE(responses.finish().message.find(R"("name":"my.f")"), std::string::npos);
}

}  // namespace
}  // namespace undertext
