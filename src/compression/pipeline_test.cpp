#include <gtest/gtest.h>

#include <undertext/compression.hpp>

#include "history/random_conversation.hpp"

namespace undertext {
namespace {

Message text(const std::string& role, const std::string& content) {
  return Message::parse("{\"role\":\"" + role + "\",\"content\":\"" + content + "\"}").value();
}

// A user, a call with a long result, an answer; three times.
History tool_turns() {
  op::Append append;
  for (int k = 0; k < 3; ++k) {
    const std::string id = "c" + std::to_string(k);
    append.messages.push_back(text("user", "question " + id));
    append.messages.push_back(
        Message::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id + "\"}]}")
            .value());
    append.messages.push_back(Message::parse(R"({"role":"tool","tool_call_id":")" + id +
                                             R"(","content":")" + std::string(800, 'r') + "\"}")
                                  .value());
    append.messages.push_back(text("assistant", "answer"));
  }
  return History().apply({append}, RandomConversation::context()).value().history;
}

class Short final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "short"; }
  bool is_slow() const noexcept override { return false; }
  Result<Summary> summarise(const SummaryRequest& request) const override {
    given = request.messages.size();
    if (fails) return Error{ErrorCode::unavailable, "not now"};
    return Summary{"short", "m", 10, 2};
  }
  mutable std::size_t given = 0;
  bool fails = false;
};

Aim aim(std::optional<std::uint64_t> tokens_max = {}) {
  Aim made;
  made.tokens_max = tokens_max;
  made.count_tokens = test_tokens;
  return made;
}

TEST(Pipeline, StopsAtTheFirstStepThatReachesTheAim) {
  const History history = tool_turns();
  const Plan plan =
      pipeline({clear_tool_results({.keep = 1}), keep_recent(1)})->plan(history, aim(500)).value();
  EXPECT_EQ(plan.strategy, "clear_tool_results");
  EXPECT_EQ(plan.replacements.size(), 2u);
  EXPECT_LE(plan.tokens_after, 500u);
}

TEST(Pipeline, IsOnePlanThatKnowsTheOriginalsOfWhatItMadeOnTheWay) {
  const History history = tool_turns();
  const auto summariser = std::make_shared<Short>();
  const StrategyPtr strategy = pipeline(
      {clear_tool_results({.keep = 0}), smart_summary({.summariser = summariser, .keep = 2})});
  const Plan plan = strategy->plan(history, aim()).value();
  EXPECT_EQ(plan.strategy, "clear_tool_results, smart_summary");
  EXPECT_EQ(plan.summariser, "short");
  EXPECT_EQ(plan.prompt_tokens, 10u);
  EXPECT_EQ(plan.base, history.version());
  const Step step = history.apply({op::ApplyPlan{plan}}, RandomConversation::context()).value();
  EXPECT_EQ(step.history.version().value, history.version().value + 1);
  EXPECT_EQ(step.history.log().size(), history.log().size() + plan.replacements.size())
      << "stubs that were hidden again are not stored";
  const Receipt receipt = *step.history.receipt(step.history.version());
  ASSERT_FALSE(receipt.summaries.empty());
  for (const std::uint64_t ordinal : receipt.summaries[0].stands_for)
    EXPECT_LT(ordinal, history.log().size());
  EXPECT_EQ(summariser->given, receipt.summaries[0].stands_for.size());
  EXPECT_EQ(step.history.stats().tokens, plan.tokens_after);
}

class Failing final : public Strategy {
 public:
  std::string_view name() const noexcept override { return "failing"; }
  Result<Plan> plan(const History&, const Aim&) const override {
    return Error{ErrorCode::unavailable, "not now"};
  }
};

TEST(Pipeline, AStepThatFailsIsPassedOver) {
  const auto failing = std::make_shared<Failing>();
  const Plan plan = pipeline({failing, keep_recent(1)})->plan(tool_turns(), aim()).value();
  EXPECT_EQ(plan.strategy, "keep_recent");
  EXPECT_EQ(plan.reason, "failing failed: not now; keep the last 1 messages");
  for (const std::optional<std::uint64_t> tokens_max :
       {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(200)}) {
    const Result<Plan> none =
        pipeline({failing, keep_recent(100)})->plan(tool_turns(), aim(tokens_max));
    ASSERT_FALSE(none) << "nothing was done, and something failed";
    EXPECT_EQ(none.error().message, "not now");
  }
}

TEST(Pipeline, ASummaryStandsForWhatWasDroppedInsideItToo) {
  // Drops the second message of the view.
  class DropsOne final : public Strategy {
   public:
    std::string_view name() const noexcept override { return "drops_one"; }
    Result<Plan> plan(const History& history, const Aim&) const override {
      Plan plan{.base = history.version(), .replacements = {}};
      if (history.version().value == 1) plan.replacements.push_back({{{3, 4}}});
      return plan;
    }
  };
  const History history = tool_turns();
  const auto summariser = std::make_shared<Short>();
  const Plan plan =
      pipeline({std::make_shared<DropsOne>(), smart_summary({.summariser = summariser, .keep = 2})})
          ->plan(history, aim())
          .value();
  ASSERT_FALSE(plan.replacements.empty());
  EXPECT_EQ(plan.replacements[0].hidden, (std::vector<Range>{{0, 8}}));
  EXPECT_EQ(summariser->given, 7u);
  EXPECT_TRUE(history.apply({op::ApplyPlan{plan}}, RandomConversation::context()));
}

TEST(Pipeline, LeavesTheLeastThatItsStepsCanReachTogether) {
  const History history = tool_turns();
  const StrategyPtr strategy =
      pipeline({clear_tool_results({.keep = 0}), keep_recent(2), sliding_window()});
  const Plan plan = strategy->plan(history, aim(1)).value();
  EXPECT_EQ(plan.tokens_after, history.view().tokens(8)) << "the last request alone";
  EXPECT_TRUE(
      reaches(strategy->plan(history, aim(plan.tokens_after)).value(), aim(plan.tokens_after)));
}

TEST(Pipeline, NeedsAnAimAndIsSlowWhenAStepIs) {
  EXPECT_TRUE(pipeline({keep_recent(1), sliding_window()})->needs_tokens_max());
  EXPECT_FALSE(pipeline({keep_recent(1)})->needs_tokens_max());
  EXPECT_FALSE(pipeline({keep_recent(1), smart_summary()})->is_slow());
  const Result<Plan> plan = pipeline({keep_recent(1), sliding_window()})->plan(tool_turns(), aim());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
}

TEST(Pipeline, OfPipelinesIsAPipeline) {
  const StrategyPtr inner = pipeline({clear_tool_results({.keep = 0})});
  const Plan plan = pipeline({inner, keep_recent(4)})->plan(tool_turns(), aim()).value();
  EXPECT_EQ(plan.strategy, "clear_tool_results, keep_recent");
  EXPECT_EQ(tool_turns()
                .apply({op::ApplyPlan{plan}}, RandomConversation::context())
                .value()
                .history.view()
                .size(),
            4u);
}

// Turns, and a last request of 400 tokens and more that answers nothing.
History turns_and_a_long_request() {
  op::Append append;
  for (int k = 0; k < 8; ++k) {
    append.messages.push_back(
        text("user", "question " + std::to_string(k) + std::string(300, 'q')));
    append.messages.push_back(text("assistant", std::string(300, 'a')));
  }
  append.messages.push_back(text("user", std::string(1600, 'u')));
  return History().apply({append}, RandomConversation::context()).value().history;
}

std::uint64_t count_summaries(const Plan& plan) {
  std::uint64_t count = 0;
  for (const Replacement& replacement : plan.replacements) count += replacement.summary ? 1u : 0u;
  return count;
}

TEST(DefaultStrategy, KeepsItsSummaryWhereTheTargetIsOutOfReach) {
  const History history = turns_and_a_long_request();
  const Plan plan = default_strategy()->plan(history, aim(300)).value();
  EXPECT_FALSE(reaches(plan, aim(300)));
  EXPECT_EQ(count_summaries(plan), 1u);
  const History after =
      history.apply({op::ApplyPlan{plan}}, RandomConversation::context()).value().history;
  EXPECT_EQ(after.view().size(), 2u);
  const Plan again = default_strategy()->plan(after, aim(300)).value();
  EXPECT_TRUE(again.replacements.empty()) << "nor is the summary dropped later";
}

TEST(DefaultStrategy, DropsItsSummaryWhereTheTargetIsInReachOnlyWithoutIt) {
  const History history = turns_and_a_long_request();
  const std::uint64_t request = history.view().tokens(16);
  const Plan plan = default_strategy()->plan(history, aim(request + 5)).value();
  EXPECT_EQ(plan.tokens_after, request);
  EXPECT_EQ(plan.strategy, "smart_summary, sliding_window");
  EXPECT_EQ(plan.summariser, "") << "no summary is left";
  EXPECT_EQ(plan.reason, "the largest tail within " + std::to_string(request + 5) + " tokens");
  Aim to = aim(request + 5);
  to.tokens_enough = request + 200;
  const Plan enough = default_strategy()->plan(history, to).value();
  EXPECT_EQ(count_summaries(enough), 1u) << "the summary is worth more than the target";
  EXPECT_LE(enough.tokens_after, request + 200);
}

TEST(Pipeline, OfASummariserThatTheCallerHasToFixWritesADigest) {
  class Refused final : public Summariser {
   public:
    std::string_view name() const noexcept override { return "refused"; }
    bool is_slow() const noexcept override { return false; }
    Result<Summary> summarise(const SummaryRequest&) const override {
      return Error{ErrorCode::invalid_argument, "the key is refused", "key_variable"};
    }
  };
  const SmartSummary summary{.summariser = std::make_shared<Refused>()};
  for (const StrategyPtr& strategy :
       {default_strategy(summary),
        pipeline({pipeline({smart_summary(summary)}), sliding_window()})}) {
    const Plan plan = strategy->plan(turns_and_a_long_request(), aim(800)).value();
    EXPECT_EQ(plan.summariser, "digest");
    EXPECT_NE(plan.reason.find("summariser refused failed: the key is refused; digest instead"),
              std::string::npos)
        << plan.reason;
  }
}

}  // namespace
}  // namespace undertext
