#include "gateway/request_text.hpp"

#include <algorithm>
#include <optional>

#include "base/json_text.hpp"
#include "client/answer_room.hpp"
#include "client/markers.hpp"
#include "client/pointer.hpp"

namespace undertext {
namespace {

constexpr std::int64_t minute_ms = 60'000, hour_ms = 60 * minute_ms;

bool is_of_messages(Dialect dialect, const JsonValue& key) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return key.string_is(name); });
  };
  switch (dialect) {
    case Dialect::anthropic: return is_one_of({"messages", "system"});
    case Dialect::gemini: return is_one_of({"contents", "systemInstruction", "system_instruction"});
    case Dialect::openai_responses: return is_one_of({"input", "instructions"});
    case Dialect::openai_chat: break;
  }
  return key.string_is("messages");
}

// "5m", "1h", "24h": what providers call lifetimes.
std::int64_t lifetime_ms(std::string_view text) {
  std::int64_t count = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9' && count < 10'000) {
    count = count * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  return text == "h" ? count * hour_ms : text == "m" ? count * minute_ms : 0;
}

// The longest of what the request asks for, and at least what the provider does by itself. Where
// that is a span, its end: a cache is called expired only when it certainly is.
std::int64_t cache_lifetime_ms(Dialect dialect, const JsonValue& root) {
  std::int64_t longest = dialect == Dialect::anthropic ? 5 * minute_ms : hour_ms;
  for (const MarkerAt& marker : markers_of(root))
    if (const Result<JsonText> json = JsonText::parse(marker.json, {}))
      longest = std::max(longest, lifetime_ms(text_at(json->root(), "/ttl")));
  for (const std::string_view pointer :
       {"/prompt_cache_retention", "/prompt_cache_options/ttl", "/cache_control/ttl"})
    longest = std::max(longest, lifetime_ms(text_at(root, pointer)));
  return longest;
}

// …/models/NAME:verb
std::string model_in(std::string_view path) {
  const std::size_t models = path.rfind("/models/");
  if (models == path.npos) return {};
  const std::string_view name = path.substr(models + 8);
  return std::string(name.substr(0, name.find(':')));
}

}  // namespace

RequestText read_request_text(Dialect dialect, std::string_view body, std::string_view path) {
  RequestText text;
  const Result<JsonText> json = JsonText::parse(body, {.depth = request_depth_max});
  if (!json || !json->root().is(JsonType::object)) return text;
  const JsonValue root = json->root();
  text.model = text_at(root, "/model");
  if (text.model.empty()) text.model = model_in(path);
  if (const std::optional<JsonValue> tools = root.find("tools")) {
    if (tools->is(JsonType::array)) text.tools = tools->raw();
    // Gemini takes an object for a list of it.
    if (tools->is(JsonType::object)) text.tools = '[' + std::string(tools->raw()) + ']';
  }
  text.answer_tokens = answer_tokens_in(root);
  text.cache_lifetime_ms = cache_lifetime_ms(dialect, root);
  return text;
}

std::string with_rendered(Dialect dialect, std::string_view body, std::string_view rendered) {
  const JsonText own = JsonText::parse(body, {.depth = request_depth_max}).value();
  const JsonText other = JsonText::parse(rendered, {.depth = request_depth_max}).value();
  std::string out = "{";
  out.reserve(body.size() + 64);
  const auto add = [&out](const JsonValue& key, const JsonValue& value) {
    if (out.size() > 1) out += ',';
    out += key.raw();
    out += ':';
    out += value.raw();
  };
  for (const JsonMember member : own.root().members()) {
    const std::optional<JsonValue> replacement = other.root().find(member.key.string());
    if (replacement)
      add(member.key, *replacement);
    else if (!is_of_messages(dialect, member.key))
      add(member.key, member.value);
  }
  for (const JsonMember member : other.root().members())
    if (!own.root().find(member.key.string())) add(member.key, member.value);
  return out += '}';
}

}  // namespace undertext
