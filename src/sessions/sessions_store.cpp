#include "sessions/sessions_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>

#include <undertext/conversation.hpp>

#include "base/answering_failure.hpp"
#include "base/json_text.hpp"
#include "base/text_hash.hpp"
#include "sessions/opencode.hpp"
#include "sessions/search.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

class FollowingStore final : public SessionsStore {
 public:
  std::string name() const override { return "sessions of this machine"; }

  void replace(const std::vector<IndexedSession>& sessions) override {
    const std::lock_guard lock(lock_);
    for (auto& [id, followed] : sessions_) followed->is_there = false;
    for (const IndexedSession& session : sessions) {
      std::shared_ptr<Followed>& followed = sessions_[session.id];
      if (!followed) followed = std::make_shared<Followed>();
      if (followed->is_there) continue;  // a second file of the same name
      followed->session = session;
      followed->is_there = true;
    }
  }

  std::optional<IndexedSession> session(std::string_view id) const override {
    const std::lock_guard lock(lock_);
    const auto at = sessions_.find(id);
    if (at == sessions_.end() || !at->second->is_there) return {};
    return at->second->session;
  }

  std::vector<Hit> search_unread(std::string_view text, std::size_t limit) const override {
    std::vector<IndexedSession> unread;
    {
      const std::lock_guard lock(lock_);
      for (const auto& [id, followed] : sessions_)
        if (followed->is_there && !followed->is_read) unread.push_back(followed->session);
    }
    std::vector<Hit> hits;
    for (const SessionHit& hit : search_sessions(unread, text, limit))
      hits.push_back({hit.session->id, hit.excerpt});
    return hits;
  }

  Result<ConversationRecord> find(std::string_view id, const CallOptions& o) override {
    if (std::optional<Error> error = follow(id)) return std::move(*error);
    return inner_->find(id, o);
  }

  // With those that nobody has asked for yet, and without those that are gone.
  Result<std::vector<ConversationRecord>> list(const ListOptions& options) override {
    if (options.staged) return inner_->list(options);
    std::map<std::string, ConversationRecord> found;
    std::set<std::string, std::less<>> gone;
    {
      const std::lock_guard lock(lock_);
      for (auto at = sessions_.upper_bound(options.after); at != sessions_.end(); ++at) {
        const Followed& followed = *at->second;
        if (!followed.is_there) gone.insert(at->first);
        if (followed.is_there && !followed.is_read && found.size() < options.limit)
          found.emplace(at->first, record_of(followed.session));
      }
    }
    for (ListOptions more = options;;) {
      Result<std::vector<ConversationRecord>> some = inner_->list(more);
      if (!some) return some;
      const bool is_last = some->size() < more.limit;
      if (!some->empty()) more.after = some->back().id;
      for (ConversationRecord& record : *some)
        if (!gone.contains(record.id)) found.insert_or_assign(record.id, std::move(record));
      // What is unread may stand behind conversations that are still to come.
      if (is_last) break;
      if (found.size() >= options.limit &&
          std::next(found.begin(), static_cast<std::ptrdiff_t>(options.limit) - 1)->first <=
              more.after)
        break;
    }
    std::vector<ConversationRecord> records;
    for (auto& [id, record] : found)
      if (records.size() < options.limit) records.push_back(std::move(record));
    return records;
  }

  Result<ConversationRecord> create(const NewConversation& made, const CallOptions& o) override {
    if (made.origin)
      if (std::optional<Error> error = follow(made.origin->conversation)) return std::move(*error);
    return inner_->create(made, o);
  }
  Result<void> commit(const Commit& commit, const CallOptions& o) override {
    return inner_->commit(commit, o);
  }
  Result<void> put_request(const NewRequest& request, const CallOptions& o) override {
    return inner_->put_request(request, o);
  }
  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& o) override {
    return inner_->redact(id, stubs, removal, o);
  }
  Result<void> purge(std::string_view id, const Removal& removal, const PurgeOptions& o) override {
    return inner_->purge(id, removal, o);
  }
  Result<void> prune(const Prune& prune, const CallOptions& o) override {
    return inner_->prune(prune, o);
  }
  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& o) override {
    return inner_->publish(staged, id, o);
  }
  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return nothing_unread(id, [&] { return inner_->versions(id, first, end, o); });
  }
  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return nothing_unread(id, [&] { return inner_->messages(id, first, end, o); });
  }
  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& o) override {
    return inner_->pages(id, numbers, o);
  }
  Result<std::optional<Checkpoint>> checkpoint(std::string_view id, const CallOptions& o) override {
    return nothing_unread(id, [&] { return inner_->checkpoint(id, o); });
  }
  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& o) override {
    return nothing_unread(id, [&] { return inner_->find_operation(id, operation_id, o); });
  }
  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes bytes,
                                           const CallOptions& o) override {
    return nothing_unread(id, [&] { return inner_->requests(id, first, end, bytes, o); });
  }
  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& o) override {
    return nothing_unread(id, [&] { return inner_->last_request(id, o); });
  }
  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& o) override {
    return inner_->find_requests(keys, o);
  }
  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes bytes, const CallOptions& o) override {
    return nothing_unread(id, [&] { return inner_->words(id, first, end, bytes, o); });
  }
  Result<std::vector<RemovalRecord>> removals(std::string_view id, const CallOptions& o) override {
    return inner_->removals(id, o);
  }
  Result<std::vector<Damage>> check(const CallOptions& o) override { return inner_->check(o); }
  Result<void> compact(const CallOptions& o) override { return inner_->compact(o); }
  Result<void> backup(const std::string& path, const CallOptions& o) override {
    return inner_->backup(path, o);
  }

 private:
  struct Followed {
    IndexedSession session;  // guarded by lock_, as the next two
    bool is_there = false;   // its file is
    bool is_read = false;    // the inner store has it

    // one thread reads the file; guards what follows. lock_ may be taken with it
    std::mutex reading;
    FileStatus status;  // when it was read
    std::uint64_t offset = 0, digest = 0;
    std::uint64_t stamp = 0;      // opencode_stamp()
    std::size_t compactions = 0;  // that the conversation has seen
    // Goes on where reading ended. Made when a file has grown: most never do, and their messages
    // are in memory once.
    std::unique_ptr<TranscriptReader> reader;
  };

  // What is stored of a session that was not read is nothing.
  template <class Read>
  auto nothing_unread(std::string_view id, Read read) -> decltype(read()) {
    {
      const std::lock_guard lock(lock_);
      const auto at = sessions_.find(id);
      using Rows = std::remove_cvref_t<decltype(*read())>;
      if (at != sessions_.end() && at->second->is_there && !at->second->is_read) return Rows{};
    }
    return read();
  }

  static ConversationRecord record_of(const IndexedSession& session) {
    ConversationRecord record;
    record.id = session.id;
    record.log_length = session.info.messages;
    record.created_at_ms = session.info.began_at_ms;
    record.updated_at_ms = session.info.last_at_ms;
    return record;
  }

  // Reads the session where it was not, or is another since.
  std::optional<Error> follow(std::string_view id) {
    std::shared_ptr<Followed> followed;
    IndexedSession session;
    {
      const std::lock_guard lock(lock_);
      const auto at = sessions_.find(id);
      if (at == sessions_.end()) return {};
      if (!at->second->is_there) return gone(id);
      followed = at->second;
      session = followed->session;
    }
    const std::lock_guard reading(followed->reading);
    if (session.file.format == TranscriptFormat::opencode)
      return follow_opencode(*followed, session);
    const OpenFile file = open_file(session.file.path, OpenFor::reading_itself);
    const std::optional<FileStatus> status = file ? status_of(file.descriptor()) : std::nullopt;
    if (!status) return unreadable(id, errno, followed->status.inode != 0);
    if (!is_changed(followed->status, *status)) return {};
    return answering_failure([&] {
      std::optional<Error> error = read(*followed, session, file, *status);
      if (error) return error;
      const std::lock_guard lock(lock_);
      followed->is_read = true;
      return error;
    });
  }

  // Rows and files that change in their places are read whole, where they may have changed.
  std::optional<Error> follow_opencode(Followed& followed, const IndexedSession& session) {
    const std::uint64_t stamp = opencode_stamp(session.file);
    if (stamp == 0)
      return unreadable(session.id, status_of(session.file.path) ? ENOENT : errno,
                        followed.stamp != 0);
    if (stamp == followed.stamp) return {};
    return answering_failure([&]() -> std::optional<Error> {
      const std::optional<std::string> lines = opencode_lines(session.file, OpencodeParts::all);
      const bool was_read = followed.stamp != 0;
      if (!lines && was_read) return {};
      if (!lines)
        return Error{ErrorCode::unavailable,
                     "the session " + session.id + " is being written: retry later",
                     "conversation"};
      if (lines->empty()) return gone(session.id);
      const std::uint64_t digest = text_hash(*lines);
      if (!was_read || digest != followed.digest) {
        TranscriptReader reader(session.file.format);
        if (std::optional<Error> error = reader.read(*lines)) return error;
        const ImportedTranscript transcript = reader.transcript();
        const std::size_t known =
            transcript.compactions.size() < followed.compactions ? 0 : followed.compactions;
        if (std::optional<Error> error = apply(session, transcript, known)) return error;
        followed.compactions = transcript.compactions.size();
      }
      followed.stamp = stamp;
      followed.digest = digest;
      const std::lock_guard lock(lock_);
      followed.is_read = true;
      return {};
    });
  }

  // What was read before is shown while its file cannot be.
  static std::optional<Error> unreadable(std::string_view id, int error, bool was_read) {
    if (means_gone(error)) return gone(id);
    if (was_read) return {};
    return Error{ErrorCode::unavailable,
                 "the session " + std::string(id) + ": " + std::strerror(error), "conversation"};
  }

  static Error gone(std::string_view id) {
    return {ErrorCode::not_found, "the session " + std::string(id) + " is gone", "conversation"};
  }

  static bool is_changed(const FileStatus& before, const FileStatus& now) {
    return before.inode != now.inode || before.size_bytes != now.size_bytes ||
           before.written_ns != now.written_ns;
  }

  std::optional<Error> read(Followed& followed, const IndexedSession& session, const OpenFile& file,
                            const FileStatus& status) {
    const bool was_read = followed.status.inode != 0;
    const bool has_grown = was_read && followed.status.inode == status.inode &&
                           status.size_bytes > followed.status.size_bytes &&
                           session_digest(file.descriptor(), followed.offset) == followed.digest;
    std::unique_ptr<TranscriptReader> reader = has_grown ? std::move(followed.reader) : nullptr;
    std::uint64_t offset = reader ? followed.offset : 0;
    if (!reader) reader = std::make_unique<TranscriptReader>(session.file.format);
    std::string text = read_from(file.descriptor(), offset, status.size_bytes - offset);
    text.resize(text.rfind('\n') + 1);  // a line that is being written is left for the next time
    if (std::optional<Error> error = reader->read(text)) return error;
    offset += text.size();
    const ImportedTranscript transcript = reader->transcript();
    // A session that was rewritten with fewer lists than before is followed from its first one.
    const std::size_t known =
        transcript.compactions.size() < followed.compactions ? 0 : followed.compactions;
    if (std::optional<Error> error = apply(session, transcript, known)) return error;
    followed.status = status;
    followed.offset = offset;
    followed.digest = session_digest(file.descriptor(), offset);
    followed.compactions = transcript.compactions.size();
    if (was_read) followed.reader = std::move(reader);
    return {};
  }

  std::optional<Error> apply(const IndexedSession& session, const ImportedTranscript& transcript,
                             std::size_t known_compactions) {
    const SessionInfo& info = session.info;
    Settings settings;
    settings.model = info.model;
    settings.project = info.project;
    std::string note = R"({"model":)";
    append_json_string(note, info.model);
    append_json_string(note += R"(,"project":)", info.project);
    Conversation conversation =
        Conversation::open(inner_, session.id, settings, {.note = note + "}"}).value();
    if (transcript.messages.empty()) return {};
    for (const Operation& operation : following_operations(transcript, known_compactions))
      if (Result<Outcome> outcome = conversation.apply(operation); !outcome) return outcome.error();
    return {};
  }

  const std::shared_ptr<Store> inner_ = memory_store();
  mutable std::mutex lock_;
  std::map<std::string, std::shared_ptr<Followed>, std::less<>> sessions_;  // guarded by lock_
};

}  // namespace

std::shared_ptr<SessionsStore> sessions_store(const std::vector<IndexedSession>& sessions) {
  auto store = std::make_shared<FollowingStore>();
  store->replace(sessions);
  return store;
}

}  // namespace undertext
