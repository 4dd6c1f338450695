// What requests may have in memory at once.
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;

TEST(Budget, IsSharedAndEachHasNoMoreThanItsPart) {
  auto budget = std::make_shared<Budget>(100, 60);
  Budget::Share first(budget, "a"), second(budget, "a"), other(budget, "b");
  EXPECT_TRUE(first.resize(50));
  EXPECT_FALSE(second.resize(11)) << "more than the part of one";
  EXPECT_TRUE(second.resize(10));
  EXPECT_FALSE(other.resize(41)) << "more than there is";
  EXPECT_TRUE(other.resize(40));
  EXPECT_EQ(budget->counts().bytes, 100u);
  EXPECT_EQ(budget->counts().refused, 2u);
  EXPECT_TRUE(first.resize(5)) << "less is always possible";
  EXPECT_EQ(budget->counts().bytes, 55u);
}

TEST(Budget, HasALittleForEveryoneWhoeverHoldsTheRest) {
  auto budget = std::make_shared<Budget>(100, 60, 10);
  Budget::Share first(budget, "a"), second(budget, "b"), third(budget, "c"), more(budget, "c");
  EXPECT_TRUE(first.resize(60));
  EXPECT_TRUE(second.resize(40));
  EXPECT_FALSE(third.resize(11));
  EXPECT_TRUE(third.resize(8));
  EXPECT_FALSE(more.resize(3)) << "all that one has counts together";
  EXPECT_TRUE(more.resize(2));
  EXPECT_FALSE(first.resize(61));
}

TEST(Budget, GetsBackWhatWasHeld) {
  auto budget = std::make_shared<Budget>(100, 100);
  {
    Budget::Share share(budget, "a");
    EXPECT_TRUE(share.resize(80));
    Budget::Share moved = std::move(share);
    EXPECT_EQ(budget->counts().bytes, 80u);
    Budget::Share next(budget, "a");
    EXPECT_TRUE(next.resize(10));
    next = std::move(moved);
    EXPECT_EQ(budget->counts().bytes, 80u);
  }
  EXPECT_EQ(budget->counts().bytes, 0u);
}

TEST(Budget, CountsWhatIsThereAlreadyThoughThereIsNoRoom) {
  auto budget = std::make_shared<Budget>(100, 100);
  Budget::Share answer(budget, "a"), body(budget, "a");
  answer.count(150);
  EXPECT_FALSE(body.resize(1));
  answer.release();
  EXPECT_TRUE(body.resize(1));
}

// A server whose requests share a budget, and wait until they are let go.
struct Counted {
  std::shared_ptr<Budget> budget = std::make_shared<Budget>(1 << 20, 1 << 20);
  std::promise<void> let_go;
  std::vector<std::thread> workers;
  Server server = serve(
      {.admit = [this](const Head&) { return Admission{8 << 20, Budget::Share(budget, "a")}; },
       .handle =
           [this, gone = let_go.get_future().share()](Request request,
                                                      std::unique_ptr<Exchange> exchange) {
             workers.emplace_back(
                 [gone, request = std::move(request), exchange = std::move(exchange)] {
                   gone.wait();
                   exchange->answer({.body = request.target == "/large" ? std::string(32 << 20, 'x')
                                                                        : std::string("done")});
                 });
           }},
      {});

  ~Counted() {
    for (std::thread& worker : workers) worker.join();
  }
  template <class Is>
  void wait_until_held(Is is) const {
    while (!is(budget->counts().bytes)) std::this_thread::yield();
  }
};

TEST(Budget, RefusesABodyByItsLengthBeforeItIsRead) {
  Counted counted;
  RawClient first(counted.server);
  first.send(post("/", std::string(700'000, 'x')));
  counted.wait_until_held([](std::uint64_t bytes) { return bytes >= 700'000; });
  RawClient second(counted.server);
  second.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n");
  EXPECT_EQ(status_of(second.read_all()), 503u);
  EXPECT_EQ(counted.server.counts().refused, 1u);
  RawClient small(counted.server);
  small.send(post("/", std::string(100'000, 'x')));
  counted.wait_until_held([](std::uint64_t bytes) { return bytes >= 800'000; });
  counted.let_go.set_value();
  EXPECT_EQ(body_of(first.read_answer()), "done");
  EXPECT_EQ(body_of(small.read_answer()), "done");
  counted.wait_until_held([](std::uint64_t bytes) { return bytes == 0; });
}

TEST(Budget, CountsOfABodyWhatHasComeAndNotWhatIsAnnounced) {
  Counted counted;
  RawClient slow(counted.server);
  slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" +
            std::string(1000, 'x'));
  counted.wait_until_held([](std::uint64_t bytes) { return bytes >= 1000; });
  EXPECT_LT(counted.budget->counts().bytes, 10'000u);
  RawClient other(counted.server);
  other.send(post("/", std::string(700'000, 'x')));
  counted.let_go.set_value();
  EXPECT_EQ(body_of(other.read_answer()), "done");
  slow.send(std::string(999'000, 'x'));
  EXPECT_EQ(body_of(slow.read_answer()), "done");
}

TEST(Budget, RefusesABodyWithALengthWhenThereIsNoRoomForItsRest) {
  Counted counted;
  RawClient slow(counted.server);
  slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" +
            std::string(1000, 'x'));
  counted.wait_until_held([](std::uint64_t bytes) { return bytes >= 1000; });
  RawClient other(counted.server);
  other.send(post("/", std::string(700'000, 'x')));
  counted.wait_until_held([](std::uint64_t bytes) { return bytes >= 700'000; });
  slow.send(std::string(999'000, 'x'));
  EXPECT_EQ(status_of(slow.read_all()), 503u);
  counted.let_go.set_value();
  EXPECT_EQ(body_of(other.read_answer()), "done");
}

TEST(Budget, RefusesABodyInChunksWhenThereIsNoRoomForMore) {
  Counted counted;
  RawClient client(counted.server);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  for (int sent = 0; client.send(chunk);) ASSERT_LT(++sent, 1000);
  EXPECT_EQ(status_of(client.read_all()), 503u);
  client.close();
  counted.wait_until_held([](std::uint64_t bytes) { return bytes == 0; });
  counted.let_go.set_value();
}

TEST(Budget, CountsAnAnswerUntilItIsRead) {
  Counted counted;
  counted.let_go.set_value();
  RawClient slow(counted.server, 4096);
  slow.send(get("/large"));
  counted.wait_until_held([](std::uint64_t bytes) { return bytes > 32u << 20; });
  RawClient other(counted.server);
  other.send(post("/", "x"));
  EXPECT_EQ(status_of(other.read_all()), 503u);
  EXPECT_EQ(body_of(slow.read_answer()).size(), 32u << 20);
  counted.wait_until_held([](std::uint64_t bytes) { return bytes == 0; });
}

TEST(Budget, HasRoomForAnAnswerOrNot) {
  auto budget = std::make_shared<Budget>(1000, 1000);
  std::promise<std::unique_ptr<Exchange>> promise;
  Server server =
      serve({.admit = [&](const Head&) { return Admission{100, Budget::Share(budget, "a")}; },
             .handle =
                 [&](Request, std::unique_ptr<Exchange> exchange) {
                   promise.set_value(std::move(exchange));
                 }});
  RawClient client(server);
  client.send(post("/", std::string(100, 'x')));
  const std::unique_ptr<Exchange> exchange = promise.get_future().get();
  EXPECT_FALSE(exchange->reserve(901));
  EXPECT_TRUE(exchange->reserve(900));
  EXPECT_EQ(budget->counts().bytes, 1000u);
  exchange->answer({.body = "smaller"});
  EXPECT_EQ(body_of(client.read_answer()), "smaller");
  while (budget->counts().bytes > 0) std::this_thread::yield();
}

}  // namespace
}  // namespace undertext::http
