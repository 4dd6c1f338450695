#include "history/marks.hpp"

namespace undertext {

std::uint64_t Marks::label_place(std::string_view label) const {
  std::uint64_t low = 0, high = labels_.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (*labels_[middle].text < label ? low : high) =
        *labels_[middle].text < label ? middle + 1 : middle;
  }
  return low;
}

std::optional<std::uint32_t> Marks::number_of(std::string_view label) const {
  const std::uint64_t at = label_place(label);
  if (at == labels_.size() || *labels_[at].text != label) return {};
  return labels_[at].number;
}

std::uint64_t Marks::lower_bound(std::uint64_t key) const {
  std::uint64_t found = notes_.size();
  notes_.visit(
      0, notes_.size(), [&](const MarkSums& s) { return s.last_key >= key; },
      [&](std::uint64_t i, const MarkNote& note) {
        if (note.key() < key) return true;
        found = i;
        return false;
      });
  return found;
}

void Marks::add(std::string_view label, const std::vector<std::uint32_t>& ordinals) {
  std::optional<std::uint32_t> number = number_of(label);
  if (!number) {
    number = static_cast<std::uint32_t>(labels_.size());
    const LabelNote fresh{Shared<std::string>::make(label), *number};
    labels_.splice(label_place(label), 0, {&fresh, 1});
  }
  for (const std::uint32_t ordinal : ordinals) {
    const MarkNote note{*number, ordinal};
    const std::uint64_t at = lower_bound(note.key());
    if (at < notes_.size() && notes_[at] == note) continue;
    notes_.splice(at, 0, {&note, 1});
  }
}

void Marks::remove(std::string_view label, const std::vector<std::uint32_t>& ordinals) {
  const std::optional<std::uint32_t> number = number_of(label);
  if (!number) return;
  for (const std::uint32_t ordinal : ordinals) {
    const MarkNote note{*number, ordinal};
    const std::uint64_t at = lower_bound(note.key());
    if (at < notes_.size() && notes_[at] == note) notes_.splice(at, 1, {});
  }
}

std::vector<std::uint32_t> Marks::ordinals(std::string_view label) const {
  std::vector<std::uint32_t> found;
  const std::optional<std::uint32_t> number = number_of(label);
  if (!number) return found;
  notes_.visit(
      lower_bound(MarkNote{*number, 0}.key()), notes_.size(), [](const MarkSums&) { return true; },
      [&](std::uint64_t, const MarkNote& note) {
        if (note.label != *number) return false;
        found.push_back(note.ordinal);
        return true;
      });
  return found;
}

std::vector<std::string> Marks::labels(std::uint32_t ordinal) const {
  std::vector<std::string> found;
  for (std::uint64_t k = 0; k < labels_.size(); ++k) {
    const LabelNote label = labels_[k];
    const MarkNote note{label.number, ordinal};
    const std::uint64_t at = lower_bound(note.key());
    if (at < notes_.size() && notes_[at] == note) found.push_back(*label.text);
  }
  return found;
}

std::vector<std::uint32_t> Marks::all_ordinals() const {
  std::vector<std::uint32_t> found;
  notes_.visit(
      0, notes_.size(), [](const MarkSums&) { return true; },
      [&](std::uint64_t, const MarkNote& note) {
        found.push_back(note.ordinal);
        return true;
      });
  return found;
}

void Marks::save(PageOut& out) const {
  labels_.save(out);
  notes_.save(out);
}

Marks Marks::load(PageIn& in) {
  Marks marks;
  marks.labels_ = decltype(labels_)::load(in);
  marks.notes_ = decltype(notes_)::load(in);
  return marks;
}

void ItemCodec<LabelNote>::write(PageOut& out, const LabelNote* items, unsigned n) {
  for (const LabelNote* label = items; label != items + n; ++label) {
    out.text(*label->text);
    out.number(label->number);
  }
}

std::vector<LabelNote> ItemCodec<LabelNote>::read(PageIn& in, unsigned n) {
  std::vector<LabelNote> items;
  items.reserve(n);
  for (unsigned i = 0; i < n; ++i) {
    const std::string_view text = in.text();
    items.push_back({Shared<std::string>::make(text), in.number32()});
  }
  return items;
}

void ItemCodec<MarkNote>::write(PageOut& out, const MarkNote* items, unsigned n) {
  for (const MarkNote* note = items; note != items + n; ++note) {
    out.number(note->label);
    out.number(note->ordinal);
  }
}

std::vector<MarkNote> ItemCodec<MarkNote>::read(PageIn& in, unsigned n) {
  std::vector<MarkNote> items;
  items.reserve(n);
  for (unsigned i = 0; i < n; ++i) {
    const std::uint32_t label = in.number32();
    items.push_back({label, in.number32()});
  }
  return items;
}

}  // namespace undertext
