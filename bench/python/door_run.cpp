// What the engine itself takes, without any door: a message read from its JSON and appended, and
// the last three user messages written as the JSON of an answer. The baseline of door_run.py, with
// the same messages.
//   door_run MESSAGE_FILE MESSAGES
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <undertext/undertext.hpp>

using namespace undertext;

namespace {

constexpr int rounds = 50;

double thread_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The quickest of some rounds, in nanoseconds of CPU time a call: what the machine does besides
// only adds.
template <class Work>
double nanoseconds(std::uint64_t calls, Work work) {
  double least = 1e30;
  for (int round = 0; round < rounds; ++round) {
    const double begin = thread_time_ns();
    for (std::uint64_t i = 0; i < calls; ++i) work();
    least = std::min(least, (thread_time_ns() - begin) / static_cast<double>(calls));
  }
  return least;
}

void say(const char* what, double taken_ns) {
  std::cout << R"({"what":")" << what << R"(","by":"C++","microseconds":)" << taken_ns / 1000 << "}"
            << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[1]);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);

  say("append", nanoseconds(count / rounds, [conversation = Conversation(), &text]() mutable {
        op::Append append;
        append.messages.push_back(Message::parse(text).value());
        conversation.apply(Operation{std::move(append)}).value();
      }));

  Conversation conversation;
  for (std::uint64_t i = 0; i < count; ++i) {
    op::Append append;
    append.messages.push_back(Message::parse(text).value());
    conversation.apply(Operation{std::move(append)}).value();
  }
  std::size_t bytes = 0;
  say("messages", nanoseconds(1'000, [&] {
        std::string answer;
        MessageQuery query;
        query.roles = {Role::user};
        query.last = 3;
        for (const Message& message : conversation.messages(query).value().messages)
          answer += message.json();
        bytes += answer.size();
      }));
  return bytes == 0;
}
