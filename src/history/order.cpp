#include "history/order.hpp"

#include <algorithm>

namespace undertext {

PutNote LogOrder::at(std::uint32_t ordinal) const {
  const std::uint64_t index = first_from(notes_, ordinal);
  if (index < notes_.size() && notes_[index].ordinal == ordinal) return notes_[index];
  return {ordinal, ordinal, ordinal, 0, ordinal};
}

bool LogOrder::before(std::uint32_t a, std::uint32_t b) const {
  if (a == b || notes_.empty()) return a < b;
  PutNote x = at(a), y = at(b);
  if (x.root != y.root) return x.root < y.root;
  const auto climb = [&](PutNote& note, std::uint32_t depth) {
    while (note.depth > depth) {
      const PutNote far = at(note.jump);
      note = far.depth >= depth ? far : at(note.front);
    }
  };
  // What was put in front of a message, or of what was put in front of it, comes before it.
  climb(x, y.depth);
  if (x.ordinal == y.ordinal) return true;
  climb(y, x.depth);
  if (x.ordinal == y.ordinal) return false;
  while (x.front != y.front && x.depth > 0 && y.depth > 0) {
    const bool jumps = x.jump != y.jump;
    x = at(jumps ? x.jump : x.front);
    y = at(jumps ? y.jump : y.front);
  }
  return x.ordinal < y.ordinal;
}

void LogOrder::put(std::uint32_t ordinal, std::uint32_t front) {
  const PutNote parent = at(front);
  const PutNote far = at(parent.jump);
  const bool joins = parent.depth - far.depth == far.depth - at(far.jump).depth;
  notes_.push_back({ordinal, front, parent.root, parent.depth + 1, joins ? far.jump : front});
}

void LogOrder::cut(std::uint64_t length) {
  const std::uint64_t kept = first_from(notes_, length);
  notes_.splice(kept, notes_.size() - kept, {});
}

bool LogOrder::is_in_order(const std::vector<std::uint32_t>& ordinals) const {
  return std::is_sorted(ordinals.begin(), ordinals.end(),
                        [&](std::uint32_t a, std::uint32_t b) { return before(a, b); });
}

void LogOrder::sort(std::vector<std::uint32_t>& ordinals) const {
  if (is_in_order(ordinals)) return;  // as they nearly always are
  std::sort(ordinals.begin(), ordinals.end(),
            [&](std::uint32_t a, std::uint32_t b) { return before(a, b); });
}

void LogOrder::save(PageOut& out) const {
  out.flag(departed_);
  notes_.save(out);
}

LogOrder LogOrder::load(PageIn& in) {
  LogOrder order;
  order.departed_ = in.flag();
  order.notes_ = ByOrdinal<PutNote>::load(in);
  return order;
}

void ItemCodec<PutNote>::write(PageOut& out, const PutNote* items, unsigned n) {
  std::uint32_t ordinal = 0;  // rises
  for (const PutNote* note = items; note != items + n; ++note) {
    out.number(note->ordinal - ordinal);
    out.number(note->ordinal - note->front);
    out.number(note->ordinal - note->root);
    out.number(note->depth);
    out.number(note->ordinal - note->jump);
    ordinal = note->ordinal;
  }
}

std::vector<PutNote> ItemCodec<PutNote>::read(PageIn& in, unsigned n) {
  std::vector<PutNote> items;
  items.reserve(n);
  std::uint64_t ordinal = 0;
  for (unsigned i = 0; i < n; ++i) {
    ordinal += in.number();
    if (ordinal >= no_place) in.fail("an ordinal is out of range");
    const auto lower = [&] {
      const std::uint64_t by = in.number();
      if (by == 0 || by > ordinal) in.fail("a message was put in front of one that came later");
      return static_cast<std::uint32_t>(ordinal - by);
    };
    PutNote note{static_cast<std::uint32_t>(ordinal), lower(), 0, 0, 0};
    note.root = lower();
    note.depth = in.number32();
    note.jump = lower();
    // Else searching upward might not end.
    if (note.depth == 0 || note.root > note.front || note.root > note.jump)
      in.fail("a message has no place in the order");
    items.push_back(note);
  }
  return items;
}

}  // namespace undertext
