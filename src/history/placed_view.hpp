// A view as the engine keeps it: entries in view order, findable by ordinal. A value: copies share
// everything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <undertext/operation.hpp>

#include "history/log.hpp"
#include "history/pair_search.hpp"
#include "history/stretches.hpp"
#include "sequence/entry.hpp"

namespace undertext {

// This ordinal does not stand at the place of its own number. May speak of ordinals that are no
// longer in the view.
struct PlaceNote {
  std::uint32_t ordinal;
  std::uint32_t place;
  friend bool operator==(const PlaceNote&, const PlaceNote&) = default;
};
template <>
struct ItemCodec<PlaceNote> {
  static void write(PageOut& out, const PlaceNote* items, unsigned n);
  static std::vector<PlaceNote> read(PageIn& in, unsigned n);
};
using PlaceTree = ByOrdinal<PlaceNote>;

// Takes `erase` messages from index `at` on out, and puts stored messages in their place.
struct Splice {
  std::uint64_t at = 0;
  std::uint64_t erase = 0;
  std::vector<std::uint32_t> put = {};  // ordinals
};

struct PlacedView {
  EntryTree entries;
  PlaceTree places;  // ordered by ordinal

  std::uint64_t size() const { return entries.size(); }
  std::optional<std::uint64_t> index_of(std::uint32_t ordinal) const;  // O(log n)
  bool shows(std::uint32_t ordinal) const { return index_of(ordinal).has_value(); }

  // of the messages there, in order
  std::vector<std::uint32_t> ordinals(const Stretches& stretches) const;

  bool may_have_units() const;  // whether any entry reaches back or has reasoning; O(log n)

  // stored messages, to the end; O(log n) each
  void append(const Log& log, std::span<const std::uint32_t> ordinals);

  // All of `splices` at once; their indices are those of the view as it is before. Rising, not
  // overlapping. None of the ordinals put is in the view already, unless it is erased. O(k log n)
  // for k messages erased or put.
  void edit(const Log& log, const std::vector<Splice>& splices);

  // of the messages with ordinals below it; O(log n + what is not)
  Stretches stretches_below(std::uint64_t boundary) const;
  void keep_only(const Log& log, const Stretches& kept);

  // What leads from here to another view of the same log. Both stand in the log's order. Calls
  // stays(index, index there, count), goes(start, end) for stretches of this view, and comes(start,
  // end) for those of the other; rising. O(log n) for each stretch, and for each message of those
  // that a stretch of others takes the place of.
  template <class Stays, class Goes, class Comes>
  void compare(const PlacedView& other, Stays stays, Goes goes, Comes comes) const;

  // What brings hidden messages back, each in front of the first one in the view that comes after
  // it in the log's order, while those at `leaving` (rising indices) go. O(k log n) comparisons for
  // k messages; O(n) where the view may depart from that order.
  std::vector<Splice> returning(const Log& log, std::vector<std::uint32_t> ordinals,
                                const std::vector<std::uint64_t>& leaving) const;

  // Lets the later half of each tool pair that this message of the view makes with this id reach
  // back to the earlier one; also of each pair that it could become half of when other messages are
  // hidden. `search`: of this view.
  void link_up(PairSearch& search, std::uint32_t ordinal, std::uint64_t hash);

 private:
  void set_places(std::vector<PlaceNote> notes);
  std::uint32_t place_for_result(const Log& log, std::uint64_t hash) const;
  void reach_back(std::uint64_t index, std::uint32_t place);
};

template <class Stays, class Goes, class Comes>
void PlacedView::compare(const PlacedView& other, Stays stays, Goes goes, Comes comes) const {
  std::uint64_t here = 0, there = 0;
  while (here < size() && there < other.size()) {
    if (const std::uint64_t run = entries.common_run(here, other.entries, there)) {
      stays(here, there, run);
      here += run;
      there += run;
      continue;
    }
    if (const std::optional<std::uint64_t> found = other.index_of(entries[here].ordinal);
        found && *found >= there) {
      if (*found > there) {
        comes(there, *found);
        there = *found;
      } else {  // at another place of the log
        stays(here++, there++, 1);
      }
      continue;
    }
    const std::optional<std::uint64_t> found = index_of(other.entries[there].ordinal);
    const std::uint64_t next = found && *found > here ? *found : here + 1;
    goes(here, next);
    here = next;
    if (found) continue;
    comes(there, there + 1);
    ++there;
  }
  if (here < size()) goes(here, size());
  if (there < other.size()) comes(there, other.size());
}

}  // namespace undertext
