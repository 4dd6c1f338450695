#include "history/marks.hpp"

namespace undertext {
namespace {

bool is_before(const MarkNote& note, std::string_view label, std::uint32_t ordinal) {
  const int order = std::string_view(*note.label).compare(label);
  return order < 0 || (order == 0 && note.ordinal < ordinal);
}

}  // namespace

std::uint64_t Marks::lower_bound(std::string_view label, std::uint32_t ordinal) const {
  std::uint64_t found = notes_.size();
  notes_.visit(
      0, notes_.size(), [&](const MarkSums& s) { return !is_before(*s.last, label, ordinal); },
      [&](std::uint64_t i, const MarkNote& note) {
        if (is_before(note, label, ordinal)) return true;
        found = i;
        return false;
      });
  return found;
}

bool Marks::stands_at(std::uint64_t at, std::string_view label, std::uint32_t ordinal) const {
  return at < notes_.size() && notes_[at].ordinal == ordinal && *notes_[at].label == label;
}

void Marks::add(std::string_view label, const std::vector<std::uint32_t>& ordinals) {
  const Shared<std::string> shared = Shared<std::string>::make(label);
  for (const std::uint32_t ordinal : ordinals) {
    const std::uint64_t at = lower_bound(label, ordinal);
    if (stands_at(at, label, ordinal)) continue;
    const MarkNote note{shared, ordinal};
    notes_.splice(at, 0, {&note, 1});
  }
}

void Marks::remove(std::string_view label, const std::vector<std::uint32_t>& ordinals) {
  for (const std::uint32_t ordinal : ordinals) {
    const std::uint64_t at = lower_bound(label, ordinal);
    if (stands_at(at, label, ordinal)) notes_.splice(at, 1, {});
  }
}

std::vector<std::uint32_t> Marks::ordinals(std::string_view label) const {
  std::vector<std::uint32_t> found;
  notes_.visit(
      lower_bound(label, 0), notes_.size(), [](const MarkSums&) { return true; },
      [&](std::uint64_t, const MarkNote& note) {
        if (*note.label != label) return false;
        found.push_back(note.ordinal);
        return true;
      });
  return found;
}

}  // namespace undertext
