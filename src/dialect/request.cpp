// The request: its bytes, and what its other fields say.
#include "dialect/request_draft.hpp"
#include "dialect/tool_names.hpp"
#include "dialect/write.hpp"
#include "message/read_fields.hpp"

namespace undertext {

void append_turn(std::string& out, Dialect dialect, const Turn& turn) {
  if (turn.is_raw_in(dialect)) {
    out += turn.raw;
  } else {
    write_in(dialect, out, turn);
  }
}

namespace {

std::string_view list_field(Dialect dialect) {
  switch (dialect) {
    case Dialect::openai_responses: return R"("input":[)";
    case Dialect::gemini: return R"("contents":[)";
    default: return R"("messages":[)";
  }
}

void append_top(std::string& out, Dialect dialect, const std::vector<Turn>& top) {
  if (top.empty()) return;
  out += dialect == Dialect::anthropic ? R"("system":)"
         : dialect == Dialect::gemini  ? R"("systemInstruction":)"
                                       : R"("instructions":)";
  if (top.size() == 1) {
    append_turn(out, dialect, top[0]);
  } else {
    Turn all;
    all.is_top = true;
    for (const Turn& turn : top)
      all.blocks.insert(all.blocks.end(), turn.blocks.begin(), turn.blocks.end());
    write_in(dialect, out, all);
  }
  out += ',';
}

}  // namespace

void append_request_head(std::string& out, Dialect dialect, const RequestDraft& draft) {
  out += '{';
  append_top(out, dialect, draft.top);
  out += list_field(dialect);
}

std::string request_json(Dialect dialect, const RequestDraft& draft) {
  std::size_t size = 64;
  for (const Turn& turn : draft.turns) size += turn.raw.size() + 1;
  std::string out;
  out.reserve(size);
  append_request_head(out, dialect, draft);
  const char* separator = "";
  for (const Turn& turn : draft.turns) {
    out += separator;
    append_turn(out, dialect, turn);
    separator = ",";
  }
  out += "]}";
  return out;
}

Result<RequestFacts> read_request_facts(std::string_view json, const Profile& profile) {
  RequestFacts facts;
  facts.store = profile.store;
  if (json.empty()) return facts;
  Result<JsonText> text = JsonText::parse(json, {.depth = 4096});
  if (!text) return std::move(text.error());
  const JsonValue root = text->root();
  if (!root.is(JsonType::object))
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the request must be a JSON object",
                 .field = "request"};
  if (const std::optional<JsonValue> store = root.find("store");
      store && store->is(JsonType::boolean))
    facts.store = store->boolean();
  const auto is_set = [&root](std::string_view key) {
    const std::optional<JsonValue> value = root.find(key);
    return value && !value->is(JsonType::null);
  };
  facts.has_state_conflict = profile.dialect == Dialect::openai_responses &&
                             is_set("previous_response_id") && is_set("conversation");
  facts.has_stored_input =
      profile.dialect == Dialect::openai_responses &&
      (is_set("previous_response_id") || is_set("conversation") || is_set("prompt"));
  if (const std::optional<JsonValue> thinking = root.find("thinking");
      thinking && body_of(*thinking, "type") == "disabled")
    facts.is_thinking_disabled = true;
  const std::optional<JsonValue> tools = root.find("tools");
  if (!tools || !tools->is(JsonType::array)) return facts;
  for (const JsonValue tool : tools->elements()) {
    if (!tool.is(JsonType::object)) continue;
    facts.has_tools = true;
    if (tool.find("cache_control")) ++facts.cache_markers;
  }
  visit_tool_names(*tools, [&facts](const JsonValue& name) { facts.tools.insert(name.string()); });
  return facts;
}

}  // namespace undertext
