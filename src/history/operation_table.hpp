// Every operation, described once: its row (name, stored tags, traits) and its fields. Stored
// bytes, the JSON of requests and the JSON of records follow from this file.
//
// An operation is added as an alternative of Operation::What. The compiler then asks for a row and
// a describe() here, and for a perform() in apply.cpp.
//
// describe(io, operation) names the fields in stored order. Each format supplies its `io`:
//
//     need(name, value)        required
//     take(name, value)        optional; recorded if it is set: neither empty, 0 nor false
//     preset(name, value)      optional, with a default; always recorded
//     since(tag, name, value)  optional; part of a record only with this tag of the row or a later
//     filled(name, list)       optional; if given, not empty
//     messages(name, list)     part of a request only: the log keeps them
//     message(name, list)      the same for a list of one
//     summary(name, message)   a message in a request; in a record, whether there was one
//     names(names)             `indices` or `ordinals`
//     index_or_names(names)    `index`; in a record also `indices` or `ordinals`
//     choice(variant, words)   one of several fields; a Names among them has its own words
//
// A value is a number, a text, a word, an object that has its own describe(), or a list of these.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <undertext/operation.hpp>

namespace undertext {

// Whether what an operation stores are edited copies of messages, which it then stands for.
enum class Copies : std::uint8_t {
  none,
  each,      // of one message each
  together,  // of all that went
};

struct OperationTraits {
  bool only_appends = false;  // adds to the end of the view, and changes nothing else
  bool may_rebase = false;    // means the same after any commit of another writer
  bool by_strategy = false;   // a strategy chose the messages
  bool rolls_back = false;    // makes an earlier batch current
  bool brings_back = false;   // may show messages that were hidden
  bool moves_undo = false;    // walks along the chain of undo, and adds nothing to it
  // may leave a view that departs from the log's order; with a `carry`, where that is not empty
  bool may_reorder = false;
  bool in_place = false;   // what it stores takes the places of what it names, one by one
  bool may_quote = false;  // its arguments may quote the messages it changes
  Copies copies = Copies::none;
  // the first tag that puts what returns by the log's order; 0: none does
  std::uint8_t ordered_since = 0;
};

inline constexpr std::uint8_t tag_max = 127;

// A tag is the first byte of a stored operation. It is never reused, and its fields and meaning
// never change. A changed meaning is a new tag at the end of the row: the last one is written,
// records keep theirs, and perform() asks Draft::tag() which meaning to replay. A field more is a
// new tag too, since() which records have it. Other fields are a new alternative with a row of its
// own, as COMPRESS by a plan is.
struct OperationRow {
  std::size_t alternative;  // of Operation::What
  std::string_view name;
  std::array<std::uint8_t, 3> tags = {};  // oldest first, then zeros; none: it is never recorded
  OperationTraits traits = {};
  // the field that tells its records from those of an earlier row of the same name
  std::string_view told_by = {};
};

template <class Op, std::size_t index = 0>
constexpr std::size_t alternative_of() {
  if constexpr (std::is_same_v<Op, std::variant_alternative_t<index, Operation::What>>) {
    return index;
  } else {
    return alternative_of<Op, index + 1>();
  }
}

inline constexpr OperationRow operation_rows[] = {
    {alternative_of<op::Append>(), "APPEND", {1}, {.only_appends = true, .may_rebase = true}},
    {alternative_of<op::Insert>(), "INSERT", {2}},
    {alternative_of<op::Replace>(), "REPLACE", {3}, {.copies = Copies::together}},
    {alternative_of<op::Truncate>(), "TRUNCATE", {4, 23}},
    {alternative_of<op::Clear>(), "CLEAR", {5}},
    {alternative_of<op::Filter>(), "FILTER", {6, 24}},
    {alternative_of<op::Delete>(), "DELETE", {7, 25}},
    {alternative_of<op::Compress>(), "COMPRESS", {8}},
    {alternative_of<op::ApplyPlan>(), "COMPRESS", {9, 28}, {.by_strategy = true}, "plan"},
    {alternative_of<op::CompressBy>(), "COMPRESS", {}, {.may_rebase = true, .by_strategy = true}},
    {alternative_of<op::Expand>(),
     "EXPAND",
     {10, 26},
     {.brings_back = true, .may_reorder = true, .ordered_since = 26}},
    {alternative_of<op::Show>(), "SHOW", {27}, {.brings_back = true, .ordered_since = 27}},
    {alternative_of<op::Merge>(), "MERGE", {11}, {.copies = Copies::together}},
    {alternative_of<op::Split>(), "SPLIT", {12}, {.copies = Copies::each}},
    {alternative_of<op::Transform>(),
     "TRANSFORM",
     {13},
     {.in_place = true, .may_quote = true, .copies = Copies::each}},
    {alternative_of<op::StartBatch>(), "START_BATCH", {14}},
    {alternative_of<op::EndBatch>(),
     "END_BATCH",
     {15},
     {.rolls_back = true, .brings_back = true, .may_reorder = true}},
    {alternative_of<op::Rollback>(), "ROLLBACK", {16}, {.rolls_back = true, .brings_back = true}},
    {alternative_of<op::Mark>(), "MARK", {17}},
    {alternative_of<op::Unmark>(), "UNMARK", {18}},
    {alternative_of<op::Undo>(), "UNDO", {19}, {.brings_back = true, .moves_undo = true}},
    {alternative_of<op::Redo>(), "REDO", {20}, {.brings_back = true, .moves_undo = true}},
    {alternative_of<op::Restore>(), "RESTORE", {21}, {.brings_back = true}},
    {alternative_of<op::ImportMarkMap>(), "IMPORT_MARK_MAP", {22}, {.may_reorder = true}},
    {alternative_of<op::Reconcile>(), "RECONCILE", {}, {.may_rebase = true}},
    {alternative_of<op::Reconciled>(),
     "RECONCILE",
     {29, 34, 35},
     {.brings_back = true, .ordered_since = 29}},
    {alternative_of<op::Recall>(), "RECALL", {}, {.may_rebase = true}},
    {alternative_of<op::Recalled>(), "RECALL", {31}},
    {alternative_of<op::MergeFork>(), "MERGE_FORK", {}, {.may_rebase = true}},
    {alternative_of<op::MergedFork>(), "MERGE_FORK", {32}},
    {alternative_of<op::ExpandFork>(),
     "EXPAND",
     {33},
     {.brings_back = true, .copies = Copies::together},
     "from"},
};

constexpr std::uint8_t first_tag(const OperationRow& row) { return row.tags.front(); }
constexpr std::uint8_t written_tag(const OperationRow& row) {
  std::uint8_t last = 0;
  for (const std::uint8_t tag : row.tags) last = tag == 0 ? last : tag;
  return last;
}
constexpr bool has_tag(const OperationRow& row, std::uint64_t tag) {
  for (const std::uint8_t each : row.tags) {
    if (each != 0 && each == tag) return true;
  }
  return false;
}
// Null: an unknown tag.
constexpr const OperationRow* row_with_tag(std::uint64_t tag) {
  for (const OperationRow& row : operation_rows) {
    if (has_tag(row, tag)) return &row;
  }
  return nullptr;
}

constexpr bool is_table_sound() {
  for (std::size_t i = 0; i < std::size(operation_rows); ++i) {
    if (operation_rows[i].alternative != i) return false;
    for (const std::uint8_t tag : operation_rows[i].tags) {
      if (tag > tag_max || (tag != 0 && row_with_tag(tag) != &operation_rows[i])) return false;
    }
  }
  return true;
}
static_assert(std::size(operation_rows) == std::variant_size_v<Operation::What>,
              "an operation has no row");
static_assert(is_table_sound(),
              "rows stand in the order of Operation::What, and no tag is there twice");

inline const OperationRow& row_of(const Operation& operation) {
  return operation_rows[operation.what.index()];
}
inline const OperationTraits& traits_of(const Operation& operation) {
  return row_of(operation).traits;
}

// The operation of this row, its fields as they are by default.
inline Operation::What make_operation(const OperationRow& row) {
  using Make = Operation::What (*)();
  static constexpr auto makes = []<std::size_t... index>(std::index_sequence<index...>) {
    return std::array<Make, sizeof...(index)>{
        [] { return Operation::What(std::in_place_index<index>); }...};
  }(std::make_index_sequence<std::variant_size_v<Operation::What>>());
  return makes[row.alternative]();
}

// The words of an enumeration, in its order; those of Role are in message.hpp.
template <class Enum>
inline constexpr std::array<std::string_view, 0> words_of = {};
template <>
inline constexpr std::array<std::string_view, 2> words_of<Names::By> = {"indices", "ordinals"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<Pairs> = {"literal", "shrink", "grow"};
template <>
inline constexpr std::array<std::string_view, 4> words_of<ReconcileOutcome> = {
    "same", "appended", "edited", "compacted"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<MergeMode> = {"summary", "messages",
                                                                        "pick"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<TruncateText::Keep> = {"head", "tail",
                                                                                 "both"};

template <class Enum>
inline constexpr std::size_t choices_of = words_of<Enum>.size();
template <>
inline constexpr std::size_t choices_of<Role> = role_count;

// A field's name in a request, and in a record where that differs; what it means, for schemas.
struct FieldName {
  constexpr FieldName(std::string_view name) : request(name), record(name) {}
  constexpr FieldName(const char* name) : FieldName(std::string_view(name)) {}
  constexpr FieldName(std::string_view name, std::string_view what)
      : request(name), record(name), text(what) {}
  constexpr FieldName(std::string_view in_request, std::string_view in_record,
                      std::string_view what)
      : request(in_request), record(in_record), text(what) {}
  std::string_view request, record, text = {};
};

// T, which a reader changes and a writer does not.
template <class Given, class T>
concept Is = std::same_as<std::remove_const_t<Given>, T>;

void describe(auto& io, Is<Range> auto& range) {
  io.need({"start", "The first index."}, range.start);
  io.need({"end", "The index behind the last one."}, range.end);
}
void describe(auto& io, Is<Replacement> auto& replacement) {
  io.need("hidden", replacement.hidden);
  io.summary("summary", replacement.summary);
}
void describe(auto& io, Is<Plan> auto& plan) {
  io.need("base", plan.base);
  io.need("replacements", plan.replacements);
  io.take("strategy", plan.strategy);
  io.take("summariser", plan.summariser);
  io.take("model", plan.model);
  io.take("reason", plan.reason);
  io.need("tokensBefore", plan.tokens_before);
  io.need("tokensAfter", plan.tokens_after);
  io.take("promptTokens", plan.prompt_tokens);
  io.take("completionTokens", plan.completion_tokens);
}
void describe(auto& io, Is<ReplaceText> auto& change) {
  io.need({"find", "The text to look for; not empty."}, change.find);
  io.need({"with", "What takes its place."}, change.with);
}
void describe(auto& io, Is<TruncateText> auto& change) {
  io.need({"maxChars", "Code points to keep of each text."}, change.chars_max);
  io.preset({"keep", "Which end to keep."}, change.keep);
  io.preset({"marker", "What stands where text was cut."}, change.marker);
}
using TypeIndices = decltype(MarkMap::type_indices);
void describe(auto& io, Is<TypeIndices> auto& lists) {
  for (std::size_t role = 0; role < role_count; ++role)
    io.take({name(static_cast<Role>(role)), "Ordinals of this role."}, lists[role]);
}
void describe(auto& io, Is<MarkMap> auto& map) {
  io.need({"originalIndices", "The view: ordinals in its order."}, map.original_indices);
  io.preset({"typeIndices", "The same by role; default: as the messages have it."},
            map.type_indices);
  io.need({"batchBoundaries", "Where each batch begins in the log."}, map.batch_boundaries);
  io.need({"boundaryToBatch", "The batch of each boundary: 0, 1, 2 and so on."},
          map.boundary_to_batch);
  io.need({"currentBatch", "The batch that the view is in."}, map.current_batch);
}

void describe(auto& io, Is<op::Append> auto& o) {
  io.messages({"messages", "At least one."}, o.messages);
}
void describe(auto& io, Is<op::Insert> auto& o) {
  io.need({"position", "The index to insert before; the length appends."}, o.position);
  io.messages({"messages", "At least one."}, o.messages);
}
void describe(auto& io, Is<op::Replace> auto& o) {
  io.index_or_names(o.names);
  io.message({"message", "What takes the place."}, o.messages);
}
void describe(auto& io, Is<op::Truncate> auto& o) {
  io.take({"keepFirst", "Keeps the first so many."}, o.keep_first);
  io.take({"keepLast", "Keeps the last so many."}, o.keep_last);
  io.take({"removeFirst", "Hides the first so many."}, o.remove_first);
  io.take({"removeLast", "Hides the last so many."}, o.remove_last);
  io.take({"range", "Keeps these."}, o.range);
  io.take({"role", "First drops all other roles."}, o.role);
  io.take({"pairs", "What becomes of the rest of a tool pair. Default: the setting."}, o.pairs);
}
void describe(auto& io, Is<op::Clear> auto& o) {
  io.preset({"keepSystemMessage", "Keeps all system messages."}, o.keep_system_message);
}
void describe(auto& io, Is<op::Filter> auto& o) {
  io.filled({"roles", "Keeps these roles."}, o.roles);
  io.filled({"contentContains", "Keeps what contains any of these texts."}, o.content_contains);
  io.filled({"contentExcludes", "Keeps what contains none of these texts."}, o.content_excludes);
  io.take({"pairs", "What becomes of the rest of a tool pair. Default: the setting."}, o.pairs);
}
void describe(auto& io, Is<op::Delete> auto& o) {
  io.names(o.names);
  io.take({"pairs", "What becomes of the rest of a tool pair. Default: the setting."}, o.pairs);
}
void describe(auto& io, Is<op::Compress> auto& o) {
  io.names(o.names);
  io.summary({"summary", "Takes the place of the first. Default: nothing does."}, o.summary);
}
void describe(auto& io, Is<op::ApplyPlan> auto& o) {
  io.need("plan", o.plan);
  io.since(28, "targetTokens", o.plan.target_tokens);
}
void describe(auto&, Is<op::CompressBy> auto&) {}
void describe(auto& io, Is<op::Expand> auto& o) {
  io.need({"index", "Of a message that stands for others."}, o.index);
}
void describe(auto& io, Is<op::Show> auto& o) {
  io.need({"ordinals", "Of hidden messages."}, o.ordinals);
}
void describe(auto& io, Is<op::Merge> auto& o) {
  io.need({"indices", "Of the messages to join."}, o.indices);
  io.preset({"separator", "What stands between their texts. Default: a newline."}, o.separator);
}
void describe(auto& io, Is<op::Split> auto& o) {
  io.need({"index", "Of the message to split."}, o.index);
  io.need({"at", "Where: code points of a text, or places in a list of parts; rising."}, o.at);
}
inline constexpr std::array<std::string_view, 2> which_words = {"", "roles"};
inline constexpr std::array<std::string_view, 4> change_words = {"replaceText", "truncateText",
                                                                 "setMetadata", "function"};
void describe(auto& io, Is<op::Transform> auto& o) {
  io.choice(o.which, which_words);
  io.choice(o.change, change_words);
}
void describe(auto& io, Is<op::StartBatch> auto& o) {
  io.take({"boundary", "Where the batch begins in the log. Default: its length."}, o.boundary);
  io.take({"hidePrior", "Hides what is there, but for pinned messages."}, o.hide_prior);
}
void describe(auto& io, Is<op::EndBatch> auto& o) {
  io.need({"targetBatch", "The batch to return to."}, o.target_batch);
  io.take({"carry", "Messages added since with these roles are appended again."}, o.carry);
}
void describe(auto& io, Is<op::Rollback> auto& o) {
  io.need({"targetBatchIndex", "The batch to return to."}, o.target_batch_index);
}
void describe(auto& io, Is<op::Mark> auto& o) {
  io.names(o.names);
  io.need({"mark", "The label; `pinned` protects from trimming and compression."}, o.mark);
}
void describe(auto& io, Is<op::Unmark> auto& o) {
  io.names(o.names);
  io.need({"mark", "The label; `pinned` protects from trimming and compression."}, o.mark);
}
void describe(auto&, Is<op::Undo> auto&) {}
void describe(auto&, Is<op::Redo> auto&) {}
// A record has the version it made under "version".
void describe(auto& io, Is<op::Restore> auto& o) {
  io.need({"version", "restoredVersion", "Whose state returns."}, o.version);
}
void describe(auto& io, Is<op::ImportMarkMap> auto& o) {
  io.need({"markMap", "As the query markMap returns it."}, o.map);
}
void describe(auto& io, Is<ClientListEntry> auto& entry) {
  io.need("ordinal", entry.ordinal);
  io.need("identity", entry.identity);
}
void describe(auto& io, Is<ClientListEdit> auto& edit) {
  io.need("start", edit.start);
  io.need("end", edit.end);
  io.take("entries", edit.entries);
}
void describe(auto& io, Is<op::Reconciled::Made> auto& made) {
  io.need("message", made.message);
  io.need("standsFor", made.stands_for);
  io.take("summary", made.is_summary);
}
void describe(auto& io, Is<op::Reconciled::Summary> auto& summary) {
  io.need("ordinal", summary.ordinal);
  io.need("standsFor", summary.stands_for);
}
// A request is read by the client room: what it means depends on the client.
void describe(auto&, Is<op::Reconcile> auto&) {}
void describe(auto& io, Is<op::Reconciled> auto& o) {
  io.need("outcome", o.outcome);
  io.take("client", o.client);
  io.take("dialect", o.dialect);
  io.messages("messages", o.messages);
  io.take("fronts", o.fronts);
  io.take("made", o.made);
  io.take("hidden", o.hidden);
  io.take("shown", o.shown);
  io.take("list", o.list);
  io.take("volatileKey", o.volatile_key);
  io.since(34, "leftOut", o.left_out);
  io.since(34, "summaries", o.summaries);
  io.since(35, "reference", o.reference);
}

// A request has the filters of the query `messages`, and is read with them.
void describe(auto&, Is<op::Recall> auto&) {}
void describe(auto& io, Is<op::Recalled> auto& o) {
  io.need("text", o.text);
  io.need("budgetTokens", o.budget_tokens);
  io.take("quoted", o.quoted);
  io.messages("messages", o.messages);
}

void describe(auto& io, Is<op::MergeFork> auto& o) {
  io.need({"from", "The id of a fork of this conversation."}, o.from);
  io.preset({"mode", "What to take: a summary, the fork's own messages, or some of them."}, o.mode);
  io.filled({"ordinals", "Of messages in the fork's log; with `pick`."}, o.ordinals);
  io.summary({"summary", "With `summary`. Default: the fork's last answer, quoted."}, o.summary);
}
void describe(auto& io, Is<op::MergedFork> auto& o) {
  io.need("from", o.from);
  io.need("forkVersion", o.fork_version);
  io.need("mode", o.mode);
  io.take("ordinals", o.ordinals);
  io.messages("messages", o.messages);
}
void describe(auto& io, Is<op::ExpandFork> auto& o) {
  io.need("index", o.index);
  io.need("from", o.from);
  io.need("forkVersion", o.fork_version);
  io.take("ordinals", o.ordinals);
  io.messages("messages", o.messages);
}

// An object with fields of its own, rather than one value.
template <class T>
concept Described = requires(T& value) { describe(value, value); };

// For a choice().
template <class... Alternatives>
using WordsOf = std::array<std::string_view, sizeof...(Alternatives)>;

// Stands for a message of which a record only says that there was one; the log has it.
const Message& some_message();

// What its record holds: `pairs` as they were in force, and no function, which might own anything.
Operation to_record(Operation operation, Pairs pairs);

// Whether it returns messages by the log's order, which must then be known.
bool needs_order(const RecordedOperation& record);

// Whether the view that it left may depart from the log's order.
bool may_reorder(const Operation& operation);

// Whether it chose messages by their text. What it kept is then part of its record: texts can be
// redacted later.
bool is_filter_by_text(const Operation& operation);

// TRUNCATE, FILTER or DELETE with `pairs` set to shrink or grow.
bool mends_units(const Operation& operation);

// The tag to record it with: the oldest whose meaning it has, so that older releases read the
// record. Without `pairs`, TRUNCATE, FILTER and DELETE mean what they always did; COMPRESS by a
// plan does without a target, and RECONCILE without a reference.
std::uint8_t tag_to_write(const Operation& operation);

// Whether what it kept is part of its record. Since the second tag of TRUNCATE, FILTER and DELETE
// that is so where they mend units: what makes a unit may be read otherwise later.
bool records_kept(const Operation& operation, std::uint8_t tag);

}  // namespace undertext
