#include "postgres/session.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <thread>

namespace undertext::postgres {
namespace {

using namespace std::chrono_literals;

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

// Another transaction was in the way: serialization_failure, deadlock_detected, lock_not_available.
bool passes(std::string_view state) { return is_one_of(state, {"40001", "40P01", "55P03"}); }

// invalid_sql_statement_name and duplicate_prepared_statement: a pooler runs a transaction on a
// connection that has others' statements, or not this one's.
constexpr std::string_view statement_is_gone = "26000", statement_is_there = "42P05";

// This server, or this connection to it, will not do: read_only_sql_transaction (a standby, or one
// that was a primary), the shutdowns, starting up, too many connections, the classes of connection
// and internal errors, a prepared statement that a pooler has taken away.
bool is_the_server(std::string_view state) {
  return is_one_of(state, {"25006", "57P01", "57P02", "57P03", "53300", statement_is_gone}) ||
         state.starts_with("08");
}

// Longer each time, and not the same for all who wait.
class Pause {
 public:
  // False: the time is up.
  bool take(Deadline deadline) {
    static thread_local std::minstd_rand random{std::random_device{}()};
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    const auto length = next_ / 2 + next_ * (random() % 512) / 1024;
    std::this_thread::sleep_for(
        std::min<std::chrono::steady_clock::duration>(length, deadline - now));
    next_ = std::min<std::chrono::microseconds>(next_ * 2, 200ms);
    return std::chrono::steady_clock::now() < deadline;
  }

 private:
  std::chrono::microseconds next_{1ms};
};

// On a shard the names of constraints end with its number.
bool is_operation_id(std::string_view constraint) {
  return constraint.starts_with("undertext_version_operation_id");
}

Error error_of(const Fault& fault, const Batch& batch) {
  const Batch::Entry& entry = batch.entries()[std::min(fault.at, batch.entries().size() - 1)];
  const auto say = [&](ErrorCode code) {
    return Error{.code = code, .message = "PostgreSQL: " + fault.message};
  };
  if (fault.state == "22012" && entry.when_false) return *entry.when_false;
  if (is_one_of(fault.state, {statement_is_gone, statement_is_there}))
    return {.code = ErrorCode::unsupported,
            .message = "PostgreSQL: " + fault.message +
                       ": a pooler in between does not carry prepared statements over; add "
                       "undertext_prepare=off to the "
                       "store's URL"};
  if (fault.state == "23505")
    return {.code = ErrorCode::conflict,
            .message = is_operation_id(fault.constraint) ? "the operation id is known already"
                                                         : "another writer was first"};
  // data, index, files
  if (is_one_of(fault.state, {"XX001", "XX002", "58P01", "58P02"})) return say(ErrorCode::corrupt);
  // No such table, column; not allowed; a feature that this engine lacks.
  if (is_one_of(fault.state, {"42P01", "42703", "42501", "0A000"}))
    return say(ErrorCode::unsupported);
  return say(fault.state.starts_with("22") || fault.state.starts_with("42")
                 ? ErrorCode::internal
                 : ErrorCode::unavailable);
}

}  // namespace

Transaction::Transaction(Kind kind, const Statement* set_tenant, Deadline deadline)
    : deadline_(deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
          .count();
  batch_.add(kind == Kind::reading ? sql::begin_reading : sql::begin);
  Value timeout = text("");
  timeout.borrowed = {};
  timeout.own = std::to_string(std::clamp<std::int64_t>(left, 1, 86'400'000));
  batch_.add(sql::set_timeout, {timeout});
  if (set_tenant != nullptr) batch_.add(*set_tenant);
}

const Batch& Transaction::ended() {
  if (!ended_) batch_.add(sql::commit);
  ended_ = true;
  return batch_;
}

Outcome Session::run(Transaction& transaction) {
  const Batch& batch = transaction.ended();
  const Deadline deadline = transaction.deadline();
  Outcome outcome;
  for (Pause pause;;) {
    Result<Pool::Lease> lease = pool_.take(deadline);
    if (!lease) {
      outcome.error = lease.error();
      if (pause.take(deadline)) continue;
      return outcome;
    }
    Answers answers = (*lease)->run(batch, deadline);
    if (!answers.fault && answers.rows.back().command() == "COMMIT") {
      outcome.rows = std::move(answers.rows);
      outcome.error.reset();
      return outcome;
    }
    if (!answers.fault)
      answers.fault = Fault{.is_refusal = true,
                            .at = batch.entries().size() - 1,
                            .message = "the commit was rolled back"};
    const Fault& fault = *answers.fault;
    outcome.error = error_of(fault, batch);
    // A distributed engine refuses COMMIT also when the node with the rows went away while it
    // committed: then nobody knows either.
    outcome.was_lost =
        outcome.was_lost || !fault.is_refusal || fault.at + 1 == batch.entries().size();
    if (!fault.is_refusal || is_the_server(fault.state) ||
        !(*lease)->reset(std::max(deadline, std::chrono::steady_clock::now() + 100ms)))
      lease->discard();
    outcome.rows = std::move(answers.rows);
    if (fault.is_refusal && !passes(fault.state) && !is_the_server(fault.state)) return outcome;
    if (!pause.take(deadline)) {
      outcome.error->code = ErrorCode::unavailable;
      return outcome;
    }
  }
}

std::optional<Error> Session::run_alone(const Statement& statement, Deadline deadline) {
  Result<Pool::Lease> lease = pool_.take(deadline);
  if (!lease) return lease.error();
  Batch batch;
  batch.add(statement);
  const Answers answers = (*lease)->run(batch, deadline);
  if (answers.fault) {
    lease->discard();
    return error_of(*answers.fault, batch);
  }
  if (!answers.warning.empty())
    return Error{.code = ErrorCode::unsupported, .message = "PostgreSQL: " + answers.warning};
  return std::nullopt;
}

}  // namespace undertext::postgres
