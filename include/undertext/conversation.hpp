// A conversation that a program keeps: one current History, changed by operations, watched by subscribers.
//
//     Conversation conversation;
//     conversation.apply({op::Append{{hello}}}).value();
//     conversation.messages({.roles = {Role::user}, .last = 3});
//     conversation.apply({op::Rollback{0}});
//     Conversation lasting = Conversation::open(open_store("sqlite:agent.db").value(), "support-17").value();
//
// A conversation may keep itself small: see Settings::compression. What it then does is an operation like any other.
//
// Safe for any number of threads: writers take turns, readers never wait for a writer's work; history() gives a reader a value that
// stays as it is. Subscribers are called on the writer's thread, after the change is visible, in order, without a lock held on
// readers; they may read the conversation, and must not
// change it (invalid_argument) or throw. Other writers wait meanwhile: two conversations whose subscribers change each other may wait for each other for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/ledger.hpp>
#include <undertext/operation.hpp>
#include <undertext/query.hpp>
#include <undertext/recall.hpp>
#include <undertext/request_record.hpp>
#include <undertext/store.hpp>
#include <undertext/tokenizer.hpp>
#include <undertext/usage.hpp>

namespace undertext {

struct Event {
  enum class Type : std::uint8_t {
    message_added,                   // ordinal
    batch_opened,                    // batch
    rolled_back,                     // batch: the one returned to
    context_changed,                 // after every operation, the last of what it did itself; what it set off comes behind
    token_limit_exceeded,            // tokens_used, token_limit; once per crossing
    compression_threshold_exceeded,  // tokens_used, token_limit: the threshold; once per crossing
    compressed,                      // by itself: strategy, tokens_used before and tokens_after, target_reached; `version` made it
    compression_failed,              // strategy, error: nothing was changed
    compression_discarded,           // strategy, error: what a slow summary stands for was changed meanwhile; nothing was done
    rewritten,  // what is stored was rewritten: messages may have been redacted, versions pruned, or all recounted by
                // another tokenizer, here or in another process. Invalidate caches
  };
  Type type = Type::context_changed;
  Version version;
  Ordinal ordinal = {};
  BatchIndex batch = {};
  std::uint64_t tokens_used = 0;
  std::uint64_t token_limit = 0;
  std::uint64_t tokens_after = 0;
  std::string strategy = {};
  std::shared_ptr<const Error> error = {};
  std::optional<bool> target_reached =
      {};  // of compressed: false where more could not be freed; unset in answers of older releases
};
UNDERTEXT_API std::string_view name(Event::Type type);  // such as "TOKEN_LIMIT_EXCEEDED"

struct Limits {
  MessageLimits message = {};
};

// When a conversation compresses itself: after an operation that leaves it with more than `threshold` tokens. A strategy that waits for a
// network works in the background, on the version of that moment, and keeps what is appended meanwhile; where that is too much again, it
// goes on with it. A plan that falls short of the target is applied if it frees a sixteenth of the threshold (Event::target_reached); else the event is
// compression_failed with cannot_fit. After a try that fell short, or was undone, the next one comes when the view has grown by a sixteenth of the
// threshold, or has shrunk.
struct CompressionConfig {
  bool enabled = false;
  std::uint64_t threshold = 0;                      // 0: Settings::token_limit
  std::optional<std::uint64_t> target_tokens = {};  // what to come down to; unset: three quarters of the threshold
  StrategyPtr strategy = {};                        // unset: default_strategy()
  // Leaves room for so many more turns at the rate at which the conversation grew of late: the target is then lower than the one above, though
  // never below a quarter of the threshold. A turn is a message of an assistant with what led to it.
  std::uint64_t headroom_turns = 0;
  SurvivalPolicy survival = {};  // of every compression of the conversation
};

using Summarisers = std::map<std::string, std::shared_ptr<const Summariser>, std::less<>>;
using Strategies = std::map<std::string, StrategyPtr, std::less<>>;

struct Settings {
  // The model that the conversation is for: what the four settings below leave empty follows from it (models.hpp). An unknown one is no error.
  std::string model = {};
  // Any name that find_tokenizer() knows, and "+COSTS" behind it if need be; empty: the model's, or what a stored conversation is counted by, or the estimate.
  std::string tokenizer = {};
  std::string costs = {};                    // of what is no text: a name of docs/tokens.md
  std::string profile = {};                  // of requests, as find_profile() takes it
  std::optional<std::uint64_t> window = {};  // of budgets that name none
  std::optional<std::uint64_t> token_limit = {};
  CompressionConfig compression = {};
  Summarisers summarisers = {};  // by name, for strategies that come in as JSON; "digest" is always there
  Strategies strategies = {};    // likewise, beside the shipped ones, whose names they do not take
  Rerank rerank = {};            // of recall; unset: words alone decide
  Pairs pairs = Pairs::literal;
  Limits limits = {};
  std::string project = {};                     // what the conversation belongs to, such as a folder: `undertext mcp` looks for it
  bool context_tools = false;                   // the model has them (context_tools.hpp): summaries and stubs name them
  std::function<std::int64_t()> clock_ms = {};  // milliseconds since 1970; unset: the system's clock
};

// How a stored conversation is opened.
struct OpenOptions {
  enum class Make : std::uint8_t {
    if_missing,
    never,   // not_found when there is none
    always,  // conflict when there is one
  };
  Make make = Make::if_missing;
  // About what it keeps in memory, besides what histories in use hold on to. What reading has brought in beyond that goes with the next
  // operation or catch_up().
  std::uint64_t cache_bytes = 64u << 20;
  // An APPEND that does not say which version it expects, and comes second, goes on from what came first.
  bool rebase_appends = true;
  // A checkpoint after so many versions. What follows the last one is carried out again when opening.
  std::uint64_t checkpoint_versions = 512;
  // Kept with the conversation for the next one who opens it, such as the settings of a server; unset: as it is.
  std::optional<std::string> note = {};
  // Of a conversation that is put together under a staged id (store.hpp): the id that Store::publish() will give it.
  std::string publish_as = {};
  // Of one that is made: whose it is, such as a digest of the request that asked for it; see stored_maker().
  std::string made_by = {};
};

// Which versions to keep: those that any of these asks for. The head, and what it can roll back to, are always kept.
struct Retention {
  std::optional<std::uint64_t> versions = {};  // the last so many
  std::optional<std::uint64_t> batches = {};   // those since the last so many batches of the stack were opened
  std::optional<std::uint64_t> days = {};      // those of so many days up to now
};

struct Reclaimed {
  Version first_version;       // the oldest that is left
  std::uint64_t versions = 0;  // pruned
  std::uint64_t messages = 0;  // whose bodies no kept version needs: deleted, stubs left
};

struct RedactOptions {
  bool derived = false;  // what was made from the messages, too
};

// What redact() found and did.
struct Redaction {
  struct Derived {
    std::string conversation;
    Ordinal ordinal;
    bool is_summary = false;  // else an edited copy: of REPLACE, MERGE, SPLIT or TRANSFORM
    friend bool operator==(const Derived&, const Derived&) = default;
  };
  struct Quoting {
    std::string conversation;
    Version version;
    friend bool operator==(const Quoting&, const Quoting&) = default;
  };
  std::uint64_t messages = 0;  // that were redacted
  std::vector<Derived>
      derived;  // what was made from those asked for, here and in forks; not redacted unless RedactOptions::derived
  std::vector<Quoting> operations;  // whose descriptions or arguments quote them; likewise
};

// What an operation did, and what a caller should know of besides: a limit that was crossed, a compression that followed, or one that ended in
// the background since the last operation.
struct Outcome : Applied {
  std::vector<Event> events;
  bool by_strategy = false;             // a COMPRESS whose messages a strategy chose
  std::optional<Receipt> receipt = {};  // of that; unset: the view was within the aim already
};

// A version as it was made, here or elsewhere: the operation that was carried out, when, and the messages it stored.
struct PastVersion {
  // With its description and operation id. Its own messages and expected version are ignored.
  RecordedOperation record;
  std::int64_t at_ms = 0;
  std::vector<Message> messages = {};
};

struct CompressOptions {
  // Unset: a strategy that needs a target (Strategy::needs_tokens_max) gets the same one as automatic compression, also where that is not enabled:
  // CompressionConfig::target_tokens, else three quarters of its threshold. Others do what they do without a target.
  std::optional<std::uint64_t> tokens_max = {};
  bool progress = false;  // a plan that falls short of the target is applied too, if it frees something: Receipt::target_reached
  std::optional<SurvivalPolicy> survival = {};  // unset: the conversation's
  OperationOptions operation = {};
  std::stop_token cancel = {};
  std::shared_ptr<Work> work = {};         // null: without limits
  OnCompressionProgress on_progress = {};  // on the calling thread; an exception from it fails the call, which changes nothing
};

// Ends the subscription when destroyed; waits for a call to it that is under way on another thread. May outlive the conversation.
class UNDERTEXT_API Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&&) = default;
  Subscription& operator=(Subscription&&) = default;
  explicit Subscription(std::shared_ptr<void> token) : token_(std::move(token)) {}

 private:
  std::shared_ptr<void> token_;
};

class UNDERTEXT_API Conversation {
 public:
  Conversation();
  static Result<Conversation> open(Settings settings);  // invalid_argument; not_found: no such tokenizer, or its vocabulary

  // A conversation that lasts. Operations are on disk when apply() returns, and begin with the newest version that anyone committed; another
  // writer coming first is a conflict (but see OpenOptions::rebase_appends), after which this conversation is up to date. Bodies and old versions
  // are read when they are looked at, so all that reads may throw Failure, or answer unavailable or corrupt where it answers a Result. Counted by another
  // tokenizer than before, all is recounted and stored; where another process did that, this conversation counts as it does from then on. Errors: as
  // open() and Store.
  static Result<Conversation> open(std::shared_ptr<Store> store, std::string_view id, Settings settings = {},
                                   const OpenOptions& options = {});
  // The note that was kept with a stored conversation, and the tokenizer that it was counted by: to open it as it is.
  static Result<std::string> stored_note(Store& store, std::string_view id);
  static Result<std::string> stored_tokenizer(Store& store, std::string_view id);
  // What was given as made_by when it was made, which stays with it; empty: nothing was. Forks and exports do not take it along.
  static Result<std::string> stored_maker(Store& store, std::string_view id);

  // One operation, or a list as one atomic step: all or nothing, each making its version. An empty list is invalid_argument;
  // an error of a list carries operation_index.
  // With `work`, also what that throws, as an error: too_large, unavailable.
  Result<Outcome> apply(Operation operation, std::shared_ptr<Work> work = {});
  Result<std::vector<Outcome>> apply(std::vector<Operation> operations, std::shared_ptr<Work> work = {});

  // Carries out what was carried out before, at its times and with the messages stored then, as one atomic step: how a conversation is taken over with
  // its history. No limit is watched, and nothing is compressed. corrupt: it cannot have been so. conflict: a known operation id.
  Result<std::vector<Outcome>> replay(const std::vector<PastVersion>& versions);

  // COMPRESS by a strategy. A slow one plans on the head as it is now, while others read and write; what they append meanwhile stays. Any other plans
  // on the newest version, while other writers wait. A view within the target already makes a version like the last.
  // Nothing has changed when this fails. cannot_fit: the target cannot be reached; with CompressOptions::progress, nothing can be freed. conflict:
  // something that a slow plan hides was changed meanwhile. invalid_argument: the strategy needs a target and there is none; or it, or its
  // summariser, threw an exception. A thrown Failure keeps its code. A summariser that fails otherwise is followed by the next one
  // (SmartSummary::fallbacks).
  Result<Outcome> compress(const Strategy& strategy, const CompressOptions& options = {});
  // The same as an operation of a list, planned on what the operations before it made; of the options, `tokens_max` and `progress`. unsupported: the
  // strategy is slow, and others would wait for it.
  Result<op::CompressBy> compress_by(StrategyPtr strategy, const CompressOptions& options = {}) const;

  // Whether the view is within a budget, and what would make it so. Changes nothing.
  Result<Fit> fit(const Budget& budget, const Strategy& strategy) const;
  Aim aim(std::optional<std::uint64_t> tokens_max = {}) const;  // for plans of one's own

  void wait_for_compression() const;  // until none is under way in the background; not from a subscriber, where it returns at once
  void cancel_compression();          // what was not committed yet is not

  // Recounts every message with another tokenizer, lazily: on the next read or change. settings() still tells the first one. Costs stay
  // the model's, where there is one. not_found: as open().
  Result<void> set_tokenizer(std::string_view name);
  std::shared_ptr<const Tokenizer> tokenizer() const;
  // The name of tokenizer and costs, such as "gpt-4o" or "estimate+anthropic": what count_tools() takes.
  std::string counting() const;

  // What providers report, beside what is counted here; see usage.hpp. Reports of one request replace each other until it is finished. Where
  // estimated_prompt is 0, the tokens of the view at the first report are taken, so report before the answer is appended.
  Result<void> update_usage(const RequestUsage& usage);
  Result<void> finish_usage(std::string_view request_id);
  Result<void> record_usage(const RequestUsage& usage);  // both in one, for requests that are reported once
  // All that was reported so far becomes this: what was kept elsewhere, or nothing (UsageTracker()).
  Result<void> set_usage(const UsageTracker& usage);
  UsageTracker usage() const;

  // Requests of clients, beside the versions: see request_record.hpp. A fork begins with none. Returns the record's number.
  // An empty text is not kept; nor is any while the client's list has a redacted message, since the client still sends its text.
  // invalid_argument: the version is none of this conversation's, or a key is too long. Costs time linear in the request.
  Result<std::uint64_t> record_request(RequestRecord record, std::string_view raw_request = {}, std::string_view raw_answer = {});
  // With `work` (null: without limits), all that reads requests also fails with what that throws: unavailable.
  Result<std::vector<RequestRecord>> requests(const RequestQuery& query = {},
                                              const std::shared_ptr<Work>& work = {}) const;  // rising
  // The bytes as they were recorded. not_found: no such record, or it has none, and why. corrupt: they cannot be rebuilt.
  Result<std::string> raw_request(std::uint64_t number, const std::shared_ptr<Work>& work = {}) const;
  Result<std::string> raw_answer(std::uint64_t number, const std::shared_ptr<Work>& work = {}) const;
  // Where a recorded request stops being equal to an earlier one, as the provider's cache sees them: cache_break.hpp. Without `against`: the
  // last one before it of its dialect that goes on with the same list. unknown: there is none, or a text was not kept. not_found: no such record.
  struct Compared {
    std::uint64_t against = 0;  // 0: none
    CacheBreak at = {};
  };
  Result<Compared> cache_break(std::uint64_t number, std::optional<std::uint64_t> against = {},
                               const std::shared_ptr<Work>& work = {}) const;
  // What the recorded requests cost: see ledger.hpp. The newest findings have the first byte that differs. Reads the texts of these alone.
  Result<Ledger> ledger(const LedgerQuery& query = {}, const std::shared_ptr<Work>& work = {}) const;
  // What they would have cost under a policy of docs/gateway.md. Changes nothing, and calls no model. invalid_argument: it is no policy.
  Result<WhatIf> what_if(std::string_view policy, const WhatIfOptions& options = {}, const std::shared_ptr<Work>& work = {}) const;
  // What render() puts in place of stored volatile parts: those of the newest request; nothing in their place, where that was in another dialect.
  // Unset: no request is recorded.
  Result<std::optional<VolatileNow>> volatile_now(Dialect dialect) const;

  History history() const;  // O(1); reads everything, at any version
  const Settings& settings() const;

  Version version() const { return history().version(); }
  View view() const { return history().view(); }
  Stats stats() const { return history().stats(); }
  Result<MessageList> messages(const MessageQuery& query = {}) const;
  Result<MessageCount> count(const MessageQuery& query = {}) const;
  // Full-text search: see recall.hpp. The first one reads the index of a stored conversation, and makes
  // that of one in memory. With `history`: one of this conversation's, instead of the head.
  Result<Recalled> recall(const RecallQuery& query) const;
  Result<Recalled> recall(const RecallQuery& query, const History& history) const;

  // Another conversation that goes on from `version`, sharing all messages. Nothing done to one shows in the other. In memory only, even if this
  // one is stored.
  Result<Conversation> fork(Version version) const;
  // The same to see what operations would do: one that starts nothing in the background, which asks no model.
  Result<Conversation> trial(Version version) const;

  // Of a stored conversation (else unsupported):
  const std::string& id() const;  // empty: it is in memory
  Result<void> catch_up();        // with what others committed
  // Stored, under a name of its own; conflict: it is taken. made_by: as OpenOptions.
  Result<Conversation> fork(Version version, std::string_view id, std::string_view made_by = {});
  Result<void> checkpoint();  // so that opening has nothing to replay
  // Reads every page, and every request that was recorded, and checks that it can be: what check_store() does not. corrupt: one cannot.
  Result<void> check();
  // Deletes the bodies of messages permanently, in this conversation, its forks and what it was forked from; a stub with who, when, why and the
  // body's digest stays in their place. Returns what else may have their text: the summaries and edited copies that stand for them, and operations whose
  // texts quote them (eight bytes in a row). With `derived` these are redacted, too. Marks, ids and names stay.
  Result<Redaction> redact(const std::vector<Ordinal>& ordinals, const Removal& removal, const RedactOptions& options = {});
  Result<Redaction> find_derived(const std::vector<Ordinal>& ordinals);  // the same, with nothing redacted
  // Deletes old versions, and the bodies of messages that only they need. unsupported: while there are forks.
  Result<Reclaimed> prune_versions(const Retention& retention);

  [[nodiscard]] Subscription subscribe(std::function<void(const Event&)> receive);

  // What was moved from may only be assigned or destroyed. Destruction cancels a compression under way and waits for it to end.
  Conversation(Conversation&&) noexcept;
  Conversation& operator=(Conversation&&) noexcept;
  ~Conversation();

 private:
  Result<void> count_anew();
  Result<Conversation> fork_with(Settings settings, Version version) const;
  friend class RedactionOfFamily;

  struct Rep;
  explicit Conversation(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
