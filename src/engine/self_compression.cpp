// A conversation that keeps itself small: when, by what, and what is told of it.
//
//     after an operation    tokens > threshold    ->  plan, at once or in the background, on a frozen version
//                                                      |
//                          frees too little, or failed  |  a plan that reaches the target, or frees a sixteenth of the threshold
//                                       |               v
//                          reported, nothing changed    rebased on what is there by then  ->  COMPRESS, reported
//                                                       (what it stands for has changed: reported, nothing changed)
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "compression/plan_by.hpp"
#include "engine/conversation_rep.hpp"
#include "history/growth.hpp"

namespace undertext {
namespace {

Event failure(Event::Type type, Version version, const Strategy& strategy, Error error) {
  Event event{type, version};
  event.strategy = strategy.name();
  event.error = std::make_shared<const Error>(std::move(error));
  return event;
}

Event success(const Outcome& outcome) {
  Event event{Event::Type::compressed, outcome.version};
  event.strategy = outcome.receipt->strategy;
  event.tokens_used = outcome.receipt->tokens_before;
  event.tokens_after = outcome.receipt->tokens_after;
  event.target_reached = outcome.receipt->target_reached();
  return event;
}

// Whether a strategy that has no target found nothing to do, which is neither a success nor a
// failure.
bool is_idle(const Result<Plan>& plan) { return plan && plan->replacements.empty(); }

Error frees_too_little(const Plan& plan) {
  const std::uint64_t freed = plan.tokens_before - std::min(plan.tokens_before, plan.tokens_after);
  Error error{ErrorCode::cannot_fit, freed == 0
                                         ? "the strategy found nothing to hide"
                                         : "the strategy could free only " + std::to_string(freed) +
                                               " tokens, less than a sixteenth of the threshold"};
  error.tokens_minimum = plan.tokens_after;
  return error;
}

}  // namespace

// What History::apply says of a plan that does not suit the state it is applied to.
bool is_refused_plan(const Error& error) {
  return error.code == ErrorCode::invalid_argument && error.field == "plan";
}

Error as_conflict(Error error) {
  error.code = ErrorCode::conflict;
  return error;
}

std::optional<std::uint64_t> Conversation::Rep::target_tokens(const History& history) const {
  const CompressionConfig& config = settings.compression;
  if (config.threshold == 0) return config.target_tokens;
  const std::uint64_t target =
      config.target_tokens.value_or(config.threshold - config.threshold / 4);
  if (config.headroom_turns == 0) return target;
  const std::uint64_t growth = tokens_per_turn(history);
  const std::uint64_t most = config.threshold - config.threshold / 4;  // of what may be left free
  const std::uint64_t room =
      growth == 0 || config.headroom_turns <= most / growth ? config.headroom_turns * growth : most;
  return std::min(target, config.threshold - std::min(room, most));
}

Aim Conversation::Rep::aim(std::optional<std::uint64_t> tokens_max) const {
  const Counting now = counting_now();
  Aim aim;
  aim.tokens_max = tokens_max;
  aim.count_tokens = now.counter();
  aim.count_text = [tokenizer = now.tokenizer](std::string_view text) {
    return tokenizer->count(text);
  };
  aim.limits = settings.limits.message;
  aim.context_tools = settings.context_tools;
  aim.survival = settings.compression.survival;
  return aim;
}

void Conversation::Rep::compress_if_due(const Operation& operation, std::uint64_t tokens_before,
                                        Work& work, Outcome& last, bool tell) {
  if (!work.changed) return;  // a repeated operation answers as the first time
  const CompressionConfig& config = settings.compression;
  const std::uint64_t tokens = work.stats.tokens;
  std::vector<Event> told = std::exchange(notices, {});
  const auto add = [&](Event event) {
    if (tell) work.events.push_back(event);
    told.push_back(std::move(event));
  };
  if (config.enabled && tokens_before <= config.threshold && tokens > config.threshold) {
    add(limit_crossed(Event::Type::compression_threshold_exceeded, last.version, tokens,
                      config.threshold));
  }
  // Who brings back what a compression hid does not want to see it hidden again at once.
  if (work.brought_back) hysteresis.wait_from(tokens);
  if (config.enabled && hysteresis.is_due(tokens)) {
    if (config.strategy->is_slow()) {
      work.compress_later = true;
    } else {
      const Proposal proposal = propose(work.history, {});
      if (is_idle(proposal.plan)) {
        hysteresis.wait_from(tokens);
      } else {
        const Result<Outcome> outcome =
            commit_plan(proposal.plan, proposal.reaches_target, work, tell);
        add(told_of(outcome, last.version, false));
      }
    }
  }
  if (told.empty()) return;
  last.events.insert(last.events.end(), told.begin(), told.end());
  if (const auto found = work.answered.find(operation.options.operation_id);
      found != work.answered.end())
    found->second = last;
}

// The best plan, if it is worth a version.
Conversation::Rep::Proposal Conversation::Rep::propose(const History& history,
                                                       const std::stop_token& cancel) const {
  Aim to = aim(target_tokens(history));
  to.cancel = cancel;
  to.digest_last = true;
  const std::uint64_t tokens = history.stats().tokens,
                      step = Hysteresis::step(settings.compression.threshold);
  to.tokens_enough = std::min(settings.compression.threshold, tokens - std::min(tokens, step));
  Proposal proposal{plan_by(*settings.compression.strategy, history, to)};
  Result<Plan>& plan = proposal.plan;
  if (plan)
    if (std::optional<Error> lacking = lacking_survival(*plan, history, to))
      plan = std::move(*lacking);
  if (!plan) return proposal;
  proposal.reaches_target = reaches(*plan, to);
  const bool frees_enough =
      plan->tokens_after + Hysteresis::step(settings.compression.threshold) <= plan->tokens_before;
  const bool may_be_idle =
      plan->replacements.empty() && !settings.compression.strategy->has_target();
  if (!may_be_idle && (plan->replacements.empty() || (!proposal.reaches_target && !frees_enough)))
    plan = frees_too_little(*plan);
  return proposal;
}

// The plan as an operation; and what the next try has to know.
Result<Outcome> Conversation::Rep::commit_plan(Result<Plan> plan, bool reaches_target, Work& work,
                                               bool tell) {
  const auto carry_out_plan = [&]() -> Result<Outcome> {
    if (!plan) return plan.error();
    return carry_out({op::ApplyPlan{std::move(*plan)}, {.description = "automatic"}}, work, tell);
  };
  const Result<Outcome> outcome = answering_failure(carry_out_plan);
  if (outcome && reaches_target) {
    hysteresis.reset();
  } else {
    hysteresis.wait_from(work.stats.tokens);
  }
  return outcome;
}

// `stale`: others have changed the conversation since the plan was made, which is then why it
// cannot be applied.
Event Conversation::Rep::told_of(const Result<Outcome>& outcome, Version version,
                                 bool stale) const {
  if (outcome) return success(*outcome);
  const bool discarded =
      outcome.error().code == ErrorCode::conflict || (stale && is_refused_plan(outcome.error()));
  return failure(discarded ? Event::Type::compression_discarded : Event::Type::compression_failed,
                 version, *settings.compression.strategy,
                 discarded ? as_conflict(outcome.error()) : outcome.error());
}

void Conversation::Rep::start_compressing(History frozen) noexcept {
  std::stop_token cancel;
  {
    const std::lock_guard lock(background);
    is_due_again = is_compressing;
    if (is_compressing) return;
    is_compressing = true;
    stop_compressing = std::stop_source();
    cancel = stop_compressing.get_token();
  }
  try {
    compressing = std::jthread([this, frozen = std::move(frozen), cancel]() mutable {
      try {
        do {
          compress_in_background(frozen, cancel);
        } while (goes_on_compressing(frozen, cancel));
      } catch (const std::exception&) {
        // No memory to work with, or to tell of it. Nothing was changed, and the next operation
        // tries again.
        const std::lock_guard lock(background);
        is_compressing = false;
      }
      background_ended.notify_all();
    });
  } catch (const std::exception&) {  // no thread to be had: the next operation tries again
    const std::lock_guard lock(background);
    is_compressing = false;
  }
}

// Whether operations that came while it was compressing have made it due again; `frozen` is then
// what they left. Else it has ended.
bool Conversation::Rep::goes_on_compressing(History& frozen, const std::stop_token& cancel) {
  for (;;) {
    {
      const std::lock_guard lock(background);
      is_compressing = std::exchange(is_due_again, false) && !cancel.stop_requested();
      if (!is_compressing) return false;
    }
    const Turn whose(*this);
    const Work work = begin();
    if (!hysteresis.is_due(work.stats.tokens)) continue;
    frozen = work.history;
    return true;
  }
}

// The next operation starts a new try, whatever came meanwhile.
void Conversation::Rep::try_again_later() {
  hysteresis.reset();
  const std::lock_guard lock(background);
  is_due_again = false;
}

void Conversation::Rep::compress_in_background(const History& frozen,
                                               const std::stop_token& cancel) {
  Proposal proposal = propose(frozen, cancel);
  Result<Plan>& plan = proposal.plan;

  const Turn whose(*this);
  const Subscribers::List listeners = subscribers->list();
  std::optional<Error> failed = catch_up(listeners);
  for (Tries tries;;) {
    Work work = begin();
    if (!failed && is_idle(plan)) return hysteresis.wait_from(work.stats.tokens);
    const bool moved_on = work.history.version() != frozen.version();
    if (plan && cancel.stop_requested()) plan = Error{ErrorCode::unavailable, "it was cancelled"};
    if (failed) plan = *failed;
    Result<Outcome> outcome = answering_failure([&] {
      return commit_plan(plan && moved_on ? rebase(*plan, frozen, work.history) : plan,
                         proposal.reaches_target, work, !listeners.empty());
    });
    if (outcome) {
      if (std::optional<Error> error = answering_failure([&] { return store_work(work); })) {
        failed = catch_up(listeners);
        if (!failed && tries.may_retry(*error)) continue;
        outcome = std::move(*error);
        work = begin();
      }
    }
    const Event event = told_of(outcome, work.history.version(), moved_on);
    if (event.type == Event::Type::compression_discarded) try_again_later();
    notices.push_back(event);
    if (!listeners.empty()) work.events.push_back(event);
    if (work.changed) return publish_work(std::move(work), listeners);
    return Subscribers::deliver(listeners, work.events);
  }
}

}  // namespace undertext
