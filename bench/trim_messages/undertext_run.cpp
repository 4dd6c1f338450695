// The same for Undertext: sliding_window planned and applied, on a conversation that is there
// already (where every message was counted when it came), and with everything from the JSON text
// on.
//
//     undertext_run FILE N…
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/undertext.hpp>

namespace {

using namespace undertext;

std::uint32_t count(const Message& message) {
  return static_cast<std::uint32_t>(message.text().size() / 4);
}
const ApplyContext context{.now_ms = 0, .count_tokens = count};

History stored(const std::vector<std::string>& lines, std::size_t n) {
  op::Append append;
  for (std::size_t i = 0; i < n; ++i) append.messages.push_back(Message::parse(lines[i]).value());
  return History().apply({std::move(append)}, context).value().history;
}

History trimmed(const History& history, std::uint64_t tokens_max) {
  Aim aim;
  aim.tokens_max = tokens_max;
  return history.apply({op::ApplyPlan{sliding_window()->plan(history, aim).value()}}, context)
      .value()
      .history;
}

double median_seconds(const std::function<void()>& work) {
  std::vector<double> times;
  double sum = 0;
  while (times.size() < 5 || (times.size() < 1001 && sum < 0.2)) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    sum += times.back();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void tell(const char* by, std::size_t n, double seconds, const History& after,
          std::uint64_t tokens_max) {
  const Stats stats = after.stats();
  std::printf(
      R"({"by": "%s", "version": "%s", "n": %zu, "seconds": %.9f, "kept": %llu, "tokens": %llu, "tokens_max": %llu})"
      "\n",
      by, std::string(library_version()).c_str(), n, seconds,
      static_cast<unsigned long long>(stats.current_batch_messages),
      static_cast<unsigned long long>(stats.tokens), static_cast<unsigned long long>(tokens_max));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::ifstream file(argv[1]);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  for (int i = 2; i < argc; ++i) {
    const std::size_t n = std::strtoull(argv[i], nullptr, 10);
    if (n > lines.size()) break;
    const History history = stored(lines, n);
    const std::uint64_t tokens_max = history.stats().tokens / 2;
    const History after = trimmed(history, tokens_max);
    tell("Undertext", n, median_seconds([&] { trimmed(history, tokens_max); }), after, tokens_max);
    tell("Undertext, from JSON text", n,
         median_seconds([&] { trimmed(stored(lines, n), tokens_max); }), after, tokens_max);
  }
  return 0;
}
