// Processes that are killed while they write. What they were answered is there, nothing is there by
// halves, and what is done again with the same operation id is done once. (The system's cache
// survives a killed process, so this says nothing about power cuts: power_loss_test.cpp does.)
//
// UNDERTEXT_KILLS=N   how many (default: 200)
// SEED=N              when
#include <array>
#include <csignal>
#include <random>
#include <thread>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../store/kinds.hpp"
#include "numbers.hpp"
#include "story.hpp"

namespace undertext::test {
namespace {

constexpr int writers = 3;
constexpr int kills_per_file = 40;  // a small file is checked fast

std::string id_of(int writer) { return "w" + std::to_string(writer); }
std::string operation_id(std::uint64_t version) { return "op-" + std::to_string(version); }

// The n-th message of a conversation is always the same.
Commit next_commit(const Writing& writing) {
  const std::uint64_t n = writing.version() + 1;
  Commit commit = writing.append({body(n, 100 + n * 131 % 3000)}, operation_id(n));
  if (n % 7 == 0) {
    commit.checkpoint = Checkpoint{n, n + 1, "root"};
    commit.pages = {{n, std::string(1500, 'p')}};
  }
  return commit;
}

// Goes on from wherever the conversation stands, and tells the pipe after each answer.
[[noreturn]] void write_until_killed(const std::string& url, int pipe) {
  const std::shared_ptr<Store> store = open_store(url).value();
  const auto write = [&](int writer) {
    Result<ConversationRecord> record = store->find(id_of(writer));
    if (!record) record = store->create(Writing(id_of(writer)).creation());
    Writing writing(record.value());
    // As a client that does not know whether its last call was answered.
    if (writing.version() > 0 &&
        !store->find_operation(id_of(writer), operation_id(writing.version())).value())
      ::_exit(3);
    for (;;) {
      const Commit commit = next_commit(writing);
      if (!store->commit(commit)) ::_exit(2);
      writing.taken(commit);
      const std::array<std::uint64_t, 2> answer = {static_cast<std::uint64_t>(writer),
                                                   writing.version()};
      if (::write(pipe, answer.data(), sizeof answer) != sizeof answer) ::_exit(4);
    }
  };
  std::array<std::thread, writers> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads[static_cast<std::size_t>(writer)] = std::thread(write, writer);
  for (std::thread& thread : threads) thread.join();
  ::_exit(5);
}

TEST(Killed, ProcessesLoseNothingThatWasAnsweredAndDoNothingTwice) {
  const std::uint64_t kills = number_of("UNDERTEXT_KILLS", 200), seed = number_of("SEED", 1);
  std::mt19937_64 random(seed);
  std::uint64_t answers = 0, unanswered = 0;
  std::unique_ptr<Folder> folder;
  std::array<std::uint64_t, writers> answered = {};
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill) + ", SEED=" + std::to_string(seed));
    if (kill % kills_per_file == 0) {
      folder = std::make_unique<Folder>();
      answered = {};
    }
    const std::string url = "sqlite:" + folder->file("store.db");
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const ::pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      write_until_killed(url, ends[1]);
    }
    ::close(ends[1]);
    // Some answers, and then any moment of what follows.
    const std::uint64_t wanted = random() % 25;
    std::uint64_t read_answers = 0;
    const auto take = [&] {
      std::array<std::uint64_t, 2> answer;
      if (::read(ends[0], answer.data(), sizeof answer) != sizeof answer) return false;
      answered[answer[0]] = answer[1];
      ++read_answers;
      return true;
    };
    while (read_answers < wanted)
      if (!take()) break;
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(random() % (wanted == 0 ? 20000 : 2000));
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    // What it was answered before it died is still in the pipe.
    while (take()) {
    }
    ::close(ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status)) << "ended by itself with " << WEXITSTATUS(status);
    answers += read_answers;

    const std::shared_ptr<Store> store = open_store(url).value();
    const CheckReport report = check_store(*store).value();
    ASSERT_TRUE(report.damage.empty()) << report.damage.front().what;
    for (int writer = 0; writer < writers; ++writer) {
      const Result<ConversationRecord> record = store->find(id_of(writer));
      if (!record) {
        ASSERT_EQ(answered[static_cast<std::size_t>(writer)], 0u);
        continue;
      }
      const std::uint64_t known = answered[static_cast<std::size_t>(writer)];
      ASSERT_GE(record->version, known) << "lost";
      ASSERT_LE(record->version, known + 1) << "stored what nobody asked for";
      unanswered += record->version - known;
      answered[static_cast<std::size_t>(writer)] = record->version;
      // The chain proves the rest: each version is the one commit that can follow, so none is
      // missing or there twice.
      Writing again(id_of(writer));
      while (again.version() < record->version) again.taken(next_commit(again));
      ASSERT_EQ(record->chain, again.chain());
      ASSERT_EQ(record->log_length, again.log_length());
    }
  }
  std::printf(
      "kills: %ju of processes with %d writers, %ju answers, %ju stored but not answered, 0 lost, "
      "0 doubled (SEED=%ju)\n",
      std::uintmax_t{kills}, writers, std::uintmax_t{answers}, std::uintmax_t{unanswered},
      std::uintmax_t{seed});
}

}  // namespace
}  // namespace undertext::test
