#include "transfer/session_file.hpp"

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>

#include "base/json_text.hpp"
#include "transfer/transcript.hpp"

namespace undertext {
namespace {

const SessionFacts facts{"support-17", 4, "/home/u/my_project", "m", 1'763'000'000'000};

std::string text_of(const SessionFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  return text;
}

std::vector<std::string> texts(const ImportedTranscript& transcript) {
  std::vector<std::string> all;
  for (const Message& message : transcript.messages) all.push_back(message.text());
  return all;
}

constexpr std::string_view anthropic_now =
    R"({"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"text","text":"I look"},)"
    R"({"type":"tool_use","id":"c","name":"Read","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result",)"
    R"("tool_use_id":"c","content":"found"}]},{"role":"assistant","content":"done"}]})";
constexpr std::string_view responses_now =
    R"({"input":[{"role":"user","content":"hello"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
    R"({"type":"function_call_output","call_id":"c","output":"found"},{"type":"message","role":"assistant","content":)"
    R"([{"type":"output_text","text":"done"}]}]})";

TEST(SessionFile, TheImporterReadsWhatWasWrittenForClaudeCode) {
  const SessionFile file =
      session_file(SessionFormat::claude_code, "", anthropic_now, facts).value();
  EXPECT_EQ(file.path, "projects/-home-u-my-project/" + file.id + ".jsonl");
  const ImportedTranscript read = read_transcript(text_of(file)).value();
  EXPECT_EQ(read.format, TranscriptFormat::claude_code);
  EXPECT_EQ(texts(read), (std::vector<std::string>{"hello", "I look", "found", "done"}));
  EXPECT_TRUE(read.compactions.empty());
}

TEST(SessionFile, TheImporterReadsWhatWasWrittenForCodex) {
  const SessionFile file = session_file(SessionFormat::codex, "", responses_now, facts).value();
  EXPECT_EQ(file.path, "sessions/2025/11/13/rollout-2025-11-13T02-13-20-" + file.id + ".jsonl");
  const ImportedTranscript read = read_transcript(text_of(file)).value();
  EXPECT_EQ(read.format, TranscriptFormat::codex);
  EXPECT_EQ(texts(read), (std::vector<std::string>{"hello", "", "found", "done"}));
}

TEST(SessionFile, TheImporterReadsWhatWasWrittenForOpencode) {
  const SessionFile file = session_file(SessionFormat::opencode, "", anthropic_now, facts).value();
  EXPECT_TRUE(file.path.empty());
  ASSERT_EQ(file.lines.size(), 1u);
  EXPECT_TRUE(file.id.starts_with("ses_")) << file.id;
  const ImportedTranscript read = read_transcript(text_of(file)).value();
  EXPECT_EQ(read.format, TranscriptFormat::opencode);
  EXPECT_EQ(texts(read), (std::vector<std::string>{"hello", "I look", "found", "done"}));
  EXPECT_EQ(session_file(SessionFormat::opencode, "", anthropic_now, facts).value().lines,
            file.lines);

  const std::string_view summary =
      R"({"messages":[{"role":"user","content":"they said hello"},{"role":"assistant","content":"yes"}]})";
  const ImportedTranscript compacted =
      read_transcript(
          text_of(session_file(SessionFormat::opencode, anthropic_now, summary, facts).value()))
          .value();
  ASSERT_EQ(compacted.compactions.size(), 1u);
  EXPECT_EQ(compacted.compactions[0].list, (std::vector<std::size_t>{4, 5}));
  EXPECT_EQ(texts(compacted),
            (std::vector<std::string>{"hello", "I look", "found", "done", "What did we do so far?",
                                      "they said hello", "yes"}));
}

TEST(SessionFile, PicturesFailuresAndReasoningGoToOpencodeAndComeBack) {
  const std::string_view now =
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"a \"b\""},{"type":"image","source":)"
      R"({"type":"base64","media_type":"image/png","data":"AAAA"}}]},{"role":"assistant","content":[{"type":"thinking",)"
      R"("thinking":"hm","signature":"s"},{"type":"tool_use","id":"c","name":"f","input":{"a":1}}]},{"role":"user","content":)"
      R"([{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"bad"},{"type":"text","text":"go on"}]}]})";
  const ImportedTranscript read =
      read_transcript(text_of(session_file(SessionFormat::opencode, "", now, facts).value()))
          .value();
  EXPECT_EQ(texts(read), (std::vector<std::string>{"a \"b\"", "", "bad", "go on"}));
  EXPECT_EQ(read_blocks(read.messages[0]).at(1).media.data, "AAAA");
  EXPECT_EQ(read_blocks(read.messages[1]).at(0).kind, ContentBlock::Kind::reasoning);
  EXPECT_EQ(read_blocks(read.messages[1]).at(1).name, "f");
  EXPECT_TRUE(read_blocks(read.messages[2]).at(0).is_error);
}

TEST(SessionFile, ACompactionIsWrittenAsTheProgramsOwn) {
  const std::string_view summary =
      R"({"messages":[{"role":"user","content":"they said hello"},{"role":"assistant","content":"yes"}]})";
  const SessionFile file =
      session_file(SessionFormat::claude_code, anthropic_now, summary, facts).value();
  const ImportedTranscript read = read_transcript(text_of(file)).value();
  ASSERT_EQ(read.compactions.size(), 1u);
  EXPECT_EQ(read.compactions[0].summary, 4u);
  EXPECT_EQ(texts(read), (std::vector<std::string>{"hello", "I look", "found", "done",
                                                   "they said hello", "yes"}));
  const std::string_view shorter = R"({"input":[{"role":"user","content":"they said hello"}]})";
  const ImportedTranscript codex =
      read_transcript(
          text_of(session_file(SessionFormat::codex, responses_now, shorter, facts).value()))
          .value();
  ASSERT_EQ(codex.compactions.size(), 1u);
  EXPECT_EQ(codex.compactions[0].list, std::vector<std::size_t>{4});
}

// COMPRESS may begin behind the first message, which is the user's own then.
TEST(SessionFile, APromptBeforeTheSummaryIsNoSummary) {
  const std::string_view now =
      R"({"messages":[{"role":"user","content":"my own words"},{"role":"assistant","content":"a summary"},)"
      R"({"role":"user","content":"go on"}]})";
  SessionFacts behind = facts;
  behind.begins_with_summary = false;
  const SessionFile claude =
      session_file(SessionFormat::claude_code, anthropic_now, now, behind).value();
  EXPECT_EQ(text_of(claude).find("isCompactSummary"), std::string::npos);
  const ImportedTranscript read = read_transcript(text_of(claude)).value();
  ASSERT_EQ(read.compactions.size(), 1u);
  EXPECT_FALSE(read.compactions[0].summary);
  EXPECT_EQ(texts(read), (std::vector<std::string>{"hello", "I look", "found", "done",
                                                   "my own words", "a summary", "go on"}));
  const ImportedTranscript opencode =
      read_transcript(
          text_of(session_file(SessionFormat::opencode, anthropic_now, now, behind).value()))
          .value();
  EXPECT_TRUE(opencode.compactions.empty());
  EXPECT_EQ(texts(opencode), (std::vector<std::string>{"my own words", "a summary", "go on"}));
}

TEST(SessionFile, ACompactionOfOpencodeComesBackAsItsOwn) {
  const auto compactions = [](const std::string& question, bool has_summary_second) {
    const std::string now = R"({"messages":[{"role":"user","content":")" + question +
                            R"("},{"role":"assistant","content":"they said hello"},)"
                            R"({"role":"user","content":"go on"}]})";
    SessionFacts given = facts;
    given.begins_with_summary = false;
    given.has_summary_second = has_summary_second;
    const ImportedTranscript read =
        read_transcript(
            text_of(session_file(SessionFormat::opencode, anthropic_now, now, given).value()))
            .value();
    std::vector<std::string> list = texts(read);
    if (list.size() > 3) {
      EXPECT_EQ(read.compactions.at(0).list, (std::vector<std::size_t>{4, 5}));
      list.erase(list.begin(), list.begin() + 4);
    }
    EXPECT_EQ(list, (std::vector<std::string>{question, "they said hello", "go on"}));
    return read.compactions.size();
  };
  EXPECT_EQ(compactions("What did we do so far?", true), 1u);
  EXPECT_EQ(compactions("What did we do so far?", false), 0u) << "a user's own question";
  EXPECT_EQ(compactions("Fix it.", true), 0u) << "a summary behind the user's first prompt";
}

TEST(SessionFile, TheSameVersionGivesTheSameFileAndAnotherOneAnother) {
  const SessionFile one = session_file(SessionFormat::codex, "", responses_now, facts).value();
  EXPECT_EQ(one.lines, session_file(SessionFormat::codex, "", responses_now, facts).value().lines);
  SessionFacts later = facts;
  later.version = 5;
  EXPECT_NE(one.id, session_file(SessionFormat::codex, "", responses_now, later).value().id);
}

TEST(SessionFile, ConversationsOfOneNameThatSayOtherThingsAreOtherSessions) {
  const std::string_view other = R"({"input":[{"role":"user","content":"another store's"}]})";
  const std::string id = session_file(SessionFormat::codex, "", responses_now, facts).value().id;
  EXPECT_NE(id, session_file(SessionFormat::codex, "", other, facts).value().id);
  EXPECT_NE(id, session_file(SessionFormat::codex, other, responses_now, facts).value().id);
}

TEST(SessionFile, RefusesARequestOfAnotherDialect) {
  EXPECT_FALSE(session_file(SessionFormat::codex, "", anthropic_now, facts));
  EXPECT_FALSE(session_file(SessionFormat::claude_code, "", R"({"messages":{}})", facts));
}

std::string claude_line(const char* uuid, const char* parent, const char* type,
                        const char* content) {
  std::string line =
      R"({"type":")" + std::string(type) + R"(","uuid":")" + uuid + R"(","parentUuid":)";
  line += *parent ? "\"" + std::string(parent) + "\"" : "null";
  return line + R"(,"sessionId":"s","message":{"role":")" + type + R"(","content":)" + content +
         "}}\n";
}

TEST(Transcript, AUserWhoWentBackHasAnotherListAndNothingIsLost) {
  const std::string text =
      claude_line("a", "", "user", "\"one\"") + claude_line("b", "a", "assistant", "\"two\"") +
      claude_line("c", "b", "user", "\"three\"") + claude_line("d", "c", "assistant", "\"four\"") +
      claude_line("e", "b", "user", "\"instead\"") + claude_line("f", "e", "assistant", "\"five\"");
  const ImportedTranscript read = read_transcript(text).value();
  EXPECT_EQ(read.messages.size(), 6u);
  ASSERT_EQ(read.compactions.size(), 1u);
  EXPECT_EQ(read.compactions[0].list, (std::vector<std::size_t>{0, 1}));
  EXPECT_FALSE(read.compactions[0].summary);
}

TEST(Transcript, ResultsOfParallelCallsAreNoWayBack) {
  const std::string text =
      claude_line("a", "", "user", "\"one\"") +
      claude_line("b", "a", "assistant",
                  R"([{"type":"tool_use","id":"x","name":"f","input":{}}])") +
      claude_line("c", "b", "assistant",
                  R"([{"type":"tool_use","id":"y","name":"f","input":{}}])") +
      claude_line("d", "b", "user", R"([{"type":"tool_result","tool_use_id":"x","content":"1"}])") +
      claude_line("e", "c", "user", R"([{"type":"tool_result","tool_use_id":"y","content":"2"}])");
  EXPECT_TRUE(read_transcript(text).value().compactions.empty());
}

TEST(Transcript, SessionsOfPiAreATreeWithCompactions) {
  const std::string text =
      R"({"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/x"})"
      "\n"
      R"({"type":"message","id":"1","parentId":null,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"look"}})"
      "\n"
      R"({"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"ls","arguments":{"a":1}}]}})"
      "\n"
      R"({"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"c","toolName":"ls","content":[{"type":"text","text":"a b"}]}})"
      "\n"
      R"({"type":"message","id":"4","parentId":"3","message":{"role":"assistant","content":[{"type":"text","text":"two files"}]}})"
      "\n"
      R"({"type":"compaction","id":"5","parentId":"4","summary":"files were listed","firstKeptEntryId":"4"})"
      "\n"
      R"({"type":"message","id":"6","parentId":"5","message":{"role":"user","content":"thanks"}})"
      "\n";
  const ImportedTranscript read = read_transcript(text).value();
  EXPECT_EQ(read.format, TranscriptFormat::pi);
  EXPECT_EQ(texts(read), (std::vector<std::string>{"look", "", "a b", "two files",
                                                   "files were listed", "thanks"}));
  EXPECT_EQ(read.messages[2].role(), Role::tool);
  ASSERT_EQ(read.compactions.size(), 1u);
  EXPECT_EQ(read.compactions[0].list, (std::vector<std::size_t>{4, 3}));
}

}  // namespace
}  // namespace undertext
