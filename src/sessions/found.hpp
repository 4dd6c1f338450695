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
#include <filesystem>
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

struct FoundSessions {
  std::vector<FoundSession> sessions;  // by path, and by id within it
  // Folders and files that are there and could not be read: what was known there may still exist.
  std::vector<std::string> unread;
};
FoundSessions find_sessions();

// By path. A folder that is there and cannot be read to its end is added to `unread`.
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder,
                                                         std::vector<std::string>& unread);

// Whether a call failed with this errno because there is nothing of that name.
bool means_gone(int error);

// The id of the conversation that a session becomes: the program, a dot, and what its file's name
// says. `number` counts the choices: from 1 on it ends with a digest of the file's path and the
// number, where another session has that name already.
std::string session_conversation_id(const FoundSession& session, std::uint32_t number = 0);

}  // namespace undertext
