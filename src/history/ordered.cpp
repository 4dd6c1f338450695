#include "history/ordered.hpp"

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "history/operation_table.hpp"
#include "history/pairs.hpp"

namespace undertext {
namespace {

struct Put {
  std::uint32_t ordinal, front;
};

// What the first kept view tells: a message with later ones behind it that are older was put in
// front of the next of those.
std::vector<Put> put_in(const PlacedView& view) {
  std::vector<Put> put;
  std::vector<std::uint32_t> behind;  // rising from the bottom
  const std::vector<std::uint32_t> ordinals = view.ordinals({{0, view.size()}});
  for (auto ordinal = ordinals.rbegin(); ordinal != ordinals.rend(); ++ordinal) {
    while (!behind.empty() && behind.back() > *ordinal) behind.pop_back();
    if (!behind.empty()) put.push_back({*ordinal, behind.back()});
    behind.push_back(*ordinal);
  }
  std::sort(put.begin(), put.end(),
            [](const Put& a, const Put& b) { return a.ordinal < b.ordinal; });
  return put;
}

// Where the messages that an operation stored were put: indices of the view before it, in the order
// of their ordinals.
class PutAt {
 public:
  PutAt(const PlacedView& before, const PlacedView& after, std::uint32_t stored_from,
        std::uint32_t stored_to)
      : before_(before), after_(after), stored_from_(stored_from), stored_to_(stored_to) {}

  std::vector<std::uint64_t> of(const Operation& operation) const {
    if (const auto* insert = std::get_if<op::Insert>(&operation.what))
      return all_at(insert->position);
    if (const auto* apply = std::get_if<op::ApplyPlan>(&operation.what))
      return of_plan(apply->plan);
    if (!traits_of(operation).in_place) return all_at(first_gone());
    std::vector<std::uint64_t> found;
    for (std::uint32_t ordinal = stored_from_; ordinal < stored_to_; ++ordinal)
      found.push_back(after_.index_of(ordinal).value_or(before_.size()));
    return found;
  }

 private:
  std::vector<std::uint64_t> all_at(std::uint64_t index) const {
    return std::vector<std::uint64_t>(stored_to_ - stored_from_, index);
  }
  std::vector<std::uint64_t> of_plan(const Plan& plan) const {
    std::vector<std::uint64_t> found;
    for (const Replacement& replacement : plan.replacements) {
      if (replacement.summary && !replacement.hidden.empty())
        found.push_back(replacement.hidden.front().start);
    }
    std::sort(found.begin(), found.end());
    found.resize(stored_to_ - stored_from_, before_.size());
    return found;
  }
  std::uint64_t first_gone() const {
    const Stretches gone = complement(change_between(before_, after_).kept, before_.size());
    return gone.empty() ? before_.size() : gone.front().start;
  }

  const PlacedView& before_;
  const PlacedView& after_;
  std::uint32_t stored_from_, stored_to_;
};

// What the step from one version to the next tells of the messages it stored.
void add_step(Log& log, const PlacedView& before, const PlacedView& after,
              std::uint32_t stored_from, std::uint32_t stored_to, const Operation& operation) {
  const std::vector<std::uint64_t> put_at =
      PutAt(before, after, stored_from, stored_to).of(operation);
  std::vector<Put> put;
  for (std::uint32_t ordinal = stored_from; ordinal < stored_to; ++ordinal) {
    const std::uint64_t at = put_at[ordinal - stored_from];
    if (at < before.size()) put.push_back({ordinal, before.entries[at].ordinal});
  }
  for (const Put& each : put) log.order.put(each.ordinal, each.front);
  const Copies copies = traits_of(operation).copies;
  if (copies == Copies::each) {
    for (const Put& each : put) log.note_copies({each.ordinal}, {each.front});
  } else if (copies == Copies::together) {
    std::vector<std::uint32_t> made;
    for (const Put& each : put) made.push_back(each.ordinal);
    log.note_copies(made,
                    before.ordinals(complement(change_between(before, after).kept, before.size())));
  }
}

}  // namespace

History with_order(const History& history) {
  if (history.rep().log.order_known) return history;
  auto made = std::make_shared<History::Rep>(history.rep());
  const History::Rep& rep = history.rep();
  Log& log = made->log;
  log.order_known = true;
  for (std::uint64_t k = 0; k < log.summaries.size(); ++k)
    log.add_spans(log.summaries[k].ordinal, *log.summaries[k].originals);
  // Snapshots of batches may be older than the first kept view.
  if (rep.first_version > 0) log.order.depart();
  for (const Put& put : put_in(rep.state_at(rep.first_version).placed()))
    log.order.put(put.ordinal, put.front);
  for (std::uint64_t version = rep.first_version + 1; version <= rep.head_number(); ++version) {
    const VersionRow& row = rep.versions[version];
    if (!row.operation) continue;
    if (may_reorder(row.operation->operation)) log.order.depart();
    const std::uint32_t stored_from = rep.versions[version - 1].log_length;
    if (stored_from == row.log_length || traits_of(row.operation->operation).only_appends) continue;
    add_step(log, rep.state_at(version - 1).placed(), rep.state_at(version).placed(), stored_from,
             row.log_length, row.operation->operation);
  }
  return History(std::move(made));
}

}  // namespace undertext
