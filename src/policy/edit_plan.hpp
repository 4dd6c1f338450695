// The plan of an edit that a policy asks for: what the gateway applies, and what a replay of
// recorded turns applies.
//
//     EditMeasure measure{.overhead_tokens = tools, .factor = learned};
//     if (std::optional<EditGoal> goal = edit_goal(policy, {.tokens = measure.as_sent(tokens), …}); goal && !waits.waits(tokens, *goal))
//       if (Result<Plan> plan = edit_plan(policy, *goal, measure, history, aim)) history.apply({op::ApplyPlan{*plan}}, context);
//       else waits.failed(tokens, *goal);
//
// Pure: no clock, no store. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include <undertext/compression.hpp>

#include "policy/policy.hpp"

namespace undertext {

// How the provider's count of a request follows from the count of its view.
struct EditMeasure {
  std::uint64_t overhead_tokens = 0;  // tools, and whatever else is in no message
  double factor = 1;                  // the provider's tokens for one of ours

  std::uint64_t as_sent(std::uint64_t view_tokens) const;
  // a view of so many is sent as at most so many; at least 1
  std::uint64_t as_counted(std::uint64_t sent_tokens) const;
};

// The plan for the head. `aim` has the counts and limits; what the policy asks for is set in it.
// cannot_fit: too little can be freed, or too little would survive. Others: as Strategy::plan().
// `summary`: see edit_strategy(); what would survive it is then not asked.
Result<Plan> edit_plan(const GatewayPolicy& policy, const EditGoal& goal,
                       const EditMeasure& measure, const History& history, Aim aim,
                       const StrategyPtr& summary = {});

// Keeps a conversation from trying again and again without progress: after a try that freed too
// little, the next one comes when the view has grown by a quarter, and by what an edit has to free,
// or has shrunk; or when less is asked of an edit, since the cache has expired or the window is
// full.
class EditWaits {
 public:
  bool waits(std::uint64_t view_tokens, const EditGoal& goal);
  void failed(std::uint64_t view_tokens, const EditGoal& goal) {
    from_ = view_tokens;
    need_ = need_of(goal);
  }

 private:
  enum class Need : std::uint8_t { none, cold, over_limit };
  static Need need_of(const EditGoal& goal) {
    return goal.is_over_limit ? Need::over_limit : goal.is_cold ? Need::cold : Need::none;
  }
  std::optional<std::uint64_t> from_;
  Need need_ = Need::none;  // of the try that failed
};

}  // namespace undertext
