#include "sessions/index.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/bytes.hpp"
#include "base/text_hash.hpp"
#include "sessions/opencode.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t index_format = 4;
constexpr std::uint64_t end_bytes = 64u << 10;    // looked at, at either end
constexpr std::uint64_t digest_bytes = 4u << 10;  // before the offset
constexpr std::uint64_t piece_bytes = 1u << 20;
constexpr std::uint64_t line_bytes_max = 64u << 20;  // a longer one is passed over

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(open_file(path, OpenFor::reading_itself)) {}
  bool is_open() const { return static_cast<bool>(file_); }

  // Fewer at the end of the file.
  std::string at(std::uint64_t offset, std::uint64_t size) const {
    return read_from(file_.descriptor(), offset, size);
  }
  int descriptor() const { return file_.descriptor(); }
  std::uint64_t size_bytes() const {
    const std::optional<FileStatus> status = status_of(file_.descriptor());
    return status ? status->size_bytes : 0;
  }

 private:
  const OpenFile file_;
};

std::uint64_t digest_before(const Reader& file, std::uint64_t offset) {
  return session_digest(file.descriptor(), offset);
}

// Calls read(line) for every whole line from `offset` on; answers the offset behind the last of
// them.
template <class Read>
std::uint64_t read_lines(const Reader& file, std::uint64_t offset, const std::atomic<bool>* stop,
                         Read read) {
  std::string held;  // the beginning of a line
  bool passes_over = false;
  std::uint64_t at = offset;
  for (;;) {
    if (stop && stop->load(std::memory_order_relaxed)) return offset;
    const std::string piece = file.at(at, piece_bytes);
    if (piece.empty()) return offset;
    std::string_view rest = piece;
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1)) {
      if (!std::exchange(passes_over, false)) {
        if (held.empty()) {
          read(rest.substr(0, end));
        } else {
          read(held.append(rest.substr(0, end)));
        }
      }
      held.clear();
      offset = at + static_cast<std::uint64_t>(rest.data() - piece.data()) + end + 1;
    }
    held += rest;
    if (held.size() > line_bytes_max) {
      passes_over = true;
      held.clear();
    }
    at += piece.size();
  }
}

// What the ends of a session say. Nothing of it is kept but for the list: the sums come with the
// lines.
SessionInfo looked_at(const Reader& file, const FoundSession& found) {
  SessionInfo info;
  SessionReader reader(found.format, info);
  const std::string head = file.at(0, end_bytes);
  for (std::string_view rest = head; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    reader.read(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  if (found.size_bytes > 2 * end_bytes) {
    const std::string tail = file.at(found.size_bytes - end_bytes, end_bytes);
    std::string_view rest = tail;
    rest.remove_prefix(std::min(rest.size(), rest.find('\n') == std::string_view::npos
                                                 ? rest.size()
                                                 : rest.find('\n') + 1));
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1))
      reader.read(rest.substr(0, end));
  }
  info.messages = 0;
  info.tokens = info.before = {};
  info.cost = 0;
  info.answer.clear();
  return info;
}

void write(ByteOut& out, const SessionTokens& tokens) {
  for (const std::uint64_t number : {tokens.input, tokens.output, tokens.cache_read,
                                     tokens.cache_write, tokens.cache_write_hour})
    out.number(number);
}
SessionTokens read_tokens(ByteIn& in) {
  SessionTokens tokens;
  for (std::uint64_t* const number : {&tokens.input, &tokens.output, &tokens.cache_read,
                                      &tokens.cache_write, &tokens.cache_write_hour})
    *number = in.number();
  return tokens;
}

constexpr double cost_unit = 1e9;  // costs are kept in billionths of a dollar

void write(ByteOut& out, const IndexedSession& session) {
  out.number(static_cast<std::uint64_t>(session.file.format));
  out.text(session.file.path);
  out.text(session.file.within);
  out.text(session.id);
  for (const std::uint64_t number :
       {session.file.inode, session.file.size_bytes, session.offset, session.digest})
    out.number(number);
  out.signed_number(session.file.changed_at_ns);
  const SessionInfo& info = session.info;
  for (const std::string* const text : {&info.title, &info.project, &info.model, &info.answer})
    out.text(*text);
  out.signed_number(info.began_at_ms);
  out.signed_number(info.last_at_ms);
  out.number(info.messages);
  write(out, info.tokens);
  write(out, info.before);
  out.number(static_cast<std::uint64_t>(std::min(info.cost, session_cost_max) * cost_unit));
  out.flag(info.has_title);
}

IndexedSession read_session(ByteIn& in) {
  IndexedSession session;
  const std::uint64_t format = in.number();
  if (format > static_cast<std::uint64_t>(TranscriptFormat::opencode)) in.fail_newer();
  session.file.format = static_cast<TranscriptFormat>(format);
  session.file.path = std::string(in.text());
  session.file.within = std::string(in.text());
  session.id = std::string(in.text());
  for (std::uint64_t* const number :
       {&session.file.inode, &session.file.size_bytes, &session.offset, &session.digest})
    *number = in.number();
  session.file.changed_at_ns = in.signed_number();
  SessionInfo& info = session.info;
  for (std::string* const text : {&info.title, &info.project, &info.model, &info.answer})
    *text = std::string(in.text());
  info.began_at_ms = in.signed_number();
  info.last_at_ms = in.signed_number();
  info.messages = in.number();
  info.tokens = read_tokens(in);
  info.before = read_tokens(in);
  info.cost = std::min(static_cast<double>(in.number()) / cost_unit, session_cost_max);
  info.has_title = in.flag();
  return session;
}

bool is_same_file(const FoundSession& a, const FoundSession& b) {
  return a.inode == b.inode && a.size_bytes == b.size_bytes && a.changed_at_ns == b.changed_at_ns;
}

bool is_same(const IndexedSession& a, const IndexedSession& b) {
  return is_same_file(a.file, b.file) && a.info == b.info && a.offset == b.offset &&
         a.digest == b.digest;
}

bool ids_are_unique(const std::vector<IndexedSession>& sessions) {
  std::set<std::string_view> ids;
  return std::all_of(sessions.begin(), sessions.end(), [&](const IndexedSession& session) {
    return !session.id.empty() && ids.insert(session.id).second;
  });
}

// Whether the session is in the file now, whose name nobody knows yet: a project that was moved, a
// session that was archived. An inode alone may be that of an unrelated file: it is used again.
bool has_moved(const IndexedSession& session, const FoundSession& file) {
  if (session.file.format != file.format) return false;
  if (file.format == TranscriptFormat::opencode)
    return opencode_session_id(session.file) == opencode_session_id(file);
  if (session.file.inode != file.inode) return false;
  if (is_same_file(session.file, file)) return true;
  if (session.offset == 0 || file.size_bytes < session.offset) return false;
  const Reader reader(file.path);
  return reader.is_open() && digest_before(reader, session.offset) == session.digest;
}

bool is_in(const FoundSession& file, const std::string& place) {
  return file.path == place || file.path.starts_with(place + "/");
}

// Their files, where they are in places that could not be read.
std::vector<FoundSession> unread_of(const std::vector<IndexedSession>& sessions,
                                    const FoundSessions& found) {
  std::vector<FoundSession> unread;
  for (const IndexedSession& session : sessions)
    if (std::any_of(found.unread.begin(), found.unread.end(),
                    [&](const std::string& place) { return is_in(session.file, place); }))
      unread.push_back(session.file);
  return unread;
}

// Not in lines that are appended to: what a list says of it is little, and read again.
void read_opencode(IndexedSession& session, const FoundSession& found) {
  const std::optional<std::string> lines = opencode_lines(found, OpencodeParts::none);
  if (!lines || lines->empty()) return;  // again with the next look
  session.info = {};
  SessionReader reader(found.format, session.info);
  std::string_view rest = *lines;
  for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;
       rest.remove_prefix(end + 1))
    reader.read(rest.substr(0, end));
  session.offset = 1;
  session.file = found;
}

// Reads on; from the beginning where what was read is not there any more.
void read_on(IndexedSession& session, const FoundSession& found, const std::atomic<bool>* stop) {
  if (found.format == TranscriptFormat::opencode) return read_opencode(session, found);
  const Reader file(found.path);
  if (!file.is_open()) return;
  const bool goes_on = session.offset > 0 && session.file.inode == found.inode &&
                       found.size_bytes >= session.offset &&
                       digest_before(file, session.offset) == session.digest;
  if (!goes_on) {
    session.offset = 0;
    session.info = {};
  }
  SessionReader reader(found.format, session.info);
  session.offset =
      read_lines(file, session.offset, stop, [&](std::string_view line) { reader.read(line); });
  session.digest = digest_before(file, session.offset);
  session.file = found;
}

// Several files at a time. `sessions` are those found, in the same order.
void read_all(std::vector<IndexedSession>& sessions, const std::vector<FoundSession>& found,
              const std::vector<std::size_t>& which, const std::atomic<bool>* stop) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < which.size();) {
      if (stop && stop->load(std::memory_order_relaxed)) return;
      read_on(sessions[which[i]], found[which[i]], stop);
    }
  };
  const std::size_t threads =
      std::min<std::size_t>(which.size(), std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
}

}  // namespace

SessionIndex SessionIndex::load(std::string path) {
  SessionIndex index(std::move(path));
  const Reader file(index.path_);
  if (!file.is_open()) return index;
  constexpr std::uint64_t index_bytes_max = 1u << 30;
  const std::string bytes = file.at(0, std::min(index_bytes_max, file.size_bytes()));
  try {
    ByteIn in(bytes, "the index of sessions");
    if (in.number() != index_format) return index;
    std::vector<IndexedSession> sessions;
    for (std::uint64_t count = in.count(); count > 0; --count) sessions.push_back(read_session(in));
    in.end();
    if (ids_are_unique(sessions)) index.sessions_ = std::move(sessions);
  } catch (const Failure&) {  // it is made again
  }
  return index;
}

// Files of one name lie in several folders. The one that was found first, and of several new ones
// the first by path, has the name; the others say where they lie.
void SessionIndex::name_new(std::vector<IndexedSession>& sessions) {
  for (const IndexedSession& session : sessions)
    if (!session.id.empty()) named_.insert_or_assign(session.id, key_of(session.file));
  for (IndexedSession& session : sessions) {
    if (!session.id.empty()) continue;
    const Key key = key_of(session.file);
    for (std::uint32_t number = 0;; ++number) {
      session.id = session_conversation_id(session.file, number);
      const auto [at, is_free] = named_.emplace(session.id, key);
      if (is_free || at->second == key) break;
    }
  }
}

bool SessionIndex::refresh(const FoundSessions& look, Depth depth, const std::atomic<bool>* stop) {
  // by names of their own: sessions are moved from
  std::map<Key, IndexedSession*> known;
  for (IndexedSession& session : sessions_) known.emplace(key_of(session.file), &session);
  std::map<Key, FoundSession> found_by_key;
  for (const FoundSession& file : look.sessions) found_by_key.emplace(key_of(file), file);
  std::set<Key> kept;
  std::set<std::string> kept_opencode;
  for (const FoundSession& file : unread_of(sessions_, look)) {
    if (!found_by_key.emplace(key_of(file), file).second) continue;
    kept.insert(key_of(file));
    if (file.format == TranscriptFormat::opencode) kept_opencode.insert(opencode_session_id(file));
  }
  std::vector<FoundSession> found;
  for (auto& [key, file] : found_by_key)
    // Where its database could not be read, the older files of a session are found as well.
    if (file.format != TranscriptFormat::opencode || kept.contains(key) ||
        !kept_opencode.contains(opencode_session_id(file)))
      found.push_back(std::move(file));
  std::vector<IndexedSession*> gone;
  for (const auto& [key, session] : known)
    if (!found_by_key.contains(key)) gone.push_back(session);
  std::vector<IndexedSession> next;
  next.reserve(found.size());
  bool changed = found.size() != sessions_.size();
  std::vector<std::size_t> to_read;
  std::vector<IndexedSession> before;  // of these
  for (const FoundSession& file : found) {
    const auto at = known.find(key_of(file));
    IndexedSession* before_it = at != known.end() ? at->second : nullptr;
    if (!before_it) {
      const auto moved = std::find_if(gone.begin(), gone.end(), [&](const IndexedSession* session) {
        return has_moved(*session, file);
      });
      if (moved != gone.end()) {
        before_it = *moved;
        gone.erase(moved);
        before_it->file.path = file.path;
        before_it->file.within = file.within;
        changed = true;
      }
    }
    const bool is_new = !before_it;
    IndexedSession session = is_new ? IndexedSession{file, {}} : std::move(*before_it);
    const bool is_read = kept.contains(key_of(file)) ||
                         (!is_new && is_same_file(session.file, file) && session.offset > 0);
    const bool stops = stop && stop->load(std::memory_order_relaxed);
    if (!is_read && !stops) {
      const bool is_short =
          file.format == TranscriptFormat::opencode || file.size_bytes <= 2 * end_bytes;
      if (depth == Depth::whole || session.offset > 0 || is_short) {
        to_read.push_back(next.size());
        before.push_back(session);
        changed = changed || is_new;
      } else if (is_new || !is_same_file(session.file, file)) {
        const Reader reader(file.path);
        if (reader.is_open()) session.info = looked_at(reader, file);
        session.file = file;
        changed = true;
      }
    }
    next.push_back(std::move(session));
  }
  read_all(next, found, to_read, stop);
  // What has no whole line yet is read each time, and says nothing new.
  for (std::size_t i = 0; i < to_read.size(); ++i)
    changed = changed || !is_same(before[i], next[to_read[i]]);
  name_new(next);
  sessions_ = std::move(next);
  return changed;
}

std::optional<Error> SessionIndex::save() const {
  ByteOut out;
  out.number(index_format);
  out.number(sessions_.size());
  for (const IndexedSession& session : sessions_) write(out, session);
  const std::string beside = path_ + "." + std::to_string(process_id());
  remove_name(beside);  // left by a process of the same number
  OpenFile file = open_file(beside, OpenFor::making);
  if (file && write_all(file.descriptor(), out.bytes) && file.close() && rename_over(beside, path_))
    return {};
  Error error{ErrorCode::unavailable, path_ + ": " + std::strerror(errno)};
  remove_name(beside);
  return error;
}

const IndexedSession* SessionIndex::find(std::string_view id) const {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [&](const IndexedSession& each) { return each.id == id; });
  return found == sessions_.end() ? nullptr : &*found;
}

std::optional<std::string> default_session_index() {
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/undertext/sessions";
  const char* const home = std::getenv("HOME");
  if (!home || !*home) return {};
  return std::string(home) + "/.cache/undertext/sessions";
}

std::uint64_t session_digest(int descriptor, std::uint64_t offset) {
  const std::uint64_t first = offset - std::min(offset, digest_bytes);
  return text_hash(read_from(descriptor, first, offset - first));
}

bool forget_sessions(const std::string& path) { return remove_name(path); }

}  // namespace undertext
