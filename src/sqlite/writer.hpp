// The one connection that writes, and the queue before it. Whoever finds nobody writing writes, for
// everybody who waits by then: all of them in one transaction, with one fsync. Nobody is answered
// before that.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "sqlite/connection.hpp"

namespace undertext {

class Writer {
 public:
  // Throws SqliteError.
  Writer(std::string path, Durability durability, std::unique_ptr<Connection> connection);
  // that was opened, and no other is ever written to
  const FileIdentity& file() const { return file_; }
  const std::shared_ptr<SeenCounter>& seen_counter() const { return seen_; }

  // Runs work(connection) within a transaction that it may share with others. An error undoes what
  // this work did, and nothing else.
  template <class Work>
  std::optional<Error> write(Deadline deadline, Work& work) {
    Job job(deadline, Kind::shared, &work, &call<Work>);
    return run(job);
  }
  // Without a transaction, and with nobody else.
  template <class Work>
  std::optional<Error> alone(Deadline deadline, Work& work) {
    Job job(deadline, Kind::alone, &work, &call<Work>);
    return run(job);
  }

  // The log, or its index, lost its name: a new connection would begin another log, and miss what
  // was committed. So nobody opens one any more.
  bool has_lost_log() const { return log_is_lost_.load(std::memory_order_relaxed); }
  void note_lost_log() { log_is_lost_.store(true, std::memory_order_relaxed); }
  static SqliteError lost_log();

  // Sets up a new connection for writing.
  static void prepare(Connection& connection, Durability durability);

 private:
  enum class Kind : std::uint8_t { shared, alone };
  enum class State : std::uint8_t { waiting, leading, done };

  struct Job {
    Job(Deadline until, Kind what, void* data, std::optional<Error> (*function)(void*, Connection&))
        : deadline(until), kind(what), work(data), run(function) {}
    const Deadline deadline;
    const Kind kind;
    void* const work;
    std::optional<Error> (*const run)(void*, Connection&);
    std::optional<Error> error;
    std::exception_ptr exception;
    State state = State::waiting;
    std::condition_variable changed;
    Job* next = nullptr;
  };

  template <class Work>
  static std::optional<Error> call(void* work, Connection& connection) {
    return (*static_cast<Work*>(work))(connection);
  }

  std::optional<Error> run(Job& job);
  bool wait_for_turn(Job& job, std::unique_lock<std::mutex>& lock);
  Job* take_batch();
  void run_batch(Job*& batch) noexcept;
  void run_shared(Connection& connection, Job*& batch);
  void commit(Connection& connection);
  bool begin(Connection& connection, Job*& batch);
  bool run_one(Connection& connection, Job& job, bool in_savepoint);
  void answer(Job* batch, const Job& self) noexcept;
  void move_log_into_file() noexcept;
  Connection& ready(Deadline deadline);
  void rescue() noexcept;
  void distrust();

  const std::string path_;
  const Durability durability_;
  const std::shared_ptr<SeenCounter> seen_;  // of file_
  FileIdentity file_;

  std::mutex mutex_;  // guards the queue and the states of its jobs
  bool busy_ = false;
  Job* first_ = nullptr;
  Job* last_ = nullptr;

  // Of whoever leads.
  std::unique_ptr<Connection> connection_;
  std::uint64_t frames_moved_ = 0;  // of the log, when it was last moved into the file
  bool committing_ = false;
  bool log_is_doubtful_ = false;
  std::atomic<bool> log_is_lost_ = false;
  // The log may have been moved into the file, or restarted: it does not say yet whose it is, nor
  // that more was committed than the file has.
  bool stamp_is_due_ = true;
};

}  // namespace undertext
