// prefer_cache: of several plans one that keeps much and costs a prompt cache little.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/kept.hpp"
#include "compression/plan_by.hpp"

namespace undertext {
namespace {

class PreferCacheStrategy final : public Strategy {
 public:
  PreferCacheStrategy(std::vector<StrategyPtr> strategies, PreferCache options)
      : strategies_(std::move(strategies)), options_(options) {}

  std::string_view name() const noexcept override { return "prefer_cache"; }
  bool is_slow() const noexcept override {
    return std::any_of(strategies_.begin(), strategies_.end(),
                       [](const StrategyPtr& one) { return one->is_slow(); });
  }
  bool needs_tokens_max() const noexcept override {
    return std::any_of(strategies_.begin(), strategies_.end(),
                       [](const StrategyPtr& one) { return one->needs_tokens_max(); });
  }

  bool uses_default_target() const noexcept override {
    return std::any_of(strategies_.begin(), strategies_.end(),
                       [](const StrategyPtr& one) { return one->uses_default_target(); });
  }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = history.view();
    if (is_within(view, aim)) return empty_plan(history, name());
    if (strategies_.empty())
      return Error{ErrorCode::invalid_argument, "prefer_cache needs strategies to choose from",
                   "steps"};
    std::vector<Plan> reaching;
    std::optional<Plan> nearest;  // of those that fall short
    std::optional<Error> error;
    for (const StrategyPtr& strategy : strategies_) {
      Result<Plan> plan = plan_by(*strategy, history, aim);
      if (!plan) {
        if (aim.cancel.stop_requested()) return plan;
        // One that failed tells more than one that found nothing to do.
        if (!error || error->code == ErrorCode::cannot_fit) error = plan.error();
      } else if (reaches(*plan, aim)) {
        reaching.push_back(std::move(*plan));
      } else if (!nearest || plan->tokens_after < nearest->tokens_after) {
        nearest = std::move(*plan);
      }
    }
    if (!reaching.empty()) return chosen(std::move(reaching), history, aim);
    if (nearest) return std::move(*nearest);
    return *error;
  }

 private:
  Result<Plan> chosen(std::vector<Plan> plans, const History& history, const Aim& aim) const {
    std::uint64_t most = 0;
    for (const Plan& plan : plans) most = std::max(most, plan.tokens_after);
    const double enough = options_.keep_percent / 100 * static_cast<double>(most);
    Plan* best = nullptr;
    double best_cost = 0;
    for (Plan& plan : plans) {
      if (static_cast<double>(plan.tokens_after) < enough) continue;
      const Result<double> cost = cost_of(history, plan, aim);
      if (!cost) return cost.error();
      if (best != nullptr && *cost >= best_cost) continue;
      best = &plan;
      best_cost = *cost;
    }
    return std::move(*best);
  }

  Result<double> cost_of(const History& history, const Plan& plan, const Aim& aim) const {
    if (plan.replacements.empty()) return 0.0;
    const Result<Step> step = history.apply(
        {op::ApplyPlan{plan}},
        {.count_tokens =
             [&aim](const Message& m) { return static_cast<std::uint32_t>(count_tokens(aim, m)); },
         .limits = aim.limits});
    if (!step) return step.error();
    const Result<EditCost> cost =
        edit_cost(step->history, history.version(), step->history.version(), options_.rules,
                  {.overhead = options_.overhead, .markers = options_.markers});
    if (!cost) return cost.error();
    return cost->one_time - cost->saved_per_turn * options_.turns;
  }

  std::vector<StrategyPtr> strategies_;
  PreferCache options_;
};

}  // namespace

StrategyPtr prefer_cache(std::vector<StrategyPtr> strategies, PreferCache options) {
  return std::make_shared<PreferCacheStrategy>(std::move(strategies), options);
}

}  // namespace undertext
