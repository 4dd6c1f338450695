// Conversations that other programs wrote down, as messages.
//
//     messages       a JSON array of messages, one message a line, or the body of a request: {"system":…,"messages":[…]}
//     codex          a session file of Codex CLI (rollout-….jsonl)
//     claude-code    a session file of Claude Code (….jsonl)
//
// Messages are taken as they are where they are messages already. What a session file says besides is kept in `metadata`, or counted as left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>

namespace undertext {

enum class TranscriptFormat : std::uint8_t { messages, codex, claude_code };
std::string_view name(TranscriptFormat format);
std::optional<TranscriptFormat> transcript_format_named(std::string_view name);

struct ImportedTranscript {
  TranscriptFormat format = TranscriptFormat::messages;
  std::vector<Message> messages = {};
  // Where the program went on with another list: a summary, and what it kept.
  struct Compaction {
    std::size_t at = 0;                       // how many messages there were
    std::size_t end = 0;                      // and with those that it wrote for the new list
    std::vector<std::size_t> list = {};       // which of the messages it is
    std::optional<std::size_t> summary = {};  // the one among them that stands for the rest
  };
  std::vector<Compaction> compactions = {};
  std::map<std::string, std::uint64_t> left_out = {};  // what, and how many lines or messages of it
};

// invalid_argument: it is none of these, or `format` is another; with the line where there are lines.
Result<ImportedTranscript> read_transcript(std::string_view text, std::optional<TranscriptFormat> format = {},
                                           const MessageLimits& limits = {});

// What makes a conversation of it, with the compactions: APPEND, or RECONCILE for each list that the program had.
std::vector<Operation> operations_of(const ImportedTranscript& transcript);

}  // namespace undertext
