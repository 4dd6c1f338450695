#include "postgres/postgres_store.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "pack/packed_body.hpp"
#include "postgres/rows.hpp"
#include "postgres/schema.hpp"
#include "postgres/session.hpp"
#include "postgres/url.hpp"
#include "store/rules.hpp"
#include "store/shared_body.hpp"
#include "store/staged.hpp"
#include "store/tenant.hpp"

namespace undertext {
namespace {

using namespace postgres;
using Kind = Transaction::Kind;

// The default tenant's rows do not bear the empty name: a session that never said whose rows it
// wants has that one, and must see none.
static_assert(!operators_tenant.empty());
constexpr std::int64_t whole_conversation = -1;
// rewrites every row of a conversation, or of all of them
constexpr std::chrono::hours publishing_max{1};
constexpr std::uint64_t number_max = std::numeric_limits<std::int64_t>::max();

// By which a commit that was cut off recognises itself.
std::int64_t random_writer() {
  std::random_device device;
  return static_cast<std::int64_t>((std::uint64_t{device()} << 32 | device()) >> 1);
}

// Ids are ASCII without control characters, and PostgreSQL takes no text that is not UTF-8: where
// other bytes begin, all ids that start the same are behind them, or before them.
std::string bound_among_ids(std::string_view after) {
  const auto is_other = [](char c) { return c == '\0' || static_cast<unsigned char>(c) >= 0x80; };
  const auto other = std::find_if(after.begin(), after.end(), is_other);
  std::string bound(after.begin(), other);
  if (other != after.end() && *other != '\0') bound += '\x7f';
  return bound;
}

Value body_of(const MessageRecord& message) {
  std::optional<std::string> packed = packed_body(message.body);
  return packed ? own_bytes(*std::move(packed)) : bytes(message.body);
}

Value bytes_or_null(std::string_view value) { return value.empty() ? null_bytes() : bytes(value); }

class PostgresStore final : public Store {
 public:
  PostgresStore(std::string name, std::string_view tenant, const StoreOptions& options,
                std::shared_ptr<Session> session, bool has_requests = true, bool has_words = true)
      : name_(std::move(name)),
        tenant_(tenant.empty() ? operators_tenant : tenant),
        // an id, and so without quotes of its own
        set_tenant_text_(sql::set_tenant + ("'" + tenant_ + "'")),
        options_(options),
        session_(std::move(session)),
        has_requests_(has_requests),
        has_words_(has_words) {}

  // All tenants share the connections: whose rows are seen is said anew in each transaction.
  std::shared_ptr<Store> for_tenant(std::string_view tenant) override {
    return std::make_shared<PostgresStore>(name_, tenant, options_, session_, has_requests_,
                                           has_words_);
  }

  std::optional<Error> open(bool create) {
    const MakeTables make = options_.read_only ? MakeTables::never
                            : create           ? MakeTables::if_missing
                                               : MakeTables::bring_up_to_date;
    const Result<std::int64_t> version =
        make_schema(*session_, make, std::chrono::steady_clock::now() + options_.patience);
    if (!version) return version.error();
    has_requests_ = *version >= version_with_requests;
    has_words_ = *version >= version_with_words;
    return std::nullopt;
  }

  std::string name() const override { return name_; }

  Result<ConversationRecord> create(const NewConversation& made,
                                    const CallOptions& options) override {
    if (auto error = bad_ids(made)) return *error;
    if (auto error = bad_creation(made)) return *error;
    if (auto error = refuse_write(options)) return *error;
    const Deadline deadline = deadline_of(options);
    if (made.origin) {
      const Result<FoundConversation> origin = find_head(made.origin->conversation, deadline);
      if (!origin) return origin.error();
      if (auto error = refuse_fork(made, origin->record, origin->next_page)) return *error;
    }
    const std::int64_t writer = random_writer();
    Transaction transaction = writing(deadline);
    Batch& batch = transaction.batch();
    if (made.origin) {
      const std::string& origin = made.origin->conversation;
      batch.add(sql::claim, of(origin));
      batch.require(sql::require_conversation, of(origin), ErrorCode::not_found,
                    no_conversation(origin).message);
      batch.require(sql::require_origin,
                    of(origin, number(made.origin->version),
                       number(made.checkpoint ? made.origin->next_page : number_max)),
                    ErrorCode::conflict, "the conversation " + origin + " has changed meanwhile");
    }
    batch.add(sql::insert_conversation,
              of(made.id, bytes(made.settings), number(made.created_at_ms), number(writer),
                 made.origin ? text(made.origin->conversation) : null_text(),
                 made.origin ? number(made.origin->version) : null_number(),
                 made.origin ? number(made.origin->log_length) : null_number(),
                 made.origin ? number(made.origin->next_page) : null_number(), digest(made.chain)));
    // After the row is there: a purge that was under way has then ended, and left its mark.
    batch.require(sql::require_not_purged, of(made.id), ErrorCode::conflict,
                  id_taken(made.id).message);
    if (made.origin)
      batch.add(sql::insert_fork,
                of(made.origin->conversation, text(made.id), number(made.origin->next_page)));
    if (made.checkpoint) add_checkpoint(batch, made.id, *made.checkpoint, made.pages);
    Outcome outcome = session_->run(transaction);
    if (is_in_doubt(outcome)) {
      const Result<bool> ours =
          is_writer(sql::find_creator, of(made.id), made.id, writer, deadline);
      if (!ours) return ours.error();
      if (*ours) outcome.error.reset();
    }
    if (outcome.error) return *std::move(outcome.error);
    ConversationRecord record{.id = made.id,
                              .settings = made.settings,
                              .created_at_ms = made.created_at_ms,
                              .origin = made.origin,
                              .version = made.origin ? made.origin->version : 0,
                              .log_length = made.origin ? made.origin->log_length : 0,
                              .updated_at_ms = made.created_at_ms,
                              .chain = made.chain,
                              .checkpoint_version = made.checkpoint ? made.checkpoint->version : 0,
                              .next_page = made.checkpoint ? made.checkpoint->next_page
                                           : made.origin   ? made.origin->next_page
                                                           : 1};
    return record;
  }

  Result<ConversationRecord> find(std::string_view id, const CallOptions& options) override {
    if (auto error = refuse_read(id, options)) return *error;
    Transaction transaction(Kind::reading, &set_tenant_, deadline_of(options));
    const std::size_t found_at = transaction.batch().add(sql::find, of(id));
    const std::size_t forks_at = transaction.batch().add(sql::find_forks, of(id));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    Result<FoundConversation> found = read_conversation(id, outcome.rows[found_at]);
    if (!found) return found.error();
    const Rows& forks = outcome.rows[forks_at];
    for (std::size_t row = 0; row < forks.size(); ++row)
      found->record.forks.push_back(forks.bytes(row, 0));
    return std::move(found->record);
  }

  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& options) override {
    if (auto error = bad_own_id(staged)) return error;
    if (auto error = bad_id(id)) return error;
    if (auto error = bad_publishing(staged, id)) return error;
    if (auto error = refuse_write(options)) return error;
    const Deadline deadline =
        options.deadline.value_or(std::chrono::steady_clock::now() + publishing_max);
    const std::int64_t writer = random_writer();
    Transaction transaction = writing(deadline);
    Batch& batch = transaction.batch();
    batch.add(sql::claim, of(staged));
    batch.require(sql::require_conversation, of(staged), ErrorCode::not_found,
                  no_conversation(staged).message);
    batch.add(sql::publish_conversation, of(staged, text(id), number(writer)));
    batch.require(sql::require_not_purged, of(id), ErrorCode::conflict, id_taken(id).message);
    for (const Statement* statement :
         {&sql::publish_versions, &sql::publish_messages, &sql::publish_checkpoint,
          &sql::publish_pages, &sql::publish_requests, &sql::publish_request_keys,
          &sql::publish_words})
      batch.add(*statement, of(staged, text(id)));
    add_purge(batch, staged);
    Outcome outcome = session_->run(transaction);
    if (outcome.error && outcome.error->code == ErrorCode::unsupported)
      outcome = publish_through_here(staged, id, writer, deadline);
    if (outcome.error && outcome.was_lost) {
      const Result<bool> ours = is_writer(sql::find_creator, of(id), id, writer, deadline);
      if (!ours) return ours.error();
      if (*ours) outcome.error.reset();
    }
    return std::move(outcome.error);
  }

  // The ids of one moment, and then each conversation by itself: that way every statement but the
  // first is the business of one shard.
  Result<std::vector<ConversationRecord>> list(const ListOptions& options) override {
    if (auto error = bad_list(options)) return *error;
    const Deadline deadline = deadline_of(options.call);
    const std::string after = bound_among_ids(options.after);
    Transaction ids(Kind::reading, &set_tenant_, deadline);
    const std::size_t ids_at =
        ids.batch().add(options.staged ? sql::list_staged : sql::list,
                        {text(tenant_), text(after), number(std::uint64_t{options.limit})});
    const Outcome listed = session_->run(ids);
    if (listed.error) return *listed.error;
    std::vector<std::string> names;
    for (std::size_t row = 0; row < listed.rows[ids_at].size(); ++row)
      names.push_back(listed.rows[ids_at].bytes(row, 0));
    Transaction transaction(Kind::reading, &set_tenant_, deadline);
    const std::size_t first_at = transaction.batch().entries().size();
    for (const std::string& name : names) transaction.batch().add(sql::find, of(name));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    std::vector<ConversationRecord> records;
    for (std::size_t i = 0; i < names.size(); ++i) {
      Result<FoundConversation> found = read_conversation(names[i], outcome.rows[first_at + i]);
      if (!found && found.error().code == ErrorCode::not_found) continue;  // purged in between
      if (!found) return found.error();
      records.push_back(std::move(found->record));
    }
    return records;
  }

  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    Result<Rows> rows = read(id, sql::versions, range_of(id, first, end), options);
    if (!rows) return rows.error();
    return read_versions(id, *rows);
  }

  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    Result<Rows> rows = read(id, sql::messages, range_of(id, first, end), options);
    if (!rows) return rows.error();
    return read_messages(id, *rows);
  }

  Result<std::uint64_t> size_bytes(std::string_view id, const CallOptions& options) override {
    std::uint64_t bytes = 0;
    for (const Statement* statement : {&sql::size, &sql::size_of_requests, &sql::size_of_words}) {
      if (statement == &sql::size_of_requests && !has_requests_) break;
      if (statement == &sql::size_of_words && !has_words_) break;
      const Result<Rows> rows = read(id, *statement, of(id), options);
      if (!rows) return rows.error();
      bytes += static_cast<std::uint64_t>(rows->number(0, 0));
    }
    return bytes;
  }

  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& options) override {
    for (const std::uint64_t number : numbers)
      if (number > number_max) return no_page(id, number);
    const Result<Rows> rows = read(id, sql::pages, of(id, postgres::numbers(numbers)), options);
    if (!rows) return rows.error();
    std::map<std::uint64_t, std::size_t> places;
    for (std::size_t row = 0; row < rows->size(); ++row)
      places[static_cast<std::uint64_t>(rows->number(row, 0))] = row;
    std::vector<Page> found;
    for (const std::uint64_t number : numbers) {
      const auto place = places.find(number);
      if (place == places.end()) return no_page(id, number);
      found.push_back({number, rows->bytes(place->second, 1)});
    }
    return found;
  }

  Result<std::optional<Checkpoint>> checkpoint(std::string_view id,
                                               const CallOptions& options) override {
    const Result<Rows> rows = read(id, sql::checkpoint, of(id), options);
    if (!rows) return rows.error();
    return read_checkpoint(*rows);
  }

  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& options) override {
    const Result<Rows> rows =
        read(id, sql::find_operation, of(id, bytes_or_null(operation_id)), options);
    if (!rows) return rows.error();
    Result<std::vector<VersionRecord>> found = read_versions(id, *rows);
    if (!found) return found.error();
    if (found->empty()) return std::optional<VersionRecord>();
    return std::optional(std::move(found->front()));
  }

  Result<void> commit(const Commit& commit, const CallOptions& options) override {
    if (auto error = bad_own_id(commit.conversation)) return error;
    if (auto error = bad_commit(commit)) return error;
    if (auto error = refuse_write(options)) return error;
    const std::string& id = commit.conversation;
    const Deadline deadline = deadline_of(options);
    const std::int64_t writer = random_writer();
    Transaction transaction = writing(deadline);
    Batch& batch = transaction.batch();
    batch.add(commit.settings ? sql::claim_settings : sql::share, of(id));
    batch.require(sql::require_conversation, of(id), ErrorCode::not_found,
                  no_conversation(id).message);
    batch.require(sql::require_head, of(id, number(commit.expected_version)), ErrorCode::conflict,
                  "the conversation " + id + " is no longer at version " +
                      std::to_string(commit.expected_version));
    if (commit.expected_next_page) {
      batch.require(sql::require_checkpoint, of(id, number(*commit.expected_next_page)),
                    ErrorCode::conflict,
                    "the conversation " + id + " has another checkpoint by now");
    }
    if (commit.expected_settings) {
      batch.require(sql::require_settings, of(id, bytes(*commit.expected_settings)),
                    ErrorCode::conflict, other_settings(id).message);
    }
    if (!commit.versions.empty()) {
      const std::uint64_t log_length = commit.versions.back().log_length - commit.messages.size();
      if (commit.versions.front().log_length < log_length) return unfitting_messages();
      batch.require(sql::require_log_length,
                    of(id, number(commit.expected_version), number(log_length)),
                    ErrorCode::invalid_argument, unfitting_messages().message);
    }
    for (const VersionRecord& version : commit.versions)
      batch.add(sql::insert_version,
                of(id, number(version.version), number(version.at_ms), number(version.log_length),
                   bytes(version.operation), bytes(version.arguments),
                   bytes_or_null(version.operation_id), bytes(version.answer),
                   digest(version.chain), number(writer)));
    if (commit.checkpoint) {
      std::uint64_t first_page = commit.checkpoint->next_page;
      for (const Page& page : commit.pages) first_page = std::min(first_page, page.number);
      require_later_checkpoint(batch, id, *commit.checkpoint, first_page);
      add_checkpoint(batch, id, *commit.checkpoint, commit.pages);
    }
    for (const MessageRecord& message : commit.messages) {
      if (shared_with(message.body) || is_packed(message.body))
        return Error{ErrorCode::invalid_argument, "a message's body is JSON", "messages"};
      if (!message.same_as) {
        batch.add(sql::insert_message, of_message(id, message));
        continue;
      }
      batch.require(sql::require_message, of(id, number(*message.same_as)), ErrorCode::not_found,
                    no_message(id, *message.same_as).message);
      batch.add(sql::insert_message_like,
                of(id, number(message.ordinal), number(static_cast<std::int64_t>(message.role)),
                   number(message.time_ms), number(std::uint64_t{message.tokens}),
                   number(*message.same_as)));
    }
    for (const WordsRow& row : commit.words) {
      for (const std::uint64_t ordinal : {row.first, row.end - 1})
        batch.require(sql::require_message, of(id, number(ordinal)), ErrorCode::not_found,
                      no_message(id, ordinal).message);
      batch.add(sql::delete_words_within, of(id, number(row.first), number(row.end)));
      batch.add(sql::put_words, of(id, number(row.first), number(row.end), bytes(row.bytes)));
    }
    if (commit.settings)
      batch.add(sql::update_settings, of(id, bytes(*commit.settings), number(writer)));
    Outcome outcome = session_->run(transaction);
    if (is_in_doubt(outcome)) {
      const Result<bool> happened = has_happened(commit, writer, deadline);
      if (!happened) return happened.error();
      if (*happened) return {};
    }
    return std::move(outcome.error);
  }

  Result<void> put_request(const NewRequest& request, const CallOptions& options) override {
    const std::string& id = request.conversation;
    if (auto error = bad_own_id(id)) return error;
    if (auto error = bad_request(request)) return error;
    if (auto error = refuse_write(options)) return error;
    const RequestRow& row = request.row;
    const Deadline deadline = deadline_of(options);
    const std::int64_t writer = random_writer();
    Transaction transaction = writing(deadline);
    Batch& batch = transaction.batch();
    batch.add(sql::share, of(id));
    batch.require(sql::require_conversation, of(id), ErrorCode::not_found,
                  no_conversation(id).message);
    batch.require(sql::require_last_request, of(id, number(row.number - 1)), ErrorCode::conflict,
                  "the next request of " + id + " is not number " + std::to_string(row.number));
    if (request.expected_next_page) {
      batch.require(sql::require_checkpoint, of(id, number(*request.expected_next_page)),
                    ErrorCode::conflict,
                    "the conversation " + id + " has another checkpoint by now");
    }
    batch.add(sql::insert_request,
              of(id, number(row.number), number(row.version), number(row.at_ms), number(writer),
                 bytes(row.facts), bytes(row.parts), bytes(row.request), bytes(row.answer)));
    for (const std::string& key : row.keys)
      batch.add(sql::insert_request_key, of(id, number(row.number), number(row.at_ms), bytes(key)));
    Outcome outcome = session_->run(transaction);
    if (is_in_doubt(outcome)) {
      const Result<bool> ours =
          is_writer(sql::find_request_writer, of(id, number(row.number)), id, writer, deadline);
      if (!ours) return ours.error();
      if (*ours) return {};
    }
    return std::move(outcome.error);
  }

  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes wanted,
                                           const CallOptions& options) override {
    if (auto error = refuse_read(id, options)) return *error;
    Transaction transaction(Kind::reading, &set_tenant_, deadline_of(options));
    Batch& batch = transaction.batch();
    batch.require(sql::require_conversation, of(id), ErrorCode::not_found,
                  no_conversation(id).message);
    std::size_t rows_at = 0, keys_at = 0;
    if (has_requests_) {
      rows_at = batch.add(wanted == RequestBytes::with ? sql::requests_with_bytes : sql::requests,
                          range_of(id, first, end));
      keys_at = batch.add(sql::request_keys, of(id, number(std::min(first, number_max)),
                                                number(std::min(end, number_max))));
    }
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    if (!has_requests_) return std::vector<RequestRow>();
    return read_requests(outcome.rows[rows_at], outcome.rows[keys_at], wanted);
  }

  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes wanted, const CallOptions& options) override {
    const bool with = wanted == WordsBytes::with;
    std::vector<Value> range = range_of(id, first, end);
    if (!with) range.pop_back();
    const Result<Rows> rows = !has_words_ ? read(id, sql::require_conversation, of(id), options)
                              : with ? read(id, sql::words_with_bytes, std::move(range), options)
                                     : read(id, sql::words, std::move(range), options);
    if (!rows) return rows.error();
    std::vector<WordsRow> found;
    for (std::size_t row = 0; has_words_ && row < rows->size(); ++row) {
      const auto count = [&](int column) {
        return static_cast<std::uint64_t>(rows->number(row, column));
      };
      found.push_back({count(0), count(1), count(2), with ? rows->bytes(row, 3) : std::string()});
    }
    return found;
  }

  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& options) override {
    const Result<Rows> rows =
        read(id, has_requests_ ? sql::last_request : sql::require_conversation, of(id), options);
    if (!rows) return rows.error();
    return has_requests_ ? static_cast<std::uint64_t>(rows->number(0, 0)) : 0;
  }

  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& options) override {
    if (auto error = too_late(options)) return *error;
    if (!has_requests_ || keys.empty()) return std::vector<FoundRequest>();
    Transaction transaction(Kind::reading, &set_tenant_, deadline_of(options));
    std::vector<std::size_t> places;
    for (const std::string& key : keys)
      places.push_back(transaction.batch().add(sql::find_request, {text(tenant_), bytes(key)}));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    std::vector<FoundRequest> found;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Rows& rows = outcome.rows[places[i]];
      if (rows.size() > 0)
        found.push_back({keys[i], rows.bytes(0, 0), static_cast<std::uint64_t>(rows.number(0, 1))});
    }
    return found;
  }

  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& options) override {
    if (auto error = bad_stubs(stubs)) return error;
    if (auto error = refuse_read(id, options)) return error;
    if (auto error = refuse_write(options)) return error;
    const Deadline deadline = deadline_of(options);
    const Result<std::vector<MessageRecord>> stored = stubs_for(id, stubs, deadline);
    if (!stored) return stored.error();
    Transaction transaction = writing(deadline);
    Batch& batch = transaction.batch();
    batch.add(sql::claim, of(id));
    batch.require(sql::require_conversation, of(id), ErrorCode::not_found,
                  no_conversation(id).message);
    batch.add(sql::empty_requests, of(id));
    hand_bodies_on(batch, id, *stored);
    for (const MessageRecord& stub : *stored) {
      batch.add(sql::replace_message, of_message(id, stub));
      batch.add(sql::delete_words_of, of(id, number(stub.ordinal)));
      add_removal(batch, id, static_cast<std::int64_t>(stub.ordinal), removal, *stub.redacted);
    }
    return session_->run(transaction).error;
  }

  Result<void> purge(std::string_view id, const Removal& removal,
                     const PurgeOptions& options) override {
    if (auto error = refuse_read(id, options.call)) return error;
    if (auto error = refuse_write(options.call)) return error;
    const Deadline deadline = deadline_of(options.call);
    for (;;) {
      const Result<FoundConversation> found = find_head(id, deadline);
      if (!found) return is_purged(id, deadline) ? std::nullopt : std::optional(found.error());
      // Forks are asked for below, in one step with the rest.
      if (auto error = refuse_purge(id, found->record.version, false, options)) return error;
      Transaction transaction = writing(deadline);
      Batch& batch = transaction.batch();
      batch.add(sql::claim, of(id));
      batch.require(sql::require_no_forks, of(id), ErrorCode::conflict, has_forks(id).message);
      // Its last chain is what remains of it.
      batch.require(sql::require_head, of(id, number(found->record.version)), ErrorCode::not_found,
                    "");
      if (!is_staged_id(id))
        add_removal(batch, id, whole_conversation, removal, found->record.chain);
      if (found->record.origin)
        batch.add(sql::delete_fork, of(found->record.origin->conversation, text(id)));
      add_purge(batch, id);
      Outcome outcome = session_->run(transaction);
      // Somebody has committed or purged meanwhile.
      if (outcome.error && outcome.error->code == ErrorCode::not_found) continue;
      return std::move(outcome.error);
    }
  }

  Result<std::vector<RemovalRecord>> removals(std::string_view id,
                                              const CallOptions& options) override {
    if (auto error = refuse_read(id, options)) return *error;
    Transaction transaction(Kind::reading, &set_tenant_, deadline_of(options));
    const std::size_t at = transaction.batch().add(sql::removals, of(id));
    const std::size_t found_at = transaction.batch().add(sql::find, of(id));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    if (outcome.rows[at].size() == 0 && outcome.rows[found_at].size() == 0)
      return no_conversation(id);
    return read_removals(id, outcome.rows[at]);
  }

  Result<void> prune(const Prune& prune, const CallOptions& options) override {
    if (auto error = bad_id(prune.conversation)) return error;
    if (auto error = bad_prune(prune)) return error;
    if (auto error = refuse_write(options)) return error;
    const std::string& id = prune.conversation;
    const Deadline deadline = deadline_of(options);
    const Result<FoundConversation> found = find_head(id, deadline);
    if (!found) return found.error();
    const ConversationRecord& record = found->record;
    if (auto error = refuse_prune(
            prune, {record.version, record.log_length, record.checkpoint_version, found->next_page},
            record.first_version, 0))
      return error;
    const Result<std::vector<MessageRecord>> stored = stubs_for(id, prune.stubs, deadline);
    if (!stored) return stored.error();
    Transaction transaction = writing(deadline);
    Batch& batch = transaction.batch();
    batch.add(sql::claim, of(id));
    batch.require(sql::require_conversation, of(id), ErrorCode::not_found,
                  no_conversation(id).message);
    batch.require(sql::require_head, of(id, number(prune.expected_version)), ErrorCode::conflict,
                  "the conversation " + id + " is no longer at version " +
                      std::to_string(prune.expected_version));
    const bool prunes_versions = prune.first_version != record.first_version;
    batch.require(prunes_versions ? sql::require_no_forks : sql::require_no_pages_for_forks, of(id),
                  ErrorCode::conflict, has_forks(id).message);
    require_later_checkpoint(batch, id, prune.checkpoint, prune.checkpoint.next_page);
    batch.add(sql::move_first_version, of(id, number(prune.first_version)));
    batch.add(sql::prune_versions, of(id, number(prune.first_version)));
    batch.add(sql::reduce_versions, of(id, number(prune.first_version)));
    hand_bodies_on(batch, id, *stored);
    for (const MessageRecord& stub : *stored) {
      batch.add(sql::replace_message, of_message(id, stub));
      batch.add(sql::delete_words_of, of(id, number(stub.ordinal)));
    }
    for (const VersionRecord& version : prune.operations) {
      batch.add(sql::replace_operation,
                of(id, number(version.version), bytes(version.arguments), bytes(version.answer)));
    }
    batch.add(sql::prune_request_keys, of(id, number(prune.first_version)));
    batch.add(sql::prune_requests, of(id, number(prune.first_version)));
    for (const RequestRow& row : prune.requests)
      batch.add(sql::replace_request,
                of(id, number(row.number), bytes(row.request), bytes(row.answer)));
    batch.add(sql::purge_pages, of(id));
    add_checkpoint(batch, id, prune.checkpoint, prune.pages);
    if (record.origin) {
      batch.add(sql::keep_own_pages, of(id));
      batch.add(sql::fork_needs_no_pages, of(record.origin->conversation, text(id)));
    }
    return session_->run(transaction).error;
  }

  Result<std::vector<Damage>> check(const CallOptions& options) override {
    if (auto error = too_late(options)) return *error;
    Transaction transaction(Kind::reading, &set_tenant_, deadline_of(options));
    std::vector<std::size_t> places = {transaction.batch().add(sql::orphans, {text(tenant_)})};
    if (has_requests_)
      places.push_back(transaction.batch().add(sql::orphaned_requests, {text(tenant_)}));
    if (has_words_) places.push_back(transaction.batch().add(sql::orphaned_words, {text(tenant_)}));
    const Outcome outcome = session_->run(transaction);
    std::vector<Damage> damage;
    if (outcome.error && outcome.error->code == ErrorCode::corrupt) {
      damage.push_back({"", outcome.error->message});
      return damage;
    }
    if (outcome.error) return *outcome.error;
    for (const std::size_t at : places) {
      const Rows& rows = outcome.rows[at];
      for (std::size_t row = 0; row < rows.size(); ++row)
        damage.push_back({rows.bytes(row, 0),
                          "there are " + rows.bytes(row, 1) + " without their conversation"});
    }
    return damage;
  }

  Result<void> compact(const CallOptions& options) override {
    if (auto error = refuse_write(options)) return error;
    return session_->run_alone(sql::rewrite, deadline_of(options));
  }

  Result<void> distribute(const CallOptions& options) override {
    if (auto error = refuse_write(options)) return error;
    return distribute_schema(
        *session_, options.deadline.value_or(std::chrono::steady_clock::now() + publishing_max));
  }

  Result<void> backup(const std::string&, const CallOptions&) override {
    return Error{.code = ErrorCode::unsupported,
                 .message = "PostgreSQL makes its own backups: see pg_dump and pg_basebackup"};
  }

 private:
  Deadline deadline_of(const CallOptions& options) const {
    return options.deadline.value_or(std::chrono::steady_clock::now() + options_.patience);
  }

  std::optional<Error> refuse_read(std::string_view id, const CallOptions& options) const {
    if (auto error = bad_own_id(id)) return error;
    return too_late(options);
  }

  std::optional<Error> refuse_write(const CallOptions& options) const {
    if (options_.read_only)
      return Error{.code = ErrorCode::unsupported,
                   .message = "the store was opened to be read only"};
    return too_late(options);
  }

  // Tenants are a column here, and no part of ids.
  static std::optional<Error> bad_ids(const NewConversation& made) {
    if (auto error = bad_own_id(made.id)) return error;
    return made.origin ? bad_id(made.origin->conversation) : std::nullopt;
  }

  static Error unfitting_messages() {
    return {.code = ErrorCode::invalid_argument,
            .message = "the messages are not those between the log's length before and after",
            .field = "messages"};
  }

  // The parameters of a statement about one conversation.
  template <class... Values>
  std::vector<Value> of(std::string_view id, Values... values) const {
    std::vector<Value> all;
    all.reserve(2 + sizeof...(values));
    all.push_back(text(id));
    all.push_back(text(tenant_));
    (all.push_back(std::move(values)), ...);
    return all;
  }
  std::vector<Value> range_of(std::string_view id, std::uint64_t first, std::uint64_t end) const {
    return of(id, number(std::min(first, number_max)), number(std::min(end, number_max)),
              number(std::uint64_t{answer_records_max}), number(std::uint64_t{answer_bytes_max}));
  }
  std::vector<Value> of_message(std::string_view id, const MessageRecord& message) const {
    return of(id, number(message.ordinal), number(static_cast<std::int64_t>(message.role)),
              number(message.time_ms), number(std::uint64_t{message.tokens}),
              message.redacted ? digest(*message.redacted) : null_bytes(), body_of(message));
  }

  Transaction writing(Deadline deadline) const {
    Transaction transaction(Kind::writing, &set_tenant_, deadline);
    transaction.batch().require(sql::require_known_tables, {number(newest_version)},
                                ErrorCode::unsupported, std::string(later_version));
    return transaction;
  }

  void add_checkpoint(Batch& batch, std::string_view id, const Checkpoint& checkpoint,
                      const std::vector<Page>& pages) const {
    batch.add(sql::put_checkpoint, of(id, number(checkpoint.version), number(checkpoint.next_page),
                                      bytes(checkpoint.root)));
    for (const Page& page : pages)
      batch.add(sql::insert_page, of(id, number(page.number), bytes(page.bytes)));
  }
  void add_purge(Batch& batch, std::string_view id) const {
    for (const Statement* statement :
         {&sql::purge_messages, &sql::purge_versions, &sql::purge_pages, &sql::purge_checkpoint,
          &sql::purge_requests, &sql::purge_request_keys, &sql::purge_words,
          &sql::purge_conversation})
      batch.add(*statement, of(id));
  }
  void require_later_checkpoint(Batch& batch, std::string_view id, const Checkpoint& checkpoint,
                                std::uint64_t first_page) const {
    batch.require(
        sql::require_later_checkpoint,
        of(id, number(checkpoint.version), number(checkpoint.next_page), number(first_page)),
        ErrorCode::conflict, "there is a newer checkpoint");
  }
  void add_removal(Batch& batch, std::string_view id, std::int64_t ordinal, const Removal& removal,
                   const Digest& what) const {
    batch.add(sql::insert_removal, of(id, number(ordinal), number(removal.at_ms),
                                      bytes(removal.who), bytes(removal.why), digest(what)));
  }

  Result<Rows> read(std::string_view id, const Statement& statement, std::vector<Value> values,
                    const CallOptions& options) {
    if (auto error = refuse_read(id, options)) return *error;
    Transaction transaction(Kind::reading, &set_tenant_, deadline_of(options));
    transaction.batch().require(sql::require_conversation, of(id), ErrorCode::not_found,
                                no_conversation(id).message);
    const std::size_t at = transaction.batch().add(statement, std::move(values));
    Outcome outcome = session_->run(transaction);
    if (outcome.error) return *std::move(outcome.error);
    return std::move(outcome.rows[at]);
  }

  Result<FoundConversation> find_head(std::string_view id, Deadline deadline) {
    Transaction transaction(Kind::reading, &set_tenant_, deadline);
    const std::size_t at = transaction.batch().add(sql::find, of(id));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    return read_conversation(id, outcome.rows[at]);
  }

  // For a database that cannot copy rows from one conversation to another: all of them pass through
  // the memory of this process.
  Outcome publish_through_here(std::string_view staged, std::string_view id, std::int64_t writer,
                               Deadline deadline) {
    constexpr std::pair<const Statement*, const Statement*> tables[] = {
        {&sql::staged_versions, &sql::insert_version},
        {&sql::staged_messages, &sql::insert_message},
        {&sql::checkpoint, &sql::put_checkpoint},
        {&sql::staged_pages, &sql::insert_page},
        {&sql::staged_requests, &sql::insert_request},
        {&sql::staged_request_keys, &sql::insert_request_key},
        {&sql::staged_words, &sql::put_words}};
    Transaction reading(Kind::reading, &set_tenant_, deadline);
    const std::size_t found_at = reading.batch().add(sql::find, of(staged));
    const std::size_t made_at = reading.batch().add(sql::staged_conversation, of(staged));
    std::vector<std::size_t> rows_at;
    for (const auto& [rows, _] : tables) rows_at.push_back(reading.batch().add(*rows, of(staged)));
    Outcome read = session_->run(reading);
    if (read.error) return read;
    const Result<FoundConversation> found = read_conversation(staged, read.rows[found_at]);
    if (!found) return {.error = found.error()};
    const Rows& made = read.rows[made_at];
    Transaction transaction = writing(deadline);
    Batch& batch = transaction.batch();
    batch.add(sql::claim, of(staged));
    batch.require(sql::require_head, of(staged, number(found->record.version)), ErrorCode::conflict,
                  "what is staged under " + std::string(staged) + " has changed meanwhile");
    batch.add(sql::insert_conversation,
              of(id, made.value(0, 0), made.value(0, 1), number(writer), null_text(), null_number(),
                 null_number(), null_number(), made.value(0, 3)));
    batch.add(sql::move_first_version, of(id, made.value(0, 2)));
    batch.require(sql::require_not_purged, of(id), ErrorCode::conflict, id_taken(id).message);
    for (std::size_t table = 0; table < std::size(tables); ++table) {
      const Rows& rows = read.rows[rows_at[table]];
      for (std::size_t row = 0; row < rows.size(); ++row) {
        std::vector<Value> values = of(id);
        for (int column = 0; column < rows.columns(); ++column)
          values.push_back(rows.value(row, column));
        batch.add(*tables[table].second, std::move(values));
      }
    }
    add_purge(batch, staged);
    return session_->run(transaction);
  }

  bool is_purged(std::string_view id, Deadline deadline) {
    const Result<std::vector<RemovalRecord>> found = removals(id, {deadline});
    return found && std::any_of(found->begin(), found->end(),
                                [](const RemovalRecord& removal) { return !removal.ordinal; });
  }

  // The stubs as they are to be stored. Bodies change in no other way than this, so that what is
  // read here still holds when it is written.
  void hand_bodies_on(Batch& batch, std::string_view id,
                      const std::vector<MessageRecord>& stubs) const {
    if (stubs.empty()) return;
    std::vector<std::uint64_t> ordinals;
    for (const MessageRecord& stub : stubs) ordinals.push_back(stub.ordinal);
    batch.add(sql::hand_bodies_on, of(id, numbers(ordinals)));
  }

  Result<std::vector<MessageRecord>> stubs_for(std::string_view id,
                                               const std::vector<MessageRecord>& stubs,
                                               Deadline deadline) {
    std::vector<MessageRecord> stored;
    for (const MessageRecord& stub : stubs) {
      const Result<std::vector<MessageRecord>> message =
          messages(id, stub.ordinal, stub.ordinal + 1, {deadline});
      if (!message) return message.error();
      if (message->empty()) return no_message(id, stub.ordinal);
      Result<MessageRecord> made = stub_for(message->front(), stub);
      if (!made) return made.error();
      stored.push_back(*std::move(made));
    }
    return stored;
  }

  // A try was cut off, another one was refused: whose is the row that was in its way?
  static bool is_in_doubt(const Outcome& outcome) {
    return outcome.was_lost && outcome.error && outcome.error->code == ErrorCode::conflict;
  }

  // Whether it is our own. The lock makes this a transaction that writes, so that its own commit
  // waits for the disk and the synchronous standby, and with it the one before: what is found here
  // may be answered for.
  Result<bool> is_writer(const Statement& statement, std::vector<Value> values, std::string_view id,
                         std::int64_t writer, Deadline deadline) {
    Transaction transaction = writing(deadline);
    transaction.batch().add(sql::share, of(id));
    const std::size_t at = transaction.batch().add(statement, std::move(values));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    return outcome.rows[at].size() == 1 && outcome.rows[at].number(0, 0) == writer;
  }

  Result<bool> has_happened(const Commit& commit, std::int64_t writer, Deadline deadline) {
    const std::string& id = commit.conversation;
    if (!commit.versions.empty())
      return is_writer(sql::find_writer, of(id, number(commit.versions.front().version)), id,
                       writer, deadline);
    if (commit.settings) return have_settings_changed(commit, writer, deadline);
    if (!commit.checkpoint) return false;
    Transaction transaction = writing(deadline);
    transaction.batch().add(sql::share, of(id));
    const std::size_t at = transaction.batch().add(sql::checkpoint, of(id));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    return read_checkpoint(outcome.rows[at]) == commit.checkpoint;
  }

  // unavailable: nobody knows any more. Whoever adds to what is in the settings would add twice
  // after a conflict.
  Result<bool> have_settings_changed(const Commit& commit, std::int64_t writer, Deadline deadline) {
    const std::string& id = commit.conversation;
    Transaction transaction = writing(deadline);
    transaction.batch().add(sql::share, of(id));
    const std::size_t at = transaction.batch().add(sql::find_settings_writer, of(id));
    const Outcome outcome = session_->run(transaction);
    if (outcome.error) return *outcome.error;
    const Rows& rows = outcome.rows[at];
    if (rows.size() != 1) return false;
    if (rows.number(0, 0) == writer) return true;
    if (rows.bytes(0, 1) == commit.expected_settings) return false;
    return Error{.code = ErrorCode::unavailable,
                 .message =
                     "PostgreSQL: the connection was lost, and others have changed the "
                     "settings of " +
                     id + " since: it is not known whether this change was stored"};
  }

  const std::string name_;
  const std::string tenant_;
  const std::string set_tenant_text_;
  const Statement set_tenant_{
      // never prepared by name: the next tenant on the connection has another text
      "", set_tenant_text_.c_str()};
  const StoreOptions options_;
  const std::shared_ptr<Session> session_;
  // else the tables are of an older release, and only read; set before anyone else has the store
  bool has_requests_;
  bool has_words_;  // likewise
};

}  // namespace

Result<std::shared_ptr<Store>> open_postgres_store(std::string_view url,
                                                   const StoreOptions& options) {
  if (!options.tenant.empty() && !is_conversation_id(options.tenant))
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a tenant's name follows the rules of conversation ids",
                 .field = "tenant"};
  Result<StoreUrl> read = read_url(url);
  if (!read) return read.error();
  auto session = std::make_shared<Session>(std::move(read->settings), options.connections_max);
  auto store = std::make_shared<PostgresStore>(std::move(read->name), options.tenant, options,
                                               std::move(session));
  if (auto error = store->open(options.create)) return *error;
  return std::shared_ptr<Store>(std::move(store));
}

}  // namespace undertext
