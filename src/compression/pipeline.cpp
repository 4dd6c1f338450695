// Strategies one after another, as one plan.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/kept.hpp"
#include "compression/plan_by.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

// The plan that leads from `before` to `after`, which was made from it by plans alone. What stands in `after` for something that a plan put there
// on the way stands for what that stood for.
Plan joined(const History& before, const History& after, Plan last) {
  const View from = before.view(), to = after.view();
  const std::uint64_t known = before.stats().total_messages;
  const Log& log = after.rep().log;

  std::vector<bool> hidden(from.size(), true);
  const auto index_before = [&](std::uint32_t ordinal) { return *from.index_of(Ordinal(ordinal)); };
  std::vector<Replacement> replacements;
  for (std::uint64_t i = 0; i < to.size(); ++i) {
    const std::uint32_t ordinal = static_cast<std::uint32_t>(to.ordinal(i).value);
    if (ordinal < known) {
      hidden[index_before(ordinal)] = false;
      continue;
    }
    std::vector<std::uint64_t> stands_for;
    std::vector<std::uint32_t> open{ordinal};
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (next < known) {
        stands_for.push_back(index_before(next));
      } else if (const std::vector<std::uint32_t>* behind = log.originals(next)) {
        open.insert(open.end(), behind->begin(), behind->end());
      }
    }
    std::sort(stands_for.begin(), stands_for.end());
    for (const std::uint64_t index : stands_for) hidden[index] = false;
    replacements.push_back({with_indices({}, stands_for), to[i]});
  }
  Stretches dropped;
  for (std::uint64_t i = 0; i < hidden.size(); ++i) {
    if (hidden[i]) add_stretch(dropped, i, i + 1);
  }
  if (!dropped.empty()) replacements.push_back({std::move(dropped)});
  last.base = before.version();
  last.tokens_before = from.sums().tokens();
  last.tokens_after = to.sums().tokens();
  last.replacements = std::move(replacements);
  return last;
}

class Pipeline final : public Strategy {
 public:
  explicit Pipeline(std::vector<StrategyPtr> steps) : steps_(std::move(steps)) { std::erase(steps_, nullptr); }
  std::string_view name() const noexcept override { return "pipeline"; }
  bool is_slow() const noexcept override {
    return std::any_of(steps_.begin(), steps_.end(), [](const StrategyPtr& step) { return step->is_slow(); });
  }

  bool needs_tokens_max() const noexcept override {
    return std::any_of(steps_.begin(), steps_.end(), [](const StrategyPtr& step) { return step->needs_tokens_max(); });
  }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    Plan total = empty_plan(history, name());
    if (is_within(history.view(), aim)) return total;
    Progress progress{history, {}, {}, {}};
    // Without an aim that says when it is enough, what a late step leaves may be something that an early one would hide. So the steps are gone
    // through until none finds anything: to plan twice is to plan once. Mostly the second round is in vain.
    for (int round = 0; round < rounds_max; ++round) {
      const std::uint64_t version = progress.now.version().value;
      for (const StrategyPtr& step : steps_) {
        if (std::optional<Error> error = take(*step, aim, progress)) return *error;
        if (is_within(progress.now.view(), aim)) break;
      }
      if (aim.tokens_max || progress.now.version().value == version) break;
    }
    if (progress.now.version() == history.version()) return total;
    progress.total.strategy = std::move(progress.names);
    progress.total.reason = std::move(progress.reasons);
    return joined(history, progress.now, std::move(progress.total));
  }

 private:
  static constexpr int rounds_max = 8;  // strategies of somebody else may never come to an end

  struct Progress {
    History now;
    std::string names, reasons;
    Plan total;
  };

  static std::optional<Error> take(const Strategy& step, const Aim& aim, Progress& progress) {
    Result<Plan> next = plan_by(step, progress.now, aim);
    if (!next && next.error().code == ErrorCode::cannot_fit) return {};  // the next one may
    if (!next) return next.error();
    if (next->replacements.empty()) return {};
    Result<Step> applied = progress.now.apply(
        {op::ApplyPlan{*next}},
        {.count_tokens = [&aim](const Message& message) { return static_cast<std::uint32_t>(count_tokens(aim, message)); },
         .limits = aim.limits});
    if (!applied) return applied.error();
    progress.now = std::move(applied->history);
    progress.names += (progress.names.empty() ? "" : ", ") + next->strategy;
    progress.reasons += (progress.reasons.empty() ? "" : "; ") + next->reason;
    Plan& total = progress.total;
    if (!next->summariser.empty()) total.summariser = next->summariser;
    if (!next->model.empty()) total.model = next->model;
    total.prompt_tokens += next->prompt_tokens;
    total.completion_tokens += next->completion_tokens;
    return {};
  }

  std::vector<StrategyPtr> steps_;
};

}  // namespace

StrategyPtr pipeline(std::vector<StrategyPtr> steps) { return std::make_shared<Pipeline>(std::move(steps)); }

StrategyPtr default_strategy(SmartSummary summary) {
  return pipeline({clear_tool_results(), smart_summary(std::move(summary)), sliding_window()});
}

}  // namespace undertext
