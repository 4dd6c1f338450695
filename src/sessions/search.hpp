// Words in sessions, found in the files themselves: nothing of what they say is kept beside them.
//
// A line holds a word if one of its strings does, whatever its case in ASCII. Files are scanned by
// several threads; only lines that hold the bytes of every word are read as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/index.hpp"

namespace undertext {

struct SessionHit {
  const IndexedSession* session = nullptr;
  std::uint64_t lines = 0;   // that hold all words
  std::string excerpt = {};  // of the last of them, around a word
};

// The newest sessions first, at most `limit`. Nothing for a text without words. The hits point into
// `sessions`.
std::vector<SessionHit> search_sessions(const std::vector<IndexedSession>& sessions,
                                        std::string_view text, std::size_t limit = 100);

}  // namespace undertext
