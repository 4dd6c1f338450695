// Stored conversations that several threads use at once: checkpoints written while others open, tiny caches, readers of old histories.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

#include "kinds.hpp"

namespace undertext::test {
namespace {

class RacingConversations : public OfEveryStore {};
UNDERTEXT_OF_EVERY_STORE(RacingConversations);

Operation append(int n) { return {op::Append{{Message::make(Role::user, "message " + std::to_string(n)).value()}}}; }

// A fraction of the steps where the store is slow, or everything is (sanitizers).
constexpr int appends = 60;

TEST_P(RacingConversations, OpeningReadingAndWritingAtOnceShowsEveryoneSomeWholeVersion) {
  const OpenOptions options{.cache_bytes = 2000, .checkpoint_versions = 2};
  Conversation first = Conversation::open(shared(), "c", {}, options).value();
  first.apply(append(0)).value();
  const History kept = first.history();
  std::atomic<int> writing = 2;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      Conversation own = Conversation::open(shared(), "c", {}, options).value();
      for (int i = 0; i < appends; ++i) own.apply(append(i)).value();
      --writing;
    });
  }
  const auto look = [](const History& history) {
    const View view = history.view();
    std::uint64_t seen = 0;
    for (const Message& message : view) seen += message.text().rfind("message ", 0) == 0 ? 1u : 0u;
    EXPECT_EQ(seen, history.version().value);
  };
  threads.emplace_back([&] {
    while (writing > 0) look(Conversation::open(shared(), "c", {}, options).value().history());
  });
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (writing > 0) {
        EXPECT_FALSE(first.catch_up());
        look(first.history());
        look(kept);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(first.catch_up());
  EXPECT_EQ(first.version().value, 1u + 2 * appends);
  look(first.history());
  EXPECT_FALSE(first.check());
  EXPECT_TRUE(check_store(*shared()).value().damage.empty());
}

}  // namespace
}  // namespace undertext::test
