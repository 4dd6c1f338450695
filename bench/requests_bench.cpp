// What a turn of a client costs that sends its whole list: reading it, RECONCILE, recording the request, rebuilding it.
//
//     reading      read_client_request of n messages
//     reconciling  the operation alone, of n messages that are known and one that is new
//     recording    record_request of a request that has one message more than the last one, in memory
//     rebuilding   raw_request of any recorded one, not the last
#include <string>

#include <benchmark/benchmark.h>

#include <undertext/client.hpp>
#include <undertext/conversation.hpp>
#include <undertext/request_record.hpp>

namespace undertext::bench {
namespace {

std::string request_of(std::int64_t messages, std::int64_t text_bytes) {
  std::string body = R"({"model":"m","system":"be good","messages":[)";
  for (std::int64_t i = 0; i < messages; ++i) {
    std::string text = "message " + std::to_string(i);
    for (std::uint64_t state = static_cast<std::uint64_t>(i) + 1; text.size() < static_cast<std::size_t>(text_bytes);) {
      state = state * 6364136223846793005 + 1442695040888963407;
      text += " word" + std::to_string(state >> 54);
    }
    body +=
        (i == 0 ? "" : ",") + (R"({"role":")" + std::string(i % 2 == 0 ? "user" : "assistant")) + R"(","content":")" + text + "\"}";
  }
  return body + "]}";
}

const ClientProfile& client() {
  static const ClientProfile found = find_client("anthropic").value();
  return found;
}

void reading(benchmark::State& state) {
  const std::string body = request_of(state.range(0), 100);
  for (auto _ : state) benchmark::DoNotOptimize(read_client_request(client(), {}, body).value());
}

void reconciling(benchmark::State& state) {
  const History before =
      History().apply({read_client_request(client(), {}, request_of(state.range(0), 100)).value().reconcile}, {}).value().history;
  const Operation operation{read_client_request(client(), {}, request_of(state.range(0) + 1, 100)).value().reconcile};
  for (auto _ : state) benchmark::DoNotOptimize(before.apply(operation, {}).value());
}

// A conversation whose client has sent lists of 1, 2, … messages, and the next request.
struct Followed {
  Conversation conversation;
  std::string next;
  Version version;

  Followed(std::int64_t messages, std::int64_t text_bytes) {
    for (std::int64_t n = messages - 40; n <= messages + 1; ++n) {
      next = request_of(n, text_bytes);
      version = conversation.apply({read_client_request(client(), {}, next).value().reconcile}).value().version;
      if (n <= messages) record();
    }
  }
  void record() {
    RequestRecord record;
    record.version = version;
    conversation.record_request(std::move(record), next).value();
  }
};

void recording(benchmark::State& state) {
  Followed followed(state.range(0), state.range(1));
  for (auto _ : state) followed.record();
  state.counters["request_bytes"] = static_cast<double>(followed.next.size());
}

void rebuilding(benchmark::State& state) {
  const Followed followed(state.range(0), state.range(1));
  std::uint64_t number = 0;
  for (auto _ : state) benchmark::DoNotOptimize(followed.conversation.raw_request(1 + number++ % 38).value());
  state.counters["request_bytes"] = static_cast<double>(followed.next.size());
}

BENCHMARK(reading)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(reconciling)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(recording)->Args({200, 2000})->Args({1000, 400})->Unit(benchmark::kMillisecond);
BENCHMARK(rebuilding)->Args({200, 2000})->Args({1000, 400})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace undertext::bench
