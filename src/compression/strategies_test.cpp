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
                        R"(","type":"function","function":{"name":")" + tool +
                        R"(","arguments":"{}"}}]})")
      .value();
}
Message result(const std::string& id, const std::string& content) {
  return Message::parse(R"({"role":"tool","tool_call_id":")" + id + R"(","content":")" + content +
                        "\"}")
      .value();
}
std::string long_text() { return std::string(400, 'x'); }

History history_of(std::vector<Message> messages) {
  return History()
      .apply({op::Append{std::move(messages)}}, RandomConversation::context())
      .value()
      .history;
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

List after(const History& history, const Strategy& strategy,
           std::optional<std::uint64_t> tokens_max = {}) {
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
  Result<Summary> summarise(const SummaryRequest& request) const override {
    return answer_(request);
  }

 private:
  Answer answer_;
};
StrategyPtr summary_by(Told::Answer answer, std::optional<std::uint64_t> keep = 1) {
  return smart_summary({.summariser = std::make_shared<Told>(std::move(answer)), .keep = keep});
}

// 0 system, 1 user, 2 call, 3 result, 4 assistant, 5 user, 6 call, 7 result, 8 assistant, 9 user,
// 10 assistant
History three_turns() {
  return history_of({text("system", "rules"), text("user", "first"), call("a"),
                     result("a", long_text()), text("assistant", "one"), text("user", "second"),
                     call("b", "read"), result("b", long_text()), text("assistant", "two"),
                     text("user", "third"), text("assistant", "three")});
}

TEST(KeepRecent, KeepsTheLastMessagesAndWhatEveryStrategyKeeps) {
  EXPECT_EQ(after(three_turns(), *keep_recent(3)), (List{0, 8, 9, 10}));
  EXPECT_EQ(after(three_turns(), *keep_recent(0)), (List{0, 9}));
  EXPECT_EQ(after(three_turns(), *keep_recent(100)), ordinals_of(three_turns().view()));
}

TEST(KeepRecent, MovesBackToWhereTheViewMayBeCut) {
  EXPECT_EQ(after(three_turns(), *keep_recent(4)), (List{0, 6, 7, 8, 9, 10}));
}

TEST(KeepRecent, CountsSystemMessagesAndKeepSystemAndRecentDoesNot) {
  const History history =
      history_of({text("user", "a"), text("assistant", "b"), text("user", "c"), text("system", "s"),
                  text("system", "t"), text("assistant", "d")});
  EXPECT_EQ(after(history, *keep_recent(2)), (List{2, 3, 4, 5}));
  EXPECT_EQ(after(history, *keep_system_and_recent(3)), (List{1, 2, 3, 4, 5}));
}

TEST(KeepRecent, PinsStayInTheirPlaceWithTheirTurns) {
  const History history =
      applied(three_turns(), op::Mark{Names::indices({3}), std::string(pinned_mark)});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{0, 2, 3, 9, 10}));
}

TEST(KeepRecent, CallsThatWaitForTheirResultsStay) {
  const History history = history_of(
      {text("user", "go"), text("assistant", "yes"), call("a"), result("a", "r"), call("b")});
  EXPECT_EQ(after(history, *keep_recent(0)), (List{0, 4}));
}

TEST(KeepRecent, ACallThatStillWaitsStaysWhereverItStands) {
  History history =
      history_of({text("user", "start the job"), call("job"), text("user", "meanwhile"),
                  text("assistant", "yes"), call("x"), result("x", "r"), text("assistant", "so"),
                  text("user", "and now?")});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{1, 7}));
  history = applied(history, op::Append{{result("job", "42")}});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{1, 2, 3, 4, 5, 6, 7, 8})) << "a pair is not cut";
  history = applied(history, op::Append{{text("assistant", "42"), text("user", "thanks")}});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{10}));
}

// An edited copy of a call is stored after the result that it has.
TEST(KeepRecent, AnEditedCallWhoseResultIsThereDoesNotWait) {
  const Message spoken =
      Message::parse(
          R"({"role":"assistant","content":"so I look","toolCalls":[{"id":"a","name":"f"}]})")
          .value();
  const History history = history_of(
      {text("user", "q"), spoken, result("a", "r"), text("assistant", "done"), text("user", "z")});
  const Operation::What edits[] = {op::Transform{Names::indices({1}), ReplaceText{"look", "see"}},
                                   op::Transform{Names::indices({1}), SetMetadata{R"({"n":1})"}},
                                   op::Replace{Names::indices({1}), {call("a")}},
                                   op::Split{1, {2}}};
  for (const Operation::What& edit : edits)
    EXPECT_EQ(after(applied(history, edit), *keep_recent(1)), (List{4})) << edit.index();
}

TEST(KeepRecent, AnEditedCallThatWaitsStays) {
  const Message spoken =
      Message::parse(
          R"({"role":"assistant","content":"so I look","toolCalls":[{"id":"a","name":"f"}]})")
          .value();
  const History history = history_of({text("user", "q"), spoken, text("user", "meanwhile"),
                                      text("assistant", "yes"), text("user", "z")});
  EXPECT_EQ(after(applied(history, op::Transform{Names::indices({1}), ReplaceText{"look", "see"}}),
                  *keep_recent(1)),
            (List{5, 4}));
  EXPECT_EQ(after(applied(history, op::Replace{Names::indices({1}), {call("a")}}), *keep_recent(1)),
            (List{5, 4}));
  EXPECT_EQ(after(applied(history, op::Split{1, {2}}), *keep_recent(1)), (List{6, 4}))
      << "the piece that calls";
}

TEST(KeepRecent, OfTwoCallsInOneMessageTheOneThatWaitsKeepsBoth) {
  const Message both =
      Message::parse(R"({"role":"assistant","content":"","toolCalls":[{"id":"a"},{"id":"b"}]})")
          .value();
  History history =
      history_of({text("user", "q"), both, result("a", "r"), text("user", "meanwhile"),
                  text("assistant", "yes"), text("user", "z")});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{1, 2, 5}));
  history = applied(history, op::Replace{Names::indices({1}), {both}});
  EXPECT_EQ(after(history, *keep_recent(1)), (List{6, 2, 5}));
}

TEST(KeepRecent, ReasoningStaysWithTheCallsThatFollowFromIt) {
  const Message reasoning =
      Message::parse(R"({"role":"assistant","content":[{"type":"reasoning","summary":[]}]})")
          .value();
  const History history =
      history_of({text("user", "q"), reasoning, call("a"), call("b"), result("a", "r"),
                  result("b", "r"), text("assistant", "done"), text("user", "z")});
  EXPECT_EQ(after(history, *keep_recent(3)), (List{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(after(history, *keep_recent(2)), (List{6, 7}));
}

TEST(KeepRecent, AViewWhoseUsersSentOnlyASummaryIsNotEmptied) {
  History history = history_of({text("user", "a"), text("assistant", "b"), text("assistant", "c")});
  history = applied(history, op::Compress{Names::indices({0, 1}), text("user", "summary")});
  EXPECT_EQ(after(history, *keep_recent(0)), (List{3}));
}

TEST(KeepRecent, AViewWithoutAUserKeepsItsLastUnit) {
  const History history =
      history_of({text("assistant", "a"), call("a"), result("a", "r"), text("assistant", "b")});
  EXPECT_EQ(after(history, *keep_recent(0)), (List{3}));
  EXPECT_EQ(after(history, *sliding_window(), 0), (List{3}));
  EXPECT_EQ(fit_view(history, {}, *sliding_window(), aim()).value().tokens_minimum,
            history.view().tokens(3));
  const History ends_with_pair = history_of({text("assistant", "a"), call("a"), result("a", "r")});
  EXPECT_EQ(after(ends_with_pair, *keep_recent(0)), (List{1, 2}));
}

TEST(None, LeavesEverythingAsItIsWhateverTheTarget) {
  const Plan plan = no_strategy()->plan(three_turns(), aim(1)).value();
  EXPECT_TRUE(plan.replacements.empty());
  EXPECT_EQ(plan.tokens_after, three_turns().stats().tokens);
  EXPECT_FALSE(no_strategy()->has_target());
}

TEST(WaitingCalls, StayWithEveryStrategySoThatTheResultFindsThem) {
  const History history =
      history_of({call("c"), text("user", "meanwhile"), text("assistant", long_text()),
                  text("user", "and?"), text("user", "now")});
  const StrategyPtr summary = smart_summary({.keep = 1}), recent = keep_recent(2);
  for (const StrategyPtr& strategy :
       {recent, summary, keep_system_and_recent(1), sliding_window(), default_strategy(),
        pipeline({summary, recent}), prefer_cache({recent, summary}, {})}) {
    SCOPED_TRACE(strategy->name());
    const std::optional<std::uint64_t> tokens_max =
        strategy->needs_tokens_max() ? std::optional<std::uint64_t>(90) : std::nullopt;
    const Plan plan = strategy->plan(history, aim(tokens_max)).value();
    EXPECT_FALSE(plan.replacements.empty());
    const History made =
        applied(applied(history, op::ApplyPlan{plan}), op::Append{{result("c", "JOB RESULT 42")}});
    EXPECT_TRUE(made.view().index_of(Ordinal(0)));
    EXPECT_EQ(made.view()[made.view().size() - 1].text(), "JOB RESULT 42");
  }
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

TEST(SlidingWindow, LeavesTheLeastItCanWhenThatIsTooMuch) {
  const History history = three_turns();
  const std::uint64_t least = history.view().tokens(0) + history.view().tokens(9);
  const Plan plan = sliding_window()->plan(history, aim(least - 1)).value();
  EXPECT_FALSE(reaches(plan, aim(least - 1)));
  EXPECT_TRUE(reaches(plan, aim(least)));
  EXPECT_TRUE(reaches(plan, aim()));
  EXPECT_EQ(plan.tokens_after, least);
  EXPECT_EQ(after(history, *sliding_window(), least - 1), (List{0, 9}));
}

TEST(ClearToolResults, PutsStubsThatTellTheToolAndTheSize) {
  const History history = three_turns();
  const Plan plan = clear_tool_results({.keep = 0})->plan(history, aim()).value();
  const View view = applied(history, op::ApplyPlan{plan}).view();
  const std::string size = std::to_string(history.view().tokens(3));
  EXPECT_EQ(view[3].json(),
            R"({"role":"tool","tool_call_id":"a","content":"[result of search cleared: )" + size +
                R"( tokens]"})");
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
  const History small =
      history_of({text("user", "q"), call("a"), result("a", "r"), text("assistant", "one")});
  EXPECT_TRUE(clear_tool_results({.keep = 0})->plan(small, aim()).value().replacements.empty())
      << "a stub would be longer";
}

TEST(ClearToolResults, ChangesPartsAndLeavesAllElseAsItWas) {
  const std::string head =
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":)";
  const std::string tail =
      R"(,"is_error":false},{"type":"text","text":"and now?"}],"metadata":{"k":1.0}})";
  const History history = history_of(
      {text("user", "q"),
       Message::parse(
           R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]})")
           .value(),
       Message::parse(head + R"([{"type":"text","text":")" + long_text() +
                      R"("},{"type":"image","source":{}}])" + tail)
           .value(),
       text("assistant", "done")});
  const Plan plan = clear_tool_results({.keep = 0})->plan(history, aim()).value();
  const std::string_view json = applied(history, op::ApplyPlan{plan}).view()[2].json();
  EXPECT_EQ(json.substr(0, head.size()), head);
  EXPECT_EQ(json.substr(json.size() - tail.size()), tail);
  EXPECT_EQ(json.substr(head.size(), 22), "\"[result of ls cleared");
}

TEST(ClearToolResults, ResultsOfATurnThatStillWaitsStay) {
  const History history = history_of(
      {text("user", "q"),
       Message::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":"a"},{"id":"b"}]})")
           .value(),
       result("a", long_text())});
  EXPECT_TRUE(clear_tool_results({.keep = 0})->plan(history, aim()).value().replacements.empty());
}

TEST(SmartSummary, PutsOneSummaryInPlaceOfAllButTheTail) {
  const StrategyPtr strategy =
      summary_by([](const SummaryRequest&) { return Summary{"what was", "m", 11, 5}; }, 2);
  const History history = three_turns();
  const Plan plan = strategy->plan(history, aim()).value();
  EXPECT_EQ(plan.summariser, "told");
  EXPECT_EQ(plan.model, "m");
  EXPECT_EQ(plan.prompt_tokens, 11u);
  EXPECT_EQ(plan.completion_tokens, 5u);
  const History made = applied(history, op::ApplyPlan{plan});
  EXPECT_EQ(ordinals_of(made.view()), (List{0, 11, 9, 10}));
  EXPECT_EQ(made.view()[1].text(),
            "[Summary of earlier messages]\nWork already done, not to be repeated. EXPAND brings "
            "back the originals (ordinals 1-8).\n"
            "what was");
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
  history = applied(history,
                    op::ApplyPlan{clear_tool_results({.keep = 0})->plan(history, aim()).value()});
  history = applied(history, op::ApplyPlan{strategy->plan(history, aim()).value()});
  history =
      applied(history, op::Append{{text("user", "fourth " + long_text()), text("assistant", "four"),
                                   text("user", "fifth"), text("assistant", "five")}});
  history = applied(history, op::ApplyPlan{strategy->plan(history, aim()).value()});
  ASSERT_EQ(history.view().size(), 4u);
  std::vector<std::string> expected;
  for (const std::uint64_t o : List{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15})
    expected.emplace_back(history.log()[o].json());
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
  const History history =
      applied(three_turns(), op::ApplyPlan{strategy->plan(three_turns(), aim()).value()});
  EXPECT_TRUE(strategy->plan(history, aim()).value().replacements.empty());
  EXPECT_EQ(asked, 1);
}

// The work for the last request, some of it before a reminder.
TEST(SmartSummary, WorkNeverStandsBeforeTheRequestItWasDoneFor) {
  const History history =
      history_of({text("user", "Task one: " + long_text()), text("assistant", long_text()),
                  text("user", "Task two: delete the table"),
                  text("assistant", "DROP TABLE " + long_text()), text("system", "a reminder"),
                  text("assistant", long_text() + " done"), text("assistant", "anything else?")});
  const Plan plan = summary_by([](const SummaryRequest& r) {
                      return Summary{std::to_string(r.messages.size()) + " told"};
                    })
                        ->plan(history, aim())
                        .value();
  const View view = applied(history, op::ApplyPlan{plan}).view();
  EXPECT_EQ(ordinals_of(view), (List{7, 2, 8, 4, 9, 6}));
  EXPECT_NE(view[0].text().find("(ordinals 0-1).\n2 told"), std::string::npos);
  EXPECT_NE(view[2].text().find("(ordinals 3-3).\n1 told"), std::string::npos);
  EXPECT_NE(view[4].text().find("(ordinals 5-5).\n1 told"), std::string::npos);
}

TEST(SmartSummary, DoesNotStandBetweenACallAndItsResult) {
  const auto call = [](const std::string& id) {
    return Message::parse(R"({"role":"assistant","content":")" + long_text() +
                          R"(","tool_calls":[{"id":")" + id + "\"}]}")
        .value();
  };
  const auto result = [](const std::string& id) {
    return Message::parse(R"({"role":"tool","tool_call_id":")" + id + R"(","content":")" +
                          long_text() + "\"}")
        .value();
  };
  History history =
      history_of({text("user", "both"), call("a"), call("b"), result("a"), result("b"),
                  text("assistant", long_text()), text("user", long_text()),
                  text("assistant", long_text()), text("user", "next")});
  for (const std::uint64_t pinned : {1u, 2u, 3u, 4u}) {
    const History with_pin =
        applied(history, op::Mark{Names::indices({pinned}), std::string(pinned_mark)});
    const History after =
        applied(with_pin, op::ApplyPlan{smart_summary({.keep = 1})->plan(with_pin, aim()).value()});
    for (std::uint64_t k = 1; k < 5; ++k)
      EXPECT_TRUE(after.view().index_of(Ordinal(k))) << "pinned " << pinned << ", " << k;
    EXPECT_EQ(after.view().size(), 7u);
  }
}

TEST(SmartSummary, ShortStretchesBetweenWhatStaysStay) {
  const History history =
      applied(history_of({text("user", long_text()), text("assistant", "short"),
                          text("user", "pinned"), text("assistant", "short too"),
                          text("user", "rules"), text("assistant", "tail")}),
              op::Mark{Names::indices({2}), std::string(pinned_mark)});
  EXPECT_EQ(after(history, *smart_summary({.keep = 1})), (List{6, 2, 3, 4, 5}));
}

TEST(SmartSummary, TheLongerAStretchTheLongerItsSummaryMayBe) {
  std::vector<std::uint64_t> asked;
  const StrategyPtr strategy = summary_by([&](const SummaryRequest& r) {
    asked.push_back(r.tokens_max);
    return Summary{"s"};
  });
  const std::string ten = long_text() + long_text() + long_text() + long_text() + long_text();
  strategy
      ->plan(history_of({text("assistant", ten + ten + ten), text("system", "x"),
                         text("assistant", ten), text("user", "z")}),
             aim())
      .value();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_GT(asked[0], 2 * asked[1]);
  EXPECT_LE(asked[0] + asked[1], 1024u);
}

TEST(SmartSummary, AModelIsAskedForTheLargestStretchesOnly) {
  int asked = 0;
  const StrategyPtr strategy = summary_by([&](const SummaryRequest&) {
    ++asked;
    return Summary{"s", "m"};
  });
  std::vector<Message> messages;
  for (int i = 0; i < 9; ++i) {
    messages.push_back(text("user", "Look at src/file" + std::to_string(i) + ".c " + long_text() +
                                        (i < 2 ? long_text() : "")));
    messages.push_back(text("system", "reminder"));
  }
  messages.push_back(text("user", "z"));
  const Plan plan = strategy->plan(history_of(messages), aim()).value();
  EXPECT_EQ(plan.replacements.size(), 9u);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(plan.summariser, "told, digest");
  EXPECT_EQ(plan.model, "m");
}

TEST(SmartSummary, WhatFailsIsReplacedByTheNextAndByTheDigestLast) {
  const auto failing = std::make_shared<Told>([](const SummaryRequest&) -> Result<Summary> {
    return Error{ErrorCode::unavailable, "not now", "there"};
  });
  const auto working = std::make_shared<Told>(
      [](const SummaryRequest&) -> Result<Summary> { return Summary{"fine", "m"}; });
  const Plan next =
      smart_summary({.summariser = failing, .fallbacks = {failing, working}, .keep = 1})
          ->plan(three_turns(), aim())
          .value();
  EXPECT_EQ(next.summariser, "told");
  EXPECT_EQ(next.model, "m");
  const Plan last =
      smart_summary({.summariser = failing, .keep = 1})->plan(three_turns(), aim()).value();
  EXPECT_EQ(last.summariser, "digest");
  EXPECT_EQ(
      last.reason,
      "a summary in place of all but the tail; summariser told failed: not now; digest instead");
}

TEST(SmartSummary, WhatTheCallerHasToFixIsPassedOnUnlessThereAreFallbacks) {
  const auto wrong = [](const std::string& field) {
    return std::make_shared<Told>([field](const SummaryRequest&) -> Result<Summary> {
      return Error{ErrorCode::invalid_argument, "no", field};
    });
  };
  const Result<Plan> plan =
      smart_summary({.summariser = wrong("key_variable"), .keep = 1})->plan(three_turns(), aim());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().field, "key_variable");
  const auto used = [&](const SmartSummary& options) {
    return smart_summary(options)->plan(three_turns(), aim()).value().summariser;
  };
  EXPECT_EQ(used({.summariser = wrong("key_variable"), .fallbacks = {wrong("model")}, .keep = 1}),
            "digest");
  EXPECT_EQ(used({.summariser = wrong("messages"), .keep = 1}), "digest")
      << "another may take what this one refuses";
}

TEST(SmartSummary, ACancelledSummaryIsNotTriedAgain) {
  std::stop_source stop;
  int asked = 0;
  const auto cancelled = std::make_shared<Told>([&](const SummaryRequest&) -> Result<Summary> {
    ++asked;
    stop.request_stop();
    return Error{ErrorCode::unavailable, "cancelled"};
  });
  Aim to = aim();
  to.cancel = stop.get_token();
  const Result<Plan> plan =
      smart_summary({.summariser = cancelled, .fallbacks = {cancelled}, .keep = 1})
          ->plan(three_turns(), to);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "cancelled");
  EXPECT_EQ(asked, 1);
}

TEST(SmartSummary, WhereNobodyHasASummaryTheFirstFailureIsTheAnswer) {
  const auto failing = std::make_shared<Told>([](const SummaryRequest&) -> Result<Summary> {
    return Error{ErrorCode::unavailable, "the summary was cut off"};
  });
  // No digest is as short as that.
  const Result<Plan> plan =
      smart_summary({.summariser = failing, .keep = 1, .summary_tokens_max = 3})
          ->plan(three_turns(), aim());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "the summary was cut off");
}

TEST(SmartSummary, NothingGarbageAndTooMuchAreNoSummaries) {
  const auto problem = [](const std::string& answer, std::optional<std::uint64_t> tokens_max = {}) {
    const Plan plan = summary_by([&](const SummaryRequest&) { return Summary{answer}; })
                          ->plan(three_turns(), aim(tokens_max))
                          .value();
    return plan.reason;
  };
  const std::string done = "a summary in place of all but the tail",
                    failed = done + "; summariser told failed: the summariser told ";
  EXPECT_EQ(problem("fine"), done);
  EXPECT_EQ(problem(""), failed + "returned nothing; digest instead");
  EXPECT_EQ(problem(" \n\t "), failed + "returned nothing; digest instead");
  for (const char* const unseen :
       {"\u200B", "\u00A0 \uFEFF", "\u3164\u2060\n", "<think>hm</think>", "hm</think>\u200B"})
    EXPECT_EQ(problem(unseen), failed + "returned nothing; digest instead") << unseen;
  for (const char* const open : {"<think>", "so far <think>and", "<think>a</think><think>b",
                                 "<Thinking>hm", "a <THINK> b <think> c"})
    EXPECT_EQ(problem(open), failed + "returned reasoning without an end; digest instead") << open;
  for (const char* const fine : {"<think>a</think>fine", "fine <Thinking>b</Thinking>",
                                 "hm</think> fine", "fine, takes out `<think>`"})
    EXPECT_EQ(problem(fine), done) << fine;
  EXPECT_EQ(problem("\xff\xfe").substr(0, failed.size() + 27),
            failed + "returned what is no message");
  EXPECT_EQ(problem(std::string(9000, 'x')),
            failed + "returned more than it was to replace; digest instead");
  EXPECT_EQ(problem(std::string(1000, 'x'), 200),
            failed + "returned more than there is room for; digest instead");
}

TEST(SmartSummary, WithoutAnAimWhatIsNotWorthASummaryStays) {
  const StrategyPtr strategy = summary_by([](const SummaryRequest&) { return Summary{"s"}; });
  const History history = history_of({text("user", "a"), text("user", "c")});
  const Result<Plan> plan = strategy->plan(history, aim());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->replacements.empty());
}

TEST(SmartSummary, AsksAFastSummariserForLessWhenWhatIsAroundTheTextCostsMore) {
  class Exact final : public Summariser {
   public:
    std::string_view name() const noexcept override { return "exact"; }
    bool is_slow() const noexcept override { return false; }
    Result<Summary> summarise(const SummaryRequest& request) const override {
      asked.push_back(request.tokens_max);
      // each takes two bytes in a message
      return Summary{std::string(request.tokens_max * 4, '\"')};
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
    return fit_view(history, {.window = window, .reserve = 10, .overhead = 5, .safety = 1},
                    *strategy, aim())
        .value();
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
  const History history =
      applied(three_turns(), op::Mark{Names::indices({5}), std::string(pinned_mark)});
  const auto problem = [&](std::vector<Range> hidden) {
    const Plan plan = Careless(std::move(hidden)).plan(history, aim()).value();
    const Result<Step> step = history.apply({op::ApplyPlan{plan}}, RandomConversation::context());
    return step ? std::string()
                : std::string(name(step.error().code)) + ": " + step.error().message;
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
  EXPECT_EQ(fit.tokens_minimum,
            three_turns().stats().tokens - three_turns().view().sums(1, 5).tokens())
      << "though it does not count";
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
  const History later =
      applied(history, op::Replace{Names::indices({4}), {text("assistant", "1")}});
  const Result<Plan> moved = rebase(plan, history, later);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::conflict);
}

TEST(Rebase, IsAConflictWhenSomethingStandsInsideWhatASummaryStandsFor) {
  const History history = three_turns();
  const Plan plan = smart_summary({.keep = 2})->plan(history, aim()).value();
  EXPECT_TRUE(
      rebase(plan, history, applied(history, op::Insert{1, {text("system", "before it")}})));
  EXPECT_TRUE(rebase(plan, history, applied(history, op::Insert{9, {text("system", "after it")}})));
  const Result<Plan> moved =
      rebase(plan, history, applied(history, op::Insert{5, {text("system", "inside")}}));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::conflict);
}

// A user, then a model that thinks before each of its calls; the last result is unread.
History thinking_loop(int steps) {
  std::vector<Message> messages{text("user", "find the bug")};
  for (int i = 0; i < steps; ++i) {
    const std::string id = "c" + std::to_string(i);
    messages.push_back(
        Message::parse(R"({"role":"assistant","content":[{"type":"thinking","thinking":")" +
                       long_text() + R"(","signature":"s"},{"type":"tool_use","id":")" + id +
                       R"(","name":"read","input":{}}]})")
            .value());
    messages.push_back(
        Message::parse(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id +
                       R"(","content":")" + long_text() + R"("}]})")
            .value());
  }
  return history_of(messages);
}

TEST(DefaultStrategy, CopesWithALoopOfThinkingAndTools) {
  const History history = thinking_loop(15);
  ASSERT_GT(history.stats().tokens, 3300u);
  const Plan plan = default_strategy()->plan(history, aim(1125)).value();
  EXPECT_TRUE(reaches(plan, aim(1125))) << plan.tokens_after;
  const History made = applied(history, op::ApplyPlan{plan});
  const View view = made.view();
  EXPECT_EQ(view.ordinal(0).value, 0u) << "the request";
  EXPECT_EQ(view[1].text().substr(0, 29), "[Summary of earlier messages]");
  EXPECT_TRUE(view[2].has_reasoning()) << "what is left of the loop begins with thinking";
  EXPECT_EQ(view.ordinal(view.size() - 1).value, 30u) << "the result that nobody has read";
  EXPECT_EQ(plan.strategy, "dedupe, smart_summary") << "all its calls are the same";
}

TEST(DefaultStrategy, WholeTurnsAreSplitOnlyWhereThereIsNoOtherWay) {
  std::vector<Message> messages;
  for (const Message& m :
       history_of({text("user", long_text()), text("assistant", long_text())}).view())
    messages.push_back(m);
  for (const Message& m : thinking_loop(4).view()) messages.push_back(m);
  const History history = history_of(messages);
  const std::uint64_t loop = thinking_loop(4).stats().tokens;
  EXPECT_EQ(after(history, *sliding_window(), loop), (List{2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(after(history, *sliding_window(), loop - 1), (List{2, 5, 6, 7, 8, 9, 10}));
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
