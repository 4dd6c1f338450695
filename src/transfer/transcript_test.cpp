#include "transfer/transcript.hpp"

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>

#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

TEST(Transcript, TimesAreReadInEveryZone) {
  EXPECT_EQ(read_iso_time("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(read_iso_time("2025-12-08T00:39:46.102Z"), 1765154386102);
  EXPECT_EQ(read_iso_time("2025-12-08T01:39:46.102345+01:00"), 1765154386102);
  EXPECT_EQ(read_iso_time("2025-12-07T22:39:46-02:00"), 1765154386000);
  for (const char* bad : {"", "yesterday", "2025-13-08T00:00:00Z", "2025-02-30T00:00:00Z", "2025-12-08 00:00:00Z",
                          "2025-12-08T00:00:00+1", "2025-12-08T25:00:00Z"})
    EXPECT_EQ(read_iso_time(bad), std::nullopt) << bad;
}

TEST(Transcript, MessagesAreTakenAsTheyAre) {
  const Result<ImportedTranscript> list = read_transcript(R"([ {"role":"user", "content":"a", "n":1.50} ])");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->messages.at(0).json(), R"({"role":"user", "content":"a", "n":1.50})");
  EXPECT_EQ(read_transcript(R"({"role":"user","content":"a"})").value().messages.size(), 1u);
  EXPECT_EQ(
      read_transcript("{\"role\":\"user\",\"content\":\"a\"}\r\n\n{\"role\":\"user\",\"content\":\"b\"}").value().messages.size(),
      2u);
}

TEST(Transcript, WhatIsNoTranscriptIsRefusedWithItsPlace) {
  EXPECT_FALSE(read_transcript(""));
  EXPECT_FALSE(read_transcript("null"));
  EXPECT_FALSE(read_transcript(R"({"messages":{}})"));
  EXPECT_EQ(read_transcript(R"([{"role":"user","content":"a"},{"role":"king","content":"b"}])").error().message.find("message 1"),
            0u);
  EXPECT_EQ(read_transcript("{\"role\":\"user\",\"content\":\"a\"}\nnonsense").error().message.find("line 2"), 0u);
}

TEST(Transcript, AnOldCodexSessionHasBareItems) {
  const Result<ImportedTranscript> old = read_transcript(
      R"({"id":"s","timestamp":"2025-06-01T00:00:00Z","instructions":"be good"}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}
{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["ls"]}}
{"type":"function_call_output","call_id":"c","output":{"content":"ok","success":true}})");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->format, TranscriptFormat::codex);
  ASSERT_EQ(old->messages.size(), 3u);
  EXPECT_EQ(old->messages[0].text(), "hi");
  EXPECT_EQ(read_blocks(old->messages[1]).at(0).name, "local_shell");
  EXPECT_EQ(old->messages[2].text(), "ok");
  EXPECT_EQ(old->left_out.at("session_meta"), 2u);
}

TEST(Transcript, WhatOnlyItsProviderCanReadIsKeptWhole) {
  const Result<ImportedTranscript> session = read_transcript(
      R"({"timestamp":"2026-11-18T00:00:00Z","type":"response_item","payload":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AAAA"}}
{"timestamp":"2026-11-18T00:00:01Z","type":"response_item","payload":{"type":"web_search_call","id":"ws_1","status":"completed"}}
{"timestamp":"2026-11-18T00:00:02Z","type":"response_item","payload":{"type":"ghost_snapshot"}})");
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_EQ(session->messages.size(), 2u);
  EXPECT_EQ(read_blocks(session->messages[0]).at(0).kind, ContentBlock::Kind::reasoning);
  EXPECT_NE(session->messages[1].json().find("ws_1"), std::string_view::npos);
  EXPECT_EQ(session->left_out.at("ghost_snapshot"), 1u);
}

TEST(Transcript, TheFileOfASubAgentIsAConversationOfItsOwn) {
  const std::string sub_agent =
      R"({"type":"user","uuid":"1","sessionId":"s","isSidechain":true,"message":{"role":"user","content":"look"}}
{"type":"attachment","uuid":"2","sessionId":"s","isSidechain":true,"attachment":{"type":"skill_listing","content":"skills"}}
{"type":"assistant","uuid":"3","sessionId":"s","isSidechain":true,"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"seen"}]}}
)";
  const ImportedTranscript alone = read_transcript(sub_agent).value();
  ASSERT_EQ(alone.messages.size(), 3u);
  EXPECT_EQ(alone.messages[1].role(), Role::system);
  EXPECT_TRUE(alone.left_out.empty());
  const ImportedTranscript within =
      read_transcript(sub_agent + R"({"type":"user","uuid":"4","sessionId":"s","message":{"role":"user","content":"main"}})")
          .value();
  ASSERT_EQ(within.messages.size(), 1u);
  EXPECT_EQ(within.left_out.at("sidechain, the work of a sub-agent"), 2u);
}

TEST(Transcript, ClaudeCodeGoesOnAfterItHasSummarised) {
  const Result<ImportedTranscript> session = read_transcript(
      R"({"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"old"}}
{"type":"system","subtype":"compact_boundary","uuid":"2","sessionId":"s","content":"Conversation compacted"}
{"type":"user","uuid":"3","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"what happened"}}
{"type":"user","uuid":"4","sessionId":"s","message":{"role":"user","content":""}})");
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->format, TranscriptFormat::claude_code);
  EXPECT_EQ(session->messages.size(), 2u);
  ASSERT_EQ(session->compactions.size(), 1u);
  EXPECT_EQ(session->compactions[0].list, std::vector<std::size_t>{1});
  EXPECT_EQ(session->compactions[0].summary, 1u);
  EXPECT_EQ(session->left_out.size(), 1u);  // the empty one
}

}  // namespace
}  // namespace undertext
