#include "history/placed_view.hpp"

#include <algorithm>
#include <limits>

#include "history/first_reader.hpp"

namespace undertext {
namespace {

std::uint32_t place_of(const PlaceTree& places, std::uint32_t ordinal) {
  const std::uint64_t at = first_from(places, ordinal);
  if (at == places.size()) return ordinal;
  const PlaceNote& note = places[at];
  return note.ordinal == ordinal ? note.place : ordinal;
}

std::vector<Entry> all_entries(const EntryTree& tree) {
  std::vector<Entry> all;
  all.reserve(tree.size());
  for (std::uint64_t i = 0; i < tree.size();) {
    const EntryTree::Chunk c = tree.chunk(i);
    all.insert(all.end(), c.items, c.items + (c.end - c.begin));
    i = c.end;
  }
  return all;
}

// A message of the view that mentions a tool-call id.
struct Occurrence {
  std::uint64_t index = 0;
  std::uint32_t ordinal = 0;
  bool calls = false, answers = false;
  std::uint64_t call_link = 0, result_link = 0;
};

// Some programs use one id again in every turn, and some edit one message again in every turn. So no more than this many links are looked at in the view
// on either side of the message in question, or so many as it takes to find a call, since a call may have any number of results. An edited call
// is stored after them.
constexpr std::size_t occurrences_max = 32;

// In view order.
std::vector<Occurrence> occurrences(const Log& log, const PlacedView& view, std::uint64_t hash, std::uint32_t around,
                                    FirstReader* reader = nullptr) {
  std::vector<Occurrence> found;
  std::size_t limit = occurrences_max;
  bool met_call = false, is_open = false;  // is_open: the results of the call in question are not over
  const auto look = [&](const Link& link, std::uint64_t at) {
    if (reader && !reader->knows(link)) return true;
    if (const std::optional<std::uint64_t> index = view.index_of(link.ordinal)) {
      const bool is_call = link.is_call();
      if (is_call) is_open = link.ordinal == around;
      found.push_back({*index, link.ordinal, is_call, !is_call, is_call ? at : 0, is_call ? 0 : at});
      met_call = met_call || is_call;
    }
    return found.size() < limit || !met_call || is_open;
  };
  log.visit_mentions_below(hash, around, look);
  is_open = false;
  limit = found.size() + occurrences_max;
  log.visit_mentions_from(hash, around, look);
  std::sort(found.begin(), found.end(), [](const Occurrence& a, const Occurrence& b) { return a.index < b.index; });
  std::size_t kept = 0;
  for (const Occurrence& o : found) {
    if (kept == 0 || found[kept - 1].index != o.index) {
      found[kept++] = o;
      continue;
    }
    Occurrence& same = found[kept - 1];  // a message that both calls and answers
    (o.calls ? same.call_link : same.result_link) = o.calls ? o.call_link : o.result_link;
    same.calls |= o.calls;
    same.answers |= o.answers;
  }
  found.resize(kept);
  return found;
}

PairPlaces pair_of(const Occurrence& call, const Occurrence& result) {
  return {call.index, result.index, call.ordinal, result.ordinal, call.call_link, result.result_link};
}

std::vector<PairPlaces> pairs_among(const std::vector<Occurrence>& found) {
  std::vector<PairPlaces> pairs;
  const auto calls = [](const Occurrence& o) { return o.calls; };
  const auto answers = [](const Occurrence& o) { return o.answers; };
  const auto first_call = std::find_if(found.begin(), found.end(), calls);
  if (first_call == found.end()) return pairs;
  const auto second_call = std::find_if(first_call + 1, found.end(), calls);
  // Results before any call answer the first one, unless it has a result of its own.
  const bool takes_earlier = std::none_of(first_call, second_call, answers);
  const Occurrence* call = takes_earlier ? &*first_call : nullptr;
  for (const Occurrence& o : found) {
    if (o.calls) call = &o;
    if (call && o.answers) pairs.push_back(pair_of(*call, o));
  }
  return pairs;
}

// Also the pairs that hiding other messages can make: a result before any call may come to answer each of the calls. Entries reach back for
// them beforehand, since what hides messages does not read them.
std::vector<PairPlaces> possible_pairs_among(const std::vector<Occurrence>& found) {
  std::vector<PairPlaces> pairs = pairs_among(found);
  for (const Occurrence& result : found) {
    if (result.calls) break;
    for (const Occurrence& call : found)
      if (call.calls) pairs.push_back(pair_of(call, result));
  }
  return pairs;
}

}  // namespace

std::optional<std::uint64_t> PlacedView::index_of(std::uint32_t ordinal) const {
  const std::uint32_t place = place_of(places, ordinal);
  std::optional<std::uint64_t> found;
  entries.visit(
      0, entries.size(),
      [&](const EntrySums& s) { return s.place_max >= place && s.ordinal_min <= ordinal && ordinal <= s.ordinal_max; },
      [&](std::uint64_t i, const Entry& e) {
        if (e.ordinal == ordinal) found = i;
        return !found && e.place <= place;
      });
  return found;
}

bool PlacedView::may_have_units() const {
  return !entries.visit(
      0, entries.size(), [](const EntrySums& s) { return s.reach_min != no_place || s.reasoning_count > 0; },
      [](std::uint64_t, const Entry& e) { return e.reach == no_place && !e.reasons; });
}

void PlacedView::set_places(std::vector<PlaceNote> notes) {
  std::sort(notes.begin(), notes.end(), [](const PlaceNote& a, const PlaceNote& b) { return a.ordinal < b.ordinal; });
  for (const PlaceNote& note : notes) {
    const std::uint64_t at = first_from(places, note.ordinal);
    const bool known = at < places.size() && places[at].ordinal == note.ordinal;
    if (note.place != note.ordinal) {
      places.splice(at, known ? 1 : 0, {&note, 1});
    } else if (known) {
      places.splice(at, 1, {});
    }
  }
}

void PlacedView::append(const Log& log, std::uint32_t ordinal) {
  const std::uint32_t last_place = entries.empty() ? 0 : entries[entries.size() - 1].place;
  // A message that comes back may be older than what stands last.
  const std::uint32_t place = std::max(ordinal, last_place);
  const bool may_be_noted = !places.empty() && places[places.size() - 1].ordinal >= ordinal;
  if (place != ordinal || may_be_noted) set_places({{ordinal, place}});
  log.check_ordinal(ordinal);
  Entry entry = entry_of(log.stored[ordinal], ordinal, place);
  // Found out before the entry is written: writing it again would copy the leaf.
  for (const Mention& mention : log.mentions(ordinal)) {
    std::vector<Occurrence> found = occurrences(log, *this, mention.hash, ordinal);
    if (found.empty()) continue;
    found.push_back({entries.size(), ordinal, mention.calls, mention.answers});
    for (const PairPlaces& pair : possible_pairs_among(found)) {
      const std::uint64_t earlier = std::min(pair.call, pair.result);
      if (pair.has(ordinal) && earlier < entries.size()) entry.reach = std::min(entry.reach, entries[earlier].place);
    }
  }
  entries.push_back(entry);
}

void PlacedView::edit(const Log& log, const std::vector<Splice>& splices) {
  StoredReader stored(log);
  std::vector<PlaceNote> notes;
  std::vector<std::vector<Entry>> put(splices.size());
  std::uint32_t last_put = 0;  // its place
  for (std::size_t k = 0; k < splices.size(); ++k) {
    const Splice& s = splices[k];
    if (s.put.empty()) continue;
    // A message that comes back to where it was appended has its own place again. Any other has that of what it replaces or follows.
    std::uint32_t left = std::max(last_put, s.at > 0 ? entries[s.at - 1].place : 0);
    const std::uint32_t replaced = s.erase > 0 ? entries[s.at].place : left;
    const std::uint32_t right = s.at + s.erase < entries.size() ? entries[s.at + s.erase].place : no_place;
    for (const std::uint32_t ordinal : s.put) {
      left = left <= ordinal && ordinal <= right ? ordinal : std::max(left, replaced);
      put[k].push_back(entry_of(stored[ordinal], ordinal, left));
      notes.push_back({ordinal, left});
    }
    last_put = left;
  }

  // Splicing costs about as much as rebuilding a few dozen entries.
  if (splices.size() > 8 && splices.size() * 16 > entries.size()) {
    const std::vector<Entry> before = all_entries(entries);
    std::vector<Entry> after;
    std::uint64_t next = 0;
    for (std::size_t k = 0; k < splices.size(); ++k) {
      after.insert(after.end(), before.begin() + static_cast<std::ptrdiff_t>(next),
                   before.begin() + static_cast<std::ptrdiff_t>(splices[k].at));
      after.insert(after.end(), put[k].begin(), put[k].end());
      next = splices[k].at + splices[k].erase;
    }
    after.insert(after.end(), before.begin() + static_cast<std::ptrdiff_t>(next), before.end());
    EntryTree fresh;
    fresh.splice(0, 0, after);
    entries = std::move(fresh);
  } else {
    for (std::size_t k = splices.size(); k-- > 0;) entries.splice(splices[k].at, splices[k].erase, put[k]);
  }

  set_places(notes);
  for (const PlaceNote& note : notes) {
    for (const Mention& mention : log.mentions(note.ordinal)) link_up(log, note.ordinal, mention.hash);
  }
}

std::vector<std::uint32_t> PlacedView::ordinals(const Stretches& stretches) const {
  std::vector<std::uint32_t> found;
  std::uint64_t count = 0;
  for (const Range& range : stretches) count += range.end - range.start;
  found.reserve(count);
  for (const Range& range : stretches) {
    entries.visit(
        range.start, range.end, [](const EntrySums&) { return true; },
        [&](std::uint64_t, const Entry& e) {
          found.push_back(e.ordinal);
          return true;
        });
  }
  return found;
}

Stretches PlacedView::stretches_below(std::uint64_t boundary) const {
  Stretches found;
  std::uint64_t next = 0;
  entries.visit(
      0, size(), [&](const EntrySums& s) { return s.ordinal_max >= boundary; },
      [&](std::uint64_t i, const Entry& e) {
        if (e.ordinal < boundary) return true;
        add_stretch(found, next, i);
        next = i + 1;
        return true;
      });
  add_stretch(found, next, size());
  return found;
}

void PlacedView::keep_only(const Log& log, const Stretches& kept) {
  std::vector<Splice> splices;
  for (const Range& gap : complement(kept, size())) splices.push_back({gap.start, gap.end - gap.start});
  edit(log, splices);
}

namespace {

// Where returning messages go, asked in rising order. The view stands in the log's order: so an answer is never lower than the one before, and is
// looked for from there, in steps that double.
class InOrder {
 public:
  InOrder(const LogOrder& order, const EntryTree& entries) : order_(order), entries_(entries) {}

  std::uint64_t index_for(std::uint32_t ordinal) {
    const auto is_after = [&](std::uint64_t index) { return order_.before(ordinal, entries_[index].ordinal); };
    std::uint64_t step = 1, high = at_;
    while (high < entries_.size() && !is_after(high)) {
      at_ = high + 1;
      high = std::min(entries_.size(), high + step);
      step *= 2;
    }
    while (at_ < high) {
      const std::uint64_t middle = at_ + (high - at_) / 2;
      (is_after(middle) ? high : at_) = is_after(middle) ? middle : middle + 1;
    }
    return at_;
  }

 private:
  const LogOrder& order_;
  const EntryTree& entries_;
  std::uint64_t at_ = 0;
};

// The same for a view that may depart from the order: the messages of the view that come after all before them are the only ones that can be the first
// after another.
class OutOfOrder {
 public:
  OutOfOrder(const LogOrder& order, const EntryTree& entries, const std::vector<std::uint64_t>& leaving)
      : order_(order), size_(entries.size()) {
    entries.visit(
        0, size_, [](const EntrySums&) { return true; },
        [&](std::uint64_t index, const Entry& e) {
          if (std::binary_search(leaving.begin(), leaving.end(), index)) return true;
          if (rising_.empty() || order_.before(rising_.back().ordinal, e.ordinal)) rising_.push_back({e.ordinal, index});
          return true;
        });
  }

  std::uint64_t index_for(std::uint32_t ordinal) {
    while (next_ < rising_.size() && !order_.before(ordinal, rising_[next_].ordinal)) ++next_;
    return next_ < rising_.size() ? rising_[next_].index : size_;
  }

 private:
  struct Risen {
    std::uint32_t ordinal;
    std::uint64_t index;
  };
  const LogOrder& order_;
  std::uint64_t size_;
  std::vector<Risen> rising_;
  std::size_t next_ = 0;
};

template <class Places>
std::vector<Splice> splices_for(Places places, const std::vector<std::uint32_t>& ordinals,
                                const std::vector<std::uint64_t>& leaving) {
  std::vector<Splice> splices;
  auto left = leaving.begin();
  const auto take_leaving = [&](std::uint64_t below) {
    for (; left != leaving.end() && *left < below; ++left) splices.push_back({*left, 1});
  };
  for (const std::uint32_t ordinal : ordinals) {
    const std::uint64_t at = places.index_for(ordinal);
    take_leaving(at);
    if (splices.empty() || splices.back().at != at || splices.back().put.empty()) {
      const bool leaves = left != leaving.end() && *left == at;
      if (leaves) ++left;
      splices.push_back({at, leaves ? 1u : 0u});
    }
    splices.back().put.push_back(ordinal);
  }
  take_leaving(std::numeric_limits<std::uint64_t>::max());
  return splices;
}

}  // namespace

std::vector<Splice> PlacedView::returning(const Log& log, std::vector<std::uint32_t> ordinals,
                                          const std::vector<std::uint64_t>& leaving) const {
  log.order.sort(ordinals);
  return log.order.departed() ? splices_for(OutOfOrder(log.order, entries, leaving), ordinals, leaving)
                              : splices_for(InOrder(log.order, entries), ordinals, leaving);
}

void PlacedView::link_up(const Log& log, std::uint32_t ordinal, std::uint64_t hash) {
  for (const PairPlaces& pair : possible_pairs_among(occurrences(log, *this, hash, ordinal))) {
    if (!pair.has(ordinal) || pair.call == pair.result) continue;
    const std::uint32_t place = entries[std::min(pair.call, pair.result)].place;
    const std::uint64_t later = std::max(pair.call, pair.result);
    Entry e = entries[later];
    if (e.reach <= place) continue;
    e.reach = place;
    entries.splice(later, 1, {&e, 1});
  }
}

std::vector<PairPlaces> pairs_of(const Log& log, const PlacedView& view, std::uint64_t hash, std::uint32_t ordinal,
                                 FirstReader* reader) {
  return pairs_among(occurrences(log, view, hash, ordinal, reader));
}

void ItemCodec<PlaceNote>::write(PageOut& out, const PlaceNote* items, unsigned n) {
  std::uint32_t ordinal = 0;  // rises
  for (const PlaceNote* note = items; note != items + n; ++note) {
    out.number(note->ordinal - ordinal);
    out.number(note->place);
    ordinal = note->ordinal;
  }
}

std::vector<PlaceNote> ItemCodec<PlaceNote>::read(PageIn& in, unsigned n) {
  std::vector<PlaceNote> items;
  items.reserve(n);
  std::uint64_t ordinal = 0;
  for (unsigned i = 0; i < n; ++i) {
    ordinal += in.number();
    if (ordinal >= no_place) in.fail("an ordinal is out of range");
    items.push_back({static_cast<std::uint32_t>(ordinal), in.number32()});
  }
  return items;
}

}  // namespace undertext
