// What a turn of a client costs that sends its whole list: reading it, RECONCILE, recording the
// request, rebuilding it.
//
//     reading      read_client_request of n messages
//     reconciling  the operation alone, of n messages that are known and one that is new
//     following    the same by a conversation, kept in memory or durably in SQLite; it frees the request, too
//     freeing      a request that was read, for comparison
//     recording    record_request of a request that has one message more than the last one, in memory
//     rebuilding   raw_request of any recorded one, not the last
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include <undertext/client.hpp>
#include <undertext/conversation.hpp>
#include <undertext/request_record.hpp>
#include <undertext/store.hpp>

namespace undertext::bench {
namespace {

std::string request_of(std::int64_t messages, std::int64_t text_bytes) {
  std::string body = R"({"model":"m","system":"be good","messages":[)";
  for (std::int64_t i = 0; i < messages; ++i) {
    std::string text = "message " + std::to_string(i);
    for (std::uint64_t state = static_cast<std::uint64_t>(i) + 1;
         text.size() < static_cast<std::size_t>(text_bytes);) {
      state = state * 6364136223846793005 + 1442695040888963407;
      text += " word" + std::to_string(state >> 54);
    }
    body += (i == 0 ? "" : ",") +
            (R"({"role":")" + std::string(i % 2 == 0 ? "user" : "assistant")) + R"(","content":")" +
            text + "\"}";
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

void freeing(benchmark::State& state) {
  const std::string body = request_of(state.range(0), 100);
  for (auto _ : state) {
    state.PauseTiming();
    std::optional<ClientRequest> request = read_client_request(client(), {}, body).value();
    state.ResumeTiming();
    request.reset();
  }
}

void reconciling(benchmark::State& state) {
  const History before =
      History()
          .apply({read_client_request(client(), {}, request_of(state.range(0), 100))
                      .value()
                      .reconcile},
                 {})
          .value()
          .history;
  const Operation operation{
      read_client_request(client(), {}, request_of(state.range(0) + 1, 100)).value().reconcile};
  for (auto _ : state) benchmark::DoNotOptimize(before.apply(operation, {}).value());
}

// Each turn has one message more than the last. Reading it is not measured. Nor is the first turn
// behind all that was there before, which a store has just written in one record.
void follow(benchmark::State& state, Conversation conversation) {
  std::int64_t count = state.range(0);
  const auto next = [&] {
    return Operation{read_client_request(client(), {}, request_of(count++, 100)).value().reconcile};
  };
  conversation.apply(next()).value();
  conversation.apply(next()).value();
  for (auto _ : state) {
    state.PauseTiming();
    Operation operation = next();
    state.ResumeTiming();
    benchmark::DoNotOptimize(conversation.apply(std::move(operation)).value());
  }
}

void following(benchmark::State& state) { follow(state, Conversation()); }

void following_durably(benchmark::State& state) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "undertext-requests-bench.db";
  const auto remove = [&] {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + end);
  };
  remove();
  follow(state, Conversation::open(open_store("sqlite:" + file.string()).value(), "bench").value());
  remove();
}

// A conversation whose client has sent lists of 1, 2, … messages, and the next request.
struct Followed {
  Conversation conversation;
  std::string next;
  Version version;

  Followed(std::int64_t messages, std::int64_t text_bytes) {
    for (std::int64_t n = messages - 40; n <= messages + 1; ++n) {
      next = request_of(n, text_bytes);
      version = conversation.apply({read_client_request(client(), {}, next).value().reconcile})
                    .value()
                    .version;
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
  for (auto _ : state)
    benchmark::DoNotOptimize(followed.conversation.raw_request(1 + number++ % 38).value());
  state.counters["request_bytes"] = static_cast<double>(followed.next.size());
}

BENCHMARK(reading)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(freeing)->Arg(1000)->Arg(100'000)->Iterations(20)->Unit(benchmark::kMillisecond);
BENCHMARK(reconciling)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(following)->Arg(1000)->Arg(100'000)->Iterations(20)->Unit(benchmark::kMillisecond);
BENCHMARK(following_durably)
    ->Arg(1000)
    ->Arg(100'000)
    ->Iterations(20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(recording)->Args({200, 2000})->Args({1000, 400})->Unit(benchmark::kMillisecond);
BENCHMARK(rebuilding)->Args({200, 2000})->Args({1000, 400})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace undertext::bench
