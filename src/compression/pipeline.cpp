// Strategies one after another, as one plan.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/kept.hpp"
#include "compression/older_results.hpp"
#include "compression/plan_by.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

// The plan that leads from `before` to `after`, which was made from it by plans alone. What stands
// in `after` for something that a plan put there on the way stands for what that stood for.
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
    // An earlier step may have dropped something in between. The summary stands for that too, so
    // that it stands for one stretch.
    const std::uint64_t first = stands_for.front(), count = stands_for.back() - first + 1;
    stands_for.resize(count);
    std::iota(stands_for.begin(), stands_for.end(), first);
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

// The plan that drops no summary, nor what belongs to one; the plan itself, where only that brings
// the view to the aim.
Plan sparing_summaries(Plan plan, const History& history, const Aim& aim) {
  if (!aim.tokens_max) return plan;
  const View view = history.view();
  const Stretches spared = whole_summaries(view);
  Plan sparing = plan;
  for (Replacement& replacement : sparing.replacements) {
    if (replacement.summary) continue;
    sparing.tokens_after += tokens_in(view, replacement.hidden);
    replacement.hidden = without(replacement.hidden, spared);
    sparing.tokens_after -= tokens_in(view, replacement.hidden);
  }
  if (sparing.tokens_after == plan.tokens_after) return plan;
  std::erase_if(sparing.replacements,
                [](const Replacement& replacement) { return replacement.hidden.empty(); });
  const bool is_enough = aim.tokens_enough && sparing.tokens_after <= *aim.tokens_enough;
  if (!is_enough && reaches(plan, aim)) return plan;
  if (aim.tokens_enough && plan.tokens_before <= *aim.tokens_enough) sparing.replacements.clear();
  return sparing;
}

class Pipeline final : public Strategy {
 public:
  Pipeline(std::string_view name, std::vector<StrategyPtr> steps)
      : name_(name), steps_(std::move(steps)) {
    std::erase(steps_, nullptr);
  }
  std::string_view name() const noexcept override { return name_; }
  bool is_slow() const noexcept override {
    return std::any_of(steps_.begin(), steps_.end(),
                       [](const StrategyPtr& step) { return step->is_slow(); });
  }

  bool needs_tokens_max() const noexcept override {
    return std::any_of(steps_.begin(), steps_.end(),
                       [](const StrategyPtr& step) { return step->needs_tokens_max(); });
  }

  bool uses_default_target() const noexcept override {
    return std::any_of(steps_.begin(), steps_.end(),
                       [](const StrategyPtr& step) { return step->uses_default_target(); });
  }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    if (!aim.tokens_max && needs_tokens_max())
      return Error{ErrorCode::invalid_argument,
                   "the pipeline has a step that needs to know how many tokens there is room for",
                   "targetTokens"};
    Plan total = empty_plan(history, name());
    if (is_within(history.view(), aim)) return total;
    Progress progress{history};
    // What a late step leaves may be something that an early one would hide. So, unless the aim
    // says that it is enough, the steps are gone through until none finds anything: to plan twice
    // is to plan once. Mostly the second round is in vain.
    for (int round = 0; round < rounds_max; ++round) {
      const std::uint64_t version = progress.now.version().value;
      for (const StrategyPtr& step : steps_) {
        if (round > 0 && step->is_slow()) continue;  // to ask a model twice is to pay twice
        if (std::optional<Error> error = take(*step, aim, progress)) {
          if (aim.cancel.stop_requested()) return *error;
          // Where the call has come to its end, it was not the step that failed.
          if (const Work* work = progress.now.view().rep().log.work.get()) work->go_on();
          if (!progress.failed) progress.failed = std::move(error);
        }
        if (is_within(progress.now.view(), aim)) break;
      }
      if (is_within(progress.now.view(), aim) || progress.now.version().value == version) break;
    }
    if (progress.now.version() == history.version()) {
      if (progress.failed) return *progress.failed;
      return total;
    }
    return joined(history, progress.now, described(progress));
  }

 private:
  static constexpr int rounds_max = 8;  // strategies of somebody else may never come to an end

  struct Taken {
    Plan plan;
    std::uint64_t stored_from, stored_to;  // ordinals of what it put
  };
  struct Progress {
    History now;
    std::vector<Taken> taken = {};
    std::vector<std::string> failures = {};
    std::uint64_t prompt_tokens = 0, completion_tokens = 0;
    std::optional<Error> failed = {};  // the first failure of a step
  };

  // A step that fails leaves everything as it is, for the next one. cannot_fit is no failure: it
  // says that there is nothing to do.
  static std::optional<Error> take(const Strategy& step, const Aim& aim, Progress& progress) {
    const auto failed = [&](const Error& error) {
      progress.failures.push_back(std::string(step.name()) + " failed: " + error.message);
      return error;
    };
    Aim of_step = aim;
    of_step.digest_last = true;  // else a later step drops what has no summary
    Result<Plan> planned = plan_by(step, progress.now, of_step);
    if (!planned && planned.error().code == ErrorCode::cannot_fit) return {};
    if (!planned) return failed(planned.error());
    Plan next = sparing_summaries(std::move(*planned), progress.now, aim);
    if (next.replacements.empty()) return {};
    Result<Step> applied = progress.now.apply(
        {op::ApplyPlan{next}}, {.count_tokens =
                                    [&aim](const Message& message) {
                                      return static_cast<std::uint32_t>(count_tokens(aim, message));
                                    },
                                .limits = aim.limits});
    if (!applied) return failed(applied.error());
    const std::uint64_t stored_from = progress.now.stats().total_messages;
    // A version has no limits, but those of the call hold for the next step too.
    progress.now = applied->history.limited(progress.now.view().rep().log.work);
    progress.prompt_tokens += next.prompt_tokens;
    progress.completion_tokens += next.completion_tokens;
    progress.taken.push_back({std::move(next), stored_from, progress.now.stats().total_messages});
    return {};
  }

  // Which steps made the plan; why, and by whom, of those whose work is left.
  static Plan described(const Progress& progress) {
    const View view = progress.now.view();
    const auto is_left = [&](const Taken& taken) {
      // it dropped something
      if (taken.stored_to - taken.stored_from < taken.plan.replacements.size()) return true;
      for (std::uint64_t ordinal = taken.stored_from; ordinal < taken.stored_to; ++ordinal)
        if (view.index_of(Ordinal(ordinal))) return true;
      return false;
    };
    Plan plan;
    for (const std::string& failure : progress.failures) add_reason(plan.reason, failure);
    for (const Taken& taken : progress.taken) {
      plan.strategy += (plan.strategy.empty() ? "" : ", ") + taken.plan.strategy;
      if (!is_left(taken)) continue;
      add_reason(plan.reason, taken.plan.reason);
      if (!taken.plan.summariser.empty()) plan.summariser = taken.plan.summariser;
      if (!taken.plan.model.empty()) plan.model = taken.plan.model;
    }
    plan.prompt_tokens = progress.prompt_tokens;
    plan.completion_tokens = progress.completion_tokens;
    return plan;
  }

  static void add_reason(std::string& reasons, const std::string& reason) {
    if (reasons.find(reason) == std::string::npos)
      reasons += (reasons.empty() ? "" : "; ") + reason;
  }

  const std::string_view name_;  // a literal
  std::vector<StrategyPtr> steps_;
};

// What supersede, dedupe and, where these fall short, clear_tool_results would hide, each in single
// messages: the newest first, until the target is reached. So no other choice among these messages
// leaves a longer beginning of the view as it is. No plan where all is not enough.
class LongestPrefix final : public Strategy {
 public:
  std::string_view name() const noexcept override { return "longest_prefix"; }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    if (!aim.tokens_max) return empty_plan(history, name());
    std::vector<Plan> plans = plans_of_older_results(history, aim);
    if (std::optional<Plan> best = newest_of(plans, history, aim)) return std::move(*best);
    if (Result<Plan> cleared = clear_->plan(history, aim)) plans.push_back(std::move(*cleared));
    if (std::optional<Plan> best = newest_of(plans, history, aim)) return std::move(*best);
    return empty_plan(history, name());
  }

 private:
  struct Choice {
    std::size_t plan;
    Replacement* replacement;
  };

  // Takes what it needs from the plans, if that reaches the aim.
  std::optional<Plan> newest_of(std::vector<Plan>& plans, const History& history,
                                const Aim& aim) const {
    std::map<std::uint64_t, Choice> all;  // by index; of two, the earlier plan's
    for (std::size_t i = 0; i < plans.size(); ++i)
      for (Replacement& replacement : plans[i].replacements)
        all.try_emplace(replacement.hidden.front().start, Choice{i, &replacement});
    const View view = history.view();
    Plan best = empty_plan(history, name());
    auto end = all.rbegin();
    for (; end != all.rend() && !reaches(best, aim); ++end) {
      const Replacement& replacement = *end->second.replacement;
      best.tokens_after -=
          tokens_in(view, replacement.hidden) - count_tokens(aim, *replacement.summary);
    }
    if (!reaches(best, aim)) return {};
    std::vector<bool> used(plans.size());
    for (auto each = all.rbegin(); each != end; ++each) {
      used[each->second.plan] = true;
      best.replacements.push_back(std::move(*each->second.replacement));
    }
    std::reverse(best.replacements.begin(), best.replacements.end());
    best.strategy.clear();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!used[i]) continue;
      best.strategy += (best.strategy.empty() ? "" : ", ") + plans[i].strategy;
      best.reason += (best.reason.empty() ? "" : "; ") + plans[i].reason;
    }
    return best;
  }

  const StrategyPtr clear_ = clear_tool_results();
};

}  // namespace

StrategyPtr pipeline(std::vector<StrategyPtr> steps) {
  return std::make_shared<Pipeline>("pipeline", std::move(steps));
}

StrategyPtr default_strategy(SmartSummary summary) {
  const StrategyPtr older = supersede({.late = true}), repeated = dedupe({.late = true});
  return std::make_shared<Pipeline>(
      "default", std::vector<StrategyPtr>{std::make_shared<LongestPrefix>(), older, repeated,
                                          clear_tool_results({.late = true}),
                                          smart_summary(std::move(summary)), sliding_window()});
}

}  // namespace undertext
