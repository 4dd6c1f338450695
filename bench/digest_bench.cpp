// What it costs to digest 200,000 tokens of agents at work (tests/digest/long, again and again),
// and to plan by the default strategy to 15 % of them, beside parsing the same messages. A token is
// four bytes of JSON.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <undertext/compression.hpp>

namespace undertext::bench {
namespace {

using benchmark::DoNotOptimize;
using benchmark::State;

constexpr std::uint64_t tokens_wanted = 200'000;

std::uint64_t tokens_of(std::string_view text) { return (text.size() + 3) / 4; }
std::uint32_t tokens_of_message(const Message& message) {
  return static_cast<std::uint32_t>(tokens_of(message.json()));
}

// A transcript has one message on a line.
std::vector<Message> messages_of_transcripts() {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(__FILE__).parent_path() / "../tests/digest/long"))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::vector<Message> messages;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
      if (!line.starts_with(R"({"role")")) continue;
      if (line.ends_with(',')) line.pop_back();
      messages.push_back(Message::parse(line).value());
    }
  }
  return messages;
}

const std::vector<Message>& transcripts() {
  static const std::vector<Message> all = [] {
    const std::vector<Message> once = messages_of_transcripts();
    std::vector<Message> repeated;
    std::uint64_t tokens = 0;
    for (std::size_t i = 0; tokens < tokens_wanted; ++i) {
      repeated.push_back(once[i % once.size()]);
      tokens += tokens_of_message(repeated.back());
    }
    return repeated;
  }();
  return all;
}

void parse(State& state) {
  const std::vector<Message>& messages = transcripts();
  for (auto _ : state)
    for (const Message& message : messages) DoNotOptimize(Message::parse(message.json()));
}

void digest(State& state) {
  const std::vector<Message>& messages = transcripts();
  for (auto _ : state)
    DoNotOptimize(
        digest_summariser()
            ->summarise({.messages = messages, .tokens_max = 8192, .count_tokens = tokens_of})
            .value());
}

void plan_by_default(State& state) {
  const History history =
      History()
          .apply({op::Append{transcripts()}}, {.count_tokens = tokens_of_message})
          .value()
          .history;
  Aim aim;
  aim.tokens_max = history.stats().tokens * 15 / 100;
  aim.count_tokens = tokens_of_message;
  aim.count_text = tokens_of;
  for (auto _ : state) DoNotOptimize(default_strategy()->plan(history, aim).value());
}

BENCHMARK(parse)->Unit(benchmark::kMillisecond);
BENCHMARK(digest)->Unit(benchmark::kMillisecond);
BENCHMARK(plan_by_default)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace undertext::bench
