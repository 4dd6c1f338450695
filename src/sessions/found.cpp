#include "sessions/found.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/text_hash.hpp"
#include "sessions/opencode.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

namespace fs = std::filesystem;

struct Place {
  TranscriptFormat format;
  const char* variable;
  const char* otherwise;  // below the home folder
  const char* folder;
  std::string_view begins;  // of a file's name
};

constexpr Place places[] = {
    {TranscriptFormat::claude_code, "CLAUDE_CONFIG_DIR", ".claude", "projects", ""},
    {TranscriptFormat::codex, "CODEX_HOME", ".codex", "sessions", "rollout-"},
    {TranscriptFormat::codex, "CODEX_HOME", ".codex", "archived_sessions", "rollout-"},
    {TranscriptFormat::pi, "PI_CODING_AGENT_DIR", ".pi/agent", "sessions", ""},
};

std::optional<fs::path> folder_of(const Place& place) {
  if (const char* const named = std::getenv(place.variable); named && *named)
    return fs::path(named) / place.folder;
  const char* const home = std::getenv("HOME");
  if (!home || !*home) return {};
  return fs::path(home) / place.otherwise / place.folder;
}

constexpr int depth_max = 8;

void find_in(const Place& place, const fs::path& folder, int depth, FoundSessions& found) {
  for (const fs::directory_entry& entry : entries_of(folder, found.unread)) {
    std::error_code error;
    if (depth < depth_max && !entry.is_symlink(error) && entry.is_directory(error))
      find_in(place, entry.path(), depth + 1, found);
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".jsonl") || !name.starts_with(place.begins)) continue;
    std::string path = entry.path().string();
    const std::optional<FileStatus> status = status_of(path);
    if (!status && !means_gone(errno)) found.unread.push_back(path);
    if (!status || !status->is_regular) continue;
    found.sessions.push_back(
        {place.format, std::move(path), status->inode, status->size_bytes, status->written_ns});
  }
}

bool may_be_in_an_id(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

FoundSessions find_sessions() {
  FoundSessions found;
  for (const Place& place : places)
    if (const std::optional<fs::path> folder = folder_of(place)) find_in(place, *folder, 0, found);
  find_opencode_sessions(found);
  std::sort(found.sessions.begin(), found.sessions.end(),
            [](const FoundSession& a, const FoundSession& b) {
              return a.path == b.path ? a.within < b.within : a.path < b.path;
            });
  return found;
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder,
                                            std::vector<std::string>& unread) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(*at);
  if (error && !means_gone(error.value())) unread.push_back(folder.string());
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool means_gone(int error) { return error == ENOENT || error == ENOTDIR; }

std::string session_conversation_id(const FoundSession& session, std::uint32_t number) {
  const fs::path path(session.path);
  std::string stem = session.within.empty() ? path.stem().string() : session.within;
  // rollout-2026-11-18T12-16-54-UUID: the time is part of every rollout, the rest tells them apart.
  constexpr std::size_t uuid_length = 36;
  if (session.format != TranscriptFormat::claude_code && stem.size() > uuid_length)
    stem = stem.substr(stem.size() - uuid_length);
  // A sub-agent's file lies in a folder of the session that asked it.
  if (path.parent_path().filename() == "subagents")
    stem = path.parent_path().parent_path().filename().string() + "." + stem;
  for (char& c : stem)
    if (!may_be_in_an_id(c) && c != '.') c = '-';
  constexpr std::size_t length_max = 128;
  const std::string id = std::string(name(session.format)) + "." + stem;
  if (number == 0) return id.substr(0, length_max);
  std::string place = ".";
  std::string file = session.path + "\n" + session.within;
  if (number > 1) file += "\n" + std::to_string(number);
  for (std::uint64_t digest = text_hash(file), i = 0; i < 16; ++i, digest >>= 4)
    place += "0123456789abcdef"[digest & 15];
  return id.substr(0, length_max - place.size()) + place;
}

}  // namespace undertext
