#include "history/scope.hpp"

#include <algorithm>

namespace undertext {
namespace {

struct Wanted {
  bool role[role_count] = {};
  bool all = true;

  explicit Wanted(const std::vector<Role>& roles) {
    for (const Role r : roles) role[static_cast<std::size_t>(r)] = true;
    if (roles.empty()) std::fill(std::begin(role), std::end(role), true);
    all = std::all_of(std::begin(role), std::end(role), [](bool b) { return b; });
  }
  bool operator()(Role r) const { return role[static_cast<std::size_t>(r)]; }
  std::uint64_t count(const MessageSums& s) const {
    std::uint64_t n = 0;
    for (std::size_t r = 0; r < role_count; ++r) n += role[r] ? s.role_counts[r] : 0;
    return n;
  }
  std::uint64_t tokens(const MessageSums& s) const {
    std::uint64_t n = 0;
    for (std::size_t r = 0; r < role_count; ++r) n += role[r] ? s.role_tokens[r] : 0;
    return n;
  }
};

Role role_of(const Entry& entry) { return entry.role(); }
Role role_of(const StoredMessage& stored) { return stored.message.role(); }
std::int64_t time_of(const Entry& entry) { return entry.time_ms(); }
std::int64_t time_of(const StoredMessage& stored) { return stored.time_ms; }

// The places that start, end, first and last leave of `total`.
Range window_of(const MessageQuery& query, std::uint64_t total) {
  Range w{std::min(query.start.value_or(0), total), std::min(query.end.value_or(total), total)};
  w.end = std::max(w.start, w.end);
  if (query.first) w.end = w.start + std::min(w.end - w.start, *query.first);
  if (query.last) w.start = w.end - std::min(w.end - w.start, *query.last);
  return w;
}

Selection cut_to_window(std::vector<std::uint64_t> positions, const MessageQuery& query) {
  const Range w = window_of(query, positions.size());
  Selection s;
  s.positions.assign(positions.begin() + static_cast<std::ptrdiff_t>(w.start), positions.begin() + static_cast<std::ptrdiff_t>(w.end));
  return s;
}

Error not_found(std::string field, std::string message) { return {ErrorCode::not_found, std::move(message), std::move(field)}; }
Error bad(std::string field, std::string message) { return {ErrorCode::invalid_argument, std::move(message), std::move(field)}; }

}  // namespace

Result<Scope> Scope::of(const History::Rep& rep, const MessageQuery& query) {
  if (query.at_batch && query.all) return bad("atBatch", "atBatch and all exclude each other");
  if (query.at_batch && query.at_version) return bad("atBatch", "atBatch and atVersion exclude each other");
  if (query.first && query.last) return bad("last", "first and last exclude each other");
  if (query.start && query.end && *query.start > *query.end) return bad("start", "start is beyond end");
  if (query.at_version && query.at_version->value > rep.head_number()) {
    return not_found("atVersion", "there is no version " + std::to_string(query.at_version->value) + "; the head is " + std::to_string(rep.head_number()));
  }
  const State state = query.at_version ? rep.state_at(query.at_version->value) : rep.head;
  const BatchTree& batches = state.frame->batches;
  if (query.at_batch && query.at_batch->value >= batches.size()) {
    return not_found("atBatch", "there is no batch " + std::to_string(query.at_batch->value) + "; the current one is " + std::to_string(batches.size() - 1));
  }
  Scope scope;
  scope.log_ = rep.log;
  scope.marks_ = state.frame->marks;
  scope.is_log_ = query.all;
  if (query.all) {
    scope.length_ = state.log_length;
  } else {
    const bool left = query.at_batch && query.at_batch->value + 1 < batches.size();
    scope.view_ = left ? snapshot_of(batches, query.at_batch->value) : state.placed();
    scope.length_ = scope.view_.size();
  }
  return scope;
}

template <class AnyTree>
Selection Scope::select(const AnyTree& tree, const MessageQuery& query) const {
  if (query.marked) return select_marked(query);
  if (query.from_ms || query.to_ms || query.contains) return select_by_visit(tree, query);
  return select_by_role(tree, query);
}

// The k-th of some roles is found by their counts, so this reads nothing but the way to both ends.
template <class AnyTree>
Selection Scope::select_by_role(const AnyTree& tree, const MessageQuery& query) const {
  const Wanted wanted(query.roles);
  Selection s;
  s.by_range = true;
  if (wanted.all) {
    const Range w = window_of(query, length_);
    s.begin = w.start;
    s.end = w.end;
    return s;
  }
  const auto count = [&](const MessageSums& sums) { return wanted.count(sums); };
  const Range w = window_of(query, wanted.count(tree.sums(0, length_)));
  if (w.start < w.end) {
    s.begin = tree.seek(count, w.start);
    s.end = tree.seek(count, w.end - 1) + 1;
  }
  return s;
}

template <class AnyTree>
Selection Scope::select_by_visit(const AnyTree& tree, const MessageQuery& query) const {
  const Wanted wanted(query.roles);
  const std::int64_t from = query.from_ms.value_or(std::numeric_limits<std::int64_t>::min());
  const auto before_end = [&](std::int64_t t) { return !query.to_ms || t < *query.to_ms; };
  const auto may = [&](const MessageSums& s) { return s.time_max >= from && before_end(s.time_min) && (wanted.all || wanted.count(s) > 0); };
  const auto matches = [&](const auto& item) {
    return wanted(role_of(item)) && time_of(item) >= from && before_end(time_of(item)) &&
           (!query.contains || stored(item).message.text_contains(*query.contains));
  };
  std::vector<std::uint64_t> found;
  if (query.last && !query.start && !query.end) {
    if (*query.last > 0) {
      tree.visit_back(0, length_, may, [&](std::uint64_t i, const auto& item) {
        if (matches(item)) found.push_back(i);
        return found.size() < *query.last;
      });
    }
    std::reverse(found.begin(), found.end());
    return cut_to_window(std::move(found), query);
  }
  std::uint64_t enough = query.end.value_or(std::numeric_limits<std::uint64_t>::max());
  const std::uint64_t start = query.start.value_or(0);
  if (query.first && *query.first <= enough && start <= enough - *query.first) enough = start + *query.first;
  if (enough > 0) {
    tree.visit(0, length_, may, [&](std::uint64_t i, const auto& item) {
      if (matches(item)) found.push_back(i);
      return found.size() < enough;
    });
  }
  return cut_to_window(std::move(found), query);
}

Selection Scope::select_marked(const MessageQuery& query) const {
  const Wanted wanted(query.roles);
  std::vector<std::uint64_t> found;
  for (const std::uint32_t ordinal : marks_.ordinals(*query.marked)) {
    const std::optional<std::uint64_t> position =
        !is_log_ ? view_.index_of(ordinal) : ordinal < length_ ? std::optional<std::uint64_t>(ordinal) : std::nullopt;
    if (!position) continue;
    const StoredMessage& item = log_.stored[ordinal];
    if (wanted(item.message.role()) && (!query.from_ms || item.time_ms >= *query.from_ms) && (!query.to_ms || item.time_ms < *query.to_ms) &&
        (!query.contains || item.message.text_contains(*query.contains))) {
      found.push_back(*position);
    }
  }
  std::sort(found.begin(), found.end());
  return cut_to_window(std::move(found), query);
}

template <class AnyTree>
MessageList Scope::list(const AnyTree& tree, const MessageQuery& query) const {
  MessageList list;
  StoredReader reader(log_.stored);
  const auto add = [&](std::uint64_t position, const auto& item) {
    const std::uint64_t o = ordinal(position, item);
    list.ordinals.push_back(Ordinal(o));
    list.messages.push_back(reader[static_cast<std::uint32_t>(o)].message);
  };
  const Selection s = select(tree, query);
  if (!s.by_range) {
    for (const std::uint64_t position : s.positions) add(position, tree[position]);
    return list;
  }
  const Wanted wanted(query.roles);
  if (wanted.all) {
    list.messages.reserve(s.end - s.begin);
    list.ordinals.reserve(s.end - s.begin);
  }
  tree.visit(s.begin, s.end, [&](const MessageSums& sums) { return wanted.all || wanted.count(sums) > 0; },
             [&](std::uint64_t position, const auto& item) {
               if (wanted(role_of(item))) add(position, item);
               return true;
             });
  return list;
}

template <class AnyTree>
MessageCount Scope::tally(const AnyTree& tree, const MessageQuery& query) const {
  const Selection s = select(tree, query);
  MessageCount total;
  if (s.by_range) {
    const Wanted wanted(query.roles);
    const auto sums = tree.sums(s.begin, s.end);
    return {wanted.count(sums), wanted.tokens(sums)};
  }
  total.count = s.positions.size();
  for (const std::uint64_t position : s.positions) total.tokens += stored(tree[position]).tokens;
  return total;
}

MessageList Scope::messages(const MessageQuery& query) const { return is_log_ ? list(log_.stored, query) : list(view_.entries, query); }

MessageCount Scope::count(const MessageQuery& query) const { return is_log_ ? tally(log_.stored, query) : tally(view_.entries, query); }

}  // namespace undertext
