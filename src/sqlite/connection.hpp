// One connection to the file, used by one thread at a time. What SQLite refuses is thrown as
// SqliteError inside this room, and is an Error at its door.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "sqlite/checked_file.hpp"
#include "sqlite/statements.hpp"

namespace undertext {

using Deadline = std::chrono::steady_clock::time_point;  // max(): none

struct SqliteError {
  int code = 0;  // extended
  std::string message;
  int kind() const { return code & 0xff; }
};

// Of a SqliteError that this room itself throws: the files are no longer those of the store.
inline constexpr int files_changed = SQLITE_CANTOPEN | 0x7e00;
inline constexpr int log_changed = SQLITE_CANTOPEN | 0x7f00;  // the log alone
// A later Undertext has migrated the tables since they were opened.
inline constexpr int later_schema = SQLITE_SCHEMA | 0x7f00;

// For the caller of the store. `path` is the file's.
Error to_error(const SqliteError& error, const std::string& path);

enum class Access : std::uint8_t {
  read_file,  // the file is not to be written at all
  read,
  write,  // also checkpoints the log
};

class Statement;

class Connection {
 public:
  // `seen` is shared with the other connections of the store. Throws SqliteError.
  Connection(const std::string& path, Access access, bool create,
             std::shared_ptr<SeenCounter> seen = std::make_shared<SeenCounter>());
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits for others, and statements that take long, end with it. Statements that write are not cut
  // off: SQLite would give up the whole transaction.
  void set_deadline(Deadline deadline, bool cut_off = true);

  void run(const char* sql);             // constant texts only
  std::int64_t number(const char* sql);  // the first column of the first row
  std::string text(const char* sql);     // likewise
  void run(Sql sql);                     // a prepared one without parameters
  bool in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }
  // in the write-ahead log after the last commit
  std::uint64_t log_frames() const { return log_frames_; }
  void checkpoint(int mode);  // throws SqliteError, SQLITE_BUSY too
  // as it reads now, and makes sure of it; throws SqliteError
  void rewrite_log();
  void keep_log_on_close();    // for one that is no longer trusted
  void checkpoint_on_close();  // as at first
  // Throws SqliteError: the files are not those that were opened, or not the one that is expected.
  void require_files_unchanged();
  void require_no_older_copy();  // of the file, put over it: the cheapest of these looks
  void require_file(const FileIdentity& expected);
  FileIdentity identity() const { return identity_of(db_); }
  const std::shared_ptr<SeenCounter>& seen_counter() const { return seen_; }
  // Outside of a transaction. SQLite raises the change counter above what it had when page 1 was
  // read last, which otherwise is when this connection was opened, as long as no other one writes.
  void forget_pages();
  void reserve_trailers();  // for a new file, and for one that VACUUM writes
  sqlite3* handle() { return db_; }

 private:
  friend class Statement;
  [[noreturn]] void fail(int code);
  sqlite3_stmt* prepare(const char* sql);
  sqlite3_stmt* prepared(Sql sql);
  static int wait(void* self, int count);
  static int is_over(void* self);
  static int count_frames(void* self, sqlite3*, const char*, int frames);

  const std::string whole_path_;
  const std::shared_ptr<SeenCounter> seen_;
  sqlite3* db_ = nullptr;
  Deadline deadline_ = Deadline::max();
  bool cut_off_ = true;
  std::uint64_t log_frames_ = 0;
  sqlite3_stmt* prepared_[sql_count] = {};
};

// A use of a prepared statement: bound from 1 on in the order of the calls, reset at the end of the
// scope. Bytes are borrowed until then.
class Statement {
 public:
  Statement(Connection& connection, Sql sql)
      : connection_(connection), statement_(connection.prepared(sql)) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& number(std::uint64_t value) { return signed_number(static_cast<std::int64_t>(value)); }
  Statement& signed_number(std::int64_t value);
  Statement& bytes(std::string_view value);
  Statement& text(std::string_view value);
  Statement& digest(const Digest& value);
  Statement& null();

  bool next();         // whether there is a row
  void finish();       // without rows
  Statement& again();  // to be bound anew

  std::uint64_t number_at(int column) {
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
  }
  std::int64_t signed_at(int column) { return sqlite3_column_int64(statement_, column); }
  bool null_at(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string_view bytes_at(int column);  // until the next call of next()
  Digest digest_at(int column);           // throws SQLITE_CORRUPT where it is none

 private:
  void check(int code);
  Connection& connection_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

}  // namespace undertext
