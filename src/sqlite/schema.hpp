// The tables, and how a file becomes one of the newest kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <undertext/error.hpp>

#include "sqlite/connection.hpp"

namespace undertext {

// A record's key: 28 bits of its conversation, 35 bits of its own number. Records of a conversation
// lie together, rising, and appends fill pages whole.
inline constexpr int key_shift = 35;
inline constexpr std::uint64_t record_number_max = (std::uint64_t{1} << key_shift) - 1;
inline constexpr std::uint64_t conversation_number_max = (std::uint64_t{1} << 28) - 1;

inline std::uint64_t key_of(std::uint64_t conversation, std::uint64_t number) {
  return conversation << key_shift | number;
}
inline std::uint64_t last_key_of(std::uint64_t conversation) {
  return key_of(conversation, record_number_max);
}

// What the file is: nothing yet, ours, or an error (invalid_argument: somebody else's database;
// unsupported: of a later version; corrupt: tables that are not those this room makes).
enum class FileKind : std::uint8_t { fresh, current, older };
Result<FileKind> kind_of_file(Connection& connection, const std::string& path);

// A file of an older release that is only read has neither.
bool has_trailers(Connection& connection);  // at the end of its pages: checked_file.hpp
bool has_request_tables(Connection& connection);
bool has_words_table(Connection& connection);  // likewise

// Within a transaction that writes. Throws SqliteError, later_schema: a later Undertext has migrated
// the tables since they were opened, and what it keeps in them is not known here.
void require_known_schema(Connection& connection);

// Writes page 1 as it is, so that the log has it and says whose it is: see checked_file.hpp. Within
// a transaction.
void stamp_first_page(Connection& connection);

// Makes or migrates the tables, in one transaction; safe when many do it at once.
std::optional<Error> make_tables(Connection& connection, const std::string& path);

}  // namespace undertext
