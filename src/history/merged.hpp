// Messages that came from a fork of the conversation, and where they came from.
//
// Nothing is kept for this beside the operations: the version that stored a message says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <undertext/history.hpp>

namespace undertext {

// The MERGE_FORK whose summary is the message at this index of the view; null: it is none, or there
// is no such index. O(log n). Valid while `rep` is.
const op::MergedFork* summary_of_fork_at(const History::Rep& rep, std::uint64_t index);

// Where a message came from; nothing, if it is of this conversation. O(log n).
std::optional<ForkedFrom> forked_from(const History::Rep& rep, std::uint64_t ordinal);

// All that operations since `first_version` took from forks, oldest first. O(versions).
struct TakenFromFork {
  std::uint64_t version = 0;  // of the operation
  std::uint64_t first = 0;    // the ordinal of the first message that it stored
  std::string from;           // the fork
  std::uint64_t fork_version = 0;
  // in the fork's log, of the messages from `first` on; none: a summary
  std::vector<std::uint64_t> ordinals = {};
};
std::vector<TakenFromFork> taken_from_forks(const History::Rep& rep,
                                            std::uint64_t first_version = 0);

}  // namespace undertext
