// The operations: every way to change a conversation, as plain values. The table in docs/operations.md gives their meaning.
//
//     Operation append{op::Append{{hello}}};
//     Operation trim{op::Truncate{.keep_last = 20}, {.description = "make room"}};
//
// An Operation is data; History::apply and Conversation::apply carry it out, wholly or not at all.
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

// Which messages an operation means: positions in the view, or places in the log. Without repeats.
struct Names {
  enum class By : std::uint8_t { index, ordinal };
  By by = By::index;
  std::vector<std::uint64_t> numbers;

  static Names indices(std::vector<std::uint64_t> numbers) { return {By::index, std::move(numbers)}; }
  static Names ordinals(std::vector<std::uint64_t> numbers) { return {By::ordinal, std::move(numbers)}; }
};

// What TRUNCATE, FILTER and DELETE do to the rest of a unit they would break: a call, its results, the reasoning it follows from.
enum class Pairs : std::uint8_t {
  literal,  // nothing: exactly what was asked for is done, and a warning tells
  shrink,   // it goes too
  grow,     // both stay
};

// Half open: start <= index < end.
struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// The state of a conversation in the form of document 004; see History::mark_map and op::ImportMarkMap.
struct MarkMap {
  std::vector<std::uint64_t> original_indices;               // ordinals in view order
  std::vector<std::uint64_t> type_indices[role_count] = {};  // the same per role
  std::vector<std::uint64_t> batch_boundaries;
  std::vector<std::uint64_t> boundary_to_batch;
  std::uint64_t current_batch = 0;
};

// What stands for some messages of a view: they are hidden, and `summary` takes the place of the first.
struct Replacement {
  std::vector<Range> hidden;  // stretches of the view, rising, not touching; at least one message; with a summary, one stretch
  std::optional<Message> summary = {};  // unset: nothing takes their place
};

// What a compression strategy proposes (compression.hpp). Nothing happens until it is applied.
struct Plan {
  Version base;                           // the version whose view the stretches are of
  std::vector<Replacement> replacements;  // none overlaps another; empty: there is nothing to do
  std::string strategy = {};
  std::string summariser = {};  // empty: no summary was made
  std::string model = {};       // that the summariser asked
  std::string reason = {};      // why, for people
  std::uint64_t tokens_before = 0;
  std::uint64_t tokens_after = 0;
  std::uint64_t prompt_tokens = 0;  // what the summary cost, as its provider reported
  std::uint64_t completion_tokens = 0;
  std::optional<std::uint64_t> target_tokens = {};  // what it was to reach; unset: nothing in particular
};

// What a RECONCILE found.
enum class ReconcileOutcome : std::uint8_t {
  same,       // nothing new: no version was made
  appended,   // messages at the end, and no other change
  edited,     // messages were dropped, changed, put in between or came back
  compacted,  // the client replaced some by a summary of its own
};

// What a MERGE_FORK takes from a fork.
enum class MergeMode : std::uint8_t {
  summary,   // one message that says what the fork achieved; EXPAND brings the fork's messages in its place
  messages,  // the fork's own messages, as its view shows them
  pick,      // own messages that are named
};

// A message of the client list.
struct ClientListEntry {
  std::uint64_t ordinal = 0;
  Identity identity = {};
};
// `entries` take the places [start, end) of the client list.
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
struct Replace {  // hides what is named; `messages` (one or more) stand in the place of the first
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
struct ApplyPlan {  // COMPRESS by a strategy. conflict: the head is not plan.base. invalid_argument: it would break a unit
  Plan plan;
};
// The same with the plan made on the spot, from the history as it is by then. Called once, during apply(); what is kept is the plan.
struct CompressBy {
  std::function<Result<Plan>(const History&)> plan;
};
// What a MERGE_FORK appended, and where it came from. Made by History::apply from a MergeFork.
struct MergedFork {
  std::string from;                // the fork's id
  std::uint64_t fork_version = 0;  // its head by then
  MergeMode mode = MergeMode::summary;
  std::vector<std::uint64_t> ordinals = {};  // of `messages` in the fork's log; of a summary none
  std::vector<Message> messages = {};
};
// Appends what a fork of this conversation achieved. not_found: no such fork, or it stored nothing of its own.
struct MergeFork {
  std::string from;
  MergeMode mode = MergeMode::summary;
  std::vector<std::uint64_t> ordinals = {};  // of MergeMode::pick: in the fork's log
  std::optional<Message> summary = {};       // of MergeMode::summary; unset: the fork's last answer, quoted
  // Called once, during apply(), with the history as it is by then. A stored Conversation sets it where
  // it is empty; without it the answer is `unsupported`.
  std::function<Result<MergedFork>(const History&)> find = {};
};
// EXPAND of the summary of a fork: the fork's messages come in its place, and stand for it. Made by
// History::apply from an Expand.
struct ExpandFork {
  std::uint64_t index = 0;
  std::string from;
  std::uint64_t fork_version = 0;
  std::vector<std::uint64_t> ordinals = {};  // of `messages` in the fork's log
  std::vector<Message> messages = {};
};
// The message goes, and those it stands for return: of a summary, and of what REPLACE, MERGE, SPLIT and TRANSFORM made.
struct Expand {
  std::uint64_t index = 0;
  // Of the summary of a fork: reads the fork's messages. As MergeFork::find.
  std::function<Result<ExpandFork>(const MergedFork&)> find = {};
};
struct Show {  // hidden messages return, with the rest of their units
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
// Called once for each message, during apply(); must not change the conversation. Not kept afterwards.
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
// What a client that keeps its own list sent: all of it, in order. The conversation follows; docs/clients.md has the laws. The list of a
// request in some dialect is made by read_client_request (client.hpp). What is recorded are the differences: Reconciled.
struct Reconcile {
  struct Sent {
    Message message;
    Identity identity;        // made with `volatile_parts`
    bool is_summary = false;  // the client compacted its list: this stands for what it dropped before it
    // Instead of a message, one of the conversation: by its ordinal, or by the id of a provider's item. Where there is no such item, `message` counts.
    std::optional<std::uint64_t> ordinal = {};
    std::string item = {};
  };
  std::vector<Sent> list;
  std::string client = {};   // the profile's name
  std::string dialect = {};  // that the request was in; empty: the engine's own
  VolatileParts volatile_parts = VolatileParts::common();
  bool is_delta = false;    // holds only what is new: the list goes on with it
  bool takes_view = false;  // the client was given the view, and its list takes the view's place
};
// How a request differs from the one before. Made by History::apply from a Reconcile.
struct Reconciled {
  // A new message that stands for others: it replaces them, or is the client's own summary of them.
  struct Made {
    std::uint64_t message = 0;  // which of the new ones
    std::vector<std::uint64_t> stands_for = {};
    bool is_summary = false;
  };
  ReconcileOutcome outcome = ReconcileOutcome::appended;
  std::vector<Message> messages = {};  // the new ones
  std::vector<std::uint64_t> fronts =
      {};  // before which ordinal each goes in the log's order, plus 1; 0: at the end. None: all of them
  std::vector<Made> made = {};
  std::vector<Range> hidden = {};         // stretches of the view that leave it
  std::vector<std::uint64_t> shown = {};  // ordinals that return to it
  std::vector<ClientListEdit> list = {};
  std::string client = {};
  std::string dialect = {};
  std::uint64_t volatile_key = 0;  // of the identities, where they are made otherwise than those before; else 0
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
  // Called once, during apply(), with the history as it is by then. Conversation sets it where it is
  // empty; History itself has no index, and answers `unsupported`.
  std::function<Result<Recalled>(const History&)> find = {};
};
struct ImportMarkMap {  // the view and the stack of batches become those of the map, once it has passed its checks
  MarkMap map;
};

}  // namespace op

struct OperationOptions {
  std::optional<Version> expected_version = {};  // conflict when the head is another
  std::string description = {};
  std::string operation_id = {};  // for Conversation: a repeated one answers as the first time and changes nothing
};

struct Operation {
  using What =
      std::variant<op::Append, op::Insert, op::Replace, op::Truncate, op::Clear, op::Filter, op::Delete, op::Compress,
                   op::ApplyPlan, op::CompressBy, op::Expand, op::Show, op::Merge, op::Split, op::Transform, op::StartBatch,
                   op::EndBatch, op::Rollback, op::Mark, op::Unmark, op::Undo, op::Redo, op::Restore, op::ImportMarkMap,
                   op::Reconcile, op::Reconciled, op::Recall, op::Recalled, op::MergeFork, op::MergedFork, op::ExpandFork>;
  What what;
  OperationOptions options = {};
};

// An operation as it was carried out: all that carrying it out again takes, besides the messages it stored.
struct RecordedOperation {
  Operation operation;
  // The stretches of the view that stayed; of a FILTER by text, and where `pairs` mended units.
  std::optional<std::vector<Range>> kept = {};
  std::uint8_t tag = 0;  // the stored form and meaning it was recorded with; 0: the present one
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
