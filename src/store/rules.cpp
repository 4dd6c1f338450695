#include "store/rules.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "store/chain.hpp"
#include "store/shared_body.hpp"
#include "store/staged.hpp"
#include "store/tenant.hpp"

namespace undertext {
namespace {

Error invalid(std::string message, std::string field = {}) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(field)};
}

Error conflict(std::string message) { return {ErrorCode::conflict, std::move(message)}; }

Error another_version(std::string_view id, std::uint64_t head, std::uint64_t expected) {
  return conflict("the conversation " + std::string(id) + " is at version " + std::to_string(head) +
                  ", not " + std::to_string(expected));
}

std::optional<Error> too_large(std::string_view what, std::size_t bytes, std::size_t bytes_max) {
  if (bytes <= bytes_max) return std::nullopt;
  return Error{ErrorCode::too_large, std::string(what) + " of " + std::to_string(bytes) +
                                         " bytes; at most " + std::to_string(bytes_max) +
                                         " can be stored"};
}

// Pages belong to the checkpoint they come with: between `first` and its end, each once.
std::optional<Error> bad_pages(const std::vector<Page>& pages, std::uint64_t first,
                               std::uint64_t end) {
  std::set<std::uint64_t> numbers;
  for (const Page& page : pages) {
    if (page.number < first || page.number >= end || !numbers.insert(page.number).second)
      return invalid(
          "page " + std::to_string(page.number) + " is not one of its checkpoint, or given twice",
          "pages");
    if (auto error = too_large("a page", page.bytes.size(), record_bytes_max)) return error;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> bad_id(std::string_view id) {
  if (is_conversation_id(id)) return std::nullopt;
  return invalid(
      "a conversation's id is 1 to 128 of A-Z a-z 0-9 . _ - and does not begin with a dot",
      "conversation");
}

std::optional<Error> bad_own_id(std::string_view id) {
  return is_staged_id(id) ? std::nullopt : bad_id(id);
}

std::optional<Error> bad_stored_id(std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos) return bad_own_id(id);
  const std::size_t dot = id.starts_with('.') ? 1 : 0;
  if (slash < dot || !is_tenant_name(id.substr(dot, slash - dot))) return bad_id(id);
  return bad_own_id(std::string(id.substr(0, dot)) + std::string(id.substr(slash + 1)));
}

std::optional<Error> bad_publishing(std::string_view staged, std::string_view id) {
  if (auto error = bad_stored_id(staged)) return error;
  if (auto error = bad_stored_id(id)) return error;
  if (!staged.starts_with('.') || id.starts_with('.'))
    return invalid("only what is staged is published, under an id for all to see", "id");
  return std::nullopt;
}

std::optional<Error> too_late(const CallOptions& options) {
  if (options.deadline && *options.deadline <= std::chrono::steady_clock::now())
    return deadline_passed();
  return std::nullopt;
}

std::optional<Error> bad_list(const ListOptions& options) {
  if (options.limit < 1 || options.limit > 1000) return invalid("limit is 1 to 1000", "limit");
  return too_late(options.call);
}

std::optional<Error> bad_creation(const NewConversation& made) {
  if (auto error = bad_stored_id(made.id)) return error;
  if (made.origin)
    if (auto error = bad_stored_id(made.origin->conversation)) return error;
  if (made.origin && (made.id.starts_with('.') || made.origin->conversation.starts_with('.')))
    return invalid("what is staged is no fork, and has none", "origin");
  if (auto error = too_large("settings", made.settings.size(), record_bytes_max)) return error;
  if (!made.checkpoint)
    return made.pages.empty() ? std::nullopt
                              : std::optional(invalid("pages without a checkpoint", "pages"));
  if (auto error = too_large("a checkpoint", made.checkpoint->root.size(), record_bytes_max))
    return error;
  const std::uint64_t first_page = made.origin ? made.origin->next_page : 1;
  if (made.checkpoint->version > (made.origin ? made.origin->version : 0) ||
      made.checkpoint->next_page < first_page)
    return invalid("the checkpoint is of no version that the new conversation has", "checkpoint");
  return bad_pages(made.pages, first_page, made.checkpoint->next_page);
}

std::optional<Error> bad_commit(const Commit& commit) {
  if (auto error = bad_stored_id(commit.conversation)) return error;
  std::uint64_t version = commit.expected_version;
  std::uint64_t log_length = 0;
  std::set<std::string_view> operation_ids;
  for (const VersionRecord& record : commit.versions) {
    if (record.version != ++version)
      return invalid("versions are not one after the other", "versions");
    if (record.log_length < log_length)
      return invalid("the log does not become shorter", "versions");
    log_length = record.log_length;
    if (!record.operation_id.empty() && !operation_ids.insert(record.operation_id).second)
      return operation_known(record.operation_id);
    if (auto error =
            too_large("an operation id", record.operation_id.size(), operation_id_bytes_max))
      return error;
    if (auto error =
            too_large("an operation's name", record.operation.size(), operation_id_bytes_max))
      return error;
    if (auto error = too_large("arguments", record.arguments.size(), record_bytes_max))
      return error;
    if (auto error = too_large("an answer", record.answer.size(), record_bytes_max)) return error;
  }
  if (commit.versions.empty() && !commit.messages.empty())
    return invalid("messages that no version stored", "messages");
  std::uint64_t ordinal = log_length - commit.messages.size();
  for (const MessageRecord& message : commit.messages) {
    if (message.ordinal != ordinal++)
      return invalid("messages are not one after the other", "messages");
    if (auto error = too_large("a message", message.body.size(), record_bytes_max)) return error;
    if (message.same_as && (*message.same_as >= message.ordinal || !message.body.empty()))
      return invalid("a body that is the same as an earlier one is not given again", "messages");
    if (message.body.starts_with(shared_body_mark))
      return invalid("a message's body is JSON", "messages");
  }
  std::uint64_t words_end = 0;
  for (const WordsRow& row : commit.words) {
    if (row.first < words_end || row.end <= row.first)
      return invalid("rows of the index are not one after the other", "words");
    if (!commit.versions.empty() && row.end > log_length)
      return invalid("a row of the index is of messages yet to come", "words");
    if (row.size_bytes != row.bytes.size())
      return invalid("a row of the index has another size than it says", "words");
    if (auto error = too_large("a row of the index", row.bytes.size(), record_bytes_max))
      return error;
    words_end = row.end;
  }
  if (commit.settings)
    if (auto error = too_large("settings", commit.settings->size(), record_bytes_max)) return error;
  if (!commit.checkpoint) {
    if (commit.pages.empty()) return std::nullopt;
    return invalid("pages are written together with a checkpoint", "pages");
  }
  if (auto error = too_large("a checkpoint", commit.checkpoint->root.size(), record_bytes_max))
    return error;
  if (commit.checkpoint->version > version)
    return invalid("the checkpoint is of a version yet to come", "checkpoint");
  return bad_pages(commit.pages, 1, commit.checkpoint->next_page);
}

std::optional<Error> bad_stubs(const std::vector<MessageRecord>& stubs) {
  std::set<std::uint64_t> ordinals;
  for (const MessageRecord& stub : stubs) {
    if (!stub.redacted)
      return invalid("a stub carries the digest of the body it stands for", "stubs");
    if (!ordinals.insert(stub.ordinal).second) return invalid("two stubs for one message", "stubs");
    if (auto error = too_large("a stub", stub.body.size(), record_bytes_max)) return error;
  }
  return std::nullopt;
}

std::optional<Error> bad_prune(const Prune& prune) {
  if (auto error = bad_stored_id(prune.conversation)) return error;
  if (auto error = bad_stubs(prune.stubs)) return error;
  if (prune.first_version > prune.expected_version)
    return invalid("versions beyond the head cannot be pruned", "first_version");
  std::uint64_t version = prune.first_version;
  for (const VersionRecord& record : prune.operations) {
    if (record.version <= version || record.version > prune.expected_version)
      return invalid("operations are of kept versions, and rise", "operations");
    version = record.version;
    if (auto error = too_large("arguments", record.arguments.size(), record_bytes_max))
      return error;
    if (auto error = too_large("an answer", record.answer.size(), record_bytes_max)) return error;
  }
  for (const RequestRow& row : prune.requests)
    if (auto error = too_large("a request", std::max(row.request.size(), row.answer.size()),
                               record_bytes_max))
      return error;
  if (prune.checkpoint.version != prune.expected_version)
    return invalid("the checkpoint is not of the expected version", "checkpoint");
  if (auto error = too_large("a checkpoint", prune.checkpoint.root.size(), record_bytes_max))
    return error;
  return bad_pages(prune.pages, 1, prune.checkpoint.next_page);
}

std::optional<Error> bad_request_key(std::string_view key) {
  if (!key.empty() && key.size() <= request_key_bytes_max &&
      static_cast<unsigned char>(key.front()) >= 0x20)
    return std::nullopt;
  return invalid("a key of a request is 1 to 256 bytes and does not begin with a control character",
                 "keys");
}

std::optional<Error> bad_request(const NewRequest& request) {
  const RequestRow& row = request.row;
  if (auto error = bad_stored_id(request.conversation)) return error;
  if (row.number == 0) return invalid("requests are numbered from 1 on", "number");
  if (row.keys.size() > request_keys_max)
    return invalid("a request has at most " + std::to_string(request_keys_max) + " keys", "keys");
  std::set<std::string_view> keys;
  for (const std::string& key : row.keys) {
    // Keys of a tenant have its name before them.
    if (key.empty() || key.size() > 2 * request_key_bytes_max) return bad_request_key("");
    if (!keys.insert(key).second) return invalid("a key of a request is given twice", "keys");
  }
  for (const std::string* bytes : {&row.facts, &row.parts, &row.request, &row.answer})
    if (auto error = too_large("a request", bytes->size(), record_bytes_max)) return error;
  return std::nullopt;
}

std::optional<Error> refuse_words(const Commit& commit, std::uint64_t first_own,
                                  std::uint64_t log_length) {
  const std::uint64_t end =
      commit.versions.empty() ? log_length : commit.versions.back().log_length;
  for (const WordsRow& row : commit.words) {
    if (row.first < first_own) return no_message(commit.conversation, row.first);
    if (row.end > end) return no_message(commit.conversation, row.end - 1);
  }
  return std::nullopt;
}

std::optional<Error> refuse_request(const NewRequest& request, std::uint64_t last,
                                    std::uint64_t next_page) {
  if (request.row.number != last + 1)
    return conflict("the next request of " + request.conversation + " is number " +
                    std::to_string(last + 1));
  if (request.expected_next_page && *request.expected_next_page != next_page)
    return conflict("the conversation " + request.conversation + " has another checkpoint by now");
  return std::nullopt;
}

std::optional<Error> refuse_fork(const NewConversation& fork, const ConversationRecord& origin,
                                 std::uint64_t origin_next_page) {
  if (fork.origin->version > origin.version || fork.origin->version < origin.first_version ||
      fork.origin->log_length > origin.log_length)
    return Error{ErrorCode::not_found, "the conversation " + origin.id + " has no version " +
                                           std::to_string(fork.origin->version)};
  // Since the fork's maker read it, the origin has written a checkpoint, and may have freed pages
  // that the fork names.
  if (fork.checkpoint && fork.origin->next_page < origin_next_page)
    return conflict("the checkpoint of " + origin.id + " is a newer one by now");
  return std::nullopt;
}

std::optional<Error> refuse_purge(std::string_view id, std::uint64_t version, bool forked,
                                  const PurgeOptions& options) {
  if (options.expected_version && *options.expected_version != version) {
    Error error = another_version(id, version, *options.expected_version);
    error.field = "expected_version";
    return error;
  }
  return forked ? std::optional(has_forks(id)) : std::nullopt;
}

std::optional<Error> refuse_commit(const Commit& commit, const StoredHead& head) {
  if (commit.expected_version != head.version)
    return another_version(commit.conversation, head.version, commit.expected_version);
  if (commit.expected_next_page && *commit.expected_next_page != head.next_page)
    return conflict("the conversation " + commit.conversation + " has another checkpoint by now");
  if (!commit.versions.empty() &&
      (commit.versions.front().log_length < head.log_length ||
       commit.versions.back().log_length - head.log_length != commit.messages.size()))
    return invalid("the messages are not those between the log's length before and after",
                   "messages");
  if (!commit.checkpoint) return std::nullopt;
  if (commit.checkpoint->version < head.checkpoint_version ||
      commit.checkpoint->next_page < head.next_page)
    return conflict("there is a newer checkpoint");
  for (const Page& page : commit.pages)
    if (page.number < head.next_page)
      return conflict("page " + std::to_string(page.number) + " is another checkpoint's");
  return std::nullopt;
}

std::optional<Error> refuse_prune(const Prune& prune, const StoredHead& head,
                                  std::uint64_t first_version, std::uint64_t pages_needed) {
  if (prune.expected_version != head.version)
    return another_version(prune.conversation, head.version, prune.expected_version);
  if (pages_needed > (prune.first_version == first_version ? 1 : 0))
    return has_forks(prune.conversation);
  if (prune.first_version < first_version)
    return invalid("these versions are pruned already", "first_version");
  if (prune.checkpoint.next_page < head.next_page) return conflict("there is a newer checkpoint");
  return std::nullopt;
}

Result<MessageRecord> stub_for(const MessageRecord& message, const MessageRecord& stub) {
  MessageRecord stored = stub;
  stored.redacted = message.redacted ? *message.redacted : sha256(message.body);
  // A chain would break on any of these.
  if (stub.role != message.role || stub.time_ms != message.time_ms)
    return invalid("a stub has the role and the time of the message it stands for", "stubs");
  if (!message.redacted && *stub.redacted != *stored.redacted)
    return invalid("a stub carries the digest of the body it stands for", "stubs");
  return stored;
}

Error other_settings(std::string_view id) {
  return conflict("the conversation " + std::string(id) + " has other settings by now");
}

Error no_conversation(std::string_view id) {
  return {ErrorCode::not_found, "there is no conversation " + std::string(id), "conversation"};
}

Error no_message(std::string_view id, std::uint64_t ordinal) {
  return {ErrorCode::not_found, "the conversation " + std::string(id) + " has no message " +
                                    std::to_string(ordinal) + " of its own"};
}

Error no_page(std::string_view id, std::uint64_t number) {
  return {ErrorCode::corrupt, "page " + std::to_string(number) + " of the conversation " +
                                  std::string(id) + " is missing"};
}

Error id_taken(std::string_view id) { return conflict("the id " + std::string(id) + " is taken"); }

Error has_forks(std::string_view id) {
  return conflict("the conversation " + std::string(id) + " has forks, which need its records");
}

Error operation_known(std::string_view operation_id) {
  return conflict("the operation id " + std::string(operation_id) + " is known already");
}

Error deadline_passed() { return {ErrorCode::unavailable, "the deadline has passed"}; }

}  // namespace undertext
