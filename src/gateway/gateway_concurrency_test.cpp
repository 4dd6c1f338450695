// Many clients at once, with all threads of the gateway at work: some read to the end, some leave,
// some do not read, and it stops in the middle.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"
#include "gateway/gateway.hpp"

namespace undertext {
namespace {

using namespace http::testing;

class CountingRecorder : public ExchangeRecorder {
 public:
  void request(const std::shared_ptr<const ObservedRequest>& request) override {
    bytes_in += request->body->size();
  }
  void finished(ObservedExchange exchange) override {
    const std::lock_guard lock(mutex);
    ++ends[std::string(name(exchange.end))];
    bytes_out += exchange.body.size();
  }
  std::mutex mutex;
  std::map<std::string, int> ends;
  std::atomic<std::size_t> bytes_in = 0, bytes_out = 0;
};

// Answers /N with N pieces of 4 kB, from the server's own thread.
http::Server pieces_upstream() {
  http::Calls calls = echoing(1 << 20);
  calls.handle = [](http::Request request, std::unique_ptr<http::Exchange> exchange) {
    const std::shared_ptr<http::Stream> stream = exchange->stream(200, "text/event-stream", {});
    for (int i = std::atoi(request.target.c_str() + 1); i > 0; --i)
      stream->offer(std::string(4096, '#'));
    stream->end();
  };
  return serve(std::move(calls));
}

GatewayOptions options_for(const http::Server& upstream,
                           std::shared_ptr<ExchangeRecorder> recorder) {
  GatewayOptions options;
  options.listening.limits.stop_patience = std::chrono::milliseconds(200);
  options.upstreams = Upstreams::make({.urls = {{"openai", upstream.address()}}}).value();
  options.recorder = std::move(recorder);
  return options;
}

TEST(GatewayConcurrency, EveryClientGetsItsOwnAnswerWholeAndEveryExchangeIsReported) {
  http::Server upstream = pieces_upstream();
  auto recorder = std::make_shared<CountingRecorder>();
  Gateway gateway = Gateway::start(options_for(upstream, recorder)).value();
  constexpr int clients = 8, rounds = 12;
  std::vector<std::thread> threads;
  for (int number = 0; number < clients; ++number)
    threads.emplace_back([&, number] {
      RawClient client(port_in(gateway.address()));
      for (int round = 0; round < rounds; ++round) {
        const int pieces = (number * 7 + round * 3) % 20 + 1;
        client.send(post("/" + std::to_string(pieces), std::string(1000, 'a')));
        const std::string answer = client.read_until("\r\n0\r\n\r\n");
        EXPECT_EQ(count_of(answer, "#"), static_cast<std::size_t>(pieces) * 4096);
      }
    });
  for (std::thread& thread : threads) thread.join();
  gateway.stop();
  EXPECT_EQ(recorder->ends["complete"], clients * rounds);
  EXPECT_EQ(recorder->bytes_in, static_cast<std::size_t>(clients * rounds) * 1000);
  EXPECT_EQ(gateway.counts().open, 0u);
}

TEST(GatewayConcurrency, ClientsThatLeaveOrDoNotReadAndAStopInTheMiddleLeaveNothingBehind) {
  http::Server upstream = pieces_upstream();
  auto recorder = std::make_shared<CountingRecorder>();
  Gateway gateway = Gateway::start(options_for(upstream, recorder)).value();
  const std::uint16_t port = port_in(gateway.address());
  std::atomic<int> sent = 0;
  std::vector<std::thread> threads;
  std::vector<RawClient> idle;
  for (int i = 0; i < 4; ++i) {
    idle.emplace_back(port, 4096).send(post("/200", "unread"));
    ++sent;
  }
  for (int number = 0; number < 6; ++number)
    threads.emplace_back([&, number] {
      for (int round = 0; round < 10; ++round) {
        RawClient client(port);
        if (!client.send(post("/50", "x"))) return;
        ++sent;
        if ((number + round) % 3 == 0) client.read_until("\r\n\r\n");
        if ((number + round) % 2 == 0) client.reset();
      }
    });
  for (std::thread& thread : threads) thread.join();
  gateway.stop();
  const GatewayCounts counts = gateway.counts();
  EXPECT_EQ(counts.open, 0u);
  int reported = 0;
  for (const auto& [end, count] : recorder->ends) reported += count;
  EXPECT_EQ(static_cast<std::uint64_t>(reported), counts.requests)
      << "every request that was read has an end";
  EXPECT_LE(reported, sent);
}

// Changes the protocol, and sends back what it gets.
http::Server echoing_tunnels() {
  http::Calls calls = echoing(0);
  calls.handle = [](http::Request, std::unique_ptr<http::Exchange> exchange) {
    auto tunnel = std::make_shared<std::shared_ptr<http::Tunnel>>();
    *tunnel = exchange->tunnel(
        {.status = 101, .fields = {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}}}, 1 << 20,
        [] {},
        [tunnel](std::string bytes) {
          (*tunnel)->write(bytes);
          (*tunnel)->read_on();
        });
  };
  return serve(std::move(calls));
}

TEST(GatewayConcurrency, TunnelsCarryTheirOwnBytesWhileOthersLeaveAndItStops) {
  http::Server upstream = echoing_tunnels();
  GatewayOptions options = options_for(upstream, nullptr);
  options.relays_upgrades = true;
  Gateway gateway = Gateway::start(std::move(options)).value();
  const std::uint16_t port = port_in(gateway.address());
  const std::string asked = get("/v1/responses", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
  std::vector<std::thread> threads;
  for (int number = 0; number < 6; ++number)
    threads.emplace_back([&, number] {
      for (int round = 0; round < 6; ++round) {
        RawClient client(port);
        client.send(asked);
        EXPECT_NE(client.read_until("\r\n\r\n").find(" 101 "), std::string::npos);
        const std::string piece = std::to_string(number) +
                                  std::string(static_cast<std::size_t>(1000 * (round + 1)), '.') +
                                  "!";
        for (int i = 0; i < 5; ++i) {
          client.send(piece);
          EXPECT_EQ(client.read_until("!"), piece);
        }
        if (round % 2 == 0) client.reset();
      }
    });
  for (std::thread& thread : threads) thread.join();
  RawClient idle(port);
  idle.send(asked);
  idle.read_until("\r\n\r\n");
  gateway.stop();
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(gateway.counts().open, 0u);
}

}  // namespace
}  // namespace undertext
