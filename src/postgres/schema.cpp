#include "postgres/schema.hpp"

#include <array>
#include <thread>

namespace undertext::postgres {
namespace {

using namespace std::chrono_literals;

// Migration n makes version n of the tables from n - 1.
constexpr std::array migrations = {
    std::span<const Statement>(sql::migration_1), std::span<const Statement>(sql::migration_2),
    std::span<const Statement>(sql::migration_3), std::span<const Statement>(sql::migration_4)};
static_assert(newest_version == migrations.size());

Error refuse(ErrorCode code, std::string message) {
  return {.code = code, .message = std::move(message)};
}

// Nothing where there is no such table. A table whose row is still to come has version 0.
Result<std::optional<std::int64_t>> stored_version(Session& session, Deadline deadline) {
  Transaction transaction(Transaction::Kind::reading, nullptr, deadline);
  const std::size_t at = transaction.batch().add(sql::schema_version);
  const Outcome outcome = session.run(transaction);
  if (outcome.error && outcome.error->code == ErrorCode::unsupported)
    return std::optional<std::int64_t>();
  if (outcome.error) return *outcome.error;
  return std::optional(outcome.rows[at].size() == 0 ? 0 : outcome.rows[at].number(0, 0));
}

// Two at once may both find no table and both make it, though each asks whether it exists; one is
// refused, and finds it when it asks again.
std::optional<Error> make_lock_row(Session& session, Deadline deadline) {
  for (int tries = 0;; ++tries) {
    Transaction transaction(Transaction::Kind::writing, nullptr, deadline);
    transaction.batch().add(sql::create_schema_table);
    transaction.batch().add(sql::create_schema_row);
    const Outcome outcome = session.run(transaction);
    if (!outcome.error) return std::nullopt;
    if (tries == 10 || outcome.error->code == ErrorCode::unavailable) return outcome.error;
    if (outcome.error->code != ErrorCode::conflict && outcome.error->code != ErrorCode::internal)
      return outcome.error;
  }
}

void add_distribution(Batch& batch) {
  for (const char* table : sql::distributed_like_conversation)
    batch.add(sql::distribute, {text(table)});
}

// The lock is held between two round trips, so that this is no single batch, and not tried again:
// the caller looks where things stand and starts anew.
std::optional<Error> migrate_once(Session& session, Deadline deadline) {
  Result<Pool::Lease> lease = session.pool().take(deadline);
  if (!lease) return lease.error();
  const auto fail = [&](const Answers& answers) {
    lease->discard();
    return refuse(answers.fault->state == "42501" ? ErrorCode::unsupported : ErrorCode::unavailable,
                  "the tables could not be made: " + answers.fault->message);
  };
  Batch lock;
  lock.add(sql::begin);
  lock.add(sql::lock_schema);
  lock.add(sql::has_citus);
  const Answers locked = (*lease)->run(lock, deadline);
  if (locked.fault) return fail(locked);
  Batch work;
  const std::int64_t version = locked.rows[1].size() == 0 ? 0 : locked.rows[1].number(0, 0);
  for (std::int64_t next = version; next < newest_version; ++next)
    for (const Statement& statement : migrations[static_cast<std::size_t>(next)])
      work.add(statement);
  if (version < newest_version) work.add(sql::set_schema_version, {number(newest_version)});
  if (locked.rows[2].number(0, 0) != 0) add_distribution(work);
  work.add(sql::commit);
  const Answers done = (*lease)->run(work, deadline);
  if (done.fault) return fail(done);
  return std::nullopt;
}

}  // namespace

Result<std::int64_t> make_schema(Session& session, MakeTables make, Deadline deadline) {
  for (;;) {
    const Result<std::optional<std::int64_t>> version = stored_version(session, deadline);
    if (!version) return version.error();
    if (version->value_or(0) > newest_version)
      return refuse(ErrorCode::unsupported,
                    std::string(later_version) + ", " + std::to_string(**version));
    const std::int64_t found = version->value_or(0);
    if (found == newest_version || (found > 0 && make == MakeTables::never)) return found;
    if (found == 0 && make != MakeTables::if_missing)
      return refuse(ErrorCode::not_found, "the database has no tables of Undertext");
    if (!*version)
      if (auto error = make_lock_row(session, deadline)) return *error;
    if (auto error = migrate_once(session, deadline)) {
      if (error->code != ErrorCode::unavailable ||
          std::chrono::steady_clock::now() + 50ms > deadline)
        return *error;
      std::this_thread::sleep_for(50ms);
    }
  }
}

Result<void> distribute_schema(Session& session, Deadline deadline) {
  Result<Pool::Lease> lease = session.pool().take(deadline);
  if (!lease) return lease.error();
  const auto run = [&](const Batch& batch) -> Result<std::vector<Rows>> {
    Answers answers = (*lease)->run(batch, deadline);
    if (!answers.fault) return std::move(answers.rows);
    lease->discard();
    return refuse(answers.fault->state == "42501" ? ErrorCode::unsupported : ErrorCode::unavailable,
                  "the tables could not be distributed: " + answers.fault->message);
  };
  Batch question;
  question.add(sql::has_citus);
  const Result<std::vector<Rows>> citus = run(question);
  if (!citus) return citus.error();
  if (citus->front().number(0, 0) == 0)
    return refuse(ErrorCode::unsupported,
                  "the database has no Citus: make the extension citus, and add its nodes");
  // Each by itself: what was done stays done, and the rest is done by the next call. The setting
  // first, since without it a distributed table shows no rows.
  const std::string setting = sql::alter_database + (*lease)->database() + sql::forward_settings;
  const Statement forward{"", setting.c_str()};
  for (const Statement* statement :
       {&forward, &sql::distribute_schema, &sql::distribute_conversation}) {
    Batch batch;
    batch.add(*statement);
    if (const Result<std::vector<Rows>> done = run(batch); !done) return done.error();
  }
  for (const char* table : sql::distributed_like_conversation) {
    Batch batch;
    batch.add(sql::distribute, {text(table)});
    if (const Result<std::vector<Rows>> done = run(batch); !done) return done.error();
  }
  // Connections take the setting when they are made.
  lease->discard();
  return {};
}

}  // namespace undertext::postgres
