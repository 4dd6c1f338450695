// SHOW: what returns with a hidden message, and what stands in its way.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "history/state.hpp"

namespace undertext {

// The message of the view, other than `leaving`, that stands for a hidden one, or for something
// that does. O(log n) for each message made from it.
std::optional<std::uint32_t> stand_in(const Log& log, const PlacedView& view, std::uint32_t ordinal,
                                      const std::set<std::uint32_t>& leaving = {});

// The same among `others`.
std::optional<std::uint32_t> stand_in(const Log& log, std::uint32_t ordinal,
                                      const std::set<std::uint32_t>& others);

// A message of the view that this one stands for, directly or through others. O(log n) for each of
// them.
std::optional<std::uint32_t> visible_original(const Log& log, const PlacedView& view,
                                              std::uint32_t ordinal);

// The messages of the view that REPLACE, MERGE, SPLIT and TRANSFORM made from what this one was
// made from, and itself. Rising.
std::vector<std::uint32_t> visible_copies(const Log& log, const PlacedView& view,
                                          std::uint32_t ordinal);

// `ordinals`, which the head's view does not show, with the rest of their units; in the log's
// order. What is visible stays where it is, and so does what something visible or returning tells
// already: because it stands for it, or the other way round. A unit is what it was in the newest
// kept version that shows the message: O(log n) for each version since, and what they changed.
std::vector<std::uint32_t> with_hidden_units(const History::Rep& rep,
                                             const std::vector<std::uint32_t>& ordinals);

}  // namespace undertext
