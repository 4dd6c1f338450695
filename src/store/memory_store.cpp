// Records in plain containers under one lock. What a call changes is made first and moved in last,
// so that running out of memory changes nothing.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include <undertext/store.hpp>

#include "store/rules.hpp"

namespace undertext {
namespace {

struct Kept {
  ConversationRecord record;  // with its head; `forks` by name
  // own ones; after a prune, stubs among them
  std::vector<VersionRecord> versions;
  std::vector<MessageRecord> messages;                           // own ones
  std::map<std::uint64_t, Page> pages;                           // own ones
  std::map<std::string, std::uint64_t, std::less<>> operations;  // id -> version
  std::optional<Checkpoint> checkpoint;
  std::vector<RequestRow> requests;
  std::vector<WordsRow> words;  // rising

  std::uint64_t last_request() const { return requests.empty() ? 0 : requests.back().number; }
  StoredHead head() const {
    const std::uint64_t first_page = record.origin ? record.origin->next_page : 1;
    return {record.version, record.log_length, record.checkpoint_version,
            checkpoint ? checkpoint->next_page : first_page};
  }
  std::uint64_t first_message() const { return record.origin ? record.origin->log_length : 0; }
};

// Room for more, growing by doubling; nothing after it can fail.
template <class T>
void make_room(std::vector<T>& list, std::size_t more) {
  if (list.capacity() - list.size() < more)
    list.reserve(std::max(2 * list.size(), list.size() + more));
}

template <class T>
void move_behind(std::vector<T>& list, std::vector<T>& more) {
  for (T& item : more) list.push_back(std::move(item));
}

std::size_t size_of(const MessageRecord& message) { return message.body.size(); }
std::size_t size_of(const VersionRecord& version) {
  return version.arguments.size() + version.answer.size();
}

std::size_t size_of(const RequestRow& row) {
  return row.facts.size() + row.parts.size() + row.request.size() + row.answer.size();
}

std::size_t size_of(const WordsRow& row) { return row.bytes.size(); }

bool is_later(const RequestRow& row, const RequestRow* than) {
  return !than || std::pair(row.at_ms, row.number) > std::pair(than->at_ms, than->number);
}

std::vector<RemovalRecord> add_removal(std::vector<RemovalRecord> removals, RemovalRecord removal) {
  if (std::find(removals.begin(), removals.end(), removal) == removals.end())
    removals.push_back(std::move(removal));
  return removals;
}

class MemoryStore final : public Store {
 public:
  std::string name() const override { return "memory:"; }

  Result<ConversationRecord> create(const NewConversation& made,
                                    const CallOptions& options) override {
    if (auto error = bad_creation(made)) return *error;
    const auto lock = lock_to_write(options);
    if (!lock) return deadline_passed();
    if (conversations_.count(made.id) != 0 || is_purged(made.id)) return id_taken(made.id);
    Kept kept;
    kept.record.id = made.id;
    kept.record.settings = made.settings;
    kept.record.created_at_ms = kept.record.updated_at_ms = made.created_at_ms;
    kept.record.chain = made.chain;
    kept.record.origin = made.origin;
    kept.checkpoint = made.checkpoint;
    kept.record.checkpoint_version = made.checkpoint ? made.checkpoint->version : 0;
    for (const Page& page : made.pages) kept.pages.emplace(page.number, page);
    if (made.origin) {
      const auto origin = conversations_.find(made.origin->conversation);
      if (origin == conversations_.end()) return no_conversation(made.origin->conversation);
      if (auto error = refuse_fork(made, origin->second.record, origin->second.head().next_page))
        return *error;
      kept.record.version = made.origin->version;
      kept.record.log_length = made.origin->log_length;
    }
    ConversationRecord answer = kept.record;
    answer.next_page = kept.head().next_page;
    if (!made.origin) {
      conversations_.emplace(made.id, std::move(kept));
      return answer;
    }
    std::vector<std::string>& forks = conversations_.at(made.origin->conversation).record.forks;
    make_room(forks, 1);
    std::string name = made.id;
    conversations_.emplace(made.id, std::move(kept));
    forks.push_back(std::move(name));
    return answer;
  }

  Result<ConversationRecord> find(std::string_view id, const CallOptions& options) override {
    return read<ConversationRecord>(id, options,
                                    [](const Kept& kept) -> Result<ConversationRecord> {
                                      ConversationRecord record = kept.record;
                                      record.next_page = kept.head().next_page;
                                      std::sort(record.forks.begin(), record.forks.end());
                                      return record;
                                    });
  }

  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& options) override {
    if (auto error = bad_publishing(staged, id)) return error;
    const auto lock = lock_to_write(options);
    if (!lock) return deadline_passed();
    const auto found = conversations_.find(staged);
    if (found == conversations_.end()) return no_conversation(staged);
    if (conversations_.count(id) != 0 || is_purged(id)) return id_taken(id);
    std::string key(id), name(id);
    auto moved = conversations_.extract(found);
    moved.key() = std::move(key);
    moved.mapped().record.id = std::move(name);
    conversations_.insert(std::move(moved));
    return {};
  }

  Result<std::vector<ConversationRecord>> list(const ListOptions& options) override {
    if (auto error = bad_list(options)) return *error;
    const auto lock = lock_to_read(options.call);
    if (!lock) return deadline_passed();
    std::vector<ConversationRecord> records;
    for (auto it = conversations_.upper_bound(options.after);
         it != conversations_.end() && records.size() < options.limit; ++it) {
      if (it->first.starts_with('.') != options.staged) continue;
      records.push_back(it->second.record);
      records.back().next_page = it->second.head().next_page;
      records.back().forks.clear();
    }
    return records;
  }

  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    return read<std::vector<VersionRecord>>(
        id, options, [&](const Kept& kept) -> Result<std::vector<VersionRecord>> {
          return range(kept.versions, std::max(first, kept.record.first_version), end,
                       [](const VersionRecord& record) { return record.version; });
        });
  }

  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    return read<std::vector<MessageRecord>>(
        id, options, [&](const Kept& kept) -> Result<std::vector<MessageRecord>> {
          return range(kept.messages, first, end,
                       [](const MessageRecord& record) { return record.ordinal; });
        });
  }

  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& options) override {
    return read<std::vector<Page>>(id, options, [&](const Kept& kept) -> Result<std::vector<Page>> {
      std::vector<Page> pages;
      for (const std::uint64_t number : numbers) {
        const auto page = kept.pages.find(number);
        if (page == kept.pages.end()) return no_page(id, number);
        pages.push_back(page->second);
      }
      return pages;
    });
  }

  Result<std::optional<Checkpoint>> checkpoint(std::string_view id,
                                               const CallOptions& options) override {
    return read<std::optional<Checkpoint>>(
        id, options,
        [](const Kept& kept) -> Result<std::optional<Checkpoint>> { return kept.checkpoint; });
  }

  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& options) override {
    return read<std::optional<VersionRecord>>(
        id, options, [&](const Kept& kept) -> Result<std::optional<VersionRecord>> {
          const auto found = kept.operations.find(operation_id);
          if (found == kept.operations.end()) return std::optional<VersionRecord>();
          return std::optional(*version_at(kept.versions, found->second));
        });
  }

  Result<void> commit(const Commit& commit, const CallOptions& options) override {
    if (auto error = bad_commit(commit)) return error;
    return write(commit.conversation, options, [&](Kept& kept) -> std::optional<Error> {
      const StoredHead head = kept.head();
      if (auto error = refuse_commit(commit, head)) return error;
      if (commit.expected_settings && *commit.expected_settings != kept.record.settings)
        return other_settings(commit.conversation);
      std::map<std::string, std::uint64_t, std::less<>> operations;
      for (const VersionRecord& version : commit.versions) {
        if (version.operation_id.empty()) continue;
        if (kept.operations.count(version.operation_id) != 0)
          return operation_known(version.operation_id);
        operations.emplace(version.operation_id, version.version);
      }
      std::map<std::uint64_t, Page> pages;
      for (const Page& page : commit.pages) pages.emplace(page.number, page);
      std::vector<VersionRecord> versions = commit.versions;
      std::vector<MessageRecord> messages = commit.messages;
      if (auto error = put_same_bodies(kept, messages)) return error;
      if (auto error = refuse_words(commit, kept.first_message(), kept.record.log_length))
        return error;
      std::optional<Checkpoint> checkpoint = commit.checkpoint;
      std::optional<std::string> settings = commit.settings;
      std::vector<WordsRow> words = with_words(kept.words, commit.words);
      make_room(kept.versions, versions.size());
      make_room(kept.messages, messages.size());

      if (!versions.empty()) {
        const VersionRecord& last = versions.back();
        kept.record.version = last.version;
        kept.record.log_length = last.log_length;
        kept.record.updated_at_ms = last.at_ms;
        kept.record.chain = last.chain;
      }
      move_behind(kept.versions, versions);
      move_behind(kept.messages, messages);
      kept.words = std::move(words);
      kept.operations.merge(operations);
      kept.pages.merge(pages);
      if (checkpoint) {
        kept.record.checkpoint_version = checkpoint->version;
        kept.checkpoint = std::move(checkpoint);
      }
      if (settings) kept.record.settings = std::move(*settings);
      return std::nullopt;
    });
  }

  Result<void> put_request(const NewRequest& request, const CallOptions& options) override {
    if (auto error = bad_request(request)) return error;
    return write(request.conversation, options, [&](Kept& kept) -> std::optional<Error> {
      if (auto error = refuse_request(request, kept.last_request(), kept.head().next_page))
        return error;
      kept.requests.push_back(request.row);
      return std::nullopt;
    });
  }

  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes bytes,
                                           const CallOptions& options) override {
    return read<std::vector<RequestRow>>(
        id, options, [&](const Kept& kept) -> Result<std::vector<RequestRow>> {
          std::vector<RequestRow> rows =
              range(kept.requests, first, end, [](const RequestRow& row) { return row.number; });
          if (bytes == RequestBytes::without)
            for (RequestRow& row : rows) row.request = row.answer = {};
          return rows;
        });
  }

  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes bytes, const CallOptions& options) override {
    return read<std::vector<WordsRow>>(
        id, options, [&](const Kept& kept) -> Result<std::vector<WordsRow>> {
          std::vector<WordsRow> rows =
              range(kept.words, first, end, [](const WordsRow& row) { return row.first; });
          if (bytes == WordsBytes::without)
            for (WordsRow& row : rows) row.bytes.clear();
          return rows;
        });
  }

  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& options) override {
    return read<std::uint64_t>(
        id, options, [](const Kept& kept) -> Result<std::uint64_t> { return kept.last_request(); });
  }

  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& options) override {
    const auto lock = lock_to_read(options);
    if (!lock) return deadline_passed();
    std::vector<FoundRequest> found;
    for (const std::string& key : keys) {
      const RequestRow* newest = nullptr;
      std::string_view conversation;
      for (const auto& [id, kept] : conversations_) {
        if (id.starts_with('.')) continue;
        for (const RequestRow& row : kept.requests) {
          if (std::find(row.keys.begin(), row.keys.end(), key) == row.keys.end() ||
              !is_later(row, newest))
            continue;
          newest = &row;
          conversation = id;
        }
      }
      if (newest) found.push_back({key, std::string(conversation), newest->number});
    }
    return found;
  }

  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& options) override {
    if (auto error = bad_stubs(stubs)) return error;
    return write(id, options, [&](Kept& kept) -> std::optional<Error> {
      Result<std::vector<MessageRecord>> stored = stored_stubs(kept, stubs);
      if (!stored) return stored.error();
      std::vector<RemovalRecord> removals = removals_;
      for (const MessageRecord& stub : *stored)
        removals = add_removal(std::move(removals),
                               {kept.record.id, stub.ordinal, removal, *stub.redacted});
      removals_ = std::move(removals);
      put_stubs(kept, *stored);
      for (RequestRow& row : kept.requests) row.parts = row.request = row.answer = {};
      return std::nullopt;
    });
  }

  Result<void> purge(std::string_view id, const Removal& removal,
                     const PurgeOptions& options) override {
    if (auto error = bad_stored_id(id)) return error;
    const auto lock = lock_to_write(options.call);
    if (!lock) return deadline_passed();
    const auto found = conversations_.find(id);
    if (found == conversations_.end())
      return is_purged(id) ? std::nullopt : std::optional(no_conversation(id));
    const ConversationRecord& record = found->second.record;
    if (auto error = refuse_purge(id, record.version, !record.forks.empty(), options)) return error;
    if (!id.starts_with('.'))
      removals_ = add_removal(removals_, {record.id, std::nullopt, removal, record.chain});
    if (record.origin) {
      std::vector<std::string>& forks =
          conversations_.find(record.origin->conversation)->second.record.forks;
      forks.erase(std::find(forks.begin(), forks.end(), record.id));
    }
    conversations_.erase(found);
    return {};
  }

  Result<std::vector<RemovalRecord>> removals(std::string_view id,
                                              const CallOptions& options) override {
    if (auto error = bad_stored_id(id)) return *error;
    const auto lock = lock_to_read(options);
    if (!lock) return deadline_passed();
    if (conversations_.find(id) == conversations_.end() && !is_purged(id))
      return no_conversation(id);
    std::vector<RemovalRecord> found;
    for (const RemovalRecord& removal : removals_)
      if (removal.conversation == id) found.push_back(removal);
    return found;
  }

  Result<void> prune(const Prune& prune, const CallOptions& options) override {
    if (auto error = bad_prune(prune)) return error;
    return write(prune.conversation, options, [&](Kept& kept) -> std::optional<Error> {
      if (auto error = refuse_prune(prune, kept.head(), kept.record.first_version,
                                    pages_needed_by_forks(kept)))
        return error;
      Result<std::vector<MessageRecord>> stubs = stored_stubs(kept, prune.stubs);
      if (!stubs) return stubs.error();
      std::map<std::uint64_t, Page> pages;
      for (const Page& page : prune.pages) pages.emplace(page.number, page);
      Checkpoint checkpoint = prune.checkpoint;

      std::erase_if(kept.versions, [&](const VersionRecord& version) {
        return version.version < prune.first_version && version.operation_id.empty();
      });
      for (VersionRecord& version : kept.versions) {
        if (version.version > prune.first_version) break;
        version.operation.clear();
        version.arguments.clear();
      }
      for (const VersionRecord& given : prune.operations) {
        const auto at = std::lower_bound(
            kept.versions.begin(), kept.versions.end(), given.version,
            [](const VersionRecord& v, std::uint64_t version) { return v.version < version; });
        if (at == kept.versions.end() || at->version != given.version) continue;
        at->arguments = given.arguments;
        at->answer = given.answer;
      }
      put_stubs(kept, *stubs);
      put_requests(kept, prune);
      if (kept.record.origin) kept.record.origin->next_page = 1;
      kept.pages = std::move(pages);
      kept.record.first_version = std::max(kept.record.first_version, prune.first_version);
      kept.record.checkpoint_version = checkpoint.version;
      kept.checkpoint = std::move(checkpoint);
      return std::nullopt;
    });
  }

  Result<std::vector<Damage>> check(const CallOptions& options) override {
    if (auto error = too_late(options)) return *error;
    return std::vector<Damage>();
  }
  Result<void> compact(const CallOptions& options) override { return too_late(options); }
  Result<void> backup(const std::string&, const CallOptions&) override {
    return Error{ErrorCode::unsupported, "a store in memory has no backup"};
  }

 private:
  using Mutex = std::shared_timed_mutex;

  std::unique_lock<Mutex> lock_to_write(const CallOptions& options) {
    if (!options.deadline) return std::unique_lock(mutex_);
    if (too_late(options)) return {};
    return std::unique_lock(mutex_, *options.deadline);
  }
  std::shared_lock<Mutex> lock_to_read(const CallOptions& options) {
    if (!options.deadline) return std::shared_lock(mutex_);
    if (too_late(options)) return {};
    return std::shared_lock(mutex_, *options.deadline);
  }

  bool is_purged(std::string_view id) const {
    return std::any_of(removals_.begin(), removals_.end(),
                       [&](const RemovalRecord& r) { return !r.ordinal && r.conversation == id; });
  }

  // A copy has a body of its own here.
  static std::optional<Error> put_same_bodies(const Kept& kept,
                                              std::vector<MessageRecord>& messages) {
    for (MessageRecord& message : messages) {
      message.stored_in.reset();
      if (!message.same_as) continue;
      const std::uint64_t first_new = messages.front().ordinal;
      if (*message.same_as < kept.first_message())
        return no_message(kept.record.id, *message.same_as);
      message.body = *message.same_as < first_new
                         ? kept.messages[*message.same_as - kept.first_message()].body
                         : messages[*message.same_as - first_new].body;
      message.same_as.reset();
    }
    return std::nullopt;
  }

  // Pages below this number may be some fork's.
  std::uint64_t pages_needed_by_forks(const Kept& kept) const {
    std::uint64_t end = 0;
    for (const std::string& fork : kept.record.forks)
      end = std::max(end, conversations_.at(fork).record.origin->next_page);
    return end;
  }

  static const VersionRecord* version_at(const std::vector<VersionRecord>& versions,
                                         std::uint64_t version) {
    return &*std::lower_bound(
        versions.begin(), versions.end(), version,
        [](const VersionRecord& record, std::uint64_t sought) { return record.version < sought; });
  }

  template <class Record, class Number>
  static std::vector<Record> range(const std::vector<Record>& all, std::uint64_t first,
                                   std::uint64_t end, Number number) {
    std::vector<Record> found;
    std::size_t bytes = 0;
    auto it = std::lower_bound(
        all.begin(), all.end(), first,
        [&](const Record& record, std::uint64_t sought) { return number(record) < sought; });
    for (; it != all.end() && number(*it) < end && found.size() < answer_records_max; ++it) {
      bytes += size_of(*it);
      if (!found.empty() && bytes > answer_bytes_max) break;
      found.push_back(*it);
    }
    return found;
  }

  static Result<std::vector<MessageRecord>> stored_stubs(const Kept& kept,
                                                         const std::vector<MessageRecord>& stubs) {
    std::vector<MessageRecord> stored;
    for (const MessageRecord& stub : stubs) {
      if (stub.ordinal < kept.first_message() || stub.ordinal >= kept.record.log_length)
        return no_message(kept.record.id, stub.ordinal);
      Result<MessageRecord> made =
          stub_for(kept.messages[stub.ordinal - kept.first_message()], stub);
      if (!made) return made.error();
      stored.push_back(*std::move(made));
    }
    return stored;
  }
  static void put_stubs(Kept& kept, std::vector<MessageRecord>& stubs) {
    std::erase_if(kept.words, [&](const WordsRow& row) { return has_words_of(row, stubs); });
    for (MessageRecord& stub : stubs)
      kept.messages[stub.ordinal - kept.first_message()] = std::move(stub);
  }

  static bool has_words_of(const WordsRow& row, const std::vector<MessageRecord>& stubs) {
    return std::any_of(stubs.begin(), stubs.end(), [&](const MessageRecord& stub) {
      return stub.ordinal >= row.first && stub.ordinal < row.end;
    });
  }
  static std::vector<WordsRow> with_words(std::vector<WordsRow> rows,
                                          const std::vector<WordsRow>& added) {
    for (const WordsRow& row : added) {
      std::erase_if(
          rows, [&](const WordsRow& old) { return old.first >= row.first && old.end <= row.end; });
      rows.insert(std::upper_bound(rows.begin(), rows.end(), row.first,
                                   [](std::uint64_t first, const WordsRow& other) {
                                     return first < other.first;
                                   }),
                  row);
    }
    return rows;
  }

  // The newest row stays, whatever its version: the next one's number goes on from it.
  static void put_requests(Kept& kept, const Prune& prune) {
    const std::uint64_t last = kept.last_request();
    std::erase_if(kept.requests, [&](const RequestRow& row) {
      return row.version < prune.first_version && row.number != last;
    });
    for (const RequestRow& given : prune.requests)
      for (RequestRow& row : kept.requests)
        if (row.number == given.number) row.request = given.request, row.answer = given.answer;
  }

  template <class T, class Function>
  Result<T> read(std::string_view id, const CallOptions& options, Function function) {
    if (auto error = bad_stored_id(id)) return *error;
    const auto lock = lock_to_read(options);
    if (!lock) return deadline_passed();
    const auto found = conversations_.find(id);
    if (found == conversations_.end()) return no_conversation(id);
    return function(found->second);
  }

  template <class Function>
  std::optional<Error> write(std::string_view id, const CallOptions& options, Function function) {
    if (auto error = bad_stored_id(id)) return error;
    const auto lock = lock_to_write(options);
    if (!lock) return deadline_passed();
    const auto found = conversations_.find(id);
    if (found == conversations_.end()) return no_conversation(id);
    return function(found->second);
  }

  Mutex mutex_;  // guards what follows
  std::map<std::string, Kept, std::less<>> conversations_;
  std::vector<RemovalRecord> removals_;
};

}  // namespace

std::shared_ptr<Store> memory_store() { return std::make_shared<MemoryStore>(); }

}  // namespace undertext
