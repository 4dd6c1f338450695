#include "recall/scope.hpp"

#include <algorithm>

#include "history/scope.hpp"

namespace undertext {
namespace {

bool has(const std::vector<std::uint32_t>& rising, std::uint32_t ordinal) {
  return std::binary_search(rising.begin(), rising.end(), ordinal);
}

}  // namespace

Result<RecallScope> RecallScope::of(const History::Rep& rep, const MessageQuery& query) {
  // Refuses what `messages` refuses.
  if (const Result<Scope> scope = Scope::of(rep, query); !scope) return scope.error();
  RecallScope made(rep, query);
  const Frame& frame = *rep.head.frame;
  const bool is_left = query.at_batch && query.at_batch->value + 1 < frame.batches.size();
  made.view_ = is_left ? snapshot_of(frame.batches, query.at_batch->value) : rep.head.placed();
  if (query.marked) made.marked_ = frame.marks.ordinals(*query.marked);
  if (query.marked != recalled_mark) made.recalled_ = frame.marks.ordinals(recalled_mark);
  if (query.start || query.end || query.first || query.last) made.cut_to_window();
  return made;
}

bool RecallScope::is_searched(std::uint32_t ordinal) const {
  if (ordinal >= rep_.log.size() || has(recalled_, ordinal)) return false;
  return query_.all || !view_.shows(ordinal);
}

bool RecallScope::passes(std::uint32_t ordinal) {
  if (window_) return has(*window_, ordinal);
  return is_searched(ordinal) && passes_filters(ordinal);
}

bool RecallScope::passes_filters(std::uint32_t ordinal) {
  const bool any_role = query_.roles.empty();
  if (!any_role || query_.from_ms || query_.to_ms) {
    const StoredMessage& stored = stored_[ordinal];
    if (!any_role &&
        std::find(query_.roles.begin(), query_.roles.end(), stored.role()) == query_.roles.end())
      return false;
    if (query_.from_ms && stored.time_ms < *query_.from_ms) return false;
    if (query_.to_ms && stored.time_ms >= *query_.to_ms) return false;
  }
  if (marked_ && !has(*marked_, ordinal)) return false;
  return !query_.contains || stored_.message(ordinal).text_contains(*query_.contains);
}

void RecallScope::cut_to_window() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t ordinal = 0; ordinal < rep_.log.size(); ++ordinal)
    if (is_searched(ordinal) && passes_filters(ordinal)) all.push_back(ordinal);
  const std::uint64_t total = all.size();
  std::uint64_t begin = std::min(query_.start.value_or(0), total);
  std::uint64_t end = std::max(begin, std::min(query_.end.value_or(total), total));
  if (query_.first) end = begin + std::min(end - begin, *query_.first);
  if (query_.last) begin = end - std::min(end - begin, *query_.last);
  window_.emplace(all.begin() + static_cast<std::ptrdiff_t>(begin),
                  all.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace undertext
