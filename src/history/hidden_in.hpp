// Which version hid a message.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "history/state.hpp"

namespace undertext {

// By ordinal, the version since which the head's view and those before it do not show the message;
// of messages that no kept version shows, nothing. One walk from the head back to the oldest of
// these versions: O(log n) for each state on the way, and what they changed.
std::map<std::uint32_t, std::uint64_t> hidden_in(const History::Rep& rep,
                                                 std::set<std::uint32_t> ordinals);

}  // namespace undertext
