#include "compression/plan_by.hpp"

#include <algorithm>
#include <memory>

#include "compression/facts.hpp"
#include "compression/kept.hpp"

namespace undertext {
namespace {

// A custom strategy may not count, or count otherwise. Stretches that are not in the view are
// refused when the plan is applied.
void count_tokens_of(Plan& plan, const View& view, const Aim& aim) {
  std::uint64_t hidden = 0, put = 0;
  for (const Replacement& replacement : plan.replacements) {
    for (const Range& range : replacement.hidden) {
      if (range.start < range.end && range.end <= view.size())
        hidden += view.sums(range.start, range.end).tokens();
    }
    if (replacement.summary) put += count_tokens(aim, *replacement.summary);
  }
  plan.tokens_before = view.sums().tokens();
  plan.tokens_after = plan.tokens_before - std::min(plan.tokens_before, hidden) + put;
}

// The messages of the view that RECALL appended, but for pinned ones; nothing, if they are all
// there is.
Stretches recalled_in(const History& history) {
  Stretches found;
  const std::vector<std::uint64_t> recalled = history.marked(recalled_mark);
  if (recalled.empty()) return found;
  const std::vector<std::uint64_t> pinned = history.marked(pinned_mark);
  const View view = history.view();
  std::vector<std::uint64_t> indices;
  for (const std::uint64_t ordinal : recalled) {
    if (std::binary_search(pinned.begin(), pinned.end(), ordinal)) continue;
    if (const std::optional<std::uint64_t> index = view.index_of(Ordinal(ordinal)))
      indices.push_back(*index);
  }
  std::sort(indices.begin(), indices.end());
  if (indices.size() < view.size()) found = with_indices({}, indices);
  return found;
}

// What RECALL quoted is in the log: its messages go before anything else.
class HideRecalled final : public Strategy {
 public:
  std::string_view name() const noexcept override { return "recalled"; }
  Result<Plan> plan(const History& history, const Aim&) const override {
    Plan plan = empty_plan(history, name());
    Stretches hidden = recalled_in(history);
    if (hidden.empty()) return plan;
    plan.replacements.push_back({std::move(hidden)});
    plan.reason = "what RECALL appended";
    return plan;
  }
};

Result<Plan> make_plan(const Strategy& strategy, const History& history, const Aim& aim) {
  const bool may_hide = strategy.name() != "none" && strategy.name() != HideRecalled().name();
  if (!may_hide || recalled_in(history).empty()) return strategy.plan(history, aim);
  const StrategyPtr borrowed(StrategyPtr(), &strategy);
  return pipeline({std::make_shared<HideRecalled>(), borrowed})->plan(history, aim);
}

}  // namespace

Result<Plan> plan_by(const Strategy& strategy, const History& history, const Aim& aim) {
  Result<Plan> plan = call_user_code("strategy", strategy.name(),
                                     [&] { return make_plan(strategy, history, aim); });
  if (!plan) return plan;
  count_tokens_of(*plan, history.view(), aim);
  const bool has_target = strategy.has_target() && !plan->replacements.empty();
  plan->target_tokens = has_target ? aim.tokens_max : std::nullopt;
  return plan;
}

std::optional<Error> lacking_survival(const Plan& plan, const History& history, const Aim& aim) {
  if (plan.replacements.empty() || !aim.survival.asks_for_something()) return {};
  const Result<Step> step = history.apply(
      {op::ApplyPlan{plan}}, {.count_tokens =
                                  [&aim](const Message& message) {
                                    return static_cast<std::uint32_t>(count_tokens(aim, message));
                                  },
                              .limits = aim.limits});
  if (!step) return {};  // it is refused for another reason, when it is applied
  return refused_by(aim.survival, survival(history, step->history));
}

Result<Plan> plan_reaching(const Strategy& strategy, const History& history, const Aim& aim,
                           IfShort if_short) {
  Result<Plan> plan = plan_by(strategy, history, aim);
  if (plan)
    if (std::optional<Error> lacking = lacking_survival(*plan, history, aim))
      return std::move(*lacking);
  if (!plan || reaches(*plan, aim) || !strategy.has_target()) return plan;
  if (if_short == IfShort::accept && plan->tokens_after < plan->tokens_before) return plan;
  return cannot_fit(strategy.name(), plan->tokens_after, *aim.tokens_max);
}

}  // namespace undertext
