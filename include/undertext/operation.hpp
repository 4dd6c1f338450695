// The operations: every way to change a conversation, as plain values. The table in
// docs/operations.md gives their meaning.
//
//     Operation append{op::Append{{hello}}};
//     Operation trim{op::Truncate{.keep_last = 20}, {.description = "make room"}};
//
// An Operation is data; History::apply and Conversation::apply execute it atomically.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <undertext/change.hpp>
#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/identity.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/query.hpp>

namespace undertext {

class History;

// The messages that an operation refers to: by index in the view, or by ordinal. Without repeats.
struct Names {
  enum class By : std::uint8_t { index, ordinal };
  By by = By::index;
  std::vector<std::uint64_t> numbers;

  static Names indices(std::vector<std::uint64_t> numbers) {
    return {By::index, std::move(numbers)};
  }
  static Names ordinals(std::vector<std::uint64_t> numbers) {
    return {By::ordinal, std::move(numbers)};
  }
};

// What TRUNCATE, FILTER and DELETE do to the rest of a unit they would break: a call, its results,
// the reasoning it follows from.
enum class Pairs : std::uint8_t {
  literal,  // nothing; a Warning reports the broken unit
  shrink,   // hides the rest too
  grow,     // keeps the whole unit
};

// Half open: start <= index < end.
struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// The state of a conversation in the form of document 004; see History::mark_map and
// op::ImportMarkMap.
struct MarkMap {
  std::vector<std::uint64_t> original_indices;               // ordinals in view order
  std::vector<std::uint64_t> type_indices[role_count] = {};  // the same per role
  std::vector<std::uint64_t> batch_boundaries;
  std::vector<std::uint64_t> boundary_to_batch;
  std::uint64_t current_batch = 0;
};

// Messages of a view to hide, and the summary that replaces them, at the index of the first.
struct Replacement {
  // ranges of the view, rising, not adjacent; at least one message; with a summary, one range
  std::vector<Range> hidden;
  std::optional<Message> summary = {};  // unset: they are only hidden
};

// What a compression strategy proposes (compression.hpp). It has no effect until it is applied.
struct Plan {
  Version base;                           // the version whose view the ranges refer to
  std::vector<Replacement> replacements;  // none overlaps another; empty: there is nothing to do
  std::string strategy = {};
  std::string summariser = {};  // empty: no summary was made
  std::string model = {};       // that the summariser asked
  std::string reason = {};      // why, for people
  std::uint64_t tokens_before = 0;
  std::uint64_t tokens_after = 0;
  std::uint64_t prompt_tokens = 0;  // what the summary cost, as its provider reported
  std::uint64_t completion_tokens = 0;
  std::optional<std::uint64_t> target_tokens = {};  // unset: there was no target
};

// What a RECONCILE found.
enum class ReconcileOutcome : std::uint8_t {
  same,       // nothing new: no version was made
  appended,   // messages at the end, and no other change
  edited,     // messages were dropped, changed, inserted or restored
  compacted,  // the client replaced some by its own summary
};

// What a MERGE_FORK takes from a fork.
enum class MergeMode : std::uint8_t {
  // one message that says what the fork achieved; EXPAND replaces it by the fork's messages
  summary,
  messages,  // the fork's own messages, as its view shows them
  pick,      // selected messages of the fork's own
};

// A message of the client list.
struct ClientListEntry {
  std::uint64_t ordinal = 0;
  Identity identity = {};
};
// `entries` replace the range [start, end) of the client list.
struct ClientListEdit {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::vector<ClientListEntry> entries = {};
};

namespace op {

struct Append {
  std::vector<Message> messages;
};
struct Insert {
  std::uint64_t position = 0;
  std::vector<Message> messages;
};
struct Replace {  // hides the named messages; `messages` (one or more) take the index of the first
  Names names;
  std::vector<Message> messages;
};
struct Truncate {  // at least one of the counts or the range
  std::optional<std::uint64_t> keep_first = {};
  std::optional<std::uint64_t> keep_last = {};
  std::optional<std::uint64_t> remove_first = {};
  std::optional<std::uint64_t> remove_last = {};
  std::optional<Range> range = {};
  std::optional<Role> role = {};
  std::optional<Pairs> pairs = {};  // unset: as the conversation is set
};
struct Clear {
  bool keep_system_message = true;
};
struct Filter {  // at least one list that is not empty
  std::vector<Role> roles = {};
  std::vector<std::string> content_contains = {};
  std::vector<std::string> content_excludes = {};
  std::optional<Pairs> pairs = {};
};
struct Delete {
  Names names;
  std::optional<Pairs> pairs = {};
};
struct Compress {
  Names names;
  std::optional<Message> summary = {};
};
// COMPRESS by a strategy. conflict: the head is not plan.base. invalid_argument: it would break a
// unit
struct ApplyPlan {
  Plan plan;
};
// The same with a plan that is made during apply(), from the history of that moment. `plan` is
// called once; the plan is recorded.
struct CompressBy {
  std::function<Result<Plan>(const History&)> plan;
};
// What a MERGE_FORK appended, and where it came from. Made by History::apply from a MergeFork.
struct MergedFork {
  std::string from;                // the fork's id
  std::uint64_t fork_version = 0;  // its head at the time
  MergeMode mode = MergeMode::summary;
  std::vector<std::uint64_t> ordinals = {};  // of `messages` in the fork's log; of a summary none
  std::vector<Message> messages = {};
};
// Appends what a fork of this conversation achieved. not_found: no such fork, or it stored nothing
// of its own.
struct MergeFork {
  std::string from;
  MergeMode mode = MergeMode::summary;
  std::vector<std::uint64_t> ordinals = {};  // of MergeMode::pick: in the fork's log
  // of MergeMode::summary; unset: the fork's last answer, quoted
  std::optional<Message> summary = {};
  // Called once during apply(), with the history of that moment. A stored Conversation sets it
  // where it is empty; without it the operation is `unsupported`.
  std::function<Result<MergedFork>(const History&)> find = {};
};
// EXPAND of the summary of a fork: the fork's messages replace it, and stand for it. Made by
// History::apply from an Expand.
struct ExpandFork {
  std::uint64_t index = 0;
  std::string from;
  std::uint64_t fork_version = 0;
  std::vector<std::uint64_t> ordinals = {};  // of `messages` in the fork's log
  std::vector<Message> messages = {};
};
// Replaces a message by those it stands for: a summary, or a message that REPLACE, MERGE, SPLIT or
// TRANSFORM made.
struct Expand {
  std::uint64_t index = 0;
  // Of the summary of a fork: reads the fork's messages. As MergeFork::find.
  std::function<Result<ExpandFork>(const MergedFork&)> find = {};
};
struct Show {  // returns hidden messages to the view, with the rest of their units
  std::vector<std::uint64_t> ordinals;
};
struct Merge {
  std::vector<std::uint64_t> indices;
  std::string separator = "\n";
};
struct Split {
  std::uint64_t index = 0;
  std::vector<std::uint64_t> at;
};

using undertext::ReplaceText;
using undertext::SetMetadata;
using undertext::TruncateText;
// Called once for each message during apply(); must not change the conversation. Not recorded.
using TransformFunction = std::function<Result<Message>(const Message&)>;

struct Transform {
  std::variant<Names, std::vector<Role>> which;
  std::variant<ReplaceText, TruncateText, SetMetadata, TransformFunction> change;
};
struct StartBatch {
  std::optional<std::uint64_t> boundary = {};  // unset: the length of the log
  bool hide_prior = false;
};
struct EndBatch {
  std::uint64_t target_batch = 0;
  std::vector<Role> carry = {};
};
struct Rollback {
  std::uint64_t target_batch_index = 0;
};
struct Mark {
  Names names;
  std::string mark;
};
struct Unmark {
  Names names;
  std::string mark;
};
struct Undo {};
struct Redo {};
struct Restore {
  std::uint64_t version = 0;
};
// The whole list of a client that keeps its own, in order. The conversation follows it;
// docs/clients.md has the rules.
// read_client_request (client.hpp) makes it from a request. Only the differences are recorded:
// Reconciled.
struct Reconcile {
  struct Sent {
    Message message;
    Identity identity;  // made with `volatile_parts`
    // the client compacted its list: this stands for what it dropped before it
    bool is_summary = false;
    // Refers to a message of the conversation instead: by its ordinal, or by the id of a provider's
    // item. If there is no such item, `message` is used.
    std::optional<std::uint64_t> ordinal = {};
    std::string item = {};
  };
  std::vector<Sent> list;
  std::string client = {};   // the profile's name
  std::string dialect = {};  // that the request was in; empty: the engine's own
  VolatileParts volatile_parts = VolatileParts::common();
  bool is_delta = false;  // has only new messages: they are appended to the client list
  // A digest of the answer that a delta goes on with. Deltas that go on with different answers are
  // different requests, whatever they say. 0: unknown.
  std::uint64_t reference = 0;
  bool takes_view = false;  // the client loaded the view, and its list replaces the view
};
// How a request differs from the one before. Made by History::apply from a Reconcile.
struct Reconciled {
  // A new message that stands for others: it replaces them, or is the client's summary of them.
  struct Made {
    std::uint64_t message = 0;  // which of the new ones
    std::vector<std::uint64_t> stands_for = {};
    bool is_summary = false;
  };
  // A message of the log that turns out to be the client's summary of others: its provider's answer
  // was one.
  struct Summary {
    std::uint64_t ordinal = 0;
    std::vector<std::uint64_t> stands_for = {};  // messages before it
  };
  ReconcileOutcome outcome = ReconcileOutcome::appended;
  std::vector<Message> messages = {};  // the new ones
  // For each message: the ordinal before which it stands in the log's order, plus 1; 0: at the end.
  // Empty: all at the end.
  std::vector<std::uint64_t> fronts = {};
  std::vector<Made> made = {};
  std::vector<Range> hidden = {};         // ranges of the view that leave it
  std::vector<std::uint64_t> shown = {};  // ordinals that return to it
  std::vector<ClientListEdit> list = {};
  std::string client = {};
  std::string dialect = {};
  // of the identities, where they are made otherwise than those before; else 0
  std::uint64_t volatile_key = 0;
  // answers since the last request, and results of tools, that this request leaves out
  std::vector<ClientListEntry> left_out = {};
  std::vector<Summary> summaries = {};
  // of the newest delta that had one
  std::uint64_t reference = 0;
};
// The message that a RECALL appended, and what it quotes. Made by History::apply from a Recall.
struct Recalled {
  std::string text;
  std::uint64_t budget_tokens = 0;
  std::vector<std::uint64_t> quoted = {};  // ordinals, in the order in which they are quoted
  std::vector<Message> messages = {};      // one, which is marked `recalled`
};
// Appends a user message that quotes what a search finds: see recall.hpp. not_found: nothing.
struct Recall {
  std::string text;
  std::uint64_t budget_tokens = 4000;
  MessageQuery which = {};
  // Called once during apply(), with the history of that moment. Conversation sets it where it is
  // empty; History has no index, and returns `unsupported`.
  std::function<Result<Recalled>(const History&)> find = {};
};
// replaces the view and the stack of batches by those of the map, which is checked first
struct ImportMarkMap {
  MarkMap map;
};

}  // namespace op

struct OperationOptions {
  std::optional<Version> expected_version = {};  // conflict when the head differs
  std::string description = {};
  // for Conversation: repeating an id returns the first outcome and changes nothing
  std::string operation_id = {};
};

struct Operation {
  using What =
      std::variant<op::Append, op::Insert, op::Replace, op::Truncate, op::Clear, op::Filter,
                   op::Delete, op::Compress, op::ApplyPlan, op::CompressBy, op::Expand, op::Show,
                   op::Merge, op::Split, op::Transform, op::StartBatch, op::EndBatch, op::Rollback,
                   op::Mark, op::Unmark, op::Undo, op::Redo, op::Restore, op::ImportMarkMap,
                   op::Reconcile, op::Reconciled, op::Recall, op::Recalled, op::MergeFork,
                   op::MergedFork, op::ExpandFork>;
  What what;
  OperationOptions options = {};
};

// An applied operation: all that replaying it takes, besides the messages it stored.
struct RecordedOperation {
  Operation operation;
  // The ranges of the view that stayed; of a FILTER by text, and where `pairs` changed the
  // selection.
  std::optional<std::vector<Range>> kept = {};
  std::uint8_t tag = 0;  // the stored format and semantics it was recorded with; 0: the current one
};

// The canonical name, such as "START_BATCH".
UNDERTEXT_API std::string_view name(const Operation& operation);

UNDERTEXT_API std::string_view name(ReconcileOutcome outcome);  // "same", …
UNDERTEXT_API std::string_view name(MergeMode mode);            // "summary", …

// The mark that protects a message from TRUNCATE, CLEAR, FILTER and every compression strategy.
inline constexpr std::string_view pinned_mark = "pinned";
// The mark of the message that RECALL appends. Strategies hide messages with this mark first.
inline constexpr std::string_view recalled_mark = "recalled";

}  // namespace undertext
