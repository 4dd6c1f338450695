#include "json/operation_json.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "history/operation_table.hpp"
#include "json/fields.hpp"
#include "json/operation_fields.hpp"
#include "json/reconcile_json.hpp"

namespace undertext {

namespace {

// The configuration spelling: the canonical arguments in a block. `pairs` may also stand beside the block.
template <class Op>
void read_block(Fields& fields, SpelledOperation& spelled, std::string_view block) {
  spelled.block = block;
  Op& arguments = spelled.operation.what.emplace<Op>();
  fields.need_object(block, [&](Fields& inner) { take_arguments(inner, spelled.operation.what); });
  if constexpr (requires { arguments.pairs; }) {
    const bool twice = arguments.pairs.has_value() && fields.has("pairs");
    fields.take("pairs", arguments.pairs);
    if (twice) fields.fail("pairs", "is given twice");
  }
}

void read_block_truncate(Fields& fields, SpelledOperation& spelled) { read_block<op::Truncate>(fields, spelled, "truncate"); }
void read_block_filter(Fields& fields, SpelledOperation& spelled) { read_block<op::Filter>(fields, spelled, "filter"); }

// CLEAR has no argument that must be given, so its block may be absent.
void read_block_clear(Fields& fields, SpelledOperation& spelled) {
  spelled.block = "clear";
  spelled.operation.what = op::Clear{};
  fields.take_object("clear", [&](Fields& inner) { take_arguments(inner, spelled.operation.what); });
}

// In the configuration, position -1 is the end: an APPEND.
void read_block_insert(Fields& fields, SpelledOperation& spelled) {
  spelled.block = "insert";
  spelled.operation.what = op::Insert{};
  fields.take_object("insert", [&](Fields& inner) {
    const std::optional<JsonValue> position = inner.find("position");
    if (position && position->is(JsonType::number) && position->int64() == -1) spelled.operation.what = op::Append{};
    take_arguments(inner, spelled.operation.what);
  });
}

// The modification spelling. Its indices are ordinals.

std::vector<std::uint64_t> need_ordinals(Fields& fields) {
  std::vector<std::uint64_t> ordinals;
  fields.need("indices", ordinals);
  return ordinals;
}

void read_insert(Fields& fields, SpelledOperation& spelled) {
  if (fields.has("insert")) return read_block_insert(fields, spelled);
  op::Append append;
  std::vector<std::uint64_t> ignored;
  fields.take("indices", ignored);  // the documents send an empty list along
  fields.need_message_or_messages("data", append.messages);
  spelled.operation.what = std::move(append);
  spelled.field_names = {{"messages", "data"}};
}

void read_replace(Fields& fields, SpelledOperation& spelled) {
  if (fields.has("replace")) return read_block<op::Replace>(fields, spelled, "replace");
  op::Replace replace;
  replace.names = Names::ordinals(need_ordinals(fields));
  fields.need_message_or_messages("data", replace.messages);
  spelled.operation.what = std::move(replace);
  spelled.field_names = {{"ordinals", "indices"}, {"message", "data"}};
}

void read_delete(Fields& fields, SpelledOperation& spelled) {
  op::Delete what;
  what.names = Names::ordinals(need_ordinals(fields));
  fields.take("pairs", what.pairs);
  spelled.operation.what = std::move(what);
  spelled.field_names = {{"ordinals", "indices"}};
}

void read_compress(Fields& fields, SpelledOperation& spelled) {
  op::Compress compress;
  compress.names = Names::ordinals(need_ordinals(fields));
  fields.take("data", compress.summary);
  spelled.operation.what = std::move(compress);
  spelled.field_names = {{"ordinals", "indices"}, {"summary", "data"}};
}

// The one number of batch_start and batch_end: `batch`, or the only element of `indices`; both when they agree. `written`
// becomes the name it came under.
std::optional<std::uint64_t> read_batch(Fields& fields, std::string_view& written) {
  std::optional<std::uint64_t> batch;
  std::vector<std::uint64_t> indices;
  fields.take("batch", batch);
  fields.take("indices", indices);
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

// What the strategy is needs the summarisers, and is read by read_operation().
void read_compress_by(Fields& fields, const Settings& settings, SpelledOperation& spelled) {
  read_room(fields, settings, spelled.compress_by.tokens_max);
  fields.take("progress", spelled.compress_by.progress);
  for (const std::string_view named : {"indices", "ordinals", "summary"}) {
    if (fields.has(named)) fields.fail(named, "and strategy exclude each other: a strategy chooses the messages");
  }
}

// The canonical spelling.
void read_canonical(Fields& fields, const OperationRow& row, const Settings& settings, SpelledOperation& spelled) {
  spelled.operation.what = make_operation(row);
  const bool is_compress = row.alternative == alternative_of<op::Compress>();
  if (is_compress && fields.has("strategy")) {
    read_compress_by(fields, settings, spelled);
  } else if (auto* const reconcile = std::get_if<op::Reconcile>(&spelled.operation.what)) {
    take_reconcile(fields, settings.limits.message, *reconcile);
  } else {
    take_arguments(fields, spelled.operation.what);
  }
  if (is_compress) read_strategy(fields, "strategy", settings, spelled.compress_by.strategy);
  if (row.alternative == alternative_of<op::Transform>()) spelled.field_names = {{"find", "replaceText.find"}};
}

struct Spelling {
  std::string_view name;
  void (*read)(Fields& fields, SpelledOperation& spelled);
};

constexpr Spelling other_spellings[] = {
    {"truncate", read_block_truncate}, {"clear", read_block_clear},       {"filter", read_block_filter},
    {"insert", read_insert},           {"replace", read_replace},         {"delete", read_delete},
    {"compress", read_compress},       {"batch_start", read_batch_start}, {"batch_end", read_batch_end},
};

void read_options(Fields& fields, OperationOptions& options) {
  fields.take("expectedVersion", options.expected_version);
  fields.take("description", options.description);
  // It is part of every list of versions.
  constexpr std::size_t description_bytes_max = 16 << 10;
  if (options.description.size() > description_bytes_max) fields.fail("description", "is longer than 16 KiB");
  std::optional<std::string> id;
  fields.take("operationId", id);
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

Result<SpelledOperation> read_operation(JsonValue object, const Settings& settings) {
  Reading reading(settings.limits.message);
  SpelledOperation spelled;
  const std::optional<JsonValue> operation = object.find("operation");
  const auto named = [&](const auto& candidate) {
    return operation && operation->is(JsonType::string) && operation->string_is(candidate.name);
  };
  const OperationRow* const row = std::ranges::find_if(operation_rows, named);
  const Spelling* const other = row == std::end(operation_rows) ? std::ranges::find_if(other_spellings, named) : nullptr;

  const bool is_known = other != std::end(other_spellings);
  Fields fields(object, !is_known ? "an operation" : other ? other->name : row->name, reading);
  if (!is_known) {
    std::optional<std::string> name;
    fields.need("operation", name);
    if (name) fields.fail("operation", "\"" + clipped(*name) + "\" is unknown");
    return reading.take_error();
  }
  fields.find("operation");
  if (other) {
    other->read(fields, spelled);
  } else {
    read_canonical(fields, *row, settings, spelled);
  }
  read_options(fields, spelled.operation.options);
  fields.done();
  if (reading.failed()) return reading.take_error();
  return spelled;
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
