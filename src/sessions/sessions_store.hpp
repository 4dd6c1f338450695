// Sessions as the conversations of a store: what reads a store reads them.
//
// A session is read into memory when its conversation is asked for, and followed from then on:
// what the program appended to its file since comes with the next look. Until then the store knows
// of its messages only how many there are. Edits and forks stay in memory; the files are never
// written.
// Safe for any number of threads; reading one session does not keep the others waiting.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/store.hpp>

#include "sessions/index.hpp"

namespace undertext {

class SessionsStore : public Store {
 public:
  // The sessions there are by now. Others leave the list, and are found no more. An id names the
  // same session in every call: SessionIndex gives no id to two.
  virtual void replace(const std::vector<IndexedSession>& sessions) = 0;

  virtual std::optional<IndexedSession> session(std::string_view id) const = 0;

  struct Hit {
    std::string conversation;
    std::string excerpt;
  };
  // Words in the files of sessions that were not read yet: search_sessions().
  virtual std::vector<Hit> search_unread(std::string_view text, std::size_t limit) const = 0;
};

std::shared_ptr<SessionsStore> sessions_store(const std::vector<IndexedSession>& sessions);

}  // namespace undertext
