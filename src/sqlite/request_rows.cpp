#include "sqlite/request_rows.hpp"

#include <algorithm>

#include "sqlite/schema.hpp"

namespace undertext {
namespace {

std::vector<std::string> keys_of(Connection& connection, std::uint64_t key) {
  std::vector<std::string> keys;
  Statement rows(connection, Sql::keys_of_request);
  rows.number(key);
  while (rows.next()) keys.emplace_back(rows.bytes_at(0));
  return keys;
}

}  // namespace

std::vector<RequestRow> read_requests(Connection& connection, std::uint64_t number,
                                      std::uint64_t first, std::uint64_t end, RequestBytes wanted) {
  std::vector<RequestRow> found;
  if (first > record_number_max || !has_request_tables(connection)) return found;
  std::size_t bytes = 0;
  const bool with = wanted == RequestBytes::with;
  Statement rows(connection, with ? Sql::requests_with_bytes : Sql::requests);
  rows.number(key_of(number, first))
      .number(key_of(number, std::min(end, record_number_max)))
      .number(answer_records_max);
  while (rows.next()) {
    for (int column = 3; column < (with ? 7 : 5); ++column) bytes += rows.bytes_at(column).size();
    if (!found.empty() && bytes > answer_bytes_max) break;
    RequestRow row;
    row.number = rows.number_at(0) & record_number_max;
    row.version = rows.number_at(1);
    row.at_ms = rows.signed_at(2);
    row.keys = keys_of(connection, rows.number_at(0));
    row.facts = rows.bytes_at(3);
    row.parts = rows.bytes_at(4);
    if (with) row.request = rows.bytes_at(5);
    if (with) row.answer = rows.bytes_at(6);
    found.push_back(std::move(row));
  }
  return found;
}

std::uint64_t last_request(Connection& connection, std::uint64_t number) {
  if (!has_request_tables(connection)) return 0;
  Statement row(connection, Sql::last_request);
  return row.number(key_of(number, 0)).number(last_key_of(number)).next()
             ? row.number_at(0) & record_number_max
             : 0;
}

std::vector<FoundRequest> find_requests(Connection& connection, std::span<const std::string> keys) {
  std::vector<FoundRequest> found;
  if (!has_request_tables(connection)) return found;
  for (const std::string& key : keys) {
    Statement row(connection, Sql::find_request);
    if (row.bytes(key).next())
      found.push_back({key, std::string(row.bytes_at(0)), row.number_at(1) & record_number_max});
  }
  return found;
}

std::uint64_t size_of_requests(Connection& connection, std::uint64_t number) {
  if (!has_request_tables(connection)) return 0;
  Statement row(connection, Sql::size_of_requests);
  row.number(key_of(number, 0)).number(last_key_of(number)).next();
  return row.number_at(0);
}

std::optional<Error> write_request(Connection& connection, const NewRequest& request) {
  const std::optional<StoredConversation> stored =
      find_conversation(connection, request.conversation);
  if (!stored) return no_conversation(request.conversation);
  if (auto error =
          refuse_request(request, last_request(connection, stored->number), stored->next_page))
    return error;
  const RequestRow& row = request.row;
  if (row.number >= record_number_max)
    return Error{ErrorCode::too_large,
                 "SQLite stores hold no more requests than 2^35 a conversation"};
  const std::uint64_t key = key_of(stored->number, row.number);
  Statement add(connection, Sql::add_request);
  add.number(key).number(row.version).signed_number(row.at_ms);
  add.bytes(row.facts).bytes(row.parts).bytes(row.request).bytes(row.answer).finish();
  Statement add_key(connection, Sql::add_request_key);
  for (const std::string& text : row.keys)
    add_key.again().bytes(text).signed_number(row.at_ms).number(key).finish();
  return std::nullopt;
}

void empty_requests(Connection& connection, std::uint64_t number) {
  Statement(connection, Sql::empty_requests)
      .number(key_of(number, 0))
      .number(last_key_of(number))
      .finish();
}

void prune_requests(Connection& connection, std::uint64_t number, const Prune& prune) {
  const std::uint64_t last = key_of(number, last_request(connection, number));  // stays
  for (const Sql sql : {Sql::prune_request_keys, Sql::prune_requests})
    Statement(connection, sql)
        .number(key_of(number, 0))
        .number(last)
        .number(prune.first_version)
        .finish();
  Statement replace(connection, Sql::replace_request);
  for (const RequestRow& row : prune.requests)
    replace.again()
        .number(key_of(number, row.number))
        .bytes(row.request)
        .bytes(row.answer)
        .finish();
}

void delete_requests(Connection& connection, std::uint64_t number) {
  for (const Sql sql : {Sql::delete_records_request_keys, Sql::delete_records_requests})
    Statement(connection, sql).number(key_of(number, 0)).number(last_key_of(number)).finish();
}

}  // namespace undertext
