#include "history/scope.hpp"

#include <algorithm>
#include <limits>

namespace undertext {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

std::size_t role_of(const Entry& entry) { return entry.role_bits; }
std::size_t role_of(const StoredMessage& stored) { return stored.role_bits; }
std::int64_t time_of(const Entry& entry) { return entry.time_ms(); }
std::int64_t time_of(const StoredMessage& stored) { return stored.time_ms; }
std::uint32_t tokens_of(const Entry& entry) { return entry.tokens; }
std::uint32_t tokens_of(const StoredMessage& stored) { return stored.tokens; }
std::uint32_t ordinal_of(std::uint64_t, const Entry& entry) { return entry.ordinal; }
std::uint32_t ordinal_of(std::uint64_t position, const StoredMessage&) {
  return static_cast<std::uint32_t>(position);
}

// The filters by role and time: what the sums of a tree tell of.
struct Filter {
  CountOf roles;
  bool any_role = true;
  bool any_time = true;
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t last = std::numeric_limits<std::int64_t>::max();  // included
  bool nothing = false;

  explicit Filter(const MessageQuery& query) {
    for (const Role r : query.roles) roles.wanted[static_cast<std::size_t>(r)] = true;
    if (query.roles.empty()) std::fill(std::begin(roles.wanted), std::end(roles.wanted), true);
    any_role =
        std::all_of(std::begin(roles.wanted), std::end(roles.wanted), [](bool b) { return b; });
    any_time = !query.from_ms && !query.to_ms;
    if (query.from_ms) from = *query.from_ms;
    if (query.to_ms) {
      nothing = *query.to_ms == std::numeric_limits<std::int64_t>::min();
      if (!nothing) last = *query.to_ms - 1;
    }
  }

  // Whether a subtree may hold, or holds nothing but, messages of the times.
  bool may(const MessageSums& s) const {
    return s.time_max >= from && s.time_min <= last && (any_role || roles(s) > 0);
  }
  bool all_times(const MessageSums& s) const { return s.time_min >= from && s.time_max <= last; }
  bool passes(std::size_t role, std::int64_t time) const {
    return roles.wanted[role] && time >= from && time <= last;
  }
};

// The places that start, end, first and last leave of `total`.
Range window_of(const MessageQuery& query, std::uint64_t total) {
  Range w{std::min(query.start.value_or(0), total), std::min(query.end.value_or(total), total)};
  w.end = std::max(w.start, w.end);
  if (query.first) w.end = w.start + std::min(w.end - w.start, *query.first);
  if (query.last) w.start = w.end - std::min(w.end - w.start, *query.last);
  return w;
}

void cut_to_window(std::vector<Found>& found, const MessageQuery& query) {
  const Range w = window_of(query, found.size());
  found.erase(found.begin() + static_cast<std::ptrdiff_t>(w.end), found.end());
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(w.start));
}

bool has_window(const MessageQuery& query) {
  return query.start || query.end || query.first || query.last;
}

// How many matches are enough to know the answer when going forward.
std::uint64_t enough_of(const MessageQuery& query) {
  const std::uint64_t end = query.end.value_or(no_limit), start = query.start.value_or(0);
  if (query.first && *query.first <= no_limit - start) return std::min(end, start + *query.first);
  return end;
}

Error not_found(std::string field, std::string message) {
  return {ErrorCode::not_found, std::move(message), std::move(field)};
}
Error bad_query(std::string field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(field)};
}

}  // namespace

Result<Scope> Scope::of(const History::Rep& rep, const MessageQuery& query) {
  if (query.at_batch && query.all)
    return bad_query("atBatch", "atBatch and all exclude each other");
  if (query.at_batch && query.at_version)
    return bad_query("atBatch", "atBatch and atVersion exclude each other");
  if (query.first && query.last) return bad_query("last", "first and last exclude each other");
  if (query.start && query.end && *query.start > *query.end)
    return bad_query("start", "start is beyond end");
  if (query.at_version && !rep.has_version(query.at_version->value)) {
    return no_version("atVersion", query.at_version->value, rep);
  }
  State past;
  if (query.at_version) past = rep.state_at(query.at_version->value);
  const State& state = query.at_version ? past : rep.head;
  const BatchTree& batches = state.frame->batches;
  if (query.at_batch && query.at_batch->value >= batches.size()) {
    return not_found("atBatch", "there is no batch " + std::to_string(query.at_batch->value) +
                                    "; the current one is " + std::to_string(batches.size() - 1));
  }
  Scope scope(rep.log);
  if (query.marked) scope.marks_ = state.frame->marks;
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

// Of a query by nothing but roles and places: the positions between which its messages stand. The
// k-th of some roles is found by their counts, so this reads nothing but the way to both ends.
template <class AnyTree>
Range Scope::role_window(const AnyTree& tree, const MessageQuery& query) const {
  const Filter filter(query);
  if (filter.any_role) return window_of(query, length_);
  const std::uint64_t all =
      length_ == tree.size() ? tree.total(filter.roles) : filter.roles(tree.sums(0, length_));
  const Range w = window_of(query, all);
  if (w.start == w.end) return {};
  return {tree.seek(filter.roles, w.start), tree.seek(filter.roles, w.end - 1) + 1};
}

template <class AnyTree>
std::vector<Found> Scope::find(const AnyTree& tree, const MessageQuery& query) const {
  const Filter filter(query);
  std::vector<Found> found;
  if (filter.nothing) return found;
  found.reserve(16);
  StoredReader stored(*log_);
  const auto may = [&](const MessageSums& s) { return filter.may(s); };
  const auto look = [&](std::uint64_t position, const auto& item) {
    if (!filter.passes(role_of(item), time_of(item))) return;
    const std::uint32_t ordinal = ordinal_of(position, item);
    if (!query.contains || stored.message(ordinal).text_contains(*query.contains))
      found.push_back({position, ordinal, tokens_of(item)});
  };
  if (query.last && !query.start && !query.end) {
    if (*query.last == 0) return found;
    tree.visit_back(0, length_, may, [&](std::uint64_t position, const auto& item) {
      look(position, item);
      return found.size() < *query.last;
    });
    std::reverse(found.begin(), found.end());
  } else if (const std::uint64_t enough = enough_of(query); enough > 0) {
    tree.visit(0, length_, may, [&](std::uint64_t position, const auto& item) {
      look(position, item);
      return found.size() < enough;
    });
  }
  cut_to_window(found, query);
  return found;
}

std::vector<Found> Scope::find_marked(const MessageQuery& query) const {
  const Filter filter(query);
  std::vector<Found> found;
  if (filter.nothing) return found;
  for (const std::uint32_t ordinal : marks_.ordinals(*query.marked)) {
    const StoredMessage& item = log_->stored[ordinal];
    if (!filter.passes(role_of(item), item.time_ms) ||
        (query.contains && !log_->body_of(item, ordinal).text_contains(*query.contains)))
      continue;
    if (is_log_) {
      if (ordinal < length_) found.push_back({ordinal, ordinal, item.tokens});
    } else if (const std::optional<std::uint64_t> index = view_.index_of(ordinal)) {
      found.push_back({*index, ordinal, item.tokens});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.position < b.position; });
  cut_to_window(found, query);
  return found;
}

template <class AnyTree>
Result<MessageList> Scope::list(const AnyTree& tree, const MessageQuery& query) const {
  MessageList list;
  StoredReader stored(*log_);
  std::uint64_t left = query.bytes_max.value_or(no_limit);
  bool is_too_large = false;
  // false: no more of them.
  const auto add = [&](std::uint32_t ordinal) {
    list.ordinals.push_back(Ordinal(ordinal));
    list.messages.push_back(stored.message(ordinal));
    const std::uint64_t size = list.messages.back().json().size();
    is_too_large = size > left;
    left -= is_too_large ? left : size;
    return !is_too_large;
  };
  const auto done = [&]() -> Result<MessageList> {
    if (!is_too_large) return std::move(list);
    return Error{ErrorCode::too_large, "the messages have more than " +
                                           std::to_string(*query.bytes_max) + " bytes together"};
  };
  if (!query.marked && !query.contains && !has_window(query) && (query.from_ms || query.to_ms)) {
    const Filter filter(query);
    if (filter.nothing) return list;
    list.messages.reserve(16);
    list.ordinals.reserve(16);
    tree.visit(
        0, length_, [&](const MessageSums& s) { return filter.may(s); },
        [&](std::uint64_t position, const auto& item) {
          return !filter.passes(role_of(item), time_of(item)) || add(ordinal_of(position, item));
        });
    return done();
  }
  if (query.marked || query.from_ms || query.to_ms || query.contains) {
    const std::vector<Found> found = query.marked ? find_marked(query) : find(tree, query);
    list.messages.reserve(found.size());
    list.ordinals.reserve(found.size());
    for (const Found& f : found)
      if (!add(f.ordinal)) break;
    return done();
  }
  const Filter filter(query);
  const Range w = role_window(tree, query);
  if (filter.any_role) {
    list.messages.reserve(w.end - w.start);
    list.ordinals.reserve(w.end - w.start);
  }
  tree.visit(
      w.start, w.end, [&](const MessageSums& s) { return filter.any_role || filter.roles(s) > 0; },
      [&](std::uint64_t position, const auto& item) {
        return !filter.roles.wanted[role_of(item)] || add(ordinal_of(position, item));
      });
  return done();
}

template <class AnyTree>
MessageCount Scope::tally(const AnyTree& tree, const MessageQuery& query) const {
  const Filter filter(query);
  MessageCount total;
  const auto take = [&](const MessageSums& s) {
    for (std::size_t r = 0; r < role_count; ++r) {
      total.count += filter.roles.wanted[r] ? s.role_counts[r] : 0;
      total.tokens += filter.roles.wanted[r] ? s.role_tokens[r] : 0;
    }
  };
  const auto count = [&](const auto& item) {
    if (!filter.passes(role_of(item), time_of(item))) return;
    total.count += 1;
    total.tokens += tokens_of(item);
  };
  if (query.marked || query.contains || (!filter.any_time && has_window(query))) {
    for (const Found& f : query.marked ? find_marked(query) : find(tree, query)) {
      total.count += 1;
      total.tokens += f.tokens;
    }
  } else if (!filter.nothing) {
    const Range w = filter.any_time ? role_window(tree, query) : Range{0, length_};
    tree.gather(
        w.start, w.end, [&](const MessageSums& s) { return filter.may(s); },
        [&](const MessageSums& s) { return filter.all_times(s); }, take, count);
  }
  return total;
}

Result<MessageList> Scope::messages(const MessageQuery& query) const {
  return is_log_ ? list(log_->stored, query) : list(view_.entries, query);
}

MessageCount Scope::count(const MessageQuery& query) const {
  return is_log_ ? tally(log_->stored, query) : tally(view_.entries, query);
}

}  // namespace undertext
