// Which calls and results of a view belong together. They are looked for through the log's links,
// and paired in the order of the view: a result answers the last call of its id before it; when
// there is none, the first one after it that has no result of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "history/log.hpp"

namespace undertext {

struct PlacedView;

// A call and a result in the view that belong together.
struct PairPlaces {
  std::uint64_t call = 0;  // indices
  std::uint64_t result = 0;
  std::uint32_t call_ordinal = 0;
  std::uint32_t result_ordinal = 0;
  std::uint64_t call_link = 0;  // indices in Log::links
  std::uint64_t result_link = 0;

  bool has(std::uint32_t ordinal) const {
    return call_ordinal == ordinal || result_ordinal == ordinal;
  }
};

// A link of a message in the view.
struct SeenLink {
  std::uint64_t note = 0, link = 0, index = 0;
  std::uint32_t ordinal = 0;
  bool is_call = false;
};

// The messages of a view that mention one id; the nearest to a message, if there are very many.
struct Mentioned {
  std::vector<std::uint64_t> calls;  // indices, rising
  std::uint64_t result_count = 0;    // messages that answer
  // the index of the first result, if it stands before all calls
  std::optional<std::uint64_t> early;
  std::vector<PairPlaces> pairs;         // results rise, and calls do not fall
  std::uint32_t calls_reach = no_place;  // a place to which all calls are known to reach back
  bool is_whole = false;                 // nothing else in the view mentions the id

  // The pairs of the message at this index: of a call all, of a result one.
  std::span<const PairPlaces> pairs_with(std::uint64_t index) const;

  // Of these links, which are put in the order of the view.
  void pair(std::vector<SeenLink>& seen);
};

// Most ids are those of one call and its result: all notes of such an id are read at once. Of an id
// with more notes, those around the message are looked at.
// Remembers what took long to find: k questions about an id with k results cost O(k log n), not
// each that much. For one view, whose order does not change.
class PairSearch {
 public:
  PairSearch(const Log& log, const PlacedView& view) : log_(log), view_(view) {}

  // The id of this hash around a message. Valid until the next question.
  Mentioned& around(std::uint64_t hash, std::uint32_t ordinal);

  // The pairs of a message of the view. Valid until the next question.
  std::span<const PairPlaces> pairs_of(std::uint64_t hash, std::uint32_t ordinal,
                                       std::uint64_t index) {
    return around(hash, ordinal).pairs_with(index);
  }

 private:
  using Seen = SeenLink;
  // What the notes [begin, end) say, of the notes [first, last) that can speak of messages in the
  // view.
  struct Stretch {
    std::uint64_t first = 0, last = 0, begin = 0, end = 0;
    std::vector<Seen> seen = {};          // by note
    std::vector<std::size_t> calls = {};  // where in `seen`
    Mentioned mentioned = {};

    std::size_t seen_below(std::uint64_t note) const;
    bool needs_earlier(std::uint64_t note) const;
    bool needs_later(std::uint64_t note, std::uint32_t ordinal) const;
    std::uint64_t step() const;
    void put(std::size_t at, const std::vector<Seen>& more);
    void pair();
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // hash, Stretch::begin
  using Known = std::map<Key, Stretch>;

  bool find_few(std::uint64_t hash);
  Stretch empty_stretch(std::uint64_t hash, std::uint64_t note);
  Known::iterator known_around(std::uint64_t hash, std::uint64_t note);
  void extend_down(std::uint64_t hash, Stretch& stretch, std::uint64_t note);
  void extend_up(std::uint64_t hash, Stretch& stretch, std::uint64_t note);
  std::vector<Seen> look(std::uint64_t hash, std::uint64_t begin, std::uint64_t end) const;

  const Log& log_;
  const PlacedView& view_;
  // of the messages that can be in the view
  std::optional<std::pair<std::uint64_t, std::uint64_t>> links_;
  // the long ones, apart from each other
  Known known_;
  Stretch short_;

  // The last id with few notes, and the last one with many.
  std::optional<std::uint64_t> few_hash_, many_hash_;
  std::vector<Seen> seen_of_few_;
  Mentioned few_;
};

// One question.
std::vector<PairPlaces> pairs_of(const Log& log, const PlacedView& view, std::uint64_t hash,
                                 std::uint32_t ordinal);

}  // namespace undertext
