// A conversation as a session file that another program resumes.
//
//     claude-code    projects/FOLDER/ID.jsonl in Claude Code's folder; from requests in Anthropic's form
//     codex          sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl in Codex's folder; from requests in the form of Responses
//
//     opencode       one line of JSON that `opencode import` takes; it keeps its sessions in a database. From requests in Anthropic's form
//
// The requests are rendered by the caller without system prompts: the program that resumes has its
// own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>
#include <undertext/error.hpp>

namespace undertext {

enum class SessionFormat : std::uint8_t { claude_code, codex, opencode };
std::string_view name(SessionFormat format);  // "claude-code", "codex", "opencode"
std::optional<SessionFormat> session_format_named(std::string_view name);
Dialect dialect_of(SessionFormat format);  // of the requests

struct SessionFacts {
  // its id and version: the same ones with the same requests give the same session id
  std::string conversation;
  std::uint64_t version = 0;
  std::string project;     // the folder that the program works in
  std::string model;       // empty: not known
  std::int64_t at_ms = 0;  // of the session's last line
  // whether a summary is the first message: only that can be marked as the program's own
  bool begins_with_summary = true;
  // whether one is the second message: where it answers opencode's question, it is opencode's own
  bool has_summary_second = false;
};

struct SessionFile {
  std::string id;
  std::string path;  // below the program's folder; empty: it keeps no files
  std::vector<std::string> lines;
};

// `now` is what the model is to see. `before`, where it is not empty, is what summaries of `now`
// stand for, with what stood before it: the program's own record of a compaction then stands
// between the two. opencode has no such record where `now` does not begin with a summary: the file
// then has `now` alone. invalid_argument: a request is not of the format's dialect.
Result<SessionFile> session_file(SessionFormat format, std::string_view before,
                                 std::string_view now, const SessionFacts& facts);

// How Claude Code calls the folder of a project.
std::string claude_code_folder(std::string_view project);

}  // namespace undertext
