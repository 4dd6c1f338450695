// What the calls cost in C++ that bench/node/door.mjs makes from Node: an APPEND of a message as
// JSON, and the last 3 user messages of 100,000 as JSON. Prints nanoseconds of CPU time a call: the
// least of 9 rounds, since what the machine does besides only adds.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include <undertext/conversation.hpp>

namespace {

using namespace undertext;

template <class Call>
double nanoseconds(int calls, Call call) {
  double least = 1e30;
  for (int round = 0; round < 9; ++round) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < calls; ++i) call(i);
    least =
        std::min(least, static_cast<double>(std::clock() - start) * (1e9 / CLOCKS_PER_SEC) / calls);
  }
  return least;
}

std::string message(int i) {
  return std::string(R"({"role":")") + (i % 2 == 0 ? "user" : "assistant") +
         R"(","content":"Message )" + std::to_string(i) +
         R"(: a line of ordinary length, as they are sent a thousand times a day."})";
}

}  // namespace

int main() {
  const double append = [] {
    Conversation conversation;
    return nanoseconds(20'000, [&](int i) {
      conversation.apply({op::Append{{Message::parse(message(i)).value()}}}).value();
    });
  }();
  Conversation conversation;
  for (int i = 0; i < 100'000; ++i)
    conversation.apply({op::Append{{Message::parse(message(i)).value()}}}).value();
  std::size_t bytes = 0;
  const double read = nanoseconds(20'000, [&](int) {
    const MessageList found = conversation.messages({.roles = {Role::user}, .last = 3}).value();
    std::string json;
    for (const Message& one : found.messages) json += one.json();
    bytes += json.size();
  });
  std::printf("{\"append\":%.0f,\"last3\":%.0f,\"bytes\":%zu}\n", append, read, bytes);
}
