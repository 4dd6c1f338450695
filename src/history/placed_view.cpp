#include "history/placed_view.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

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

}  // namespace

std::optional<std::uint64_t> PlacedView::index_of(std::uint32_t ordinal) const {
  const std::uint32_t place = place_of(places, ordinal);
  std::optional<std::uint64_t> found;
  entries.visit(
      0, entries.size(),
      [&](const EntrySums& s) {
        return s.place_max >= place && s.ordinal_min <= ordinal && ordinal <= s.ordinal_max;
      },
      [&](std::uint64_t i, const Entry& e) {
        if (e.ordinal == ordinal) found = i;
        return !found && e.place <= place;
      });
  return found;
}

bool PlacedView::may_have_units() const {
  return !entries.visit(
      0, entries.size(),
      [](const EntrySums& s) { return s.reach_min != no_place || s.reasoning_count > 0; },
      [](std::uint64_t, const Entry& e) { return e.reach == no_place && !e.reasons; });
}

void PlacedView::set_places(std::vector<PlaceNote> notes) {
  std::sort(notes.begin(), notes.end(),
            [](const PlaceNote& a, const PlaceNote& b) { return a.ordinal < b.ordinal; });
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

void PlacedView::append(const Log& log, std::span<const std::uint32_t> ordinals) {
  std::unordered_map<std::uint64_t, std::uint32_t> reach_of_results;  // by hash
  for (const std::uint32_t ordinal : ordinals) {
    const std::uint32_t last_place = entries.empty() ? 0 : entries[entries.size() - 1].place;
    // A message that comes back may be older than what stands last.
    const std::uint32_t place = std::max(ordinal, last_place);
    const bool may_be_noted = !places.empty() && places[places.size() - 1].ordinal >= ordinal;
    if (place != ordinal || may_be_noted) set_places({{ordinal, place}});
    log.check_ordinal(ordinal);
    Entry entry = entry_of(log.stored[ordinal], ordinal, place);
    // Found out before the entry is written: writing it again would copy the leaf.
    for (const Mention& mention : log.mentions(ordinal)) {
      if (mention.calls) {
        const std::optional<std::uint64_t> early =
            PairSearch(log, *this).around(mention.hash, ordinal).early;
        if (early) entry.reach = std::min(entry.reach, entries[*early].place);
        reach_of_results[mention.hash] = place;
      } else {
        const auto [reach, is_new] = reach_of_results.try_emplace(mention.hash);
        if (is_new) reach->second = place_for_result(log, mention.hash);
        entry.reach = std::min(entry.reach, reach->second);
      }
    }
    entries.push_back(entry);
  }
}

// How far back a result at the end reaches: to the last call of its id, or before it. That of any
// call will do, and so will that to which another result reaches: the last call is the one that it
// answers, or stands later. no_place: there is no call.
std::uint32_t PlacedView::place_for_result(const Log& log, std::uint64_t hash) const {
  std::uint32_t found = no_place;
  log.visit_mentions_below(hash, std::uint64_t{entries.sums().ordinal_max} + 1,
                           [&](const Link& link, std::uint64_t) {
                             const std::optional<std::uint64_t> index = index_of(link.ordinal);
                             if (!index) return true;
                             const Entry& e = entries[*index];
                             if (link.is_call()) found = e.place;
                             if (!link.is_call() && e.reach <= e.place) found = e.reach;
                             return found == no_place;
                           });
  return found;
}

void PlacedView::edit(const Log& log, const std::vector<Splice>& splices) {
  StoredReader stored(log);
  std::vector<PlaceNote> notes;
  std::vector<std::vector<Entry>> put(splices.size());
  std::uint32_t last_put = 0;  // its place
  for (std::size_t k = 0; k < splices.size(); ++k) {
    const Splice& s = splices[k];
    if (s.put.empty()) continue;
    // A message that comes back to where it was appended has its own place again. Any other has
    // that of what it replaces or follows.
    std::uint32_t left = std::max(last_put, s.at > 0 ? entries[s.at - 1].place : 0);
    const std::uint32_t replaced = s.erase > 0 ? entries[s.at].place : left;
    const std::uint32_t right =
        s.at + s.erase < entries.size() ? entries[s.at + s.erase].place : no_place;
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
    for (std::size_t k = splices.size(); k-- > 0;)
      entries.splice(splices[k].at, splices[k].erase, put[k]);
  }

  set_places(notes);
  if (notes.empty()) return;
  PairSearch search(log, *this);
  for (const PlaceNote& note : notes) {
    for (const Mention& mention : log.mentions(note.ordinal))
      link_up(search, note.ordinal, mention.hash);
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
  for (const Range& gap : complement(kept, size()))
    splices.push_back({gap.start, gap.end - gap.start});
  edit(log, splices);
}

namespace {

// Where returning messages go, asked in rising order. The view stands in the log's order: so an
// answer is never lower than the one before, and is looked for from there, in steps that double.
class InOrder {
 public:
  InOrder(const LogOrder& order, const EntryTree& entries) : order_(order), entries_(entries) {}

  std::uint64_t index_for(std::uint32_t ordinal) {
    const auto is_after = [&](std::uint64_t index) {
      return order_.before(ordinal, entries_[index].ordinal);
    };
    std::uint64_t step = 1, high = at_;
    while (high < entries_.size() && !is_after(high)) {
      at_ = high + 1;
      high = std::min(entries_.size(), high + step);
      step *= 2;
    }
    while (at_ < high) {
      const std::uint64_t middle = at_ + (high - at_) / 2;
      if (is_after(middle)) {
        high = middle;
      } else {
        at_ = middle + 1;
      }
    }
    return at_;
  }

 private:
  const LogOrder& order_;
  const EntryTree& entries_;
  std::uint64_t at_ = 0;
};

// The same for a view that may depart from the order, by its prefix maxima: only a message that
// comes after all before it can be the first after another.
class OutOfOrder {
 public:
  OutOfOrder(const LogOrder& order, const EntryTree& entries,
             const std::vector<std::uint64_t>& leaving)
      : order_(order), size_(entries.size()) {
    entries.visit(
        0, size_, [](const EntrySums&) { return true; },
        [&](std::uint64_t index, const Entry& e) {
          if (std::binary_search(leaving.begin(), leaving.end(), index)) return true;
          if (rising_.empty() || order_.before(rising_.back().ordinal, e.ordinal))
            rising_.push_back({e.ordinal, index});
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
  return log.order.departed()
             ? splices_for(OutOfOrder(log.order, entries, leaving), ordinals, leaving)
             : splices_for(InOrder(log.order, entries), ordinals, leaving);
}

void PlacedView::link_up(PairSearch& search, std::uint32_t ordinal, std::uint64_t hash) {
  const std::optional<std::uint64_t> index = index_of(ordinal);
  if (!index) return;
  Mentioned& mentioned = search.around(hash, ordinal);
  for (const PairPlaces& pair : mentioned.pairs_with(*index)) {
    if (pair.call != pair.result)
      reach_back(std::max(pair.call, pair.result), entries[std::min(pair.call, pair.result)].place);
  }
  // When other messages are hidden, a result before any call may come to answer each of the calls.
  // They reach back for it beforehand, since what hides messages does not read them.
  if (mentioned.calls.empty() || !mentioned.early) return;
  if (*index < mentioned.calls.front()) {
    const std::uint32_t place = entries[*index].place;
    if (mentioned.calls_reach <= place) return;
    mentioned.calls_reach = place;
    for (const std::uint64_t call : mentioned.calls) reach_back(call, place);
  } else if (std::binary_search(mentioned.calls.begin(), mentioned.calls.end(), *index)) {
    reach_back(*index, entries[*mentioned.early].place);
  }
}

void PlacedView::reach_back(std::uint64_t index, std::uint32_t place) {
  Entry e = entries[index];
  if (e.reach <= place) return;
  e.reach = place;
  entries.splice(index, 1, {&e, 1});
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
