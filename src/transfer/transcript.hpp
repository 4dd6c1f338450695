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

namespace undertext {

enum class TranscriptFormat : std::uint8_t { messages, codex, claude_code };
std::string_view name(TranscriptFormat format);
std::optional<TranscriptFormat> transcript_format_named(std::string_view name);

struct ImportedTranscript {
  TranscriptFormat format = TranscriptFormat::messages;
  std::vector<Message> messages = {};
  // Before these of the messages the program had summarised what came before, and no longer sent it.
  std::vector<std::size_t> fresh_starts = {};
  std::map<std::string, std::uint64_t> left_out = {};  // what, and how many lines or messages of it
};

// invalid_argument: it is none of these, or `format` is another; with the line where there are lines.
Result<ImportedTranscript> read_transcript(std::string_view text, std::optional<TranscriptFormat> format = {},
                                           const MessageLimits& limits = {});

}  // namespace undertext
