#include "history/units.hpp"

namespace undertext {
namespace {

bool ends_run(const Entry& e) { return e.role() == Role::user || e.role() == Role::tool; }

bool may_end_segment(const EntrySums& s) {
  return s.role_counts[static_cast<std::size_t>(Role::user)] > 0 ||
         s.role_counts[static_cast<std::size_t>(Role::tool)] > 0 || s.reasoning_count > 0;
}

bool may_call(const EntrySums& s) { return s.call_count > 0; }

}  // namespace

std::optional<std::uint64_t> Reasoning::before(std::uint64_t index) const {
  std::optional<std::uint64_t> found;
  entries_.visit_back(0, index, may_end_segment, [&](std::uint64_t i, const Entry& e) {
    if (e.reasons) found = i;
    return !found && !ends_run(e);
  });
  return found;
}

std::uint64_t Reasoning::end(std::uint64_t index) const {
  std::uint64_t found = entries_.size();
  entries_.visit(index + 1, entries_.size(), may_end_segment, [&](std::uint64_t i, const Entry& e) {
    if (!e.reasons && !ends_run(e)) return true;
    found = i;
    return false;
  });
  return found;
}

std::uint64_t Reasoning::count_calls(std::uint64_t index) const {
  return entries_.total(index + 1, end(index), CallsOf());
}

std::optional<std::uint64_t> Reasoning::said_next(std::uint64_t index) const {
  if (!log_.message(entries_[index].ordinal).is_only_reasoning()) return {};
  std::optional<std::uint64_t> found;
  entries_.visit(
      index + 1, entries_.size(),
      [](const EntrySums& s) {
        return may_end_segment(s) || s.role_counts[static_cast<std::size_t>(Role::assistant)] > 0;
      },
      [&](std::uint64_t i, const Entry& e) {
        if (e.role() == Role::system) return true;
        if (e.role() == Role::assistant) found = i;
        return false;
      });
  return found;
}

std::optional<std::uint64_t> Reasoning::last(std::uint64_t index) const {
  std::optional<std::uint64_t> found;
  entries_.visit_back(index + 1, end(index), may_call, [&](std::uint64_t i, const Entry& e) {
    if (e.calls) found = i;
    return !found;
  });
  return found ? found : said_next(index);
}

std::vector<std::uint64_t> Reasoning::all(std::uint64_t index) const {
  std::vector<std::uint64_t> found;
  entries_.visit(index + 1, end(index), may_call, [&](std::uint64_t i, const Entry& e) {
    if (e.calls) found.push_back(i);
    return true;
  });
  if (found.empty()) {
    if (const std::optional<std::uint64_t> next = said_next(index)) found.push_back(*next);
  }
  return found;
}

std::optional<std::uint64_t> Reasoning::of(std::uint64_t index) const {
  const std::optional<std::uint64_t> reasoning = before(index);
  if (!reasoning) return {};
  const Entry& e = entries_[index];
  if (e.calls && !e.reasons) return reasoning;
  const bool follows =
      e.role() == Role::assistant && count_calls(*reasoning) == 0 && said_next(*reasoning) == index;
  return follows ? reasoning : std::nullopt;
}

}  // namespace undertext
