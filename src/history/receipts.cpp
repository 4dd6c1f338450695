// What each COMPRESS did, read from the records of operations.
#include <algorithm>

#include "history/state.hpp"

namespace undertext {
namespace {

std::vector<std::uint64_t> ordinals_of(const PlacedView& view, const Stretches& stretches) {
  const std::vector<std::uint32_t> ordinals = view.ordinals(stretches);
  return {ordinals.begin(), ordinals.end()};
}

// The stretches that an operation hid, by what stands for them.
struct Hidden {
  std::vector<Range> ranges;
  bool has_summary = false;
};

std::vector<Hidden> hidden_by(const op::ApplyPlan& apply) {
  std::vector<Hidden> hidden;
  for (const Replacement& r : apply.plan.replacements)
    hidden.push_back({r.hidden, r.summary.has_value()});
  return hidden;
}

std::vector<Hidden> hidden_by(const op::Compress& compress, const PlacedView& before) {
  std::vector<std::uint64_t> indices;
  for (const std::uint64_t number : compress.names.numbers) {
    indices.push_back(compress.names.by == Names::By::index
                          ? number
                          : before.index_of(static_cast<std::uint32_t>(number)).value_or(0));
  }
  std::sort(indices.begin(), indices.end());
  return {{with_indices({}, indices), compress.summary.has_value()}};
}

// A RECONCILE in which the client's own summary took the place of others.
const op::Reconciled* compaction_of(const Operation& operation) {
  const auto* reconciled = std::get_if<op::Reconciled>(&operation.what);
  return reconciled && reconciled->outcome == ReconcileOutcome::compacted ? reconciled : nullptr;
}

void add_compaction(Receipt& receipt, const op::Reconciled& reconciled, const PlacedView& before,
                    std::uint64_t log_length) {
  receipt.reason = "the client compacted its list";
  receipt.hidden = ordinals_of(before, reconciled.hidden);
  for (const op::Reconciled::Made& made : reconciled.made)
    if (made.is_summary) receipt.summaries.push_back({log_length + made.message, made.stands_for});
  for (const op::Reconciled::Summary& summary : reconciled.summaries)
    receipt.summaries.push_back({summary.ordinal, summary.stands_for});
}

}  // namespace

std::optional<Receipt> History::receipt(Version version) const {
  if (version.value == 0 || !rep_->has_version(version.value - 1) ||
      version.value > rep_->head_number())
    return {};
  const VersionRow& row = rep_->versions[version.value];
  if (!row.operation) return {};
  const auto* apply = std::get_if<op::ApplyPlan>(&row.operation->operation.what);
  const auto* compress = std::get_if<op::Compress>(&row.operation->operation.what);
  const op::Reconciled* const compaction = compaction_of(row.operation->operation);
  if ((!apply && !compress && !compaction) || (apply && apply->plan.replacements.empty()))
    return {};

  const PlacedView before = rep_->state_at(version.value - 1).placed();
  std::vector<Hidden> hidden;
  if (apply) hidden = hidden_by(*apply);
  if (compress) hidden = hidden_by(*compress, before);
  std::sort(hidden.begin(), hidden.end(),
            [](const Hidden& a, const Hidden& b) { return a.ranges[0].start < b.ranges[0].start; });

  Receipt receipt;
  receipt.version = version.value;
  receipt.timestamp_ms = row.at_ms;
  receipt.tokens_before = before.entries.total(TokensOf());
  receipt.tokens_after = rep_->state_at(version.value).view.total(TokensOf());
  if (apply) {
    receipt.strategy = apply->plan.strategy;
    receipt.summariser = apply->plan.summariser;
    receipt.model = apply->plan.model;
    receipt.reason = apply->plan.reason;
    receipt.prompt_tokens = apply->plan.prompt_tokens;
    receipt.completion_tokens = apply->plan.completion_tokens;
    receipt.target_tokens = apply->plan.target_tokens;
  }
  if (compaction) {
    add_compaction(receipt, *compaction, before, rep_->versions[version.value - 1].log_length);
    return receipt;
  }
  // Summaries were stored in the order of their places.
  std::uint64_t next_summary = rep_->versions[version.value - 1].log_length;
  std::vector<Range> all;
  for (Hidden& h : hidden) {
    if (h.has_summary) receipt.summaries.push_back({next_summary++, ordinals_of(before, h.ranges)});
    all.insert(all.end(), h.ranges.begin(), h.ranges.end());
  }
  std::sort(all.begin(), all.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  receipt.hidden = ordinals_of(before, all);
  return receipt;
}

std::vector<Receipt> History::receipts() const {
  std::vector<Receipt> receipts;
  for (std::uint64_t v = rep_->first_version + std::uint64_t{1}; v <= rep_->head_number(); ++v) {
    if (!rep_->versions[v].operation) continue;
    if (std::optional<Receipt> made = receipt(Version(v))) receipts.push_back(std::move(*made));
  }
  return receipts;
}

}  // namespace undertext
