// Answers of providers: whole ones, of which tests/dialect/clients_test.py holds that they are of
// the clients' types, and streamed ones.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "base/json_text.hpp"
#include "history/random_conversation.hpp"

namespace undertext {
namespace {

std::string imported_and_back(Dialect dialect, std::string_view json) {
  const Result<Imported> imported = import_messages(dialect, json);
  if (!imported) return imported.error().message;
  return render(RandomConversation::applied(History(), op::Append{imported->messages}).view(),
                default_profile(dialect), {.repair = false})
      .value()
      .json;
}

TEST(DialectResponses, AreImportedAsTheMessagesToSendBack) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() /
                     "../../tests/dialect/responses.json");
  std::stringstream bytes;
  bytes << file.rdbuf();
  const std::string json = bytes.str();
  const JsonText text = JsonText::parse(json, {}).value();
  const auto response = [&](std::string_view dialect) {
    return text.root().find(dialect).value().raw();
  };
  EXPECT_EQ(
      imported_and_back(Dialect::openai_chat, response("openai_chat")),
      R"({"messages":[{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"p\":\"/\"}"}}]}]})");
  EXPECT_EQ(
      imported_and_back(Dialect::anthropic, response("anthropic")),
      R"({"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"tool_use","id":"toolu_1","name":"ls","input":{"p":"/"}}]}]})");
  EXPECT_EQ(
      imported_and_back(Dialect::gemini, response("gemini")),
      R"({"contents":[{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"p":"/"}},"thoughtSignature":"sig"}]}]})");
  EXPECT_EQ(
      imported_and_back(Dialect::openai_responses, response("openai_responses")),
      R"({"input":[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[],"logprobs":[]}]},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ls","arguments":"{}","status":"completed"}]})");
}

StreamAssembler::Streamed streamed(Dialect dialect, const std::vector<std::string>& events) {
  StreamAssembler assembler(dialect);
  for (const std::string& event : events) EXPECT_TRUE(assembler.feed(event)) << event;
  return assembler.finish();
}

TEST(DialectStreams, OfAnthropicGrowTheirBlocks) {
  const StreamAssembler::Streamed answer = streamed(
      Dialect::anthropic,
      {R"({"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}})",
       R"({"type":"ping"})",
       R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}})",
       R"({"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})",
       R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a\ud83d"}})",
       R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\ude00"}})",
       R"({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}})",
       R"({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}})",
       R"({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":1.0}"}})",
       R"({"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"u","name":"g","input":{}}})",
       R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}})",
       R"({"type":"message_stop"})"});
  EXPECT_EQ(
      answer.message,
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"a\ud83d\ude00"},{"type":"tool_use","id":"t","name":"f","input":{"a":1.0}},{"type":"tool_use","id":"u","name":"g","input":{}}]})");
  EXPECT_EQ(answer.finish_reason, "tool_use");
  EXPECT_EQ(answer.usage_json, R"({"input_tokens":9,"output_tokens":7})");
  EXPECT_TRUE(answer.complete);
}

TEST(DialectStreams, OfGeminiKeepSignaturesOnTheirParts) {
  const StreamAssembler::Streamed answer = streamed(
      Dialect::gemini,
      {R"({"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]}}]})",
       R"({"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]})",
       R"({"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]}}],"usageMetadata":{"totalTokenCount":3}})",
       R"({"candidates":[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"s"}]},"finishReason":"STOP"}]})"});
  EXPECT_EQ(
      answer.message,
      R"({"role":"model","parts":[{"text":"hm","thought":true},{"text":"ab"},{"text":"","thoughtSignature":"s"}]})");
  EXPECT_EQ(answer.usage_json, R"({"totalTokenCount":3})");
  EXPECT_TRUE(answer.complete);
}

TEST(DialectStreams, OfResponsesGiveItemsInTheirOrderAndWhatWasSaidWhenTheyBreakOff) {
  const std::vector<std::string> events = {
      R"({"type":"response.output_item.done","output_index":1,"item":{"type":"message","role":"assistant","content":[]}})",
      R"({"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"}})",
      R"({"type":"response.output_text.delta","output_index":2,"delta":"so f"})",
      R"({"type":"response.output_text.delta","output_index":2,"delta":"ar"})"};
  const StreamAssembler::Streamed broken = streamed(Dialect::openai_responses, events);
  EXPECT_EQ(
      broken.message,
      R"([{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"},{"type":"message","role":"assistant","content":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so far","annotations":[]}]}])");
  EXPECT_FALSE(broken.complete);
  std::vector<std::string> whole = events;
  whole.push_back(
      R"({"type":"response.completed","response":{"usage":{"input_tokens":2},"error":null}})");
  EXPECT_TRUE(streamed(Dialect::openai_responses, whole).complete);
}

TEST(DialectStreams, RefuseWhatIsNoEvent) {
  StreamAssembler assembler(Dialect::openai_chat);
  EXPECT_EQ(assembler.feed("nonsense").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(assembler.feed("[1]").error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(assembler.finish().message.empty());
}

TEST(DialectImport, TellsWhereSomethingIsWrong) {
  const auto refused = [](Dialect dialect, std::string_view json) {
    return import_messages(dialect, json).error();
  };
  EXPECT_EQ(
      refused(Dialect::openai_chat,
              R"({"messages":[{"role":"user","content":"q"},{"role":"nobody","content":"q"}]})")
          .path,
      "messages[1].role");
  EXPECT_EQ(refused(Dialect::anthropic, R"({"messages":[{"role":"tool","content":"q"}]})").path,
            "messages[0].role");
  EXPECT_EQ(refused(Dialect::gemini, R"({"contents":[{"parts":7}]})").path, "contents[0].parts");
  EXPECT_EQ(refused(Dialect::gemini, R"({"model":"m"})").path, "contents");
  EXPECT_EQ(refused(Dialect::openai_responses, R"({"input":7})").path, "input");
  EXPECT_EQ(refused(Dialect::openai_chat, R"({"messages":[)").code, ErrorCode::invalid_argument);
  EXPECT_EQ(import_messages(Dialect::openai_chat, R"([{"role":"user","content":"0123456789"}])",
                            {.message_bytes = 20})
                .error()
                .code,
            ErrorCode::too_large);
}

TEST(DialectImport, AnItemOfResponsesThatIsOnlyAnIdIsAReference) {
  for (const std::string item : {R"({"id":"msg_1"})", R"({"type":null,"id":"msg_1"})"}) {
    const std::string body = R"({"input":[)" + item + "]}";
    EXPECT_EQ(imported_and_back(Dialect::openai_responses, body), body);
  }
  for (const std::string item : {R"({"id":""})", R"({"id":7})", R"({"id":"m","content":"hi"})"})
    EXPECT_FALSE(import_messages(Dialect::openai_responses, R"({"input":[)" + item + "]}")) << item;
}

TEST(DialectImport, ARequestOfResponsesMayHaveNoInput) {
  for (const std::string named : {R"("model":"m")", R"("prompt":{"id":"p"})",
                                  R"("conversation":"c")", R"("previous_response_id":"r")"}) {
    for (const std::string input : {"", R"(,"input":null)"}) {
      const Result<Imported> imported =
          import_messages(Dialect::openai_responses, "{" + named + input + "}");
      ASSERT_TRUE(imported) << named << ": " << imported.error().message;
      EXPECT_TRUE(imported->messages.empty());
      EXPECT_EQ(imported->rest, "{" + named + "}");
    }
  }
  const Imported instructed =
      import_messages(Dialect::openai_responses, R"({"model":"m","instructions":"short"})").value();
  EXPECT_EQ(instructed.messages.size(), 1u);
  for (const std::string body :
       {R"({"input":null})", R"({"store":true})", R"({"object":"response","model":"m"})",
        R"({"model":"m","messages":[]})"})
    EXPECT_FALSE(import_messages(Dialect::openai_responses, body)) << body;
}

TEST(DialectImport, InstructionsThatAreEmptyAreNone) {
  const auto imported = [](Dialect dialect, const std::string& top) {
    const std::string list = dialect == Dialect::anthropic ? "messages" : "input";
    return import_messages(dialect, "{" + top + R"("model":"m",")" + list +
                                        R"(":[{"role":"user","content":"q"}]})")
        .value();
  };
  for (const auto& [dialect, top] :
       {std::pair(Dialect::anthropic, R"("system":"",)"),
        std::pair(Dialect::openai_responses, R"("instructions":"",)")}) {
    const Imported empty = imported(dialect, top), absent = imported(dialect, "");
    EXPECT_EQ(empty.messages.size(), 1u);
    EXPECT_EQ(empty.rest, absent.rest);
  }
}

TEST(DialectProfile, IsReadStrictly) {
  EXPECT_TRUE(
      Profile::parse(
          R"({"dialect":"gemini","gemini3":true,"cache":{"kind":"prefix","min":7,"read":0.25}})")
          .value()
          .gemini3);
  for (const char* const json :
       {"7", "{}", R"({"dialect":"x"})", R"({"dialect":"gemini","gemini3":1})",
        R"({"dialect":"gemini","call_id_max":-1})", R"({"dialect":"gemini","unknown":true})",
        R"({"dialect":"gemini","cache":{"kind":"other"}})",
        R"({"dialect":"gemini","cache":{"read":-1}})"})
    EXPECT_EQ(Profile::parse(json).error().code, ErrorCode::invalid_argument) << json;
  EXPECT_EQ(find_profile("nobody").error().code, ErrorCode::not_found);
  for (const std::string_view name : profile_names())
    EXPECT_EQ(find_profile(name).value().name, name);
}

}  // namespace
}  // namespace undertext
