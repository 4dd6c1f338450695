// Every statement this room ever runs on a store's tables. There is no other SQL text, so nothing
// that comes from outside can become one.
//
// A record's key is its conversation's number and its own, in one integer (schema.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace undertext {

enum class Sql : std::uint8_t {
  begin_read,
  begin_write,
  commit,
  rollback,
  savepoint,
  release,
  rollback_to,
  schema_version,
  find_conversation,
  list_conversations,
  list_staged,
  name_of_conversation,
  forks_of,
  pages_needed_by_forks,
  add_conversation,
  set_settings,
  set_id,
  set_first_version,
  keep_own_pages,
  delete_conversation,
  head,
  versions,
  add_version,
  find_operation,
  reduce_versions,
  replace_operation,
  delete_versions,
  messages,
  add_message,
  set_message,
  set_body,
  body,
  copies_of_body,
  copies_of_fork,
  size,
  checkpoint,
  set_checkpoint,
  delete_checkpoint,
  page,
  add_page,
  delete_records_versions,
  delete_records_messages,
  delete_records_pages,
  requests,
  requests_with_bytes,
  last_request,
  add_request,
  add_request_key,
  keys_of_request,
  find_request,
  empty_requests,
  prune_request_keys,
  prune_requests,
  replace_request,
  size_of_requests,
  delete_records_requests,
  delete_records_request_keys,
  words,
  words_with_bytes,
  add_words,
  delete_words_within,
  delete_words_of,
  delete_records_words,
  size_of_words,
  removals,
  is_purged,
  add_removal,
  next_version_key,
  next_message_key,
  next_page_key,
  next_request_key,
  next_words_key,
  conversation_numbers,
  integrity_check,
  read_pages_of_file,
  read_page_of_file,
  write_page_of_file,
  vacuum,
  vacuum_into,
  count,
};

inline constexpr std::size_t sql_count = static_cast<std::size_t>(Sql::count);

const char* sql_text(Sql sql);

}  // namespace undertext
