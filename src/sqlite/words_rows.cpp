#include "sqlite/words_rows.hpp"

#include <algorithm>

#include "sqlite/schema.hpp"
#include "store/rules.hpp"

namespace undertext {

std::vector<WordsRow> read_words(Connection& connection, std::uint64_t number, std::uint64_t first,
                                 std::uint64_t end, WordsBytes bytes) {
  std::vector<WordsRow> found;
  if (first > record_number_max || !has_words_table(connection)) return found;
  std::size_t size = 0;
  const bool with = bytes == WordsBytes::with;
  Statement rows(connection, with ? Sql::words_with_bytes : Sql::words);
  rows.number(key_of(number, first))
      .number(key_of(number, std::min(end, record_number_max)))
      .number(answer_records_max);
  while (rows.next()) {
    WordsRow row{rows.number_at(0) & record_number_max, rows.number_at(1), rows.number_at(2)};
    if (with) size += row.size_bytes;
    if (!found.empty() && size > answer_bytes_max) break;
    if (with) row.bytes = rows.bytes_at(3);
    found.push_back(std::move(row));
  }
  return found;
}

std::optional<Error> write_words(Connection& connection, const StoredConversation& stored,
                                 const Commit& commit) {
  const std::uint64_t number = stored.number;
  const std::uint64_t first_own = stored.record.origin ? stored.record.origin->log_length : 0;
  if (auto error = refuse_words(commit, first_own, stored.record.log_length)) return error;
  for (const WordsRow& row : commit.words) {
    Statement(connection, Sql::delete_words_within)
        .number(key_of(number, row.first))
        .number(key_of(number, row.end))
        .number(row.end)
        .finish();
    Statement(connection, Sql::add_words)
        .number(key_of(number, row.first))
        .number(row.end)
        .bytes(row.bytes)
        .finish();
  }
  return std::nullopt;
}

void delete_words_of(Connection& connection, std::uint64_t number, std::uint64_t ordinal) {
  Statement(connection, Sql::delete_words_of)
      .number(key_of(number, 0))
      .number(key_of(number, ordinal))
      .number(ordinal)
      .finish();
}

void delete_words(Connection& connection, std::uint64_t number) {
  Statement(connection, Sql::delete_records_words)
      .number(key_of(number, 0))
      .number(last_key_of(number))
      .finish();
}

std::uint64_t size_of_words(Connection& connection, std::uint64_t number) {
  if (!has_words_table(connection)) return 0;
  Statement row(connection, Sql::size_of_words);
  row.number(key_of(number, 0)).number(last_key_of(number)).next();
  return row.number_at(0);
}

}  // namespace undertext
