#include "postgres/rows.hpp"

#include "pack/packed_body.hpp"
#include "store/rules.hpp"

namespace undertext::postgres {
namespace {

std::uint64_t count(const Rows& rows, std::size_t row, int column) {
  return static_cast<std::uint64_t>(rows.number(row, column));
}

Error corrupt(std::string_view id, std::string_view what, std::int64_t number) {
  return {.code = ErrorCode::corrupt,
          .message = std::string(what) + " " + std::to_string(number) + " of the conversation " +
                     std::string(id) + " is damaged"};
}

}  // namespace

Result<FoundConversation> read_conversation(std::string_view id, const Rows& rows) {
  if (rows.size() == 0) return no_conversation(id);
  FoundConversation found;
  ConversationRecord& record = found.record;
  record.id = id;
  record.settings = rows.bytes(0, 0);
  record.created_at_ms = rows.number(0, 1);
  if (!rows.is_null(0, 2))
    record.origin = {rows.bytes(0, 2), count(rows, 0, 3), count(rows, 0, 4), count(rows, 0, 5)};
  record.first_version = count(rows, 0, 6);
  record.version = count(rows, 0, 7);
  record.log_length = count(rows, 0, 8);
  record.updated_at_ms = rows.number(0, 9);
  const std::optional<Digest> chain = rows.digest(0, 10);
  if (!chain) return corrupt(id, "the chain at version", rows.number(0, 7));
  record.chain = *chain;
  record.checkpoint_version = count(rows, 0, 11);
  found.next_page = found.record.next_page = count(rows, 0, 12);
  return found;
}

Result<std::vector<VersionRecord>> read_versions(std::string_view id, const Rows& rows) {
  std::vector<VersionRecord> versions(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    VersionRecord& version = versions[row];
    version.version = count(rows, row, 0);
    version.at_ms = rows.number(row, 1);
    version.log_length = count(rows, row, 2);
    version.operation = rows.bytes(row, 3);
    version.arguments = rows.bytes(row, 4);
    version.operation_id = rows.bytes(row, 5);
    version.answer = rows.bytes(row, 6);
    const std::optional<Digest> chain = rows.digest(row, 7);
    if (!chain) return corrupt(id, "version", rows.number(row, 0));
    version.chain = *chain;
  }
  return versions;
}

Result<std::vector<MessageRecord>> read_messages(std::string_view id, const Rows& rows) {
  std::vector<MessageRecord> messages(rows.size());
  std::size_t bytes = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    MessageRecord& message = messages[row];
    message.ordinal = count(rows, row, 0);
    const std::int64_t role = rows.number(row, 1);
    message.time_ms = rows.number(row, 2);
    const std::int64_t tokens = rows.number(row, 3);
    if (!rows.is_null(row, 4)) message.redacted = rows.digest(row, 4);
    if (role < 0 || role >= static_cast<std::int64_t>(role_count) || tokens < 0 ||
        tokens > UINT32_MAX || message.redacted.has_value() == rows.is_null(row, 4))
      return corrupt(id, "message", rows.number(row, 0));
    message.role = static_cast<Role>(role);
    message.tokens = static_cast<std::uint32_t>(tokens);
    message.body = rows.bytes(row, 5);
    if (is_packed(message.body)) {
      Result<std::string> body = unpacked_body(message.body, record_bytes_max);
      if (!body) return corrupt(id, "message", rows.number(row, 0));
      message.body = *std::move(body);
    }
    // The query has limited what is stored, of which this may be more.
    bytes += message.body.size();
    if (row > 0 && bytes > answer_bytes_max) {
      messages.resize(row);
      break;
    }
  }
  return messages;
}

Result<std::vector<RemovalRecord>> read_removals(std::string_view id, const Rows& rows) {
  std::vector<RemovalRecord> removals(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    RemovalRecord& removal = removals[row];
    removal.conversation = id;
    if (rows.number(row, 0) >= 0) removal.ordinal = count(rows, row, 0);
    removal.removal = {rows.bytes(row, 2), rows.number(row, 1), rows.bytes(row, 3)};
    const std::optional<Digest> digest = rows.digest(row, 4);
    if (!digest) return corrupt(id, "removal", static_cast<std::int64_t>(row));
    removal.digest = *digest;
  }
  return removals;
}

std::optional<Checkpoint> read_checkpoint(const Rows& rows) {
  if (rows.size() == 0) return std::nullopt;
  return Checkpoint{count(rows, 0, 0), count(rows, 0, 1), rows.bytes(0, 2)};
}

std::vector<RequestRow> read_requests(const Rows& rows, const Rows& keys, RequestBytes bytes) {
  std::vector<RequestRow> requests(rows.size());
  std::size_t key = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    RequestRow& request = requests[row];
    request.number = count(rows, row, 0);
    request.version = count(rows, row, 1);
    request.at_ms = rows.number(row, 2);
    request.facts = rows.bytes(row, 3);
    request.parts = rows.bytes(row, 4);
    if (bytes == RequestBytes::with)
      request.request = rows.bytes(row, 5), request.answer = rows.bytes(row, 6);
    for (; key < keys.size() && count(keys, key, 0) <= request.number; ++key)
      if (count(keys, key, 0) == request.number) request.keys.push_back(keys.bytes(key, 1));
  }
  return requests;
}

}  // namespace undertext::postgres
