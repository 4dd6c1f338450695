#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/compression.hpp>

#include "history/random_conversation.hpp"

namespace undertext {
namespace {

// Turns with a large result each; the last has been read.
History tool_turns(int turns) {
  std::vector<Message> messages{Message::make(Role::system, "be good").value()};
  for (int i = 0; i < turns; ++i) {
    const std::string id = "c" + std::to_string(i);
    messages.push_back(Message::make(Role::user, "turn " + id).value());
    messages.push_back(
        Message::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
                       R"(","type":"function","function":{"name":"f","arguments":"{}"}}]})")
            .value());
    messages.push_back(Message::make_tool_result(id, std::string(4000, 'x')).value());
    messages.push_back(Message::make(Role::assistant, "read it").value());
  }
  return RandomConversation::applied(History(), op::Append{messages});
}

Aim aim_of(std::uint64_t tokens_max) {
  Aim aim;
  aim.tokens_max = tokens_max;
  aim.count_tokens = test_tokens;
  return aim;
}

const CacheRules rules{CacheRules::Kind::prefix, 0, 1, 1.25, 0.1};

TEST(PreferCache, ClearingLateTouchesNoMoreThanTheAimNeeds) {
  const History history = tool_turns(8);
  const std::uint64_t aim = history.stats().tokens - 1500;  // two results
  const Plan early = clear_tool_results({.keep = 1})->plan(history, aim_of(aim)).value();
  const Plan late =
      clear_tool_results({.keep = 1, .late = true})->plan(history, aim_of(aim)).value();
  EXPECT_EQ(early.replacements.size(), 7u);
  ASSERT_EQ(late.replacements.size(), 2u);
  EXPECT_GT(late.replacements[0].hidden[0].start, early.replacements[0].hidden[0].start);
  EXPECT_LE(late.tokens_after, aim);
}

TEST(PreferCache, ChoosesThePlanThatCostsTheCacheLeast) {
  const History history = tool_turns(8);
  const std::uint64_t aim = history.stats().tokens - 1500;
  const StrategyPtr early = clear_tool_results({.keep = 1}),
                    late = clear_tool_results({.keep = 1, .late = true});
  const auto chosen = [&](double turns, double keep_percent = 0) {
    return prefer_cache({early, late},
                        {.rules = rules, .turns = turns, .keep_percent = keep_percent})
        ->plan(history, aim_of(aim))
        .value()
        .replacements.size();
  };
  EXPECT_EQ(chosen(0), 2u) << "the last turn: keep what the cache has";
  EXPECT_EQ(chosen(1000), 7u) << "a long way to go: being short pays";
  EXPECT_EQ(chosen(1000, 90), 2u) << "but not by giving up what there is room for";
}

TEST(PreferCache, FitsWhereAnyOfItsStrategiesDoes) {
  const History history = tool_turns(8);
  const StrategyPtr strategy =
      prefer_cache({clear_tool_results({.keep = 8}), sliding_window()}, {.rules = rules});
  EXPECT_LE(strategy->plan(history, aim_of(3000)).value().tokens_after, 3000u);
  const Plan least = strategy->plan(history, aim_of(5)).value();
  EXPECT_EQ(least.tokens_after, sliding_window()->plan(history, aim_of(5)).value().tokens_after)
      << "the nearest of those that fall short";
  EXPECT_TRUE(strategy->plan(history, aim_of(1'000'000)).value().replacements.empty());
}

// The rule, said plainly: of the plans that reach the aim those that keep enough, of these the
// cheapest, of equal ones the first.
std::optional<std::size_t> chosen_by_the_rule(const std::vector<std::optional<Plan>>& plans,
                                              const History& history, const Aim& aim,
                                              const PreferCache& options) {
  std::uint64_t fullest = 0;
  for (const auto& plan : plans)
    if (plan && reaches(*plan, aim)) fullest = std::max(fullest, plan->tokens_after);
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i] || !reaches(*plans[i], aim)) continue;
    if (static_cast<double>(plans[i]->tokens_after) * 100 <
        static_cast<double>(fullest) * options.keep_percent)
      continue;
    double cost = 0;
    if (!plans[i]->replacements.empty()) {
      const History after =
          history.apply({op::ApplyPlan{*plans[i]}}, RandomConversation::context()).value().history;
      const EditCost edit = edit_cost(after, history.version(), after.version(), options.rules,
                                      {.overhead = options.overhead, .markers = options.markers})
                                .value();
      cost = edit.one_time - edit.saved_per_turn * options.turns;
    }
    if (best && cost >= least) continue;
    best = i;
    least = cost;
  }
  return best;
}

TEST(PreferCache, ChoosesByItsRuleWhateverTheConversation) {
  std::size_t chosen = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomConversation random(seed, {.turns_max = 14, .edits_max = 3});
    const History history = random.make();
    const std::uint64_t tokens = history.stats().tokens;
    const std::vector<StrategyPtr> strategies{
        clear_tool_results({.keep = 1}), clear_tool_results({.keep = 1, .late = true}),
        sliding_window(), smart_summary({.keep = random.below(5)}), keep_recent(random.below(12))};
    PreferCache options{.rules = rules,
                        .overhead = random.below(3) * 500,
                        .turns = static_cast<double>(random.below(60)),
                        .keep_percent = static_cast<double>(random.below(3) * 50)};
    if (random.one_in(2)) options.rules = {CacheRules::Kind::breakpoints, 0, 1, 1.25, 0.1, 20};
    if (random.one_in(2)) options.markers = CacheMarkers::automatic;
    const Aim aim = aim_of(random.below(tokens + 1));
    if (tokens <= *aim.tokens_max) continue;
    std::vector<std::optional<Plan>> plans;
    for (const StrategyPtr& strategy : strategies) {
      Result<Plan> plan = strategy->plan(history, aim);
      plans.push_back(plan ? std::optional(std::move(*plan)) : std::nullopt);
    }
    const std::optional<std::size_t> expected = chosen_by_the_rule(plans, history, aim, options);
    if (!expected) continue;
    const Plan plan = prefer_cache(strategies, options)->plan(history, aim).value();
    ASSERT_EQ(plan.tokens_after, plans[*expected]->tokens_after);
    ASSERT_EQ(plan.replacements.size(), plans[*expected]->replacements.size());
    ++chosen;
  }
  EXPECT_GT(chosen, 100u);
}

}  // namespace
}  // namespace undertext
