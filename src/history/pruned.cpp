#include "history/pruned.hpp"

#include <algorithm>

#include "history/ordered.hpp"

namespace undertext {
namespace {

class Needs {
 public:
  explicit Needs(const Log& log) : log_(log), needed_(log.size(), false) {}

  // What `view` shows and the one before did not: neighbours in time have nearly everything in
  // common.
  void add_view(const EntryTree& view) {
    const std::uint64_t prefix = before_.common_prefix(view);
    const std::uint64_t suffix =
        before_.common_suffix(view, std::min(before_.size(), view.size()) - prefix);
    view.visit(
        prefix, view.size() - suffix, [](const EntrySums&) { return true; },
        [&](std::uint64_t, const Entry& e) {
          add(e.ordinal);
          return true;
        });
    before_ = view;
  }
  void add_state(const State& state) {
    const BatchTree& batches = state.frame->batches;
    for (std::uint64_t k = batches_.common_prefix(batches); k < batches.size(); ++k)
      add_view(batches[k].before.entries);
    batches_ = batches;
    add_view(state.view);
    for (const std::uint32_t ordinal : state.frame->marks.all_ordinals()) add(ordinal);
  }
  std::vector<bool> take() { return std::move(needed_); }

 private:
  void add(std::uint32_t first) {
    std::vector<std::uint32_t> next{first};
    while (!next.empty()) {
      const std::uint32_t ordinal = next.back();
      next.pop_back();
      if (ordinal >= needed_.size() || needed_[ordinal]) continue;
      needed_[ordinal] = true;
      if (const std::vector<std::uint32_t>* originals = log_.stands_for(ordinal))
        next.insert(next.end(), originals->begin(), originals->end());
    }
  }

  const Log& log_;
  std::vector<bool> needed_;
  EntryTree before_;
  BatchTree batches_;
};

}  // namespace

History without_versions_below(const History& history, std::uint32_t first) {
  auto made = std::make_shared<History::Rep>(with_order(history).rep());
  const std::uint32_t first_state = made->versions[first].state;
  made->states.splice(0, first_state - made->first_state, {});
  made->first_state = first_state;
  // Batches tell which operation opened them.
  std::vector<std::uint32_t> needed;
  BatchTree before;
  const auto add_batches = [&](const BatchTree& batches) {
    for (std::uint64_t k = before.common_prefix(batches); k < batches.size(); ++k)
      needed.push_back(batches[k].opened_in);
    before = batches;
  };
  for (std::uint64_t k = 0; k < made->states.size(); ++k)
    add_batches(made->states[k].frame->batches);
  add_batches(made->head.frame->batches);
  // The record of the client list says what the newest delta goes on with.
  const std::uint64_t clients = rows_up_to(made->clients, first);
  if (clients > 0) needed.push_back(made->clients[clients - 1].version);
  std::sort(needed.begin(), needed.end());
  std::vector<VersionRow> rows;
  rows.reserve(first - made->first_version);
  for (std::uint32_t v = made->first_version; v < first; ++v) {
    VersionRow row = made->versions[v];
    if (!std::binary_search(needed.begin(), needed.end(), v)) row.operation = {};
    row.state = std::min(row.state, first_state);
    rows.push_back(row);
  }
  made->versions.splice(made->first_version, rows.size(), rows);
  made->first_version = first;
  if (clients > 1) made->clients.splice(0, clients - 1, {});
  return History(std::move(made));
}

std::vector<bool> needed_messages(const History& history) {
  const History::Rep& rep = history.rep();
  Needs needs(rep.log);
  for (std::uint64_t k = 0; k < rep.states.size(); ++k) needs.add_state(rep.states[k]);
  needs.add_state(rep.head);
  return needs.take();
}

}  // namespace undertext
