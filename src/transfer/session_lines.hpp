// What the readers of session files have in common.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.hpp"
#include "transfer/transcript.hpp"

namespace undertext {

// Milliseconds since 1970 of a time such as 2025-12-08T00:37:46.102Z or …+02:00; nothing when it is
// spelled otherwise.
std::optional<std::int64_t> read_iso_time(std::string_view text);

// The same time, in UTC: 2025-12-08T00:37:46.102Z.
std::string iso_time(std::int64_t ms);

// The member as a string; empty when it is absent or no string.
std::string text_member(JsonValue object, std::string_view name);
bool true_member(JsonValue object, std::string_view name);

// A JSON text on one line, with nothing between its values.
std::string without_whitespace(std::string_view json);

// {"a":…} with every member but those named; empty when there is none.
std::string members_without(JsonValue object, std::initializer_list<std::string_view> names);

// A message being put together. Fields are JSON; empty ones are left away.
struct MessageFields {
  std::string role, content, tool_calls, tool_call_id;
  std::optional<std::int64_t> timestamp_ms = {};
  std::string id;
  std::string_view origin;  // under which name the rest is kept in metadata
  std::string rest;
};

// Adds the message, or counts it as left out where it is no message.
void add_message(ImportedTranscript& transcript, const MessageFields& fields,
                 const MessageLimits& limits);

// One line of a session file.
void read_codex_line(ImportedTranscript& transcript, JsonValue line, const MessageLimits& limits);
bool is_codex_line(JsonValue line);

// The list that a program has by now, as it is read: places among the messages.
class CurrentList {
 public:
  explicit CurrentList(ImportedTranscript& transcript) : transcript_(transcript) {}
  const std::vector<std::size_t>& list();  // with all messages that were read
  // by a compaction; one of them may be the next message
  void replace(std::vector<std::size_t> list);
  // The next message follows this one: what stood behind it leaves the list, where there is an
  // answer among it. What a compaction kept stays.
  void go_back_to(std::size_t message);

 private:
  ImportedTranscript& transcript_;
  std::vector<std::size_t> list_;
  std::size_t read_ = 0;   // messages that are in the list, or were
  std::size_t floor_ = 0;  // how many of the list a compaction made
};

// A tree of entries, of which the last one and what it goes back to is the list.
class PiReader {
 public:
  PiReader(ImportedTranscript& transcript, const MessageLimits& limits)
      : transcript_(transcript), limits_(limits), list_(transcript) {}
  void read(JsonValue line);

 private:
  void read_message(JsonValue line, JsonValue message);
  void read_compaction(JsonValue line);
  void follow(JsonValue line);

  ImportedTranscript& transcript_;
  const MessageLimits& limits_;
  CurrentList list_;
  std::map<std::string, std::size_t> by_id_;  // which message an entry is, or stands behind
};
bool is_pi_line(JsonValue line);

// Messages with their parts. Answers become one message for each of their steps.
class OpencodeReader {
 public:
  OpencodeReader(ImportedTranscript& transcript, const MessageLimits& limits)
      : transcript_(transcript), limits_(limits), list_(transcript) {}
  void read(JsonValue line);

 private:
  void read_message(JsonValue info, JsonValue parts);
  void read_user(JsonValue info, JsonValue parts);
  void read_answer(JsonValue info, JsonValue parts);
  void note_compaction(const std::string& parent, std::size_t summary);
  void finish_running();
  bool is_cut(JsonValue part) const;
  MessageFields fields_of(JsonValue info, std::string_view role) const;

  ImportedTranscript& transcript_;
  const MessageLimits& limits_;
  CurrentList list_;
  // the first message that one of the program's became
  std::map<std::string, std::size_t> by_id_;
  // prompts for summaries, and the first message kept; empty: none
  std::map<std::string, std::string> tails_;
  // calls of the last message that have no result yet
  std::vector<MessageFields> running_;
  // from here on the user took it back; empty: nothing
  std::string reverted_message_, reverted_part_;
  // of the message being read: its parts from here on are taken back
  std::string cut_at_;
  bool is_reverted_ = false;
};
bool is_opencode_line(JsonValue line);
bool is_opencode_export(JsonValue value);  // what `opencode export` prints

// Lines of one answer, which Claude Code writes part by part, are joined. The work of a sub-agent
// is left out of the session that asked it; a file of its own has nothing else.
class ClaudeCodeReader {
 public:
  enum class Sidechains : std::uint8_t { left_out, taken };

  ClaudeCodeReader(ImportedTranscript& transcript, const MessageLimits& limits,
                   Sidechains sidechains)
      : transcript_(transcript),
        limits_(limits),
        takes_sidechains_(sidechains == Sidechains::taken),
        list_(transcript) {}
  void read(JsonValue line);
  // The answer being joined, of which more parts may come, as the last message of this one.
  void finish_in(ImportedTranscript& transcript) const;

 private:
  void finish();
  void read_boundary(JsonValue line);
  void read_attachment(JsonValue line);
  void note_summary();
  void note_uuid(JsonValue line);
  void follow(JsonValue line, JsonValue message);
  bool is_left_out(JsonValue line) const {
    return !takes_sidechains_ && true_member(line, "isSidechain");
  }

  ImportedTranscript& transcript_;
  const MessageLimits& limits_;
  const bool takes_sidechains_;
  CurrentList list_;
  std::string answer_id_;  // of the answer being joined; empty: none is
  MessageFields answer_;
  std::string parts_;                           // its content so far, without brackets
  std::map<std::string, std::size_t> by_uuid_;  // which message a line is part of
};
bool is_claude_code_line(JsonValue line);
// as it is counted
inline constexpr std::string_view sidechain = "sidechain, the work of a sub-agent";

}  // namespace undertext
