// The current History of a conversation, changed by operations and watched by subscribers; in
// memory, or in a store.
//
//     Conversation conversation;
//     conversation.apply({op::Append{{hello}}}).value();
//     conversation.messages({.roles = {Role::user}, .last = 3});
//     conversation.apply({op::Rollback{0}});
//     Conversation stored = Conversation::open(open_store("sqlite:agent.db").value(), "support-17").value();
//
// Settings::compression makes a conversation compress itself. Each such compression is an ordinary
// operation.
//
// Threads: all functions may be called from any thread. Writers take turns. Readers never wait for
// a writer's work, and history() returns a value that does not change.
// Subscribers are called in order on the writer's thread, after the change is visible, without a
// lock that readers need. They may read the conversation. They must not change it
// (invalid_argument) or throw. Other writers wait meanwhile, so two conversations whose subscribers
// change each other can deadlock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/ledger.hpp>
#include <undertext/operation.hpp>
#include <undertext/outcome.hpp>
#include <undertext/query.hpp>
#include <undertext/recall.hpp>
#include <undertext/request_record.hpp>
#include <undertext/settings.hpp>
#include <undertext/store.hpp>
#include <undertext/tokenizer.hpp>
#include <undertext/usage.hpp>

namespace undertext {

class Subscription;

class UNDERTEXT_API Conversation {
 public:
  // In memory.
  Conversation();
  // invalid_argument; not_found: no such tokenizer, or its vocabulary
  static Result<Conversation> open(Settings settings);

  // Stored: operations are durable when apply() returns.
  // Each operation starts from the newest version that any process committed. A concurrent commit
  // of another writer is a conflict, unless OpenOptions::rebase_appends applies; the conversation
  // is up to date afterwards.
  // Bodies and old versions are read on demand. So functions that return a Result may return
  // unavailable or corrupt, and other readers may throw Failure with these codes.
  // Opening with another tokenizer recounts all messages and stores the counts; processes that have
  // the conversation open then use the new tokenizer too. Errors: as open() and Store.
  static Result<Conversation> open(std::shared_ptr<Store> store, std::string_view id,
                                   Settings settings = {}, const OpenOptions& options = {});
  // The OpenOptions::note of a stored conversation, and its tokenizer: for opening it as it is.
  static Result<std::string> stored_note(Store& store, std::string_view id);
  static Result<std::string> stored_tokenizer(Store& store, std::string_view id);
  // The OpenOptions::made_by of a stored conversation; empty: none. Forks and exports do not copy
  // it.
  static Result<std::string> stored_maker(Store& store, std::string_view id);

  // Applies one operation, or a list as one atomic step: all or nothing, each operation making its
  // version.
  // invalid_argument: an empty list. An error of a list has operation_index.
  // With `work`, also what that throws, as an error: too_large, unavailable.
  Result<Outcome> apply(Operation operation, std::shared_ptr<Work> work = {});
  Result<std::vector<Outcome>> apply(std::vector<Operation> operations,
                                     std::shared_ptr<Work> work = {});

  // Replays recorded operations as one atomic step, with their times and the messages stored then:
  // imports a conversation with its history. Checks no limit and compresses nothing. corrupt: the
  // records contradict each other. conflict: a known operation id.
  Result<std::vector<Outcome>> replay(const std::vector<PastVersion>& versions);

  // COMPRESS by a strategy. A slow strategy plans on the current head while other threads read and
  // write; messages appended meanwhile stay. Any other strategy plans on the newest version while
  // other writers wait.
  // A view that is within the target already makes a version like the last. An error leaves the
  // conversation unchanged.
  // cannot_fit: the target cannot be reached; with CompressOptions::progress, nothing can be freed.
  // conflict: something that a slow plan hides was changed meanwhile.
  // invalid_argument: the strategy needs a target and there is none; or it, or its summariser,
  // threw an exception. A thrown Failure keeps its code. A summariser that fails otherwise is
  // followed by the next one (SmartSummary::fallbacks).
  Result<Outcome> compress(const Strategy& strategy, const CompressOptions& options = {});
  // The same as an operation of a list, planned on the result of the operations before it. Uses
  // only `tokens_max` and `progress` of the options. unsupported: the strategy is slow, and other
  // writers would wait for it.
  Result<op::CompressBy> compress_by(StrategyPtr strategy,
                                     const CompressOptions& options = {}) const;

  // Whether the view is within a budget, and the plan that would bring it there. Changes nothing.
  Result<Fit> fit(const Budget& budget, const Strategy& strategy) const;
  // for calling Strategy::plan directly
  Aim aim(std::optional<std::uint64_t> tokens_max = {}) const;

  // until none runs in the background; from a subscriber it returns at once
  void wait_for_compression() const;
  void cancel_compression();  // drops a background compression that has not committed yet

  // Recounts every message with another tokenizer, lazily: on the next read or change. settings()
  // still returns the first name.
  // The costs stay the model's, where there is one. not_found: as open().
  Result<void> set_tokenizer(std::string_view name);
  std::shared_ptr<const Tokenizer> tokenizer() const;
  // The name of tokenizer and costs, such as "gpt-4o" or "estimate+anthropic": what count_tools()
  // takes.
  std::string counting() const;

  // Usage as providers report it, beside the conversation's own counts; see usage.hpp. Reports of
  // one request replace each other until it is finished. Where estimated_prompt is 0, the tokens of
  // the view at the first report are used: report before appending the answer.
  Result<void> update_usage(const RequestUsage& usage);
  Result<void> finish_usage(std::string_view request_id);
  // both in one, for requests that are reported once
  Result<void> record_usage(const RequestUsage& usage);
  // Replaces all that was reported so far: restores a saved tracker, or resets with UsageTracker().
  Result<void> set_usage(const UsageTracker& usage);
  UsageTracker usage() const;

  // Records a client's request, beside the versions: see request_record.hpp. A fork starts without
  // records. Returns the number.
  // An empty text is not kept. No text is kept while the client's list has a redacted message: the
  // client still sends its text.
  // invalid_argument: the version is none of this conversation's, or a key is too long. Time linear
  // in the request.
  Result<std::uint64_t> record_request(RequestRecord record, std::string_view raw_request = {},
                                       std::string_view raw_answer = {});
  // With `work` (null: without limits), all that reads requests also fails with what that throws:
  // unavailable.
  Result<std::vector<RequestRecord>> requests(const RequestQuery& query = {},
                                              // rising
                                              const std::shared_ptr<Work>& work = {}) const;
  // The bytes as recorded. not_found: no such record, or no text, with the reason. corrupt: they
  // cannot be rebuilt.
  Result<std::string> raw_request(std::uint64_t number,
                                  const std::shared_ptr<Work>& work = {}) const;
  Result<std::string> raw_answer(std::uint64_t number,
                                 const std::shared_ptr<Work>& work = {}) const;
  // Where a recorded request stops being equal to an earlier one, as the provider's cache sees
  // them: cache_break.hpp.
  // Default for `against`: the last earlier record of the same dialect whose list this request
  // continues.
  // CacheBreak::Kind::unknown: there is none, or a text was not kept. not_found: no such record.
  struct Compared {
    std::uint64_t against = 0;  // 0: none
    CacheBreak at = {};
  };
  Result<Compared> cache_break(std::uint64_t number, std::optional<std::uint64_t> against = {},
                               const std::shared_ptr<Work>& work = {}) const;
  // What the recorded requests cost: see ledger.hpp. The newest findings have the first byte that
  // differs; only their texts are read.
  Result<Ledger> ledger(const LedgerQuery& query = {},
                        const std::shared_ptr<Work>& work = {}) const;
  // What the recorded requests would have cost under a policy of docs/gateway.md. Changes nothing,
  // and calls no model.
  // invalid_argument: it is no policy.
  Result<WhatIf> what_if(std::string_view policy, const WhatIfOptions& options = {},
                         const std::shared_ptr<Work>& work = {}) const;
  // What render() puts in place of stored volatile parts: those of the newest request; nothing,
  // where that was in another dialect.
  // Unset: no request is recorded.
  Result<std::optional<VolatileNow>> volatile_now(Dialect dialect) const;

  History history() const;  // O(1); reads everything, at any version
  const Settings& settings() const;

  Version version() const { return history().version(); }
  View view() const { return history().view(); }
  Stats stats() const { return history().stats(); }
  Result<MessageList> messages(const MessageQuery& query = {}) const;
  Result<MessageCount> count(const MessageQuery& query = {}) const;
  // Full-text search: see recall.hpp. The first search loads the index of a stored conversation, or
  // builds that of one in memory.
  // `history`: a history of this conversation to search instead of the head.
  Result<Recalled> recall(const RecallQuery& query) const;
  Result<Recalled> recall(const RecallQuery& query, const History& history) const;

  // A conversation that starts at `version` and shares all messages. Changes of one are invisible
  // in the other. In memory only, even if this one is stored.
  Result<Conversation> fork(Version version) const;
  // The same for trying operations: without background compressions, so it asks no model.
  Result<Conversation> trial(Version version) const;

  // For stored conversations (else unsupported):
  const std::string& id() const;  // empty: it is in memory
  Result<void> catch_up();        // loads remote commits
  // A stored fork with its own id. conflict: the id is taken. made_by: as OpenOptions.
  Result<Conversation> fork(Version version, std::string_view id, std::string_view made_by = {});
  Result<void> checkpoint();  // so that opening has nothing to replay
  // Reads and checks every page and every recorded request, which check_store() does not. corrupt:
  // one is damaged.
  Result<void> check();
  // Deletes the bodies of messages permanently, in this conversation, its forks and what it was
  // forked from. A stub stays in their place, with who, when, why and the body's digest. Marks, ids
  // and names stay.
  // Returns what else may contain the text: summaries and edited copies that stand for the
  // messages, and operations that quote them (eight bytes in a row). RedactOptions::derived redacts
  // these too.
  Result<Redaction> redact(const std::vector<Ordinal>& ordinals, const Removal& removal,
                           const RedactOptions& options = {});
  // what redact() would return; redacts nothing
  Result<Redaction> find_derived(const std::vector<Ordinal>& ordinals);
  // Deletes old versions, and the bodies of messages that only they need. unsupported: while there
  // are forks.
  Result<Reclaimed> prune_versions(const Retention& retention);

  [[nodiscard]] Subscription subscribe(std::function<void(const Event&)> receive);

  // A moved-from conversation may only be assigned or destroyed. Destruction cancels a running
  // compression and waits for it.
  Conversation(Conversation&&) noexcept;
  Conversation& operator=(Conversation&&) noexcept;
  ~Conversation();

 private:
  Result<void> recount();
  Result<Conversation> fork_with(Settings settings, Version version) const;
  friend class RedactionOfFamily;

  struct Rep;
  explicit Conversation(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// Ends the subscription when destroyed. Waits for a call to the subscriber that is running on
// another thread. May outlive the conversation.
class UNDERTEXT_API Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&&) = default;
  Subscription& operator=(Subscription&&) = default;
  explicit Subscription(std::shared_ptr<void> token) : token_(std::move(token)) {}

 private:
  std::shared_ptr<void> token_;
};

}  // namespace undertext
