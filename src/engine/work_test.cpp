// Limits of a call: what they refuse has changed nothing.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>
#include <undertext/store_ledger.hpp>

namespace undertext {
namespace {

Operation append(const std::string& text) {
  return {op::Append{{Message::make(Role::user, text).value()}}};
}
Operation replace_all(std::string find, std::string with) {
  return {
      op::Transform{std::vector<Role>{Role::user}, ReplaceText{std::move(find), std::move(with)}}};
}

TEST(WorkLimits, BytesThatAListMakesAreCappedAndTheListChangesNothing) {
  Conversation conversation;
  conversation.apply(append(std::string(1000, 'a'))).value();
  const auto work = std::make_shared<Work>(WorkLimits{.bytes_made_max = 2500});
  const Result<std::vector<Outcome>> refused = conversation.apply(
      {replace_all("a", "b"), replace_all("b", "c"), replace_all("c", "d")}, work);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
  EXPECT_EQ(refused.error().operation_index, 2u);
  EXPECT_EQ(conversation.version(), Version(1));
  EXPECT_TRUE(conversation.apply({replace_all("a", "b"), replace_all("b", "c")},
                                 std::make_shared<Work>(WorkLimits{.bytes_made_max = 2500})));
}

TEST(WorkLimits, ACopyInWhichNothingChangesSharesItsBytesAndMakesNone) {
  Conversation conversation;
  conversation.apply(append(std::string(1000, 'a'))).value();
  const auto work = std::make_shared<Work>(WorkLimits{.bytes_made_max = 0});
  ASSERT_TRUE(conversation.apply(std::vector<Operation>(50, replace_all("x", "y")), work));
  EXPECT_EQ(work->bytes_made(), 0u);
  const View log = conversation.history().log();
  ASSERT_EQ(log.size(), 51u);
  EXPECT_EQ(log[50].json().data(), log[0].json().data());
}

TEST(WorkLimits, AnInterruptedListChangesNothingAndTheNextOneIsNotInterrupted) {
  Conversation conversation;
  conversation.apply(append("one")).value();
  int questions = 0;
  const auto work = std::make_shared<Work>(WorkLimits{.interrupted = [&]() -> Result<void> {
    if (++questions < 5) return {};
    return Error{ErrorCode::unavailable, "enough"};
  }});
  const Result<std::vector<Outcome>> ended =
      conversation.apply(std::vector<Operation>(100, replace_all("one", "two")), work);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::unavailable);
  EXPECT_LT(questions, 10);
  EXPECT_EQ(conversation.version(), Version(1));
  EXPECT_TRUE(conversation.apply(append("two")));
  EXPECT_EQ(conversation.view()[1].text(), "two");
}

TEST(WorkLimits, AReaderOfALimitedHistoryIsInterruptedAndOthersAreNot) {
  Conversation conversation;
  for (int k = 0; k < 10; ++k) conversation.apply(append("text")).value();
  const auto enough = [] { return Result<void>(Error{ErrorCode::unavailable, "enough"}); };
  const auto work = std::make_shared<Work>(WorkLimits{.interrupted = enough});
  EXPECT_EQ(conversation.history().limited(work).count({.contains = "text"}).error().code,
            ErrorCode::unavailable);
  EXPECT_EQ(conversation.count({.contains = "text"}).value().count, 10u);
}

TEST(WorkLimits, ASearchIsInterruptedWhileItIndexesAndTheNextOneContinues) {
  Conversation conversation;
  for (int k = 0; k < 100; ++k) conversation.apply(append("walnut " + std::to_string(k))).value();
  const RecallQuery query{.text = "walnut", .which = {.all = true}};
  int questions = 0;
  const auto search = [&](int questions_max) {
    questions = 0;
    const auto work = std::make_shared<Work>(
        WorkLimits{.interrupted = [&questions, questions_max]() -> Result<void> {
          if (++questions <= questions_max) return {};
          return Error{ErrorCode::unavailable, "enough"};
        }});
    return conversation.recall(query, conversation.history().limited(work));
  };
  EXPECT_EQ(search(60).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(search(1'000'000));
  const int for_the_rest = questions;
  EXPECT_TRUE(search(1'000'000));
  EXPECT_EQ(for_the_rest - questions, 40);  // one for each message that was not indexed yet
}

// Allows so many questions; nothing more than that is asked for nothing.
struct Questions {
  int most = 1'000'000;
  int asked = 0;
  std::shared_ptr<Work> work() {
    return std::make_shared<Work>(WorkLimits{.interrupted = [this]() -> Result<void> {
      if (++asked <= most) return {};
      return Error{ErrorCode::unavailable, "enough"};
    }});
  }
};

// Of one model, answered and reported.
void record_turn(Conversation& conversation, int turn) {
  const std::string text = "turn " + std::to_string(turn);
  conversation.apply(append(text)).value();
  RequestRecord record;
  record.version = conversation.version();
  record.at_ms = 1'790'000'000'000 + turn;
  record.dialect = "anthropic";
  record.model = "claude-sonnet-4-5";
  record.status = 200;
  record.usage = {
      .request_id = text, .model = record.model, .prompt = 10'000, .cache_written = 10'000};
  const std::string request = R"({"messages":[{"role":"user","content":")" + text + R"("}]})";
  conversation.record_request(record, request, "an answer").value();
}

TEST(WorkLimits, WhatReadsRecordedRequestsEndsWithItsWorkAndWithoutItDoesNot) {
  Conversation conversation;
  constexpr int turns = 30;
  for (int turn = 0; turn < turns; ++turn) record_turn(conversation, turn);
  Questions none{.most = 0};
  const auto refused = [](const auto& result) {
    return !result && result.error().code == ErrorCode::unavailable;
  };
  EXPECT_TRUE(refused(conversation.requests({}, none.work())));
  EXPECT_TRUE(refused(conversation.raw_request(2, none.work())));
  EXPECT_TRUE(refused(conversation.raw_answer(2, none.work())));
  EXPECT_TRUE(refused(conversation.cache_break(2, {}, none.work())));
  EXPECT_TRUE(refused(conversation.ledger({}, none.work())));
  EXPECT_TRUE(refused(conversation.what_if("observe", {}, none.work())));
  // They ask for each turn, so that they end within the time that one takes.
  Questions of_ledger, of_what_if;
  EXPECT_EQ(conversation.ledger({}, of_ledger.work()).value().turns.size(), std::size_t{turns});
  EXPECT_GE(of_ledger.asked, turns);
  EXPECT_EQ(conversation.what_if("observe", {}, of_what_if.work()).value().turns,
            std::uint64_t{turns});
  EXPECT_GE(of_what_if.asked, turns);
  for (const int most : {of_ledger.asked / 2, of_ledger.asked - 1}) {
    Questions some{.most = most};
    EXPECT_TRUE(refused(conversation.ledger({}, some.work()))) << "after " << most;
    EXPECT_EQ(some.asked, most + 1);
  }
  EXPECT_EQ(conversation.ledger().value().turns.size(), std::size_t{turns});
}

TEST(WorkLimits, TheLedgerOfAStoreEndsBetweenTwoConversations) {
  const std::shared_ptr<Store> store = memory_store();
  constexpr int conversations = 8;
  for (int k = 0; k < conversations; ++k) {
    Conversation conversation = Conversation::open(store, "c" + std::to_string(k)).value();
    record_turn(conversation, k);
  }
  Questions all, some{.most = 10};
  EXPECT_FALSE(store_ledger(store, {}, all.work()).value().empty());
  EXPECT_GE(all.asked, conversations);
  EXPECT_EQ(store_ledger(store, {}, some.work()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(some.asked, some.most + 1);
}

TEST(Retention, AVersionWhoseTimeIsBeforeAnEarlierOnesIsNotTakenForOld) {
  constexpr std::int64_t day_ms = 86'400'000;
  std::int64_t now = 20'000 * day_ms;
  Conversation conversation =
      Conversation::open(memory_store(), "a", {.clock_ms = [&] { return now; }}).value();
  for (int k = 0; k < 3; ++k) conversation.apply(append("old")).value();  // versions 1 to 3
  now += 100 * day_ms;
  conversation.apply(append("young")).value();  // 4
  now = 0;
  conversation.apply(append("from 1970, says the clock")).value();  // 5
  now = 20'100 * day_ms + 1000;
  conversation.apply(append("young")).value();  // 6
  EXPECT_EQ(conversation.prune_versions({.days = 30}).value().first_version, Version(4));
}

}  // namespace
}  // namespace undertext
