// The sessions there are, as they were read last: a file of the user's own, which says how far each
// session was read.
//
//     SessionIndex index = SessionIndex::load(path);
//     index.refresh(find_sessions(), SessionIndex::Depth::list);    // titles, from both ends of what is new
//     index.refresh(find_sessions(), SessionIndex::Depth::whole);   // tokens and cost: all lines
//     index.save();
//
// A session grows by whole lines, so reading goes on where it ended: an offset, and a digest of the
// bytes before it. A last line without its line break is left for the next time. Where the digest
// is another one, or the file is shorter, it is read from its beginning. What the program deleted
// leaves the index; what is in a place that could not be read stays. The files of the programs are
// only read. One thread's.
//
// A session keeps its id while its file exists, also where the file is moved. The id of a deleted
// one goes to no other session of this index; an index that is loaded later may give it again.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sessions/found.hpp"
#include "sessions/info.hpp"

namespace undertext {

struct IndexedSession {
  FoundSession file;  // when it was read last
  std::string id;     // session_conversation_id(), of when it was found first
  SessionInfo info = {};
  std::uint64_t offset = 0;  // lines up to here were read; 0: only the ends were looked at
  std::uint64_t digest = 0;  // of the last bytes before it
};

class SessionIndex {
 public:
  // Empty where there is no file, or none that this release can read.
  static SessionIndex load(std::string path);
  explicit SessionIndex(std::string path) : path_(std::move(path)) {}

  enum class Depth : std::uint8_t {
    list,   // what is new is looked at from both ends: its title, project, model and time
    whole,  // every line that was not read yet
  };
  // Whether anything is different now. Ends early where `stop` becomes true.
  bool refresh(const FoundSessions& found, Depth depth, const std::atomic<bool>* stop = nullptr);

  // In one step, for its owner alone. unavailable.
  std::optional<Error> save() const;

  const std::vector<IndexedSession>& sessions() const { return sessions_; }  // by path
  const IndexedSession* find(std::string_view id) const;

 private:
  using Key = std::pair<std::string, std::string>;  // path, id within it
  static Key key_of(const FoundSession& file) { return {file.path, file.within}; }
  void name_new(std::vector<IndexedSession>& sessions);

  std::string path_;
  std::map<std::string, Key, std::less<>> named_;  // every id that was given, and whose it is
  std::vector<IndexedSession> sessions_;
};

// $XDG_CACHE_HOME or ~/.cache, and undertext/sessions in it; nothing for a user without a home.
std::optional<std::string> default_session_index();

// Of the last bytes before the offset: whether what was read is still there.
std::uint64_t session_digest(int descriptor, std::uint64_t offset);

// Removes the index. Whether there was one.
bool forget_sessions(const std::string& path);

}  // namespace undertext
