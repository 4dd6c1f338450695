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
// leaves the index. The files of the programs are only read. One thread's.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/found.hpp"
#include "sessions/info.hpp"

namespace undertext {

struct IndexedSession {
  FoundSession file;  // when it was read last
  std::string id;     // session_conversation_id()
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
  bool refresh(const std::vector<FoundSession>& found, Depth depth,
               const std::atomic<bool>* stop = nullptr);

  // In one step, for its owner alone. unavailable.
  std::optional<Error> save() const;

  const std::vector<IndexedSession>& sessions() const { return sessions_; }  // by path
  const IndexedSession* find(std::string_view id) const;

 private:
  std::string path_;
  std::vector<IndexedSession> sessions_;
};

// $XDG_CACHE_HOME or ~/.cache, and undertext/sessions in it; nothing for a user without a home.
std::optional<std::string> default_session_index();

// Of the last bytes before the offset: whether what was read is still there.
std::uint64_t session_digest(int descriptor, std::uint64_t offset);

// Removes the index. Whether there was one.
bool forget_sessions(const std::string& path);

}  // namespace undertext
