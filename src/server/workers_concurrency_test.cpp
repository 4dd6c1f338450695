#include <atomic>
#include <future>
#include <string>

#include <gtest/gtest.h>

#include "server/workers.hpp"

namespace undertext {
namespace {

// Holds whoever waits until it is opened.
class Door {
 public:
  void open() { promise_.set_value(); }
  void wait() const { future_.wait(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
};

TEST(WorkersOfAServer, DoAllThatTheyTookUp) {
  std::atomic<int> done = 0;
  {
    Workers workers(
        {.threads = 4, .waiting = 10'000, .threads_per_tenant = 4, .waiting_per_tenant = 10'000});
    for (int i = 0; i < 1000; ++i)
      ASSERT_TRUE(workers.submit("t" + std::to_string(i % 7), [&] { ++done; }));
    workers.stop();
    EXPECT_FALSE(workers.submit("t", [&] { ++done; }));
  }
  EXPECT_EQ(done, 1000);
}

TEST(WorkersOfAServer, RefuseWhatDoesNotFitIntoTheQueueOrTheTenantsShareOfIt) {
  Door door;
  Workers workers({.threads = 1, .waiting = 6, .threads_per_tenant = 1, .waiting_per_tenant = 4});
  std::promise<void> begun;
  ASSERT_TRUE(workers.submit("a", [&] {
    begun.set_value();
    door.wait();
  }));
  begun.get_future().wait();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(workers.submit("a", [] {})) << i;
  EXPECT_FALSE(workers.submit("a", [] {})) << "its share is full";
  EXPECT_TRUE(workers.submit("b", [] {}));
  EXPECT_TRUE(workers.submit("b", [] {}));
  EXPECT_FALSE(workers.submit("b", [] {})) << "the queue is full";
  const Workers::Counts counts = workers.counts();
  EXPECT_EQ(counts.waiting, 6u);
  EXPECT_EQ(counts.running, 1u);
  EXPECT_EQ(counts.refused, 2u);
  door.open();
  workers.stop();
  EXPECT_EQ(workers.counts().waiting, 0u);
}

TEST(WorkersOfAServer, TenantsTakeTurnsWhoeverCameFirst) {
  Door door;
  Workers workers(
      {.threads = 1, .waiting = 1000, .threads_per_tenant = 1, .waiting_per_tenant = 1000});
  std::promise<void> begun;
  std::string order;  // written by the one thread there is
  ASSERT_TRUE(workers.submit("first", [&] {
    begun.set_value();
    door.wait();
  }));
  begun.get_future().wait();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(workers.submit("a", [&] { order += 'a'; }));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(workers.submit("b", [&] { order += 'b'; }));
  ASSERT_TRUE(workers.submit("c", [&] { order += 'c'; }));
  door.open();
  workers.stop();
  EXPECT_EQ(order, "abcabaaa");
}

TEST(WorkersOfAServer, OneTenantNeverHasAllThreads) {
  Door door;
  Workers workers(
      {.threads = 4, .waiting = 1000, .threads_per_tenant = 3, .waiting_per_tenant = 1000});
  std::atomic<int> stuck = 0;
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(workers.submit("greedy", [&] {
      ++stuck;
      door.wait();
    }));
  std::promise<void> done;
  ASSERT_TRUE(workers.submit("other", [&] { done.set_value(); }));
  done.get_future().wait();  // would never be, had it no thread
  EXPECT_LE(stuck, 3);
  door.open();
  workers.stop();
  EXPECT_EQ(stuck, 20);
}

}  // namespace
}  // namespace undertext
