// Where coding agents keep their sessions: one table of programs and folders.
//
//     claude-code    $CLAUDE_CONFIG_DIR or ~/.claude      projects/**/*.jsonl
//     codex          $CODEX_HOME or ~/.codex              sessions/**/rollout-*.jsonl, archived_sessions/**
//     opencode       $XDG_DATA_HOME or ~/.local/share     opencode/*.db, opencode/storage (sessions/opencode.hpp)
//     pi             $PI_CODING_AGENT_DIR or ~/.pi/agent  sessions/**/*.jsonl
//
// Files are only read, and links to folders are not followed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/transcript.hpp"

namespace undertext {

// A file, as its folder has it; or a session in a file of many.
struct FoundSession {
  TranscriptFormat format = TranscriptFormat::messages;
  std::string path;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t changed_at_ns = 0;
  // its id, where the file has many: size and time are then numbers that change with it
  std::string within = {};
};

// All of them, by path, and by id within it. A folder that cannot be read has none.
std::vector<FoundSession> find_sessions();

// The id of the conversation that a session becomes: the program, a dot, and what its file's name
// says; with a digest of the file's path where another file has that name already.
enum class SessionName : std::uint8_t { short_one, with_place };
std::string session_conversation_id(const FoundSession& session,
                                    SessionName name = SessionName::short_one);

}  // namespace undertext
