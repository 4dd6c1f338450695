// Every SQL text of the store. tests/postgres/sql_lint.py reads this file and holds it to what
// PostgreSQL and the distributed engines that speak its protocol have in common: no advisory locks,
// notifications, sequences, triggers, functions, foreign keys or deferrable constraints.
//
// conversation_id leads every key, and every statement but those under "Across conversations" and
// "Set-up" names one conversation, so that tables can be distributed by it and each call is the
// business of one shard. The tenant is in every key and every condition too, and again in the row
// security policies: a statement that forgot it would still see one tenant's rows only.
//
// A commit is sent in one go, before any answer is seen. So what must hold is asked in a way that
// fails when it does not: `1 / count(*)` of the rows that should be there. The division by zero
// ends the transaction, and COMMIT is never reached.
//
// There are no outer joins: where row security binds a role, its policy and the tenant of a
// condition make a condition without a column, and Citus refuses outer joins with one before
// PostgreSQL 17. A subselect that finds nothing is null just as well.
#pragma once

namespace undertext::postgres {

struct Statement {
  const char* name;
  const char* text;
};

namespace sql {

// Transactions.

inline constexpr Statement begin{"begin", R"sql(BEGIN)sql"};
// As of one moment, whatever else is going on.
inline constexpr Statement begin_reading{
    "begin_reading", R"sql(BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY)sql"};
inline constexpr Statement commit{"commit", R"sql(COMMIT)sql"};
inline constexpr Statement rollback{"rollback", R"sql(ROLLBACK)sql"};
inline constexpr Statement set_timeout{"set_timeout",
                                       R"sql(SELECT set_config('statement_timeout', $1, true))sql"};
// With the tenant's name behind it, in quotes: a statement and no call of set_config(), for that
// one would not reach the other nodes of Citus.
inline constexpr const char* set_tenant = R"sql(SET LOCAL undertext.tenant = )sql";

// Conversations. The head is the last version, or where there is none, what the first one will go
// on from: nothing, or the origin.

inline constexpr Statement find{"find", R"sql(
SELECT c.settings, c.created_at_ms, c.origin_id, c.origin_version, c.origin_log_length,
       c.origin_next_page, c.first_version,
       coalesce((SELECT version FROM undertext_version WHERE conversation_id = $1 AND tenant = $2
                 ORDER BY version DESC LIMIT 1), c.origin_version, 0),
       coalesce((SELECT log_length FROM undertext_version WHERE conversation_id = $1 AND tenant = $2
                 ORDER BY version DESC LIMIT 1), c.origin_log_length, 0),
       coalesce((SELECT at_ms FROM undertext_version WHERE conversation_id = $1 AND tenant = $2
                 ORDER BY version DESC LIMIT 1), c.created_at_ms),
       coalesce((SELECT chain FROM undertext_version WHERE conversation_id = $1 AND tenant = $2
                 ORDER BY version DESC LIMIT 1), c.chain),
       coalesce((SELECT version FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2), 0),
       coalesce((SELECT next_page FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2),
                c.origin_next_page, 1)
FROM undertext_conversation c WHERE c.conversation_id = $1 AND c.tenant = $2)sql"};
inline constexpr Statement find_forks{"find_forks", R"sql(
SELECT fork_id FROM undertext_fork WHERE conversation_id = $1 AND tenant = $2 ORDER BY fork_id)sql"};
inline constexpr Statement insert_conversation{"insert_conversation", R"sql(
INSERT INTO undertext_conversation (conversation_id, tenant, settings, created_at_ms, writer, origin_id, origin_version, origin_log_length,
                                    origin_next_page, first_version, chain)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10))sql"};
inline constexpr Statement insert_fork{"insert_fork", R"sql(
INSERT INTO undertext_fork (conversation_id, tenant, fork_id, next_page) VALUES ($1, $2, $3, $4))sql"};
inline constexpr Statement delete_fork{"delete_fork", R"sql(
DELETE FROM undertext_fork WHERE conversation_id = $1 AND tenant = $2 AND fork_id = $3)sql"};
inline constexpr Statement update_settings{"update_settings", R"sql(
UPDATE undertext_conversation SET settings = $3, writer = $4 WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement find_settings_writer{"find_settings_writer", R"sql(
SELECT writer, settings FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2)sql"};
// Two processes that race for an id write the same row; this tells whose it became.
inline constexpr Statement find_creator{"find_creator", R"sql(
SELECT writer FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2)sql"};

// Locks of one row. Commits share it among themselves; what takes away or forks has it alone, so
// that neither happens in the middle of the other. It is a statement of its own because the next
// one then sees all that happened while this one waited.

inline constexpr Statement share{"share", R"sql(
SELECT 1 FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2 FOR KEY SHARE)sql"};
// Of those that change settings, one at a time: each sees what the one before it left. Other
// commits go on.
inline constexpr Statement claim_settings{"claim_settings", R"sql(
SELECT 1 FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2 FOR NO KEY UPDATE)sql"};
inline constexpr Statement claim{"claim", R"sql(
SELECT 1 FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2 FOR UPDATE)sql"};

// What must hold.

inline constexpr Statement require_conversation{"require_conversation", R"sql(
SELECT 1 / count(*) FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement require_head{"require_head", R"sql(
SELECT 1 / count(*) FROM undertext_conversation c WHERE c.conversation_id = $1 AND c.tenant = $2 AND $3 = coalesce((
  SELECT version FROM undertext_version WHERE conversation_id = $1 AND tenant = $2 ORDER BY version DESC LIMIT 1),
  c.origin_version, 0))sql"};
// At version $3, and not at the head: that may be another one than a statement before.
inline constexpr Statement require_log_length{"require_log_length", R"sql(
SELECT 1 / count(*) FROM undertext_conversation c WHERE c.conversation_id = $1 AND c.tenant = $2 AND $4 = coalesce((
  SELECT log_length FROM undertext_version WHERE conversation_id = $1 AND tenant = $2 AND version = $3), c.origin_log_length, 0))sql"};
inline constexpr Statement require_settings{"require_settings", R"sql(
SELECT 1 / count(*) FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2 AND settings = $3)sql"};
inline constexpr Statement require_no_forks{"require_no_forks", R"sql(
SELECT 1 / (CASE WHEN count(*) = 0 THEN 1 ELSE 0 END) FROM undertext_fork WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement require_no_pages_for_forks{"require_no_pages_for_forks", R"sql(
SELECT 1 / (CASE WHEN count(*) = 0 THEN 1 ELSE 0 END) FROM undertext_fork
WHERE conversation_id = $1 AND tenant = $2 AND next_page > 1)sql"};
inline constexpr Statement require_not_purged{"require_not_purged", R"sql(
SELECT 1 / (CASE WHEN count(*) = 0 THEN 1 ELSE 0 END) FROM undertext_removal
WHERE conversation_id = $1 AND tenant = $2 AND ordinal = -1)sql"};
inline constexpr Statement require_message{"require_message", R"sql(
SELECT 1 / count(*) FROM undertext_message WHERE conversation_id = $1 AND tenant = $2 AND ordinal = $3)sql"};
// No checkpoint but the one that ends at page $3.
inline constexpr Statement require_checkpoint{"require_checkpoint", R"sql(
SELECT 1 / count(*) FROM undertext_conversation c WHERE c.conversation_id = $1 AND c.tenant = $2
  AND $3 = coalesce((SELECT next_page FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2),
                    c.origin_next_page, 1))sql"};
// A checkpoint goes on from the stored one: its version, the end of its pages, and its first new
// page.
inline constexpr Statement require_later_checkpoint{"require_later_checkpoint", R"sql(
SELECT 1 / count(*) FROM undertext_conversation c WHERE c.conversation_id = $1 AND c.tenant = $2
  AND $3 >= coalesce((SELECT version FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2), 0)
  AND least($4, $5) >= coalesce((SELECT next_page FROM undertext_checkpoint
                                 WHERE conversation_id = $1 AND tenant = $2), c.origin_next_page, 1))sql"};
// What a fork needs of its origin is there still: its version, and the pages up to $4.
inline constexpr Statement require_origin{"require_origin", R"sql(
SELECT 1 / count(*) FROM undertext_conversation c WHERE c.conversation_id = $1 AND c.tenant = $2
  AND c.first_version <= $3
  AND $4 >= coalesce((SELECT next_page FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2),
                     c.origin_next_page, 1))sql"};

// Versions. The primary key of insert_version is the compare-and-swap: of two writers one inserts
// the row, the other is refused.

inline constexpr Statement insert_version{"insert_version", R"sql(
INSERT INTO undertext_version (conversation_id, tenant, version, at_ms, log_length, operation, arguments, operation_id, answer, chain, writer)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11))sql"};
inline constexpr Statement find_writer{"find_writer", R"sql(
SELECT writer FROM undertext_version WHERE conversation_id = $1 AND tenant = $2 AND version = $3)sql"};
inline constexpr Statement versions{"versions", R"sql(
SELECT version, at_ms, log_length, operation, arguments, operation_id, answer, chain FROM (
  SELECT version, at_ms, log_length, operation, arguments, operation_id, answer, chain,
         octet_length(arguments) + octet_length(answer) AS size,
         sum(octet_length(arguments) + octet_length(answer)) OVER (ORDER BY version) AS total
  FROM undertext_version
  WHERE conversation_id = $1 AND tenant = $2 AND version >= $3 AND version < $4 AND version >= (
    SELECT first_version FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2)
  ORDER BY version LIMIT $5) v
WHERE total - size < $6 ORDER BY version)sql"};
inline constexpr Statement find_operation{"find_operation", R"sql(
SELECT version, at_ms, log_length, operation, arguments, operation_id, answer, chain
FROM undertext_version WHERE conversation_id = $1 AND tenant = $2 AND operation_id = $3)sql"};

// Messages.

inline constexpr Statement insert_message{"insert_message", R"sql(
INSERT INTO undertext_message (conversation_id, tenant, ordinal, role, time_ms, tokens, redacted, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8))sql"};
// Equal bodies are kept once: store/shared_body.hpp. The length of a body is known without reading
// it.
inline constexpr Statement insert_message_like{"insert_message_like", R"sql(
INSERT INTO undertext_message (conversation_id, tenant, ordinal, role, time_ms, tokens, redacted, body)
SELECT conversation_id, tenant, $3::bigint, $4::smallint, $5::bigint, $6::bigint, NULL,
       CASE WHEN octet_length(body) < 24 AND substring(body FROM 1 FOR 1) = '\x3d'::bytea THEN body
       ELSE decode('=' || ordinal::text, 'escape') END
FROM undertext_message WHERE conversation_id = $1 AND tenant = $2 AND ordinal = $7)sql"};
inline constexpr Statement messages{"messages", R"sql(
SELECT ordinal, role, time_ms, tokens, redacted, body FROM (
  SELECT ordinal, role, time_ms, tokens, redacted, body, octet_length(body) AS size, sum(octet_length(body)) OVER (ORDER BY ordinal) AS total
  FROM (
    SELECT m.ordinal, m.role, m.time_ms, m.tokens, m.redacted,
      CASE WHEN octet_length(m.body) < 24 AND substring(m.body FROM 1 FOR 1) = '\x3d'::bytea THEN (
        SELECT o.body FROM undertext_message o WHERE o.conversation_id = $1 AND o.tenant = $2
          AND o.ordinal = encode(substring(m.body FROM 2), 'escape')::bigint)
      ELSE m.body END AS body
    FROM undertext_message m WHERE m.conversation_id = $1 AND m.tenant = $2 AND m.ordinal >= $3 AND m.ordinal < $4
    ORDER BY m.ordinal LIMIT $5) whole) sized
WHERE total - size < $6 ORDER BY ordinal)sql"};
// Before the bodies of messages go: the first copy of each, among those that stay, gets the bytes,
// and the others name that one.
inline constexpr Statement hand_bodies_on{"hand_bodies_on", R"sql(
WITH copies AS (
  SELECT ordinal, body AS named, min(ordinal) OVER (PARTITION BY body) AS heir FROM undertext_message
  WHERE conversation_id = $1 AND tenant = $2 AND ordinal <> ALL($3::bigint[]) AND octet_length(body) < 24
    AND body IN (SELECT decode('=' || n::text, 'escape') FROM unnest($3::bigint[]) AS n))
UPDATE undertext_message m SET body = CASE WHEN m.ordinal = c.heir THEN (
    SELECT o.body FROM undertext_message o WHERE o.conversation_id = $1 AND o.tenant = $2
      AND o.ordinal = encode(substring(c.named FROM 2), 'escape')::bigint)
  ELSE decode('=' || c.heir::text, 'escape') END
FROM copies c WHERE m.conversation_id = $1 AND m.tenant = $2 AND m.ordinal = c.ordinal)sql"};
inline constexpr Statement size{"size", R"sql(
SELECT ((SELECT coalesce(sum(octet_length(body)), 0) FROM undertext_message WHERE conversation_id = $1 AND tenant = $2)
      + (SELECT coalesce(sum(octet_length(arguments) + octet_length(answer)), 0) FROM undertext_version WHERE conversation_id = $1 AND tenant = $2)
      + (SELECT coalesce(sum(octet_length(bytes)), 0) FROM undertext_page WHERE conversation_id = $1 AND tenant = $2))::bigint)sql"};
inline constexpr Statement replace_message{"replace_message", R"sql(
UPDATE undertext_message SET role = $4, time_ms = $5, tokens = $6, redacted = coalesce(redacted, $7), body = $8
WHERE conversation_id = $1 AND tenant = $2 AND ordinal = $3)sql"};

// Checkpoints and their pages. Pages below `next_page` of a fork stay for it.

inline constexpr Statement checkpoint{"checkpoint", R"sql(
SELECT version, next_page, root FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement put_checkpoint{"put_checkpoint", R"sql(
INSERT INTO undertext_checkpoint (conversation_id, tenant, version, next_page, root) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (conversation_id, tenant) DO UPDATE SET version = excluded.version, next_page = excluded.next_page, root = excluded.root)sql"};
inline constexpr Statement insert_page{"insert_page", R"sql(
INSERT INTO undertext_page (conversation_id, tenant, number, bytes) VALUES ($1, $2, $3, $4))sql"};
inline constexpr Statement pages{"pages", R"sql(
SELECT number, bytes FROM undertext_page WHERE conversation_id = $1 AND tenant = $2 AND number = ANY($3))sql"};

// Removals. The ordinal -1 stands for the whole conversation.

inline constexpr Statement insert_removal{"insert_removal", R"sql(
INSERT INTO undertext_removal (conversation_id, tenant, number, ordinal, at_ms, who, why, digest)
SELECT conversation_id, tenant,
       (SELECT count(*) + 1 FROM undertext_removal WHERE conversation_id = $1 AND tenant = $2),
       $3::bigint, $4::bigint, $5::bytea, $6::bytea, $7::bytea
FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2 AND (
  SELECT count(*) FROM undertext_removal WHERE conversation_id = $1 AND tenant = $2
    AND ordinal = $3 AND at_ms = $4 AND who = $5 AND why = $6 AND digest = $7) = 0)sql"};
inline constexpr Statement removals{"removals", R"sql(
SELECT ordinal, at_ms, who, why, digest FROM undertext_removal WHERE conversation_id = $1 AND tenant = $2 ORDER BY number)sql"};
inline constexpr Statement purge_conversation{"purge_conversation", R"sql(
DELETE FROM undertext_conversation WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement purge_versions{"purge_versions", R"sql(
DELETE FROM undertext_version WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement purge_messages{"purge_messages", R"sql(
DELETE FROM undertext_message WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement purge_pages{"purge_pages", R"sql(
DELETE FROM undertext_page WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement purge_checkpoint{"purge_checkpoint", R"sql(
DELETE FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2)sql"};

// Pruning.

inline constexpr Statement move_first_version{"move_first_version", R"sql(
UPDATE undertext_conversation SET first_version = greatest(first_version, $3) WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement prune_versions{"prune_versions", R"sql(
DELETE FROM undertext_version WHERE conversation_id = $1 AND tenant = $2 AND version < $3 AND operation_id IS NULL)sql"};
inline constexpr Statement reduce_versions{"reduce_versions", R"sql(
UPDATE undertext_version SET operation = '', arguments = ''
WHERE conversation_id = $1 AND tenant = $2 AND version <= $3 AND (operation <> '' OR arguments <> ''))sql"};
inline constexpr Statement replace_operation{"replace_operation", R"sql(
UPDATE undertext_version SET arguments = $4, answer = $5 WHERE conversation_id = $1 AND tenant = $2 AND version = $3)sql"};
// Of a fork that has all its pages itself; the second is of its origin.
inline constexpr Statement keep_own_pages{"keep_own_pages", R"sql(
UPDATE undertext_conversation SET origin_next_page = 1 WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement fork_needs_no_pages{"fork_needs_no_pages", R"sql(
UPDATE undertext_fork SET next_page = 1 WHERE conversation_id = $1 AND tenant = $2 AND fork_id = $3)sql"};

// Requests. The primary key decides between two writers, as of versions.

inline constexpr Statement require_last_request{"require_last_request", R"sql(
SELECT 1 / count(*) FROM undertext_conversation c WHERE c.conversation_id = $1 AND c.tenant = $2 AND $3 = coalesce((
  SELECT number FROM undertext_request WHERE conversation_id = $1 AND tenant = $2 ORDER BY number DESC LIMIT 1), 0))sql"};
inline constexpr Statement insert_request{"insert_request", R"sql(
INSERT INTO undertext_request (conversation_id, tenant, number, version, at_ms, writer, facts, parts, request, answer)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10))sql"};
inline constexpr Statement insert_request_key{"insert_request_key", R"sql(
INSERT INTO undertext_request_key (conversation_id, tenant, number, at_ms, key) VALUES ($1, $2, $3, $4, $5))sql"};
inline constexpr Statement find_request_writer{"find_request_writer", R"sql(
SELECT writer FROM undertext_request WHERE conversation_id = $1 AND tenant = $2 AND number = $3)sql"};
inline constexpr Statement requests{"requests", R"sql(
SELECT number, version, at_ms, facts, parts FROM (
  SELECT number, version, at_ms, facts, parts, octet_length(facts) + octet_length(parts) AS size,
         sum(octet_length(facts) + octet_length(parts)) OVER (ORDER BY number) AS total
  FROM undertext_request
  WHERE conversation_id = $1 AND tenant = $2 AND number >= $3 AND number < $4 ORDER BY number LIMIT $5) r
WHERE total - size < $6 ORDER BY number)sql"};
inline constexpr Statement requests_with_bytes{"requests_with_bytes", R"sql(
SELECT number, version, at_ms, facts, parts, request, answer FROM (
  SELECT number, version, at_ms, facts, parts, request, answer,
         octet_length(facts) + octet_length(parts) + octet_length(request) + octet_length(answer) AS size,
         sum(octet_length(facts) + octet_length(parts) + octet_length(request) + octet_length(answer))
           OVER (ORDER BY number) AS total
  FROM undertext_request
  WHERE conversation_id = $1 AND tenant = $2 AND number >= $3 AND number < $4 ORDER BY number LIMIT $5) r
WHERE total - size < $6 ORDER BY number)sql"};
inline constexpr Statement request_keys{"request_keys", R"sql(
SELECT number, key FROM undertext_request_key
WHERE conversation_id = $1 AND tenant = $2 AND number >= $3 AND number < $4 ORDER BY number, key)sql"};
inline constexpr Statement last_request{"last_request", R"sql(
SELECT coalesce(max(number), 0) FROM undertext_request WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement size_of_requests{"size_of_requests", R"sql(
SELECT coalesce(sum(octet_length(facts) + octet_length(parts) + octet_length(request) + octet_length(answer)), 0)::bigint
FROM undertext_request WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement empty_requests{"empty_requests", R"sql(
UPDATE undertext_request SET parts = '', request = '', answer = '' WHERE conversation_id = $1 AND tenant = $2)sql"};
// The newest one stays.
inline constexpr Statement prune_request_keys{"prune_request_keys", R"sql(
DELETE FROM undertext_request_key WHERE conversation_id = $1 AND tenant = $2 AND number IN (
  SELECT number FROM undertext_request WHERE conversation_id = $1 AND tenant = $2 AND version < $3)
AND number < (SELECT max(number) FROM undertext_request WHERE conversation_id = $1 AND tenant = $2))sql"};
inline constexpr Statement prune_requests{"prune_requests", R"sql(
DELETE FROM undertext_request WHERE conversation_id = $1 AND tenant = $2 AND version < $3
AND number < (SELECT max(number) FROM undertext_request WHERE conversation_id = $1 AND tenant = $2))sql"};
inline constexpr Statement replace_request{"replace_request", R"sql(
UPDATE undertext_request SET request = $4, answer = $5 WHERE conversation_id = $1 AND tenant = $2 AND number = $3)sql"};
inline constexpr Statement purge_requests{"purge_requests", R"sql(
DELETE FROM undertext_request WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement purge_request_keys{"purge_request_keys", R"sql(
DELETE FROM undertext_request_key WHERE conversation_id = $1 AND tenant = $2)sql"};

// The full-text index: rows of words, each of the messages [first_ordinal, end_ordinal).

inline constexpr Statement words{"words", R"sql(
SELECT first_ordinal, end_ordinal, octet_length(bytes)::bigint FROM undertext_words
WHERE conversation_id = $1 AND tenant = $2 AND first_ordinal >= $3 AND first_ordinal < $4
ORDER BY first_ordinal LIMIT $5)sql"};
inline constexpr Statement words_with_bytes{"words_with_bytes", R"sql(
SELECT first_ordinal, end_ordinal, size, bytes FROM (
  SELECT first_ordinal, end_ordinal, bytes, octet_length(bytes)::bigint AS size,
         sum(octet_length(bytes)) OVER (ORDER BY first_ordinal) AS total
  FROM undertext_words
  WHERE conversation_id = $1 AND tenant = $2 AND first_ordinal >= $3 AND first_ordinal < $4
  ORDER BY first_ordinal LIMIT $5) w
WHERE total - size < $6 ORDER BY first_ordinal)sql"};
inline constexpr Statement delete_words_within{"delete_words_within", R"sql(
DELETE FROM undertext_words
WHERE conversation_id = $1 AND tenant = $2 AND first_ordinal >= $3 AND end_ordinal <= $4)sql"};
inline constexpr Statement put_words{"put_words", R"sql(
INSERT INTO undertext_words (conversation_id, tenant, first_ordinal, end_ordinal, bytes) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (conversation_id, tenant, first_ordinal) DO UPDATE SET end_ordinal = $4, bytes = $5)sql"};
inline constexpr Statement delete_words_of{"delete_words_of", R"sql(
DELETE FROM undertext_words
WHERE conversation_id = $1 AND tenant = $2 AND first_ordinal <= $3 AND end_ordinal > $3)sql"};
inline constexpr Statement size_of_words{"size_of_words", R"sql(
SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM undertext_words WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement purge_words{"purge_words", R"sql(
DELETE FROM undertext_words WHERE conversation_id = $1 AND tenant = $2)sql"};

// Across conversations.

inline constexpr Statement find_request{"find_request", R"sql(
SELECT conversation_id, number FROM undertext_request_key
WHERE tenant = $1 AND key = $2 AND NOT (conversation_id >= '.' AND conversation_id < '/')
ORDER BY at_ms DESC, number DESC LIMIT 1)sql"};

inline constexpr Statement list{"list", R"sql(
SELECT conversation_id FROM undertext_conversation
WHERE tenant = $1 AND conversation_id > $2 AND NOT (conversation_id >= '.' AND conversation_id < '/') ORDER BY conversation_id LIMIT $3)sql"};
// Ids that begin with a dot: '/' is the next letter.
inline constexpr Statement list_staged{"list_staged", R"sql(
SELECT conversation_id FROM undertext_conversation
WHERE tenant = $1 AND conversation_id > $2 AND conversation_id >= '.' AND conversation_id < '/' ORDER BY conversation_id LIMIT $3)sql"};
// What is staged under $1 becomes $3. The column that tables may be distributed by cannot be
// changed in a row there, so rows are copied.
inline constexpr Statement publish_conversation{"publish_conversation", R"sql(
INSERT INTO undertext_conversation (conversation_id, tenant, settings, created_at_ms, writer, first_version, chain)
SELECT $3, tenant, settings, created_at_ms, $4, first_version, chain FROM undertext_conversation
WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement publish_versions{"publish_versions", R"sql(
INSERT INTO undertext_version (conversation_id, tenant, version, at_ms, log_length, operation, arguments, operation_id, answer, chain, writer)
SELECT $3, tenant, version, at_ms, log_length, operation, arguments, operation_id, answer, chain, writer FROM undertext_version
WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement publish_messages{"publish_messages", R"sql(
INSERT INTO undertext_message (conversation_id, tenant, ordinal, role, time_ms, tokens, redacted, body)
SELECT $3, tenant, ordinal, role, time_ms, tokens, redacted, body FROM undertext_message WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement publish_checkpoint{"publish_checkpoint", R"sql(
INSERT INTO undertext_checkpoint (conversation_id, tenant, version, next_page, root)
SELECT $3, tenant, version, next_page, root FROM undertext_checkpoint WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement publish_pages{"publish_pages", R"sql(
INSERT INTO undertext_page (conversation_id, tenant, number, bytes)
SELECT $3, tenant, number, bytes FROM undertext_page WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement publish_requests{"publish_requests", R"sql(
INSERT INTO undertext_request (conversation_id, tenant, number, version, at_ms, writer, facts, parts, request, answer)
SELECT $3, tenant, number, version, at_ms, writer, facts, parts, request, answer FROM undertext_request
WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement publish_request_keys{"publish_request_keys", R"sql(
INSERT INTO undertext_request_key (conversation_id, tenant, number, at_ms, key)
SELECT $3, tenant, number, at_ms, key FROM undertext_request_key WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement publish_words{"publish_words", R"sql(
INSERT INTO undertext_words (conversation_id, tenant, first_ordinal, end_ordinal, bytes)
SELECT $3, tenant, first_ordinal, end_ordinal, bytes FROM undertext_words WHERE conversation_id = $1 AND tenant = $2)sql"};
// The same rows, in the order of the parameters by which they are stored again: for where rows lie
// on several nodes. There the statements above would have to COPY from one to the other, which
// PostgreSQL refuses a role that row security binds.
inline constexpr Statement staged_conversation{"staged_conversation", R"sql(
SELECT settings, created_at_ms, first_version, chain FROM undertext_conversation
WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement staged_versions{"staged_versions", R"sql(
SELECT version, at_ms, log_length, operation, arguments, operation_id, answer, chain, writer FROM undertext_version
WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement staged_messages{"staged_messages", R"sql(
SELECT ordinal, role::bigint, time_ms, tokens, redacted, body FROM undertext_message
WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement staged_pages{"staged_pages", R"sql(
SELECT number, bytes FROM undertext_page WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement staged_requests{"staged_requests", R"sql(
SELECT number, version, at_ms, writer, facts, parts, request, answer FROM undertext_request
WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement staged_request_keys{"staged_request_keys", R"sql(
SELECT number, at_ms, key FROM undertext_request_key WHERE conversation_id = $1 AND tenant = $2)sql"};
inline constexpr Statement staged_words{"staged_words", R"sql(
SELECT first_ordinal, end_ordinal, bytes FROM undertext_words WHERE conversation_id = $1 AND tenant = $2)sql"};
// Rows whose conversation is not there, which no call can leave behind. Without a join: on Citus,
// see above.
inline constexpr Statement orphans{"orphans", R"sql(
SELECT conversation_id, what FROM (
  SELECT conversation_id, what, bool_or(what = '') OVER (PARTITION BY conversation_id) AS is_there FROM (
    SELECT DISTINCT conversation_id, '' AS what FROM undertext_conversation WHERE tenant = $1
    UNION ALL SELECT DISTINCT conversation_id, 'versions' FROM undertext_version WHERE tenant = $1
    UNION ALL SELECT DISTINCT conversation_id, 'messages' FROM undertext_message WHERE tenant = $1
    UNION ALL SELECT DISTINCT conversation_id, 'pages' FROM undertext_page WHERE tenant = $1
    UNION ALL SELECT DISTINCT conversation_id, 'a checkpoint' FROM undertext_checkpoint WHERE tenant = $1
    UNION ALL SELECT DISTINCT conversation_id, 'forks' FROM undertext_fork WHERE tenant = $1) every) known
WHERE NOT is_there ORDER BY conversation_id, what LIMIT 1000)sql"};
inline constexpr Statement orphaned_requests{"orphaned_requests", R"sql(
SELECT conversation_id, what FROM (
  SELECT conversation_id, what, bool_or(what = '') OVER (PARTITION BY conversation_id) AS is_there FROM (
    SELECT DISTINCT conversation_id, '' AS what FROM undertext_conversation WHERE tenant = $1
    UNION ALL SELECT DISTINCT conversation_id, 'requests' FROM undertext_request WHERE tenant = $1) every) known
WHERE NOT is_there ORDER BY conversation_id, what LIMIT 1000)sql"};
inline constexpr Statement orphaned_words{"orphaned_words", R"sql(
SELECT conversation_id, what FROM (
  SELECT conversation_id, what, bool_or(what = '') OVER (PARTITION BY conversation_id) AS is_there FROM (
    SELECT DISTINCT conversation_id, '' AS what FROM undertext_conversation WHERE tenant = $1
    UNION ALL SELECT DISTINCT conversation_id, 'words' FROM undertext_words WHERE tenant = $1) every) known
WHERE NOT is_there ORDER BY conversation_id, what LIMIT 1000)sql"};
// Writes the tables anew. Without FULL, what was taken out would stay in the free room of their
// pages until something else is written there.
inline constexpr Statement rewrite{"rewrite", R"sql(
VACUUM FULL undertext_conversation, undertext_version, undertext_message, undertext_page, undertext_checkpoint, undertext_fork,
  undertext_removal, undertext_request, undertext_request_key, undertext_words)sql"};

// Set-up. The row of undertext_schema is the lock: whoever holds it migrates, and the others find
// that it is done.

inline constexpr Statement schema_version{
    "schema_version", R"sql(SELECT version FROM undertext_schema WHERE id = 1)sql"};
// Meanwhile, a later release may have brought the tables up to date.
inline constexpr Statement require_known_tables{"require_known_tables", R"sql(
SELECT 1 / count(*) FROM undertext_schema WHERE id = 1 AND version <= $1)sql"};
inline constexpr Statement lock_schema{
    "lock_schema", R"sql(SELECT version FROM undertext_schema WHERE id = 1 FOR UPDATE)sql"};
inline constexpr Statement set_schema_version{
    "set_schema_version", R"sql(UPDATE undertext_schema SET version = $1 WHERE id = 1)sql"};
inline constexpr Statement create_schema_table{"create_schema_table", R"sql(
CREATE TABLE IF NOT EXISTS undertext_schema (id bigint PRIMARY KEY, version bigint NOT NULL))sql"};
inline constexpr Statement create_schema_row{"create_schema_row", R"sql(
INSERT INTO undertext_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING)sql"};

// Never change a migration that was released: add the next one to `migrations` below.
inline constexpr Statement migration_1[] = {
    {"", R"sql(
CREATE TABLE undertext_conversation (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  settings bytea NOT NULL,
  created_at_ms bigint NOT NULL,
  writer bigint NOT NULL,
  origin_id text COLLATE "C",
  origin_version bigint,
  origin_log_length bigint,
  origin_next_page bigint,
  first_version bigint NOT NULL,
  chain bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant)))sql"},
    {"",
     R"sql(CREATE INDEX undertext_conversation_of_tenant ON undertext_conversation (tenant, conversation_id))sql"},
    {"", R"sql(
CREATE TABLE undertext_version (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  at_ms bigint NOT NULL,
  log_length bigint NOT NULL,
  writer bigint NOT NULL,
  operation bytea NOT NULL,
  arguments bytea NOT NULL,
  operation_id bytea,
  answer bytea NOT NULL,
  chain bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant, version)))sql"},
    {"", R"sql(
CREATE UNIQUE INDEX undertext_version_operation_id ON undertext_version (conversation_id, tenant, operation_id)
WHERE operation_id IS NOT NULL)sql"},
    {"", R"sql(
CREATE TABLE undertext_message (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  ordinal bigint NOT NULL,
  time_ms bigint NOT NULL,
  tokens bigint NOT NULL,
  role smallint NOT NULL,
  redacted bytea,
  body bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant, ordinal)))sql"},
    {"", R"sql(
CREATE TABLE undertext_checkpoint (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  next_page bigint NOT NULL,
  root bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant)))sql"},
    {"", R"sql(
CREATE TABLE undertext_page (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant, number)))sql"},
    {"", R"sql(
CREATE TABLE undertext_fork (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  fork_id text COLLATE "C" NOT NULL,
  next_page bigint NOT NULL,
  PRIMARY KEY (conversation_id, tenant, fork_id)))sql"},
    {"", R"sql(
CREATE TABLE undertext_removal (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  ordinal bigint NOT NULL,
  at_ms bigint NOT NULL,
  who bytea NOT NULL,
  why bytea NOT NULL,
  digest bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant, number)))sql"},
    {"",
     R"sql(ALTER TABLE undertext_conversation ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(ALTER TABLE undertext_version ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(ALTER TABLE undertext_message ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(ALTER TABLE undertext_checkpoint ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"", R"sql(ALTER TABLE undertext_page ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"", R"sql(ALTER TABLE undertext_fork ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(ALTER TABLE undertext_removal ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_conversation USING (tenant = current_setting('undertext.tenant', true)))sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_version USING (tenant = current_setting('undertext.tenant', true)))sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_message USING (tenant = current_setting('undertext.tenant', true)))sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_checkpoint USING (tenant = current_setting('undertext.tenant', true)))sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_page USING (tenant = current_setting('undertext.tenant', true)))sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_fork USING (tenant = current_setting('undertext.tenant', true)))sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_removal USING (tenant = current_setting('undertext.tenant', true)))sql"},
};

inline constexpr Statement migration_2[] = {
    {"", R"sql(
CREATE TABLE undertext_request (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  version bigint NOT NULL,
  at_ms bigint NOT NULL,
  writer bigint NOT NULL,
  facts bytea NOT NULL,
  parts bytea NOT NULL,
  request bytea NOT NULL,
  answer bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant, number)))sql"},
    {"", R"sql(
CREATE TABLE undertext_request_key (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  at_ms bigint NOT NULL,
  key bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant, number, key)))sql"},
    {"", R"sql(
CREATE INDEX undertext_request_key_of_tenant ON undertext_request_key (tenant, key, at_ms, number, conversation_id))sql"},
    {"",
     R"sql(ALTER TABLE undertext_request ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(ALTER TABLE undertext_request_key ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_request USING (tenant = current_setting('undertext.tenant', true)))sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_request_key USING (tenant = current_setting('undertext.tenant', true)))sql"},
};

inline constexpr Statement migration_3[] = {
    {"", R"sql(
CREATE TABLE undertext_words (
  conversation_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  first_ordinal bigint NOT NULL,
  end_ordinal bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (conversation_id, tenant, first_ordinal)))sql"},
    {"",
     R"sql(ALTER TABLE undertext_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY)sql"},
    {"",
     R"sql(CREATE POLICY undertext_tenant ON undertext_words USING (tenant = current_setting('undertext.tenant', true)))sql"},
};

// Bodies may be packed from here on: pack/packed_body.hpp. The tables are the same.
inline constexpr Statement migration_4[] = {
    {"",
     R"sql(COMMENT ON COLUMN undertext_message.body IS 'a message, = with an ordinal, or ~ with a pack')sql"},
};

// Distribution by Citus. Each statement does nothing where it was done before.

// Whether the database has the extension: the statements below name its catalog.
inline constexpr Statement has_citus{"has_citus", R"sql(
SELECT count(*) FROM pg_extension WHERE extname = 'citus')sql"};
inline constexpr Statement distribute_conversation{"", R"sql(
SELECT create_distributed_table('undertext_conversation', 'conversation_id')
WHERE NOT EXISTS (SELECT 1 FROM pg_dist_partition
                  WHERE logicalrelid = 'undertext_conversation'::regclass))sql"};
// Any node may be asked for the version of the tables.
inline constexpr Statement distribute_schema{"", R"sql(
SELECT create_reference_table('undertext_schema')
WHERE NOT EXISTS (SELECT 1 FROM pg_dist_partition
                  WHERE logicalrelid = 'undertext_schema'::regclass))sql"};
// Another table, $1: rows of one conversation lie on one node. Only where the conversations are
// distributed, so that a migration may run it in any database with Citus.
inline constexpr Statement distribute{"", R"sql(
SELECT create_distributed_table($1::text::regclass, 'conversation_id',
                                colocate_with => 'undertext_conversation')
WHERE NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = $1::text::regclass)
  AND EXISTS (SELECT 1 FROM pg_dist_partition
              WHERE logicalrelid = 'undertext_conversation'::regclass))sql"};
inline constexpr const char* distributed_like_conversation[] = {
    "undertext_version", "undertext_message",     "undertext_checkpoint",
    "undertext_page",    "undertext_fork",        "undertext_removal",
    "undertext_request", "undertext_request_key", "undertext_words",
};
// With the quoted name of the database between the two. Without it `SET LOCAL` stays on the node
// that was asked, and row security shows no rows on the others.
inline constexpr const char* alter_database = R"sql(ALTER DATABASE )sql";
inline constexpr const char* forward_settings =
    R"sql( SET citus.propagate_set_commands = 'local')sql";

}  // namespace sql
}  // namespace undertext::postgres
