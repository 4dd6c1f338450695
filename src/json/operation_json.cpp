#include "json/operation_json.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "json/fields.hpp"
#include "json/recorded_operation.hpp"

namespace undertext {

namespace {

// The arguments of each operation, in their canonical names. A configuration's block holds the same.

void read_names(Fields& fields, Names& names) {
  const bool by_index = fields.has("indices");
  const bool by_ordinal = fields.has("ordinals");
  if (by_index && by_ordinal) fields.fail("indices", "and ordinals exclude each other; give one of the two");
  if (!by_index && !by_ordinal) fields.missing("indices", "(positions in the view) or ordinals (places in the log) must be given");
  names.by = by_ordinal ? Names::By::ordinal : Names::By::index;
  fields.take("indices", names.numbers);
  fields.take("ordinals", names.numbers);
}

void read_arguments(Fields& fields, op::Append& append) { fields.need("messages", append.messages); }

void read_arguments(Fields& fields, op::Insert& insert) {
  fields.need("position", insert.position);
  fields.need("messages", insert.messages);
}

void read_arguments(Fields& fields, op::Replace& replace) {
  std::uint64_t index = 0;
  fields.need("index", index);
  fields.need_message("message", replace.messages);
  replace.names = Names::indices({index});
}

void read_arguments(Fields& fields, op::Truncate& truncate) {
  fields.take("keepFirst", truncate.keep_first);
  fields.take("keepLast", truncate.keep_last);
  fields.take("removeFirst", truncate.remove_first);
  fields.take("removeLast", truncate.remove_last);
  fields.take_object("range", [&](Fields& range) {
    truncate.range.emplace();
    range.need("start", truncate.range->start);
    range.need("end", truncate.range->end);
  });
  fields.take("role", truncate.role);
  fields.take("pairs", truncate.pairs);
}

void read_arguments(Fields& fields, op::Clear& clear) { fields.take("keepSystemMessage", clear.keep_system_message); }

void read_arguments(Fields& fields, op::Filter& filter) {
  fields.take_filled("roles", filter.roles);
  fields.take_filled("contentContains", filter.content_contains);
  fields.take_filled("contentExcludes", filter.content_excludes);
  fields.take("pairs", filter.pairs);
}

void read_arguments(Fields& fields, op::Delete& what) {
  read_names(fields, what.names);
  fields.take("pairs", what.pairs);
}

void read_arguments(Fields& fields, op::Compress& compress) {
  read_names(fields, compress.names);
  fields.take("summary", compress.summary);
}

void read_arguments(Fields& fields, op::Expand& expand) { fields.need("index", expand.index); }

void read_arguments(Fields& fields, op::Merge& merge) {
  fields.need("indices", merge.indices);
  fields.take("separator", merge.separator);
}

void read_arguments(Fields& fields, op::Split& split) {
  fields.need("index", split.index);
  fields.need("at", split.at);
}

void read_which(Fields& fields, op::Transform& transform) {
  if (!fields.has("roles")) return read_names(fields, transform.which.emplace<Names>());
  if (fields.has("indices") || fields.has("ordinals"))
    fields.fail("indices", "ordinals and roles exclude each other; give one of them");
  fields.take_filled("roles", transform.which.emplace<std::vector<Role>>());
  fields.find("indices");
  fields.find("ordinals");
}

void read_arguments(Fields& fields, op::Transform& transform) {
  read_which(fields, transform);
  const int changes = int{fields.has("replaceText")} + int{fields.has("truncateText")} + int{fields.has("setMetadata")};
  if (changes > 1) fields.fail("replaceText", "truncateText and setMetadata exclude each other; give one of them");
  if (changes == 0) fields.missing("replaceText", "truncateText or setMetadata must be given");
  fields.take_object("replaceText", [&](Fields& change) {
    ReplaceText& replace = transform.change.emplace<ReplaceText>();
    change.need("find", replace.find);
    change.need("with", replace.with);
  });
  fields.take_object("truncateText", [&](Fields& change) {
    TruncateText& truncate = transform.change.emplace<TruncateText>();
    change.need("maxChars", truncate.chars_max);
    change.take("keep", truncate.keep);
    change.take("marker", truncate.marker);
  });
  RawObject metadata;
  fields.take("setMetadata", metadata);
  if (!metadata.json.empty()) transform.change = SetMetadata{std::move(metadata.json)};
}

void read_arguments(Fields& fields, op::StartBatch& start) {
  fields.take("boundary", start.boundary);
  fields.take("hidePrior", start.hide_prior);
}

void read_arguments(Fields& fields, op::EndBatch& end) {
  fields.need("targetBatch", end.target_batch);
  fields.take("carry", end.carry);
}

void read_arguments(Fields& fields, op::Rollback& rollback) { fields.need("targetBatchIndex", rollback.target_batch_index); }

void read_arguments(Fields& fields, op::Mark& mark) {
  read_names(fields, mark.names);
  fields.need("mark", mark.mark);
}

void read_arguments(Fields& fields, op::Unmark& unmark) {
  read_names(fields, unmark.names);
  fields.need("mark", unmark.mark);
}

void read_arguments(Fields&, op::Undo&) {}
void read_arguments(Fields&, op::Redo&) {}

void read_arguments(Fields& fields, op::Restore& restore) { fields.need("version", restore.version); }

// The canonical spelling.
template <class Op>
void read_flat(Fields& fields, SpelledOperation& spelled) {
  Op arguments;
  read_arguments(fields, arguments);
  spelled.operation.what = std::move(arguments);
}

void read_flat_transform(Fields& fields, SpelledOperation& spelled) {
  read_flat<op::Transform>(fields, spelled);
  spelled.field_names = {{"find", "replaceText.find"}};
}

// The configuration spelling: the canonical arguments in a block. `pairs` may also stand beside the block.
template <class Op>
void read_block(Fields& fields, SpelledOperation& spelled, std::string_view block) {
  Op arguments;
  spelled.block = block;
  fields.need_object(block, [&](Fields& inner) { read_arguments(inner, arguments); });
  if constexpr (requires { arguments.pairs; }) {
    const bool twice = arguments.pairs.has_value() && fields.has("pairs");
    fields.take("pairs", arguments.pairs);
    if (twice) fields.fail("pairs", "is given twice");
  }
  spelled.operation.what = std::move(arguments);
}

void read_block_truncate(Fields& fields, SpelledOperation& spelled) { read_block<op::Truncate>(fields, spelled, "truncate"); }
void read_block_filter(Fields& fields, SpelledOperation& spelled) { read_block<op::Filter>(fields, spelled, "filter"); }

// CLEAR has no argument that must be given, so its block may be absent.
void read_block_clear(Fields& fields, SpelledOperation& spelled) {
  op::Clear clear;
  spelled.block = "clear";
  fields.take_object("clear", [&](Fields& inner) { read_arguments(inner, clear); });
  spelled.operation.what = clear;
}

// In the configuration, position -1 is the end: an APPEND.
void read_block_insert(Fields& fields, SpelledOperation& spelled) {
  op::Insert insert;
  bool at_end = false;
  spelled.block = "insert";
  fields.take_object("insert", [&](Fields& inner) {
    const std::optional<JsonValue> position = inner.find("position");
    at_end = position && position->is(JsonType::number) && position->int64() == -1;
    if (!at_end) inner.need("position", insert.position);
    inner.need("messages", insert.messages);
  });
  if (at_end) {
    spelled.operation.what = op::Append{std::move(insert.messages)};
  } else {
    spelled.operation.what = std::move(insert);
  }
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

void read_flat_compress(Fields& fields, SpelledOperation& spelled) {
  if (!fields.has("strategy")) return read_flat<op::Compress>(fields, spelled);
  // What the strategy is needs the summarisers, and is read by read_operation().
  read_room(fields, spelled.compress_by.tokens_max);
  for (const std::string_view named : {"indices", "ordinals", "summary"}) {
    if (fields.has(named)) fields.fail(named, "and strategy exclude each other: a strategy chooses the messages");
  }
}

// All that it is told is recorded.
void read_import_mark_map(Fields& fields, SpelledOperation& spelled) {
  spelled.operation.what = take_recorded_arguments(fields, "IMPORT_MARK_MAP");
}

struct Spelling {
  std::string_view name;
  void (*read)(Fields& fields, SpelledOperation& spelled);
};

constexpr Spelling spellings[] = {
    {"APPEND", read_flat<op::Append>},
    {"INSERT", read_flat<op::Insert>},
    {"REPLACE", read_flat<op::Replace>},
    {"TRUNCATE", read_flat<op::Truncate>},
    {"CLEAR", read_flat<op::Clear>},
    {"FILTER", read_flat<op::Filter>},
    {"DELETE", read_flat<op::Delete>},
    {"COMPRESS", read_flat_compress},
    {"EXPAND", read_flat<op::Expand>},
    {"MERGE", read_flat<op::Merge>},
    {"SPLIT", read_flat<op::Split>},
    {"TRANSFORM", read_flat_transform},
    {"START_BATCH", read_flat<op::StartBatch>},
    {"END_BATCH", read_flat<op::EndBatch>},
    {"ROLLBACK", read_flat<op::Rollback>},
    {"MARK", read_flat<op::Mark>},
    {"UNMARK", read_flat<op::Unmark>},
    {"UNDO", read_flat<op::Undo>},
    {"REDO", read_flat<op::Redo>},
    {"RESTORE", read_flat<op::Restore>},
    {"IMPORT_MARK_MAP", read_import_mark_map},
    {"truncate", read_block_truncate},
    {"clear", read_block_clear},
    {"filter", read_block_filter},
    {"insert", read_insert},
    {"replace", read_replace},
    {"delete", read_delete},
    {"compress", read_compress},
    {"batch_start", read_batch_start},
    {"batch_end", read_batch_end},
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
  const Spelling* spelling = nullptr;
  for (const Spelling& candidate : spellings) {
    if (!operation || !operation->is(JsonType::string) || !operation->string_is(candidate.name)) continue;
    spelling = &candidate;
    break;
  }

  Fields fields(object, spelling != nullptr ? spelling->name : "an operation", reading);
  std::optional<std::string> name;
  if (spelling == nullptr) {
    fields.need("operation", name);
    if (name) fields.fail("operation", "\"" + clipped(*name) + "\" is unknown");
    return reading.take_error();
  }
  fields.find("operation");
  spelling->read(fields, spelled);
  if (spelling->read == read_flat_compress) read_strategy(fields, "strategy", settings, spelled.compress_by.strategy);
  read_options(fields, spelled.operation.options);
  fields.done();
  if (reading.failed()) return reading.take_error();
  return spelled;
}

Result<Operation> read_transform(JsonValue object, op::TransformFunction change) {
  Reading reading;
  Fields fields(object, "TRANSFORM", reading);
  op::Transform transform;
  read_which(fields, transform);
  transform.change = std::move(change);
  Operation operation{std::move(transform)};
  read_options(fields, operation.options);
  fields.done();
  if (reading.failed()) return reading.take_error();
  return operation;
}

}  // namespace undertext
