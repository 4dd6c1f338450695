// SHOW: what returns with a hidden message, and what stands in its way.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "history/state.hpp"

namespace undertext {

// The message of the view that stands for a hidden one, or for something that does. O(log n) for each message made from it.
std::optional<std::uint32_t> stand_in(const Log& log, const PlacedView& view, std::uint32_t ordinal);

// The same among `others`.
std::optional<std::uint32_t> stand_in(const Log& log, std::uint32_t ordinal, const std::set<std::uint32_t>& others);

// `ordinals`, which the head's view does not show, with the rest of their units; in the log's order. What is visible stays where it is, and so does what
// something visible or returning tells already: because it stands for it, or the other way round. A unit is what it was in the newest kept version that shows the message: O(log n) for each version since, and what they changed.
std::vector<std::uint32_t> with_hidden_units(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals);

}  // namespace undertext
