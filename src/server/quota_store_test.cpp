#include "server/quota_store.hpp"

#include <future>
#include <string>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

#include "../../tests/store/failing_store.hpp"

namespace undertext {
namespace {

using test::FailingStore;

constexpr std::uint64_t kib = 1 << 10;

std::shared_ptr<std::atomic<std::uint64_t>> refusals() {
  return std::make_shared<std::atomic<std::uint64_t>>(0);
}

Operation append(std::size_t size) {
  return {op::Append{{Message::make(Role::user, std::string(size, 'x')).value()}}};
}

TEST(QuotaStore, CommitsAtTheSameTimeDoNotFitTogetherWhereOneFits) {
  const auto inner = std::make_shared<FailingStore>(memory_store());
  const auto refused = refusals();
  const std::shared_ptr<Store> store = within_quota(inner, {.bytes_max = 100 * kib}, refused);
  for (const char* id : {"a", "b"}) Conversation::open(store, id).value();
  Conversation first = Conversation::open(store, "a").value(),
               second = Conversation::open(store, "b").value();
  // The first commit is held up in the store until the second was answered.
  std::promise<void> is_in_store, goes_on;
  std::atomic<bool> is_first = true;
  inner->before_each_commit([&] {
    if (!is_first.exchange(false)) return;
    is_in_store.set_value();
    goes_on.get_future().wait();
  });
  std::future<Result<Outcome>> one =
      std::async(std::launch::async, [&] { return first.apply(append(60 * kib)); });
  is_in_store.get_future().wait();
  const Result<Outcome> other = second.apply(append(60 * kib));
  goes_on.set_value();
  EXPECT_TRUE(one.get());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::too_large);
  EXPECT_EQ(other.error().field, "quota");
  EXPECT_EQ(refused->load(), 1u);
  EXPECT_TRUE(second.apply(append(10 * kib)));
}

TEST(QuotaStore, WhatACommitThatFailedWouldHaveTakenIsFreeAgain) {
  const auto inner = std::make_shared<FailingStore>(memory_store());
  const std::shared_ptr<Store> store = within_quota(inner, {.bytes_max = 100 * kib}, refusals());
  Conversation conversation = Conversation::open(store, "a").value();
  for (int i = 0; i < 5; ++i) {
    inner->refuse_changes(i % 2 == 0 ? ErrorCode::denied : ErrorCode::unavailable);
    EXPECT_FALSE(conversation.apply(append(60 * kib)));
    inner->take_changes();
  }
  EXPECT_TRUE(conversation.apply(append(60 * kib)));
  EXPECT_EQ(conversation.apply(append(60 * kib)).error().field, "quota");
}

TEST(QuotaStore, ACheckpointIsNeverRefusedAndCounts) {
  const auto inner = std::make_shared<FailingStore>(memory_store());
  const std::shared_ptr<Store> store = within_quota(inner, {.bytes_max = 30 * kib}, refusals());
  Conversation conversation =
      Conversation::open(store, "a", {}, {.checkpoint_versions = 1'000'000}).value();
  int taken = 0;
  while (conversation.apply(append(10))) ++taken;
  ASSERT_GT(taken, 10);
  const std::uint64_t version = conversation.version().value;
  EXPECT_TRUE(conversation.checkpoint());
  const std::optional<Checkpoint> stored = store->checkpoint("a").value();
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->version, version);
  EXPECT_EQ(conversation.apply(append(10)).error().field, "quota");
}

}  // namespace
}  // namespace undertext
