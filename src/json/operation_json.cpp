#include "json/operation_json.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "history/operation_table.hpp"
#include "json/fields.hpp"
#include "json/operation_fields.hpp"
#include "json/operation_words.hpp"
#include "json/query_json.hpp"
#include "json/reconcile_json.hpp"

namespace undertext {

namespace {

// The configuration spelling: the canonical arguments in a block. `pairs` may also stand beside the
// block.
template <class Op>
void read_block(Fields& fields, SpelledOperation& spelled, std::string_view block) {
  spelled.block = block;
  Op& arguments = spelled.operation.what.emplace<Op>();
  fields.need_object(
      block, [&](Fields& inner) { take_arguments(inner, spelled.operation.what); },
      "The arguments.");
  if constexpr (requires { arguments.pairs; }) {
    const bool twice = arguments.pairs.has_value() && fields.has("pairs");
    fields.take("pairs", arguments.pairs, "As in the block.");
    if (twice) fields.fail("pairs", "is given twice");
  }
}

void read_block_truncate(Fields& fields, SpelledOperation& spelled) {
  read_block<op::Truncate>(fields, spelled, "truncate");
}
void read_block_replace(Fields& fields, SpelledOperation& spelled) {
  read_block<op::Replace>(fields, spelled, "replace");
}
void read_block_filter(Fields& fields, SpelledOperation& spelled) {
  read_block<op::Filter>(fields, spelled, "filter");
}

// CLEAR has no argument that must be given, so its block may be absent.
void read_block_clear(Fields& fields, SpelledOperation& spelled) {
  spelled.block = "clear";
  spelled.operation.what = op::Clear{};
  fields.take_object(
      "clear", [&](Fields& inner) { take_arguments(inner, spelled.operation.what); },
      "The arguments.");
}

// In the configuration, position -1 is the end: an APPEND.
void read_block_insert(Fields& fields, SpelledOperation& spelled) {
  spelled.block = "insert";
  spelled.operation.what = op::Insert{};
  const auto read = [&](Fields& inner) {
    const std::optional<JsonValue> position =
        inner.find("position", {"The index to insert before; -1 appends.", "integer|-1"});
    if (position && position->is(JsonType::number) && position->int64() == -1)
      spelled.operation.what = op::Append{};
    take_arguments(inner, spelled.operation.what);
  };
  fields.need_object("insert", read, "The arguments.");
}

// The modification spelling. Its indices are ordinals.

std::vector<std::uint64_t> need_ordinals(Fields& fields) {
  std::vector<std::uint64_t> ordinals;
  fields.need("indices", ordinals, "Places in the log.");
  return ordinals;
}

void read_insert(Fields& fields, SpelledOperation& spelled) {
  op::Append append;
  std::vector<std::uint64_t> ignored;
  fields.take("indices", ignored, "Means nothing here.");  // the documents send an empty list along
  fields.need_message_or_messages("data", append.messages, "What is appended.");
  spelled.operation.what = std::move(append);
  spelled.field_names = {{"messages", "data"}};
}

void read_replace(Fields& fields, SpelledOperation& spelled) {
  op::Replace replace;
  replace.names = Names::ordinals(need_ordinals(fields));
  fields.need_message_or_messages("data", replace.messages, "What takes the place of the first.");
  spelled.operation.what = std::move(replace);
  spelled.field_names = {{"ordinals", "indices"}, {"message", "data"}};
}

void read_delete(Fields& fields, SpelledOperation& spelled) {
  op::Delete what;
  what.names = Names::ordinals(need_ordinals(fields));
  fields.take("pairs", what.pairs,
              "What becomes of the rest of a tool pair. Default: the setting.");
  spelled.operation.what = std::move(what);
  spelled.field_names = {{"ordinals", "indices"}};
}

void read_compress(Fields& fields, SpelledOperation& spelled) {
  op::Compress compress;
  compress.names = Names::ordinals(need_ordinals(fields));
  fields.take("data", compress.summary, "The summary. Default: nothing takes their place.");
  spelled.operation.what = std::move(compress);
  spelled.field_names = {{"ordinals", "indices"}, {"summary", "data"}};
}

// The one number of batch_start and batch_end: `batch`, or the only element of `indices`; both when
// they agree. `written` becomes the name it came under.
std::optional<std::uint64_t> read_batch(Fields& fields, std::string_view& written) {
  std::optional<std::uint64_t> batch;
  std::vector<std::uint64_t> indices;
  fields.take("batch", batch, "The boundary of the new batch, or the batch to return to.");
  fields.take("indices", indices, "The same, as a list of one.");
  written = !fields.has("batch") && fields.has("indices") ? "indices" : "batch";
  if (indices.size() > 1) fields.fail("indices", "must hold one number here");
  if (indices.empty()) return batch;
  if (batch && *batch != indices[0]) fields.fail("batch", "and indices[0] disagree");
  return indices[0];
}

void read_batch_start(Fields& fields, SpelledOperation& spelled) {
  std::string_view written;
  spelled.operation.what = op::StartBatch{.boundary = read_batch(fields, written)};
  spelled.field_names = {{"boundary", written}};
}

void read_batch_end(Fields& fields, SpelledOperation& spelled) {
  std::string_view written;
  const std::optional<std::uint64_t> target = read_batch(fields, written);
  if (!target) fields.missing("batch");
  spelled.operation.what = op::EndBatch{.target_batch = target.value_or(0)};
  spelled.field_names = {{"targetBatch", written}};
}

// Any of these makes a COMPRESS one by a strategy; none of those that name messages may stand beside
// it.
constexpr std::string_view by_strategy_members[] = {"strategy", "targetTokens", "budget",
                                                    "progress", "survival"};
constexpr std::string_view by_name_members[] = {"indices", "ordinals", "summary"};

template <class Has>
std::string_view first_given(std::span<const std::string_view> members, Has has) {
  const auto found = std::ranges::find_if(members, has);
  return found == members.end() ? std::string_view() : *found;
}

void read_compress_by(Fields& fields, const Settings& settings, SpelledOperation& spelled) {
  StrategyCall& by = spelled.compress_by;
  read_room(fields, settings, by.tokens_max);
  fields.take(
      "progress", by.progress,
      "Applies what can be freed where the target is out of reach; else that is `cannot_fit`.");
  read_survival(fields, by.survival);
  read_strategy(
      fields, "strategy", settings, by.strategy,
      "By its name, or with arguments. Default: the setting `compressionConfig.strategy`.");
  if (!fields.has("strategy"))
    by.strategy =
        settings.compression.strategy ? settings.compression.strategy : default_strategy();
  const auto has = [&](std::string_view name) { return fields.has(name); };
  const std::string_view named = first_given(by_name_members, has);
  if (named.empty()) return;
  // Beside a strategy the names are wrong, without one what belongs to it.
  const std::string_view own = first_given(by_strategy_members, has);
  const auto [wrong, other] = own == "strategy" ? std::pair(named, own) : std::pair(own, named);
  fields.fail(wrong,
              "and " + std::string(other) + " exclude each other: a strategy chooses the messages");
}

// The canonical spelling. A COMPRESS with a strategy has other arguments than one without.
void read_canonical(Fields& fields, const OperationRow& row, const Settings& settings,
                    SpelledOperation& spelled) {
  const bool by_strategy = row.alternative == alternative_of<op::CompressBy>();
  spelled.operation.what = make_operation(
      operation_rows[by_strategy ? alternative_of<op::Compress>() : row.alternative]);
  if (by_strategy) {
    read_compress_by(fields, settings, spelled);
  } else if (auto* const reconcile = std::get_if<op::Reconcile>(&spelled.operation.what)) {
    take_reconcile(fields, settings.limits.message, *reconcile);
  } else if (auto* const recall = std::get_if<op::Recall>(&spelled.operation.what)) {
    read_recall(fields, recall->text, recall->budget_tokens, recall->which);
  } else {
    take_arguments(fields, spelled.operation.what);
  }
  if (row.alternative == alternative_of<op::Transform>())
    spelled.field_names = {{"find", "replaceText.find"}};
}

// The row of a canonical name: of those with this name the first, but by a strategy where one, or
// what only a strategy has, is given.
const OperationRow* row_of_request(std::string_view name, JsonValue object) {
  const OperationRow& by_strategy = operation_rows[alternative_of<op::CompressBy>()];
  const auto has = [&](std::string_view member) { return object.find(member).has_value(); };
  if (name == by_strategy.name && !first_given(by_strategy_members, has).empty())
    return &by_strategy;
  const OperationRow* const found = std::ranges::find(operation_rows, name, &OperationRow::name);
  return found == std::end(operation_rows) ? nullptr : found;
}

// `insert` and `replace` are configuration when they have their block, modification otherwise.
struct Spelling {
  std::string_view name;
  std::string_view shape;
  void (*read)(Fields& fields, SpelledOperation& spelled);
  std::string_view told_by = {};  // it is this one only with this member

  bool is(std::string_view operation, JsonValue object) const {
    return operation == name && (told_by.empty() || object.find(told_by));
  }
};

constexpr Spelling other_spellings[] = {
    {"truncate", "NodeTruncate", read_block_truncate},
    {"insert", "NodeInsert", read_block_insert, "insert"},
    {"replace", "NodeReplace", read_block_replace, "replace"},
    {"clear", "NodeClear", read_block_clear},
    {"filter", "NodeFilter", read_block_filter},
    {"insert", "ModificationInsert", read_insert},
    {"delete", "ModificationDelete", read_delete},
    {"replace", "ModificationReplace", read_replace},
    {"compress", "ModificationCompress", read_compress},
    {"batch_start", "ModificationBatchStart", read_batch_start},
    {"batch_end", "ModificationBatchEnd", read_batch_end},
};

void read_options(Fields& fields, OperationOptions& options) {
  fields.take("expectedVersion", options.expected_version,
              "`conflict` where the head is another version.");
  fields.take("description", options.description, "Kept with the version; at most 16 KiB.");
  // It is part of every list of versions.
  constexpr std::size_t description_bytes_max = 16 << 10;
  if (options.description.size() > description_bytes_max)
    fields.fail("description", "is longer than 16 KiB");
  std::optional<std::string> id;
  fields.take("operationId", id,
              "An operation that repeats it is answered as the first time, and changes nothing.");
  if (id && id->empty()) fields.fail("operationId", "must not be empty; leave it out instead");
  if (id) options.operation_id = std::move(*id);
}

}  // namespace

Error SpelledOperation::in_the_callers_words(Error error) const {
  if (error.field.empty()) return error;
  for (const FieldName& name : field_names) {
    if (error.field != name.canonical) continue;
    const std::size_t dot = name.written.rfind('.');
    if (error.path.starts_with(name.canonical)) {
      error.path.replace(0, name.canonical.size(), name.written);
    } else if (dot != std::string_view::npos) {
      error.path = name.written;
    }
    error.field = dot == std::string_view::npos ? name.written : name.written.substr(dot + 1);
    break;
  }
  const bool beside_the_block = error.field == "expectedVersion";
  if (!block.empty() && !beside_the_block) {
    error.path = std::string(block) + "." + (error.path.empty() ? error.field : error.path);
  }
  return error;
}

namespace {

// The fields of an operation whose spelling is known.
void read_spelled(Fields& fields, const OperationRow* row, const Spelling* other,
                  const Settings& settings, SpelledOperation& spelled) {
  fields.find("operation");
  if (row != nullptr) {
    read_canonical(fields, *row, settings, spelled);
  } else {
    other->read(fields, spelled);
  }
  read_options(fields, spelled.operation.options);
  fields.done();
}

}  // namespace

Result<SpelledOperation> read_operation(JsonValue object, const Settings& settings) {
  Reading reading(settings.limits.message);
  SpelledOperation spelled;
  const std::optional<JsonValue> operation = object.find("operation");
  const std::string name =
      operation && operation->is(JsonType::string) ? operation->string() : std::string();
  const OperationRow* const row = row_of_request(name, object);
  const Spelling* const other = std::ranges::find_if(
      other_spellings, [&](const Spelling& spelling) { return spelling.is(name, object); });

  if (row == nullptr && other == std::end(other_spellings)) {
    Fields fields(object, "an operation", reading);
    std::optional<std::string> given;
    fields.need("operation", given);
    if (given) fields.fail("operation", "\"" + clipped(*given) + "\" is unknown");
    return reading.take_error();
  }
  Fields fields(object, row != nullptr ? row->name : other->name, reading);
  read_spelled(fields, row, other, settings, spelled);
  if (reading.failed()) return reading.take_error();
  return spelled;
}

namespace {

// The shape of one spelling of an operation.
Shape described(Shapes& shapes, Shape shape, std::string_view name, const OperationRow* row,
                const Spelling* other) {
  Reading reading;
  Fields fields(shape, shapes, reading);
  SpelledOperation spelled;
  fields.find("operation", {"Which operation.", "\"" + std::string(name) + "\""});
  fields.require("operation");
  read_spelled(fields, row, other, {}, spelled);
  return shape;
}

// One shape for the two forms of COMPRESS: with a strategy, and with messages that are named.
Shape either_of(Shape messages, const Shape& by_strategy) {
  messages.name = "CompressOperation";
  messages.choices = by_strategy.choices;
  // `strategy`, or without it any of what only a strategy has.
  const std::vector<std::string> others(std::begin(by_strategy_members) + 1,
                                        std::end(by_strategy_members));
  messages.choices.push_back({{"indices", "ordinals", "strategy"}, true, others});
  messages.choices.push_back({{"summary", "strategy"}, false, others});
  for (const Member& member : by_strategy.members)
    if (messages.find(member.name) == nullptr) messages.members.push_back(member);
  return messages;
}

void add_union(Shapes& shapes, std::string_view name, std::string_view text,
               const std::vector<std::string>& names, std::string_view told_by = "operation") {
  std::string type;
  for (const std::string& each : names) type += (type.empty() ? "" : "|") + each;
  shapes.add({.name = std::string(name),
              .text = std::string(text),
              .type = type,
              .told_by = std::string(told_by)});
}

}  // namespace

void describe_operations(Shapes& shapes) {
  std::vector<std::string> canonical, configuration, modification;
  Shape compress;
  for (const OperationWords& words : operation_words) {
    const OperationRow& row = operation_rows[words.alternative];
    const bool by_strategy = row.alternative == alternative_of<op::CompressBy>();
    const std::string name =
        by_strategy ? "CompressByStrategy" : pascal_case(row.name) + "Operation";
    Shape shape = described(
        shapes,
        {.name = name, .text = std::string(words.text), .example = std::string(words.example)},
        row.name, &row, nullptr);
    if (by_strategy) shapes.add(shape);
    if (row.alternative == alternative_of<op::Compress>()) {
      compress = std::move(shape);
      continue;
    }
    if (by_strategy) shape = either_of(compress, shape);
    canonical.push_back(shape.name);
    shapes.add(std::move(shape));
  }
  for (const Spelling& spelling : other_spellings) {
    (spelling.shape.starts_with("Node") ? configuration : modification)
        .emplace_back(spelling.shape);
    shapes.add(described(
        shapes, {.name = std::string(spelling.shape), .text = "Another spelling of an operation."},
        spelling.name, nullptr, &spelling));
  }
  add_union(shapes, "Operation", "An operation in its canonical spelling.", canonical);
  add_union(shapes, "NodeOperation",
            "An operation as the configuration of a node: its arguments in a block.",
            configuration);
  add_union(shapes, "Modification", "An operation as a modification, whose indices are ordinals.",
            modification);
  add_union(shapes, "AnyOperation", "An operation in any of its three spellings.",
            {"Operation", "NodeOperation", "Modification"}, "");
}

Result<Operation> read_transform(JsonValue object, op::TransformFunction change) {
  Reading reading;
  Fields fields(object, "TRANSFORM", reading);
  op::Transform transform;
  take_which(fields, transform);
  transform.change = std::move(change);
  Operation operation{std::move(transform)};
  read_options(fields, operation.options);
  fields.done();
  if (reading.failed()) return reading.take_error();
  return operation;
}

}  // namespace undertext
