#include "sqlite/other_program.hpp"

#include <optional>

#include <sqlite3.h>

#include "base/text_hash.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

// A name in the form in which options go with it.
std::string address_of(const std::string& path, std::string_view options) {
  std::string address = "file:";
  for (const char c : path) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#') {
      ((address += '%') += hex[byte >> 4]) += hex[byte & 15];
    } else {
      address += c;
    }
  }
  return address.append("?mode=ro&").append(options);
}

constexpr int wait_ms = 2000;

}  // namespace

void OtherRows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void OtherDatabase::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

bool OtherRows::next() {
  if (!statement_) return false;
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) *has_failed_ = true;
  return code == SQLITE_ROW;
}

std::string_view OtherRows::text(int column) {
  const unsigned char* const bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::int64_t OtherRows::number(int column) {
  return sqlite3_column_int64(statement_.get(), column);
}

OtherDatabase::OtherDatabase(const std::string& path) : path_(path) {
  stamp_ = stamp(path_);
  if (stamp_ == 0) return;
  if (is_there(path_ + "-journal")) return;  // a transaction of a kind that no reader can look past
  // SQLite would make a log that is not there, and cannot read one without its index.
  had_index_ = is_there(path_ + "-shm");
  const std::optional<FileStatus> log = status_of(path_ + "-wal");
  has_log_ = log && log->size_bytes > 0;
  if (has_log_ && !had_index_) {
    *has_failed_ = true;
    return;
  }
  sqlite3* opened = nullptr;
  const std::string address = address_of(path_, has_log_ ? "readonly_shm=1" : "immutable=1");
  const int code =
      sqlite3_open_v2(address.c_str(), &opened,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(opened);
  if (code != SQLITE_OK) {
    database_.reset();
    return;
  }
  sqlite3_busy_timeout(opened, wait_ms);
  // Its contents are another's: what its schema says is not carried out, and what is damaged is not
  // read.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_exec(opened, "PRAGMA cell_size_check=1", nullptr, nullptr, nullptr);
  // All that is read is of the moment of the first read.
  if (sqlite3_exec(opened, "BEGIN", nullptr, nullptr, nullptr) != SQLITE_OK) database_.reset();
}

OtherRows OtherDatabase::rows(const char* sql, std::initializer_list<std::string_view> values) {
  sqlite3_stmt* statement = nullptr;
  if (!database_) return OtherRows(nullptr, has_failed_);
  const int code = sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr);
  if (code != SQLITE_OK) {
    *has_failed_ |= code != SQLITE_ERROR;  // which is a table that is not there
    return OtherRows(nullptr, has_failed_);
  }
  OtherRows rows(statement, has_failed_);
  int number = 0;
  for (const std::string_view value : values)
    sqlite3_bind_text64(statement, ++number, value.data(), value.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  return rows;
}

bool OtherDatabase::has_column(const char* table, std::string_view column) {
  for (OtherRows columns = rows("SELECT name FROM pragma_table_info(?)", {table}); columns.next();)
    if (columns.text(0) == column) return true;
  return false;
}

bool OtherDatabase::was_disturbed() const {
  if (*has_failed_ || has_log_) return *has_failed_;
  return stamp(path_) != stamp_ || is_there(path_ + "-shm") != had_index_;
}

std::uint64_t OtherDatabase::stamp(const std::string& path) {
  const std::optional<FileStatus> file = status_of(path);
  if (!file || !file->is_regular) return 0;
  std::string facts = std::to_string(file->inode) + "/" + std::to_string(file->size_bytes) + "/" +
                      std::to_string(file->written_ns);
  if (const std::optional<FileStatus> log = status_of(path + "-wal"); log && log->size_bytes > 0)
    facts += "/" + std::to_string(log->inode) + "/" + std::to_string(log->size_bytes) + "/" +
             std::to_string(log->written_ns);
  return text_hash(facts) | 1;
}

}  // namespace undertext
