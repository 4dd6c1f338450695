#include "sessions/opencode.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/json_text.hpp"
#include "base/text_hash.hpp"
#include "system/files.hpp"
#include "transfer/session_lines.hpp"
#if UNDERTEXT_HAVE_SQLITE
#  include "sqlite/other_program.hpp"
#endif

namespace undertext {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t json_file_bytes_max = 256u << 20;

std::optional<fs::path> data_folder() {
  if (const char* const data = std::getenv("XDG_DATA_HOME"); data && *data == '/')
    return fs::path(data) / "opencode";
  const char* const home = std::getenv("HOME");
  if (!home || !*home) return {};
  return fs::path(home) / ".local" / "share" / "opencode";
}

std::vector<fs::path> paths_in(const fs::path& folder, std::vector<std::string>& unread) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries_of(folder, unread)) paths.push_back(entry.path());
  return paths;
}

std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<std::string> unread;
  return paths_in(folder, unread);
}

std::int64_t written_ns(const fs::path& path) {
  const std::optional<FileStatus> status = status_of(path.string());
  return status ? status->written_ns : 0;
}

std::int64_t as_time(const std::string& facts) {
  return static_cast<std::int64_t>(text_hash(facts) >> 1);
}

// Older versions: files.

fs::path messages_folder(const fs::path& session) {
  return session.parent_path().parent_path().parent_path() / "message" / session.stem();
}

fs::path parts_folder(const fs::path& session, const fs::path& message) {
  return session.parent_path().parent_path().parent_path() / "part" / message.stem();
}

// Nothing where it is no JSON: it is being written.
std::string json_of(const fs::path& path) {
  const OpenFile file = open_file(path.string(), OpenFor::reading_itself);
  if (!file || path.extension() != ".json") return {};
  std::string text = read_from(file.descriptor(), 0, json_file_bytes_max);
  return JsonText::parse(text, {.depth = 512}) ? without_whitespace(text) : std::string();
}

void find_files(const fs::path& data, const std::set<std::string>& known, FoundSessions& found) {
  for (const fs::path& project : paths_in(data / "storage" / "session", found.unread)) {
    for (const fs::path& path : paths_in(project, found.unread)) {
      if (path.extension() != ".json" || known.contains(path.stem().string())) continue;
      const std::optional<FileStatus> status = status_of(path.string());
      if (!status && !means_gone(errno)) found.unread.push_back(path.string());
      if (!status || !status->is_regular) continue;
      const std::string facts = std::to_string(status->written_ns) + "/" +
                                std::to_string(written_ns(messages_folder(path)));
      found.sessions.push_back({TranscriptFormat::opencode, path.string(), status->inode,
                                status->size_bytes, as_time(facts)});
    }
  }
}

std::string lines_of_files(const fs::path& session, OpencodeParts parts) {
  const std::string info = json_of(session);
  if (info.empty()) return {};
  std::string lines = R"({"info":)" + info + "}\n";
  for (const fs::path& message : paths_in(messages_folder(session))) {
    const std::string json = json_of(message);
    if (json.empty()) continue;
    lines += R"({"info":)" + json + R"(,"parts":[)";
    const char* separator = "";
    for (const fs::path& part : parts == OpencodeParts::all
                                    ? paths_in(parts_folder(session, message))
                                    : std::vector<fs::path>{})
      if (const std::string said = json_of(part); !said.empty())
        lines.append(std::exchange(separator, ",")).append(said);
    lines += "]}\n";
  }
  return lines;
}

// The last message's files come and go without its folder.
std::uint64_t stamp_of_files(const fs::path& session) {
  const std::int64_t session_ns = written_ns(session);
  if (session_ns == 0) return 0;
  std::string facts = std::to_string(session_ns);
  const fs::path folder = messages_folder(session);
  facts += "/" + std::to_string(written_ns(folder));
  if (const std::vector<fs::path> messages = paths_in(folder); !messages.empty()) {
    facts += "/" + std::to_string(written_ns(messages.back()));
    for (const fs::path& part : paths_in(parts_folder(session, messages.back())))
      facts += "/" + std::to_string(written_ns(part));
  }
  return text_hash(facts) | 1;
}

// The database.

#if UNDERTEXT_HAVE_SQLITE

// Nothing where it cannot be read at this moment: the program is writing, or opened it meanwhile.
std::optional<std::vector<FoundSession>> sessions_in(const fs::path& path, std::uint64_t inode) {
  OtherDatabase database(path.string());
  if (!database.is_open()) return {};
  std::vector<FoundSession> sessions;
  // Both lie in an index; of the parts, only those of the last message are looked at.
  OtherRows rows = database.rows(
      "SELECT id, time_updated, (SELECT count(*) FROM message WHERE session_id = session.id),"
      " (SELECT id FROM message WHERE session_id = session.id ORDER BY time_created DESC, id DESC "
      "LIMIT 1) FROM session");
  while (rows.next()) {
    FoundSession session{TranscriptFormat::opencode, path.string(), inode};
    session.within = rows.text(0);
    session.size_bytes = static_cast<std::uint64_t>(rows.number(2));
    const std::string last(rows.text(3));
    std::string facts = std::to_string(rows.number(1)) + "/" + last;
    OtherRows newest = database.rows(
        "SELECT length(data), (SELECT count(*) FROM part WHERE message_id = message.id),"
        " (SELECT max(time_updated) FROM part WHERE message_id = message.id) FROM message WHERE id "
        "= ?",
        {last});
    if (newest.next())
      for (int column = 0; column < 3; ++column)
        facts += "/" + std::to_string(newest.number(column));
    session.changed_at_ns = as_time(facts);
    sessions.push_back(std::move(session));
  }
  if (database.was_disturbed()) return {};
  return sessions;
}

void find_rows(const fs::path& path, std::set<std::string>& known, FoundSessions& found) {
  const std::optional<FileStatus> status = status_of(path.string());
  if (!status && !means_gone(errno)) found.unread.push_back(path.string());
  if (!status || !status->is_regular) return;
  std::optional<std::vector<FoundSession>> sessions;
  for (int tries = 0; !sessions && tries < 3; ++tries) sessions = sessions_in(path, status->inode);
  if (!sessions) return found.unread.push_back(path.string());
  for (FoundSession& session : *sessions)
    if (known.insert(session.within).second) found.sessions.push_back(std::move(session));
}

// The row's JSON object, with what its columns say.
std::string with_ids(std::string_view data, const std::string& ids) {
  if (data.empty() || data.front() != '{') return "{" + ids + "}";
  const std::string rest = without_whitespace(data.substr(1));
  const bool is_empty = rest.starts_with('}');
  return "{" + ids + (is_empty ? "" : ",") + rest;
}

std::optional<std::string> lines_of_rows(const FoundSession& session, OpencodeParts with) {
  OtherDatabase database(session.path);
  if (!database.is_open()) return {};
  std::string lines;
  {
    OtherRows row = database.rows(
        "SELECT title, directory, time_created, time_updated, revert FROM session WHERE id = ?",
        {session.within});
    if (!row.next()) return database.was_disturbed() ? std::nullopt : std::optional(lines);
    lines = R"({"info":{"id":)" + json_string(session.within) + R"(,"title":)" +
            json_string(row.text(0)) + R"(,"directory":)" + json_string(row.text(1)) +
            R"(,"time":{"created":)" + std::to_string(row.number(2)) + R"(,"updated":)" +
            std::to_string(row.number(3)) + "}";
    if (const std::string_view revert = row.text(4); revert.starts_with('{'))
      lines += R"(,"revert":)" + without_whitespace(revert);
    lines += "}}\n";
  }
  const std::string of_session = R"(,"sessionID":)" + json_string(session.within);
  for (OtherRows rows = database.rows(
           "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
           {session.within});
       rows.next();) {
    const std::string id(rows.text(0));
    lines += R"({"info":)" + with_ids(rows.text(1), R"("id":)" + json_string(id) + of_session) +
             R"(,"parts":[)";
    if (with == OpencodeParts::all) {
      const char* separator = "";
      for (OtherRows parts =
               database.rows("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", {id});
           parts.next();)
        lines.append(std::exchange(separator, ","))
            .append(with_ids(parts.text(1), R"("id":)" + json_string(parts.text(0))));
    }
    lines += "]}\n";
  }
  if (database.was_disturbed()) return {};
  return lines;
}

void find_databases(const fs::path& data, std::set<std::string>& known, FoundSessions& found) {
  if (const char* const named = std::getenv("OPENCODE_DB"); named && *named)
    find_rows(data / named, known, found);
  for (const fs::path& path : paths_in(data, found.unread))
    if (path.extension() == ".db" && path.filename().string().starts_with("opencode"))
      find_rows(path, known, found);
}

std::uint64_t stamp_of_rows(const FoundSession& session) {
  return OtherDatabase::stamp(session.path);
}

#else

void find_databases(const fs::path&, std::set<std::string>&, FoundSessions&) {}
std::optional<std::string> lines_of_rows(const FoundSession&, OpencodeParts) { return {}; }
std::uint64_t stamp_of_rows(const FoundSession&) { return 0; }

#endif

}  // namespace

void find_opencode_sessions(FoundSessions& found) {
  const std::optional<fs::path> data = data_folder();
  if (!data) return;
  std::set<std::string> known;
  find_databases(*data, known, found);
  find_files(*data, known, found);
}

std::string opencode_session_id(const FoundSession& session) {
  return session.within.empty() ? fs::path(session.path).stem().string() : session.within;
}

std::uint64_t opencode_stamp(const FoundSession& session) {
  return session.within.empty() ? stamp_of_files(session.path) : stamp_of_rows(session);
}

std::optional<std::string> opencode_lines(const FoundSession& session, OpencodeParts parts) {
  return session.within.empty() ? lines_of_files(session.path, parts)
                                : lines_of_rows(session, parts);
}

}  // namespace undertext
