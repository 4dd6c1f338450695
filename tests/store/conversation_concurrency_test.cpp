// Stored conversations that several threads use at once: checkpoints written while others open,
// tiny caches, readers of old histories.
#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <undertext/client.hpp>
#include <undertext/conversation.hpp>

#include "kinds.hpp"

namespace undertext::test {
namespace {

class RacingConversations : public OfEveryStore {};
UNDERTEXT_OF_EVERY_STORE(RacingConversations);

Operation append(int n) {
  return {op::Append{{Message::make(Role::user, "message " + std::to_string(n)).value()}}};
}

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
        EXPECT_TRUE(first.catch_up());
        look(first.history());
        look(kept);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(first.catch_up());
  EXPECT_EQ(first.version().value, 1u + 2 * appends);
  look(first.history());
  EXPECT_TRUE(first.check());
  EXPECT_TRUE(check_store(*shared()).value().damage.empty());
}

// Two requests of one conversation at once come one after the other: the list and the view are
// those of one of them.
TEST_P(RacingConversations, RequestsOfAClientAreNeverMixed) {
  constexpr int requests = 25;
  const auto sent = [](const std::string& who, int count) {
    std::vector<Message> messages{Message::make(Role::system, "be good").value()};
    for (int i = 0; i < count; ++i)
      messages.push_back(Message::make(Role::user, who + " " + std::to_string(i)).value());
    return client_list(find_client("generic").value(), messages);
  };
  Conversation::open(shared(), "c", {}).value();
  std::vector<std::thread> threads;
  for (const std::string who : {"one", "two"}) {
    threads.emplace_back([&, who] {
      Conversation own = Conversation::open(shared(), "c", {}, {.checkpoint_versions = 3}).value();
      for (int i = 1; i <= requests; ++i) {
        const Result<Outcome> outcome = own.apply({sent(who, i)});
        EXPECT_TRUE(outcome || outcome.error().code == ErrorCode::conflict);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Conversation last = Conversation::open(shared(), "c", {}).value();
  for (std::uint64_t version = 1; version <= last.version().value; ++version) {
    const View view = last.history().view_at(Version(version)).value();
    const std::string who = view[view.size() - 1].text().substr(0, 3);
    for (std::uint64_t i = 1; i < view.size(); ++i)
      EXPECT_EQ(view[i].text(), who + " " + std::to_string(i - 1));
  }
  EXPECT_EQ(last.history().client_list().size(), last.history().view().size());
  // Nothing is stored twice, however often the lists took turns.
  EXPECT_LE(last.stats().total_messages, 1u + 2 * requests);
}

TEST_P(RacingConversations, RequestsThatAreRecordedAtOnceGetNumbersOfTheirOwnAndAreRebuilt) {
  constexpr int requests = 12;
  Conversation first = Conversation::open(shared(), "r").value();
  std::vector<std::thread> threads;
  const auto body = [](int thread, int i) {
    return R"({"messages":[{"role":"user","content":"request )" + std::to_string(i) + " of " +
           std::to_string(thread) + "\"}]}";
  };
  std::array<std::array<std::uint64_t, requests>, 2> numbers = {};
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Conversation own = Conversation::open(shared(), "r").value();
      for (int i = 0; i < requests; ++i) {
        own.apply(append(i)).value();
        if (i % 4 == 3) static_cast<void>(own.checkpoint());  // the other one may have made one
        numbers[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)] =
            own.record_request({}, body(t, i)).value();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first.requests().value().size(), 2u * requests);
  for (int t = 0; t < 2; ++t)
    for (int i = 0; i < requests; ++i)
      EXPECT_EQ(first.raw_request(numbers[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)])
                    .value(),
                body(t, i));
}

}  // namespace
}  // namespace undertext::test
