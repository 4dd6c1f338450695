// SHOW: what returns with a hidden message, and what stands in its way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "history/state.hpp"

namespace undertext {

// The message of the view that stands for a hidden one, or for something that does. O(log n) for each message made from it.
std::optional<std::uint32_t> stand_in(const Log& log, const PlacedView& view, std::uint32_t ordinal);

// `ordinals`, which the head's view does not show, with the rest of their units as far as it is hidden too and nothing in the view stands for it; in
// the log's order. A unit is what it was in the newest kept version that shows the message: O(log n) for each version since, and what they changed.
std::vector<std::uint32_t> with_hidden_units(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals);

}  // namespace undertext
