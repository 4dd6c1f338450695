// What ties a conversation to a store: it loads histories, keeps them up with what others commit,
// and commits what this one adds.
//
//     open        checkpoint  ->  a history that reads pages when looked at  ->  + the few operations since, carried out again
//     commit      the operations and messages beyond the version known to be stored; every so often a checkpoint with them
//
// Belongs to whose turn it is. What goes wrong in the store is thrown as Failure, but for commits,
// where it is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

#include "base/answering_failure.hpp"
#include "engine/lineage.hpp"
#include "engine/stored_reading.hpp"
#include "engine/tries.hpp"
#include "history/derived.hpp"
#include "recall/index.hpp"

namespace undertext {

class Durable {
 public:
  using Outcomes = std::unordered_map<std::string, Outcome>;  // by operation id

  // invalid_argument: the id. not_found, conflict: as OpenOptions::make says.
  static Result<std::unique_ptr<Durable>> open(std::shared_ptr<Store> store, std::string_view id,
                                               std::string_view tokenizer,
                                               const OpenOptions& options, std::int64_t now_ms);

  const std::string& id() const { return id_; }                   // on any thread
  const std::shared_ptr<Store>& store() const { return store_; }  // likewise
  bool rebases_appends() const { return rebase_appends_; }
  const std::string& tokenizer() const { return tokenizer_; }  // that all stored counts are by
  static std::string note_of(const ConversationRecord& record);
  static std::string tokenizer_of(const ConversationRecord& record);
  static std::string maker_of(const ConversationRecord& record);

  UsageTracker usage() const;                   // as it is known to be stored
  std::optional<UsageTracker> news_of_usage();  // since this was asked for last
  // Changes what is stored, and returns it. On any thread, whosever turn it is. conflict: others
  // are quicker every time.
  Result<UsageTracker> change_usage(const std::function<Result<void>(UsageTracker&)>& change) const;

  History load();
  enum class News : std::uint8_t {
    none,
    // or nothing but that a history which has read more than the cache may hold was loaded anew
    versions,
    rewritten,  // somebody else wrote pages or settings: what was there before may have changed
  };
  News catch_up(History& history);

  // more than the cache may hold, and a checkpoint to read it from again
  bool has_read_too_much() const;

  std::optional<Outcome> answered(std::string_view operation_id);

  // Stores what `history` has beyond what is stored. On success it may be another one, equal, that
  // holds less in memory.
  std::optional<Error> commit(History& history, const Outcomes& answers);
  std::optional<Error> checkpoint(History& history);
  // After every count was made anew by another tokenizer.
  std::optional<Error> recounted(History& history, std::string_view tokenizer);

  std::optional<Error> fork(const History& start, std::string_view id, std::string_view made_by);
  // A fork of this conversation, or of what it was forked from, to read it.
  struct OpenedFork {
    Conversation conversation;
    Origin origin;
  };
  // not_found: there is none, or it is none
  Result<OpenedFork> open_fork(const std::string& id, const Settings& settings) const;
  Result<Conversation> open_another(std::string_view id, const Settings& settings) const;
  // the same, counted by its own tokenizer
  Result<Conversation> open_counted(const std::string& id, Settings settings) const;
  const std::string& owner_of_message(std::uint64_t ordinal) const {
    return lineage_.of_message(ordinal).id;
  }
  const std::string& owner_of_version(std::uint64_t version) const {
    return lineage_.of_version(version).id;
  }
  std::optional<Origin> origin_of(const std::string& id) const {
    return store_->find(id).value().origin;
  }
  std::vector<std::string> forks_of(const std::string& id) const {
    return store_->find(id).value().forks;
  }
  // Messages by the conversation whose records they are. Where some could not be redacted, others
  // may have been.
  using OwnedMessages = std::map<std::string, std::vector<std::uint64_t>>;
  std::optional<Error> redact(const OwnedMessages& ordinals, const Removal& removal);
  Result<void> empty_requests_of(const std::string& id, const Removal& removal);
  // The records of its own versions whose operation or answer has such texts, without them.
  std::vector<VersionRecord> redacted_records(const QuotingOperations& operations,
                                              const QuotableTexts& texts);
  // Rewrites all pages, without the texts of these operations. conflict: there are forks that need
  // the old pages.
  std::optional<Error> redact(History& history, const QuotingOperations& operations,
                              const QuotableTexts& texts);
  std::optional<Error> check(const History& history) const;  // throws what is wrong

  // of the index: its own, and those of what it was forked from; on any thread
  std::vector<WordsRow> words() const;

  // Rows of requests. The first two on any thread.
  std::vector<RequestRow> requests(std::uint64_t first, std::uint64_t end,
                                   RequestBytes bytes) const;
  std::uint64_t last_request() const;
  // conflict: another one came first, or pages were written
  Result<void> put_request(RequestRow row) const;
  void empty_requests() const;                                          // of all texts
  bool has_redacted(const std::vector<std::uint64_t>& ordinals) const;  // any of these
  Result<Reclaimed> prune(History& history, std::uint32_t first, std::int64_t now_ms);

 private:
  Durable(std::shared_ptr<Store> store, ConversationRecord record, Lineage lineage,
          const OpenOptions& options);

  void replay_to(History& history, std::uint64_t version);
  std::vector<VersionRecord> versions(std::uint64_t first, std::uint64_t end);
  std::vector<MessageRecord> messages(std::uint64_t first, std::uint64_t end);
  // The messages from here on that operations took from forks, and where they are stored.
  std::map<std::uint64_t, StoredElsewhere> taken_from_forks(const History& history) const;
  std::optional<std::uint64_t> same_body(const Log& log, std::uint32_t ordinal,
                                         const Message& body) const;
  // Those whose texts refer to what goes, packed again.
  std::vector<RequestRow> requests_without(const History& history, std::uint32_t first_version,
                                           const std::vector<bool>& goes);
  Commit new_records(const History& history, const Outcomes& answers) const;
  // The row of the index that is due with this commit, if any.
  void add_words(Commit& commit, const History& history);
  std::optional<Segment> merged_with_stored(std::uint64_t first, const Segment& last) const;
  bool is_checkpoint_due(const Commit& commit, const History& history) const;
  std::optional<Error> store_with_checkpoint(Commit commit, History& history);
  void stored(const Commit& commit);
  History history_on(const Checkpoint& checkpoint);
  // Everything that `history` has, as pages: the checkpoint and the pages of `prune`.
  void rewrite_pages(const History& history, Prune& prune) const;

  const std::shared_ptr<Store> store_;
  const std::string id_;
  ConversationRecord record_;  // as it is known to be stored
  Lineage lineage_;
  const std::uint64_t cache_bytes_;
  const bool rebase_appends_;
  const std::uint64_t checkpoint_versions_;
  std::string tokenizer_;
  const std::uint16_t space_id_;
  std::uint64_t next_page_ = 1;
  std::shared_ptr<StoredPages> pages_;
  std::shared_ptr<StoredBodies> bodies_;
  std::uint64_t bytes_added_ = 0;     // to the history in memory since it was loaded
  std::uint64_t checkpoint_log_ = 0;  // the log's length at the last checkpoint
  // its own rows of the index as far as is known, without their bytes
  std::vector<WordsRow> words_rows_;
  bool has_read_words_ = false;  // they were read
  std::string usage_told_;       // the settings of which news_of_usage() has spoken
};

}  // namespace undertext
