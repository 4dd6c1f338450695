// Pruning old versions: what is left of a history without them, and which messages it still needs.
#pragma once

#include <vector>

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {

// The same history without the versions below `first`, which it has. Rows of pruned versions stay,
// without their operations.
History without_versions_below(const History& history, std::uint32_t first);

// By ordinal: whether a version shows the message, can roll back to it, can expand a summary of it,
// or has it marked.
std::vector<bool> needed_messages(const History& history);

}  // namespace undertext
