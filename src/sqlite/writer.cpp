#include "sqlite/writer.hpp"

#include <algorithm>
#include <new>

#include "sqlite/schema.hpp"
#include "store/rules.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t batch_max = 512;
constexpr std::uint64_t log_frames_max = 1000;  // then the log is moved into the file: 4 MiB

// After these, what SQLite holds in memory, or the system in its cache, may not be what is on the
// disk.
bool is_fatal(const SqliteError& error) {
  return error.kind() == SQLITE_IOERR || error.kind() == SQLITE_CANTOPEN;
}

Error may_have_happened(Error error) {
  error.message +=
      "; it is not known whether the change was stored: retry with the same operation id";
  return error;
}

}  // namespace

Writer::Writer(std::string path, Durability durability, std::unique_ptr<Connection> connection)
    : path_(std::move(path)),
      durability_(durability),
      seen_(connection->seen_counter()),
      connection_(std::move(connection)) {
  prepare(*connection_, durability_);
  file_ = connection_->identity();
}

void Writer::prepare(Connection& connection, Durability durability) {
  connection.run(durability == Durability::full ? "PRAGMA synchronous=FULL"
                                                : "PRAGMA synchronous=NORMAL");
  connection.run("PRAGMA journal_size_limit=16777216");
}

std::optional<Error> Writer::run(Job& job) {
  std::unique_lock lock(mutex_);
  (last_ ? last_->next : first_) = &job;
  last_ = &job;
  if (busy_) {
    if (!wait_for_turn(job, lock)) return deadline_passed();
  } else {
    busy_ = true;
    job.state = State::leading;
  }
  if (job.state == State::leading) {
    Job* batch = take_batch();
    lock.unlock();
    run_batch(batch);
    lock.lock();
    answer(batch, job);
    lock.unlock();
    move_log_into_file();
    lock.lock();
    if (first_) {
      first_->state = State::leading;
      first_->changed.notify_one();
    } else {
      busy_ = false;
    }
  }
  lock.unlock();
  if (job.exception) std::rethrow_exception(job.exception);
  return std::move(job.error);
}

// False: the deadline came first, and the job is no longer in the queue.
bool Writer::wait_for_turn(Job& job, std::unique_lock<std::mutex>& lock) {
  const auto turned = [&] { return job.state != State::waiting; };
  if (job.deadline == Deadline::max()) {
    job.changed.wait(lock, turned);
    return true;
  }
  if (job.changed.wait_until(lock, job.deadline, turned)) return true;
  Job* before = nullptr;
  Job* at = first_;
  while (at && at != &job) {
    before = at;
    at = at->next;
  }
  if (!at) {
    // It is being written, and the answer will not be long.
    job.changed.wait(lock, turned);
    return true;
  }
  (before ? before->next : first_) = job.next;
  if (last_ == &job) last_ = before;
  return false;
}

// The leader's own job comes first, and with it all that may share its transaction.
Writer::Job* Writer::take_batch() {
  Job* batch = first_;
  Job* end = batch;
  if (batch->kind == Kind::shared)
    for (std::size_t count = 1; count < batch_max && end->next && end->next->kind == Kind::shared;
         ++count)
      end = end->next;
  first_ = end->next;
  if (!first_) last_ = nullptr;
  end->next = nullptr;
  return batch;
}

void Writer::answer(Job* batch, const Job& self) noexcept {
  while (batch) {
    Job* const job = batch;
    batch = job->next;
    job->state = State::done;
    // Under the lock: the job is gone as soon as its owner sees the state.
    if (job != &self) job->changed.notify_one();
  }
}

// Throws nothing: others wait for what it leaves in their jobs.
void Writer::run_batch(Job*& batch) noexcept {
  std::optional<Error> error;
  std::exception_ptr exception;
  committing_ = false;
  try {
    Connection& connection = ready(batch->deadline);
    if (batch->kind == Kind::alone) {
      connection.set_deadline(batch->deadline);
      connection.require_files_unchanged();
      connection.forget_pages();
      require_known_schema(connection);
      stamp_is_due_ = true;
      batch->error = batch->run(batch->work, connection);
      connection.require_files_unchanged();
    } else {
      run_shared(connection, batch);
    }
    return;
  } catch (const SqliteError& failure) {
    if (failure.code == log_changed) {
      rescue();
    } else if (is_fatal(failure)) {
      distrust();
    }
    try {
      error = to_error(failure, path_);
      if (committing_) error = may_have_happened(*std::move(error));
    } catch (const std::bad_alloc&) {
      exception = std::current_exception();
    }
  } catch (const std::bad_alloc&) {
    exception = std::current_exception();
  }
  // Whatever the transaction held is undone; a connection that cannot even do that is closed, which
  // undoes it too.
  if (connection_ && connection_->in_transaction()) {
    try {
      connection_->run("ROLLBACK");
    } catch (const SqliteError&) {
      distrust();
    } catch (const std::bad_alloc&) {
      distrust();
    }
  }
  for (Job* job = batch; job; job = job->next) {
    if (job->error || job->exception) continue;  // its own fault
    if (exception) {
      job->exception = exception;
    } else {
      try {
        job->error = error;
      } catch (const std::bad_alloc&) {
        job->exception = std::current_exception();
      }
    }
  }
}

void Writer::run_shared(Connection& connection, Job*& batch) {
  if (stamp_is_due_) connection.forget_pages();
  if (!begin(connection, batch)) return;
  // Before anything is read for the answers, and not only before the commit: another file would
  // give a conflict, or a record that is missing.
  connection.require_files_unchanged();
  require_known_schema(connection);
  const bool many = batch->next != nullptr;
  bool any = false;
  for (Job* job = batch; job; job = job->next)
    if (!job->error) any = run_one(connection, *job, many) || any;
  if (any)
    commit(connection);
  else
    connection.run(Sql::rollback);
}

// Nobody is answered for a commit into files that have lost their names: what is in them is lost
// with them.
void Writer::commit(Connection& connection) {
  if (stamp_is_due_) stamp_first_page(connection);
  const std::uint64_t frames_before = connection.log_frames();
  committing_ = true;
  connection.run(Sql::commit);
  connection.require_files_unchanged();
  stamp_is_due_ = !stamp_is_due_ && connection.log_frames() < frames_before;
}

// False: every job's deadline has passed before others let go of the file.
bool Writer::begin(Connection& connection, Job*& batch) {
  for (;;) {
    Deadline earliest = Deadline::max();
    for (const Job* job = batch; job; job = job->next)
      if (!job->error) earliest = std::min(earliest, job->deadline);
    connection.set_deadline(earliest, false);
    try {
      connection.run(Sql::begin_write);
      return true;
    } catch (const SqliteError& error) {
      if (error.kind() != SQLITE_BUSY) throw;
      const auto now = Clock::now();
      bool any = false;
      for (Job* job = batch; job; job = job->next) {
        if (!job->error && job->deadline <= now) job->error = to_error(error, path_);
        any = any || !job->error;
      }
      if (!any) return false;
    }
  }
}

// Whether there is something to commit. Throws what ends the whole transaction.
bool Writer::run_one(Connection& connection, Job& job, bool in_savepoint) {
  if (in_savepoint) connection.run(Sql::savepoint);
  try {
    job.error = job.run(job.work, connection);
  } catch (const SqliteError& failure) {
    if (is_fatal(failure) || failure.kind() == SQLITE_FULL || !connection.in_transaction()) throw;
    job.error = to_error(failure, path_);
  } catch (const std::bad_alloc&) {
    if (!connection.in_transaction()) throw;
    job.exception = std::current_exception();
  }
  const bool good = !job.error && !job.exception;
  if (in_savepoint) {
    if (!good) connection.run(Sql::rollback_to);
    connection.run(Sql::release);
  }
  return good;
}

// Between transactions, by whoever leads. What fails here was answered already, and is not lost: it
// is in the log.
void Writer::move_log_into_file() noexcept {
  if (!connection_) return;
  const std::uint64_t frames = connection_->log_frames();
  if (frames < frames_moved_) frames_moved_ = 0;  // the log has begun anew
  if (frames - frames_moved_ < log_frames_max) return;
  frames_moved_ = frames;
  stamp_is_due_ = true;
  try {
    // A log that never begins anew, because there is always somebody reading, would grow for ever:
    // then readers are waited for, a little.
    const bool is_long = frames >= 16 * log_frames_max;
    connection_->set_deadline(Clock::now() + std::chrono::milliseconds(is_long ? 20 : 0));
    connection_->checkpoint(is_long ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE);
  } catch (const SqliteError& error) {
    if (error.kind() != SQLITE_BUSY && error.kind() != SQLITE_INTERRUPT) distrust();
  } catch (const std::bad_alloc&) {
  }
}

// After a failed write or fsync the system may take pages of the log for clean that never reached
// the disk. What follows them would be lost with them at a power cut. So before anything else is
// stored, the whole log is written anew, as it reads now.
Connection& Writer::ready(Deadline deadline) {
  if (has_lost_log()) throw lost_log();
  if (!connection_) {
    auto fresh = std::make_unique<Connection>(path_, Access::write, false, seen_);
    fresh->keep_log_on_close();  // until it is known to be the store's
    fresh->require_file(file_);
    fresh->set_deadline(deadline);
    prepare(*fresh, durability_);
    if (log_is_doubtful_) {
      try {
        fresh->rewrite_log();
      } catch (...) {
        fresh->keep_log_on_close();
        throw;
      }
    }
    log_is_doubtful_ = false;
    stamp_is_due_ = true;
    fresh->checkpoint_on_close();
    connection_ = std::move(fresh);
  }
  return *connection_;
}

SqliteError Writer::lost_log() {
  return {log_changed, "its write-ahead log, or the -shm file, was removed or replaced"};
}

// What was committed into a log without a name goes into the file; the connection stays open, and
// does the rest when it is closed.
void Writer::rescue() noexcept {
  note_lost_log();
  try {
    if (connection_ && connection_->in_transaction()) connection_->run("ROLLBACK");
    if (connection_) connection_->checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  } catch (const SqliteError&) {
  } catch (const std::bad_alloc&) {
  }
}

void Writer::distrust() {
  if (connection_) connection_->keep_log_on_close();
  connection_.reset();
  log_is_doubtful_ = true;
}

}  // namespace undertext
