#include <undertext/history.hpp>

#include <algorithm>

#include "base/answering_failure.hpp"
#include "history/draft.hpp"
#include "history/longest_rising.hpp"
#include "history/merged.hpp"
#include "history/scope.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

View view_of(const History::Rep& rep, PlacedView placed) {
  auto made = std::make_shared<View::Rep>();
  made->log = rep.log;
  made->placed = std::move(placed);
  return View(std::move(made));
}

std::string operation_of(const History::Rep& rep, std::uint64_t version) {
  const VersionRow& row = rep.versions[version];
  if (row.operation) return std::string(name(row.operation->operation));
  return version == 0 ? "" : "APPEND";
}

std::string description_of(const VersionRow& row) {
  return row.operation ? row.operation->operation.options.description : "";
}

BlameEntry blame_entry(const History::Rep& rep, std::uint64_t version) {
  const VersionRow& row = rep.versions[version];
  return {version, operation_of(rep, version), row.at_ms, description_of(row)};
}

// Which elements of a list of distinct numbers stay when a longest rising part of it is kept:
// those, by place.
std::vector<bool> kept_rising(const std::vector<std::uint64_t>& numbers) {
  std::vector<bool> kept(numbers.size(), false);
  for (const std::size_t i : longest_rising(
           numbers.size(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; }))
    kept[i] = true;
  return kept;
}

Diff diff_in_order(const PlacedView& a, const PlacedView& b) {
  Diff diff;
  const auto add = [](std::vector<std::uint64_t>& to, const PlacedView& view, std::uint64_t start,
                      std::uint64_t end) {
    const std::vector<std::uint32_t> ordinals = view.ordinals({{start, end}});
    to.insert(to.end(), ordinals.begin(), ordinals.end());
  };
  a.compare(
      b, [](std::uint64_t, std::uint64_t, std::uint64_t) {},
      [&](std::uint64_t start, std::uint64_t end) { add(diff.removed, a, start, end); },
      [&](std::uint64_t start, std::uint64_t end) { add(diff.added, b, start, end); });
  return diff;
}

// The view of one of them may depart from the log's order.
Diff diff_out_of_order(const PlacedView& a, const PlacedView& b) {
  const std::uint64_t prefix = a.entries.common_prefix(b.entries);
  const std::uint64_t suffix =
      a.entries.common_suffix(b.entries, std::min(a.size(), b.size()) - prefix);

  Diff diff;
  for (const std::uint32_t ordinal : a.ordinals({{prefix, a.size() - suffix}})) {
    if (!b.shows(ordinal)) diff.removed.push_back(ordinal);
  }
  std::vector<std::uint64_t> common, places_in_a;
  for (const std::uint32_t ordinal : b.ordinals({{prefix, b.size() - suffix}})) {
    if (const std::optional<std::uint64_t> index = a.index_of(ordinal)) {
      common.push_back(ordinal);
      places_in_a.push_back(*index);
    } else {
      diff.added.push_back(ordinal);
    }
  }
  const std::vector<bool> in_order = kept_rising(places_in_a);
  for (std::size_t k = 0; k < common.size(); ++k) {
    if (!in_order[k]) diff.moved.push_back(common[k]);
  }
  return diff;
}

}  // namespace

std::string_view name(Warning::Code code) {
  switch (code) {
    case Warning::Code::tool_call_without_result: return "tool_call_without_result";
    case Warning::Code::tool_result_without_call: return "tool_result_without_call";
    case Warning::Code::reasoning_without_call: return "reasoning_without_call";
  }
  return "tool_call_without_result";
}

History::History(std::int64_t created_at_ms) {
  BatchTree batches;
  batches.push_back({0, 0, {}});
  auto rep = std::make_shared<Rep>();
  rep->head.frame = Shared<Frame>::make(std::move(batches), Marks{}, PlaceTree{});
  VersionRow start;
  start.at_ms = created_at_ms;
  rep->versions.push_back(start);
  rep_ = std::move(rep);
}

Result<History> History::fork(Version version) const {
  return answering_failure([&]() -> Result<History> {
    if (!rep_->has_version(version.value)) return no_version("version", version.value, *rep_);
    auto made = std::make_shared<Rep>(*rep_);
    made->head = rep_->state_at(version.value);
    made->versions.splice(version.value + 1, rep_->versions.size() - version.value - 1, {});
    const std::uint64_t states = rep_->versions[version.value].state - rep_->first_state;
    made->states.splice(states, made->states.size() - states, {});
    made->log.cut(made->head.log_length);
    const std::uint64_t clients = rows_up_to(made->clients, version.value);
    made->clients.splice(clients, made->clients.size() - clients, {});
    return History(std::move(made));
  });
}

Version History::first_version() const { return Version(rep_->first_version); }
Version History::version() const { return Version(rep_->head_number()); }
Stats History::stats() const { return stats_of(*rep_); }
View History::view() const { return view_of(*rep_, rep_->head.placed()); }

View History::log() const {
  auto made = std::make_shared<View::Rep>();
  made->log = rep_->log;
  made->is_log = true;
  made->log_length = rep_->log.size();
  return View(std::move(made));
}

Result<View> History::view_at(Version version) const {
  return answering_failure([&]() -> Result<View> {
    if (!rep_->has_version(version.value)) return no_version("version", version.value, *rep_);
    return view_of(*rep_, rep_->state_at(version.value).placed());
  });
}

Result<View> History::view_at(BatchIndex batch) const {
  return answering_failure([&]() -> Result<View> {
    const BatchTree& batches = rep_->head.frame->batches;
    if (batch.value >= batches.size())
      return Error{ErrorCode::not_found, "there is no batch " + std::to_string(batch.value),
                   "batch"};
    if (batch.value + 1 == batches.size()) return view();
    return view_of(*rep_, snapshot_of(batches, batch.value));
  });
}

History History::limited(std::shared_ptr<Work> work) const {
  if (!work) return *this;
  auto made = std::make_shared<Rep>(*rep_);
  made->log.work = std::move(work);
  return History(std::move(made));
}

Result<MessageList> History::messages(const MessageQuery& query) const {
  return answering_failure([&]() -> Result<MessageList> {
    Result<Scope> scope = Scope::of(*rep_, query);
    if (!scope) return scope.error();
    return scope->messages(query);
  });
}

Result<MessageCount> History::count(const MessageQuery& query) const {
  return answering_failure([&]() -> Result<MessageCount> {
    Result<Scope> scope = Scope::of(*rep_, query);
    if (!scope) return scope.error();
    return scope->count(query);
  });
}

std::vector<Ordinal> History::client_list() const {
  const ClientState client = rep_->client();
  std::vector<Ordinal> ordinals;
  ordinals.reserve(client.list.size());
  client.list.visit(
      0, client.list.size(), [](const NoSums&) { return true; },
      [&](std::uint64_t, const ClientEntry& entry) {
        ordinals.push_back(Ordinal(entry.ordinal));
        return true;
      });
  return ordinals;
}

MessageList History::uncompressed() const {
  const State& head = rep_->head;
  const BatchTree& batches = head.frame->batches;
  const std::uint64_t boundary = batches[batches.size() - 1].boundary;
  MessageList list;
  StoredReader stored(rep_->log);
  head.view.visit(
      0, head.view.size(), [&](const EntrySums& s) { return s.ordinal_max >= boundary; },
      [&](std::uint64_t, const Entry& e) {
        if (e.ordinal >= boundary) {
          list.messages.push_back(stored.message(e.ordinal));
          list.ordinals.push_back(Ordinal(e.ordinal));
        }
        return true;
      });
  return list;
}

std::vector<std::uint64_t> History::marked(std::string_view mark) const {
  const std::vector<std::uint32_t> ordinals = rep_->head.frame->marks.ordinals(mark);
  return {ordinals.begin(), ordinals.end()};
}

std::vector<std::string> History::marks_of(Ordinal ordinal) const {
  if (ordinal.value >= rep_->log.size()) return {};
  return rep_->head.frame->marks.labels(static_cast<std::uint32_t>(ordinal.value));
}

MarkMap History::mark_map() const {
  const State& head = rep_->head;
  MarkMap map;
  head.view.visit(
      0, head.view.size(), [](const EntrySums&) { return true; },
      [&](std::uint64_t, const Entry& e) {
        map.original_indices.push_back(e.ordinal);
        map.type_indices[e.role_bits].push_back(e.ordinal);
        return true;
      });
  const BatchTree& batches = head.frame->batches;
  for (std::uint64_t k = 0; k < batches.size(); ++k) {
    map.batch_boundaries.push_back(batches[k].boundary);
    map.boundary_to_batch.push_back(k);
  }
  map.current_batch = batches.size() - 1;
  return map;
}

std::vector<BatchInfo> History::batches() const {
  const State& head = rep_->head;
  const BatchTree& batches = head.frame->batches;
  std::vector<BatchInfo> infos;
  for (std::uint64_t k = 0; k < batches.size(); ++k) {
    const Batch& batch = batches[k];
    const VersionRow& opening = rep_->versions[batch.opened_in];
    infos.push_back({k, batch.boundary, operation_of(*rep_, batch.opened_in), opening.at_ms,
                     description_of(opening),
                     k + 1 < batches.size() ? snapshot_of(batches, k).size() : head.view.size(),
                     batch.opened_in});
  }
  return infos;
}

std::optional<BatchSnapshot> History::batch_snapshot(BatchIndex batch) const {
  const BatchTree& batches = rep_->head.frame->batches;
  if (batch.value >= batches.size() - 1) return {};
  const Batch& next = batches[batch.value + 1];
  const VersionRow& leaving = rep_->versions[next.opened_in];
  return BatchSnapshot{batch.value, leaving.at_ms, description_of(leaving),
                       view_of(*rep_, next.before)};
}

VersionInfo History::version_info(Version version) const {
  const VersionRow& row = rep_->versions[version.value];
  const State& run = rep_->run_of(version.value);
  VersionInfo info;
  info.version = version.value;
  if (version.value > rep_->first_version) info.parent = version.value - 1;
  info.operation = operation_of(*rep_, version.value);
  info.batch_index = run.frame->batches.size() - 1;
  info.timestamp_ms = row.at_ms;
  info.description = description_of(row);
  info.message_count = rep_->message_count(version.value);
  info.tokens = run.view.sums(0, info.message_count).tokens();
  if (row.operation && row.operation->restores) info.restores = *row.operation->restores;
  if (const auto* apply =
          row.operation ? std::get_if<op::ApplyPlan>(&row.operation->operation.what) : nullptr;
      apply && apply->plan.target_tokens && !apply->plan.replacements.empty()) {
    info.target_reached = info.tokens <= *apply->plan.target_tokens;
  }
  return info;
}

std::vector<VersionInfo> History::versions() const {
  std::vector<VersionInfo> infos;
  infos.reserve(rep_->versions.size() - rep_->first_version);
  for (std::uint64_t v = rep_->first_version; v < rep_->versions.size(); ++v)
    infos.push_back(version_info(Version(v)));
  return infos;
}

Result<Diff> History::diff(Version from, Version to) const {
  return answering_failure([&]() -> Result<Diff> {
    if (!rep_->has_version(from.value)) return no_version("from", from.value, *rep_);
    if (!rep_->has_version(to.value)) return no_version("to", to.value, *rep_);
    const PlacedView a = rep_->state_at(from.value).placed(), b = rep_->state_at(to.value).placed();
    return rep_->log.views_are_in_order() ? diff_in_order(a, b) : diff_out_of_order(a, b);
  });
}

Result<Blame> History::blame(Ordinal ordinal) const {
  return answering_failure([&]() -> Result<Blame> {
    if (ordinal.value >= rep_->log.size()) {
      return Error{ErrorCode::not_found,
                   "there is no message with ordinal " + std::to_string(ordinal.value), "ordinal"};
    }
    const auto number = static_cast<std::uint32_t>(ordinal.value);
    const std::uint64_t stored_in = rep_->version_that_stored(number);
    Blame blame;
    blame.ordinal = ordinal.value;
    blame.stored = blame_entry(*rep_, stored_in);
    blame.from = forked_from(*rep_, ordinal.value);
    for (std::uint64_t v = std::max<std::uint64_t>(stored_in, rep_->first_version);
         v <= rep_->head_number();
         v = rep_->end_of_run(v)) {  // in a run nothing is hidden and nothing comes back
      const State& run = rep_->run_of(v);
      const std::optional<std::uint64_t> index = run.placed().index_of(number);
      const bool visible = index && *index < rep_->message_count(v);
      if (visible != blame.visible)
        (visible ? blame.shown : blame.hidden).push_back(blame_entry(*rep_, v));
      blame.visible = visible;
    }
    return blame;
  });
}

std::vector<Ordinal> History::stands_for(Ordinal ordinal) const {
  std::vector<Ordinal> originals;
  if (ordinal.value >= rep_->log.size()) return originals;
  if (const std::vector<std::uint32_t>* list =
          rep_->log.stands_for(static_cast<std::uint32_t>(ordinal.value))) {
    for (const std::uint32_t original : *list) originals.push_back(Ordinal(original));
  }
  return originals;
}

}  // namespace undertext
