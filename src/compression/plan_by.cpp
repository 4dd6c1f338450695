#include "compression/plan_by.hpp"

#include <algorithm>

#include "compression/kept.hpp"

namespace undertext {
namespace {

// A custom strategy may not count, or count otherwise. Stretches that are not in the view are refused when the plan is applied.
void count_tokens_of(Plan& plan, const View& view, const Aim& aim) {
  std::uint64_t hidden = 0, put = 0;
  for (const Replacement& replacement : plan.replacements) {
    for (const Range& range : replacement.hidden) {
      if (range.start < range.end && range.end <= view.size()) hidden += view.sums(range.start, range.end).tokens();
    }
    if (replacement.summary) put += count_tokens(aim, *replacement.summary);
  }
  plan.tokens_before = view.sums().tokens();
  plan.tokens_after = plan.tokens_before - std::min(plan.tokens_before, hidden) + put;
}

}  // namespace

Result<Plan> plan_by(const Strategy& strategy, const History& history, const Aim& aim) {
  Result<Plan> plan = call_user_code("strategy", strategy.name(), [&] { return strategy.plan(history, aim); });
  if (!plan) return plan;
  count_tokens_of(*plan, history.view(), aim);
  const bool has_target = strategy.has_target() && !plan->replacements.empty();
  plan->target_tokens = has_target ? aim.tokens_max : std::nullopt;
  return plan;
}

Result<Plan> plan_reaching(const Strategy& strategy, const History& history, const Aim& aim, IfShort if_short) {
  Result<Plan> plan = plan_by(strategy, history, aim);
  if (!plan || reaches(*plan, aim) || !strategy.has_target()) return plan;
  if (if_short == IfShort::accept && plan->tokens_after < plan->tokens_before) return plan;
  return cannot_fit(strategy.name(), plan->tokens_after, *aim.tokens_max);
}

}  // namespace undertext
