#include "history/pair_search.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "history/placed_view.hpp"

namespace undertext {
namespace {

using Indices = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // call, result

// Calls and results of one id, in runs of every length.
struct OneId {
  explicit OneId(std::uint64_t seed) : random(seed) {}

  std::uint64_t below(std::uint64_t n) { return random() % n; }

  void store(std::uint64_t count) {
    const Message call =
        Message::parse(R"({"role":"assistant","content":"","toolCalls":[{"id":"c"}]})").value();
    const Message result =
        Message::parse(R"({"role":"tool","content":"","toolCallId":"c"})").value();
    while (log.size() < count) {
      const bool is_call = below(2) == 0;
      const std::uint64_t run = below(is_call ? 3 : 1 + (1ull << below(10)));
      for (std::uint64_t i = 0; i < run; ++i) log.store(is_call ? call : result, 0, 0);
    }
  }

  // Shows the messages in order but for some, in several steps.
  void show() {
    const std::uint64_t hidden_of_8 = below(7);
    std::vector<std::uint32_t> next;
    for (std::uint32_t o = 0; o < log.size(); ++o) {
      if (below(8) >= hidden_of_8) next.push_back(o);
      if (below(50) == 0) view.append(log, std::exchange(next, {}));
    }
    view.append(log, next);
  }

  bool is_call(std::uint64_t index) const {
    return log.links[view.entries[index].ordinal].is_call();
  }

  // By the rule as it is written.
  std::uint64_t call_of(std::uint64_t result) const {
    for (std::uint64_t i = result; i-- > 0;)
      if (is_call(i)) return i;
    std::uint64_t call = result;
    while (call < view.size() && !is_call(call)) ++call;
    const bool has_own = call + 1 < view.size() && !is_call(call + 1);
    return has_own ? view.size() : call;
  }
  Indices pairs_with(std::uint64_t index) const {
    Indices pairs;
    for (std::uint64_t i = 0; i < view.size(); ++i) {
      if (is_call(i)) continue;
      const std::uint64_t call = calls[i];
      if (call < view.size() && (i == index || call == index)) pairs.emplace_back(call, i);
    }
    return pairs;
  }
  void pair() {
    for (std::uint64_t i = 0; i < view.size(); ++i) calls.push_back(is_call(i) ? i : call_of(i));
  }

  std::mt19937_64 random;
  Log log;
  PlacedView view;
  std::vector<std::uint64_t> calls;  // of results, by index
};

Indices indices_of(std::span<const PairPlaces> pairs) {
  Indices found;
  for (const PairPlaces& pair : pairs) found.emplace_back(pair.call, pair.result);
  return found;
}

TEST(PairSearch, FindsTheSamePairsInWhateverOrderItIsAsked) {
  const char* const given = std::getenv("SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("SEED=%llu\n", static_cast<unsigned long long>(seed));
  const std::uint64_t hash = Log::hash_of("c");
  for (std::uint64_t round = 0; round < 12; ++round) {
    OneId id(seed + round);
    id.store(id.below(1200));
    id.show();
    id.pair();
    std::vector<std::uint64_t> asked(id.view.size());
    for (std::uint64_t i = 0; i < asked.size(); ++i) asked[i] = i;
    if (round % 3 == 1) std::reverse(asked.begin(), asked.end());
    if (round % 3 == 2) std::shuffle(asked.begin(), asked.end(), id.random);
    PairSearch search(id.log, id.view);
    for (const std::uint64_t index : asked) {
      const Entry entry = id.view.entries[index];
      const Indices expected = id.pairs_with(index);
      ASSERT_EQ(indices_of(search.pairs_of(hash, entry.ordinal, index)), expected)
          << "at " << index << " in round " << round;
      ASSERT_EQ(indices_of(pairs_of(id.log, id.view, hash, entry.ordinal)), expected)
          << "asked for the first time";
      for (const auto& [call, result] : expected) {
        ASSERT_LE(id.view.entries[std::max(call, result)].reach,
                  id.view.entries[std::min(call, result)].place)
            << "a pair is found from its later half";
      }
    }
  }
}

}  // namespace
}  // namespace undertext
