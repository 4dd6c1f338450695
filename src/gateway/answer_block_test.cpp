#include "gateway/answer_block.hpp"

#include <gtest/gtest.h>

#include "base/json_text.hpp"

namespace undertext {
namespace {

const std::string block = compaction_block("Goal: \"ship\"", "ut1.x");

std::string event(const std::string& type, const std::string& members) {
  return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" +
         (members.empty() ? "" : "," + members) + "}\n\n";
}

TEST(AnswerBlock, AWholeAnswerHasItFirst) {
  AnswerBlock before(block);
  before.begin(ResponseForm::whole);
  EXPECT_EQ(before.read(R"({"type":"message", "content" : [{"type":"te)"), "");
  EXPECT_EQ(before.read(R"(xt","text":"a"}],"usage":{}})"), "");
  EXPECT_EQ(before.end(), R"({"type":"message", "content" : [)" + block +
                              R"(,{"type":"text","text":"a"}],"usage":{}})");
}

TEST(AnswerBlock, WhatIsNoMessageStaysAsItIs) {
  for (const std::string answer :
       {R"({"type":"error","error":{"content":[]}})", "no JSON", "", R"([{"type":"message"}])"}) {
    AnswerBlock before(block);
    before.begin(ResponseForm::whole);
    EXPECT_EQ(before.read(answer), "");
    EXPECT_EQ(before.end(), answer);
  }
}

// In pieces of every size.
TEST(AnswerBlock, AStreamHasItFirstAndTheOtherBlocksBehindIt) {
  const std::string start = event(
      "message_start", R"("message":{"id":"m","type":"message","role":"assistant","content":[]})");
  const std::string ping = event("ping", "");
  const auto blocks = [](const std::string& index) {
    return event("content_block_start",
                 R"("index":)" + index + R"(,"content_block":{"type":"text","text":""})") +
           event("content_block_delta",
                 R"("index":)" + index + R"(,"delta":{"type":"text_delta","text":"\"index\":0"})") +
           event("content_block_stop", R"("index": )" + index);
  };
  const std::string stop = event("message_stop", "");
  const std::string answer = start + ping + blocks("0") + stop,
                    expected = start + compaction_events(block) + ping + blocks("1") + stop;
  for (std::size_t size = 1; size <= answer.size(); ++size) {
    AnswerBlock before(block);
    before.begin(ResponseForm::event_stream);
    std::string got;
    for (std::size_t at = 0; at < answer.size(); at += size)
      got += before.read(std::string_view(answer).substr(at, size));
    got += before.end();
    ASSERT_EQ(got, expected) << size;
  }
  const ProviderResponse read =
      read_response(Dialect::anthropic, expected, ResponseForm::event_stream);
  ASSERT_EQ(read.messages.size(), 1u);
  EXPECT_NE(read.messages[0].json().find(block), std::string::npos) << read.messages[0].json();
}

}  // namespace
}  // namespace undertext
