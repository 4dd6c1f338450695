// Conversations that other programs wrote down, as messages.
//
//     messages       a JSON array of messages, one message a line, or the body of a request: {"system":…,"messages":[…]}
//     codex          a session file of Codex CLI (rollout-….jsonl)
//     claude-code    a session file of Claude Code (….jsonl)
//     pi             a session file of pi (….jsonl)
//     opencode       what `opencode export` prints, or its messages, one a line
//
// Messages are taken as they are where they are messages already. What a session file says besides
// is kept in `metadata`, or counted as left out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/client.hpp>
#include <undertext/error.hpp>
#include <undertext/history.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>

namespace undertext {

enum class TranscriptFormat : std::uint8_t { messages, codex, claude_code, pi, opencode };
std::string_view name(TranscriptFormat format);
std::optional<TranscriptFormat> transcript_format_named(std::string_view name);
ClientProfile client_of(TranscriptFormat format);  // whose lists it has

struct ImportedTranscript {
  TranscriptFormat format = TranscriptFormat::messages;
  std::vector<Message> messages = {};
  // Where the program went on with another list: a summary, and what it kept; or, where it went
  // back to an earlier message, what stood up to that.
  struct Compaction {
    std::size_t at = 0;                       // how many messages there were
    std::size_t end = 0;                      // and with those that it wrote for the new list
    std::vector<std::size_t> list = {};       // which of the messages it is
    std::optional<std::size_t> summary = {};  // the one among them that stands for the rest
  };
  std::vector<Compaction> compactions = {};
  std::map<std::string, std::uint64_t> left_out = {};  // what, and how many lines or messages of it
};

// invalid_argument: it is none of these, or `format` is another; with the line where there are
// lines.
Result<ImportedTranscript> read_transcript(std::string_view text,
                                           std::optional<TranscriptFormat> format = {},
                                           const MessageLimits& limits = {});

// Whether a file that begins with these lines has a message on each, so that they can be read one
// by one: there are two or more, and the first is an object.
bool are_message_lines(std::string_view first_lines, std::optional<TranscriptFormat> format = {});
// The message on line `number`; nothing on a blank one. invalid_argument and too_large, with the
// line.
Result<std::optional<Message>> read_message_line(std::string_view line, std::uint64_t number,
                                                 const MessageLimits& limits = {});

// What read_transcript() does for lines that come bit by bit, such as those of a session that goes
// on. One thread's.
class TranscriptReader {
 public:
  explicit TranscriptReader(TranscriptFormat format, const MessageLimits& limits = {});
  ~TranscriptReader();
  TranscriptReader(const TranscriptReader&) = delete;
  TranscriptReader& operator=(const TranscriptReader&) = delete;

  // The next lines. The first ones decide whether it is the session of a sub-agent. After an error
  // it is of no use any more.
  std::optional<Error> read(std::string_view text);
  ImportedTranscript transcript() const;  // of all lines so far

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

// What makes a conversation of it, with the compactions: APPEND, or RECONCILE for each list that
// the program had.
std::vector<Operation> operations_of(const ImportedTranscript& transcript);
// The same for a conversation that follows the program: always RECONCILE. Of a transcript that has
// grown, `known` is how many of its compactions the conversation has seen.
std::vector<Operation> following_operations(const ImportedTranscript& transcript,
                                            std::size_t known = 0);

// The same for a conversation that has other messages too, or was made from the transcript before
// it grew: only what is new is stored, and what the program never had stays in the list and in the
// view. For the version that `history` is at.
struct GrownTranscript {
  std::size_t known = 0;  // how many of its first messages the conversation has
  std::vector<Operation> operations = {};
};
Result<GrownTranscript> grown_operations(const History& history,
                                         const ImportedTranscript& transcript);

}  // namespace undertext
