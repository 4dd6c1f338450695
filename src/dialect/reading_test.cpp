// What a message says reaches every provider, however it is written.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "history/random_conversation.hpp"
#include "message/redacted.hpp"

namespace undertext {
namespace {

History with(const std::vector<std::string>& messages) {
  std::vector<Message> parsed;
  for (const std::string& json : messages) parsed.push_back(Message::parse(json).value());
  return RandomConversation::applied(History(), op::Append{parsed});
}
History imported(Dialect dialect, std::string_view request) {
  return RandomConversation::applied(
      History(), op::Append{import_messages(dialect, request).value().messages});
}

std::string codes(const Rendering& rendering) {
  std::string text;
  for (const Finding& finding : rendering.findings) text += std::string(finding.code) + " ";
  for (const Loss& loss : rendering.losses) text += std::string(loss.code) + " ";
  return text;
}

constexpr std::string_view dialects[] = {"openai_chat", "openai_responses", "anthropic", "gemini"};

TEST(DialectReading, TheNestedPartsOfDocument000ArriveEverywhere) {
  const History history = with({
      R"({"role":"user","content":[{"type":"text","text":"look"},{"type":"image","image_url":{"url":"https://x/cat.png"}}]})",
      R"({"role":"assistant","content":[{"type":"tool_use","tool_use":{"id":"t1","name":"look","input":{"at":"cat"}}}]})",
      R"({"role":"tool","content":[{"type":"tool_result","tool_result":{"tool_use_id":"t1","content":"a cat"}}]})",
  });
  for (const std::string_view name : dialects) {
    const Rendering out = render(history.view(), find_profile(name).value()).value();
    EXPECT_NE(out.json.find("a cat"), std::string::npos) << name << out.json;
    EXPECT_NE(out.json.find("https://x/cat.png"), std::string::npos) << name << out.json;
    EXPECT_EQ(codes(out), "") << name;
  }
}

TEST(DialectReading, WhatGeminiTakesForAListOfOneIsReadAndSentAsTheList) {
  const std::string listed =
      R"({"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]})";
  const std::string content = R"({"role":"user","parts":[{"text":"hi"}]})";
  for (
      const std::string& given : {
          R"({"systemInstruction":{"parts":{"text":"Be brief."}},"contents":[)" + content + "]}",
          R"({"system_instruction":{"parts":{"text":"Be brief."}},"contents":[)" + content + "]}",
          R"({"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":)" + content + "}",
          std::string(
              R"({"systemInstruction":{"parts":{"text":"Be brief."}},"contents":{"role":"user","parts":{"text":"hi"}}})"),
      }) {
    const History history = imported(Dialect::gemini, given);
    ASSERT_EQ(history.view().size(), 2u) << given;
    EXPECT_EQ(history.view()[0].text(), "Be brief.") << given;
    EXPECT_EQ(history.view()[0].role(), Role::system) << given;
    EXPECT_EQ(history.view()[1].text(), "hi") << given;
    for (const std::string_view name : dialects) {
      const Rendering out = render(history.view(), find_profile(name).value()).value();
      EXPECT_NE(out.json.find("Be brief."), std::string::npos) << name << out.json;
      EXPECT_NE(out.json.find("hi"), std::string::npos) << name << out.json;
      EXPECT_EQ(codes(out), "") << name;
    }
    EXPECT_EQ(validate_request(given, find_profile("gemini").value()).value().size(), 0u) << given;
    const Imported again = import_after(imported(Dialect::gemini, listed).view(),
                                        find_profile("gemini").value(), given)
                               .value();
    EXPECT_TRUE(again.messages.empty() || !again.messages[0].text().empty()) << given;
  }
  const History called = imported(
      Dialect::gemini,
      R"({"contents":[{"role":"user","parts":{"text":"go"}},{"role":"model","parts":{"functionCall":{"id":"a","name":"f","args":{}}}},{"role":"user","parts":{"functionResponse":{"id":"a","name":"f","response":{"output":"found"}}}}]})");
  for (const std::string_view name : dialects) {
    const Rendering out = render(called.view(), find_profile(name).value()).value();
    EXPECT_NE(out.json.find("found"), std::string::npos) << name << out.json;
    EXPECT_EQ(codes(out), "") << name;
  }
}

TEST(DialectReading, WhatGeminiRefusesIsNotReadAsNothing) {
  for (
      const std::string_view bad : {
          R"({"systemInstruction":{"parts":"Be brief."},"contents":[]})",
          R"({"systemInstruction":{"parts":[{"text":"a"}]},"system_instruction":{"parts":[{"text":"b"}]},"contents":[]})",
          R"({"contents":"hi"})",
          R"({"contents":[{"role":"user","parts":"hi"}]})",
          R"({"contents":["hi"]})",
      })
    EXPECT_FALSE(import_messages(Dialect::gemini, bad)) << bad;
}

TEST(DialectReading, ACallThatIsGivenTwiceIsSentOnceWithItsResult) {
  const History history = with({
      R"({"role":"user","content":"look"})",
      R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}],"toolCalls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]})",
      R"({"role":"tool","content":"found","toolCallId":"a"})",
  });
  for (const std::string_view name : dialects)
    EXPECT_EQ(codes(render(history.view(), find_profile(name).value()).value()), "") << name;
  EXPECT_EQ(
      render(history.view(), find_profile("openai_chat").value()).value().json,
      R"({"messages":[{"role":"user","content":"look"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"found"}]})");
}

TEST(DialectReading, ACallMergedIntoAnImportedMessageIsSent) {
  History history = imported(
      Dialect::gemini,
      R"({"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"so"}]}]})");
  history = RandomConversation::applied(
      history,
      op::Append{
          {Message::parse(
               R"({"role":"assistant","content":null,"toolCalls":[{"id":"c","name":"f","arguments":"{}"}]})")
               .value(),
           Message::parse(R"({"role":"tool","content":"found","toolCallId":"c"})").value()}});
  history = RandomConversation::applied(history, op::Merge{{1, 2}});
  for (const std::string_view name : {"openai_chat", "openai_responses", "anthropic"}) {
    const Rendering out = render(history.view(), find_profile(name).value()).value();
    EXPECT_NE(out.json.find("found"), std::string::npos) << out.json;
    EXPECT_EQ(codes(out), "") << name;
  }
}

TEST(DialectReading, ResultsFollowTheCallsThatShareAnId) {
  const std::string parallel =
      render(imported(Dialect::openai_responses, R"({"input":[{"role":"user","content":"q"},
      {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"c1","name":"g","arguments":"{}"},
      {"type":"function_call_output","call_id":"c1","output":"R1"},{"type":"function_call_output","call_id":"c1","output":"R2"}]})")
                 .view(),
             find_profile("openai_responses").value())
          .value()
          .json;
  const auto id_before = [](const std::string& json, std::string_view word) {
    const std::size_t end = json.find(word), at = json.rfind(R"("call_id":")", end) + 11;
    return json.substr(at, json.find('"', at) - at);
  };
  EXPECT_EQ(id_before(parallel, R"("name":"f")"), id_before(parallel, "R1")) << parallel;
  EXPECT_EQ(id_before(parallel, R"("name":"g")"), id_before(parallel, "R2")) << parallel;
  EXPECT_NE(id_before(parallel, "R1"), id_before(parallel, "R2")) << parallel;
  const std::string turns =
      render(imported(Dialect::openai_responses, R"({"input":[{"role":"user","content":"q"},
      {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"R1"},{"role":"user","content":"r"},
      {"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}},
      {"type":"shell_call_output","call_id":"c1","output":[{"stdout":"R2","stderr":"","outcome":{"type":"exit","exit_code":0}}]}]})")
                 .view(),
             find_profile("openai_responses").value())
          .value()
          .json;
  EXPECT_EQ(id_before(turns, R"("name":"f")"), id_before(turns, R"("output":"R1")")) << turns;
  EXPECT_NE(turns.find("shell_call_output"), std::string::npos) << turns;
  EXPECT_NE(turns.find("R2"), std::string::npos) << turns;
}

TEST(DialectReading, ACallOfItsOwnKindWithoutItsResultIsLeftOutAndToldOf) {
  const History history = imported(
      Dialect::openai_responses,
      R"({"input":[{"role":"user","content":"q"},{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}}]})");
  const Rendering out = render(history.view(), find_profile("openai_responses").value()).value();
  EXPECT_EQ(out.json, R"({"input":[{"role":"user","content":"q"}]})");
  EXPECT_EQ(codes(out), "PAIR_MISSING_RESULT L_CALL_DROPPED ");
}

TEST(DialectReading, AToolOfAnotherProviderIsAFunctionElsewhere) {
  const History history =
      imported(Dialect::openai_responses, R"({"input":[{"role":"user","content":"q"},
      {"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}},
      {"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a.txt","stderr":"","outcome":{"type":"exit","exit_code":0}}]}]})");
  EXPECT_EQ(
      render(history.view(), find_profile("openai_chat").value()).value().json,
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{\"commands\":[\"ls\"]}"}}]},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a.txt"}]}]})");
}

TEST(DialectReading, AnItemOfReasoningThatStandsAsAPartIsSentBesideItsCall) {
  const std::string call = R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}"})";
  const std::string result =
      R"({"role":"tool","content":[{"type":"function_call_output","call_id":"c1","output":"r"}]})";
  for (const std::string more : {R"()", R"(,"encrypted_content":"g")"}) {
    const std::string item =
        R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}])" +
        more + "}";
    const std::string both = R"({"role":"assistant","content":[)" + item + "," + call + "]}",
                      alone = R"({"role":"assistant","content":[)" + item + "]}",
                      after = R"({"role":"assistant","content":[)" + call + "]}";
    for (const std::vector<std::string>& messages :
         {std::vector<std::string>{R"({"role":"user","content":"q"})", both, result},
          std::vector<std::string>{R"({"role":"user","content":"q"})", alone, after, result}}) {
      const Rendering out =
          render(with(messages).view(), find_profile("openai_responses").value()).value();
      EXPECT_NE(out.json.find(item + "," + call), std::string::npos) << out.json;
      EXPECT_TRUE(out.losses.empty()) << out.json;
    }
  }
}

TEST(DialectReading, WhatARedactionLeavesIsAccepted) {
  const std::vector<std::string> messages = {
      R"({"role":"user","content":"q"})",
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]})",
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b","content":"y"}]})",
      R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"reasoning","id":"rs","summary":[]}}]})",
      R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}}]})",
      R"({"role":"tool","content":[{"type":"openai_responses","item":{"type":"shell_call_output","call_id":"c","output":[]}}]})",
      R"({"role":"assistant","content":"x","tool_calls":[{"id":"d","type":"function","function":{"name":"f","arguments":"{}"}}]})",
      R"({"role":"tool","tool_call_id":"d","content":"x"})"};
  std::vector<std::string> left;
  for (const std::string& json : messages)
    left.emplace_back(redacted(Message::parse(json).value(), {"me", 5, "private", "0f"}).json());
  for (const std::string_view name : dialects) {
    const Rendering out = render(with(left).view(), find_profile(name).value()).value();
    EXPECT_TRUE(out.findings.empty()) << name << codes(out) << out.json;
  }
}

TEST(DialectReading, AMessageThatStandsAsAnItemIsSentAsThatItem) {
  const std::string item =
      R"({"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"a","annotations":[]}]})";
  const History history =
      with({R"({"role":"user","content":"q"})",
            R"({"role":"assistant","content":[{"type":"openai_responses","item":)" + item + "}]}"});
  EXPECT_EQ(render(history.view(), find_profile("openai_responses").value()).value().json,
            R"({"input":[{"role":"user","content":"q"},)" + item + "]}");
}

}  // namespace
}  // namespace undertext
