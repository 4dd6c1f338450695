#include "sqlite/connection.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "system/files.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

// between two looks at the clock, in steps of SQLite's machine: well below a millisecond
constexpr int progress_steps = 2000;

// Its links as they are, so that what they lead to can be compared later. Empty: the folder of the
// process is gone.
std::string with_folder(const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::string folder = whole_path(".");
  return folder.empty() ? folder : folder + "/" + path;
}

}  // namespace

Error to_error(const SqliteError& error, const std::string& path) {
  if (error.code == SQLITE_IOERR_DATA)
    return {ErrorCode::corrupt,
            path + " is damaged: a page of it is not what was written; restore a backup"};
  if (error.code == files_changed || error.code == log_changed) {
    const char* const remedy = error.code == log_changed ? "; start again what has it open" : "";
    return {ErrorCode::unavailable, path + " changed underneath: " + error.message + remedy};
  }
  if (error.code == later_schema) return {ErrorCode::unsupported, path + error.message};
  switch (error.kind()) {
    case SQLITE_CORRUPT:
      return {ErrorCode::corrupt,
              path + " is damaged (" + error.message + "); a check reports what can still be read"};
    case SQLITE_NOTADB:
      return {ErrorCode::corrupt,
              path + " is no SQLite database, or its beginning is damaged: restore a backup"};
    case SQLITE_FULL: return {ErrorCode::unavailable, "the disk of " + path + " is full"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::unavailable,
              path + " is in use by others, and stayed so until the deadline"};
    case SQLITE_INTERRUPT: return {ErrorCode::unavailable, "the deadline has passed"};
    case SQLITE_TOOBIG:
      return {ErrorCode::too_large, path + ": a record is too large (" + error.message + ")"};
    case SQLITE_READONLY:
      return {ErrorCode::unavailable, path + " cannot be written to (" + error.message + ")"};
    case SQLITE_CANTOPEN:
      return {ErrorCode::unavailable, path + " cannot be opened (" + error.message + ")"};
    case SQLITE_IOERR:
      return {ErrorCode::unavailable, path + ": reading or writing failed (" + error.message + ")"};
    default: return {ErrorCode::internal, path + ": " + error.message};
  }
}

Connection::Connection(const std::string& path, Access access, bool create,
                       std::shared_ptr<SeenCounter> seen)
    : whole_path_(with_folder(path)), seen_(std::move(seen)) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= access == Access::read_file ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (create) flags |= SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &db_, flags, checked_file_system());
  try {
    if (code != SQLITE_OK) fail(code);
    remember_counter(db_, *seen_);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    for (const int off : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                          SQLITE_DBCONFIG_ENABLE_VIEW})
      sqlite3_db_config(db_, off, 0, nullptr);
    sqlite3_busy_handler(db_, &Connection::wait, this);
    sqlite3_progress_handler(db_, progress_steps, &Connection::is_over, this);
    // Instead of SQLite's own checkpoints: only the writer makes them, and between transactions.
    sqlite3_wal_hook(db_, &Connection::count_frames, this);
    if (access != Access::write) keep_log_on_close();
    run("PRAGMA mmap_size=0");
    run("PRAGMA cell_size_check=ON");
    run("PRAGMA secure_delete=ON");
    if (access != Access::write) run("PRAGMA query_only=ON");
    if (access == Access::write) reserve_trailers();
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}

Connection::~Connection() {
  // SQLite would move the log into whatever file is there, and remove it.
  try {
    const std::optional<FilesChanged> changed = changed_underneath(db_, whole_path_);
    if (changed && !changed->only_log) keep_log_on_close();
  } catch (const std::bad_alloc&) {
    keep_log_on_close();
  }
  for (sqlite3_stmt* statement : prepared_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

void Connection::fail(int code) {
  if ((code & 0xff) == SQLITE_NOMEM || db_ == nullptr) throw std::bad_alloc();
  throw SqliteError{code, sqlite3_errmsg(db_)};
}

void Connection::set_deadline(Deadline deadline, bool cut_off) {
  deadline_ = deadline;
  cut_off_ = cut_off;
}

int Connection::wait(void* self, int count) {
  // Others hold a lock for about as long as one fsync takes.
  const auto now = Clock::now();
  const Deadline deadline = static_cast<Connection*>(self)->deadline_;
  if (now >= deadline) return 0;
  const auto pause = std::chrono::microseconds(count < 10 ? 50 : count < 50 ? 250 : 2000);
  std::this_thread::sleep_until(std::min(deadline, now + pause));
  return 1;
}

int Connection::is_over(void* self) {
  const Connection& connection = *static_cast<Connection*>(self);
  return connection.cut_off_ && connection.deadline_ != Deadline::max() &&
                 Clock::now() >= connection.deadline_
             ? 1
             : 0;
}

int Connection::count_frames(void* self, sqlite3*, const char*, int frames) {
  static_cast<Connection*>(self)->log_frames_ = static_cast<std::uint64_t>(frames);
  return SQLITE_OK;
}

void Connection::run(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Connection::number(const char* sql) {
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepare(sql),
                                                                        &sqlite3_finalize);
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) fail(code);
  return sqlite3_column_int64(statement.get(), 0);
}

std::string Connection::text(const char* sql) {
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepare(sql),
                                                                        &sqlite3_finalize);
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) fail(code);
  const unsigned char* bytes = sqlite3_column_text(statement.get(), 0);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), 0))};
}

void Connection::run(Sql sql) { Statement(*this, sql).finish(); }

void Connection::checkpoint(int mode) {
  const int code = sqlite3_wal_checkpoint_v2(db_, nullptr, mode, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Connection::rewrite_log() {
  // With the right to write, so that nobody appends meanwhile. Readers read the same bytes as
  // before.
  run(Sql::begin_write);
  sqlite3_file* log = nullptr;
  int code = sqlite3_file_control(db_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && log && log->pMethods) {
    std::vector<char> piece(std::size_t{1} << 16);
    sqlite3_int64 size = 0;
    code = log->pMethods->xFileSize(log, &size);
    for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size;) {
      const int bytes =
          static_cast<int>(std::min(size - at, static_cast<sqlite3_int64>(piece.size())));
      code = log->pMethods->xRead(log, piece.data(), bytes, at);
      if (code == SQLITE_OK) code = log->pMethods->xWrite(log, piece.data(), bytes, at);
      at += bytes;
    }
    if (code == SQLITE_OK) code = log->pMethods->xSync(log, SQLITE_SYNC_FULL);
  }
  run(Sql::rollback);
  if (code != SQLITE_OK) throw SqliteError{code, sqlite3_errstr(code)};
}

void Connection::require_files_unchanged() {
  if (std::optional<FilesChanged> changed = changed_underneath(db_, whole_path_))
    throw SqliteError{changed->only_log ? log_changed : files_changed, std::move(changed->how)};
}

void Connection::require_no_older_copy() {
  if (is_older_copy(db_)) throw SqliteError{files_changed, older_copy};
}

void Connection::require_file(const FileIdentity& expected) {
  const FileIdentity now = identity();
  if (expected.inode != 0 && (now.device != expected.device || now.inode != expected.inode))
    throw SqliteError{files_changed, "another file has its name"};
  if (expected.id != 0 && now.id != expected.id)
    throw SqliteError{files_changed, "another database was written over it"};
}

void Connection::forget_pages() {
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_RESET_CACHE, nullptr);
}

void Connection::reserve_trailers() {
  int bytes = page_trailer_bytes;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

void Connection::keep_log_on_close() {
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Connection::checkpoint_on_close() {
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

sqlite3_stmt* Connection::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return statement;
}

sqlite3_stmt* Connection::prepared(Sql sql) {
  sqlite3_stmt*& statement = prepared_[static_cast<std::size_t>(sql)];
  if (statement == nullptr) statement = prepare(sql_text(sql));
  return statement;
}

Statement::~Statement() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::check(int code) {
  if (code != SQLITE_OK) connection_.fail(code);
}

Statement& Statement::signed_number(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bytes(std::string_view value) {
  // A null pointer would be NULL.
  check(sqlite3_bind_blob64(statement_, ++bound_, value.empty() ? "" : value.data(), value.size(),
                            SQLITE_STATIC));
  return *this;
}

Statement& Statement::text(std::string_view value) {
  check(sqlite3_bind_text64(statement_, ++bound_, value.empty() ? "" : value.data(), value.size(),
                            SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::digest(const Digest& value) {
  return bytes({reinterpret_cast<const char*>(value.data()), value.size()});
}

Statement& Statement::null() {
  check(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

bool Statement::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_.fail(code);
  return false;
}

void Statement::finish() {
  while (next()) {
  }
}

Statement& Statement::again() {
  sqlite3_reset(statement_);
  bound_ = 0;
  return *this;
}

std::string_view Statement::bytes_at(int column) {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr) {
    // Nothing, or no memory for it.
    if (sqlite3_errcode(connection_.db_) == SQLITE_NOMEM) throw std::bad_alloc();
    return {};
  }
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

Digest Statement::digest_at(int column) {
  const std::string_view bytes = bytes_at(column);
  Digest digest;
  if (bytes.size() != digest.size())
    throw SqliteError{SQLITE_CORRUPT, "a digest of " + std::to_string(bytes.size()) + " bytes"};
  std::memcpy(digest.data(), bytes.data(), digest.size());
  return digest;
}

}  // namespace undertext
