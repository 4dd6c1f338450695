// Answers that are written bit by bit, and what becomes of exchanges and streams when a client goes
// or the server stops.
#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;
using std::chrono::milliseconds;

// A server whose one request is answered by the test.
struct Held {
  std::promise<std::unique_ptr<Exchange>> promise;
  Server server;
  RawClient client;

  explicit Held(Limits limits = {}, std::string_view request = get("/"), int receive_buffer = 0)
      : server(serve({.admit = [](const Head&) { return Admission{}; },
                      .handle =
                          [this](Request, std::unique_ptr<Exchange> exchange) {
                            promise.set_value(std::move(exchange));
                          }},
                     limits)),
        client(server, receive_buffer) {
    client.send(request);
  }
  std::unique_ptr<Exchange> exchange() { return promise.get_future().get(); }
};

template <class Condition>
void wait_for(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

TEST(Stream, IsReadWhileItIsWritten) {
  Held held;
  auto stream = held.exchange()->stream(200, "text/event-stream", {{"Cache-Control", "no-store"}});
  const std::string head = held.client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), head.npos);
  EXPECT_NE(head.find("Cache-Control: no-store\r\n"), head.npos);
  for (const std::string event : {"one", "two", "three"}) {
    EXPECT_TRUE(stream->write(event));
    EXPECT_EQ(held.client.read_until(event + "\r\n"),
              std::to_string(event.size()) + "\r\n" + event + "\r\n");
  }
  stream->end();
  EXPECT_EQ(held.client.read_until("0\r\n\r\n"), "0\r\n\r\n");
  EXPECT_FALSE(stream->is_open());
  EXPECT_FALSE(stream->write("late"));
}

TEST(Stream, LeavesTheConnectionForTheNextRequest) {
  Calls calls = echoing();
  calls.handle = [](Request request, std::unique_ptr<Exchange> exchange) {
    auto stream = exchange->stream(200, "text/plain", {});
    stream->write(request.target);
    stream->end();
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send(get("/1") + get("/2"));
  EXPECT_NE(client.read_until("/1\r\n0\r\n\r\n"), "");
  EXPECT_NE(client.read_until("/2\r\n0\r\n\r\n"), "");
}

TEST(Stream, ThatIsDroppedIsNotTakenForWhole) {
  Held held;
  auto stream = held.exchange()->stream(200, "text/plain", {});
  stream->write("a part");
  stream.reset();
  EXPECT_EQ(held.client.read_all().find("0\r\n\r\n"), std::string::npos);
}

TEST(Stream, ToHttp10EndsWithTheConnection) {
  Held held({}, "GET / HTTP/1.0\r\n\r\n");
  auto stream = held.exchange()->stream(200, "text/plain", {});
  stream->write("all of it");
  stream->end();
  EXPECT_EQ(body_of(held.client.read_all()), "all of it");
}

TEST(Stream, ToHttp10ThatIsEmptyEndsToo) {
  Held held({}, "GET / HTTP/1.0\r\n\r\n");
  auto stream = held.exchange()->stream(200, "text/plain", {});
  held.client.read_until("\r\n\r\n");
  stream->end();
  EXPECT_EQ(held.client.read_all(), "");
}

TEST(Stream, OfHeadIsOnlyAHead) {
  Held held({}, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  auto stream = held.exchange()->stream(200, "text/plain", {});
  const std::string all = held.client.read_all();
  EXPECT_EQ(status_of(all), 200u);
  EXPECT_EQ(body_of(all), "");
  EXPECT_FALSE(stream->write("more"));
}

TEST(Stream, WaitsForAClientThatReadsSlowly) {
  Held held({.unsent_bytes = 64 << 10}, get("/"), 4096);
  auto stream = held.exchange()->stream(200, "text/plain", {});
  const std::string piece(32 << 10, '#');
  std::atomic<int> written = 0;
  std::thread writer([&] {
    while (written < 300 && stream->write(piece)) ++written;
    stream->end();
  });
  const std::string all = held.client.read_until("\r\n0\r\n\r\n");
  writer.join();
  EXPECT_EQ(written, 300);
  EXPECT_EQ(count_of(all, "#"), 300u * piece.size());
}

TEST(Stream, EndsForAClientThatDoesNotRead) {
  Held held({.body_grace = milliseconds(50), .unheard_bytes = 0, .unsent_bytes = 64 << 10},
            get("/"), 4096);
  auto stream = held.exchange()->stream(200, "text/plain", {});
  const std::string piece(256 << 10, 'x');
  int written = 0;
  while (stream->write(piece)) ASSERT_LT(++written, 1000);  // the systems' buffers take some
  EXPECT_FALSE(stream->is_open());
  EXPECT_EQ(held.server.counts().timed_out, 1u);
}

TEST(Stream, CutsOffAClientThatCannotFollowOffers) {
  Held held({.unsent_bytes = 64 << 10}, get("/"), 4096);
  auto stream = held.exchange()->stream(200, "text/plain", {});
  const std::string piece(32 << 10, 'x');
  int offered = 0;
  while (stream->offer(piece)) ASSERT_LT(++offered, 10'000);
  EXPECT_FALSE(stream->is_open());
  wait_for([&] { return held.server.counts().connections == 0; });
}

TEST(Stream, NoticesThatTheClientHasGone) {
  for (const bool hard : {false, true}) {
    Held held;
    auto stream = held.exchange()->stream(200, "text/plain", {});
    held.client.read_until("\r\n\r\n");
    hard ? held.client.reset() : held.client.close();
    wait_for([&] { return !stream->is_open(); });
    EXPECT_FALSE(stream->write("x"));
  }
}

TEST(Stream, WriteOnALoopsOwnThreadNeverWaits) {
  std::promise<bool> refused;
  Calls calls = echoing();
  calls.handle = [&](Request, std::unique_ptr<Exchange> exchange) {
    auto stream = exchange->stream(200, "text/plain", {});
    const std::string piece(1 << 20, 'x');
    int written = 0;
    while (written < 100 && stream->write(piece)) ++written;
    refused.set_value(written < 100);
  };
  Server server = serve(calls);
  RawClient client(server, 4096);
  client.send(get("/"));
  EXPECT_TRUE(refused.get_future().get());
}

TEST(Exchange, NoticesThatTheClientHasGone) {
  for (const bool hard : {false, true}) {
    Held held;
    std::unique_ptr<Exchange> exchange = held.exchange();
    EXPECT_TRUE(exchange->is_open());
    hard ? held.client.reset() : held.client.close();
    wait_for([&] { return !exchange->is_open(); });
    exchange->answer({.body = "nobody reads this"});
  }
}

TEST(Exchange, AnswersOnce) {
  Held held;
  std::unique_ptr<Exchange> exchange = held.exchange();
  exchange->answer({.body = "first", .close = true});
  exchange->answer({.body = "second"});
  EXPECT_FALSE(exchange->stream(200, "text/plain", {})->write("third"));
  exchange.reset();
  EXPECT_EQ(body_of(held.client.read_all()), "first");
}

TEST(Exchange, OutlivesItsServer) {
  for (const bool streams : {false, true}) {
    auto held = std::make_unique<Held>(Limits{.stop_patience = milliseconds(10)});
    std::unique_ptr<Exchange> exchange = held->exchange();
    std::shared_ptr<Stream> stream = streams ? exchange->stream(200, "text/plain", {}) : nullptr;
    held.reset();
    EXPECT_FALSE(exchange->is_open());
    exchange->answer({.body = "too late"});
    if (stream) {
      EXPECT_FALSE(stream->write("too late"));
      stream->end();
    }
    EXPECT_FALSE(exchange->stream(200, "text/plain", {})->is_open());
  }
}

TEST(Stop, AnswersWhatIsUnderWay) {
  Held held;
  std::unique_ptr<Exchange> exchange = held.exchange();
  RawClient idle(held.server);
  std::thread stopper([&] { held.server.stop(); });
  EXPECT_EQ(idle.read_all(), "");  // from here on the server stops
  exchange->answer({.body = "in time"});
  EXPECT_EQ(body_of(held.client.read_all()), "in time");
  held.client.close();
  stopper.join();
  EXPECT_EQ(held.server.counts().connections, 0u);
}

TEST(Stop, WaitsNoLongerThanItsPatience) {
  Held held({.stop_patience = milliseconds(20)});
  std::unique_ptr<Exchange> exchange = held.exchange();
  held.server.stop();
  EXPECT_EQ(held.client.read_all(), "");
}

TEST(Stop, EndsIdleConnectionsAtOnce) {
  Server server = serve(echoing());
  RawClient idle(server), silent(server);
  idle.send(get("/"));
  idle.read_answer();
  const auto began = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, Limits{}.stop_patience / 2);
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(silent.read_all(), "");
}

TEST(Stop, EndsStreamsAtOnceAndWakesTheirWriters) {
  Held held({.unsent_bytes = 1}, get("/"), 4096);
  auto stream = held.exchange()->stream(200, "text/plain", {});
  std::thread writer([&] {
    while (stream->write(std::string(1 << 20, 'x'))) {
    }
  });
  const auto began = std::chrono::steady_clock::now();
  held.server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, Limits{}.stop_patience / 2);
  writer.join();
  EXPECT_FALSE(stream->is_open());
}

TEST(Stop, MayBeCalledTwice) {
  Server server = serve(echoing());
  server.stop();
  server.stop();
  EXPECT_NE(server.address(), "");
}

}  // namespace
}  // namespace undertext::http
