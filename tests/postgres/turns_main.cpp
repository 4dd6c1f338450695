// How fast turns are stored: undertext_turns URL WRITERS TURNS Each writer has a conversation of
// its own and commits TURNS turns one after the other, each of two messages of 512 bytes.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <undertext/store.hpp>

#include "store/chain.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

double ms(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

void write(Store& store, const std::string& id, std::uint64_t turns, std::vector<double>& times) {
  store.create({.id = id, .created_at_ms = 1, .chain = first_chain(id)}).value();
  Digest chain = first_chain(id);
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    Commit commit{.conversation = id, .expected_version = turn};
    for (std::uint64_t i = 0; i < 2; ++i) {
      MessageRecord message;
      message.ordinal = 2 * turn + i;
      message.body = R"({"role":"user","content":")";
      // Text that does not compress away.
      for (std::uint64_t word = turn * 2654435761 + i; message.body.size() < 510;
           word = word * 6364136223846793005u + 1442695040888963407u)
        message.body += static_cast<char>('a' + (word >> 40) % 26);
      message.body += "\"}";
      commit.messages.push_back(std::move(message));
    }
    VersionRecord version;
    version.version = turn + 1;
    version.log_length = 2 * turn + 2;
    version.operation = "append";
    version.chain = chain = next_chain(chain, version, commit.messages);
    commit.versions.push_back(std::move(version));
    const auto begun = Clock::now();
    store.commit(commit).value();
    times.push_back(ms(Clock::now() - begun));
  }
}

int run(const std::string& url, std::size_t writers, std::uint64_t turns) {
  const auto store =
      open_store(url, {.connections_max = static_cast<std::uint32_t>(writers)}).value();
  const std::string run = std::to_string(Clock::now().time_since_epoch().count());
  std::vector<std::vector<double>> times(writers);
  std::vector<std::thread> threads;
  const auto begun = Clock::now();
  for (std::size_t i = 0; i < writers; ++i)
    threads.emplace_back(
        [&, i] { write(*store, "t" + run + "-" + std::to_string(i), turns, times[i]); });
  for (std::thread& thread : threads) thread.join();
  const double seconds = ms(Clock::now() - begun) / 1000;
  std::vector<double> all;
  for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  std::cout << writers << " writers: " << static_cast<double>(all.size()) / seconds
            << " turns/s, p50 " << all[all.size() / 2] << " ms, p99 " << all[all.size() * 99 / 100]
            << " ms\n";
  return 0;
}

}  // namespace
}  // namespace undertext

int main(int count, char** words) {
  if (count != 4) return 2;
  try {
    return undertext::run(words[1], std::stoul(words[2]), std::stoull(words[3]));
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
