#include "policy/edit_plan.hpp"

#include <algorithm>
#include <cmath>

#include "compression/plan_by.hpp"

namespace undertext {

std::uint64_t EditMeasure::as_sent(std::uint64_t view_tokens) const {
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(view_tokens + overhead_tokens) * factor));
}

std::uint64_t EditMeasure::as_counted(std::uint64_t sent_tokens) const {
  const auto ours = static_cast<std::uint64_t>(static_cast<double>(sent_tokens) / factor);
  return std::max<std::uint64_t>(ours - std::min(ours, overhead_tokens), 1);
}

Result<Plan> edit_plan(const GatewayPolicy& policy, const EditGoal& goal,
                       const EditMeasure& measure, const History& history, Aim aim,
                       const StrategyPtr& summary) {
  aim.tokens_max = measure.as_counted(goal.tokens_max);
  // What costs nothing is done as a whole.
  if (policy.mode == GatewayPolicy::Mode::tidy && goal.is_cold && !goal.is_over_limit)
    aim.tokens_max.reset();
  aim.digest_last = true;
  aim.tokens_enough = measure.as_counted(goal.tokens_limit);
  // A summary that is not written says nothing that could be looked for. One that is has what must
  // survive: it is completed.
  if (!summary) aim.survival = policy.survival;
  aim.context_tools = aim.context_tools || policy.tools == GatewayPolicy::Tools::recall;
  Result<Plan> plan = plan_by(*edit_strategy(policy, goal, summary), history, aim);
  if (!plan) return plan;
  if (std::optional<Error> lacking = lacking_survival(*plan, history, aim))
    return *std::move(lacking);
  if (!is_worth(policy, goal, measure.as_sent(plan->tokens_before),
                measure.as_sent(plan->tokens_after)))
    return Error{ErrorCode::cannot_fit, "too little can be freed"};
  return plan;
}

bool EditWaits::waits(std::uint64_t view_tokens, const EditGoal& goal) {
  if (from_ && (view_tokens < *from_ || need_of(goal) > need_)) from_.reset();
  return from_ && view_tokens - *from_ < std::max(goal.tokens_gain, *from_ / 4);
}

}  // namespace undertext
