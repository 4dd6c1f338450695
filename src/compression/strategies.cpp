// The strategies that only hide: none, keep_recent, keep_system_and_recent, sliding_window.
#include <algorithm>
#include <string>

#include <undertext/compression.hpp>

#include "compression/kept.hpp"
#include "history/linked.hpp"

namespace undertext {
namespace {

class NoStrategy final : public Strategy {
 public:
  std::string_view name() const noexcept override { return "none"; }
  bool has_target() const noexcept override { return false; }
  Result<Plan> plan(const History& history, const Aim&) const override {
    return empty_plan(history, name());
  }
};

class KeepRecent final : public Strategy {
 public:
  enum class Count : std::uint8_t { all, without_system };
  KeepRecent(std::uint64_t messages, Count count) : messages_(messages), count_(count) {}

  std::string_view name() const noexcept override {
    return count_ == Count::all ? "keep_recent" : "keep_system_and_recent";
  }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = view_with_links(history);
    if (is_within(view, aim)) return empty_plan(history, name());
    const std::uint64_t wanted = first_wanted(view);
    Plan plan = plan_by_turns_or_steps(view, aim, [&](Whole whole) {
      const std::uint64_t start =
          previous_legal_cut(view.rep().log, view.rep().placed, wanted, whole);
      return plan_keeping(
          history, view,
          with_tail(Kept::always_with_user(history, view, whole).stretches(), start, view.size()),
          name());
    });
    plan.reason = "keep the last " + std::to_string(messages_) + " messages";
    return plan;
  }

 private:
  std::uint64_t first_wanted(const View& view) const {
    if (count_ == Count::all) return view.size() - std::min(view.size(), messages_);
    CountOf others;
    for (const Role role : {Role::user, Role::assistant, Role::tool})
      others.wanted[static_cast<std::size_t>(role)] = true;
    const EntryTree& entries = view.rep().placed.entries;
    const std::uint64_t count = entries.total(others);
    return entries.seek(others, count - std::min(count, messages_));
  }

  std::uint64_t messages_;
  Count count_;
};

class SlidingWindow final : public Strategy {
 public:
  std::string_view name() const noexcept override { return "sliding_window"; }
  bool needs_tokens_max() const noexcept override { return true; }
  Result<Plan> plan(const History& history, const Aim& aim) const override {
    if (!aim.tokens_max)
      return Error{ErrorCode::invalid_argument,
                   "sliding_window needs to know how many tokens there is room for",
                   "targetTokens"};
    const View view = view_with_links(history);
    if (is_within(view, aim)) return empty_plan(history, name());
    Plan plan = plan_by_turns_or_steps(view, aim, [&](Whole whole) {
      const Kept always = Kept::always_with_user(history, view, whole);
      if (always.tokens() > *aim.tokens_max)
        return plan_keeping(history, view,
                            (aim.tokens_enough ? always.with_last(view) : always).stretches(),
                            name());
      const std::uint64_t start = largest_tail(view, always, *aim.tokens_max);
      return plan_keeping(history, view, with_tail(always.stretches(), start, view.size()), name());
    });
    plan.reason = reaches(plan, aim)
                      ? "the largest tail within " + std::to_string(*aim.tokens_max) + " tokens"
                      : "only what must stay";
    return plan;
  }
};

}  // namespace

Strategy::~Strategy() = default;

StrategyPtr no_strategy() { return std::make_shared<NoStrategy>(); }
StrategyPtr keep_recent(std::uint64_t messages) {
  return std::make_shared<KeepRecent>(messages, KeepRecent::Count::all);
}
StrategyPtr keep_system_and_recent(std::uint64_t messages) {
  return std::make_shared<KeepRecent>(messages, KeepRecent::Count::without_system);
}
StrategyPtr sliding_window() { return std::make_shared<SlidingWindow>(); }

}  // namespace undertext
