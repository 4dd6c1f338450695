// Whoever sends or reads too slowly.
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;
using std::chrono::milliseconds;

constexpr milliseconds soon{40};

TEST(Patience, WithASlowHead) {
  Server server = serve(echoing(), {.head_patience = soon});
  RawClient client(server);
  client.send("GET / HTT");
  EXPECT_EQ(status_of(client.read_all()), 408u);
  EXPECT_EQ(server.counts().timed_out, 1u);
}

TEST(Patience, WithAHeadThatComesByteByByteForever) {
  // Room enough that it is the time which ends it, however fast the client is.
  Server server = serve(echoing(), {.head_bytes = 1u << 30, .head_patience = milliseconds(100)});
  RawClient client(server);
  client.send("GET / HTTP/1.1\r\nX: ");
  while (client.send("x")) std::this_thread::yield();
  EXPECT_EQ(server.counts().timed_out, 1u);
}

TEST(Patience, WithAClientThatSaysNothing) {
  Server server = serve(echoing(), {.head_patience = soon});
  RawClient client(server);
  EXPECT_EQ(client.read_all(), "");
}

TEST(Patience, WithAnIdleConnection) {
  Server server = serve(echoing(), {.idle_patience = soon});
  RawClient client(server);
  client.send(get("/"));
  EXPECT_EQ(body_of(client.read_all()), "GET / ");
  EXPECT_EQ(server.counts().timed_out, 0u);
}

TEST(Patience, WithASlowBody) {
  Server server = serve(echoing(), {.body_grace = soon});
  for (const char* framing :
       {"Content-Length: 9\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n9\r\n"}) {
    RawClient client(server);
    client.send("POST / HTTP/1.1\r\nHost: a\r\n" + std::string(framing) + "abc");
    EXPECT_EQ(status_of(client.read_all()), 408u);
  }
}

TEST(Patience, WithABodyThatComesBelowTheRate) {
  Server server =
      serve(echoing(), {.bytes_per_second_min = 1'000'000'000, .body_grace = milliseconds(100)});
  RawClient client(server);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  while (client.send("x")) std::this_thread::yield();
  EXPECT_EQ(server.counts().timed_out, 1u);
}

TEST(Patience, NotSpentOnABodyThatComesFastEnough) {
  Server server =
      serve(echoing(64 << 20), {.bytes_per_second_min = 1000, .body_grace = milliseconds(1000)});
  RawClient client(server);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n");
  const auto began = std::chrono::steady_clock::now();
  const std::string piece(1000, 'x');
  for (int i = 0; i < 4000; ++i) {
    // Longer than the grace on the whole, with no pause in it.
    while (std::chrono::steady_clock::now() - began < std::chrono::microseconds(300) * i)
      std::this_thread::yield();
    ASSERT_TRUE(client.send(piece));
  }
  EXPECT_EQ(status_of(client.read_answer()), 200u);
}

TEST(Patience, WithAClientThatDoesNotReadItsAnswer) {
  Calls calls = echoing();
  calls.handle = [](Request, std::unique_ptr<Exchange> exchange) {
    exchange->answer({.body = std::string(32 << 20, 'x')});
  };
  Server server = serve(calls, {.body_grace = soon, .unheard_bytes = 0});
  RawClient client(server, 4096);
  client.send(get("/"));
  while (server.counts().timed_out == 0) std::this_thread::yield();
  EXPECT_EQ(server.counts().timed_out, 1u);
  EXPECT_LT(client.read_all().size(), 32u << 20);
}

// On the machine itself what was read is heard of in steps of 64 KiB and more, so that there are
// pauses longer than the grace.
// One try of some is enough: a client that the machine keeps from running for longer than the grace
// is rightly cut off.
TEST(Patience, NotSpentOnAClientThatReadsSteadilyAboveTheRate) {
  const std::string body(640 << 10, 'x');
  Calls calls = echoing();
  calls.handle = [&](Request, std::unique_ptr<Exchange> exchange) {
    exchange->answer({.body = body, .close = true});
  };
  const auto read_whole = [&] {
    Server server = serve(calls, {.bytes_per_second_min = 100'000, .body_grace = milliseconds(50)});
    RawClient client(server);
    client.send(get("/"));
    const auto began = std::chrono::steady_clock::now();
    std::size_t read = 0;
    for (;;) {
      char piece[2'000];
      const ssize_t some = ::recv(client.socket(), piece, sizeof piece, 0);
      if (some <= 0) break;
      read += static_cast<std::size_t>(some);
      // 200 kB a second
      std::this_thread::sleep_until(began + std::chrono::microseconds(5) * read);
    }
    return read > body.size() && server.counts().timed_out == 0;
  };
  bool read = false;
  for (int tries = 0; tries < 5 && !read; ++tries) read = read_whole();
  EXPECT_TRUE(read);
}

TEST(Patience, UnlimitedWhileTheServerWorks) {
  std::thread worker;
  Calls calls = echoing();
  calls.handle = [&](Request, std::unique_ptr<Exchange> exchange) {
    worker = std::thread([exchange = std::move(exchange)] {
      // Longer than every patience.
      std::promise<void> never;
      never.get_future().wait_for(milliseconds(150));
      exchange->answer({.body = "worked"});
    });
  };
  Server server = serve(calls, {.idle_patience = milliseconds(10), .body_grace = milliseconds(10)});
  RawClient client(server);
  client.send(get("/"));
  EXPECT_EQ(body_of(client.read_answer()), "worked");
  worker.join();
}

}  // namespace
}  // namespace undertext::http
