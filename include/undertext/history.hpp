// A conversation as a value: its log, all its versions, and a head.
//
//     History h0;
//     History h1 = h0.apply(Operation{op::Append{{hello}}}, context).value().history;
//     h1.view().size();        // 1
//     h0.view().size();        // still 0
//
// A History is a small handle on immutable, structurally shared data: copying is O(1), apply()
// returns a new value and leaves the old one as it was, and any thread may read any copy at any
// time. The result of apply() depends on its arguments only.
// A History of a stored conversation reads from the store on demand: every function may then throw
// Failure with unavailable or corrupt. An operation that names k messages costs O(k log n); a
// filter by text costs O(n).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>
#include <undertext/query.hpp>
#include <undertext/view.hpp>
#include <undertext/work.hpp>

namespace undertext {

// What apply() needs besides the operation.
struct ApplyContext {
  // becomes the version's time, and the arrival of messages
  std::int64_t now_ms = 0;
  std::function<std::uint32_t(const Message&)> count_tokens = {};  // unset: every message counts 0
  Pairs pairs = Pairs::literal;                                    // for operations that do not say
  // for messages that an operation makes
  MessageLimits limits = {};
  // null: without limits. What it throws is an error of apply()
  std::shared_ptr<Work> work = {};
};

// A message that lost its partner in the view by the operation.
struct Warning {
  enum class Code : std::uint8_t {
    tool_call_without_result,
    tool_result_without_call,
    reasoning_without_call
  };
  Code code = Code::tool_call_without_result;
  Ordinal ordinal;
  std::string tool_call_id;  // empty for reasoning_without_call
  friend bool operator==(const Warning&, const Warning&) = default;
};
UNDERTEXT_API std::string_view name(Warning::Code code);

// What a RECONCILE found: how the client's list differs from the one before.
struct Reconciliation {
  ReconcileOutcome outcome = ReconcileOutcome::same;
  std::uint64_t common = 0;  // messages in both lists
  std::uint64_t added = 0;   // only in the new one; some of them may have been stored before
  std::uint64_t removed = 0;
  friend bool operator==(const Reconciliation&, const Reconciliation&) = default;
};

// What an operation did.
struct Applied {
  std::string operation;  // its canonical name
  Version version;        // the one it made
  BatchIndex affected_batch_index;
  Stats stats;
  std::vector<Warning> warnings;  // in view order
  bool opened_batch = false;
  std::optional<Reconciliation> reconciliation = {};  // of a RECONCILE
};

struct Step;

class UNDERTEXT_API History {
 public:
  // The empty conversation: version 0, batch 0.
  explicit History(std::int64_t created_at_ms = 0);

  // The history with one more version, or an error. `conflict`: options.expected_version is not the
  // head.
  // A RECONCILE that finds nothing new makes no version: the history is then the same.
  Result<Step> apply(const Operation& operation, const ApplyContext& context) const;

  // The same history with every message recounted, as by another tokenizer. Costs a count of every
  // message of the log.
  History recounted(const std::function<std::uint32_t(const Message&)>& count_tokens) const;
  // The same for messages whose body was redacted or pruned since it was counted; all others keep
  // their count.
  History recounted_where_replaced(
      const std::function<std::uint32_t(const Message&)>& count_tokens) const;

  // The same history, whose readers check `work` before each message. What it throws is the error
  // of functions that return a Result; other functions throw it. apply() uses the `work` of its
  // context instead.
  History limited(std::shared_ptr<Work> work) const;

  // A history that starts at `version`; it shares all messages with this one. not_found: no such
  // version.
  Result<History> fork(Version version) const;

  Version version() const;        // the head
  Version first_version() const;  // 0, or the oldest one left by Conversation::prune_versions
  Stats stats() const;
  View view() const;
  View log() const;
  Result<View> view_at(Version version) const;  // not_found
  // the snapshot, or the view for the current batch; not_found
  Result<View> view_at(BatchIndex batch) const;

  Result<MessageList> messages(const MessageQuery& query) const;
  Result<MessageCount> count(const MessageQuery& query) const;
  // messages of the view at or after the current batch's boundary
  MessageList uncompressed() const;
  std::vector<std::uint64_t> marked(std::string_view mark) const;  // ordinals, rising

  // by text; O(k log n) for k marks that were ever used
  std::vector<std::string> marks_of(Ordinal ordinal) const;

  MarkMap mark_map() const;
  std::vector<BatchInfo> batches() const;
  // nothing for the current batch or an unknown one
  std::optional<BatchSnapshot> batch_snapshot(BatchIndex batch) const;
  // from first_version() to version()
  VersionInfo version_info(Version version) const;
  // one entry a version, the first one first
  std::vector<VersionInfo> versions() const;
  // not_found; O(log n) for each stretch that differs
  Result<Diff> diff(Version from, Version to) const;
  // not_found; O(log n) for each version but APPENDs
  Result<Blame> blame(Ordinal ordinal) const;

  // One for every COMPRESS that hid something, and for every RECONCILE in which the client
  // compacted its list; the oldest first.
  // O(versions + what they hid).
  std::vector<Receipt> receipts() const;
  // nothing when that version was made by something else
  std::optional<Receipt> receipt(Version version) const;

  // The messages that this one stands for, in view order: the originals of a summary, or of a
  // message that REPLACE, MERGE, SPLIT or TRANSFORM made.
  std::vector<Ordinal> stands_for(Ordinal ordinal) const;

  // The list that a client sent last (op::Reconcile), in order; empty when the conversation follows
  // no client. UNDO, ROLLBACK and RESTORE do not change it.
  std::vector<Ordinal> client_list() const;

  struct Rep;  // internal
  explicit History(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  const Rep& rep() const { return *rep_; }

 private:
  std::shared_ptr<const Rep> rep_;
};

struct Step {
  History history;
  Applied applied;
};

}  // namespace undertext
