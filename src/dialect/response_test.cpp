#include <undertext/response.hpp>

#include <gtest/gtest.h>

namespace undertext {
namespace {

std::string events(std::initializer_list<std::string_view> data) {
  std::string bytes;
  for (const std::string_view each : data) bytes += "data: " + std::string(each) + "\n\n";
  return bytes;
}

TEST(ProviderResponses, AreReadWholeAndStreamedAlike) {
  const ProviderResponse whole = read_response(
      Dialect::anthropic,
      R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":2}})",
      ResponseForm::whole);
  const ProviderResponse streamed = read_response(
      Dialect::anthropic,
      events(
          {R"({"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":1}}})",
           R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
           R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}})",
           R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}})",
           R"({"type":"message_stop"})"}),
      ResponseForm::event_stream);
  for (const ProviderResponse& each : {whole, streamed}) {
    ASSERT_EQ(each.messages.size(), 1u);
    EXPECT_EQ(each.messages[0].role(), Role::assistant);
    EXPECT_EQ(each.id, "msg_1");
    EXPECT_EQ(each.model, "m");
    EXPECT_EQ(each.finish_reason, "end_turn");
    EXPECT_EQ(each.usage, (ProviderUsage{15, 2, 5, 7}));
    EXPECT_TRUE(each.complete);
  }
}

TEST(ProviderResponses, OfAllDialectsHaveUsage) {
  EXPECT_EQ(
      read_provider_usage(
          Dialect::openai_chat,
          R"({"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}})"),
      (ProviderUsage{9, 4, 8, 0}));
  EXPECT_EQ(
      read_provider_usage(
          Dialect::openai_responses,
          R"({"input_tokens":9,"output_tokens":4,"input_tokens_details":{"cached_tokens":8}})"),
      (ProviderUsage{9, 4, 8, 0}));
  EXPECT_EQ(
      read_provider_usage(
          Dialect::gemini,
          R"({"promptTokenCount":9,"candidatesTokenCount":4,"thoughtsTokenCount":1,"cachedContentTokenCount":8})"),
      (ProviderUsage{9, 5, 8, 0}));
  EXPECT_EQ(read_provider_usage(Dialect::gemini, "garbage"), ProviderUsage{});
}

TEST(ProviderResponses, ThatBreakOffHaveWhatWasSaidAndAreNotComplete) {
  const ProviderResponse torn = read_response(
      Dialect::openai_chat,
      events(
          {R"({"id":"c1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"so f"}}]})"}) +
          "data: {\"id\":\"c1\",\"cho",
      ResponseForm::event_stream);
  ASSERT_EQ(torn.messages.size(), 1u);
  EXPECT_EQ(torn.id, "c1");
  EXPECT_FALSE(torn.complete);
}

TEST(ProviderResponses, ThatAreErrorsOrGarbageHaveNoMessages) {
  const ProviderResponse refused = read_response(
      Dialect::anthropic, R"({"type":"error","error":{"type":"overloaded_error","message":"x"}})",
      ResponseForm::whole);
  EXPECT_TRUE(refused.messages.empty());
  EXPECT_NE(refused.error, "");
  for (const std::string_view bytes : {"", "<html>", "[1,2]", "null", "{}"})
    for (const ResponseForm form : {ResponseForm::whole, ResponseForm::event_stream})
      EXPECT_TRUE(read_response(Dialect::openai_responses, bytes, form).messages.empty()) << bytes;
}

TEST(ProviderResponses, SayWhichFormatTheyHave) {
  EXPECT_EQ(dialect_of_response(R"({"object":"chat.completion","choices":[]})"),
            Dialect::openai_chat);
  EXPECT_EQ(dialect_of_response(R"({"object":"response","output":[]})"), Dialect::openai_responses);
  EXPECT_EQ(
      dialect_of_response(R"({"type":"message","role":"assistant","model":"m","content":[]})"),
      Dialect::anthropic);
  EXPECT_EQ(dialect_of_response(R"({"candidates":[]})"), Dialect::gemini);
  // Messages, requests and items are no responses.
  for (const std::string_view other :
       {R"({"type":"message","role":"assistant","content":[]})",
        R"({"role":"user","content":"hi"})", R"({"model":"m","messages":[]})", "[]", "", "{"})
    EXPECT_EQ(dialect_of_response(other), std::nullopt) << other;
}

TEST(ProviderResponses, OfGeminiMayBeAListOfPieces) {
  const ProviderResponse answer = read_response(
      Dialect::gemini,
      R"([{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]},"finishReason":"STOP"}],"responseId":"r"}])",
      ResponseForm::whole);
  ASSERT_EQ(answer.messages.size(), 1u);
  EXPECT_EQ(answer.id, "r");
  EXPECT_TRUE(answer.complete);
}

TEST(ProviderResponses, OfAListThatIsCutOffThePiecesThatCameWholeAreRead) {
  const std::string list =
      R"([{"candidates":[{"content":{"role":"model","parts":[{"text":"a \\ }] \" b"}]}}]}
,
{"candidates":[{"content":{"role":"model","parts":[{"text":" c"}]},"finishReason":"STOP"}]}])";
  for (std::size_t size = 0; size <= list.size(); ++size) {
    const ProviderResponse answer =
        read_response(Dialect::gemini, list.substr(0, size), ResponseForm::whole);
    const bool has_first = size >= list.find('\n'), has_all = size >= list.size() - 1;
    EXPECT_EQ(answer.messages.empty(), !has_first) << size;
    EXPECT_EQ(answer.complete, has_all) << size;
    if (!has_first) continue;
    EXPECT_EQ(answer.messages[0].text(), has_all ? R"(a \ }] " b c)" : R"(a \ }] " b)") << size;
  }
}

TEST(ProviderResponses, AStreamEndsWithItsLastEventThoughNoEmptyLineFollows) {
  for (const std::string end : {"", "\n", "\n\n"}) {
    const ProviderResponse answer = read_response(
        Dialect::openai_chat,
        R"(data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]})" + end,
        ResponseForm::event_stream);
    ASSERT_EQ(answer.messages.size(), 1u);
    EXPECT_TRUE(answer.complete);
  }
}

TEST(ProviderResponses, DoneIsAnEndToo) {
  for (const bool is_done : {false, true}) {
    const ProviderResponse answer = read_response(
        Dialect::openai_chat,
        std::string("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n") +
            (is_done ? "data: [DONE]\n\n" : ""),
        ResponseForm::event_stream);
    EXPECT_EQ(answer.complete, is_done);
  }
}

TEST(Response, OneThatIsMadeInTheBackgroundIsNotCompleteBeforeItHasEnded) {
  const auto read = [](const std::string& status, const std::string& output) {
    return read_response(
        Dialect::openai_responses,
        R"({"id":"resp_1","status":")" + status + R"(","output":[)" + output + "]}",
        ResponseForm::whole);
  };
  const std::string said =
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]})";
  EXPECT_FALSE(read("queued", "").complete);
  EXPECT_FALSE(read("in_progress", said).complete);
  EXPECT_TRUE(read("completed", said).complete);
  EXPECT_TRUE(read("incomplete", said).complete);
}

TEST(Response, AStreamThatWasTakenUpAgainIsWholeByItsLastEvent) {
  const ProviderResponse response = read_response(
      Dialect::openai_responses,
      "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"lo\"}\n\n"
      R"(data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]}})"
      "\n\n",
      ResponseForm::event_stream);
  EXPECT_TRUE(response.complete);
  ASSERT_EQ(response.messages.size(), 1u);
  EXPECT_EQ(response.messages[0].text(), "hello");
}

}  // namespace
}  // namespace undertext
