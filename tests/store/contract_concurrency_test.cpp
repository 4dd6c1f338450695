// Many writers at once, on every store. The thread sanitizer watches.
#include <atomic>
#include <map>
#include <thread>

#include "kinds.hpp"
#include "writing.hpp"

namespace undertext {
namespace {

using test::body;
using test::Writing;

class RacingWriters : public test::OfEveryStore {};

TEST_P(RacingWriters, OnlyOneOfThoseWhoGoOnFromTheSameVersionSucceeds) {
  constexpr int threads_count = 4, wins_each = 25;
  ASSERT_TRUE(Writing("raced").create_in(store()));
  std::atomic<int> conflicts = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < threads_count; ++t) {
    threads.emplace_back([&, t] {
      for (int won = 0; won < wins_each;) {
        const Writing writing(store().find("raced").value());
        const std::string id = std::to_string(t) + "-" + std::to_string(won);
        const Result<void> done = store().commit(writing.append({body(0, 100)}, id));
        if (!done) {
          ASSERT_EQ(done.error().code, ErrorCode::conflict) << done.error().message;
          ++conflicts;
        } else {
          ++won;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const ConversationRecord record = store().find("raced").value();
  EXPECT_EQ(record.version, std::uint64_t{threads_count * wins_each});
  EXPECT_EQ(record.log_length, record.version);
  EXPECT_TRUE(check_store(store()).value().damage.empty());
}

TEST_P(RacingWriters, ConversationsOfTheirOwnDoNotDisturbOneAnother) {
  constexpr int threads_count = 6;
  constexpr std::uint64_t commits = 60;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < threads_count; ++t) {
    threads.emplace_back([&, t] {
      Writing writing("own-" + std::to_string(t));
      ASSERT_TRUE(writing.create_in(store()));
      for (std::uint64_t i = 0; i < commits; ++i) {
        // A conflict in the middle of others' commits fails alone.
        if (i % 10 == 5) {
          Commit stale = writing.append({body(0)});
          ++stale.expected_version;
          ++stale.versions[0].version;
          ASSERT_EQ(store().commit(stale).error().code, ErrorCode::conflict);
        }
        ASSERT_TRUE(writing.append_to(store(), {body(i, 300)}));
      }
    });
  }
  std::thread reader([&] {
    std::map<std::string, std::uint64_t> last;
    while (!done) {
      for (const ConversationRecord& record : store().list().value()) {
        ASSERT_GE(record.version, last[record.id]);
        last[record.id] = record.version;
        const auto messages = store().messages(record.id, 0, 1000).value();
        ASSERT_GE(messages.size(), record.log_length);
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  for (const ConversationRecord& record : store().list().value())
    EXPECT_EQ(record.version, commits);
  EXPECT_TRUE(check_store(store()).value().damage.empty());
}

TEST_P(RacingWriters, OnlyOneMakesAConversation) {
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] { made += Writing("one").create_in(store()) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

UNDERTEXT_OF_EVERY_STORE(RacingWriters);

}  // namespace
}  // namespace undertext
