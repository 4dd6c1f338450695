// Where a view may be cut: between turns, never inside a unit (units.hpp), or a turn in which a
// model thinks between its tool calls. Pure functions.
//
//     user   assistant(call 1, call 2)   tool 1   tool 2   assistant(thinking, call 3)   tool 3   assistant   user
//   |      |                           ×        ×        ×                             ×        ×           |      |
//
// Pairs are found by `reach`, which the tree keeps summed, so a cut is judged in O(log n). Whether
// the model's thinking joins a result to what follows it can be seen at the cut itself. A long unit
// costs no more than a short one: the pair that ends last is looked for.
#pragma once

#include <cstdint>

#include "history/placed_view.hpp"
#include "history/stretches.hpp"

namespace undertext {

// What counts as whole. A long run of thinking and tools is a single turn, of which nothing could
// ever be hidden. Providers refuse a tool loop that does not begin with thinking, and a step in
// part; they accept one whose earlier steps are absent. So it may also be cut before a step with
// its own reasoning.
enum class Whole : std::uint8_t { turns, steps };

bool is_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index);
std::uint64_t next_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index,
                             Whole whole = Whole::turns);  // at or after
std::uint64_t previous_legal_cut(const Log& log, const PlacedView& view, std::uint64_t index,
                                 Whole whole = Whole::turns);  // at or before

// `kept` and what belongs to it: no unit and no turn (or step) has one part in the answer and
// another not. Calls of one time that stand in messages of their own belong together.
Stretches with_whole_turns(const Log& log, const PlacedView& view, Stretches kept,
                           Whole whole = Whole::turns);

}  // namespace undertext
