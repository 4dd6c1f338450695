#include "dialect/request_draft.hpp"
#include "dialect/write.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

bool is_paired(const Block& block) {
  return is_client(block, BlockKind::call) || is_client(block, BlockKind::result);
}

// The ids under which the engine knows the calls and results of a message, in order, for those of
// `turn` that have none of their own.
void collect_ids(const JsonValue& message, Arena& arena, ToolIds& ids, const Turn& turn) {
  ToolIds unused;
  const Turn neutral = read_message(message, std::nullopt, arena, unused);
  std::vector<std::string_view> all;
  for (const Block& block : neutral.blocks)
    if (is_paired(block)) all.push_back(block.id);
  std::size_t at = 0;
  for (const Block& block : turn.blocks) {
    if (!is_paired(block)) continue;
    if (at == all.size()) return;
    if (!block.has_own_id) ids.given.push_back(all[at]);
    ++at;
  }
}

// Behind `native` the engine adds what is no part of what a message says; anything else is an edit.
bool ends_with_native(const JsonValue& message, const JsonValue& native) {
  for (const JsonMember member : message.members())
    if (member.value.offset() > native.offset() &&
        !is_one_of(member.key, {"id", "timestamp", "metadata"}))
      return false;
  return true;
}

// The thread's table of JSON nodes, so that reading a message allocates little.
JsonText& table_of_thread() {
  static thread_local JsonText table;
  return table;
}

std::optional<Turn> read_native(const JsonValue& message, const JsonValue& native,
                                std::string_view json, Arena& arena) {
  const std::optional<JsonValue> name = string_of(native, "dialect"), raw = native.find("json");
  const std::optional<Dialect> dialect = name ? dialect_named(name->string()) : std::nullopt;
  if (!dialect || !raw) return std::nullopt;
  const bool is_top = native.find("field").has_value();
  const auto read = [&](ToolIds& ids) {
    if (is_top) return read_top(*dialect, raw->raw(), arena);
    return read_in(*dialect, *raw, arena, ids);
  };
  if (!is_top && !raw->is(JsonType::object)) return std::nullopt;
  ToolIds none;
  Turn turn = read(none);
  ToolIds ids;
  collect_ids(message, arena, ids, turn);
  if (!ids.given.empty()) turn = read(ids);
  std::string expected;
  write_neutral(expected, turn);
  expected += R"(,"native":)";
  if (!ends_with_native(message, native) || !json.starts_with(expected) ||
      json.substr(expected.size(), native.raw().size()).data() != native.raw().data())
    return std::nullopt;
  turn.raw = raw->raw();
  turn.native = bit(*dialect);
  turn.is_top = is_top;
  turn.is_labelled = true;
  return turn;
}

}  // namespace

namespace {

// Instructions of Responses may be a list of items: what these say, one after another.
Turn read_items(const JsonValue& list, Arena& arena) {
  Turn all;
  for (const JsonValue item : list.elements())
    if (item.is(JsonType::object))
      for (Block& block : read_responses(item, arena).blocks)
        all.blocks.push_back(std::move(block));
  return all;
}

}  // namespace

Turn read_top(Dialect dialect, std::string_view value, Arena& arena) {
  Turn turn;
  ToolIds ids;
  // As the content of a message, so that there is one way to read it.
  const std::string_view text =
      dialect == Dialect::gemini && !value.empty() && value.front() == '{'
          ? value
          : arena.keep(R"({"role":"system","content":)" + std::string(value) + '}');
  JsonText read;
  if (read.read(text, {.depth = 4096})) return turn;
  const std::optional<JsonValue> items =
      dialect == Dialect::openai_responses ? read.root().find("content") : std::nullopt;
  turn = dialect == Dialect::gemini && text.data() == value.data()
             ? read_gemini(read.root(), arena, ids)
         : items && items->is(JsonType::array) ? read_items(*items, arena)
                                               : read_message(read.root(), dialect, arena, ids);
  turn.role = Role::system;
  turn.raw = value;
  turn.native = bit(dialect);
  turn.is_top = true;
  return turn;
}

Turn read_stored(const Message& message, Arena& arena) {
  const std::string_view json = arena.keep(message);
  JsonText& text = table_of_thread();
  text.release_above(1u << 20);
  ToolIds ids;
  if (text.read(json, {.depth = 4096})) return {};
  const JsonValue root = text.root();
  const std::optional<JsonValue> native = root.find("native");
  if (native && native->is(JsonType::object))
    if (std::optional<Turn> turn = read_native(root, *native, json, arena)) return std::move(*turn);
  return read_message(root, std::nullopt, arena, ids);
}

std::string enveloped(const Turn& turn, Dialect dialect, std::string_view raw,
                      std::string_view field) {
  std::string json;
  write_neutral(json, turn);
  json += R"(,"native":{"dialect":)";
  append_json_string(json, name(dialect));
  if (!field.empty()) {
    json += R"(,"field":)";
    append_json_string(json, field);
  }
  json += R"(,"json":)";
  json += raw;
  json += "}}";
  return json;
}

}  // namespace undertext
