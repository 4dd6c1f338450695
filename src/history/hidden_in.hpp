// Which version hid a message.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "history/state.hpp"

namespace undertext {

// For each of `ordinals`, the version since which the head's view and those before it do not show
// the message; nothing where it is visible, or no kept version shows it. One walk from the head back
// to the oldest of these versions: O(log n) for each state on the way, and what they changed.
std::vector<std::optional<std::uint64_t>> hidden_in(const History::Rep& rep,
                                                    const std::vector<std::uint32_t>& ordinals);

}  // namespace undertext
