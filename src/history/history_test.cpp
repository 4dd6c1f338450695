#include <undertext/history.hpp>

#include <initializer_list>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "history/replay.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

Message user(const std::string& text) {
  return Message::parse("{\"role\":\"user\",\"content\":\"" + text + "\"}").value();
}
Message system(const std::string& text) {
  return Message::parse("{\"role\":\"system\",\"content\":\"" + text + "\"}").value();
}
Message call(const std::string& id) {
  return Message::parse("{\"role\":\"assistant\",\"content\":\"\",\"toolCalls\":[{\"id\":\"" + id +
                        "\"}]}")
      .value();
}
Message result(const std::string& id) {
  return Message::parse("{\"role\":\"tool\",\"content\":\"r\",\"toolCallId\":\"" + id + "\"}")
      .value();
}

History after(const History& history, const Operation::What& what) {
  return history.apply({what}, {.now_ms = 1000}).value().history;
}
Applied applied(const History& history, const Operation::What& what) {
  return history.apply({what}, {.now_ms = 1000}).value().applied;
}

std::string texts(const View& view) {
  std::string all;
  for (const Message& message : view) all += message.text() + " ";
  return all;
}

using Ordinals = std::vector<std::uint64_t>;
Ordinals ordinals(const View& view) {
  Ordinals all;
  for (std::uint64_t i = 0; i < view.size(); ++i) all.push_back(view.ordinal(i).value);
  return all;
}

// Of the operation that made the head.
RecordedOperation record_of(const History& history) {
  return *history.rep().versions[history.rep().head_number()].operation;
}

TEST(History, AValueTakenBeforeAnEditStillReadsTheOldMessages) {
  const History h1 = after(History(), op::Append{{user("a"), user("b")}});
  const View view = h1.view();
  const History h2 = after(h1, op::Clear{false});
  EXPECT_EQ(texts(view), "a b ");
  EXPECT_EQ(texts(h1.view()), "a b ");
  EXPECT_EQ(h2.view().size(), 0u);
}

TEST(History, SeveralMessagesThatReplaceManyEachStandForAllOfThemUpToALimit) {
  std::vector<Message> texts;
  for (int i = 0; i < 1200; ++i) texts.push_back(user(std::to_string(i)));
  const History many = after(History(), op::Append{texts});
  const auto replace = [&](std::uint64_t messages, std::uint64_t names) {
    Ordinals named(names);
    std::iota(named.begin(), named.end(), 0);
    return Operation{
        op::Replace{Names::ordinals(named),
                    {texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(messages)}}};
  };
  EXPECT_TRUE(many.apply(replace(1024, 1024), {}));
  EXPECT_TRUE(many.apply(replace(1, 1200), {}));
  EXPECT_TRUE(many.apply(replace(1200, 1), {}));
  const Result<Step> refused = many.apply(replace(1025, 1024), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
  EXPECT_EQ(refused.error().field, "message");
  // What an earlier release carried out is carried out again.
  const Operation then = replace(1025, 1024);
  std::vector<StoredMessage> stored;
  const auto& given = std::get<op::Replace>(then.what).messages;
  for (const Message& message : given) stored.emplace_back(message, 1000, 1);
  EXPECT_EQ(replay(many, RecordedOperation{then}, 1000, stored).value().history.view().size(),
            1201u);
}

TEST(History, AnInterruptedReplaceOfManyByManyEndsBetweenTwoOfThem) {
  std::vector<Message> texts;
  for (int i = 0; i < 400; ++i) texts.push_back(user(std::to_string(i)));
  const History many = after(History(), op::Append{texts});
  Ordinals every_second;
  for (std::uint64_t i = 0; i < texts.size(); i += 2) every_second.push_back(i);
  const Operation replace{op::Replace{Names::ordinals(every_second), texts}};
  int questions = 0, most = 600;  // more than it has messages, which are stored first
  const auto work = std::make_shared<Work>(WorkLimits{.interrupted = [&]() -> Result<void> {
    if (++questions <= most) return {};
    return Error{ErrorCode::unavailable, "enough"};
  }});
  const Result<Step> ended = many.apply(replace, {.work = work});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::unavailable);
  EXPECT_EQ(questions, most + 1);
  EXPECT_TRUE(many.apply(replace, {}));
}

TEST(History, TwoFuturesOfOneValueDoNotSeeEachOther) {
  const History base = after(History(), op::Append{{user("a")}});
  const History left = after(base, op::Append{{user("left")}});
  const History right = after(base, op::Append{{user("right")}});
  EXPECT_EQ(texts(left.view()), "a left ");
  EXPECT_EQ(texts(right.view()), "a right ");
  EXPECT_EQ(texts(right.log()), "a right ");
}

TEST(History, AForkGoesItsOwnWayAndSharesTheMessages) {
  History h = after(History(), op::Append{{user("a"), call("c1"), result("c1")}});
  h = after(h, op::Compress{Names::indices({0}), user("sum")});
  h = after(h, op::Append{{user("later")}});
  const History fork = h.fork(Version(1)).value();
  EXPECT_EQ(fork.version(), Version(1));
  EXPECT_EQ(fork.log().size(), 3u);
  const History on = after(fork, op::Append{{user("x")}});
  EXPECT_EQ(on.log()[3].text(), "x");
  EXPECT_TRUE(on.stands_for(Ordinal(3)).empty())
      << "ordinal 3 was a summary in the other conversation only";
  EXPECT_EQ(h.stands_for(Ordinal(3)), std::vector<Ordinal>{Ordinal(0)});
  EXPECT_EQ(h.log()[0].json().data(), on.log()[0].json().data());
  EXPECT_EQ(h.fork(Version(9)).error().code, ErrorCode::not_found);
}

TEST(History, TimeComesInAsAnArgument) {
  const Operation append{op::Append{{user("a")}}};
  const History h = History().apply(append, {.now_ms = 42}).value().history;
  EXPECT_EQ(h.view().time_ms(0), 42);
  EXPECT_EQ(h.version_info(Version(1)).timestamp_ms, 42);
}

TEST(History, AnyFunctionCanTransform) {
  const History h = after(History(), op::Append{{user("a"), user("b")}});
  const History loud =
      after(h, op::Transform{Names::indices({1}), op::TransformFunction([](const Message& m) {
                               return Result<Message>(user(m.text() + "!"));
                             })});
  EXPECT_EQ(texts(loud.view()), "a b! ");
  const Operation failing{
      op::Transform{Names::indices({0, 1}), op::TransformFunction([](const Message&) {
                      return Result<Message>(Error{ErrorCode::unavailable, "not now"});
                    })}};
  EXPECT_EQ(h.apply(failing, {}).error().code, ErrorCode::unavailable);
}

TEST(History, AnIdUsedInEveryTurnPairsEachResultWithTheCallBeforeIt) {
  op::Append append;
  for (int turn = 0; turn < 200; ++turn) {
    append.messages.push_back(user("q"));
    append.messages.push_back(call("call_0"));
    append.messages.push_back(result("call_0"));
  }
  const History h = after(History(), append);
  EXPECT_TRUE(applied(h, op::Truncate{.keep_last = 3 * 50}).warnings.empty());
  const std::vector<Warning> cut = applied(h, op::Truncate{.keep_last = 3 * 50 + 1}).warnings;
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].ordinal, Ordinal(3 * 150 - 1));
  EXPECT_EQ(cut[0].code, Warning::Code::tool_result_without_call);
  EXPECT_EQ(applied(h, op::Truncate{.keep_last = 3 * 50 + 1, .pairs = Pairs::shrink})
                .stats.current_batch_messages,
            150u);
  EXPECT_EQ(applied(h, op::Truncate{.keep_last = 3 * 50 + 1, .pairs = Pairs::grow})
                .stats.current_batch_messages,
            152u);
}

TEST(History, APairThatHidingOtherMessagesMadeIsKeptWholeToo) {
  // The result comes before the calls of its id. Without the pair in the middle it is the second
  // call that it answers.
  History h = after(History(), op::Append{{result("x"), call("x"), result("x"), call("x")}});
  h = after(h, op::Delete{Names::indices({1, 2})});
  EXPECT_EQ(h.view().size(), 2u);
  EXPECT_EQ(applied(h, op::Delete{Names::indices({0}), Pairs::grow}).stats.current_batch_messages,
            2u);
  EXPECT_EQ(applied(h, op::Delete{Names::indices({0}), Pairs::shrink}).stats.current_batch_messages,
            0u);
  EXPECT_EQ(applied(h, op::Delete{Names::indices({0})}).warnings.size(), 1u);
}

TEST(History, AResultThatLostItsCallMayComeToAnswerALaterOne) {
  History h =
      after(History(), op::Append{{call("x"), result("x"), call("x"), result("x"), call("x")}});
  h = after(h, op::Delete{Names::indices({0})});
  h = after(h, op::Delete{Names::indices({1, 2})});
  EXPECT_EQ(applied(h, op::Delete{Names::indices({1}), Pairs::shrink}).stats.current_batch_messages,
            0u);
  EXPECT_EQ(applied(h, op::Delete{Names::indices({1}), Pairs::grow}).stats.current_batch_messages,
            2u);
}

TEST(History, APairThatAMessageInBetweenMadeIsKeptWholeToo) {
  // The call put in takes the last result over, so that the call before it is answered by the
  // first.
  History h = after(History(), op::Append{{result("x"), call("x"), result("x")}});
  h = after(h, op::Insert{2, {call("x")}});
  EXPECT_EQ(applied(h, op::Delete{Names::indices({0}), Pairs::grow}).stats.current_batch_messages,
            4u);
  EXPECT_EQ(applied(h, op::Delete{Names::indices({0}), Pairs::shrink}).stats.current_batch_messages,
            2u);
}

TEST(History, AMessageEditedInEveryTurnStillHasItsPartner) {
  History h = after(History(), op::Append{{user("q"), call("c1"), result("c1")}});
  for (int turn = 0; turn < 100; ++turn)
    h = after(h, op::Transform{Names::indices({2}),
                               SetMetadata{"{\"turn\":" + std::to_string(turn) + "}"}});
  const std::vector<Warning> warnings = applied(h, op::Delete{Names::indices({2})}).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].ordinal, Ordinal(1));
  EXPECT_EQ(applied(h, op::Delete{Names::indices({1}), Pairs::shrink}).stats.current_batch_messages,
            1u);
}

TEST(History, AForkThatUsesAnIdAgainPairsItsOwnMessages) {
  History h = after(History(), op::Append{{user("q")}});
  h = after(h, op::Append{{call("c1"), result("c1"), user("later")}});
  History fork = h.fork(Version(1)).value();
  fork = after(fork, op::Append{{user("text"), call("c1"), result("c1")}});
  EXPECT_EQ(applied(fork, op::Delete{Names::indices({3})}).warnings.size(), 1u);
  EXPECT_EQ(
      applied(fork, op::Delete{Names::indices({3}), Pairs::shrink}).stats.current_batch_messages,
      2u);
}

TEST(History, CompressingAndExpandingLeavesEveryMessageFindable) {
  op::Append append;
  for (int turn = 0; turn < 50; ++turn) {
    append.messages.push_back(call("c" + std::to_string(turn)));
    append.messages.push_back(result("c" + std::to_string(turn)));
  }
  History h = after(History(), append);
  std::vector<std::uint64_t> all(100);
  for (std::uint64_t i = 0; i < 100; ++i) all[i] = i;
  h = after(after(h, op::Compress{Names::indices(all), user("sum")}), op::Expand{0});
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(h.view().index_of(Ordinal(i)), i);
  EXPECT_TRUE(applied(h, op::Truncate{.keep_last = 50}).warnings.empty());
  EXPECT_EQ(applied(h, op::Truncate{.keep_last = 51}).warnings.size(), 1u);
}

Message reasoning() {
  return Message::parse(R"({"role":"assistant","content":[{"type":"reasoning","summary":[]}]})")
      .value();
}

TEST(History, ReasoningThatLosesAllItsCallsIsWarnedOf) {
  const History h =
      after(History(),
            op::Append{{user("q"), reasoning(), call("a"), call("b"), result("a"), result("b")}});
  EXPECT_EQ(applied(h, op::Delete{Names::indices({2, 4})}).warnings, std::vector<Warning>())
      << "one is left";
  const std::vector<Warning> parted{{Warning::Code::reasoning_without_call, Ordinal(1), ""}};
  EXPECT_EQ(applied(h, op::Delete{Names::indices({2, 3, 4, 5})}).warnings, parted);
  EXPECT_EQ(applied(h, op::Insert{2, {user("in between")}}).warnings, parted);
  EXPECT_EQ(applied(h, op::Insert{2, {system("in between")}}).warnings, std::vector<Warning>());
  const History hidden = after(h, op::Delete{Names::indices({2, 3, 4, 5})});
  EXPECT_EQ(applied(hidden, op::Undo{}).warnings, std::vector<Warning>());
}

TEST(History, ShrinkAndGrowTakeReasoningAndItsCallsAsOne) {
  const History h = after(History(), op::Append{{user("q"), reasoning(), call("a"), call("b"),
                                                 result("a"), result("b"), user("z")}});
  for (std::uint64_t i = 1; i < 6; ++i) {
    EXPECT_EQ(after(h, op::Delete{Names::indices({i}), Pairs::shrink}).view().size(), 2u) << i;
    EXPECT_EQ(after(h, op::Delete{Names::indices({i}), Pairs::grow}).view().size(), 7u) << i;
  }
  const History pinned = after(h, op::Mark{Names::indices({1}), "pinned"});
  EXPECT_EQ(after(pinned, op::Delete{Names::indices({2}), Pairs::shrink}).view().size(), 5u)
      << "what is pinned stays, and so does the rest";
}

TEST(History, ShrinkLeavesReasoningWithItsPinnedCall) {
  const History all = after(History(), op::Append{{user("q"), reasoning(), call("a"), call("b"),
                                                   result("a"), result("b"), user("z")}});
  const History pinned = after(all, op::Mark{Names::indices({2}), "pinned"});
  const History without_b = after(pinned, op::Delete{Names::indices({3}), Pairs::shrink});
  EXPECT_EQ(ordinals(without_b.view()), (Ordinals{0, 1, 2, 4, 6}));
  EXPECT_EQ(ordinals(after(without_b, op::Delete{Names::indices({3}), Pairs::shrink}).view()),
            (Ordinals{0, 1, 2, 6}));
}

// A call that has many results, as of a tool that reports its progress, between pairs of other
// calls.
struct ManyResults {
  explicit ManyResults(std::uint64_t results) : count(results) {
    op::Append all{{user("q"), call("b"), result("b"), call("a")}};
    for (std::uint64_t i = 0; i < results; ++i) all.messages.push_back(result("a"));
    for (const Message& last : {call("c"), result("c"), user("z")}) all.messages.push_back(last);
    history = after(History(), all);
  }
  Names results(std::uint64_t from, std::uint64_t to) const {
    std::vector<std::uint64_t> indices;
    for (std::uint64_t i = from; i < to; ++i) indices.push_back(4 + i);
    return Names::indices(indices);
  }
  Ordinals without_unit() const { return {0, 1, 2, 4 + count, 5 + count, 6 + count}; }

  std::uint64_t count;
  History history;
};
constexpr std::uint64_t result_counts[] = {31, 32, 40, 100};

TEST(History, AllResultsOfACallThatGoesAreWarnedOfHoweverMany) {
  for (const std::uint64_t count : result_counts) {
    const ManyResults many(count);
    std::vector<Warning> lost;
    for (std::uint64_t i = 0; i < count; ++i)
      lost.push_back({Warning::Code::tool_result_without_call, Ordinal(4 + i), "a"});
    EXPECT_EQ(applied(many.history, op::Delete{Names::indices({3})}).warnings, lost) << count;
    // An edited call is stored after its results.
    const History edited = after(many.history, op::Replace{Names::indices({3}), {call("a")}});
    EXPECT_EQ(applied(edited, op::Delete{Names::indices({3})}).warnings, lost) << count;
    const History long_before =
        after(edited, op::Insert{0, std::vector<Message>(2 * count, user("before"))});
    EXPECT_EQ(applied(long_before, op::Truncate{.remove_first = 2 * count + 4}).warnings, lost)
        << count;
  }
}

TEST(History, ACallIsWarnedOfWhenTheLastOfItsResultsGoesHoweverMany) {
  for (const std::uint64_t count : result_counts) {
    const ManyResults many(count);
    const std::vector<Warning> none,
        lost{{Warning::Code::tool_call_without_result, Ordinal(3), "a"}};
    EXPECT_EQ(applied(many.history, op::Delete{many.results(0, 1)}).warnings, none) << count;
    EXPECT_EQ(applied(many.history, op::Delete{many.results(0, count - 1)}).warnings, none)
        << count;
    EXPECT_EQ(applied(many.history, op::Delete{many.results(1, count)}).warnings, none) << count;
    EXPECT_EQ(applied(many.history, op::Delete{many.results(0, count)}).warnings, lost) << count;
  }
}

TEST(History, ShrinkDropsACallWithAllItsResultsAndNothingElse) {
  for (const std::uint64_t count : result_counts) {
    const ManyResults many(count);
    EXPECT_EQ(ordinals(after(many.history, op::Delete{Names::indices({3}), Pairs::shrink}).view()),
              many.without_unit());
    EXPECT_EQ(
        ordinals(after(many.history, op::Delete{many.results(0, count), Pairs::shrink}).view()),
        many.without_unit());
    EXPECT_EQ(
        ordinals(after(many.history, op::Delete{many.results(0, count - 1), Pairs::shrink}).view()),
        (Ordinals{0, 1, 2, 3, 3 + count, 4 + count, 5 + count, 6 + count}))
        << "a call stays with the last of its results";
  }
}

TEST(History, GrowKeepsACallWithAllItsResults) {
  for (const std::uint64_t count : result_counts) {
    const ManyResults many(count);
    const Ordinals all = ordinals(many.history.view());
    EXPECT_EQ(ordinals(after(many.history, op::Delete{Names::indices({3}), Pairs::grow}).view()),
              all)
        << count;
    EXPECT_EQ(ordinals(after(many.history, op::Delete{many.results(0, count), Pairs::grow}).view()),
              all)
        << count;
  }
}

TEST(History, ACallKeepsItsResultsWhenAnEditOfItWasUndoneBetweenThem) {
  History h = after(after(History(), op::Append{{user("q"), call("a"), result("a")}}),
                    op::Replace{Names::indices({1}), {call("a")}});
  h = after(after(h, op::Undo{}), op::Append{std::vector<Message>(50, result("a"))});
  EXPECT_EQ(applied(h, op::Delete{Names::indices({1})}).warnings.size(), 51u);
  EXPECT_EQ(after(h, op::Delete{Names::indices({1}), Pairs::shrink}).view().size(), 1u);
}

// Older releases know the first tags alone.
TEST(History, OnlyWhatMendsUnitsIsRecordedWithASecondTag) {
  const History h = after(History(), op::Append{{user("q"), call("a"), result("a"), user("z")}});
  const auto tag = [&](const Operation::What& what) { return record_of(after(h, what)).tag; };
  EXPECT_EQ(tag(op::Truncate{.keep_last = 2}), 4);
  EXPECT_EQ(tag(op::Filter{.roles = {Role::user}}), 6);
  EXPECT_EQ(tag(op::Delete{Names::indices({1})}), 7);
  EXPECT_EQ(tag(op::Delete{Names::indices({1}), Pairs::literal}), 7);
  for (const Pairs pairs : {Pairs::shrink, Pairs::grow}) {
    EXPECT_EQ(tag(op::Truncate{.keep_last = 2, .pairs = pairs}), 23);
    EXPECT_EQ(tag(op::Filter{.roles = {Role::user}, .pairs = pairs}), 24);
    EXPECT_EQ(tag(op::Delete{Names::indices({1}), pairs}), 25);
  }
  const History by_setting =
      h.apply({op::Delete{Names::indices({1})}}, {.now_ms = 1000, .pairs = Pairs::shrink})
          .value()
          .history;
  EXPECT_EQ(record_of(by_setting).tag, 25);
}

TEST(History, WhatMendsUnitsIsReplayedFromWhatItKept) {
  const History h =
      after(History(), op::Append{{user("q"), reasoning(), call("a"), result("a"), user("z")}});
  for (const Operation::What& what :
       {Operation::What(op::Delete{Names::indices({3}), Pairs::shrink}),
        Operation::What(op::Delete{Names::indices({3}), Pairs::grow}),
        Operation::What(op::Truncate{.keep_last = 2, .pairs = Pairs::shrink}),
        Operation::What(op::Truncate{.keep_last = 2, .pairs = Pairs::grow}),
        Operation::What(op::Filter{.roles = {Role::user, Role::tool}, .pairs = Pairs::shrink}),
        Operation::What(op::Filter{.roles = {Role::user, Role::tool}, .pairs = Pairs::grow})}) {
    const History made = after(h, what);
    RecordedOperation record = record_of(made);
    EXPECT_EQ(ordinals(replay(h, record, 1000, {}).value().history.view()), ordinals(made.view()));
    // Whatever a unit may be one day: the record decides.
    record.kept = {{1, 3}};
    EXPECT_EQ(ordinals(replay(h, record, 1000, {}).value().history.view()), (Ordinals{1, 2}));
  }
}

TEST(History, ARecordThatDoesNotSayWhatItKeptIsReplayedByWhatTheFirstReleasesKnew) {
  const Message shell =
      Message::parse(
          R"({"role":"assistant","content":[{"type":"shell_call","call_id":"s","action":{}}]})")
          .value();
  const Message output =
      Message::parse(
          R"({"role":"tool","content":[{"type":"shell_call_output","call_id":"s","output":[]}]})")
          .value();
  const History h =
      after(History(), op::Append{{reasoning(), call("a"), result("a"), user("z"), shell, output}});
  const op::Delete of_call{Names::indices({1, 4}), Pairs::shrink};
  constexpr std::uint8_t first_tag = 7;
  EXPECT_EQ(after(h, of_call).view().size(), 1u);
  EXPECT_EQ(replay(h, {{of_call}, {}, first_tag}, 1000, {}).value().history.view().size(), 3u)
      << "the reasoning and the output of the shell stay";
  EXPECT_FALSE(replay(h, {{of_call}}, 1000, {})) << "one of today says what it kept";
  const std::vector<Range> kept{{3, 4}};
  EXPECT_EQ(replay(h, {{of_call}, kept}, 1000, {}).value().history.view().size(), 1u);
}

// Release 0.1.0 found no more than 32 results on either side of one. The ordinals are what it kept.
TEST(History, ARecordOfTheFirstReleaseIsReplayedWithTheResultsThatItFound) {
  const auto rising = [](std::initializer_list<Range> ranges) {
    Ordinals all;
    for (const Range& range : ranges)
      for (std::uint64_t o = range.start; o < range.end; ++o) all.push_back(o);
    return all;
  };
  const auto with_results = [](std::uint64_t count) {
    op::Append all{{user("q"), call("c")}};
    all.messages.insert(all.messages.end(), count, result("c"));
    all.messages.push_back(user("end"));
    return after(History(), all);
  };
  const auto results = [](std::uint64_t count) {
    std::vector<std::uint64_t> indices(count);
    std::iota(indices.begin(), indices.end(), 2);
    return Names::indices(indices);
  };
  const auto replayed = [](const History& h, const Operation::What& what, std::uint8_t first_tag) {
    return ordinals(replay(h, {{what}, {}, first_tag}, 1000, {}).value().history.view());
  };
  const History forty = with_results(40), hundred = with_results(100);
  const op::Truncate last_grow{.keep_last = 2, .pairs = Pairs::grow},
      first_grow{.keep_first = 2, .pairs = Pairs::grow},
      last_shrink{.keep_last = 2, .pairs = Pairs::shrink},
      forty_shrink{.keep_last = 40, .pairs = Pairs::shrink};
  EXPECT_EQ(replayed(forty, last_grow, 4), rising({{1, 34}, {41, 43}}));
  EXPECT_EQ(replayed(hundred, last_grow, 4), rising({{1, 76}, {101, 103}}));
  EXPECT_EQ(replayed(forty, first_grow, 4), rising({{0, 42}}));
  EXPECT_EQ(replayed(hundred, first_grow, 4), rising({{0, 96}}));
  EXPECT_EQ(replayed(forty, last_shrink, 4), rising({{42, 43}}));
  EXPECT_EQ(replayed(hundred, op::Filter{.roles = {Role::assistant}, .pairs = Pairs::grow}, 6),
            rising({{1, 96}}));
  EXPECT_EQ(replayed(hundred, op::Filter{.roles = {Role::tool}, .pairs = Pairs::grow}, 6),
            rising({{1, 102}}));
  EXPECT_EQ(replayed(hundred, op::Delete{results(100), Pairs::grow}, 7),
            rising({{0, 96}, {102, 103}}));
  EXPECT_EQ(replayed(forty, op::Delete{results(39), Pairs::shrink}, 7), rising({{0, 1}, {42, 43}}));
  EXPECT_EQ(ordinals(after(forty, op::Delete{results(39), Pairs::shrink}).view()),
            rising({{0, 2}, {41, 43}}))
      << "unlike today";
  // An edited call is stored after its results.
  const op::Replace edit{Names::indices({1}), {call("c")}};
  const History forty_edited = after(forty, edit), hundred_edited = after(hundred, edit);
  const op::Delete of_call{Names::indices({1}), Pairs::shrink};
  EXPECT_EQ(replayed(forty_edited, of_call, 7), rising({{0, 1}, {2, 11}, {42, 43}}));
  EXPECT_EQ(replayed(hundred_edited, of_call, 7), rising({{0, 1}, {2, 71}, {102, 103}}));
  EXPECT_EQ(replayed(hundred_edited, forty_shrink, 4), rising({{63, 71}, {102, 103}}));
  EXPECT_EQ(replayed(forty_edited, op::Truncate{.keep_last = 3, .pairs = Pairs::grow}, 4),
            rising({{43, 44}, {40, 43}}));
}

TEST(History, ResultsOfDifferentCallsAreNotMerged) {
  const History h =
      after(History(), op::Append{{call("a"), call("b"), result("a"), result("b"), result("a")}});
  const Result<Step> refused = h.apply({op::Merge{{2, 3}}}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().field, "indices");
  EXPECT_EQ(texts(after(h, op::Merge{{2, 4}, "+"}).view()), "  r+r r ");
}

TEST(History, RollingBackToBeforeAResultWarnsOfTheCallThatStays) {
  History h = after(History(), op::Append{{user("q"), call("c1")}});
  h = after(h, op::StartBatch{});
  h = after(h, op::Append{{result("c1"), user("more")}});
  const std::vector<Warning> warnings = applied(h, op::Rollback{0}).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], (Warning{Warning::Code::tool_call_without_result, Ordinal(1), "c1"}));
  EXPECT_TRUE(applied(h, op::EndBatch{0, {Role::tool}}).warnings.empty())
      << "the result was carried along";
}

TEST(History, DiffSaysNoMoreThanNeededHasMoved) {
  History h = after(History(), op::Append{{user("a"), user("b"), user("c"), user("d")}});
  const Version before = h.version();
  MarkMap map;
  map.original_indices = {3, 0, 1, 2};
  map.batch_boundaries = map.boundary_to_batch = {0};
  h = after(h, op::ImportMarkMap{map});
  const Diff diff = h.diff(before, h.version()).value();
  EXPECT_TRUE(diff.removed.empty());
  EXPECT_TRUE(diff.added.empty());
  EXPECT_EQ(diff.moved, std::vector<std::uint64_t>{3});
}

struct BadMap {
  const char* what;
  const char* field;
  std::function<void(MarkMap&)> spoil;
};

TEST(MarkMapImport, AMapThatDoesNotHoldTogetherIsRefusedWithTheReasonAndNothingChanges) {
  History h = after(History(), op::Append{{system("s"), user("a"), user("b")}});
  h = after(h, op::Insert{0, {user("x")}});
  const MarkMap good = h.mark_map();
  EXPECT_EQ(after(h, op::ImportMarkMap{good}).mark_map().original_indices, good.original_indices);
  const BadMap bad[] = {
      {"lengths differ", "boundaryToBatch", [](MarkMap& m) { m.boundary_to_batch.push_back(2); }},
      {"no first boundary", "batchBoundaries",
       [](MarkMap& m) { m.batch_boundaries.clear(), m.boundary_to_batch.clear(); }},
      {"first boundary not 0", "batchBoundaries", [](MarkMap& m) { m.batch_boundaries[0] = 1; }},
      {"boundaries fall", "batchBoundaries",
       [](MarkMap& m) { m.batch_boundaries = {0, 3, 2}, m.boundary_to_batch = {0, 1, 2}; }},
      {"a boundary beyond the log", "batchBoundaries",
       [](MarkMap& m) { m.batch_boundaries[1] = 5; }},
      {"current batch absent", "currentBatch", [](MarkMap& m) { m.current_batch = 7; }},
      {"a batch number twice", "boundaryToBatch", [](MarkMap& m) { m.boundary_to_batch = {1, 1}; }},
      {"a gap in the batch numbers", "boundaryToBatch",
       [](MarkMap& m) { m.boundary_to_batch = {0, 2}, m.current_batch = 2; }},
      {"an index beyond the log", "originalIndices", [](MarkMap& m) { m.original_indices[0] = 4; }},
      {"an index twice", "originalIndices",
       [](MarkMap& m) { m.original_indices[0] = m.original_indices[1]; }},
      {"indices of a role that are not", "typeIndices",
       [](MarkMap& m) { m.type_indices[0] = {1}; }},
  };
  for (const BadMap& b : bad) {
    MarkMap map = good;
    b.spoil(map);
    const Result<Step> step = h.apply({op::ImportMarkMap{map}}, {});
    ASSERT_FALSE(step) << b.what;
    EXPECT_EQ(step.error().code, ErrorCode::invalid_argument) << b.what;
    EXPECT_EQ(step.error().field, b.field) << b.what;
    EXPECT_FALSE(step.error().message.empty()) << b.what;
  }
}

TEST(MarkMapImport, AnImportedMapCanBeRolledBackInAndUndone) {
  History h = after(History(), op::Append{{system("s"), user("a"), user("b"), user("c")}});
  MarkMap map;
  map.original_indices = {0, 3, 1};
  map.batch_boundaries = {0, 2};
  map.boundary_to_batch = {0, 1};
  map.current_batch = 1;
  h = after(h, op::ImportMarkMap{map});
  EXPECT_EQ(texts(h.view()), "s c a ");
  EXPECT_EQ(texts(after(h, op::Rollback{0}).view()), "s a ");
  EXPECT_EQ(texts(after(h, op::Undo{}).view()), "s a b c ");
}

TEST(History, TheMarksOfAMessageAreThoseOfItsVersion) {
  const History plain = after(History(), op::Append{{user("a"), user("b")}});
  History h = after(plain, op::Mark{Names::indices({0, 1}), "later"});
  h = after(h, op::Mark{Names::indices({1}), "early"});
  h = after(h, op::Unmark{Names::indices({0}), "later"});
  EXPECT_TRUE(h.marks_of(Ordinal(0)).empty());
  EXPECT_EQ(h.marks_of(Ordinal(1)), (std::vector<std::string>{"early", "later"}));
  EXPECT_EQ(h.fork(Version(2)).value().marks_of(Ordinal(0)), std::vector<std::string>{"later"});
  EXPECT_TRUE(plain.marks_of(Ordinal(1)).empty());
  EXPECT_TRUE(h.marks_of(Ordinal(7)).empty());
}

TEST(View, TheLargestTailThatFitsIsFoundWithoutAWalk) {
  op::Append append{{user("a"), user("b"), user("c")}};
  const History h =
      History()
          .apply({append},
                 {.count_tokens = [](const Message& m) { return m.text() == "b" ? 10u : 1u; }})
          .value()
          .history;
  EXPECT_EQ(h.view().tail_within(0), 3u);
  EXPECT_EQ(h.view().tail_within(1), 2u);
  EXPECT_EQ(h.view().tail_within(10), 2u);
  EXPECT_EQ(h.view().tail_within(11), 1u);
  EXPECT_EQ(h.view().tail_within(12), 0u);
}

TEST(View, IndexOfRoleCountsFromTheFirst) {
  const History h = after(History(), op::Append{{system("s"), user("a"), call("c"), user("b")}});
  EXPECT_EQ(h.view().index_of_role(Role::user, 1), 3u);
  EXPECT_EQ(h.view().index_of_role(Role::user, 2), std::nullopt);
  EXPECT_EQ(h.log().index_of_role(Role::assistant, 0), 2u);
}

}  // namespace
}  // namespace undertext
