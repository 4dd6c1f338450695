#include "sqlite/schema.hpp"

#include <array>
#include <string_view>

namespace undertext {
namespace {

constexpr std::int64_t application_id = 0x55747874;  // "Utxt"

// The n-th leads from schema version n to n + 1. One that was released is never changed.
constexpr std::array<const char*, 5> migrations = {
    R"(
CREATE TABLE conversations (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  settings BLOB NOT NULL,
  chain BLOB NOT NULL,
  first_version INTEGER NOT NULL,
  origin INTEGER,
  origin_version INTEGER,
  origin_log_length INTEGER,
  origin_next_page INTEGER
) STRICT;
CREATE INDEX conversations_by_origin ON conversations (origin, id) WHERE origin IS NOT NULL;
CREATE TABLE versions (
  key INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  log_length INTEGER NOT NULL,
  operation BLOB NOT NULL,
  arguments BLOB NOT NULL,
  operation_id BLOB,
  answer BLOB NOT NULL,
  chain BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX versions_by_operation ON versions (key >> 35, operation_id) WHERE operation_id IS NOT NULL;
CREATE TABLE messages (
  key INTEGER PRIMARY KEY,
  role INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  redacted BLOB,
  body BLOB NOT NULL
) STRICT;
CREATE TABLE checkpoints (
  conversation INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  next_page INTEGER NOT NULL,
  root BLOB NOT NULL
) STRICT;
CREATE TABLE pages (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE removals (
  number INTEGER PRIMARY KEY,
  conversation TEXT NOT NULL,
  ordinal INTEGER,
  who BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  why BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;
CREATE INDEX removals_by_conversation ON removals (conversation);
PRAGMA application_id = 1433696372;
PRAGMA user_version = 1;
)",
    // The tables are the same. Programs that know version 1 only must not write to it: pages have
    // trailers, and a body may be kept once for several messages.
    "PRAGMA user_version = 2;",
    // A body may be packed, too.
    R"(
CREATE TABLE requests (
  key INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  facts BLOB NOT NULL,
  parts BLOB NOT NULL,
  request BLOB NOT NULL,
  answer BLOB NOT NULL
) STRICT;
CREATE TABLE request_keys (
  text BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  request INTEGER NOT NULL,
  PRIMARY KEY (text, at_ms, request)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_keys_by_request ON request_keys (request);
PRAGMA user_version = 3;
)",
    // The full-text index. `key` has the first message of a row, `last` the ordinal behind its last
    // one.
    R"(
CREATE TABLE words (key INTEGER PRIMARY KEY, last INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
PRAGMA user_version = 4;
)",
    // The tables are the same. A body may be that of a message of a fork.
    "PRAGMA user_version = 5;"};
static_assert(application_id == 1433696372);

// Everything the file's schema says, as one text: tables, indexes, and also triggers and views, of
// which there are none.
constexpr const char* schema_sql =
    "SELECT group_concat(type || ' ' || name || ' ' || sql, char(10) ORDER BY name) FROM "
    "sqlite_schema WHERE sql IS NOT NULL";

// The schema of each version, as this room makes it.
const std::string& expected_schema(std::int64_t version) {
  static const auto schemas = [] {
    std::array<std::string, migrations.size()> made;
    Connection scratch(":memory:", Access::write, true);
    for (std::size_t n = 0; n < migrations.size(); ++n) {
      scratch.run(migrations[n]);
      made[n] = scratch.text(schema_sql);
    }
    return made;
  }();
  return schemas[static_cast<std::size_t>(version - 1)];
}

std::string by_later(std::int64_t version) {
  return " was written by a later Undertext (schema " + std::to_string(version) + ")";
}

}  // namespace

Result<FileKind> kind_of_file(Connection& connection, const std::string& path) {
  const std::int64_t id = connection.number("PRAGMA application_id");
  const std::int64_t version = connection.number("PRAGMA user_version");
  if (id == 0 && version == 0 && connection.number("SELECT count(*) FROM sqlite_schema") == 0)
    return FileKind::fresh;
  if (id != application_id)
    return Error{ErrorCode::invalid_argument, path + " is a database of another program"};
  const auto newest = static_cast<std::int64_t>(migrations.size());
  if (version < 1)
    return Error{
        ErrorCode::corrupt,
        path + " has no schema version: its header is damaged, or its tables are not made"};
  if (version > newest) return Error{ErrorCode::unsupported, path + by_later(version)};
  // An older file is read as it is.
  if (connection.text(schema_sql) != expected_schema(version))
    return Error{ErrorCode::corrupt, path + ": its tables are not those of an Undertext store"};
  return version < newest ? FileKind::older : FileKind::current;
}

bool has_trailers(Connection& connection) { return connection.number("PRAGMA user_version") >= 2; }
bool has_request_tables(Connection& connection) {
  return connection.number("PRAGMA user_version") >= 3;
}

bool has_words_table(Connection& connection) {
  return connection.number("PRAGMA user_version") >= 4;
}

void require_known_schema(Connection& connection) {
  Statement row(connection, Sql::schema_version);
  if (row.next() && row.signed_at(0) > static_cast<std::int64_t>(migrations.size()))
    throw SqliteError{later_schema, by_later(row.signed_at(0))};
}

void stamp_first_page(Connection& connection) {
  connection.run(("PRAGMA user_version = " + std::to_string(migrations.size())).c_str());
}

std::optional<Error> make_tables(Connection& connection, const std::string& path) {
  connection.run(Sql::begin_write);
  try {
    // Another one may have been first.
    const Result<FileKind> kind = kind_of_file(connection, path);
    if (!kind) {
      connection.run(Sql::rollback);
      return kind.error();
    }
    if (*kind != FileKind::current)
      for (auto version = static_cast<std::size_t>(connection.number("PRAGMA user_version"));
           version < migrations.size(); ++version)
        connection.run(migrations[version]);
    connection.run(Sql::commit);
    return std::nullopt;
  } catch (...) {
    if (connection.in_transaction()) connection.run(Sql::rollback);
    throw;
  }
}

}  // namespace undertext
