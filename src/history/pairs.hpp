// Units under the knife: which of them an edit of a view breaks, and how to avoid it. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/history.hpp>
#include <undertext/operation.hpp>

#include "history/placed_view.hpp"

namespace undertext {

// An edit of a view, described by what it does to the view before it.
struct ViewChange {
  Stretches kept;                    // what stays, rising, not touching
  std::vector<std::uint64_t> seams;  // rising indices before which something goes or comes
};

// What leads from one view to another. O(log n) where they share all but one stretch at which only
// one of them has messages; else O(log n) for each message between the first that differs and the
// last.
ViewChange change_between(const PlacedView& before, const PlacedView& after);
// The same for views that stand in the log's order. O(log n) for each stretch that stays, goes or
// comes.
ViewChange change_in_order(const PlacedView& before, const PlacedView& after);

// Drops, or keeps, the rest of the units that keeping `kept` would break, until none is broken.
// `pinned` (rising indices) are never dropped.
Stretches mend_units(const Log& log, const PlacedView& before, Stretches kept, Pairs pairs,
                     const std::vector<std::uint64_t>& pinned);

// A message that stays while all its partners for one id go.
struct Half {
  std::uint64_t index = 0;
  std::uint32_t ordinal = 0;
  std::uint64_t link = 0;  // in Log::links
  std::uint64_t hash = 0;
  bool is_call = false;
  std::vector<std::uint64_t> partners = {};  // indices
  std::uint32_t partner_ordinal = 0;         // of one of them
  // nothing that stays mentions the id from the other side
  bool is_alone = false;
};

// Rising by index and link. Costs O(log n) for each link of what is hidden, or for each edge of
// `kept` and each link of the messages that reach across one, or O(1) for each message of the view
// and each link of the log, whichever is least.
std::vector<Half> halves(const Log& log, const PlacedView& before, const Stretches& kept);

// Where a result among `lost` finds another call in `after`, or may come to, it is linked to it.
// Nothing has to be looked for where the view only loses messages and a half is alone.
void relink(const Log& log, const std::vector<Half>& lost, PlacedView& after, bool only_hides);

// The messages of `after` that had their partner in `before` and have none now, in view order; also
// reasoning that had a call and has none now.
// `lost`: what halves() says of the change. `only_hides`: nothing in `after` mentions an id and was
// not in `before`.
std::vector<Warning> warnings_of(const Log& log, const PlacedView& before, const ViewChange& change,
                                 const std::vector<Half>& lost, const PlacedView& after,
                                 bool only_hides);

// Whether a call stays without the reasoning it follows from, or reasoning without one of its
// calls, with nothing in their place.
bool splits_reasoning(const Log& log, const PlacedView& before, const Stretches& kept,
                      const PlacedView& after);

// `before` without what is not kept. Where a message finds another partner by that, it is linked to
// it.
PlacedView only_kept(const Log& log, const PlacedView& before, const Stretches& kept);

// For tests: the three ways to find halves.
std::vector<Half> halves_by_edges(const Log& log, const PlacedView& before, const Stretches& kept);
std::vector<Half> halves_by_hidden(const Log& log, const PlacedView& before, const Stretches& kept);
std::vector<Half> halves_by_walk(const Log& log, const PlacedView& before, const Stretches& kept);

}  // namespace undertext
