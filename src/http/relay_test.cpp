// Answers of another server, passed on as they were given, and what is heard of a client meanwhile.
#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;

// A server whose one request is answered by the test.
struct Relayed {
  std::promise<std::unique_ptr<Exchange>> promise;
  std::promise<void> gone;
  std::atomic<int> drained = 0;
  Server server;
  RawClient client;

  explicit Relayed(std::string_view request = get("/"), int receive_buffer = 0)
      : server(serve({.admit = [](const Head&) { return Admission{}; },
                      .handle =
                          [this](Request, std::unique_ptr<Exchange> exchange) {
                            exchange->on_gone([this] { gone.set_value(); });
                            promise.set_value(std::move(exchange));
                          }},
                     {})),
        client(server, receive_buffer) {
    client.send(request);
  }
  std::shared_ptr<Relay> relay(RelayedHead head, std::uint64_t unsent_max = 1 << 20) {
    return promise.get_future().get()->relay(std::move(head), unsent_max, [this] {
      ++drained;
      drained.notify_all();
    });
  }
};

TEST(Relay, NothingIsAddedToAHeadThatHasALength) {
  Relayed at;
  auto relay = at.relay({.status = 529,
                         .reason = "Much  too Much",
                         .fields = {{"x-Odd", "1"}, {"content-LENGTH", "5"}, {"X-odd", ""}}});
  relay->write("he");
  relay->write("llo");
  relay->end();
  EXPECT_EQ(at.client.read_until("hello"),
            "HTTP/1.1 529 Much  too Much\r\nx-Odd: 1\r\ncontent-LENGTH: 5\r\nX-odd: \r\n\r\nhello");
}

TEST(Relay, WithoutALengthItIsChunked) {
  Relayed at;
  auto relay = at.relay({.fields = {{"a", "b"}}});
  EXPECT_EQ(at.client.read_until("\r\n\r\n"),
            "HTTP/1.1 200 OK\r\na: b\r\nTransfer-Encoding: chunked\r\n\r\n");
  relay->write("one");
  EXPECT_EQ(at.client.read_until("one\r\n"), "3\r\none\r\n");
  relay->end();
  EXPECT_EQ(at.client.read_until("0\r\n\r\n"), "0\r\n\r\n");
}

TEST(Relay, OfHeadAnd304IsTheHeadAlone) {
  for (const auto& [request, status] :
       {std::pair(std::string("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 200u),
        std::pair(std::string("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 304u)}) {
    Relayed at(request);
    auto relay = at.relay({.status = status, .fields = {{"Content-Length", "500"}}});
    relay->write("not for you");
    relay->end();
    const std::string all = at.client.read_all();
    EXPECT_NE(all.find("Content-Length: 500\r\n"), all.npos);
    EXPECT_EQ(body_of(all), "");
  }
}

TEST(Relay, ThatIsTornSendsWhatItHasAndNoEnd) {
  for (const bool has_length : {true, false}) {
    Relayed at;
    std::vector<Field> fields;
    if (has_length) fields.push_back({"Content-Length", "100"});
    auto relay = at.relay({.fields = fields});
    relay->write("a part");
    relay.reset();
    EXPECT_EQ(body_of(at.client.read_all()), has_length ? "a part" : "6\r\na part\r\n");
  }
}

TEST(Relay, AClientThatLeavesIsHeardOfBeforeItsAnswerAndDuringIt) {
  {
    Relayed at;
    auto exchange = at.promise.get_future().get();
    at.client.close();
    at.gone.get_future().wait();
    EXPECT_FALSE(exchange->is_open());
  }
  Relayed at;
  auto relay = at.relay({});
  at.client.read_until("\r\n\r\n");
  at.client.close();
  at.gone.get_future().wait();
  EXPECT_TRUE(relay->has_room()) << "nobody waits for one that has gone";
  relay->write("into the void");
}

TEST(Relay, HasNoRoomWhileItsClientDoesNotReadAndTellsWhenItHas) {
  Relayed at(get("/"), 4096);
  auto relay = at.relay({}, 64 << 10);
  const std::string piece(16 << 10, '#');
  std::size_t written = 0;
  while (relay->has_room()) {
    relay->write(piece);
    written += piece.size();
    ASSERT_LT(written, 64u << 20);
  }
  EXPECT_EQ(at.drained, 0);
  relay->end();
  at.client.read_until("0\r\n\r\n");
  // the client may have read the last byte before the server has heard that it was taken
  at.drained.wait(0);
  EXPECT_EQ(at.drained, 1);
}

constexpr std::string_view upgrade_fields = "Connection: Upgrade\r\nUpgrade: websocket\r\n";

TEST(Tunnel, CarriesBytesBothWaysAPieceAtATime) {
  Relayed at(get("/", upgrade_fields) + "early");
  std::promise<std::string> first, second;
  std::atomic<int> pieces = 0;
  auto tunnel = at.promise.get_future().get()->tunnel(
      {.status = 101,
       .reason = "Switching Protocols",
       .fields = {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}}},
      1 << 20, [] {},
      [&](std::string bytes) { (++pieces == 1 ? first : second).set_value(std::move(bytes)); });
  EXPECT_EQ(
      at.client.read_until("\r\n\r\n"),
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  EXPECT_EQ(first.get_future().get(), "early");
  at.client.send("later");
  tunnel->write("and back");
  EXPECT_EQ(at.client.read_until("and back"), "and back");
  EXPECT_EQ(pieces, 1) << "the next piece is for who asks for it";
  tunnel->read_on();
  EXPECT_EQ(second.get_future().get(), "later");
  tunnel->write("bye");
  tunnel->end();
  EXPECT_EQ(at.client.read_all(), "bye");
}

TEST(Tunnel, AClientThatLeavesIsHeardOf) {
  Relayed at(get("/", upgrade_fields));
  auto tunnel =
      at.promise.get_future().get()->tunnel({.status = 101}, 1 << 20, [] {}, [](std::string) {});
  at.client.read_until("\r\n\r\n");
  at.client.close();
  at.gone.get_future().wait();
  tunnel->write("into the void");
}

TEST(Tunnel, DoesNotHoldUpAStop) {
  Relayed at(get("/", upgrade_fields));
  auto tunnel =
      at.promise.get_future().get()->tunnel({.status = 101}, 1 << 20, [] {}, [](std::string) {});
  at.client.read_until("\r\n\r\n");
  const auto began = std::chrono::steady_clock::now();
  at.server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace undertext::http
