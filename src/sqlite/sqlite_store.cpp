#include "sqlite/sqlite_store.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <sqlite3.h>

#include "sqlite/connection.hpp"
#include "sqlite/place.hpp"
#include "sqlite/readers.hpp"
#include "sqlite/records.hpp"
#include "sqlite/request_rows.hpp"
#include "sqlite/schema.hpp"
#include "sqlite/scrub.hpp"
#include "sqlite/version.hpp"
#include "sqlite/words_rows.hpp"
#include "sqlite/writer.hpp"
#include "store/rules.hpp"
#include "system/process.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<Damage> check_integrity(Connection& connection) {
  std::vector<Damage> damage;
  Statement rows(connection, Sql::integrity_check);
  while (rows.next())
    if (rows.bytes_at(0) != "ok") damage.push_back({{}, std::string(rows.bytes_at(0))});
  return damage;
}

// Only one connection at a time can make the switch, and SQLite does not wait for its turn by
// itself here.
void switch_to_wal(Connection& connection, Deadline deadline) {
  for (;;) {
    try {
      if (connection.text("PRAGMA journal_mode=WAL") == "wal") return;
    } catch (const SqliteError& error) {
      if (error.kind() != SQLITE_BUSY) throw;
    }
    if (Clock::now() >= deadline)
      throw SqliteError{SQLITE_BUSY, "the file cannot be switched to a write-ahead log"};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<FileKind> kind_at_one_moment(Connection& connection, const std::string& path) {
  connection.run(Sql::begin_read);
  Result<FileKind> kind = kind_of_file(connection, path);
  connection.run(Sql::commit);
  return kind;
}

class SqliteStore final : public Store {
 public:
  // Without a writer: for reading only.
  SqliteStore(std::string path, const StoreOptions& options, std::unique_ptr<Connection> writer)
      : path_(std::move(path)),
        options_(options),
        owner_(process_id()),
        writer_(writer ? std::make_unique<Writer>(path_, options.durability, std::move(writer))
                       : nullptr),
        readers_(path_, options.read_only ? Access::read_file : Access::read,
                 writer_ ? writer_->file() : FileIdentity{},
                 writer_ ? writer_->seen_counter() : std::make_shared<SeenCounter>()) {}

  ~SqliteStore() override {
    if (is_ours()) return;
    // After fork() these are the parent's: closing them here could take its log away.
    static_cast<void>(writer_.release());
    readers_.abandon();
  }

  std::string name() const override { return "sqlite:" + path_; }

  Result<ConversationRecord> create(const NewConversation& made,
                                    const CallOptions& options) override {
    if (auto error = bad_creation(made)) return *error;
    ConversationRecord answer;
    auto error = write(options, [&](Connection& connection) -> std::optional<Error> {
      if (find_conversation(connection, made.id) || is_purged(connection, made.id))
        return id_taken(made.id);
      std::optional<std::uint64_t> origin_number;
      if (made.origin) {
        const std::optional<StoredConversation> origin =
            find_conversation(connection, made.origin->conversation);
        if (!origin) return no_conversation(made.origin->conversation);
        if (auto refused = refuse_fork(made, origin->record, origin->next_page)) return refused;
        origin_number = origin->number;
      }
      const Result<std::uint64_t> number = add_conversation(connection, made, origin_number);
      if (!number) return number.error();
      answer = find_conversation(connection, made.id)->record;
      return std::nullopt;
    });
    if (error) return *std::move(error);
    return answer;
  }

  Result<ConversationRecord> find(std::string_view id, const CallOptions& options) override {
    return read_of<ConversationRecord>(
        id, options, [&](Connection& connection, StoredConversation& stored) {
          stored.record.forks = forks_of(connection, stored.number);
          return Result<ConversationRecord>(std::move(stored.record));
        });
  }

  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& options) override {
    if (auto error = bad_publishing(staged, id)) return error;
    return write(options, [&](Connection& connection) {
      return rename_conversation(connection, staged, id);
    });
  }

  Result<std::vector<ConversationRecord>> list(const ListOptions& options) override {
    if (auto error = bad_list(options)) return *error;
    return read<std::vector<ConversationRecord>>(options.call, [&](Connection& connection) {
      std::vector<ConversationRecord> records;
      Statement rows(connection, options.staged ? Sql::list_staged : Sql::list_conversations);
      rows.text(options.after).number(options.limit);
      while (rows.next()) {
        std::optional<StoredConversation> stored = find_conversation(connection, rows.bytes_at(0));
        if (stored) records.push_back(std::move(stored->record));
      }
      return Result<std::vector<ConversationRecord>>(std::move(records));
    });
  }

  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    return read_of<std::vector<VersionRecord>>(
        id, options, [&](Connection& connection, StoredConversation& stored) {
          return Result<std::vector<VersionRecord>>(read_versions(
              connection, stored.number, std::max(first, stored.record.first_version), end));
        });
  }

  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    return read_of<std::vector<MessageRecord>>(
        id, options, [&](Connection& connection, StoredConversation& stored) {
          return Result<std::vector<MessageRecord>>(
              read_messages(connection, stored.number, first, end));
        });
  }

  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& options) override {
    return read_of<std::vector<Page>>(
        id, options,
        [&](Connection& connection, StoredConversation& stored) -> Result<std::vector<Page>> {
          std::vector<Page> pages;
          for (const std::uint64_t number : numbers) {
            std::optional<Page> page = read_page(connection, stored.number, number);
            if (!page) return no_page(id, number);
            pages.push_back(*std::move(page));
          }
          return pages;
        });
  }

  Result<std::optional<Checkpoint>> checkpoint(std::string_view id,
                                               const CallOptions& options) override {
    return read_of<std::optional<Checkpoint>>(
        id, options, [](Connection& connection, StoredConversation& stored) {
          return Result<std::optional<Checkpoint>>(read_checkpoint(connection, stored.number));
        });
  }

  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& options) override {
    return read_of<std::optional<VersionRecord>>(
        id, options, [&](Connection& connection, StoredConversation& stored) {
          return Result<std::optional<VersionRecord>>(
              undertext::find_operation(connection, stored.number, operation_id));
        });
  }

  Result<void> commit(const Commit& commit, const CallOptions& options) override {
    if (auto error = bad_commit(commit)) return error;
    return write(options, [&](Connection& connection) { return write_commit(connection, commit); });
  }

  Result<void> put_request(const NewRequest& request, const CallOptions& options) override {
    if (auto error = bad_request(request)) return error;
    return write(options,
                 [&](Connection& connection) { return write_request(connection, request); });
  }

  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes bytes,
                                           const CallOptions& options) override {
    return read_of<std::vector<RequestRow>>(
        id, options, [&](Connection& connection, StoredConversation& stored) {
          return Result<std::vector<RequestRow>>(
              read_requests(connection, stored.number, first, end, bytes));
        });
  }

  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes bytes, const CallOptions& options) override {
    return read_of<std::vector<WordsRow>>(
        id, options, [&](Connection& connection, StoredConversation& stored) {
          return Result<std::vector<WordsRow>>(
              read_words(connection, stored.number, first, end, bytes));
        });
  }

  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& options) override {
    return read_of<std::uint64_t>(
        id, options, [](Connection& connection, StoredConversation& stored) {
          return Result<std::uint64_t>(undertext::last_request(connection, stored.number));
        });
  }

  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& options) override {
    return read<std::vector<FoundRequest>>(options, [&](Connection& connection) {
      return Result<std::vector<FoundRequest>>(undertext::find_requests(connection, keys));
    });
  }

  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& options) override {
    if (auto error = bad_stored_id(id)) return error;
    if (auto error = bad_stubs(stubs)) return error;
    auto error = write(options, [&](Connection& connection) -> std::optional<Error> {
      const std::optional<StoredConversation> stored = find_conversation(connection, id);
      if (!stored) return no_conversation(id);
      empty_requests(connection, stored->number);
      return write_stubs(connection, *stored, stubs, &removal);
    });
    return error ? error : overwrite_remains(options);
  }

  Result<void> purge(std::string_view id, const Removal& removal,
                     const PurgeOptions& options) override {
    if (auto error = bad_stored_id(id)) return error;
    auto error = write(options.call, [&](Connection& connection) {
      return delete_conversation(connection, id, removal, options);
    });
    // What was staged was nobody's secret yet.
    return error || id.starts_with('.') ? error : overwrite_remains(options.call);
  }

  Result<std::vector<RemovalRecord>> removals(std::string_view id,
                                              const CallOptions& options) override {
    if (auto error = bad_stored_id(id)) return *error;
    return read<std::vector<RemovalRecord>>(
        options, [&](Connection& connection) -> Result<std::vector<RemovalRecord>> {
          if (!is_purged(connection, id) && !find_conversation(connection, id))
            return no_conversation(id);
          return read_removals(connection, id);
        });
  }

  Result<void> prune(const Prune& prune, const CallOptions& options) override {
    if (auto error = bad_prune(prune)) return error;
    auto error =
        write(options, [&](Connection& connection) { return write_prune(connection, prune); });
    return error ? error : overwrite_remains(options);
  }

  Result<std::uint64_t> size_bytes(std::string_view id, const CallOptions& options) override {
    return read_of<std::uint64_t>(
        id, options, [](Connection& connection, StoredConversation& stored) {
          Statement row(connection, Sql::size);
          row.number(key_of(stored.number, 0)).number(last_key_of(stored.number)).next();
          return Result<std::uint64_t>(row.number_at(0) + stored.record.settings.size() +
                                       size_of_requests(connection, stored.number) +
                                       size_of_words(connection, stored.number));
        });
  }

  Result<std::vector<Damage>> check(const CallOptions& options) override {
    return read<std::vector<Damage>>(patient(options), [&](Connection& connection) {
      // SQLite takes a page for damaged that it could not load for want of memory, so damage has to
      // show twice.
      std::vector<Damage> damage;
      try {
        damage = check_integrity(connection);
        if (!damage.empty()) damage = check_integrity(connection);
      } catch (const SqliteError& error) {
        if (error.code != SQLITE_IOERR_DATA) throw;
        damage.push_back({{}, to_error(error, path_).message});
        return Result<std::vector<Damage>>(std::move(damage));
      }
      for (Damage& orphan : find_orphans(connection)) damage.push_back(std::move(orphan));
      if (options_.durability == Durability::full)
        if (std::optional<Error> log = find_damage_of_log(followed(path_)))
          damage.push_back({{}, std::move(log->message)});
      return Result<std::vector<Damage>>(std::move(damage));
    });
  }

  Result<void> compact(const CallOptions& options) override {
    return alone(patient(options), [&](Connection& connection) -> std::optional<Error> {
      connection.run(Sql::vacuum);
      connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
      return std::nullopt;
    });
  }

  Result<void> backup(const std::string& path, const CallOptions& options) override {
    const Result<std::string> to = plain_path(path);
    if (!to) return to.error();
    if (auto error = unusable(options)) return error;
    if (file_exists(*to))
      return Error{ErrorCode::invalid_argument, path + " is there already", "path"};
    // Under another name until it is known to be whole.
    const std::string unfinished = *to + ".unfinished-" + std::to_string(owner_) + "-" +
                                   std::to_string(Clock::now().time_since_epoch().count());
    auto error = guarded([&]() -> std::optional<Error> {
      const Deadline deadline = options.deadline.value_or(Deadline::max());
      {
        Connection connection(path_, options_.read_only ? Access::read_file : Access::write, false,
                              readers_.seen_counter());
        connection.keep_log_on_close();
        connection.require_files_unchanged();
        if (writer_) connection.require_file(writer_->file());
        connection.run("PRAGMA query_only=OFF");  // which forbids to write to another file, too
        // Copying takes as long as it takes; waiting for others does not.
        connection.set_deadline(deadline_of(options), options.deadline.has_value());
        const Result<FileKind> kind = kind_at_one_moment(connection, path_);
        if (!kind) return kind.error();
        if (has_trailers(connection)) connection.reserve_trailers();
        Statement(connection, Sql::vacuum_into).text(unfinished).finish();
      }
      return check_copy(unfinished, {deadline});
    });
    if (!error) error = sync_file(unfinished);
    if (!error) error = give_name(unfinished, *to);
    if (error) remove_file(unfinished);
    return error;
  }

 private:
  // Every record, too: a body that was damaged before pages had checksums is copied like any other.
  std::optional<Error> check_copy(const std::string& path, const CallOptions& options) const {
    const Result<std::shared_ptr<Store>> copy =
        open_sqlite_store(path, {.create = false, .read_only = true});
    if (!copy) return copy.error();
    const Result<CheckReport> report = check_store(**copy, {}, options);
    if (!report) return report.error();
    if (report->damage.empty()) return std::nullopt;
    const Damage& first = report->damage.front();
    return Error{ErrorCode::corrupt,
                 "the copy of " + path_ + " was not kept, because " + path_ + " is damaged: " +
                     (first.conversation.empty() ? "" : first.conversation + ": ") + first.what};
  }

  bool is_ours() const { return process_id() == owner_; }

  std::optional<Error> unusable(const CallOptions& options) const {
    if (!is_ours())
      return Error{ErrorCode::unavailable,
                   path_ + " was opened before fork(): the child has to open it again"};
    return too_late(options);
  }

  Deadline deadline_of(const CallOptions& options) const {
    return options.deadline ? *options.deadline : Clock::now() + options_.patience;
  }
  // What takes long by its nature has no patience of its own.
  static CallOptions patient(const CallOptions& options) {
    return {options.deadline.value_or(Deadline::max())};
  }

  template <class Function>
  std::optional<Error> guarded(Function function) const {
    try {
      return function();
    } catch (const SqliteError& error) {
      return to_error(error, path_);
    }
  }

  template <class Work>
  std::optional<Error> write(const CallOptions& options, Work work) {
    if (auto error = unusable(options)) return error;
    if (!writer_) return Error{ErrorCode::unsupported, path_ + " was opened for reading only"};
    return writer_->write(deadline_of(options), work);
  }

  template <class Work>
  std::optional<Error> alone(const CallOptions& options, Work work) {
    if (auto error = unusable(options)) return error;
    if (!writer_) return Error{ErrorCode::unsupported, path_ + " was opened for reading only"};
    return writer_->alone(deadline_of(options), work);
  }

  // What was taken out is overwritten where it was. Copies of it may be left in unused parts of
  // pages, and in the log.
  std::optional<Error> overwrite_remains(const CallOptions& options) {
    std::vector<std::uint32_t> pages;
    auto found = read<bool>(patient(options), [&](Connection& connection) {
      pages = find_remains(connection);
      return Result<bool>(true);
    });
    std::optional<Error> error;
    if (!found) error = found.error();
    if (!error && !pages.empty()) {
      error = write(options, [&](Connection& connection) -> std::optional<Error> {
        scrub(connection, pages);
        return std::nullopt;
      });
    }
    if (!error) {
      error = alone(options, [](Connection& connection) -> std::optional<Error> {
        connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
        return std::nullopt;
      });
    }
    if (error)
      error->message +=
          "; it was deleted, but not every copy of its bytes is overwritten yet: do it again";
    return error;
  }

  // function(connection) within one read transaction: all it reads is of one moment.
  template <class T, class Function>
  Result<T> read(const CallOptions& options, Function function) {
    if (auto error = unusable(options)) return *error;
    try {
      if (writer_ && writer_->has_lost_log()) throw Writer::lost_log();
      const Deadline deadline = deadline_of(options);
      std::unique_ptr<Connection> connection = readers_.take(deadline);
      if (!connection) return deadline_passed();
      // Goes back only when all went well: a connection that failed is not used again.
      struct GiveBack {
        Readers& readers;
        std::unique_ptr<Connection> good;
        ~GiveBack() { readers.give_back(std::move(good)); }
      } give_back{readers_, nullptr};
      look_at_files(*connection);
      Result<T> answer = read_within<T>(*connection, function);
      connection->require_no_older_copy();
      // SQLite ended it: the answer is what is wrong
      if (!connection->in_transaction()) return answer;
      connection->run(Sql::commit);
      give_back.good = std::move(connection);
      return answer;
    } catch (const SqliteError& error) {
      if (writer_ && error.code == log_changed) writer_->note_lost_log();
      return to_error(error, path_);
    }
  }

  template <class T, class Function>
  static Result<T> read_within(Connection& connection, Function& function) {
    try {
      connection.run(Sql::begin_read);
      return function(connection);
    } catch (const SqliteError& error) {
      // What is no page of this file may be one of another file.
      if (error.kind() == SQLITE_CORRUPT || error.code == SQLITE_IOERR_DATA)
        connection.require_files_unchanged();
      throw;
    }
  }

  // Now and then: an answer to a read is of the moment, and commits are looked after each by
  // itself.
  void look_at_files(Connection& connection) {
    constexpr Clock::rep between_looks = Clock::duration(std::chrono::milliseconds(100)).count();
    const Clock::rep now = Clock::now().time_since_epoch().count();
    if (now - looked_at_.load(std::memory_order_relaxed) < between_looks) return;
    connection.require_files_unchanged();
    looked_at_.store(now, std::memory_order_relaxed);
  }

  template <class T, class Function>
  Result<T> read_of(std::string_view id, const CallOptions& options, Function function) {
    if (auto error = bad_stored_id(id)) return *error;
    return read<T>(options, [&](Connection& connection) -> Result<T> {
      std::optional<StoredConversation> stored = find_conversation(connection, id);
      if (!stored) return no_conversation(id);
      return function(connection, *stored);
    });
  }

  const std::string path_;
  const StoreOptions options_;
  const std::int64_t owner_;
  std::unique_ptr<Writer> writer_;
  std::atomic<Clock::rep> looked_at_ = 0;
  // closed before the writer is: the last one to close moves the log into the file, and readers may
  // not
  Readers readers_;
};

}  // namespace

Result<std::shared_ptr<Store>> open_sqlite_store(std::string_view given_path,
                                                 const StoreOptions& options) {
  if (is_known_bad_sqlite(sqlite3_libversion_number()))
    return Error{ErrorCode::unsupported,
                 std::string("SQLite ") + sqlite3_libversion() +
                     " can damage databases with a write-ahead log: 3.51.3 or later is needed"};
  Result<std::string> path = plain_path(given_path);
  if (!path) return path.error();
  const bool is_new = !file_exists(*path);
  if (is_new && (!options.create || options.read_only))
    return Error{ErrorCode::not_found, "there is no file " + *path, "url"};
  if (is_new)
    if (auto error = refuse_missing_folder(*path)) return *error;
  if (auto error = refuse_network_folder(followed(*path))) return *error;
  if (auto error = refuse_foreign_log(followed(*path))) return *error;
  if (options.durability == Durability::full)
    if (auto error = find_damage_of_log(followed(*path))) return *error;
  const Deadline deadline = Clock::now() + options.patience;
  try {
    auto connection = std::make_unique<Connection>(
        *path, options.read_only ? Access::read_file : Access::write, is_new);
    connection->set_deadline(deadline);
    const Result<FileKind> kind = kind_at_one_moment(*connection, *path);
    if (!kind) return kind.error();
    if (*kind == FileKind::fresh && (options.read_only || !options.create))
      return Error{ErrorCode::not_found, *path + " holds no store yet", "url"};
    connection->require_files_unchanged();  // such as a second name
    if (options.read_only)
      return std::shared_ptr<Store>(std::make_shared<SqliteStore>(*path, options, nullptr));
    // EXTRA, for here SQLite uses a rollback journal: its name must be gone for sure before
    // anything is stored, or it would undo that after a power cut.
    connection->run("PRAGMA synchronous=EXTRA");
    switch_to_wal(*connection, deadline);
    if (*kind != FileKind::current) {
      if (auto error = make_tables(*connection, *path)) return *error;
      if (auto error = sync_folder_of(followed(*path))) return *error;
    }
    return std::shared_ptr<Store>(
        std::make_shared<SqliteStore>(*path, options, std::move(connection)));
  } catch (const SqliteError& error) {
    return to_error(error, *path);
  }
}

}  // namespace undertext
