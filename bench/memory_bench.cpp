// How much memory versions and messages cost, counted exactly: every allocation of the program
// passes through the operators below. A block is counted as malloc hands it out, its rounding and
// its header of 8 bytes included. Nothing here is timed.
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "conversations.hpp"

namespace {

std::size_t bytes_in_use = 0;
std::size_t block_bytes(void* block) { return malloc_usable_size(block) + 8; }
void give_back(void* block) {
  if (block) bytes_in_use -= block_bytes(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) {
  void* const block = std::malloc(size);
  if (!block) throw std::bad_alloc();
  bytes_in_use += block_bytes(block);
  return block;
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }

namespace undertext::bench {
namespace {

using benchmark::State;

constexpr std::uint64_t conversation_messages = 100'000;
constexpr std::uint64_t version_count = 1000;

// Kept versions
// ------------------------------------------------------------------------------------------------------------------

// Of ten operations five append two messages, two insert one, two replace one and one deletes one,
// at random places.
Operation mixed_operation(std::uint64_t i, std::uint64_t size, const std::vector<Message>& fresh,
                          Random& random) {
  const Message& a = fresh[2 * i];
  switch (random() % 10) {
    case 0:
    case 1: return {op::Insert{below(random, size), {a}}};
    case 2:
    case 3: return {op::Replace{Names::indices({below(random, size)}), {a}}};
    case 4: return {op::Delete{Names::indices({below(random, size)})}};
    default: return {op::Append{{a, fresh[2 * i + 1]}}};
  }
}

std::vector<Message> parsed(std::uint64_t count) {
  std::vector<Message> all;
  all.reserve(count);
  for (std::uint64_t i = 1; i <= count; ++i) all.push_back(Message::parse(message_text(i)).value());
  return all;
}

void versions_of_engine(State& state, ToolIds ids) {
  for (auto _ : state) {
    History current = history(conversation_messages, ids);
    const std::vector<Message> fresh = parsed(2 * version_count);
    const ApplyContext how = context();
    Random random;
    const std::size_t before = bytes_in_use;
    for (std::uint64_t i = 0; i < version_count; ++i) {
      current =
          current
              .apply(mixed_operation(i, current.stats().current_batch_messages, fresh, random), how)
              .value()
              .history;
    }
    state.counters["bytes"] = static_cast<double>(bytes_in_use - before);
    state.counters["versions"] = version_count;
  }
}

// `made` versions are kept, and the figure is what version_count of them would need.
template <class T>
void versions_of_vector(State& state, std::uint64_t made, T (*element_of)(const Message&)) {
  for (auto _ : state) {
    std::vector<T> elements;
    for (const Message& message : messages(conversation_messages))
      elements.push_back(element_of(message));
    std::vector<std::vector<T>> kept(made);
    const std::size_t before = bytes_in_use;
    for (std::vector<T>& version : kept) version = elements;
    state.counters["bytes"] = static_cast<double>((bytes_in_use - before) / made * version_count);
    state.counters["versions"] = static_cast<double>(made);
  }
}

// Bookkeeping a message
// --------------------------------------------------------------------------------------------------------

// Everything a conversation holds beyond the JSON of its messages, when they are appended one an
// operation and every version is kept.
void bookkeeping_of_engine(State& state, ToolIds ids, std::uint64_t replaced_after) {
  for (auto _ : state) {
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < conversation_messages; ++i) texts.push_back(message_text(i, ids));
    const Message other = Message::parse(message_text(1)).value();
    const std::size_t before = bytes_in_use;
    Conversation conversation;
    std::uint64_t json_bytes = 0;
    for (std::uint64_t i = 0; i < conversation_messages; ++i) {
      if (i == replaced_after && i > 0)
        conversation.apply({op::Replace{Names::indices({i / 2}), {other}}}).value();
      conversation.apply({op::Append{{Message::parse(texts[i]).value()}}}).value();
      json_bytes += texts[i].size();
    }
    state.counters["bytes_per_message"] = static_cast<double>(bytes_in_use - before - json_bytes) /
                                          static_cast<double>(conversation_messages);
  }
}

// The same messages with nothing but what holds their bytes.
template <class T>
void bookkeeping_of_vector(State& state, T (*element_of)(const std::string&)) {
  for (auto _ : state) {
    const std::string text = message_text(1);
    const std::size_t before = bytes_in_use;
    std::vector<T> elements;
    elements.reserve(conversation_messages);
    for (std::uint64_t i = 0; i < conversation_messages; ++i) elements.push_back(element_of(text));
    state.counters["bytes_per_message"] =
        static_cast<double>(bytes_in_use - before - conversation_messages * text.size()) /
        static_cast<double>(conversation_messages);
  }
}

// ----------------------------------------------------------------------------------------------------------------------------------

using SharedMessage = std::shared_ptr<const Message>;

void add(const std::string& name, std::function<void(State&)> run) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(run))
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

const int registered = [] {
  add("1,000 versions/engine", [](State& s) { versions_of_engine(s, ToolIds::none); });
  add("1,000 versions/engine, tool ids", [](State& s) { versions_of_engine(s, ToolIds::paired); });
  add("1,000 versions/handle copy", [](State& s) {
    versions_of_vector<Handle>(s, 20,
                               [](const Message& m) { return Handle{0, 0, 0, 0, m.role()}; });
  });
  add("1,000 versions/shared_ptr copy", [](State& s) {
    versions_of_vector<SharedMessage>(
        s, 20, [](const Message& m) { return std::make_shared<const Message>(m); });
  });
  add("1,000 versions/deep copy", [](State& s) {
    versions_of_vector<std::string>(s, 3, [](const Message& m) { return std::string(m.json()); });
  });

  add("bookkeeping a message/engine", [](State& s) { bookkeeping_of_engine(s, ToolIds::none, 0); });
  add("bookkeeping a message/engine, a REPLACE first",
      [](State& s) { bookkeeping_of_engine(s, ToolIds::none, 10); });
  add("bookkeeping a message/engine, tool ids",
      [](State& s) { bookkeeping_of_engine(s, ToolIds::paired, 0); });
  add("bookkeeping a message/vector<string>", [](State& s) {
    bookkeeping_of_vector<std::string>(s, [](const std::string& text) { return text; });
  });
  add("bookkeeping a message/vector<shared_ptr<string>>", [](State& s) {
    bookkeeping_of_vector<std::shared_ptr<std::string>>(
        s, [](const std::string& text) { return std::make_shared<std::string>(text); });
  });
  return 0;
}();

}  // namespace
}  // namespace undertext::bench
