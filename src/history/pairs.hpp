// Tool pairs under the knife: which of them an edit of a view breaks, and how to avoid it. Pure functions.
//
// An edit is described by what it keeps: `kept` are the stretches of the view before it that stay, rising, not touching.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/history.hpp>
#include <undertext/operation.hpp>

#include "history/placed_view.hpp"

namespace undertext {

// What of `before` is in `after` too. O(log n) where they share all but one stretch at which only one of them has messages.
Stretches kept_between(const PlacedView& before, const PlacedView& after);

// Drops, or keeps, the other halves of the pairs that keeping `kept` would break, until none is broken. `pinned` (rising indices) are
// never dropped.
Stretches mend_pairs(const Log& log, const PlacedView& before, Stretches kept, Pairs pairs,
                     const std::vector<std::uint64_t>& pinned);

// The messages of `after` that had their partner in `before` and have none now, in view order. One that has found another partner, because
// an id is used twice, is linked to it. O(log n) for each edge of `kept` and each pair across it.
std::vector<Warning> broken_pairs(const Log& log, const PlacedView& before, const Stretches& kept, PlacedView& after);

// `before` without what is not kept. Where a message finds another partner by that, it is linked to it.
PlacedView only_kept(const Log& log, const PlacedView& before, const Stretches& kept);

}  // namespace undertext
