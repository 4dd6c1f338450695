// The conversations that all benchmarks run on: 15 % user, 45 % assistant and 40 % tool messages of
// 600 bytes of JSON each, one a second, after one system message. Everything is made once, on first
// use, and the same in every run.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <undertext/undertext.hpp>

namespace undertext::bench {

// A second thread, which sleeps. The versions compared here may be handed to other threads; in a
// program that has only one, glibc and libstdc++ leave out the locks of malloc and the atomic
// counts of std::shared_ptr.
inline const bool has_second_thread = [] {
  std::thread([] { std::this_thread::sleep_for(std::chrono::hours(24)); }).detach();
  return true;
}();

inline constexpr std::size_t message_bytes = 600;
inline constexpr std::int64_t first_time_ms = 1'700'000'000'000;
inline constexpr std::int64_t time_step_ms = 1000;

// Whether every assistant message calls a tool and every tool message answers a call (85 % of all),
// or none does. One call in nine is never answered, as happens when a run is cancelled.
enum class ToolIds : std::uint8_t { none, paired };

inline Role role_at(std::uint64_t i) {
  static constexpr char pattern[] = "uatatatuatatatuatata";  // 3 u, 9 a, 8 t
  if (i == 0) return Role::system;
  const char c = pattern[i % 20];
  return c == 'u' ? Role::user : c == 'a' ? Role::assistant : Role::tool;
}

// Message number i as JSON text of message_bytes bytes.
inline std::string message_text(std::uint64_t i, ToolIds ids = ToolIds::none) {
  static constexpr std::string_view words =
      "the build failed at step four because the header was moved; looking at it now, then running "
      "the tests ";
  const Role role = role_at(i);
  std::string head = R"({"role":")" + std::string(name(role)) + R"(","timestamp":)" +
                     std::to_string(first_time_ms + static_cast<std::int64_t>(i) * time_step_ms);
  if (ids == ToolIds::paired && role == Role::assistant) {
    head += R"(,"toolCalls":[{"id":"call_)" + std::to_string(i) +
            R"(","name":"read_file","arguments":{"path":"src/main.cpp"}}])";
  }
  if (ids == ToolIds::paired && role == Role::tool)
    head += R"(,"toolCallId":"call_)" + std::to_string(i - 1) + '"';
  head += R"(,"content":")";
  const std::string tail = R"("})";
  std::string text = head + std::to_string(i) + ' ';
  while (text.size() + tail.size() < message_bytes) {
    text += words.substr(0, message_bytes - text.size() - tail.size());
  }
  return text + tail;
}

// The first n messages. A call with a larger n may move those of an earlier call.
inline std::span<const Message> messages(std::uint64_t n, ToolIds ids = ToolIds::none) {
  static std::map<ToolIds, std::vector<Message>> made;
  std::vector<Message>& all = made[ids];
  while (all.size() < n) all.push_back(Message::parse(message_text(all.size(), ids)).value());
  return {all.data(), n};
}

// Messages that are in no conversation yet, without tool ids; the i-th of a supply that begins
// again after 4,096.
inline const Message& fresh_message(std::uint64_t i) {
  static const std::vector<Message> supply = [] {
    std::vector<Message> all;
    for (std::uint64_t k = 0; k < 4096; ++k)
      all.push_back(Message::parse(message_text(1 + k)).value());
    return all;
  }();
  return supply[i % supply.size()];
}

// Tokens are counted when a message is stored. What an exact count costs is no matter of the
// structure, so here it is next to nothing; throughput_bench.cpp measures with the engine's own
// counter.
inline ApplyContext context() {
  return {.now_ms = first_time_ms, .count_tokens = [](const Message& m) {
            return static_cast<std::uint32_t>(m.json().size() / 4);
          }};
}

inline History apply(const History& history, Operation::What what) {
  return history.apply(Operation{std::move(what)}, context()).value().history;
}

// A conversation of n messages, appended one by one.
inline const History& history(std::uint64_t n, ToolIds ids = ToolIds::none) {
  static std::map<std::pair<std::uint64_t, ToolIds>, History> made;
  const auto [it, is_new] = made.try_emplace({n, ids});
  if (is_new) {
    for (const Message& message : messages(n, ids))
      it->second = apply(it->second, op::Append{{message}});
  }
  return it->second;
}

using Random = std::mt19937_64;  // always seeded with the default, so that every run does the same

inline std::uint64_t below(Random& random, std::uint64_t limit) { return random() % limit; }

// Insert, replace and delete in turn, `count` times, each at a random place.
inline History edited(History history, std::uint64_t count) {
  Random random;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = below(random, history.stats().current_batch_messages);
    switch (i % 3) {
      case 0: history = apply(history, op::Insert{at, {fresh_message(i)}}); break;
      case 1:
        history = apply(history, op::Replace{Names::indices({at}), {fresh_message(i)}});
        break;
      default: history = apply(history, op::Delete{Names::indices({at})});
    }
  }
  return history;
}

// What a program without the engine would keep of each message to answer questions without reading
// JSON.
struct Handle {
  std::int64_t time_ms;
  std::uint32_t ordinal;
  std::uint32_t tokens;
  std::uint32_t bytes;
  Role role;
};
static_assert(sizeof(Handle) == 24);

inline std::vector<Handle> handles_of(const View& view) {
  std::vector<Handle> handles;
  handles.reserve(view.size());
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    const Message message = view[i];
    handles.push_back({view.time_ms(i), static_cast<std::uint32_t>(view.ordinal(i).value),
                       view.tokens(i), static_cast<std::uint32_t>(message.json().size()),
                       message.role()});
  }
  return handles;
}

inline std::vector<Message> messages_of(const View& view) {
  std::vector<Message> all;
  all.reserve(view.size());
  for (const Message& message : view) all.push_back(message);
  return all;
}

}  // namespace undertext::bench
