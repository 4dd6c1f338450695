#include "sqlite/records.hpp"

#include <algorithm>

#include "pack/packed_body.hpp"
#include "sqlite/request_rows.hpp"
#include "sqlite/schema.hpp"
#include "sqlite/words_rows.hpp"
#include "store/shared_body.hpp"

namespace undertext {
namespace {

Error too_many(std::string_view what) {
  return {ErrorCode::too_large,
          "SQLite stores hold no more " + std::string(what) + " than 2^35 a conversation"};
}

// Whether the largest number is small enough for a key; the others are below it.
bool fits(std::uint64_t number) { return number < record_number_max; }

VersionRecord version_at(Statement& row) {
  VersionRecord version;
  version.version = row.number_at(0) & record_number_max;
  version.at_ms = row.signed_at(1);
  version.log_length = row.number_at(2);
  version.operation = row.bytes_at(3);
  version.arguments = row.bytes_at(4);
  version.operation_id = row.bytes_at(5);
  version.answer = row.bytes_at(6);
  version.chain = row.digest_at(7);
  return version;
}

// Without its body.
MessageRecord message_at(Statement& row) {
  MessageRecord message;
  message.ordinal = row.number_at(0) & record_number_max;
  const std::int64_t role = row.signed_at(1);
  if (role < 0 || role > 255) throw SqliteError{SQLITE_CORRUPT, "a message's role is none"};
  message.role = static_cast<Role>(role);
  message.time_ms = row.signed_at(2);
  message.tokens = static_cast<std::uint32_t>(row.number_at(3));
  if (!row.null_at(4)) message.redacted = row.digest_at(4);
  return message;
}

// The JSON that a row's body stands for, if it is not a shared one.
std::string body_of(std::string_view stored) {
  if (!is_packed(stored)) return std::string(stored);
  Result<std::string> body = unpacked_body(stored, record_bytes_max);
  if (!body) throw SqliteError{SQLITE_CORRUPT, "the body of a message is damaged"};
  return *std::move(body);
}

// As it is stored.
std::optional<std::string> read_body(Connection& connection, std::uint64_t number,
                                     std::uint64_t ordinal) {
  Statement row(connection, Sql::body);
  if (!fits(ordinal) || !row.number(key_of(number, ordinal)).next()) return std::nullopt;
  return std::string(row.bytes_at(0));
}

// The bytes of a body as they are stored, wherever they are.
std::string resolved_body(Connection& connection, std::uint64_t number, std::string_view stored) {
  constexpr int depth_max = 1000;  // of forks of forks; more is a circle
  std::string body(stored);
  for (int depth = 0; depth < depth_max; ++depth) {
    std::optional<std::string> next;
    if (const std::optional<std::uint64_t> owner = shared_with(body)) {
      next = read_body(connection, number, *owner);
    } else if (const std::optional<BodyOfFork> of_fork = read_body_of_fork(body)) {
      number = of_fork->conversation;
      if (number <= conversation_number_max) next = read_body(connection, number, of_fork->ordinal);
    } else {
      return body;
    }
    if (!next) break;
    body = *std::move(next);
  }
  throw SqliteError{SQLITE_CORRUPT, "the body of a message is missing"};
}

// The message whose body this one has: itself, or the one that it is a copy of.
Result<std::uint64_t> owner_of_body(Connection& connection, const StoredConversation& stored,
                                    std::uint64_t ordinal) {
  const std::optional<std::string> body = read_body(connection, stored.number, ordinal);
  if (!body) return no_message(stored.record.id, ordinal);
  return shared_with(*body).value_or(ordinal);
}

// Before a body goes: the first copy of it gets the bytes, and the others name that one.
void hand_body_on(Connection& connection, std::uint64_t number, std::uint64_t ordinal) {
  std::vector<std::uint64_t> copies;
  {
    const std::string named = shared_body(ordinal);
    Statement rows(connection, Sql::copies_of_body);
    rows.number(key_of(number, ordinal)).number(last_key_of(number)).bytes(named);
    while (rows.next()) copies.push_back(rows.number_at(0));
  }
  if (copies.empty()) return;
  const std::optional<std::string> body = read_body(connection, number, ordinal);
  const std::string named = shared_body(copies.front() & record_number_max);
  Statement set(connection, Sql::set_body);
  for (const std::uint64_t key : copies)
    set.again().number(key).bytes(key == copies.front() ? *body : named).finish();
}

// Before a message of a fork loses its body, or the fork goes: what its origin has of it gets the
// bytes. Without an ordinal: of all its messages.
void hand_fork_on(Connection& connection, const StoredConversation& fork,
                  std::optional<std::uint64_t> ordinal) {
  if (!fork.record.origin) return;
  const std::optional<StoredConversation> origin =
      find_conversation(connection, fork.record.origin->conversation);
  if (!origin) return;
  std::vector<std::pair<std::uint64_t, std::string>> copies;
  {
    const std::string prefix = body_of_fork_prefix(fork.number);
    Statement rows(connection, Sql::copies_of_fork);
    rows.number(key_of(origin->number, 0)).number(last_key_of(origin->number)).bytes(prefix);
    while (rows.next()) {
      std::string body(rows.bytes_at(1));
      const std::optional<BodyOfFork> named = read_body_of_fork(body);
      if (named && named->conversation == fork.number && (!ordinal || named->ordinal == *ordinal))
        copies.emplace_back(rows.number_at(0), std::move(body));
    }
  }
  for (const auto& [key, body] : copies) {
    const std::string bytes = resolved_body(connection, origin->number, body);
    Statement(connection, Sql::set_body).number(key).bytes(bytes).finish();
  }
}

// Where a fork has the same body: what the row says instead of it.
std::optional<std::string> body_in_fork(Connection& connection, const StoredConversation& stored,
                                        const MessageRecord& message) {
  const std::optional<StoredConversation> fork =
      find_conversation(connection, message.stored_in->conversation);
  const bool is_fork =
      fork && fork->record.origin && fork->record.origin->conversation == stored.record.id;
  if (!is_fork || message.stored_in->ordinal < fork->record.origin->log_length) return std::nullopt;
  const std::optional<std::string> theirs =
      read_body(connection, fork->number, message.stored_in->ordinal);
  if (!theirs || body_of(resolved_body(connection, fork->number, *theirs)) != message.body)
    return std::nullopt;
  return body_of_fork({fork->number, message.stored_in->ordinal});
}

void bind_message(Statement& row, std::uint64_t conversation, const MessageRecord& message,
                  std::string_view body) {
  row.number(key_of(conversation, message.ordinal))
      .number(static_cast<std::uint64_t>(message.role))
      .signed_number(message.time_ms);
  row.number(message.tokens);
  message.redacted ? row.digest(*message.redacted) : row.null();
  row.bytes(body);
}

void write_checkpoint(Connection& connection, std::uint64_t number, const Checkpoint& checkpoint,
                      const std::vector<Page>& pages) {
  Statement(connection, Sql::set_checkpoint)
      .number(number)
      .number(checkpoint.version)
      .number(checkpoint.next_page)
      .bytes(checkpoint.root)
      .finish();
  Statement add(connection, Sql::add_page);
  for (const Page& page : pages)
    add.again().number(key_of(number, page.number)).bytes(page.bytes).finish();
}

void add_removal(Connection& connection, std::string_view id, std::optional<std::uint64_t> ordinal,
                 const Removal& removal, const Digest& digest) {
  Statement add(connection, Sql::add_removal);
  add.text(id);
  ordinal ? add.number(*ordinal) : add.null();
  add.bytes(removal.who).signed_number(removal.at_ms).bytes(removal.why).digest(digest).finish();
}

// The end of the pages that some fork may need; 0: there are no forks.
std::uint64_t pages_needed_by_forks(Connection& connection, std::uint64_t number) {
  Statement needed(connection, Sql::pages_needed_by_forks);
  return needed.number(number).next() && !needed.null_at(0) ? needed.number_at(0) : 0;
}

}  // namespace

std::optional<StoredConversation> find_conversation(Connection& connection, std::string_view id) {
  StoredConversation stored;
  ConversationRecord& record = stored.record;
  {
    Statement row(connection, Sql::find_conversation);
    if (!row.text(id).next()) return std::nullopt;
    stored.number = row.number_at(0);
    record.id = id;
    record.created_at_ms = record.updated_at_ms = row.signed_at(1);
    record.settings = row.bytes_at(2);
    record.chain = row.digest_at(3);
    record.first_version = row.number_at(4);
    if (!row.null_at(5)) {
      record.origin = Origin{{}, row.number_at(6), row.number_at(7), row.number_at(8)};
      Statement name(connection, Sql::name_of_conversation);
      if (!name.number(row.number_at(5)).next())
        throw SqliteError{SQLITE_CORRUPT, "the origin of " + std::string(id) + " is missing"};
      record.origin->conversation = name.bytes_at(0);
      record.version = record.origin->version;
      record.log_length = record.origin->log_length;
      stored.next_page = record.origin->next_page;
    }
  }
  {
    Statement head(connection, Sql::head);
    if (head.number(key_of(stored.number, 0)).number(last_key_of(stored.number)).next()) {
      record.version = head.number_at(0) & record_number_max;
      record.log_length = head.number_at(1);
      record.updated_at_ms = head.signed_at(2);
      record.chain = head.digest_at(3);
    }
  }
  Statement checkpoint(connection, Sql::checkpoint);
  if (checkpoint.number(stored.number).next()) {
    record.checkpoint_version = checkpoint.number_at(0);
    stored.next_page = checkpoint.number_at(1);
  }
  record.next_page = stored.next_page;
  return stored;
}

std::vector<std::string> forks_of(Connection& connection, std::uint64_t number) {
  std::vector<std::string> forks;
  Statement rows(connection, Sql::forks_of);
  rows.number(number);
  while (rows.next()) forks.emplace_back(rows.bytes_at(0));
  return forks;
}

bool is_purged(Connection& connection, std::string_view id) {
  return Statement(connection, Sql::is_purged).text(id).next();
}

std::vector<VersionRecord> read_versions(Connection& connection, std::uint64_t number,
                                         std::uint64_t first, std::uint64_t end) {
  std::vector<VersionRecord> found;
  if (first > record_number_max) return found;
  std::size_t bytes = 0;
  Statement rows(connection, Sql::versions);
  rows.number(key_of(number, first))
      .number(key_of(number, std::min(end, record_number_max)))
      .number(answer_records_max);
  while (rows.next()) {
    bytes += rows.bytes_at(4).size() + rows.bytes_at(6).size();
    if (!found.empty() && bytes > answer_bytes_max) break;
    found.push_back(version_at(rows));
  }
  return found;
}

std::vector<MessageRecord> read_messages(Connection& connection, std::uint64_t number,
                                         std::uint64_t first, std::uint64_t end) {
  std::vector<MessageRecord> found;
  if (first > record_number_max) return found;
  std::size_t bytes = 0;
  Statement rows(connection, Sql::messages);
  rows.number(key_of(number, first))
      .number(key_of(number, std::min(end, record_number_max)))
      .number(answer_records_max);
  while (rows.next()) {
    MessageRecord message = message_at(rows);
    const std::string_view stored = rows.bytes_at(5);
    message.body = stored.starts_with(shared_body_mark)
                       ? body_of(resolved_body(connection, number, stored))
                       : body_of(stored);
    bytes += message.body.size();
    if (!found.empty() && bytes > answer_bytes_max) break;
    found.push_back(std::move(message));
  }
  return found;
}

std::optional<VersionRecord> find_operation(Connection& connection, std::uint64_t number,
                                            std::string_view operation_id) {
  Statement row(connection, Sql::find_operation);
  if (operation_id.empty() || !row.number(number).bytes(operation_id).next()) return std::nullopt;
  return version_at(row);
}

std::optional<Checkpoint> read_checkpoint(Connection& connection, std::uint64_t number) {
  Statement row(connection, Sql::checkpoint);
  if (!row.number(number).next()) return std::nullopt;
  return Checkpoint{row.number_at(0), row.number_at(1), std::string(row.bytes_at(2))};
}

std::optional<Page> read_page(Connection& connection, std::uint64_t number, std::uint64_t page) {
  Statement row(connection, Sql::page);
  if (!fits(page) || !row.number(key_of(number, page)).next()) return std::nullopt;
  return Page{page, std::string(row.bytes_at(0))};
}

Result<std::uint64_t> add_conversation(Connection& connection, const NewConversation& made,
                                       std::optional<std::uint64_t> origin) {
  if (made.checkpoint && !fits(made.checkpoint->next_page)) return too_many("pages");
  if (made.origin && !fits(made.origin->next_page)) return too_many("pages");
  std::uint64_t number = 0;
  {
    Statement add(connection, Sql::add_conversation);
    add.text(made.id).signed_number(made.created_at_ms).bytes(made.settings).digest(made.chain);
    if (origin) {
      add.number(*origin)
          .number(made.origin->version)
          .number(made.origin->log_length)
          .number(made.origin->next_page);
    } else {
      add.null().null().null().null();
    }
    if (!add.next()) throw SqliteError{SQLITE_INTERNAL, "a new conversation got no number"};
    number = add.number_at(0);
    add.finish();
  }
  if (number > conversation_number_max)
    return Error{ErrorCode::too_large, "a SQLite store holds no more than 2^28 conversations"};
  if (made.checkpoint) write_checkpoint(connection, number, *made.checkpoint, made.pages);
  return number;
}

std::optional<Error> rename_conversation(Connection& connection, std::string_view staged,
                                         std::string_view id) {
  const std::optional<StoredConversation> stored = find_conversation(connection, staged);
  if (!stored) return no_conversation(staged);
  if (find_conversation(connection, id) || is_purged(connection, id)) return id_taken(id);
  Statement(connection, Sql::set_id).number(stored->number).text(id).finish();
  return std::nullopt;
}

std::optional<Error> write_commit(Connection& connection, const Commit& commit) {
  const std::optional<StoredConversation> stored =
      find_conversation(connection, commit.conversation);
  if (!stored) return no_conversation(commit.conversation);
  if (auto error = refuse_commit(commit, stored->head())) return error;
  if (commit.expected_settings && *commit.expected_settings != stored->record.settings)
    return other_settings(commit.conversation);
  const std::uint64_t number = stored->number;
  for (const VersionRecord& version : commit.versions)
    if (!version.operation_id.empty() && find_operation(connection, number, version.operation_id))
      return operation_known(version.operation_id);
  if (!commit.versions.empty() &&
      !(fits(commit.versions.back().version) && fits(commit.versions.back().log_length)))
    return too_many("records");
  if (commit.checkpoint && !fits(commit.checkpoint->next_page)) return too_many("pages");

  {
    Statement add(connection, Sql::add_version);
    for (const VersionRecord& version : commit.versions) {
      add.again()
          .number(key_of(number, version.version))
          .signed_number(version.at_ms)
          .number(version.log_length);
      add.bytes(version.operation).bytes(version.arguments);
      version.operation_id.empty() ? add.null() : add.bytes(version.operation_id);
      add.bytes(version.answer).digest(version.chain).finish();
    }
  }
  {
    Statement add(connection, Sql::add_message);
    for (const MessageRecord& message : commit.messages) {
      std::optional<std::string> body;  // unset: as it is
      if (shared_with(message.body) || is_packed(message.body))
        return Error{ErrorCode::invalid_argument, "a message's body is JSON", "messages"};
      if (message.same_as) {
        const Result<std::uint64_t> owner = owner_of_body(connection, *stored, *message.same_as);
        if (!owner) return owner.error();
        body = shared_body(*owner);
      } else if (message.stored_in) {
        body = body_in_fork(connection, *stored, message);
      }
      if (!body && !message.same_as) body = packed_body(message.body);
      bind_message(add.again(), number, message, body ? *body : message.body);
      add.finish();
    }
  }
  if (auto error = write_words(connection, *stored, commit)) return error;
  if (commit.checkpoint) write_checkpoint(connection, number, *commit.checkpoint, commit.pages);
  if (commit.settings)
    Statement(connection, Sql::set_settings).number(number).bytes(*commit.settings).finish();
  return std::nullopt;
}

std::optional<Error> write_stubs(Connection& connection, const StoredConversation& stored,
                                 const std::vector<MessageRecord>& stubs, const Removal* removal) {
  const ConversationRecord& record = stored.record;
  for (const MessageRecord& stub : stubs) {
    if (stub.ordinal >= record.log_length ||
        (record.origin && stub.ordinal < record.origin->log_length))
      return no_message(record.id, stub.ordinal);
    const std::vector<MessageRecord> old =
        read_messages(connection, stored.number, stub.ordinal, stub.ordinal + 1);
    if (old.empty())
      throw SqliteError{SQLITE_CORRUPT, "message " + std::to_string(stub.ordinal) + " is missing"};
    const Result<MessageRecord> made = stub_for(old.front(), stub);
    if (!made) return made.error();
    hand_fork_on(connection, stored, stub.ordinal);
    hand_body_on(connection, stored.number, stub.ordinal);
    delete_words_of(connection, stored.number, stub.ordinal);
    Statement set(connection, Sql::set_message);
    bind_message(set, stored.number, *made, made->body);
    set.finish();
    if (removal) add_removal(connection, record.id, stub.ordinal, *removal, *made->redacted);
  }
  return std::nullopt;
}

std::optional<Error> write_prune(Connection& connection, const Prune& prune) {
  const std::optional<StoredConversation> stored =
      find_conversation(connection, prune.conversation);
  if (!stored) return no_conversation(prune.conversation);
  const std::uint64_t number = stored->number;
  if (auto error = refuse_prune(prune, stored->head(), stored->record.first_version,
                                pages_needed_by_forks(connection, number)))
    return error;
  if (!fits(prune.checkpoint.next_page)) return too_many("pages");
  if (auto error = write_stubs(connection, *stored, prune.stubs, nullptr)) return error;
  prune_requests(connection, number, prune);
  const std::uint64_t last = key_of(number, prune.first_version);
  Statement(connection, Sql::delete_versions).number(key_of(number, 0)).number(last).finish();
  Statement(connection, Sql::reduce_versions).number(key_of(number, 0)).number(last).finish();
  Statement(connection, Sql::delete_records_pages)
      .number(key_of(number, 0))
      .number(last_key_of(number))
      .finish();
  write_checkpoint(connection, number, prune.checkpoint, prune.pages);
  Statement(connection, Sql::set_first_version).number(number).number(prune.first_version).finish();
  if (stored->record.origin) Statement(connection, Sql::keep_own_pages).number(number).finish();
  Statement replace(connection, Sql::replace_operation);
  for (const VersionRecord& version : prune.operations)
    replace.again()
        .number(key_of(number, version.version))
        .bytes(version.arguments)
        .bytes(version.answer)
        .finish();
  return std::nullopt;
}

std::optional<Error> delete_conversation(Connection& connection, std::string_view id,
                                         const Removal& removal, const PurgeOptions& options) {
  const std::optional<StoredConversation> stored = find_conversation(connection, id);
  if (!stored) return is_purged(connection, id) ? std::nullopt : std::optional(no_conversation(id));
  const std::uint64_t number = stored->number;
  const bool forked = !forks_of(connection, number).empty();
  if (auto error = refuse_purge(id, stored->record.version, forked, options)) return error;
  if (!id.starts_with('.'))
    add_removal(connection, id, std::nullopt, removal, stored->record.chain);
  hand_fork_on(connection, *stored, std::nullopt);
  for (const Sql sql :
       {Sql::delete_records_versions, Sql::delete_records_messages, Sql::delete_records_pages})
    Statement(connection, sql).number(key_of(number, 0)).number(last_key_of(number)).finish();
  delete_requests(connection, number);
  delete_words(connection, number);
  Statement(connection, Sql::delete_checkpoint).number(number).finish();
  Statement(connection, Sql::delete_conversation).number(number).finish();
  return std::nullopt;
}

std::vector<RemovalRecord> read_removals(Connection& connection, std::string_view id) {
  std::vector<RemovalRecord> removals;
  Statement rows(connection, Sql::removals);
  rows.text(id);
  while (rows.next()) {
    RemovalRecord removal;
    removal.conversation = id;
    if (!rows.null_at(0)) removal.ordinal = rows.number_at(0);
    removal.removal.who = rows.bytes_at(1);
    removal.removal.at_ms = rows.signed_at(2);
    removal.removal.why = rows.bytes_at(3);
    removal.digest = rows.digest_at(4);
    removals.push_back(std::move(removal));
  }
  return removals;
}

std::vector<Damage> find_orphans(Connection& connection) {
  std::vector<std::uint64_t> numbers;
  {
    Statement rows(connection, Sql::conversation_numbers);
    while (rows.next()) numbers.push_back(rows.number_at(0));
  }
  std::vector<Damage> damage;
  std::vector<std::pair<Sql, const char*>> tables = {{Sql::next_version_key, "versions"},
                                                     {Sql::next_message_key, "messages"},
                                                     {Sql::next_page_key, "pages"}};
  if (has_request_tables(connection)) tables.emplace_back(Sql::next_request_key, "requests");
  if (has_words_table(connection)) tables.emplace_back(Sql::next_words_key, "words");
  for (const auto& [next, what] : tables) {
    // One look for each conversation that has any.
    std::uint64_t key = 0;
    for (;;) {
      Statement row(connection, next);
      if (!row.number(key).next()) break;
      const std::uint64_t number = row.number_at(0) >> key_shift;
      if (!std::binary_search(numbers.begin(), numbers.end(), number))
        damage.push_back({{},
                          std::string(what) + " of the conversation number " +
                              std::to_string(number) + ", which is missing"});
      if (number >= conversation_number_max) break;
      key = key_of(number + 1, 0);
    }
  }
  return damage;
}

}  // namespace undertext
