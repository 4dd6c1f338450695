// Limits of a call: what they refuse has changed nothing.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

namespace undertext {
namespace {

Operation append(const std::string& text) { return {op::Append{{Message::make(Role::user, text).value()}}}; }
Operation replace_all(std::string find, std::string with) {
  return {op::Transform{std::vector<Role>{Role::user}, ReplaceText{std::move(find), std::move(with)}}};
}

TEST(WorkLimits, BytesThatAListMakesAreCappedAndTheListChangesNothing) {
  Conversation conversation;
  conversation.apply(append(std::string(1000, 'a'))).value();
  const auto work = std::make_shared<Work>(WorkLimits{.bytes_made_max = 2500});
  const Result<std::vector<Outcome>> refused =
      conversation.apply({replace_all("a", "b"), replace_all("b", "c"), replace_all("c", "d")}, work);
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
  const auto work = std::make_shared<Work>(WorkLimits{.interrupted = [&]() -> std::optional<Error> {
    if (++questions < 5) return std::nullopt;
    return Error{ErrorCode::unavailable, "enough"};
  }});
  const Result<std::vector<Outcome>> ended = conversation.apply(std::vector<Operation>(100, replace_all("one", "two")), work);
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
  const auto work =
      std::make_shared<Work>(WorkLimits{.interrupted = [] { return std::optional(Error{ErrorCode::unavailable, "enough"}); }});
  EXPECT_EQ(conversation.history().limited(work).count({.contains = "text"}).error().code, ErrorCode::unavailable);
  EXPECT_EQ(conversation.count({.contains = "text"}).value().count, 10u);
}

TEST(Retention, AVersionWhoseTimeIsBeforeAnEarlierOnesIsNotTakenForOld) {
  constexpr std::int64_t day_ms = 86'400'000;
  std::int64_t now = 20'000 * day_ms;
  Conversation conversation = Conversation::open(memory_store(), "a", {.clock_ms = [&] { return now; }}).value();
  for (int k = 0; k < 3; ++k) conversation.apply(append("old")).value();  // versions 1 to 3
  now += 100 * day_ms;
  conversation.apply(append("young")).value();  // 4
  now = 0;
  conversation.apply(append("from 1970, says the clock")).value();  // 5
  now = 20'100 * day_ms + 1000;
  conversation.apply(append("young")).value();  // 6
  EXPECT_EQ(conversation.give_up_versions({.days = 30}).value().first_version, Version(4));
}

}  // namespace
}  // namespace undertext
