// The database of another program, read as it is at one moment, while that program may be writing
// to it.
//
//     OtherDatabase database(path);
//     for (OtherRows rows = database.rows("SELECT id FROM session WHERE …=?", {id}); rows.next();) use(rows.text(0));
//     if (database.was_disturbed()) …                       // what was read is void: again, later
//
// Nothing is written: neither the database, nor its log, nor the index of the log, and no file is
// made beside it. Where a log is there, its index is mapped for reading and the program's locks are
// respected; without an index it cannot be read. Where there is no log nobody has the database
// open, so it is read without locks; was_disturbed() then says whether a program opened it
// meanwhile. It says so too where rows could not be read. One thread's.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace undertext {

class OtherRows {
 public:
  OtherRows(sqlite3_stmt* statement, std::shared_ptr<bool> has_failed)
      : statement_(statement), has_failed_(std::move(has_failed)) {}
  // false at the end, and after an error: was_disturbed() tells them apart
  bool next();
  std::string_view text(int column);  // until the next call of next()
  std::int64_t number(int column);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;  // null: it could not be prepared
  std::shared_ptr<bool> has_failed_;                   // the database's
};

class OtherDatabase {
 public:
  explicit OtherDatabase(const std::string& path);
  bool is_open() const { return database_ != nullptr; }
  // Rows of a table that is not there are none. All are of one moment.
  OtherRows rows(const char* sql, std::initializer_list<std::string_view> values = {});
  bool has_column(const char* table, std::string_view column);
  bool was_disturbed() const;

  // What changes with every change of the database: from the file and its log. 0: it is not there.
  static std::uint64_t stamp(const std::string& path);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  const std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
  bool has_log_ = false, had_index_ = false;
  std::shared_ptr<bool> has_failed_ = std::make_shared<bool>(false);  // some rows could not be read
  std::uint64_t stamp_ = 0;
};

}  // namespace undertext
