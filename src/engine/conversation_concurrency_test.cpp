// One writer, several readers, subscriptions that come and go. The thread sanitizer watches.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

namespace undertext {
namespace {

constexpr int writes = 3000;
constexpr int readers = 3;

Operation append_pair(int number) {
  const std::string text = std::to_string(number);
  return {
      op::Append{{Message::parse(R"({"role":"user","content":"q)" + text + R"("})").value(),
                  Message::parse(R"({"role":"assistant","content":"a)" + text + R"("})").value()}}};
}

// The writer's rule: users and assistants always come in pairs, so that a reader who sees half a
// change finds them unequal.
void check(const History& history) {
  const View view = history.view();
  const ViewSums sums = view.sums();
  ASSERT_EQ(sums.role_counts[static_cast<std::size_t>(Role::user)],
            sums.role_counts[static_cast<std::size_t>(Role::assistant)]);
  ASSERT_EQ(history.stats().current_batch_messages, view.size());
  ASSERT_EQ(history.stats().tokens, sums.tokens());
  std::uint64_t counted = 0;
  for (const Message& message : view) counted += message.text().empty() ? 0u : 1u;
  ASSERT_EQ(counted, view.size());
}

TEST(ConversationConcurrency, ReadersSeeWholeVersionsInRisingOrderWhileAWriterGoesOn) {
  Conversation conversation;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < readers; ++i) {
    threads.emplace_back([&, i] {
      Version last;
      while (!done) {
        const History history = conversation.history();
        ASSERT_LE(last, history.version());
        last = history.version();
        check(history);
        if (last.value > 0) {
          const Version earlier(static_cast<std::uint64_t>(i) * 7919 % last.value);
          ASSERT_EQ(history.view_at(earlier).value().size() % 2, 0u);
          ASSERT_TRUE(conversation.messages({.roles = {Role::user}, .last = 3}));
        }
      }
    });
  }
  for (int i = 0; i < writes; ++i) {
    switch (i % 8) {
      case 5: ASSERT_TRUE(conversation.apply(Operation{op::Truncate{.keep_last = 40}})); break;
      case 6:
        ASSERT_TRUE(conversation.apply(
            std::vector{append_pair(i), Operation{op::Clear{false}}, append_pair(i)}));
        break;
      case 7:
        ASSERT_TRUE(conversation.apply(Operation{op::Rollback{
            static_cast<std::uint64_t>(i) % (conversation.stats().current_batch_index + 1)}}));
        break;
      default: ASSERT_TRUE(conversation.apply(append_pair(i)));
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(ConversationConcurrency, WritersTakeTurns) {
  Conversation conversation;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 300; ++k) ASSERT_TRUE(conversation.apply(append_pair(k)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(conversation.version(), Version(900));
  check(conversation.history());
}

TEST(ConversationConcurrency, OfTwoWritersWithTheSameExpectedVersionOneIsFirst) {
  Conversation conversation;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t version = 0; version < 200; ++version) {
        Operation operation = append_pair(1);
        operation.options.expected_version = Version(version);
        if (conversation.apply(std::move(operation))) ++made;
        while (conversation.version() <= Version(version)) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 200);
  EXPECT_EQ(conversation.version(), Version(200));
}

TEST(ConversationConcurrency, AFunctionIsNotCalledAfterItsSubscriptionEnded) {
  Conversation conversation;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        auto calls = std::make_unique<int>(0);  // destroyed right after the subscription
        const Subscription subscription =
            conversation.subscribe([&calls](const Event&) { ++*calls; });
        std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(conversation.apply(append_pair(i)));
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(ConversationConcurrency, ForksGoTheirOwnWaysOnTheirOwnThreads) {
  Conversation conversation;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(conversation.apply(append_pair(i)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      Conversation fork = conversation.fork(Version(static_cast<std::uint64_t>(10 * i))).value();
      for (int k = 0; k < 200; ++k) ASSERT_TRUE(fork.apply(append_pair(k)));
      ASSERT_EQ(fork.view().size(), static_cast<std::uint64_t>(20 * i + 400));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(conversation.view().size(), 100u);
}

}  // namespace
}  // namespace undertext
