// What stored conversations cost, for scripts/bench-conversations. One line of JSON for each
// measurement.
//
//     conversations_run turns FILE TURN…          a conversation of two messages of half a kilobyte a turn: bytes stored and time a turn, at these turns
//     conversations_run growth FILE MESSAGE…      messages, and an edit for every ten, in one conversation: file, open, edit and append at these sizes
//     conversations_run open FILE                 opens it, reads the last 50 messages, tells time and memory
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

namespace {

using namespace undertext;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::uint64_t bytes_of(const std::string& file) {
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(file + suffix, missing);
    if (!missing) bytes += size;
  }
  return bytes;
}

Message message(std::uint64_t n, Role role, std::size_t bytes) {
  std::string words = "message " + std::to_string(n) + " ";
  while (words.size() < bytes) words += "lorem ipsum dolor sit amet ";
  words.resize(bytes);
  return Message::make(role, words).value();
}

std::uint64_t resident_kb(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field, 0) == 0)
      return std::strtoull(line.c_str() + std::string(field).size(), nullptr, 10);
  }
  return 0;
}

int turns(const std::string& file, const std::vector<std::uint64_t>& at) {
  std::uint64_t turn = 0, bytes_before = 0, turn_before = 0;
  for (const std::uint64_t stop : at) {
    double ms = 0;
    {
      const auto store = open_store("sqlite:" + file).value();
      Conversation conversation = Conversation::open(store, "bench").value();
      const auto start = Clock::now();
      for (; turn < stop; ++turn) {
        conversation.apply({op::Append{{message(2 * turn, Role::user, 500)}}}).value();
        conversation.apply({op::Append{{message(2 * turn + 1, Role::assistant, 500)}}}).value();
      }
      ms = ms_since(start);
    }
    const std::uint64_t bytes = bytes_of(file);
    std::printf("{\"turn\":%llu,\"bytes\":%llu,\"bytes_a_turn\":%.1f,\"ms_a_turn\":%.4f}\n",
                static_cast<unsigned long long>(turn), static_cast<unsigned long long>(bytes),
                static_cast<double>(bytes - bytes_before) / static_cast<double>(turn - turn_before),
                ms / static_cast<double>(turn - turn_before));
    bytes_before = bytes;
    turn_before = turn;
  }
  return 0;
}

int open_and_read(const std::string& file) {
  const auto start = Clock::now();
  const auto store = open_store("sqlite:" + file).value();
  Conversation conversation = Conversation::open(store, "bench").value();
  const MessageList last = conversation.messages({.last = 50}).value();
  const double ms = ms_since(start);
  std::printf(
      "{\"open_ms\":%.2f,\"messages\":%llu,\"versions\":%llu,\"read\":%zu,\"resident_kb\":%llu}\n",
      ms, static_cast<unsigned long long>(conversation.stats().total_messages),
      static_cast<unsigned long long>(conversation.version().value), last.messages.size(),
      static_cast<unsigned long long>(resident_kb("VmHWM:")));
  return 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int growth(const std::string& file, const std::vector<std::uint64_t>& at) {
  const auto store = open_store("sqlite:" + file).value();
  Conversation conversation = Conversation::open(store, "bench").value();
  std::mt19937_64 random(1);
  std::uint64_t appended = 0;
  // of one of the messages appended so far: edits leave the length as it is
  const auto edit = [&] {
    return Operation{
        op::Replace{Names::indices({random() % appended}), {message(appended, Role::user, 200)}}};
  };
  for (const std::uint64_t stop : at) {
    const auto start = Clock::now();
    while (appended < stop) {
      // In lists of a hundred, so that loading takes minutes and not hours; each operation makes
      // its version all the same.
      std::vector<Operation> list;
      for (int k = 0; k < 100 && appended < stop; ++k, ++appended) {
        list.push_back(
            {op::Append{{message(appended, appended % 2 ? Role::assistant : Role::user, 200)}}});
        if (appended % 10 == 9) list.push_back(edit());
      }
      conversation.apply(std::move(list)).value();
    }
    const double load_ms = ms_since(start);
    std::vector<double> edits, appends, deletes;
    for (int k = 0; k < 100; ++k) {
      auto begin = Clock::now();
      conversation.apply(edit()).value();
      edits.push_back(ms_since(begin));
      begin = Clock::now();
      conversation.apply({op::Append{{message(appended, Role::user, 200)}}}).value();
      appends.push_back(ms_since(begin));
    }
    const auto begin = Clock::now();
    const auto again = open_store("sqlite:" + file).value();
    const Conversation opened = Conversation::open(again, "bench").value();
    const std::size_t read = opened.messages({.last = 50}).value().messages.size();
    const double open_ms = ms_since(begin);
    std::printf(
        "{\"messages\":%llu,\"versions\":%llu,\"bytes\":%llu,\"load_s\":%.1f,\"edit_ms\":%.3f,"
        "\"append_ms\":%.3f,\"open_ms\":%.2f,"
        "\"read\":%zu,\"resident_kb\":%llu}\n",
        static_cast<unsigned long long>(conversation.stats().total_messages),
        static_cast<unsigned long long>(conversation.version().value),
        static_cast<unsigned long long>(bytes_of(file)), load_ms / 1000, median(edits),
        median(appends), open_ms, read, static_cast<unsigned long long>(resident_kb("VmRSS:")));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: see the head of conversations_run.cpp\n"), 2;
  const std::string what = argv[1], file = argv[2];
  std::vector<std::uint64_t> numbers;
  for (int i = 3; i < argc; ++i) numbers.push_back(std::strtoull(argv[i], nullptr, 10));
  if (what == "turns") return turns(file, numbers);
  if (what == "growth") return growth(file, numbers);
  if (what == "open") return open_and_read(file);
  return 2;
}
