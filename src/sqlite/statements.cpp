#include "sqlite/statements.hpp"

namespace undertext {

const char* sql_text(Sql sql) {
  switch (sql) {
    case Sql::begin_read: return "BEGIN";
    case Sql::begin_write: return "BEGIN IMMEDIATE";
    case Sql::commit: return "COMMIT";
    case Sql::rollback: return "ROLLBACK";
    case Sql::savepoint: return "SAVEPOINT one";
    case Sql::release: return "RELEASE one";
    case Sql::rollback_to: return "ROLLBACK TO one";
    case Sql::schema_version: return "PRAGMA user_version";

    case Sql::find_conversation:
      return "SELECT number, created_at_ms, settings, chain, first_version, origin, "
             "origin_version, origin_log_length, "
             "origin_next_page "
             "FROM conversations WHERE id = ?1";
    // Ids that begin with a dot: '/' is the next letter.
    case Sql::list_conversations:
      return "SELECT id FROM conversations WHERE id > ?1 AND NOT (id >= '.' AND id < '/') ORDER BY "
             "id LIMIT ?2";
    case Sql::list_staged:
      return "SELECT id FROM conversations WHERE id > ?1 AND id >= '.' AND id < '/' ORDER BY id "
             "LIMIT ?2";
    case Sql::name_of_conversation: return "SELECT id FROM conversations WHERE number = ?1";
    case Sql::forks_of: return "SELECT id FROM conversations WHERE origin = ?1 ORDER BY id";
    case Sql::pages_needed_by_forks:
      return "SELECT max(origin_next_page) FROM conversations WHERE origin = ?1";
    case Sql::add_conversation:
      return "INSERT INTO conversations (id, created_at_ms, settings, chain, first_version, "
             "origin, origin_version, "
             "origin_log_length, "
             "origin_next_page) VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8) RETURNING number";
    case Sql::set_settings: return "UPDATE conversations SET settings = ?2 WHERE number = ?1";
    case Sql::set_id: return "UPDATE conversations SET id = ?2 WHERE number = ?1";
    case Sql::set_first_version:
      return "UPDATE conversations SET first_version = ?2 WHERE number = ?1";
    case Sql::keep_own_pages:
      return "UPDATE conversations SET origin_next_page = 1 WHERE number = ?1";
    case Sql::delete_conversation: return "DELETE FROM conversations WHERE number = ?1";

    case Sql::head:
      return "SELECT key, log_length, at_ms, chain FROM versions WHERE key BETWEEN ?1 AND ?2 ORDER "
             "BY key DESC LIMIT 1";
    case Sql::versions:
      return "SELECT key, at_ms, log_length, operation, arguments, operation_id, answer, chain "
             "FROM versions "
             "WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";
    case Sql::add_version:
      return "INSERT INTO versions (key, at_ms, log_length, operation, arguments, operation_id, "
             "answer, chain) "
             "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    case Sql::find_operation:
      return "SELECT key, at_ms, log_length, operation, arguments, operation_id, answer, chain "
             "FROM versions "
             "WHERE key >> 35 = ?1 AND operation_id = ?2";
    case Sql::reduce_versions:
      return "UPDATE versions SET operation = x'', arguments = x'' WHERE key BETWEEN ?1 AND ?2 AND "
             "(operation <> x'' OR arguments "
             "<> x'')";
    case Sql::replace_operation:
      return "UPDATE versions SET arguments = ?2, answer = ?3 WHERE key = ?1";
    case Sql::delete_versions:
      return "DELETE FROM versions WHERE key >= ?1 AND key < ?2 AND operation_id IS NULL";

    case Sql::messages:
      return "SELECT key, role, time_ms, tokens, redacted, body FROM messages WHERE key >= ?1 AND "
             "key < ?2 ORDER BY key LIMIT ?3";
    case Sql::add_message:
      return "INSERT INTO messages (key, role, time_ms, tokens, redacted, body) VALUES (?1, ?2, "
             "?3, ?4, ?5, ?6)";
    case Sql::set_message:
      return "UPDATE messages SET role = ?2, time_ms = ?3, tokens = ?4, redacted = ?5, body = ?6 "
             "WHERE key = ?1";

    case Sql::set_body: return "UPDATE messages SET body = ?2 WHERE key = ?1";
    case Sql::body: return "SELECT body FROM messages WHERE key = ?1";
    case Sql::copies_of_body:
      return "SELECT key FROM messages WHERE key > ?1 AND key <= ?2 AND body = ?3 ORDER BY key";
    // Such a body is short, and the length of a row is read without the row.
    case Sql::copies_of_fork:
      return "SELECT key, body FROM messages WHERE key >= ?1 AND key <= ?2 AND length(body) < 48 "
             "AND "
             "substr(body, 1, length(?3)) = ?3 ORDER BY key";

    case Sql::size:
      return "SELECT (SELECT coalesce(sum(length(body)), 0) FROM messages WHERE key BETWEEN ?1 AND "
             "?2) + "
             "(SELECT coalesce(sum(length(arguments) + length(answer)), 0) FROM versions WHERE key "
             "BETWEEN ?1 AND ?2) + "
             "(SELECT coalesce(sum(length(bytes)), 0) FROM pages WHERE key BETWEEN ?1 AND ?2)";

    case Sql::checkpoint:
      return "SELECT version, next_page, root FROM checkpoints WHERE conversation = ?1";
    case Sql::set_checkpoint:
      return "INSERT INTO checkpoints (conversation, version, next_page, root) VALUES (?1, ?2, ?3, "
             "?4) "
             "ON CONFLICT (conversation) DO UPDATE SET version = ?2, next_page = ?3, root = ?4";
    case Sql::delete_checkpoint: return "DELETE FROM checkpoints WHERE conversation = ?1";
    case Sql::page: return "SELECT bytes FROM pages WHERE key = ?1";
    case Sql::add_page: return "INSERT INTO pages (key, bytes) VALUES (?1, ?2)";

    case Sql::delete_records_versions: return "DELETE FROM versions WHERE key BETWEEN ?1 AND ?2";
    case Sql::delete_records_messages: return "DELETE FROM messages WHERE key BETWEEN ?1 AND ?2";
    case Sql::delete_records_pages: return "DELETE FROM pages WHERE key BETWEEN ?1 AND ?2";

    case Sql::requests:
      return "SELECT key, version, at_ms, facts, parts FROM requests WHERE key >= ?1 AND key < ?2 "
             "ORDER BY key LIMIT ?3";
    case Sql::requests_with_bytes:
      return "SELECT key, version, at_ms, facts, parts, request, answer FROM requests WHERE key >= "
             "?1 AND key < ?2 "
             "ORDER BY key LIMIT ?3";
    case Sql::last_request:
      return "SELECT key FROM requests WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1";
    case Sql::add_request:
      return "INSERT INTO requests (key, version, at_ms, facts, parts, request, answer) VALUES "
             "(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    case Sql::add_request_key:
      return "INSERT INTO request_keys (text, at_ms, request) VALUES (?1, ?2, ?3)";
    case Sql::keys_of_request:
      return "SELECT text FROM request_keys WHERE request = ?1 ORDER BY text";
    case Sql::find_request:
      return "SELECT c.id, k.request FROM request_keys k JOIN conversations c ON c.number = "
             "k.request >> 35 WHERE k.text = ?1 "
             "AND NOT (c.id >= '.' AND c.id < '/') ORDER BY k.at_ms DESC, k.request DESC LIMIT 1";
    case Sql::empty_requests:
      return "UPDATE requests SET parts = x'', request = x'', answer = x'' WHERE key BETWEEN ?1 "
             "AND ?2 AND "
             "(parts <> x'' OR request <> x'' OR answer <> x'')";
    case Sql::prune_request_keys:
      return "DELETE FROM request_keys WHERE request IN (SELECT key FROM requests WHERE key >= ?1 "
             "AND key < ?2 AND version < ?3)";
    case Sql::prune_requests:
      return "DELETE FROM requests WHERE key >= ?1 AND key < ?2 AND version < ?3";
    case Sql::replace_request:
      return "UPDATE requests SET request = ?2, answer = ?3 WHERE key = ?1";
    case Sql::size_of_requests:
      return "SELECT coalesce(sum(length(facts) + length(parts) + length(request) + "
             "length(answer)), 0) FROM requests "
             "WHERE key BETWEEN ?1 AND ?2";
    case Sql::delete_records_requests: return "DELETE FROM requests WHERE key BETWEEN ?1 AND ?2";
    case Sql::delete_records_request_keys:
      return "DELETE FROM request_keys WHERE request BETWEEN ?1 AND ?2";

    case Sql::words:
      return "SELECT key, last, length(bytes) FROM words WHERE key >= ?1 AND key < ?2 ORDER BY key "
             "LIMIT ?3";
    case Sql::words_with_bytes:
      return "SELECT key, last, length(bytes), bytes FROM words WHERE key >= ?1 AND key < ?2 ORDER "
             "BY key LIMIT ?3";
    case Sql::add_words:
      return "INSERT INTO words (key, last, bytes) VALUES (?1, ?2, ?3) "
             "ON CONFLICT (key) DO UPDATE SET last = ?2, bytes = ?3";
    case Sql::delete_words_within:
      return "DELETE FROM words WHERE key >= ?1 AND key < ?2 AND last <= ?3";
    case Sql::delete_words_of:
      return "DELETE FROM words WHERE key >= ?1 AND key <= ?2 AND last > ?3";
    case Sql::delete_records_words: return "DELETE FROM words WHERE key BETWEEN ?1 AND ?2";
    case Sql::size_of_words:
      return "SELECT coalesce(sum(length(bytes)), 0) FROM words WHERE key BETWEEN ?1 AND ?2";

    case Sql::removals:
      return "SELECT ordinal, who, at_ms, why, digest FROM removals WHERE conversation = ?1 ORDER "
             "BY number";
    case Sql::is_purged:
      return "SELECT 1 FROM removals WHERE conversation = ?1 AND ordinal IS NULL";
    case Sql::add_removal:
      return "INSERT INTO removals (conversation, ordinal, who, at_ms, why, digest) SELECT ?1, ?2, "
             "?3, ?4, ?5, ?6 WHERE NOT EXISTS "
             "(SELECT 1 FROM removals WHERE conversation = ?1 AND ordinal IS ?2 AND who = ?3 AND "
             "at_ms = ?4 AND why = ?5 AND "
             "digest = ?6)";

    case Sql::next_version_key:
      return "SELECT key FROM versions WHERE key >= ?1 ORDER BY key LIMIT 1";
    case Sql::next_message_key:
      return "SELECT key FROM messages WHERE key >= ?1 ORDER BY key LIMIT 1";
    case Sql::next_page_key: return "SELECT key FROM pages WHERE key >= ?1 ORDER BY key LIMIT 1";
    case Sql::next_request_key:
      return "SELECT key FROM requests WHERE key >= ?1 ORDER BY key LIMIT 1";
    case Sql::next_words_key: return "SELECT key FROM words WHERE key >= ?1 ORDER BY key LIMIT 1";
    case Sql::conversation_numbers: return "SELECT number FROM conversations ORDER BY number";
    case Sql::integrity_check: return "PRAGMA integrity_check(100)";
    case Sql::read_pages_of_file: return "SELECT pgno, data FROM sqlite_dbpage";
    case Sql::read_page_of_file: return "SELECT data FROM sqlite_dbpage WHERE pgno = ?1";
    case Sql::write_page_of_file: return "UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1";
    case Sql::vacuum: return "VACUUM";
    case Sql::vacuum_into: return "VACUUM INTO ?1";
    case Sql::count: break;
  }
  return "";
}

}  // namespace undertext
