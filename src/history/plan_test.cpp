// COMPRESS by a plan. That a plan does what it says, in every combination, is shown by the model
// test.
#include <gtest/gtest.h>

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {
namespace {

Message message(const std::string& json) { return Message::parse(json).value(); }
Message user(const std::string& text) {
  return message(R"({"role":"user","content":")" + text + "\"}");
}

History eight() {
  op::Append append;
  for (int k = 0; k < 8; ++k) append.messages.push_back(user("m" + std::to_string(k)));
  return History().apply({append}, {}).value().history;
}
Plan plan_for(const History& history, std::vector<Replacement> replacements) {
  return {.base = history.version(), .replacements = std::move(replacements)};
}
std::string view_of(const History& history) {
  std::string texts;
  for (const Message& m : history.view()) texts += m.text() + " ";
  return texts;
}
std::string problem(const History& history, const Plan& plan) {
  const Result<Step> step = history.apply({op::ApplyPlan{plan}}, {});
  return step ? std::string()
              : std::string(name(step.error().code)) + " " + step.error().field + ": " +
                    step.error().message;
}

TEST(ApplyPlan, ASummaryTakesThePlaceOfTheFirstMessageItStandsFor) {
  const History history = eight();
  const Step step = history
                        .apply({op::ApplyPlan{plan_for(history, {{{{5, 6}}, user("B")},
                                                                 {{{1, 3}, {3, 4}}, user("A")},
                                                                 {{{0, 1}, {6, 8}}}})}},
                               {})
                        .value();
  EXPECT_EQ(view_of(step.history), "A m4 B ");
  EXPECT_EQ(step.applied.operation, "COMPRESS");
  EXPECT_TRUE(step.applied.opened_batch);
  const std::vector<Ordinal> a = step.history.stands_for(step.history.view().ordinal(0));
  EXPECT_EQ(a, (std::vector<Ordinal>{Ordinal(1), Ordinal(2), Ordinal(3)}));
  EXPECT_EQ(view_of(step.history.apply({op::Rollback{0}}, {}).value().history), view_of(history));
}

TEST(ApplyPlan, AnEmptyPlanMakesAVersionAndNothingElse) {
  const History history = eight();
  const Step step = history.apply({op::ApplyPlan{plan_for(history, {})}}, {}).value();
  EXPECT_EQ(step.applied.version.value, 2u);
  EXPECT_FALSE(step.applied.opened_batch);
  EXPECT_EQ(view_of(step.history), view_of(history));
  EXPECT_FALSE(step.history.receipt(Version(2)));
}

TEST(ApplyPlan, ForAnotherVersionIsAConflict) {
  const History history = eight();
  Plan plan = plan_for(history, {{{{0, 1}}}});
  plan.base = Version(0);
  EXPECT_EQ(problem(history, plan), "conflict plan: the plan is for version 0, but the head is 1");
}

TEST(ApplyPlan, ThatMakesNoSenseIsRefused) {
  const History history = eight();
  const std::string bad = "invalid_argument plan: the plan ";
  EXPECT_EQ(problem(history, plan_for(history, {{{}}})),
            bad + "has a replacement that hides nothing");
  EXPECT_EQ(problem(history, plan_for(history, {{{{7, 9}}}})),
            bad + "names messages that are not in the view");
  EXPECT_EQ(problem(history, plan_for(history, {{{{3, 3}}}})),
            bad + "names messages that are not in the view");
  EXPECT_EQ(problem(history, plan_for(history, {{{{1, 4}}}, {{{3, 5}}}})),
            bad + "hides a message twice");
  EXPECT_EQ(problem(history, plan_for(history, {{{{4, 5}, {1, 2}}}})),
            bad + "has stretches that do not rise");
  EXPECT_EQ(problem(history, plan_for(history, {{{{1, 2}, {4, 5}}, user("S")}})),
            bad + "has a summary of more than one stretch");
  EXPECT_EQ(problem(history, plan_for(history, {{{{1, 2}, {4, 5}}}})), "")
      << "what is hidden without a summary may stand anywhere";
}

TEST(ApplyPlan, NeverEmptiesAView) {
  const History history =
      History()
          .apply({op::Append{{message(R"({"role":"assistant","content":"a"})")}}}, {})
          .value()
          .history;
  EXPECT_EQ(problem(history, plan_for(history, {{{{0, 1}}}})),
            "invalid_argument plan: the plan would leave nothing of the view");
}

TEST(ApplyPlan, AStubWithTheSameIdKeepsThePairWhole) {
  const History history =
      History()
          .apply({op::Append{
                     {message(R"({"role":"assistant","content":null,"toolCalls":[{"id":"a"}]})"),
                      message(R"({"role":"tool","toolCallId":"a","content":"long"})")}}},
                 {})
          .value()
          .history;
  EXPECT_EQ(
      problem(history,
              plan_for(history,
                       {{{{1, 2}}, message(R"({"role":"tool","toolCallId":"a","content":"-"})")}})),
      "");
  EXPECT_EQ(problem(history, plan_for(history, {{{{1, 2}}, user("-")}})),
            "invalid_argument plan: the plan would break a tool pair");
}

TEST(CompressBy, PlansWithTheHistoryAsItIsAndKeepsThePlan) {
  const History history = eight();
  const op::CompressBy compress{[](const History& now) -> Result<Plan> {
    Plan plan{.base = now.version(), .replacements = {}};
    plan.replacements.push_back({{{0, now.view().size() - 1}}, user("S")});
    plan.strategy = "mine";
    return plan;
  }};
  const Step step = history.apply({compress}, {}).value();
  EXPECT_EQ(view_of(step.history), "S m7 ");
  EXPECT_EQ(step.history.receipt(Version(2))->strategy, "mine");
  EXPECT_EQ(step.history.version_info(Version(2)).operation, "COMPRESS");
}

TEST(CompressBy, FailsAsItsFunctionFails) {
  const op::CompressBy fails{
      [](const History&) -> Result<Plan> { return Error{ErrorCode::cannot_fit, "too much"}; }};
  const Result<Step> step = eight().apply({fails}, {});
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::cannot_fit);
  EXPECT_EQ(eight().apply({op::CompressBy{}}, {}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace undertext
