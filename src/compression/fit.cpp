#include <algorithm>

#include <undertext/compression.hpp>

#include "base/answering_failure.hpp"
#include "compression/kept.hpp"
#include "compression/plan_by.hpp"
#include "history/state.hpp"

namespace undertext {

std::uint64_t Budget::tokens_max() const {
  std::uint64_t left = window;
  for (const std::uint64_t part : {reserve, overhead, safety}) left -= std::min(left, part);
  return left;
}

std::string_view name(Fit::Outcome outcome) {
  switch (outcome) {
    case Fit::Outcome::fits: return "fits";
    case Fit::Outcome::fits_after: return "fits_after";
    case Fit::Outcome::cannot_fit: return "cannot_fit";
  }
  return "";
}

bool reaches(const Plan& plan, const Aim& aim) {
  return !aim.tokens_max || plan.tokens_after <= *aim.tokens_max;
}

Result<Fit> fit_view(const History& history, const Budget& budget, const Strategy& strategy,
                     Aim aim) {
  return answering_failure([&]() -> Result<Fit> {
    Fit fit;
    fit.tokens = history.stats().tokens;
    fit.tokens_max = budget.tokens_max();
    if (fit.tokens <= fit.tokens_max) return fit;
    aim.tokens_max = fit.tokens_max;
    Result<Plan> plan = plan_by(strategy, history, aim);
    if (plan && reaches(*plan, aim)) {
      fit.outcome = Fit::Outcome::fits_after;
      fit.plan = std::move(*plan);
      return fit;
    }
    if (!plan && plan.error().code != ErrorCode::cannot_fit) return plan.error();
    fit.outcome = Fit::Outcome::cannot_fit;
    fit.tokens_minimum =
        plan ? plan->tokens_after : plan.error().tokens_minimum.value_or(fit.tokens);
    return fit;
  });
}

Result<Plan> rebase(const Plan& plan, const History& planned_for, const History& now) {
  return answering_failure([&]() -> Result<Plan> {
    const PlacedView before = planned_for.rep().head.placed(), after = now.rep().head.placed();
    Plan moved = plan;
    moved.base = now.version();
    const std::uint64_t same = before.entries.common_prefix(after.entries);
    for (Replacement& replacement : moved.replacements) {
      // Most often something was appended, and everything that the plan names stands where it
      // stood.
      if (!replacement.hidden.empty() && replacement.hidden.back().end <= same) continue;
      std::vector<std::uint64_t> indices;
      for (const Range& range : replacement.hidden) {
        for (std::uint64_t i = range.start; i < range.end; ++i) {
          const std::uint32_t ordinal = before.entries[i].ordinal;
          const std::optional<std::uint64_t> index = after.index_of(ordinal);
          if (!index) {
            return Error{ErrorCode::conflict,
                         "the message with ordinal " + std::to_string(ordinal) +
                             ", which the plan hides, is not in the view any more",
                         "plan"};
          }
          indices.push_back(*index);
        }
      }
      std::sort(indices.begin(), indices.end());
      replacement.hidden = with_indices({}, indices);
      if (replacement.summary && replacement.hidden.size() > 1)
        return Error{ErrorCode::conflict,
                     "a message stands now between what a summary of the plan stands for", "plan"};
    }
    const std::uint64_t saved =
        plan.tokens_before - std::min(plan.tokens_before, plan.tokens_after);
    moved.tokens_before = now.stats().tokens;
    moved.tokens_after = moved.tokens_before - std::min(moved.tokens_before, saved);
    return moved;
  });
}

}  // namespace undertext
