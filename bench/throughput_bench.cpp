// How many messages of 600 bytes a second go in, from JSON text to a stored version, on one core:
// parsing, checking, counting tokens, storing and publishing included. Each run fills a
// conversation with 100,000 messages; letting go of it is not timed.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "conversations.hpp"
#include "json/request.hpp"

namespace undertext::bench {
namespace {

using benchmark::DoNotOptimize;
using benchmark::State;

constexpr std::size_t message_count = 100'000;

const std::vector<std::string>& texts(ToolIds ids) {
  static std::map<ToolIds, std::vector<std::string>> made;
  std::vector<std::string>& all = made[ids];
  while (all.size() < message_count) all.push_back(message_text(all.size(), ids));
  return all;
}

std::vector<std::string> lines(ToolIds ids, std::size_t per_operation) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < message_count; ++i) {
    if (i % per_operation == 0) all.push_back(R"({"operation":"APPEND","messages":[)");
    all.back() += texts(ids)[i] + ((i + 1) % per_operation == 0 ? "]}" : ",");
  }
  return all;
}

// Runs fill(fresh) over and over; what it fills is made and destroyed outside the timing.
template <class Filled>
void fill_over_and_over(State& state, const std::function<void(Filled&)>& fill) {
  std::unique_ptr<Filled> filled;
  for (auto _ : state) {
    state.PauseTiming();
    filled = nullptr;
    filled = std::make_unique<Filled>();
    state.ResumeTiming();
    fill(*filled);
  }
  const auto count =
      static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(message_count);
  state.SetItemsProcessed(count);
  state.SetBytesProcessed(count * static_cast<std::int64_t>(message_bytes));
}

void conversation_apply(State& state, ToolIds ids, std::size_t per_operation) {
  const std::vector<std::string>& all = texts(ids);
  fill_over_and_over<Conversation>(state, [&](Conversation& conversation) {
    for (std::size_t i = 0; i < all.size(); i += per_operation) {
      op::Append append;
      append.messages.reserve(per_operation);
      for (std::size_t k = 0; k < per_operation; ++k)
        append.messages.push_back(Message::parse(all[i + k]).value());
      DoNotOptimize(conversation.apply({std::move(append)}).value());
    }
  });
}

void answer_lines(State& state, ToolIds ids, std::size_t per_operation) {
  const std::vector<std::string> all = lines(ids, per_operation);
  fill_over_and_over<Conversation>(state, [&](Conversation& conversation) {
    for (const std::string& line : all) DoNotOptimize(answer(conversation, line));
  });
}

// What of it is reading the JSON.
void parse_only(State& state, ToolIds ids) {
  fill_over_and_over<std::vector<Message>>(state, [&](std::vector<Message>& messages) {
    for (const std::string& text : texts(ids)) messages.push_back(Message::parse(text).value());
  });
}

// What a program does that keeps the text as it came, unchecked and without versions.
void copy_text(State& state) {
  fill_over_and_over<std::vector<std::string>>(state, [&](std::vector<std::string>& kept) {
    for (const std::string& text : texts(ToolIds::none)) kept.push_back(text);
  });
}

void add(const std::string& name, std::function<void(State&)> run) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(run))->Unit(benchmark::kMillisecond);
}

const int registered = [] {
  for (const auto& [suffix, ids] :
       {std::pair{"", ToolIds::none}, std::pair{", tool ids", ToolIds::paired}}) {
    const ToolIds which = ids;
    add(std::string("APPEND 1 an operation/engine") + suffix,
        [=](State& s) { conversation_apply(s, which, 1); });
    add(std::string("APPEND 10 an operation/engine") + suffix,
        [=](State& s) { conversation_apply(s, which, 10); });
    add(std::string("line protocol, 1 a line/engine") + suffix,
        [=](State& s) { answer_lines(s, which, 1); });
    add(std::string("line protocol, 10 a line/engine") + suffix,
        [=](State& s) { answer_lines(s, which, 10); });
    add(std::string("parse only/engine") + suffix, [=](State& s) { parse_only(s, which); });
  }
  add("copy the text/vector<string>", copy_text);
  return 0;
}();

}  // namespace
}  // namespace undertext::bench
