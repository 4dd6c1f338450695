// What the calls cost in C++ that bench/node/door.mjs makes from Node: an APPEND of a message as JSON, and the last 3 user messages of 100,000 as JSON. Prints
// nanoseconds a call: the median of 9 rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <undertext/conversation.hpp>

namespace {

using namespace undertext;

template <class Call>
double nanoseconds(int calls, Call call) {
  std::vector<double> rounds;
  for (int round = 0; round < 9; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call(i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    rounds.push_back(took.count() / calls);
  }
  std::nth_element(rounds.begin(), rounds.begin() + 4, rounds.end());
  return rounds[4];
}

std::string message(int i) {
  return std::string(R"({"role":")") + (i % 2 == 0 ? "user" : "assistant") + R"(","content":"Message )" + std::to_string(i) +
         R"(: a line of ordinary length, as they are sent a thousand times a day."})";
}

}  // namespace

int main() {
  const double append = [] {
    Conversation conversation;
    return nanoseconds(20'000, [&](int i) { conversation.apply({op::Append{{Message::parse(message(i)).value()}}}).value(); });
  }();
  Conversation conversation;
  for (int i = 0; i < 100'000; ++i) conversation.apply({op::Append{{Message::parse(message(i)).value()}}}).value();
  std::size_t bytes = 0;
  const double read = nanoseconds(20'000, [&](int) {
    const MessageList found = conversation.messages({.roles = {Role::user}, .last = 3}).value();
    std::string json;
    for (const Message& one : found.messages) json += one.json();
    bytes += json.size();
  });
  std::printf("{\"append\":%.0f,\"last3\":%.0f,\"bytes\":%zu}\n", append, read, bytes);
}
