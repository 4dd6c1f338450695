#include <functional>

#include <gtest/gtest.h>

#include <undertext/compression.hpp>

#include "history/random_conversation.hpp"

namespace undertext {
namespace {

Message text(const std::string& role, const std::string& content) {
  return Message::parse("{\"role\":\"" + role + "\",\"content\":\"" + content + "\"}").value();
}
Message call(const std::string& id, const std::string& tool = "search") {
  return Message::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
                        R"(","type":"function","function":{"name":")" + tool + R"(","arguments":"{}"}}]})")
      .value();
}
Message result(const std::string& id, const std::string& content) {
  return Message::parse(R"({"role":"tool","tool_call_id":")" + id + R"(","content":")" + content + "\"}").value();
}
std::string long_text() { return std::string(400, 'x'); }

History history_of(std::vector<Message> messages) {
  return History().apply({op::Append{std::move(messages)}}, RandomConversation::context()).value().history;
}
History applied(const History& history, Operation::What what) {
  Result<Step> step = history.apply({std::move(what)}, RandomConversation::context());
  EXPECT_TRUE(step) << step.error().message;
  return step ? step->history : history;
}

Aim aim(std::optional<std::uint64_t> tokens_max = {}) {
  Aim made;
  made.tokens_max = tokens_max;
  made.count_tokens = test_tokens;
  made.count_text = [](std::string_view t) { return t.size() / 4; };
  return made;
}

std::vector<std::uint64_t> ordinals_of(const View& view) {
  std::vector<std::uint64_t> ordinals;
  for (std::uint64_t i = 0; i < view.size(); ++i) ordinals.push_back(view.ordinal(i).value);
  return ordinals;
}
using List = std::vector<std::uint64_t>;

List after(const History& history, const Strategy& strategy, std::optional<std::uint64_t> tokens_max = {}) {
  Result<Plan> plan = strategy.plan(history, aim(tokens_max));
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? ordinals_of(applied(history, op::ApplyPlan{*plan}).view()) : List();
}

// A summariser that does as it is told.
class Told final : public Summariser {
 public:
  using Answer = std::function<Result<Summary>(const SummaryRequest&)>;
  explicit Told(Answer answer) : answer_(std::move(answer)) {}
  std::string_view name() const noexcept override { return "told"; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest& request) const override { return answer_(request); }

 private:
  Answer answer_;
};
StrategyPtr summary_by(Told::Answer answer, std::optional<std::uint64_t> keep = 1) {
  return smart_summary({.summariser = std::make_shared<Told>(std::move(answer)), .keep = keep});
}

// 0 system, 1 user, 2 call, 3 result, 4 assistant, 5 user, 6 call, 7 result, 8 assistant, 9 user, 10 assistant
History three_turns() {
  return history_of({text("system", "rules"), text("user", "first"), call("a"), result("a", long_text()), text("assistant", "one"),
                     text("user", "second"), call("b", "read"), result("b", long_text()), text("assistant", "two"),
                     text("user", "third"), text("assistant", "three")});
}

TEST(KeepRecent, KeepsTheLastMessagesAndWhatEveryStrategyKeeps) {
  EXPECT_EQ(after(three_turns(), *keep_recent(3)), (List{0, 8, 9, 10}));
  EXPECT_EQ(after(three_turns(), *keep_recent(0)), (List{0, 9}));
  EXPECT_EQ(after(three_turns(), *keep_recent(100)), ordinals_of(three_turns().view()));
}

TEST(KeepRecent, MovesBackToWhereTheViewMayBeCut) { EXPECT_EQ(after(three_turns(), *keep_recent(4)), (List{0, 6, 7, 8, 9, 10})); }

TEST(KeepRecent, CountsSystemMessagesAndKeepSystemAndRecentDoesNot) {
  const History history = history_of({text("user", "a"), text("assistant", "b"), text("user", "c"), text("system", "s"),
                                      text("system", "t"), text("assistant", "d")});
  EXPECT_EQ(after(history, *keep_recent(2)), (List{2, 3, 4, 5}));
  EXPECT_EQ(after(history, *keep_system_and_recent(3)), (List{1, 2, 3, 4, 5}));
}

TEST(KeepRecent, PinsStayInTheirPlaceWithTheirTurns) {
  const History history = applied(three_turns(), op::Mark{Names::indices({3}), std::string(pinned_mark)});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{0, 2, 3, 9, 10}));
}

TEST(KeepRecent, CallsThatWaitForTheirResultsStay) {
  const History history = history_of({text("user", "go"), text("assistant", "yes"), call("a"), result("a", "r"), call("b")});
  EXPECT_EQ(after(history, *keep_recent(0)), (List{0, 4}));
}

TEST(KeepRecent, ACallThatStillWaitsStaysWhereverItStands) {
  History history = history_of({text("user", "start the job"), call("job"), text("user", "meanwhile"), text("assistant", "yes"),
                                call("x"), result("x", "r"), text("assistant", "so"), text("user", "and now?")});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{1, 7}));
  history = applied(history, op::Append{{result("job", "42")}});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{1, 2, 3, 4, 5, 6, 7, 8})) << "a pair is not cut";
  history = applied(history, op::Append{{text("assistant", "42"), text("user", "thanks")}});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{10}));
}

// An edited copy of a call is stored after the result that it has.
TEST(KeepRecent, AnEditedCallWhoseResultIsThereDoesNotWait) {
  const Message spoken =
      Message::parse(R"({"role":"assistant","content":"so I look","toolCalls":[{"id":"a","name":"f"}]})").value();
  const History history = history_of({text("user", "q"), spoken, result("a", "r"), text("assistant", "done"), text("user", "z")});
  const Operation::What edits[] = {op::Transform{Names::indices({1}), ReplaceText{"look", "see"}},
                                   op::Transform{Names::indices({1}), SetMetadata{R"({"n":1})"}},
                                   op::Replace{Names::indices({1}), {call("a")}}, op::Split{1, {2}}};
  for (const Operation::What& edit : edits) EXPECT_EQ(after(applied(history, edit), *keep_recent(1)), (List{4})) << edit.index();
}

TEST(KeepRecent, AnEditedCallThatWaitsStays) {
  const Message spoken =
      Message::parse(R"({"role":"assistant","content":"so I look","toolCalls":[{"id":"a","name":"f"}]})").value();
  const History history =
      history_of({text("user", "q"), spoken, text("user", "meanwhile"), text("assistant", "yes"), text("user", "z")});
  EXPECT_EQ(after(applied(history, op::Transform{Names::indices({1}), ReplaceText{"look", "see"}}), *keep_recent(1)), (List{5, 4}));
  EXPECT_EQ(after(applied(history, op::Replace{Names::indices({1}), {call("a")}}), *keep_recent(1)), (List{5, 4}));
  EXPECT_EQ(after(applied(history, op::Split{1, {2}}), *keep_recent(1)), (List{6, 4})) << "the piece that calls";
}

TEST(KeepRecent, OfTwoCallsInOneMessageTheOneThatWaitsKeepsBoth) {
  const Message both = Message::parse(R"({"role":"assistant","content":"","toolCalls":[{"id":"a"},{"id":"b"}]})").value();
  History history = history_of(
      {text("user", "q"), both, result("a", "r"), text("user", "meanwhile"), text("assistant", "yes"), text("user", "z")});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{1, 2, 5}));
  history = applied(history, op::Replace{Names::indices({1}), {both}});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{6, 2, 5}));
}

TEST(KeepRecent, ReasoningStaysWithTheCallsThatFollowFromIt) {
  const Message reasoning = Message::parse(R"({"role":"assistant","content":[{"type":"reasoning","summary":[]}]})").value();
  const History history = history_of({text("user", "q"), reasoning, call("a"), call("b"), result("a", "r"), result("b", "r"),
                                      text("assistant", "done"), text("user", "z")});
  EXPECT_EQ(after(history, *keep_recent(3)), (List{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(after(history, *keep_recent(2)), (List{6, 7}));
}

TEST(KeepRecent, AViewWhoseUsersSentOnlyASummaryIsNotEmptied) {
  History history = history_of({text("user", "a"), text("assistant", "b"), text("assistant", "c")});
  history = applied(history, op::Compress{Names::indices({0, 1}), text("user", "summary")});
  EXPECT_EQ(after(history, *keep_recent(0)), (List{3}));
}

TEST(SlidingWindow, NeedsAnAim) {
  const Result<Plan> plan = sliding_window()->plan(three_turns(), aim());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(sliding_window()->needs_tokens_max());
}

TEST(SlidingWindow, KeepsTheLargestTailThatFits) {
  const History history = three_turns();
  const View view = history.view();
  const std::uint64_t system = view.tokens(0), tail = view.sums(5, 11).tokens();
  EXPECT_EQ(after(history, *sliding_window(), system + tail), (List{0, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(after(history, *sliding_window(), system + tail - 1), (List{0, 6, 7, 8, 9, 10}));
  EXPECT_EQ(after(history, *sliding_window(), view.sums().tokens()), ordinals_of(view));
}

TEST(SlidingWindow, SaysTheLeastItCanReachWhenThatIsTooMuch) {
  const History history = three_turns();
  const std::uint64_t least = history.view().tokens(0) + history.view().tokens(9);
  const Result<Plan> plan = sliding_window()->plan(history, aim(least - 1));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::cannot_fit);
  EXPECT_EQ(plan.error().tokens_minimum, least);
  EXPECT_EQ(after(history, *sliding_window(), least), (List{0, 9}));
}

TEST(ClearToolResults, PutsStubsThatTellTheToolAndTheSize) {
  const History history = three_turns();
  const Plan plan = clear_tool_results({.keep = 0})->plan(history, aim()).value();
  const View view = applied(history, op::ApplyPlan{plan}).view();
  const std::string size = std::to_string(history.view().tokens(3)) + " tokens, " + std::to_string(history.view()[3].json().size());
  EXPECT_EQ(view[3].json(), R"({"role":"tool","tool_call_id":"a","content":"[result of search cleared: )" + size + R"( bytes]"})");
  EXPECT_EQ(view[7].text().substr(0, 23), "[result of read cleared");
}

TEST(ClearToolResults, KeepsTheNewestThoseOfExcludedToolsAndWhatIsNotWorthIt) {
  const History history = three_turns();
  const auto count = [&](ClearToolResults options) {
    return clear_tool_results(options)->plan(history, aim()).value().replacements.size();
  };
  EXPECT_EQ(count({.keep = 0}), 2u);
  EXPECT_EQ(count({.keep = 1}), 1u);
  EXPECT_EQ(count({.keep = 3}), 0u);
  EXPECT_EQ(count({.keep = 0, .exclude = {"search"}}), 1u);
  EXPECT_EQ(count({.keep = 0, .tokens_gain_min = 10'000}), 0u);
  const History small = history_of({text("user", "q"), call("a"), result("a", "r"), text("assistant", "one")});
  EXPECT_TRUE(clear_tool_results({.keep = 0})->plan(small, aim()).value().replacements.empty()) << "a stub would be longer";
}

TEST(ClearToolResults, ChangesPartsAndLeavesAllElseAsItWas) {
  const std::string head = R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":)";
  const std::string tail = R"(,"is_error":false},{"type":"text","text":"and now?"}],"metadata":{"k":1.0}})";
  const History history = history_of(
      {text("user", "q"),
       Message::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]})").value(),
       Message::parse(head + R"([{"type":"text","text":")" + long_text() + R"("},{"type":"image","source":{}}])" + tail).value(),
       text("assistant", "done")});
  const Plan plan = clear_tool_results({.keep = 0})->plan(history, aim()).value();
  const std::string_view json = applied(history, op::ApplyPlan{plan}).view()[2].json();
  EXPECT_EQ(json.substr(0, head.size()), head);
  EXPECT_EQ(json.substr(json.size() - tail.size()), tail);
  EXPECT_EQ(json.substr(head.size(), 22), "\"[result of ls cleared");
}

TEST(ClearToolResults, ResultsOfATurnThatStillWaitsStay) {
  const History history = history_of(
      {text("user", "q"), Message::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":"a"},{"id":"b"}]})").value(),
       result("a", long_text())});
  EXPECT_TRUE(clear_tool_results({.keep = 0})->plan(history, aim()).value().replacements.empty());
}

TEST(SmartSummary, PutsOneSummaryInPlaceOfAllButTheTail) {
  const StrategyPtr strategy = summary_by([](const SummaryRequest&) { return Summary{"what was", "m", 11, 5}; }, 2);
  const History history = three_turns();
  const Plan plan = strategy->plan(history, aim()).value();
  EXPECT_EQ(plan.summariser, "told");
  EXPECT_EQ(plan.model, "m");
  EXPECT_EQ(plan.prompt_tokens, 11u);
  EXPECT_EQ(plan.completion_tokens, 5u);
  const History made = applied(history, op::ApplyPlan{plan});
  EXPECT_EQ(ordinals_of(made.view()), (List{0, 11, 9, 10}));
  EXPECT_EQ(made.view()[1].text(), "[Summary of earlier messages]\nwhat was");
  EXPECT_EQ(made.view()[1].role(), Role::user);
}

TEST(SmartSummary, ReadsThroughEarlierSummariesAndStubsToTheOriginals) {
  std::vector<std::string> given;
  const StrategyPtr strategy = summary_by(
      [&](const SummaryRequest& request) -> Result<Summary> {
        given.clear();
        for (const Message& m : request.messages) given.emplace_back(m.json());
        return Summary{"s"};
      },
      2);
  History history = three_turns();
  history = applied(history, op::ApplyPlan{clear_tool_results({.keep = 0})->plan(history, aim()).value()});
  history = applied(history, op::ApplyPlan{strategy->plan(history, aim()).value()});
  history = applied(history, op::Append{{text("user", "fourth"), text("assistant", "four")}});
  history = applied(history, op::ApplyPlan{strategy->plan(history, aim()).value()});
  ASSERT_EQ(history.view().size(), 4u);
  std::vector<std::string> expected;
  for (std::uint64_t o = 1; o <= 10; ++o) expected.emplace_back(history.log()[o].json());
  EXPECT_EQ(given, expected);
}

TEST(SmartSummary, ASummaryAloneIsNotSummarisedAgain) {
  int asked = 0;
  const StrategyPtr strategy = summary_by(
      [&](const SummaryRequest&) {
        ++asked;
        return Summary{"s"};
      },
      2);
  const History history = applied(three_turns(), op::ApplyPlan{strategy->plan(three_turns(), aim()).value()});
  EXPECT_TRUE(strategy->plan(history, aim()).value().replacements.empty());
  EXPECT_EQ(asked, 1);
}

TEST(SmartSummary, WhatTheSummariserFailsWithIsPassedOn) {
  const StrategyPtr strategy =
      summary_by([](const SummaryRequest&) -> Result<Summary> { return Error{ErrorCode::unavailable, "not now", "there"}; });
  for (const std::optional<std::uint64_t> tokens_max : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(200)}) {
    const Result<Plan> plan = strategy->plan(three_turns(), aim(tokens_max));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::unavailable);
    EXPECT_EQ(plan.error().message, "not now");
  }
}

TEST(SmartSummary, NothingGarbageAndTooMuchAreRefused) {
  const auto problem = [](const std::string& answer, std::optional<std::uint64_t> tokens_max = {}) {
    const Result<Plan> plan =
        summary_by([&](const SummaryRequest&) { return Summary{answer}; })->plan(three_turns(), aim(tokens_max));
    return plan ? std::string() : std::string(name(plan.error().code)) + ": " + plan.error().message;
  };
  EXPECT_EQ(problem("fine"), "");
  EXPECT_EQ(problem(""), "unavailable: the summariser told returned nothing");
  EXPECT_EQ(problem(" \n\t "), "unavailable: the summariser told returned nothing");
  EXPECT_EQ(problem("\xff\xfe").substr(0, 61), "unavailable: the summariser told returned what is no message:");
  EXPECT_EQ(problem(std::string(9000, 'x')), "unavailable: the summariser told returned more than it was to replace");
  EXPECT_EQ(problem(std::string(1000, 'x'), 200), "unavailable: the summariser told returned more than there is room for");
}

TEST(SmartSummary, WithoutAnAimWhatIsNotWorthASummaryStays) {
  const StrategyPtr strategy = summary_by([](const SummaryRequest&) { return Summary{"s"}; });
  const History history = history_of({text("user", "a"), text("user", "c")});
  const Result<Plan> plan = strategy->plan(history, aim());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->replacements.empty());
}

TEST(SmartSummary, ASummariserThatHasNothingSoShortIsNoFailureWithoutAnAim) {
  const StrategyPtr strategy =
      summary_by([](const SummaryRequest&) -> Result<Summary> { return Error{ErrorCode::cannot_fit, "too short"}; });
  EXPECT_TRUE(strategy->plan(three_turns(), aim()).value().replacements.empty());
  const Result<Plan> plan = strategy->plan(three_turns(), aim(200));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::cannot_fit);
  EXPECT_GT(plan.error().tokens_minimum.value_or(0), 200u);
}

TEST(SmartSummary, AsksAFastSummariserForLessWhenWhatIsAroundTheTextCostsMore) {
  class Exact final : public Summariser {
   public:
    std::string_view name() const noexcept override { return "exact"; }
    bool is_slow() const noexcept override { return false; }
    Result<Summary> summarise(const SummaryRequest& request) const override {
      asked.push_back(request.tokens_max);
      return Summary{std::string(request.tokens_max * 4, '\"')};  // each takes two bytes in a message
    }
    mutable std::vector<std::uint64_t> asked;
  };
  const auto exact = std::make_shared<Exact>();
  const History history = history_of(std::vector<Message>(60, text("user", "short")));
  const Result<Plan> plan = smart_summary({.summariser = exact})->plan(history, aim(300));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_LE(plan->tokens_after, 300u);
  EXPECT_GT(exact->asked.size(), 1u);
}

TEST(Digest, OfSmartSummaryIsTheDefault) {
  const Result<Plan> plan = smart_summary({.keep = 2})->plan(three_turns(), aim());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->summariser, "digest");
  EXPECT_FALSE(smart_summary()->is_slow());
  EXPECT_TRUE(summary_by([](const SummaryRequest&) { return Summary{}; })->is_slow());
}

TEST(FitView, TellsWhetherAViewFitsWhatWouldAndWhatCannot) {
  const History history = three_turns();
  const std::uint64_t tokens = history.stats().tokens;
  const auto fit = [&](std::uint64_t window, const StrategyPtr& strategy) {
    return fit_view(history, {.window = window, .reserve = 10, .overhead = 5, .safety = 1}, *strategy, aim()).value();
  };
  EXPECT_EQ(fit(tokens + 16, no_strategy()).outcome, Fit::Outcome::fits);
  EXPECT_EQ(fit(tokens + 15, no_strategy()).outcome, Fit::Outcome::cannot_fit);
  EXPECT_EQ(fit(tokens + 15, no_strategy()).tokens_minimum, tokens);
  EXPECT_EQ(fit(tokens + 15, sliding_window()).outcome, Fit::Outcome::fits_after);
  EXPECT_EQ(fit(3, sliding_window()).tokens_max, 0u);
  EXPECT_EQ(fit(3, sliding_window()).outcome, Fit::Outcome::cannot_fit);
}

// Strategies of somebody else.
class Careless final : public Strategy {
 public:
  explicit Careless(std::vector<Range> hidden) : hidden_(std::move(hidden)) {}
  std::string_view name() const noexcept override { return "careless"; }
  Result<Plan> plan(const History& history, const Aim&) const override {
    Plan plan;
    plan.base = history.version();
    plan.strategy = name();
    plan.tokens_before = plan.tokens_after = history.stats().tokens;
    plan.replacements.push_back({hidden_});
    return plan;
  }

 private:
  std::vector<Range> hidden_;
};

TEST(UserStrategy, ThatHidesWhatMustStayIsRefusedWhenItsPlanIsApplied) {
  const History history = applied(three_turns(), op::Mark{Names::indices({5}), std::string(pinned_mark)});
  const auto problem = [&](std::vector<Range> hidden) {
    const Plan plan = Careless(std::move(hidden)).plan(history, aim()).value();
    const Result<Step> step = history.apply({op::ApplyPlan{plan}}, RandomConversation::context());
    return step ? std::string() : std::string(name(step.error().code)) + ": " + step.error().message;
  };
  EXPECT_EQ(problem({{0, 2}}), "invalid_argument: the plan would hide a system message");
  EXPECT_EQ(problem({{4, 6}}), "invalid_argument: the plan would hide a pinned message");
  EXPECT_EQ(problem({{1, 3}}), "invalid_argument: the plan would break a tool pair");
  EXPECT_EQ(problem({{1, 5}}), "");
  EXPECT_EQ(ordinals_of(history.view()), ordinals_of(three_turns().view()));
}

TEST(UserStrategy, ThatFallsShortDoesNotFit) {
  const Fit fit = fit_view(three_turns(), {.window = 20}, Careless({{1, 5}}), aim()).value();
  EXPECT_EQ(fit.outcome, Fit::Outcome::cannot_fit);
  EXPECT_EQ(fit.tokens_minimum, three_turns().stats().tokens);
}

TEST(Rebase, KeepsWhatWasAppendedMeanwhile) {
  const History history = three_turns();
  const Plan plan = keep_recent(2)->plan(history, aim()).value();
  const History later = applied(history, op::Append{{text("user", "fourth")}});
  const Plan moved = rebase(plan, history, later).value();
  EXPECT_EQ(moved.base, later.version());
  const History made = applied(later, op::ApplyPlan{moved});
  EXPECT_EQ(ordinals_of(made.view()), (List{0, 9, 10, 11}));
  EXPECT_EQ(made.stats().tokens, moved.tokens_after);
}

TEST(Rebase, FollowsTheMessagesAsEditsElsewhereMoveThem) {
  const History history = three_turns();
  const Plan plan = keep_recent(2)->plan(history, aim()).value();
  History later = applied(history, op::Insert{0, {text("system", "more rules")}});
  later = applied(later, op::Insert{4, {text("system", "in between")}});
  later = applied(later, op::Delete{Names::indices({later.view().size() - 1})});
  const History made = applied(later, op::ApplyPlan{rebase(plan, history, later).value()});
  EXPECT_EQ(ordinals_of(made.view()), (List{11, 0, 12, 9}));
}

TEST(Rebase, IsAConflictWhenSomethingHiddenIsThereNoMore) {
  const History history = three_turns();
  const Plan plan = keep_recent(2)->plan(history, aim()).value();
  const History later = applied(history, op::Replace{Names::indices({4}), {text("assistant", "1")}});
  const Result<Plan> moved = rebase(plan, history, later);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::conflict);
}

TEST(Rebase, OfAnEmptyPlanIsEmpty) {
  const History history = three_turns();
  const History later = applied(history, op::Clear{});
  const Plan moved = rebase(no_strategy()->plan(history, aim()).value(), history, later).value();
  EXPECT_TRUE(moved.replacements.empty());
  EXPECT_EQ(moved.base, later.version());
}

}  // namespace
}  // namespace undertext
