#include "money/replay.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "history/growth.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

// Stands for smart_summary: the largest tail that fits beside a summary as long as that may be, of
// which not a word is written.
class SizedSummary final : public Strategy {
 public:
  std::string_view name() const noexcept override { return "sized_summary"; }
  bool needs_tokens_max() const noexcept override { return true; }
  Result<Plan> plan(const History& history, const Aim& aim) const override {
    constexpr std::uint64_t tokens_least = 512, tokens_most = 8'192;  // as smart_summary has them
    const std::uint64_t tokens = std::clamp(*aim.tokens_max / 4, tokens_least, tokens_most);
    Aim beside = aim;
    beside.tokens_max = *aim.tokens_max - std::min(*aim.tokens_max, tokens);
    Result<Plan> plan = sliding_window()->plan(history, beside);
    if (!plan || plan->replacements.empty()) return plan;
    // One unbroken stretch has the summary: the first that is as long as any.
    Replacement& dropped = plan->replacements.front();
    const auto length = [](const Range& range) { return range.end - range.start; };
    const auto longest =
        std::max_element(dropped.hidden.begin(), dropped.hidden.end(),
                         [&](const Range& a, const Range& b) { return length(a) < length(b); });
    const Range range = *longest;
    dropped.hidden.erase(longest);
    if (dropped.hidden.empty()) plan->replacements.clear();
    plan->replacements.push_back({{range}, text_of(tokens)});
    return plan;
  }

 private:
  static Message text_of(std::uint64_t tokens) {
    constexpr std::string_view word = " word";  // a token in every vocabulary
    std::string text;
    for (std::uint64_t i = 0; i < tokens; ++i) text += word;
    return Message::make(Role::user, text).value();
  }
};

StrategyPtr summary_of(PolicyReplay::Summaries summaries) {
  return summaries == PolicyReplay::Summaries::sized ? std::make_shared<SizedSummary>() : nullptr;
}

}  // namespace

PolicyReplay::PolicyReplay(GatewayPolicy policy, Count count, Summaries summaries)
    : policy_(std::move(policy)), count_(std::move(count)), summary_(summary_of(summaries)) {}

void PolicyReplay::apply(Operation operation, const Count& count) {
  history_ = std::move(history_.apply(operation, {.count_tokens = count}).value().history);
}

void PolicyReplay::append(std::span<const Message> messages,
                          std::span<const std::uint32_t> tokens) {
  if (messages.empty()) return;
  const std::uint64_t first = history_.stats().total_messages;
  std::size_t next = 0;
  const Count known = [&](const Message&) { return tokens[next++]; };
  apply({op::Append{{messages.begin(), messages.end()}}}, tokens.empty() ? count_ : known);
  for (std::uint64_t i = 0; i < messages.size(); ++i)
    ordinals_.push_back(static_cast<std::uint32_t>(first + i));
}

void PolicyReplay::drop(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> visible;
  for (const std::uint64_t number : numbers)
    if (history_.view().index_of(Ordinal(ordinals_[number]))) visible.push_back(ordinals_[number]);
  if (!visible.empty())
    apply({op::Delete{Names::ordinals(std::move(visible)), Pairs::literal}}, count_);
}

void PolicyReplay::start_over() {
  history_ = History();
  sent_ = {};  // ordinals begin anew, and are those of other messages
  waits_ = {};
  ordinals_.clear();
}

std::uint64_t PolicyReplay::send() {
  const EntryTree& now = history_.rep().head.view;
  const std::uint64_t common = sent_.common_prefix(now);
  sent_ = now;
  return common;
}

bool PolicyReplay::edit(const Moment& moment) {
  if (policy_.mode == GatewayPolicy::Mode::observe) return false;
  const std::uint64_t tokens = history_.view().sums().tokens();
  const std::optional<EditGoal> goal =
      edit_goal(policy_, {.tokens = moment.measure.as_sent(tokens),
                          .window = moment.window,
                          .reserve = moment.reserve,
                          .tokens_per_turn = tokens_per_turn(history_),
                          .idle_ms = moment.idle_ms,
                          .cache_lifetime_ms = moment.cache_lifetime_ms});
  if (!goal || waits_.waits(tokens, *goal)) return false;
  Aim aim;
  aim.count_tokens = count_;
  const Result<Plan> plan =
      edit_plan(policy_, *goal, moment.measure, history_, std::move(aim), summary_);
  if (!plan || plan->replacements.empty()) {
    waits_.failed(tokens, *goal);
    return false;
  }
  apply({op::ApplyPlan{*plan}}, count_);
  ++edits_;
  return true;
}

}  // namespace undertext
