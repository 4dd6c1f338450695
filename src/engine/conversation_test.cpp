#include <undertext/conversation.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace undertext {
namespace {

Message message(const std::string& role, const std::string& text) {
  return Message::parse(R"({"role":")" + role + R"(","content":")" + text + R"("})").value();
}
Operation append(const std::string& text) { return {op::Append{{message("user", text)}}}; }
Operation append(const std::string& text, OperationOptions options) {
  return {op::Append{{message("user", text)}}, std::move(options)};
}

std::vector<std::string> texts(const Conversation& conversation) {
  std::vector<std::string> result;
  for (const Message& each : conversation.view()) result.push_back(each.text());
  return result;
}

// What a subscriber heard, as "TYPE number".
std::string heard(const Event& event) {
  std::string result(name(event.type));
  if (event.type == Event::Type::message_added) result += " " + std::to_string(event.ordinal.value);
  if (event.type == Event::Type::batch_opened || event.type == Event::Type::rolled_back)
    result += " " + std::to_string(event.batch.value);
  if (event.type == Event::Type::token_limit_exceeded) {
    result += " " + std::to_string(event.tokens_used) + " of " + std::to_string(event.token_limit);
  }
  return result;
}

TEST(Conversation, AnOperationMakesOneVersion) {
  Conversation conversation;
  EXPECT_EQ(conversation.version(), Version(0));
  const Outcome outcome = conversation.apply(append("a")).value();
  EXPECT_EQ(outcome.operation, "APPEND");
  EXPECT_EQ(outcome.version, Version(1));
  EXPECT_EQ(conversation.version(), Version(1));
  EXPECT_EQ(texts(conversation), std::vector<std::string>{"a"});
}

TEST(Conversation, ASnapshotTakenBeforeAnEditStillReadsTheOldMessages) {
  Conversation conversation;
  conversation.apply(append("a")).value();
  const History before = conversation.history();
  conversation.apply(Operation{op::Clear{false}}).value();
  EXPECT_EQ(before.view().size(), 1u);
  EXPECT_EQ(conversation.view().size(), 0u);
}

TEST(Conversation, SubscribersHearWhatHappenedInOrder) {
  Conversation conversation = Conversation::open({.token_limit = 11}).value();
  std::vector<std::string> events;
  const Subscription subscription =
      conversation.subscribe([&](const Event& event) { events.push_back(heard(event)); });
  const auto take = [&] { return std::exchange(events, {}); };
  using Strings = std::vector<std::string>;

  conversation.apply(Operation{op::Append{{message("user", "a"), message("user", "b")}}}).value();
  EXPECT_EQ(take(), (Strings{"MESSAGE_ADDED 0", "MESSAGE_ADDED 1", "CONTEXT_CHANGED"}));
  conversation.apply(Operation{op::Insert{0, {message("user", "c")}}}).value();
  EXPECT_EQ(take(), (Strings{"MESSAGE_ADDED 2", "BATCH_OPENED 1", "TOKEN_LIMIT_EXCEEDED 15 of 11",
                             "CONTEXT_CHANGED"}));
  conversation.apply(append("d")).value();  // above already: no second crossing
  EXPECT_EQ(take(), (Strings{"MESSAGE_ADDED 3", "CONTEXT_CHANGED"}));
  conversation.apply(Operation{op::Rollback{0}}).value();
  EXPECT_EQ(take(), (Strings{"ROLLED_BACK 0", "CONTEXT_CHANGED"}));
  conversation.apply(Operation{op::Undo{}}).value();
  EXPECT_EQ(take(), (Strings{"TOKEN_LIMIT_EXCEEDED 20 of 11", "CONTEXT_CHANGED"}));
  EXPECT_FALSE(conversation.apply(Operation{op::Rollback{9}}));
  EXPECT_EQ(take(), Strings{});
}

TEST(Conversation, ASubscriberSeesTheChangeItIsToldOf) {
  Conversation conversation;
  std::uint64_t seen = 0;
  const Subscription subscription = conversation.subscribe([&](const Event& event) {
    EXPECT_EQ(conversation.version(), event.version);
    seen = conversation.view().size();
  });
  conversation.apply(append("a")).value();
  EXPECT_EQ(seen, 1u);
}

TEST(Conversation, TheEventsOfAListComeAfterAllOfIt) {
  Conversation conversation;
  std::vector<std::uint64_t> versions;
  const Subscription subscription = conversation.subscribe([&](const Event& event) {
    EXPECT_EQ(conversation.version(), Version(2));
    if (event.type == Event::Type::context_changed) versions.push_back(event.version.value);
  });
  conversation.apply(std::vector{append("a"), append("b")}).value();
  EXPECT_EQ(versions, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Conversation, ASubscriptionEndsWhenItIsDestroyed) {
  Conversation conversation;
  int calls = 0;
  {
    const Subscription subscription = conversation.subscribe([&](const Event&) { ++calls; });
    conversation.apply(append("a")).value();
  }
  const int before = calls;
  conversation.apply(append("b")).value();
  EXPECT_EQ(calls, before);
}

TEST(Conversation, ASubscriptionMayOutliveItsConversation) {
  Subscription subscription;
  {
    Conversation conversation;
    subscription = conversation.subscribe([](const Event&) {});
  }
  subscription = {};
}

TEST(Conversation, ASubscriberMayEndItsOwnSubscriptionAndOthers) {
  Conversation conversation;
  std::vector<int> called;
  Subscription first, second, third;
  first = conversation.subscribe([&](const Event&) {
    called.push_back(1);
    first = {};
    second = {};
  });
  second = conversation.subscribe([&](const Event&) { called.push_back(2); });
  third = conversation.subscribe([&](const Event& event) {
    if (event.type == Event::Type::context_changed) called.push_back(3);
  });
  conversation.apply(append("a")).value();
  EXPECT_EQ(called, (std::vector{1, 3}));
}

TEST(Conversation, AnExceptionFromASubscriberDoesNotReachTheWriterOrTheOthers) {
  Conversation conversation;
  int told = 0;
  const Subscription throwing =
      conversation.subscribe([](const Event&) { throw std::runtime_error("no"); });
  const Subscription counting = conversation.subscribe([&](const Event&) { ++told; });
  EXPECT_TRUE(conversation.apply(append("a")));
  EXPECT_EQ(told, 2);
}

TEST(Conversation, ASubscriberThatTriesToChangeTheConversationIsRefused) {
  Conversation conversation;
  bool refused = false;
  const Subscription subscription = conversation.subscribe([&](const Event&) {
    refused = !conversation.apply(append("b")) && !conversation.apply(std::vector{append("b")});
  });
  conversation.apply(append("a")).value();
  EXPECT_TRUE(refused);
  EXPECT_EQ(conversation.version(), Version(1));
}

TEST(Conversation, ExpectedVersionRefusesWhenSomebodyWasFirst) {
  Conversation conversation;
  conversation.apply(append("a")).value();
  const Result<Outcome> late = conversation.apply(append("b", {.expected_version = Version(0)}));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::conflict);
  EXPECT_TRUE(conversation.apply(append("b", {.expected_version = Version(1)})));
  // Within a list each operation expects what the one before it made.
  EXPECT_TRUE(conversation.apply(std::vector{append("c", {.expected_version = Version(2)}),
                                             append("d", {.expected_version = Version(3)})}));
}

TEST(Conversation, ARepeatedOperationIdAnswersAsTheFirstTimeAndChangesNothing) {
  Conversation conversation = Conversation::open({.token_limit = 1}).value();
  int told = 0;
  const Subscription subscription = conversation.subscribe([&](const Event&) { ++told; });
  const Outcome first = conversation.apply(append("a", {.operation_id = "x"})).value();
  conversation.apply(append("b")).value();
  const int told_before = std::exchange(told, 0);
  EXPECT_EQ(told_before, 5);
  const Outcome again =
      conversation
          .apply(Operation{op::Clear{}, {.expected_version = Version(77), .operation_id = "x"}})
          .value();
  EXPECT_EQ(again.operation, "APPEND");
  EXPECT_EQ(again.version, first.version);
  EXPECT_EQ(again.stats.total_messages, 1u);
  ASSERT_EQ(again.events.size(), 1u);
  EXPECT_EQ(again.events[0].tokens_used, first.events[0].tokens_used);
  EXPECT_EQ(conversation.version(), Version(2));
  EXPECT_EQ(told, 0);
}

TEST(Conversation, AnOperationThatFailedIsNotRemembered) {
  Conversation conversation;
  EXPECT_FALSE(conversation.apply(Operation{op::Undo{}, {.operation_id = "x"}}));
  EXPECT_EQ(conversation.apply(append("a", {.operation_id = "x"})).value().operation, "APPEND");
  EXPECT_FALSE(conversation.apply(
      std::vector{append("b", {.operation_id = "y"}), Operation{op::Rollback{9}}}));
  EXPECT_EQ(conversation.apply(append("c", {.operation_id = "y"})).value().version, Version(2));
}

TEST(Conversation, AnOperationIdMayRepeatWithinAList) {
  Conversation conversation;
  const std::vector<Outcome> outcomes =
      conversation
          .apply(std::vector{append("a", {.operation_id = "x"}), append("b"),
                             append("c", {.operation_id = "x"})})
          .value();
  EXPECT_EQ(outcomes[2].version, Version(1));
  EXPECT_EQ(texts(conversation), (std::vector<std::string>{"a", "b"}));
}

TEST(Conversation, AListIsAllOrNothing) {
  Conversation conversation;
  conversation.apply(append("a")).value();
  const Result<std::vector<Outcome>> failed =
      conversation.apply(std::vector{append("b"), append("c"), Operation{op::Rollback{9}}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().operation_index, 2u);
  EXPECT_EQ(failed.error().field, "targetBatchIndex");
  EXPECT_EQ(conversation.version(), Version(1));
  EXPECT_EQ(conversation.stats().total_messages, 1u);
  EXPECT_EQ(conversation.apply(std::vector{append("b"), append("c")}).value().size(), 2u);
  EXPECT_EQ(conversation.version(), Version(3));
}

TEST(Conversation, AnEmptyListIsRefused) {
  Conversation conversation;
  const Result<std::vector<Outcome>> outcomes = conversation.apply(std::vector<Operation>{});
  ASSERT_FALSE(outcomes);
  EXPECT_EQ(outcomes.error().code, ErrorCode::invalid_argument);
}

TEST(Conversation, NothingDoneToAForkShowsInTheOther) {
  Conversation conversation;
  conversation.apply(append("a", {.operation_id = "x"})).value();
  conversation.apply(append("b")).value();
  int told = 0;
  const Subscription subscription = conversation.subscribe([&](const Event&) { ++told; });
  Conversation fork = conversation.fork(Version(1)).value();
  EXPECT_EQ(texts(fork), std::vector<std::string>{"a"});
  fork.apply(append("c", {.operation_id = "x"})).value();
  EXPECT_EQ(told, 0);
  EXPECT_EQ(texts(fork), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(texts(conversation), (std::vector<std::string>{"a", "b"}));
  conversation.apply(append("d")).value();
  EXPECT_EQ(texts(fork), (std::vector<std::string>{"a", "c"}));
  const Result<Conversation> none = conversation.fork(Version(99));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

TEST(Conversation, TheClockIsTheOneInTheSettings) {
  std::int64_t now = 5;
  Conversation conversation = Conversation::open({.clock_ms = [&] { return now; }}).value();
  conversation.apply(append("a")).value();
  now = 9;
  conversation.apply(std::vector{append("b"), append("c")}).value();
  EXPECT_EQ(conversation.history().version_info(Version(1)).timestamp_ms, 5);
  EXPECT_EQ(conversation.history().version_info(Version(3)).timestamp_ms, 9);
}

// A conversation whose hidden messages say "kettle", the first of them best by its words; the
// model prefers what is red, and blue least of all.
Settings ranked_by(std::function<void()> on_rank) {
  return {.rerank = [on_rank = std::move(on_rank)](const std::string&,
                                                   const std::vector<std::string>& all) {
    on_rank();
    std::vector<double> fits;
    for (const std::string& text : all)
      fits.push_back(text.find("red") != text.npos ? 1 : text.find("blue") != text.npos ? -1 : 0);
    return Result<std::vector<double>>(fits);
  }};
}
void hide_kettles(Conversation& conversation) {
  conversation.apply(append("kettle, the kettle that is blue")).value();
  for (int i = 0; i < 12; ++i) conversation.apply(append("nothing " + std::to_string(i))).value();
  conversation.apply(append("some other kettle upon its shelf")).value();
  for (int i = 0; i < 12; ++i) conversation.apply(append("no more " + std::to_string(i))).value();
  conversation.apply(append("a red kettle that stood there for quite a while")).value();
  conversation.apply({op::Clear{false}}).value();
}
bool quotes_red_first(const Conversation& conversation) {
  const std::string quoted = conversation.view()[0].text();
  return quoted.find("a red kettle") < quoted.find("that is blue");
}

TEST(Conversation, OthersAppendWhileAModelRanksForARecall) {
  std::unique_ptr<Conversation> conversation;
  std::future<bool> other;
  bool has_appended = false;
  conversation = std::make_unique<Conversation>(
      Conversation::open(ranked_by([&] {
        other = std::async(std::launch::async,
                           [&] { return bool(conversation->apply(append("new"))); });
        has_appended = other.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
      })).value());
  hide_kettles(*conversation);
  const Version before = conversation->version();
  ASSERT_TRUE(conversation->apply({op::Recall{.text = "kettle"}}));
  ASSERT_TRUE(other.valid());
  EXPECT_TRUE(has_appended);
  EXPECT_TRUE(other.get());
  EXPECT_EQ(conversation->version(), Version(before.value + 2));
  EXPECT_EQ(conversation->view()[0].text(), "new");
  EXPECT_NE(conversation->view()[1].text().find("red kettle"), std::string::npos);
}

TEST(Conversation, ARecallQuotesInTheOrderOfTheModel) {
  Conversation by_words, by_model = Conversation::open(ranked_by([] {})).value();
  for (Conversation* const each : {&by_words, &by_model}) {
    hide_kettles(*each);
    each->apply({op::Recall{.text = "kettle"}}).value();
  }
  EXPECT_FALSE(quotes_red_first(by_words));
  EXPECT_TRUE(quotes_red_first(by_model));
}

TEST(Conversation, ARecallWithinAListAsksNoModel) {
  int asked = 0;
  Conversation conversation = Conversation::open(ranked_by([&] { ++asked; })).value();
  hide_kettles(conversation);
  conversation.apply(std::vector<Operation>{{op::Recall{.text = "kettle"}}}).value();
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(quotes_red_first(conversation));
}

TEST(Conversation, ARepeatedRecallAsksTheModelOnce) {
  int asked = 0;
  Conversation conversation = Conversation::open(ranked_by([&] { ++asked; })).value();
  hide_kettles(conversation);
  const Operation recall{op::Recall{.text = "kettle"}, {.operation_id = "once"}};
  const Outcome first = conversation.apply(recall).value();
  EXPECT_EQ(conversation.apply(recall).value().version, first.version);
  EXPECT_EQ(asked, 1);
}

TEST(Conversation, ARecallIsRankedByItsWordsWhereTheModelFails) {
  Conversation conversation =
      Conversation::open({.rerank = [](const std::string&, const std::vector<std::string>&)
                              -> Result<std::vector<double>> {
        throw Failure(Error{ErrorCode::unavailable, "no answer"});
      }}).value();
  hide_kettles(conversation);
  conversation.apply({op::Recall{.text = "kettle"}}).value();
  EXPECT_FALSE(quotes_red_first(conversation));
}

TEST(Conversation, ATokenizerThatNobodyKnowsIsNotFound) {
  const Result<Conversation> conversation = Conversation::open({.tokenizer = "nobody knows"});
  ASSERT_FALSE(conversation);
  EXPECT_EQ(conversation.error().code, ErrorCode::not_found);
  EXPECT_EQ(conversation.error().field, "tokenizer");
}

TEST(Conversation, EveryEventTypeHasAName) {
  for (int type = 0; type <= static_cast<int>(Event::Type::rewritten); ++type) {
    EXPECT_FALSE(name(static_cast<Event::Type>(type)).empty());
  }
}

TEST(Conversation, AFunctionThatTransformsMayReadTheConversationButNotChangeIt) {
  Conversation conversation;
  const Message hello = Message::make(Role::user, "hello").value();
  conversation.apply({op::Append{{hello}}}).value();
  std::optional<ErrorCode> inside;
  const op::TransformFunction change = [&](const Message& message) {
    inside = conversation.apply({op::Append{{hello}}}).error().code;
    EXPECT_EQ(conversation.view().size(), 1u);
    return Result<Message>(message);
  };
  conversation.apply({op::Transform{Names::indices({0}), change}}).value();
  EXPECT_EQ(inside, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace undertext
