#include "transfer/transcript.hpp"

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>
#include <undertext/history.hpp>

#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

TEST(Transcript, TimesAreReadInEveryZone) {
  EXPECT_EQ(read_iso_time("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(read_iso_time("2025-12-08T00:39:46.102Z"), 1765154386102);
  EXPECT_EQ(read_iso_time("2025-12-08T01:39:46.102345+01:00"), 1765154386102);
  EXPECT_EQ(read_iso_time("2025-12-07T22:39:46-02:00"), 1765154386000);
  for (const char* bad : {"", "yesterday", "2025-13-08T00:00:00Z", "2025-02-30T00:00:00Z",
                          "2025-12-08 00:00:00Z", "2025-12-08T00:00:00+1", "2025-12-08T25:00:00Z"})
    EXPECT_EQ(read_iso_time(bad), std::nullopt) << bad;
}

TEST(Transcript, MessagesAreTakenAsTheyAre) {
  const Result<ImportedTranscript> list =
      read_transcript(R"([ {"role":"user", "content":"a", "n":1.50} ])");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->messages.at(0).json(), R"({"role":"user", "content":"a", "n":1.50})");
  EXPECT_EQ(read_transcript(R"({"role":"user","content":"a"})").value().messages.size(), 1u);
  EXPECT_EQ(read_transcript(
                "{\"role\":\"user\",\"content\":\"a\"}\r\n\n{\"role\":\"user\",\"content\":\"b\"}")
                .value()
                .messages.size(),
            2u);
}

TEST(Transcript, WhatIsNoTranscriptIsRefusedWithItsPlace) {
  EXPECT_FALSE(read_transcript(""));
  EXPECT_FALSE(read_transcript("null"));
  EXPECT_FALSE(read_transcript(R"({"messages":{}})"));
  EXPECT_EQ(read_transcript(R"([{"role":"user","content":"a"},{"role":"king","content":"b"}])")
                .error()
                .message.find("message 1"),
            0u);
  EXPECT_EQ(read_transcript("{\"role\":\"user\",\"content\":\"a\"}\nnonsense")
                .error()
                .message.find("line 2"),
            0u);
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

// A result that became a function's would answer no call of the provider's.
TEST(Transcript, CallsOfEveryKindAndTheirResultsStayPairs) {
  std::string lines;
  const auto add = [&](const std::string& item) {
    lines +=
        R"({"timestamp":"2026-11-18T00:00:00Z","type":"response_item","payload":)" + item + "}\n";
  };
  add(R"({"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}})");
  add(R"({"type":"shell_call_output","call_id":"c1","output":[{"stdout":"out","stderr":"","outcome":{"type":"exit","exit_code":0}}]})");
  add(R"({"type":"apply_patch_call","call_id":"c2","operation":{"type":"create_file","path":"a","diff":"+x"}})");
  add(R"({"type":"apply_patch_call_output","call_id":"c2","status":"completed","output":"done"})");
  add(R"({"type":"tool_search_call","id":"t","call_id":"c3","execution":"client","arguments":{}})");
  add(R"({"type":"tool_search_output","id":"o","call_id":"c3","execution":"client","tools":[]})");
  add(R"({"type":"local_shell_call","call_id":"c4","action":{"type":"exec","command":["ls"]}})");
  add(R"({"type":"local_shell_call_output","id":"c4","output":"four"})");
  add(R"({"type":"compaction_summary","encrypted_content":"x"})");
  const ImportedTranscript session = read_transcript(lines).value();
  EXPECT_TRUE(session.left_out.empty());
  ASSERT_EQ(session.messages.size(), 9u);
  for (std::size_t call = 0; call < 8; call += 2) {
    const ContentBlock called = read_blocks(session.messages[call]).at(0);
    const ContentBlock answered = read_blocks(session.messages[call + 1]).at(0);
    EXPECT_EQ(called.kind, ContentBlock::Kind::call) << call;
    EXPECT_EQ(answered.kind, ContentBlock::Kind::result) << call;
    EXPECT_EQ(called.call_id, answered.call_id) << call;
  }
  EXPECT_EQ(read_blocks(session.messages[1]).at(0).type, "shell_call_output");
  EXPECT_EQ(read_blocks(session.messages[3]).at(0).type, "apply_patch_call_output");
  EXPECT_EQ(read_blocks(session.messages[8]).at(0).json,
            R"({"type":"compaction","encrypted_content":"x"})");
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
      read_transcript(
          sub_agent +
          R"({"type":"user","uuid":"4","sessionId":"s","message":{"role":"user","content":"main"}})")
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

TEST(Transcript, LinesThatComeOneByOneMakeAtEachLineWhatTheWholeFileMakes) {
  const std::string session =
      R"({"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"old"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}]}}
{"type":"assistant","uuid":"3","parentUuid":"2","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"b"}]}}
{"type":"user","uuid":"4","parentUuid":"1","sessionId":"s","message":{"role":"user","content":"another way"}}
{"type":"system","subtype":"compact_boundary","uuid":"5","sessionId":"s","content":"Conversation compacted"}
{"type":"user","uuid":"6","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"what happened"}}
{"type":"assistant","uuid":"7","sessionId":"s","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"c"}]}}
)";
  TranscriptReader reader(TranscriptFormat::claude_code);
  std::size_t compactions = 0;
  for (std::size_t at = 0, end; (end = session.find('\n', at)) != std::string::npos; at = end + 1) {
    ASSERT_FALSE(reader.read(std::string_view(session).substr(at, end + 1 - at)));
    const ImportedTranscript so_far = reader.transcript();
    const ImportedTranscript whole =
        read_transcript(session.substr(0, end + 1), TranscriptFormat::claude_code).value();
    ASSERT_EQ(so_far.messages.size(), whole.messages.size());
    for (std::size_t i = 0; i < whole.messages.size(); ++i)
      EXPECT_EQ(so_far.messages[i].json(), whole.messages[i].json());
    ASSERT_EQ(so_far.compactions.size(), whole.compactions.size());
    for (std::size_t i = 0; i < whole.compactions.size(); ++i) {
      EXPECT_EQ(so_far.compactions[i].list, whole.compactions[i].list);
      EXPECT_EQ(so_far.compactions[i].summary, whole.compactions[i].summary);
    }
    EXPECT_EQ(so_far.left_out, whole.left_out);
    compactions = so_far.compactions.size();
  }
  EXPECT_EQ(compactions, 2u);
  const std::optional<Error> damaged = reader.read("nonsense\n{}\n");
  ASSERT_TRUE(damaged);
  EXPECT_EQ(damaged->message.find("line 8"), 0u) << damaged->message;
}

History played(std::string_view session) {
  History history;
  for (Operation& operation : operations_of(read_transcript(session).value()))
    history = history.apply(std::move(operation), {}).value().history;
  return history;
}

// What the messages of the view say; an item of the provider's own by its type.
std::vector<std::string> said(const History& history) {
  std::vector<std::string> all;
  for (const Message& message : history.view()) {
    const ContentBlock block = read_blocks(message).at(0);
    const bool is_text =
        block.kind == ContentBlock::Kind::text || block.kind == ContentBlock::Kind::result;
    all.push_back(is_text                                  ? message.text()
                  : block.kind == ContentBlock::Kind::call ? block.name
                                                           : block.type);
  }
  return all;
}

std::vector<std::string> said_when_expanded(const History& history, std::uint64_t index) {
  return said(history.apply({op::Expand{index}}, {}).value().history);
}

using Texts = std::vector<std::string>;

TEST(Transcript, ACompactionOfClaudeCodeStandsForWhatItDroppedAndKeepsWhatItNames) {
  const History history =
      played(R"({"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"u1"}}
{"type":"assistant","uuid":"2","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"a1"}]}}
{"type":"attachment","uuid":"3","sessionId":"s","attachment":{"type":"skill_listing","content":"skills"}}
{"type":"user","uuid":"4","sessionId":"s","message":{"role":"user","content":"u2"}}
{"type":"assistant","uuid":"5","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"a2"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"6","sessionId":"s","compactMetadata":{"preservedMessages":{"uuids":["5"]}}}
{"type":"user","uuid":"7","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"summary"}}
{"type":"attachment","uuid":"8","sessionId":"s","attachment":{"type":"file","filename":"f.txt","content":{"type":"text","file":{"content":"lines"}}}}
{"type":"user","uuid":"9","sessionId":"s","message":{"role":"user","content":"u3"}})");
  EXPECT_EQ(said(history), (Texts{"summary", "a2", "f.txt\nlines", "u3"}));
  EXPECT_EQ(history.view().ordinal(1), Ordinal(4));
  EXPECT_EQ(history.view()[2].role(), Role::system);
  EXPECT_EQ(said_when_expanded(history, 0),
            (Texts{"u1", "a1", "skills", "u2", "a2", "f.txt\nlines", "u3"}));
  EXPECT_EQ(history.stats().total_messages, 8u);  // a2 is there once
}

// The lines of Claude Code, each behind the one that is named; "" begins the session.
std::string claude_line(const std::string& uuid, const std::string& parent,
                        const std::string& more) {
  return R"({"uuid":")" + uuid + R"(","parentUuid":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") + R"(,"sessionId":"s",)" + more + "}\n";
}
std::string claude_says(const std::string& uuid, const std::string& parent, const std::string& role,
                        const std::string& text) {
  return claude_line(uuid, parent,
                     R"("type":")" + role + R"(","message":{"role":")" + role +
                         R"(","content":[{"type":"text","text":")" + text + R"("}]})");
}
std::string claude_calls(const std::string& uuid, const std::string& parent,
                         const std::string& answer, const std::string& call) {
  return claude_line(uuid, parent,
                     R"("type":"assistant","message":{"id":")" + answer +
                         R"(","role":"assistant","content":[{"type":"tool_use","id":")" + call +
                         R"(","name":"Read","input":{}}]})");
}
std::string claude_result(const std::string& uuid, const std::string& parent,
                          const std::string& call) {
  return claude_line(uuid, parent,
                     R"("type":"user","message":{"role":"user","content":[{"type":"tool_result",)"
                     R"("tool_use_id":")" +
                         call + R"(","content":"result )" + call + R"("}]})");
}
const std::string claude_notice = R"("type":"system","subtype":"informational","content":"n")";

std::string codex_says(const char* role, const std::string& text) {
  return R"({"type":"response_item","payload":{"type":"message","role":")" + std::string(role) +
         R"(","content":[{"type":"input_text","text":")" + text + "\"}]}}\n";
}
std::string codex_rollback(unsigned turns) {
  return R"({"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":)" +
         std::to_string(turns) + "}}\n";
}

TEST(Transcript, ABranchOfClaudeCodeThatWasLeftLeavesTheListWhereverTheNewOneBegins) {
  const std::string begun =
      claude_says("1", "", "user", "u1") + claude_says("2", "1", "assistant", "a1") +
      claude_line("3", "2", claude_notice) + claude_says("4", "3", "user", "left") +
      claude_says("5", "4", "assistant", "left too");
  // Behind a line that is no message.
  EXPECT_EQ(said(played(begun + claude_says("6", "3", "user", "u2"))), (Texts{"u1", "a1", "u2"}));
  // At the very beginning, also behind lines before the first prompt.
  EXPECT_EQ(said(played(begun + claude_says("6", "", "user", "other"))), Texts{"other"});
  EXPECT_EQ(said(played(claude_line("0", "", claude_notice) + claude_says("1", "0", "user", "u1") +
                        claude_says("2", "1", "assistant", "a1") +
                        claude_says("3", "0", "user", "other"))),
            Texts{"other"});
  // The program attaches something before it writes the prompt.
  EXPECT_EQ(said(played(begun +
                        claude_line("6", "2",
                                    R"("type":"attachment","attachment":{"type":"hook",)"
                                    R"("content":"attached"})") +
                        claude_says("7", "6", "user", "u2"))),
            (Texts{"u1", "a1", "attached", "u2"}));
  // Nobody answered what was left.
  EXPECT_EQ(
      said(played(claude_says("1", "", "user", "u1") + claude_says("2", "1", "assistant", "a1") +
                  claude_says("3", "2", "user", "left") + claude_says("4", "2", "user", "u2"))),
      (Texts{"u1", "a1", "u2"}));
  // And back to what was left.
  EXPECT_EQ(said(played(begun + claude_says("6", "2", "user", "u2") +
                        claude_says("7", "5", "user", "on"))),
            (Texts{"u1", "a1", "left", "left too", "on"}));
}

TEST(Transcript, ClaudeCodeSaysAtWhichLineItStands) {
  const auto stands_at = [](const char* members) {
    return R"({"type":"last-prompt","sessionId":"s",)" + std::string(members) + "}\n";
  };
  const std::string begun =
      claude_says("1", "", "user", "u1") + claude_says("2", "1", "assistant", "a1") +
      claude_says("3", "2", "user", "left") + claude_says("4", "3", "assistant", "left too");
  const Texts all = {"u1", "a1", "left", "left too"};
  EXPECT_EQ(said(played(begun + stands_at(R"("leafUuid":"2","explicit":true)"))),
            (Texts{"u1", "a1"}));
  EXPECT_EQ(said(played(begun + stands_at(R"("leafUuid":null,"explicit":true)"))), Texts{});
  // Of an earlier time, or of no line of the session.
  EXPECT_EQ(said(played(begun + stands_at(R"("leafUuid":"2")"))), all);
  EXPECT_EQ(said(played(begun + stands_at(R"("leafUuid":"none","explicit":true)"))), all);
  EXPECT_EQ(said(played(begun + stands_at(R"("leafUuid":null)"))), all);
  // Of another branch.
  EXPECT_EQ(
      said(played(begun + claude_says("5", "2", "user", "u2") + stands_at(R"("leafUuid":"4")"))),
      all);
}

TEST(Transcript, APromptBeforeACompactionOfClaudeCodeBringsBackWhatItStoodFor) {
  const std::string compacted =
      claude_says("1", "", "user", "u1") + claude_says("2", "1", "assistant", "a1") +
      claude_says("3", "2", "user", "u2") + claude_says("4", "3", "assistant", "a2") +
      claude_line("5", "", R"("type":"system","subtype":"compact_boundary")") +
      claude_line("6", "5",
                  R"("type":"user","isCompactSummary":true,"message":{"role":"user",)"
                  R"("content":"summary"})");
  EXPECT_EQ(said(played(compacted + claude_says("7", "6", "user", "u3"))),
            (Texts{"summary", "u3"}));
  EXPECT_EQ(said(played(compacted + claude_says("7", "2", "user", "u3"))),
            (Texts{"u1", "a1", "u3"}));
}

TEST(Transcript, ASummaryThatSaysNothingIsNone) {
  const std::string begun =
      claude_says("1", "", "user", "u1") +
      claude_line("2", "", R"("type":"system","subtype":"compact_boundary")") +
      claude_line("3", "2",
                  R"("type":"user","isCompactSummary":true,"message":)"
                  R"({"role":"user","content":""})");
  EXPECT_EQ(said(played(begun)), Texts{});
  EXPECT_EQ(said(played(begun + claude_says("4", "3", "user", "u2"))), Texts{"u2"});
  EXPECT_FALSE(read_transcript(begun).value().compactions.at(0).summary);
  EXPECT_EQ(
      said(played(codex_says("user", "u1") + R"({"type":"compacted","payload":{"message":""}})" +
                  "\n" + codex_says("user", "u2"))),
      Texts{"u2"});
}

TEST(Transcript, AnAnswerOfClaudeCodeThatItsResultsInterruptIsOneMessage) {
  const std::string session = claude_says("1", "", "user", "u1") +
                              claude_calls("2", "1", "m1", "x") + claude_result("3", "2", "x") +
                              claude_calls("4", "2", "m1", "y") + claude_result("5", "4", "y") +
                              claude_says("6", "5", "assistant", "done") +
                              claude_says("7", "6", "user", "u2");
  const ImportedTranscript read = read_transcript(session).value();
  ASSERT_EQ(read.messages.size(), 6u);
  EXPECT_EQ(read_blocks(read.messages[1]).size(), 2u);
  EXPECT_TRUE(read.compactions.empty());
  EXPECT_EQ(said(played(session)), (Texts{"u1", "Read", "result x", "result y", "done", "u2"}));
}

TEST(Transcript, WhatTheUserSaidMeanwhileAreTheUsersWords) {
  const auto queued = [](const char* members) {
    return claude_line("3", "2",
                       R"("type":"attachment","attachment":{"type":"queued_command",)" +
                           std::string(members) + "}");
  };
  const std::string begun =
      claude_says("1", "", "user", "u1") + claude_says("2", "1", "assistant", "a1");
  const auto last = [&](const char* members) {
    const ImportedTranscript read = read_transcript(begun + queued(members)).value();
    return std::pair(read.messages.back().role(), read.messages.back().text());
  };
  EXPECT_EQ(last(R"("prompt":"stop that","commandMode":"prompt")"),
            std::pair(Role::user, std::string("stop that")));
  EXPECT_EQ(last(R"("prompt":[{"type":"text","text":"stop that"}])"),
            std::pair(Role::user, std::string("stop that")));
  EXPECT_EQ(last(R"("prompt":"a task ended","commandMode":"task-notification")"),
            std::pair(Role::system, std::string("a task ended")));
}

TEST(Transcript, ACompactionOfClaudeCodeKeepsTheSegmentItNames) {
  const std::string begun =
      claude_says("1", "", "user", "u1") + claude_says("2", "1", "assistant", "a1") +
      claude_says("3", "2", "user", "u2") + claude_calls("4", "3", "m1", "x") +
      claude_result("5", "4", "x") + claude_calls("6", "4", "m1", "y") +
      claude_result("7", "6", "y") + claude_says("8", "7", "assistant", "a2");
  const auto boundary = [](const char* segment) {
    return claude_line("9", "",
                       R"("type":"system","subtype":"compact_boundary","compactMetadata":{)"
                       R"("preservedSegment":)" +
                           std::string(segment) + "}");
  };
  const std::string summary =
      claude_line("10", "9",
                  R"("type":"user","isCompactSummary":true,"message":{"role":"user",)"
                  R"("content":"summary"})") +
      claude_says("11", "8", "user", "u3");
  EXPECT_EQ(said(played(begun + boundary(R"({"headUuid":"3","anchorUuid":"10","tailUuid":"8"})") +
                        summary)),
            (Texts{"summary", "u2", "Read", "result x", "result y", "a2", "u3"}));
  // It keeps the beginning: the summary stands behind it.
  EXPECT_EQ(said(played(begun + boundary(R"({"headUuid":"1","anchorUuid":"9","tailUuid":"2"})") +
                        claude_line("10", "9",
                                    R"("type":"user","isCompactSummary":true,"message":)"
                                    R"({"role":"user","content":"summary"})") +
                        claude_says("11", "10", "user", "u3"))),
            (Texts{"u1", "a1", "summary", "u3"}));
  // The program keeps nothing where the way from the last line does not reach the first.
  EXPECT_EQ(said(played(begun + boundary(R"({"headUuid":"none","tailUuid":"8"})") +
                        claude_line("10", "9",
                                    R"("type":"user","isCompactSummary":true,"message":)"
                                    R"({"role":"user","content":"summary"})"))),
            Texts{"summary"});
}

TEST(Transcript, TurnsOfCodexThatWereTakenBackLeaveTheList) {
  const std::string begun = codex_says("developer", "<permissions instructions>") +
                            codex_says("user", "<environment_context>") + codex_says("user", "u1") +
                            codex_says("assistant", "a1");
  const Texts of_session = {"<permissions instructions>", "<environment_context>"};
  const std::string more = codex_says("user", "<environment_context>2") + codex_says("user", "u2") +
                           codex_says("assistant", "a2");
  const auto with = [&](Texts texts) {
    texts.insert(texts.begin(), of_session.begin(), of_session.end());
    return texts;
  };
  EXPECT_EQ(said(played(begun + more + codex_rollback(1) + codex_says("user", "u3"))),
            with({"u1", "a1", "u3"}));
  EXPECT_EQ(said(played(begun + more + codex_rollback(1))), with({"u1", "a1"}));
  EXPECT_EQ(said(played(begun + more + codex_rollback(1) + codex_rollback(1))), with({}));
  EXPECT_EQ(said(played(begun + more + codex_rollback(9) + codex_says("user", "u3"))),
            with({"u3"}));
  EXPECT_EQ(said(played(codex_says("user", "u1") + codex_rollback(1) + codex_says("user", "u2"))),
            Texts{"u2"});
  EXPECT_EQ(said(played(begun + codex_rollback(0))), with({"u1", "a1"}));
  const ImportedTranscript read = read_transcript(begun + more + codex_rollback(1)).value();
  EXPECT_EQ(read.messages.size(), 7u);  // nothing is lost
  EXPECT_TRUE(read.left_out.empty());
}

TEST(Transcript, TurnsOfCodexAreTakenBackAcrossACompaction) {
  const std::string compacted =
      codex_says("user", "u1") + codex_says("assistant", "a1") + codex_says("user", "u2") +
      R"({"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"summary"}]}]}})"
      "\n" +
      codex_says("user", "u3") + codex_says("assistant", "a3");
  EXPECT_EQ(said(played(compacted + codex_rollback(1) + codex_says("user", "u4"))),
            (Texts{"summary", "u4"}));
  EXPECT_EQ(said(played(compacted + codex_rollback(2) + codex_says("user", "u4"))),
            (Texts{"u1", "a1", "u4"}));
}

TEST(Transcript, ABranchOfPiMayBeginAtTheRoot) {
  const auto entry = [](const std::string& id, const std::string& parent, const std::string& more) {
    return R"({"id":")" + id + R"(","parentId":)" +
           (parent.empty() ? "null" : "\"" + parent + "\"") + "," + more + "}\n";
  };
  const auto says = [&](const std::string& id, const std::string& parent, const std::string& role,
                        const std::string& text) {
    return entry(
        id, parent,
        R"("type":"message","message":{"role":")" + role + R"(","content":")" + text + R"("})");
  };
  const std::string session = R"({"type":"session","version":3,"id":"s","cwd":"/x"})"
                              "\n";
  const std::string begun = session + entry("m", "", R"("type":"model_change")") +
                            says("1", "m", "user", "u1") + says("2", "1", "assistant", "a1");
  EXPECT_EQ(said(played(begun + says("3", "m", "user", "other"))), Texts{"other"});
  EXPECT_EQ(said(played(begun + says("3", "", "user", "other"))), Texts{"other"});
  // What an extension said, and what a branch that was left was about, reach the model.
  EXPECT_EQ(said(played(begun + says("3", "2", "user", "left") + says("4", "3", "assistant", "x") +
                        entry("5", "2", R"("type":"branch_summary","summary":"they tried x")") +
                        entry("6", "5", R"("type":"custom_message","content":"by a hook")") +
                        says("7", "6", "user", "u2"))),
            (Texts{"u1", "a1", "they tried x", "by a hook", "u2"}));
}

TEST(Transcript, ACompactionOfCodexStandsForWhatItDroppedAndItsItemIsKept) {
  const History history = played(
      R"({"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"base"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u1"}]}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"out"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a1"}]}}
{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"base"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"u1"}]},{"type":"compaction","encrypted_content":"x"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u2"}]}})");
  EXPECT_EQ(said(history), (Texts{"base", "u1", "compaction", "u2"}));
  EXPECT_EQ(history.view().ordinal(1), Ordinal(1));
  EXPECT_EQ(said_when_expanded(history, 2), (Texts{"base", "u1", "shell", "out", "a1", "u2"}));
  EXPECT_EQ(history.stats().total_messages, 7u);  // what was kept is there once
}

// Sessions that compact, keep, go back and end; every beginning of them is one that was read
// earlier.
const std::vector<std::string_view> growing_sessions = {
    R"({"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"go on"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"a1"}]}}
{"type":"attachment","uuid":"3","parentUuid":"2","sessionId":"s","attachment":{"type":"skill_listing","content":"skills"}}
{"type":"user","uuid":"4","parentUuid":"3","sessionId":"s","message":{"role":"user","content":"go on"}}
{"type":"assistant","uuid":"5","parentUuid":"4","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"a2"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"6","sessionId":"s","compactMetadata":{"preservedMessages":{"uuids":["5"]}}}
{"type":"user","uuid":"7","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"summary"}}
{"type":"user","uuid":"9","parentUuid":"7","sessionId":"s","message":{"role":"user","content":"go on"}}
{"type":"assistant","uuid":"10","parentUuid":"9","sessionId":"s","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"a3"}]}}
{"type":"user","uuid":"11","parentUuid":"10","sessionId":"s","message":{"role":"user","content":"wrong"}}
{"type":"assistant","uuid":"11a","parentUuid":"11","sessionId":"s","message":{"id":"m3a","role":"assistant","content":[{"type":"text","text":"not wanted"}]}}
{"type":"user","uuid":"12","parentUuid":"10","sessionId":"s","message":{"role":"user","content":"right"}}
{"type":"assistant","uuid":"13","parentUuid":"12","sessionId":"s","message":{"id":"m4","role":"assistant","content":[{"type":"text","text":"a4"}]}})",
    R"({"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"base"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u1"}]}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"out"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a1"}]}}
{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"base"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"u1"}]},{"type":"compaction","encrypted_content":"x"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u2"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a1"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u2"}]}})",
    R"({"timestamp":"2025-12-08T00:39:46.102Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u1"}]}}
{"timestamp":"2025-12-08T00:39:46.102Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a1"}]}}
{"timestamp":"2025-12-08T00:39:46.102Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u1"}]}})",
    R"({"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u1"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a1"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"left"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"left too"}]}}
{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u2"}]}}
{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":2}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"u3"}]}})",
    R"({"type":"attachment","uuid":"0","parentUuid":null,"sessionId":"s","attachment":{"type":"hook","content":"begun"}}
{"type":"user","uuid":"1","parentUuid":"0","sessionId":"s","message":{"role":"user","content":"left"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"left too"}]}}
{"type":"user","uuid":"3","parentUuid":"0","sessionId":"s","message":{"role":"user","content":"u1"}}
{"type":"assistant","uuid":"4","parentUuid":"3","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"a1"}]}}
{"type":"user","uuid":"5","parentUuid":"4","sessionId":"s","message":{"role":"user","content":"nobody answers"}}
{"type":"attachment","uuid":"6","parentUuid":"4","sessionId":"s","attachment":{"type":"queued_command","prompt":"u2"}})"};

void grow(History& history, std::string_view session) {
  const ImportedTranscript transcript = read_transcript(session).value();
  for (const Operation& operation : grown_operations(history, transcript).value().operations)
    history = history.apply(operation, {}).value().history;
  const GrownTranscript again = grown_operations(history, transcript).value();
  EXPECT_EQ(again.known, transcript.messages.size());
  EXPECT_TRUE(again.operations.empty()) << session;
}

std::vector<std::string_view> beginnings(std::string_view session) {
  std::vector<std::string_view> all;
  for (std::size_t at = session.find('\n'); at != std::string_view::npos;
       at = session.find('\n', at + 1))
    all.push_back(session.substr(0, at));
  return all;
}

TEST(Transcript, AnOpencodeSessionSaysWhatTheProgramSendsToItsModel) {
  const std::string_view exported =
      R"({"info":{"id":"ses_1","title":"t","directory":"/w"},"messages":[
    {"info":{"id":"msg_1","role":"user","time":{"created":5}},"parts":[{"id":"prt_1","type":"text","text":"look"},
      {"id":"prt_2","type":"text","text":"not this","ignored":true},{"id":"prt_3","type":"file","mime":"text/plain","url":"file:///a"},
      {"id":"prt_4","type":"file","mime":"image/png","url":"data:image/png;base64,AAAA","filename":"a.png"}]},
    {"info":{"id":"msg_2","role":"assistant","parentID":"msg_1","modelID":"m","finish":"tool-calls"},"parts":[
      {"id":"prt_1","type":"step-start"},{"id":"prt_2","type":"reasoning","text":"hm"},{"id":"prt_3","type":"text","text":"I look"},
      {"id":"prt_4","type":"tool","tool":"read","callID":"c1","state":{"status":"completed","input":{"p":1},"output":"found","time":{}}},
      {"id":"prt_5","type":"step-start"},
      {"id":"prt_6","type":"tool","tool":"bash","callID":"c2","state":{"status":"error","input":{},"error":"no such file","time":{}}},
      {"id":"prt_7","type":"tool","tool":"bash","callID":"c3","state":{"status":"running","input":{},"time":{}}}]},
    {"info":{"id":"msg_3","role":"assistant","error":{"name":"APIError","data":{}}},"parts":[]},
    {"info":{"id":"msg_4","role":"user"},"parts":[{"id":"prt_1","type":"text","text":"and now?"}]}]})";
  const ImportedTranscript read = read_transcript(exported).value();
  EXPECT_EQ(read.format, TranscriptFormat::opencode);
  std::vector<std::string> said;
  for (const Message& message : read.messages)
    said.push_back(std::string(name(message.role())) + ": " + message.text());
  EXPECT_EQ(said,
            (std::vector<std::string>{"user: look", "assistant: I look", "tool: found",
                                      "assistant: ", "tool: no such file",
                                      "tool: [Tool execution was interrupted]", "user: and now?"}));
  EXPECT_EQ(read_blocks(read.messages[0]).at(1).kind, ContentBlock::Kind::media);
  EXPECT_EQ(read_blocks(read.messages[1]).at(0).kind, ContentBlock::Kind::reasoning);
  EXPECT_EQ(read_blocks(read.messages[3]).size(), 2u);
  EXPECT_EQ(read.left_out.at("an error of the API"), 1u);
  // Its lines say the same as what it exports.
  const ImportedTranscript lines =
      read_transcript(
          "{\"info\":{\"id\":\"ses_1\"}}\n"
          "{\"info\":{\"id\":\"msg_4\",\"role\":\"user\"},\"parts\":[{\"id\":\"prt_1\",\"type\":"
          "\"text\",\"text\":\"and now?\"}]}\n")
          .value();
  EXPECT_EQ(lines.format, TranscriptFormat::opencode);
  ASSERT_EQ(lines.messages.size(), 1u);
  EXPECT_EQ(lines.messages[0].json(), read.messages[6].json());
}

std::string opencode_message(const char* role, const char* id, std::string_view info,
                             std::string_view part) {
  return R"({"info":{"id":")" + std::string(id) + R"(","role":")" + role + "\"" +
         std::string(info) + R"(},"parts":[{"id":"prt_1",)" + std::string(part) + "}]}\n";
}

TEST(Transcript, ACompactionOfOpencodeStandsForWhatItDroppedAndKeepsItsTail) {
  const std::string session =
      R"({"info":{"id":"ses_1"}})"
      "\n" +
      opencode_message("user", "msg_1", "", R"("type":"text","text":"one")") +
      opencode_message("assistant", "msg_2", R"(,"finish":"stop")",
                       R"("type":"text","text":"two")") +
      opencode_message("user", "msg_3", "", R"("type":"text","text":"three")") +
      opencode_message("user", "msg_4", "",
                       R"("type":"compaction","auto":true,"tail_start_id":"msg_3")") +
      opencode_message("assistant", "msg_5",
                       R"(,"parentID":"msg_4","summary":true,"finish":"stop")",
                       R"("type":"text","text":"sum")") +
      opencode_message("user", "msg_6", "", R"("type":"text","text":"six")");
  const ImportedTranscript read = read_transcript(session).value();
  ASSERT_EQ(read.compactions.size(), 1u);
  EXPECT_EQ(read.compactions[0].summary, 4u);
  EXPECT_EQ(read.compactions[0].list, (std::vector<std::size_t>{3, 4, 2}));
  History history;
  for (const Operation& operation : operations_of(read))
    history = history.apply(operation, {}).value().history;
  std::vector<std::string> said;
  for (const Message& message : history.view()) said.push_back(message.text());
  EXPECT_EQ(said, (std::vector<std::string>{"What did we do so far?", "sum", "three", "six"}));
}

TEST(Transcript, WhatTheUserTookBackInOpencodeIsLeftOut) {
  const std::string session =
      R"({"info":{"id":"ses_1","revert":{"messageID":"msg_2"}}})"
      "\n" +
      opencode_message("user", "msg_1", "", R"("type":"text","text":"one")") +
      opencode_message("assistant", "msg_2", "", R"("type":"text","text":"two")") +
      opencode_message("user", "msg_3", "", R"("type":"text","text":"three")");
  const ImportedTranscript read = read_transcript(session).value();
  ASSERT_EQ(read.messages.size(), 1u);
  EXPECT_EQ(read.left_out.at("a message that was taken back"), 2u);
}

TEST(Transcript, OfASessionThatGrewOnlyWhatIsNewIsStored) {
  for (const std::string_view session : growing_sessions) {
    const History whole = played(session);
    for (const std::string_view beginning : beginnings(session)) {
      History history = played(beginning);
      grow(history, session);
      EXPECT_EQ(said(history), said(whole)) << beginning;
      EXPECT_EQ(history.stats().total_messages, whole.stats().total_messages) << beginning;
    }
  }
}

TEST(Transcript, WhatDidNotComeFromTheFileStaysInItsPlace) {
  for (const std::string_view session : growing_sessions) {
    const Texts expected = said(played(session));
    for (const std::string role : {"user", "assistant"}) {
      const Message note =
          Message::parse(R"({"role":")" + role + R"(","content":"by hand"})").value();
      const std::vector<std::string_view> parts = beginnings(session);
      History history = played(parts.front());
      history = history.apply({op::Append{{note}}}, {}).value().history;
      for (const std::string_view part : parts) {
        grow(history, part);
        Texts texts = said(history);
        EXPECT_EQ(std::erase(texts, "by hand"), 1u) << part;
        EXPECT_EQ(texts, said(played(part))) << part;
      }
      grow(history, session);
      Texts texts = said(history);
      EXPECT_EQ(std::erase(texts, "by hand"), 1u);
      EXPECT_EQ(texts, expected);
    }
  }
}

TEST(Transcript, BehindTheListOfAnotherClientASessionIsAddedAndGrows) {
  const std::vector<Message> other = {Message::make(Role::user, "x").value(),
                                      Message::make(Role::assistant, "y").value(),
                                      Message::make(Role::user, "z").value()};
  for (const std::string_view session : growing_sessions) {
    History history =
        History().apply({client_list(find_client("anthropic").value(), other)}, {}).value().history;
    history = history
                  .apply({op::Compress{Names::indices({0, 1}),
                                       Message::make(Role::user, "x and y").value()}},
                         {})
                  .value()
                  .history;
    for (const std::string_view part : beginnings(session)) grow(history, part);
    grow(history, session);
    Texts expected = {"x and y", "z"};
    for (const std::string& text : said(played(session))) expected.push_back(text);
    EXPECT_EQ(said(history), expected);
    EXPECT_EQ(said_when_expanded(history, 0)[1], "y");
  }
}

TEST(Transcript, AnAnswerThatWasReadInPartIsReplacedByTheWholeOne) {
  const std::string first =
      R"({"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"u1"}}
{"type":"assistant","uuid":"2","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"a1"}]}})";
  const std::string more = first + R"(
{"type":"assistant","uuid":"3","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"and more"}]}})";
  History history = played(first);
  grow(history, more);
  EXPECT_EQ(said(history), (Texts{"u1", "a1\nand more"}));
  // Also where results stand behind what was read of it.
  const std::string begun = claude_says("1", "", "user", "u1") + claude_calls("2", "1", "m1", "x") +
                            claude_result("3", "2", "x");
  history = played(begun);
  grow(history, begun + claude_calls("4", "2", "m1", "y") + claude_result("5", "4", "y"));
  EXPECT_EQ(said(history), (Texts{"u1", "Read", "result x", "result y"}));
  EXPECT_EQ(read_blocks(history.view()[1]).size(), 2u);
}

}  // namespace
}  // namespace undertext
