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

Result<Message> message_of(const MessageFields& fields, const MessageLimits& limits);
// Adds the message, or counts it as left out where it is no message.
void add_message(ImportedTranscript& transcript, const MessageFields& fields,
                 const MessageLimits& limits);
void leave_out(ImportedTranscript& transcript, const Error& refused);
bool says_result(const Message& message);  // of a tool

// Behind which message an entry of a tree stands.
struct EntryPlace {
  std::optional<std::size_t> message;  // nothing: before all of them
};

// The list that a program has by now, as it is read: places among the messages.
class CurrentList {
 public:
  explicit CurrentList(ImportedTranscript& transcript) : transcript_(transcript) {}
  const std::vector<std::size_t>& list();  // with all messages that were read
  bool has(std::size_t message);
  // by a compaction; one of them may be the next message
  void replace(std::vector<std::size_t> list);
  // The next message stands there: what stood behind it leaves the list, where there is an answer
  // or a prompt among it. What a compaction kept stays, and so do the results of an answer's calls.
  void go_back_to(EntryPlace place);
  // This message leaves the list, and all behind it.
  void take_back_from(std::size_t message);

 private:
  struct Found {
    std::size_t at;
    bool is_another_list;
  };
  std::optional<Found> find_in_newest_list(std::size_t message);
  std::vector<std::size_t> list_before(std::size_t compaction) const;
  std::size_t floor_of(const std::vector<std::size_t>& list, std::size_t compactions) const;
  void cut(std::size_t size);

  ImportedTranscript& transcript_;
  std::vector<std::size_t> list_;
  std::size_t read_ = 0;   // messages that are in the list, or were
  std::size_t floor_ = 0;  // how many of the list a compaction made
};

// Items, and how many of the last turns the user took back.
class CodexReader {
 public:
  CodexReader(ImportedTranscript& transcript, const MessageLimits& limits)
      : transcript_(transcript), limits_(limits), list_(transcript) {}
  void read(JsonValue line);

 private:
  void read_turn_item(JsonValue item, std::optional<std::int64_t> timestamp_ms);
  void read_rollback(JsonValue event);

  ImportedTranscript& transcript_;
  const MessageLimits& limits_;
  CurrentList list_;
  std::vector<std::size_t> turns_;      // the first message of each
  std::optional<std::size_t> context_;  // of the program, behind which nothing else was read yet
};
bool is_codex_line(JsonValue line);

// A tree of entries, of which the last one and what it goes back to is the list.
class PiReader {
 public:
  PiReader(ImportedTranscript& transcript, const MessageLimits& limits)
      : transcript_(transcript), limits_(limits), list_(transcript) {}
  void read(JsonValue line);

 private:
  void read_message(JsonValue line, JsonValue message);
  void read_compaction(JsonValue line);
  void read_words(JsonValue line, std::string_view content);
  void add(JsonValue line, const MessageFields& fields);
  void pass_over(JsonValue line);
  void follow(JsonValue line);
  std::optional<EntryPlace> parent_of(JsonValue line) const;

  ImportedTranscript& transcript_;
  const MessageLimits& limits_;
  CurrentList list_;
  std::map<std::string, EntryPlace> by_id_;  // which message an entry is, or stands behind
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

// A tree of lines: a prompt that follows an earlier one begins another branch, and that is what the
// program resumes. Lines of one answer, which Claude Code writes part by part, are joined, also
// where results of its first calls stand between them. The work of a sub-agent is left out of the
// session that asked it; a file of its own has nothing else.
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

 private:
  struct Line {
    EntryPlace place;
    bool is_message = false;  // or part of it; else it stands behind it
    std::string parent;
  };
  void read_boundary(JsonValue line);
  void read_attachment(JsonValue line);
  void read_leaf(JsonValue line);
  void read_more(JsonValue line, JsonValue content);
  void add(JsonValue line, const MessageFields& fields);
  void note_summary(std::size_t message);
  void note_message(JsonValue line, std::size_t message);
  void pass_over(JsonValue line);
  void follow(JsonValue line);
  std::optional<EntryPlace> parent_of(JsonValue line) const;
  std::vector<std::string> preserved_by(JsonValue metadata) const;
  void add_results_between(std::vector<std::size_t>& list);
  bool is_left_out(JsonValue line) const {
    return !takes_sidechains_ && true_member(line, "isSidechain");
  }

  ImportedTranscript& transcript_;
  const MessageLimits& limits_;
  const bool takes_sidechains_;
  CurrentList list_;
  std::string answer_id_;  // of the answer that may go on; empty: none does
  MessageFields answer_;
  std::string parts_;                     // its content so far, without brackets
  std::optional<std::size_t> answer_at_;  // its message; nothing: what it said so far is none
  bool keeps_first_ = false;              // the last compaction: its summary stands behind the kept
  std::map<std::string, Line> by_uuid_;
};
bool is_claude_code_line(JsonValue line);
// as it is counted
inline constexpr std::string_view sidechain = "sidechain, the work of a sub-agent";

}  // namespace undertext
