// What one edit costs when the old version is kept: the engine, beside three ways to keep versions
// by copying a vector.
//
// Edits form chains: each goes on from the version that the one before it made, at a random place,
// and all versions of a chain are kept until it ends. A chain is short against the conversation, so
// that n hardly changes, and begins again from n messages. Preparing operations, parsing messages
// and letting go of a finished chain are not timed.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "conversations.hpp"

namespace undertext::bench {
namespace {

using benchmark::State;

std::uint64_t size_of(const State& state) { return static_cast<std::uint64_t>(state.range(0)); }

// The engine
// ---------------------------------------------------------------------------------------------------------------

using MakeOperation = Operation (*)(std::uint64_t size, std::uint64_t i, Random& random);

Operation insert(std::uint64_t size, std::uint64_t i, Random& random) {
  return {op::Insert{below(random, size), {fresh_message(i)}}};
}
Operation replace(std::uint64_t size, std::uint64_t i, Random& random) {
  return {op::Replace{Names::indices({below(random, size)}), {fresh_message(i)}}};
}
Operation remove(std::uint64_t size, std::uint64_t, Random& random) {
  return {op::Delete{Names::indices({below(random, size)})}};
}
Operation append(std::uint64_t, std::uint64_t i, Random&) {
  return {op::Append{{fresh_message(i)}}};
}
Operation truncate(std::uint64_t size, std::uint64_t, Random&) {
  return {op::Truncate{.keep_last = size / 2}};
}
Operation clear(std::uint64_t, std::uint64_t, Random&) { return {op::Clear{}}; }
Operation filter_users(std::uint64_t, std::uint64_t, Random&) {
  return {op::Filter{.roles = {Role::user}}};
}
Operation filter_tools(std::uint64_t, std::uint64_t, Random&) {
  return {op::Filter{.roles = {Role::tool}}};
}
Operation roll_back(std::uint64_t, std::uint64_t, Random&) { return {op::Rollback{0}}; }
Operation restore(std::uint64_t size, std::uint64_t, Random&) { return {op::Restore{size}}; }

std::uint64_t chain_length(std::uint64_t n) { return std::min<std::uint64_t>(1000, n / 10); }

void engine_chain(State& state, MakeOperation make, ToolIds ids) {
  const std::uint64_t n = size_of(state), length = chain_length(n);
  const History& start = history(n, ids);
  const ApplyContext how = context();
  Random random;
  std::vector<Operation> operations;
  History current;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(length))) {
    state.PauseTiming();
    operations.clear();
    // A view that shrinks is never shorter than n - length.
    for (std::uint64_t i = 0; i < length; ++i) operations.push_back(make(n - length, i, random));
    current = start;
    state.ResumeTiming();
    for (const Operation& operation : operations)
      current = current.apply(operation, how).value().history;
  }
}

// Edits that take much away, or bring it back, always start from the same conversation of n
// messages.
using MakeStart = const History& (*)(std::uint64_t n, ToolIds ids);

// After a TRUNCATE to the last half and one more message: in batch 1.
const History& halved(std::uint64_t n, ToolIds ids) {
  static std::map<std::pair<std::uint64_t, ToolIds>, History> made;
  const auto [it, is_new] = made.try_emplace({n, ids});
  if (is_new)
    it->second = apply(apply(history(n, ids), op::Truncate{.keep_last = n / 2}),
                       op::Append{{fresh_message(0)}});
  return it->second;
}

void engine_from_start(State& state, MakeOperation make, ToolIds ids = ToolIds::none,
                       MakeStart from = history) {
  const std::uint64_t n = size_of(state), length = chain_length(n);
  const History& start = from(n, ids);
  const ApplyContext how = context();
  Random random;
  const Operation operation = make(n, 0, random);
  std::vector<History> kept;
  kept.reserve(length);
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(length))) {
    state.PauseTiming();
    kept.clear();
    state.ResumeTiming();
    for (std::uint64_t i = 0; i < length; ++i)
      kept.push_back(start.apply(operation, how).value().history);
  }
}

void engine_append_with_parse(State& state) {
  const std::uint64_t n = size_of(state), length = chain_length(n);
  const History& start = history(n);
  const ApplyContext how = context();
  History current;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(length))) {
    state.PauseTiming();
    current = start;
    state.ResumeTiming();
    for (std::uint64_t i = 0; i < length; ++i) {
      current = current.apply({op::Append{{Message::parse(fresh_message(i).json()).value()}}}, how)
                    .value()
                    .history;
    }
  }
}

void engine_snapshot(State& state) {
  const History& start = history(size_of(state));
  constexpr std::size_t length = 1000;
  std::vector<History> kept;
  kept.reserve(length);
  while (state.KeepRunningBatch(length)) {
    state.PauseTiming();
    kept.clear();
    state.ResumeTiming();
    for (std::size_t i = 0; i < length; ++i) kept.push_back(start);
  }
}

// The baselines
// ------------------------------------------------------------------------------------------------------------
//
// Each makes the next version as a new vector, in one pass and one allocation. Kept versions are
// bounded to about 256 MB, so that chains of a large n are shorter.

using SharedMessage = std::shared_ptr<const Message>;
// libstdc++'s pointer that does not count atomically: all copies must stay in one thread.
using OneThreadMessage = std::__shared_ptr<const Message, __gnu_cxx::_S_single>;

template <class T>
T element_of(const Message& message);
template <>
std::string element_of<std::string>(const Message& message) {
  return std::string(message.json());
}
// Parsed again, so that pointer and bytes lie in memory as they do when messages come in one by
// one.
template <>
SharedMessage element_of<SharedMessage>(const Message& message) {
  return std::make_shared<const Message>(Message::parse(message.json()).value());
}
template <>
OneThreadMessage element_of<OneThreadMessage>(const Message& message) {
  return std::__make_shared<const Message, __gnu_cxx::_S_single>(
      Message::parse(message.json()).value());
}
template <>
Handle element_of<Handle>(const Message& message) {
  return {message.timestamp_ms().value_or(0), 0, 150,
          static_cast<std::uint32_t>(message.json().size()), message.role()};
}

template <class T>
const std::vector<T>& elements(std::uint64_t n) {
  static std::map<std::uint64_t, std::vector<T>> made;
  std::vector<T>& all = made[n];
  if (all.empty()) {
    all.reserve(n);
    for (const Message& message : messages(n)) all.push_back(element_of<T>(message));
  }
  return all;
}

template <class T>
std::uint64_t copies_kept(std::uint64_t n) {
  constexpr std::uint64_t element_bytes =
      sizeof(T) + (std::is_same_v<T, std::string> ? message_bytes : 0);
  return std::clamp<std::uint64_t>((256u << 20) / (n * element_bytes), 1, chain_length(n));
}

// [0, at) of `from`, then `put`, then `from` without its first at + erase.
template <class T>
std::vector<T> spliced(const std::vector<T>& from, std::uint64_t at, std::uint64_t erase,
                       const T* put) {
  const auto cut = from.begin() + static_cast<std::ptrdiff_t>(at);
  std::vector<T> to;
  to.reserve(from.size() + 1 - erase);
  to.insert(to.end(), from.begin(), cut);
  if (put) to.push_back(*put);
  to.insert(to.end(), cut + static_cast<std::ptrdiff_t>(erase), from.end());
  return to;
}

enum class Edit : std::uint8_t { insert, replace, remove, append, truncate, clear, snapshot };

template <class T>
std::vector<T> next_version(Edit edit, const std::vector<T>& from, const T& fresh, Random& random) {
  const std::uint64_t n = from.size();
  switch (edit) {
    case Edit::insert: return spliced(from, below(random, n), 0, &fresh);
    case Edit::replace: return spliced(from, below(random, n), 1, &fresh);
    case Edit::remove: return spliced<T>(from, below(random, n), 1, nullptr);
    case Edit::append: return spliced(from, n, 0, &fresh);
    case Edit::truncate: return {from.end() - static_cast<std::ptrdiff_t>(n / 2), from.end()};
    case Edit::clear: return {from.front()};  // the system message stays
    case Edit::snapshot: break;
  }
  return from;
}

template <class T>
void copied_vector(State& state, Edit edit) {
  const std::uint64_t n = size_of(state), length = copies_kept<T>(n);
  const std::vector<T>& start = elements<T>(n);
  const bool from_start = edit == Edit::truncate || edit == Edit::clear || edit == Edit::snapshot;
  std::vector<T> fresh;
  for (std::uint64_t i = 0; i < length; ++i) fresh.push_back(element_of<T>(fresh_message(i)));
  Random random;
  std::vector<std::vector<T>> kept;
  kept.reserve(length);
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(length))) {
    state.PauseTiming();
    kept.clear();
    state.ResumeTiming();
    for (std::uint64_t i = 0; i < length; ++i) {
      kept.push_back(
          next_version(edit, from_start || kept.empty() ? start : kept.back(), fresh[i], random));
    }
  }
}

// One result of a message with n calls goes.
void engine_one_of_many_calls(State& state) {
  const std::uint64_t n = size_of(state);
  std::string calls;
  op::Append append;
  for (std::uint64_t k = 0; k < n; ++k)
    calls += (k == 0 ? "{\"id\":\"c" : ",{\"id\":\"c") + std::to_string(k) + "\"}";
  append.messages.push_back(
      Message::parse(R"({"role":"assistant","content":"","toolCalls":[)" + calls + "]}").value());
  for (std::uint64_t k = 0; k < n; ++k)
    append.messages.push_back(Message::make_tool_result("c" + std::to_string(k), "result").value());
  const History start = History().apply({append}, context()).value().history;
  const Operation operation{op::Delete{Names::indices({n / 2})}};
  const ApplyContext how = context();
  for (auto _ : state) benchmark::DoNotOptimize(start.apply(operation, how));
}

// ----------------------------------------------------------------------------------------------------------------------------

// malloc keeps what is freed, as in a process that has run for long. Otherwise every large vector
// would come fresh from the system, and its page faults would cost the baselines several times what
// copying costs.
void reuse_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
}

benchmark::internal::Benchmark* add(const std::string& name, std::function<void(State&)> run) {
  return benchmark::RegisterBenchmark(name.c_str(), std::move(run))
      ->ArgName("n")
      ->Arg(1000)
      ->Arg(10000)
      ->Arg(100000);
}

void add_baselines(const std::string& name, Edit edit) {
  // 1e6 would be 640 MB a version
  add(name + "/deep copy", [=](State& s) { copied_vector<std::string>(s, edit); });
  add(name + "/shared_ptr copy", [=](State& s) {
    copied_vector<SharedMessage>(s, edit);
  })->Arg(1000000);
  add(name + "/handle copy", [=](State& s) { copied_vector<Handle>(s, edit); })->Arg(1000000);
}

const int registered = [] {
  reuse_memory();
  struct Row {
    std::string name;
    MakeOperation make;
    Edit edit;
  };
  for (const Row& row :
       {Row{"INSERT", insert, Edit::insert}, Row{"REPLACE", replace, Edit::replace},
        Row{"DELETE", remove, Edit::remove}}) {
    add(row.name + "/engine", [=](State& s) {
      engine_chain(s, row.make, ToolIds::none);
    })->Arg(1000000);
    add(row.name + "/engine, tool ids",
        [=](State& s) { engine_chain(s, row.make, ToolIds::paired); });
    add_baselines(row.name, row.edit);
    add(row.name + "/one-thread shared_ptr copy",
        [=](State& s) { copied_vector<OneThreadMessage>(s, row.edit); });
  }
  add("DELETE of one result/engine, n calls in one message", engine_one_of_many_calls);
  add("APPEND/engine", [](State& s) { engine_chain(s, append, ToolIds::none); })->Arg(1000000);
  add("APPEND/engine, with parse", engine_append_with_parse)->Arg(1000000);
  add_baselines("APPEND", Edit::append);
  add("TRUNCATE/engine", [](State& s) { engine_from_start(s, truncate); })->Arg(1000000);
  add_baselines("TRUNCATE", Edit::truncate);
  // What hides or returns half the messages and more, where all agents are: with ids, which have to
  // be paired.
  struct Whole {
    std::string name;
    MakeOperation make;
    MakeStart from;
  };
  for (const Whole& row :
       {Whole{"TRUNCATE", truncate, history}, Whole{"ROLLBACK after TRUNCATE", roll_back, halved},
        Whole{"RESTORE after TRUNCATE", restore, halved},
        Whole{"FILTER of users", filter_users, history},
        Whole{"FILTER of tools", filter_tools, history}}) {
    if (row.make != truncate)
      add(row.name + "/engine",
          [=](State& s) { engine_from_start(s, row.make, ToolIds::none, row.from); });
    add(row.name + "/engine, tool ids",
        [=](State& s) { engine_from_start(s, row.make, ToolIds::paired, row.from); });
  }
  add("CLEAR/engine", [](State& s) { engine_from_start(s, clear); })->Arg(1000000);
  add_baselines("CLEAR", Edit::clear);
  add("snapshot/engine", engine_snapshot)->Arg(1000000);
  add_baselines("snapshot", Edit::snapshot);
  return 0;
}();

}  // namespace
}  // namespace undertext::bench
