// Requests that no client should send, as fuzzing finds them: what is rendered for any profile is
// accepted, and its own dialect gets it as it came.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "history/random_conversation.hpp"

namespace undertext {
namespace {

History imported(Dialect dialect, const std::string& request) {
  return RandomConversation::applied(
      History(), op::Append{import_messages(dialect, request).value().messages});
}

void expect_same(Dialect dialect, const std::string& request) {
  const History history = imported(dialect, request);
  EXPECT_EQ(render(history.view(), default_profile(dialect), {.repair = false}).value().json,
            request);
}

void expect_accepted(Dialect dialect, const std::string& request) {
  SCOPED_TRACE(request);
  const History history = imported(dialect, request);
  for (const std::string_view name : profile_names()) {
    const Profile profile = find_profile(name).value();
    const Rendering rendering = render(history.view(), profile).value();
    const Result<std::vector<Finding>> findings = validate_request(rendering.json, profile);
    ASSERT_TRUE(findings) << name << ": " << findings.error().message << "\n" << rendering.json;
    for (const Finding& finding : *findings)
      ADD_FAILURE() << name << ": " << finding.code << "\n" << rendering.json;
  }
}

std::string repeated(const std::string& element, int times) {
  std::string list;
  for (int i = 0; i < times; ++i) list += (i == 0 ? "" : ",") + element;
  return list;
}

TEST(DialectRepair, ManyThinkingBlocksAtTheEndAreLeftOut) {
  expect_accepted(
      Dialect::anthropic,
      R"([{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"t"},)" +
          repeated(R"({"type":"thinking","thinking":"h","signature":"s"})", 20) +
          R"(]},{"role":"user","content":"q"}])");
}

TEST(DialectRepair, ManyReasoningItemsThatNothingFollowsAreLeftOut) {
  expect_accepted(Dialect::openai_responses,
                  "[" + repeated(R"({"type":"reasoning","id":"r","summary":[]})", 20) + "]");
}

TEST(DialectRepair, InstructionsCallNothing) {
  expect_accepted(
      Dialect::openai_chat,
      R"([{"role":"developer","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}]},{"role":"tool","tool_call_id":"a"},{"role":"tool","tool_call_id":"b"}])");
}

TEST(DialectRepair, APartThatCannotBeReadIsCopiedWhenItsNeighbourGoes) {
  expect_accepted(
      Dialect::anthropic,
      R"([{"role":"assistant","content":[{"type":"web_search_tool_result"},{"type":"text","prompt_cache_breakpoint":{}}]}])");
}

TEST(DialectRepair, MembersOfChatSayNothingInAMessageOfAnthropic) {
  expect_accepted(
      Dialect::anthropic,
      R"([{"role":"assistant","content":[{"type":"thinking"}]},{"role":"user","reasoning_details":[],"content":[{}]}])");
}

TEST(DialectRepair, AResponseInAResponseOfGeminiIsNoResult) {
  const std::string request =
      R"({"contents":[{"parts":[{"functionResponse":{"parts":[{"functionResponse":{}},{}]}}]}]})";
  expect_same(Dialect::gemini, request);
  expect_accepted(Dialect::gemini, request);
}

TEST(DialectRepair, AToolThatCallsComesBackAsItCame) {
  const std::string request = R"({"messages":[{"role":"function","function_call":{"name":"x"}}]})";
  expect_same(Dialect::openai_chat, request);
  expect_accepted(Dialect::openai_chat, request);
}

TEST(DialectRepair, AMarkerOfChatMarksNothingInAMessageOfAnthropic) {
  expect_accepted(
      Dialect::anthropic,
      R"([{"role":"assistant","content":[{"type":"thinking","signature":"x","prompt_cache_breakpoint":{}},{}]}])");
}

TEST(DialectRepair, ThePartsOfTheEnginesFormAreNobodysInAMessageOfAnthropic) {
  expect_accepted(
      Dialect::anthropic,
      R"([{"role":"assistant","content":[{}]},{"role":"assistant","content":[{"type":"reasoning","item":{"type":"reasoning"}},{}]}])");
}

TEST(DialectRepair, OnlyAnthropicsSummaryMayComeBeforeTheUser) {
  expect_accepted(
      Dialect::openai_chat,
      R"([{"role":"assistant","content":[{"type":"compaction"}]},{"role":"assistant"}])");
}

TEST(DialectRepair, ACallWhoseResultMayComeAtAnyTimeStaysOneWhenItIsWrittenAnew) {
  expect_accepted(Dialect::openai_responses, R"([{"type":"function_call","async":true}])");
  const std::string
      output = R"({"type":"function_call_output","call_id":"a","output":"1"})",
      call = R"({"type":"function_call","call_id":"a","name":"f","arguments":"{}","async":true})";
  const History history = imported(Dialect::openai_responses, "[" + output + "," + call + "]");
  EXPECT_EQ(render(history.view(), default_profile(Dialect::openai_responses)).value().json,
            R"({"input":[)" + call + "," + output + "]}");
}

TEST(DialectRepair, PartsThatAreNoneOfChatsAreCopiedWhenItsMessagesAreMerged) {
  const std::string parts =
      R"({"type":"server_tool_use"},{"type":"server_tool_use","id":"s","name":"w","input":{}},{"type":"thinking","thinking":"h"},{"type":"compaction"})";
  const std::string request = R"([{"role":"user","content":[)" + parts + R"(]},{"role":"user"}])";
  expect_accepted(Dialect::openai_chat, request);
  const History history = imported(Dialect::openai_chat, request);
  EXPECT_EQ(
      render(history.view(), find_profile("mistral").value()).value().json,
      R"({"messages":[{"role":"user","content":[)" + parts + R"(,{"type":"text","text":""}]}]})");
}

TEST(DialectRepair, ARefusalOfChatIsAPartThatAnthropicDoesNotKnow) {
  expect_accepted(
      Dialect::anthropic,
      R"([{"role":"assistant","content":[{}]},{"role":"assistant","content":[{"type":"refusal"}]}])");
}

TEST(DialectRepair, ManyContentsOfTheModelBeforeACallAreMerged) {
  expect_accepted(Dialect::gemini,
                  R"([{"parts":[{"text":"q"}]},)" +
                      repeated(R"({"role":"model","parts":[{"text":"t"}]})", 20) +
                      R"(,{"role":"model","parts":[{"functionCall":{"name":"f"}}]}])");
}

TEST(DialectRepair, AFunctionCallThatGetsANameStaysOne) {
  const std::string request =
      R"([{"role":"user","content":"q"},{"role":"assistant","function_call":{}}])";
  expect_accepted(Dialect::openai_chat, request);
  const History history = imported(Dialect::openai_chat, request);
  const std::string rendered =
      render(history.view(), default_profile(Dialect::openai_chat)).value().json;
  EXPECT_NE(
      rendered.find(
          R"("function_call":{"name":"tool","arguments":"{}"}},{"role":"function","name":"tool")"),
      std::string::npos)
      << rendered;
}

TEST(DialectRepair, AListInAListIsNotEmpty) {
  expect_accepted(Dialect::openai_chat, R"([{"role":"assistant","content":[[]]}])");
}

TEST(DialectRepair, AnEmptyListOfCallsInTheEnginesFormIsNoneOfChats) {
  expect_accepted(Dialect::openai_chat, R"([{"role":"assistant","toolCalls":[],"content":[{}]}])");
}

}  // namespace
}  // namespace undertext
