#include "gateway/asked_edits.hpp"

#include "base/json_text.hpp"
#include "gateway/request_text.hpp"

namespace undertext {
namespace {

std::optional<std::uint64_t> number_in(const JsonValue& object, std::string_view name) {
  const std::optional<JsonValue> value =
      object.is(JsonType::object) ? object.find(name) : std::nullopt;
  return value && value->is(JsonType::number) ? value->uint64_saturated() : std::nullopt;
}

std::string text_in(const JsonValue& object, std::string_view name) {
  const std::optional<JsonValue> value =
      object.is(JsonType::object) ? object.find(name) : std::nullopt;
  return value && value->is(JsonType::string) ? value->string() : std::string();
}

// {"type":"input_tokens","value":100}
void read_trigger(const JsonValue& edit, AskedEdit& asked) {
  const std::optional<JsonValue> trigger = edit.find("trigger");
  const std::optional<std::uint64_t> value = trigger ? number_in(*trigger, "value") : std::nullopt;
  if (!value) return;
  if (text_in(*trigger, "type") == "tool_uses") {
    asked.above_tokens.reset();
    asked.above_tool_uses = value;
  } else {
    asked.above_tokens = value;
  }
}

// Unset: another kind.
std::optional<AskedEdit> read_anthropic(const JsonValue& edit) {
  constexpr std::uint64_t compact_default = 150'000, clear_default = 100'000, keep_default = 3;
  const std::string type = text_in(edit, "type");
  AskedEdit asked;
  if (type == "compact_20260112") {
    asked.above_tokens = compact_default;
    read_trigger(edit, asked);
    asked.gives_block = true;
    const std::optional<JsonValue> pause = edit.find("pause_after_compaction");
    asked.pauses = pause && pause->is(JsonType::boolean) && pause->boolean();
    return asked;
  }
  const std::optional<JsonValue> keep = edit.find("keep");
  const std::optional<std::uint64_t> kept = keep ? number_in(*keep, "value") : std::nullopt;
  if (type == "clear_tool_uses_20250919") {
    asked.kind = AskedEdit::Kind::clear_tool_uses;
    asked.above_tokens = clear_default;
    asked.keep = kept.value_or(keep_default);
    read_trigger(edit, asked);
    if (const std::optional<JsonValue> least = edit.find("clear_at_least"))
      asked.tokens_gain_min = number_in(*least, "value").value_or(0);
    if (const std::optional<JsonValue> tools = edit.find("exclude_tools");
        tools && tools->is(JsonType::array))
      for (const JsonValue tool : tools->elements())
        if (tool.is(JsonType::string)) asked.exclude.push_back(tool.string());
    return asked;
  }
  // To keep all of it is no edit.
  if (type == "clear_thinking_20251015" &&
      !(keep && (keep->raw() == R"("all")" || text_in(*keep, "type") == "all"))) {
    asked.kind = AskedEdit::Kind::clear_thinking;
    asked.keep = kept.value_or(1);
    return asked;
  }
  return std::nullopt;
}

std::optional<AskedEdit> read_responses(const JsonValue& edit) {
  if (text_in(edit, "type") != "compaction") return std::nullopt;
  AskedEdit asked;
  asked.above_tokens = number_in(edit, "compact_threshold");
  return asked.above_tokens ? std::optional(asked) : std::nullopt;
}

std::string with_member(const JsonValue& object, std::string_view name, const std::string& value) {
  std::string out = "{";
  for (const JsonMember member : object.members()) {
    const bool is_it = member.key.string_is(name);
    if (is_it && value.empty()) continue;
    if (out.size() > 1) out += ',';
    out += std::string(member.key.raw()) + ':' + (is_it ? value : std::string(member.value.raw()));
  }
  return out + '}';
}

}  // namespace

std::optional<AskedEdits> asked_edits(Dialect dialect, std::string_view body,
                                      ThinkingEdits thinking) {
  if (body.find("\"context_management\"") == body.npos) return std::nullopt;
  if (dialect != Dialect::anthropic && dialect != Dialect::openai_responses) return std::nullopt;
  const Result<JsonText> json = JsonText::parse(body, {.depth = request_depth_max});
  const std::optional<JsonValue> management =
      json ? json->root().find("context_management") : std::nullopt;
  if (!management) return std::nullopt;
  const bool is_list = management->is(JsonType::array);
  const std::optional<JsonValue> list = is_list ? management : management->find("edits");
  if (!list || !list->is(JsonType::array)) return std::nullopt;
  AskedEdits asked;
  std::string left;
  for (const JsonValue edit : list->elements()) {
    std::optional<AskedEdit> one = !edit.is(JsonType::object)      ? std::nullopt
                                   : dialect == Dialect::anthropic ? read_anthropic(edit)
                                                                   : read_responses(edit);
    if (one && one->kind == AskedEdit::Kind::clear_thinking && thinking == ThinkingEdits::leave)
      one.reset();
    if (one)
      asked.edits.push_back(*std::move(one));
    else
      left += (left.empty() ? "" : ",") + std::string(edit.raw());
  }
  if (asked.edits.empty()) return std::nullopt;
  const std::string rest = left.empty() ? std::string()
                           : is_list    ? "[" + left + "]"
                                        : with_member(*management, "edits", "[" + left + "]");
  asked.body = with_member(json->root(), "context_management", rest);
  return asked;
}

}  // namespace undertext
