// A view as the engine keeps it: entries in view order, findable by ordinal. A value: copies share everything.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <undertext/operation.hpp>

#include "history/log.hpp"
#include "history/stretches.hpp"
#include "sequence/entry.hpp"

namespace undertext {

// This ordinal does not stand at the place of its own number. May speak of ordinals that are no longer in the view.
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

  std::vector<std::uint32_t> ordinals(const Stretches& stretches) const;  // of the messages there, in order

  bool may_have_units() const;  // whether any entry reaches back or has reasoning; O(log n)

  void append(const Log& log, std::uint32_t ordinal);  // a stored message, to the end

  // All of `splices` at once; their indices are those of the view as it is before. Rising, not overlapping. None of the
  // ordinals put is in the view already, unless it is erased. O(k log n) for k messages erased or put.
  void edit(const Log& log, const std::vector<Splice>& splices);

  Stretches stretches_below(std::uint64_t boundary) const;  // of the messages with ordinals below it; O(log n + what is not)
  void keep_only(const Log& log, const Stretches& kept);

  // What brings hidden messages back, each in front of the first one in the view that comes after it in the log's order, while those at `leaving`
  // (rising indices) go. O(k log n) comparisons for k messages; O(n) where the view may depart from that order.
  std::vector<Splice> returning(const Log& log, std::vector<std::uint32_t> ordinals,
                                const std::vector<std::uint64_t>& leaving) const;

  // Lets the later half of each tool pair that this message of the view makes with this id reach back to the earlier one; also of each pair that it
  // could become half of when other messages are hidden.
  void link_up(const Log& log, std::uint32_t ordinal, std::uint64_t hash);

 private:
  void set_places(std::vector<PlaceNote> notes);
};

// A call and a result in the view that belong together.
struct PairPlaces {
  std::uint64_t call = 0;  // indices
  std::uint64_t result = 0;
  std::uint32_t call_ordinal = 0;
  std::uint32_t result_ordinal = 0;
  std::uint64_t call_link = 0;  // indices in Log::links
  std::uint64_t result_link = 0;

  bool has(std::uint32_t ordinal) const { return call_ordinal == ordinal || result_ordinal == ordinal; }
};

class FirstReader;

// The pairs with the id of this hash in the view, the nearest to the message `ordinal` if there are very many. A result answers the last call of its id
// before it; when there is none, the first one after it that has no result of its own. With `reader`: of the links that it knows.
std::vector<PairPlaces> pairs_of(const Log& log, const PlacedView& view, std::uint64_t hash, std::uint32_t ordinal,
                                 FirstReader* reader = nullptr);

}  // namespace undertext
