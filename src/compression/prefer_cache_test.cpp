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
    messages.push_back(Message::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
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
  const Plan late = clear_tool_results({.keep = 1, .late = true})->plan(history, aim_of(aim)).value();
  EXPECT_EQ(early.replacements.size(), 7u);
  ASSERT_EQ(late.replacements.size(), 2u);
  EXPECT_GT(late.replacements[0].hidden[0].start, early.replacements[0].hidden[0].start);
  EXPECT_LE(late.tokens_after, aim);
}

TEST(PreferCache, ChoosesThePlanThatCostsTheCacheLeast) {
  const History history = tool_turns(8);
  const std::uint64_t aim = history.stats().tokens - 1500;
  const StrategyPtr early = clear_tool_results({.keep = 1}), late = clear_tool_results({.keep = 1, .late = true});
  const auto chosen = [&](double turns) {
    return prefer_cache({early, late}, {.rules = rules, .turns = turns})->plan(history, aim_of(aim)).value().replacements.size();
  };
  EXPECT_EQ(chosen(0), 2u) << "the last turn: keep what the cache has";
  EXPECT_EQ(chosen(1000), 7u) << "a long way to go: being short pays";
}

TEST(PreferCache, FitsWhereAnyOfItsStrategiesDoes) {
  const History history = tool_turns(8);
  const StrategyPtr strategy = prefer_cache({clear_tool_results({.keep = 8}), sliding_window()}, {.rules = rules});
  EXPECT_LE(strategy->plan(history, aim_of(3000)).value().tokens_after, 3000u);
  const Plan least = strategy->plan(history, aim_of(5)).value();
  EXPECT_EQ(least.tokens_after, sliding_window()->plan(history, aim_of(5)).value().tokens_after)
      << "the nearest of those that fall short";
  EXPECT_TRUE(strategy->plan(history, aim_of(1'000'000)).value().replacements.empty());
}

}  // namespace
}  // namespace undertext
