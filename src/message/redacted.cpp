#include "message/redacted.hpp"

#include <limits>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/json_text.hpp"

namespace undertext {
namespace {

// Of a message, the links whose other half stands elsewhere, of one side.
std::vector<ToolLink> links_to_others(const Message& message, ToolLink::Side side) {
  std::vector<ToolLink> links = message.tool_links();
  std::unordered_set<std::string> here;
  for (const ToolLink& link : links)
    if (link.side != side) here.insert(link.id);
  std::erase_if(links,
                [&](const ToolLink& link) { return link.side != side || here.count(link.id) > 0; });
  return links;
}

void append_calls(std::string& json, const std::vector<ToolLink>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    json += i > 0 ? R"(,{"id":)" : R"(,"toolCalls":[{"id":)";
    append_json_string(json, calls[i].id);
    json += R"(,"name":"redacted","arguments":"{}"})";
  }
  if (!calls.empty()) json += ']';
}

// Reasoning stays reasoning, and results stand as parts, since several may be in one message.
void append_content(std::string& json, const Message& message,
                    const std::vector<ToolLink>& results) {
  std::string parts;
  if (message.has_reasoning()) parts += R"(,{"type":"reasoning","text":"[redacted]"})";
  for (const ToolLink& result : results) {
    parts += R"(,{"type":"tool_result","tool_use_id":)";
    append_json_string(parts, result.id);
    parts += R"(,"content":"[redacted]"})";
  }
  if (message.has_reasoning() && !message.is_only_reasoning())
    parts += R"(,{"type":"text","text":"[redacted]"})";
  json += R"(,"content":)";
  json += parts.empty() ? R"("[redacted]")" : "[" + parts.substr(1) + "]";
}

}  // namespace

Message redacted(const Message& message, const RedactionNote& note) {
  std::string json = R"({"role":")";
  json += name(message.role());
  json += '"';
  std::vector<ToolLink> results = links_to_others(message, ToolLink::Side::result);
  if (message.role() == Role::tool && results.size() == 1) {
    json += R"(,"toolCallId":)";
    append_json_string(json, results.front().id);
    results.clear();
  }
  append_content(json, message, results);
  append_calls(json, links_to_others(message, ToolLink::Side::call));
  if (const std::optional<std::int64_t> time = message.timestamp_ms())
    json += R"(,"timestamp":)" + std::to_string(*time);
  json += R"(,"metadata":{"redacted":{"who":)";
  append_json_string(json, note.who);
  json += R"(,"at":)" + std::to_string(note.at_ms) + R"(,"why":)";
  append_json_string(json, note.why);
  json += R"(,"sha256":")" + note.sha256 + R"("}}})";
  // Whatever was stored can be redacted.
  return as_redacted(Message::parse(json, {std::numeric_limits<std::uint64_t>::max(),
                                           std::numeric_limits<std::uint32_t>::max()})
                         .value());
}

bool has_form_of_redacted(const Message& message) {
  const Result<JsonText> metadata =
      JsonText::parse(message.metadata_json(), {std::numeric_limits<std::uint32_t>::max()});
  if (!metadata) return false;
  const std::optional<JsonValue> stored = metadata->root().find("redacted");
  if (!stored) return false;
  const auto text = [&](std::string_view key) {
    const std::optional<JsonValue> value = stored->find(key);
    return value && value->is(JsonType::string) ? value->string() : std::string();
  };
  const std::optional<JsonValue> at = stored->find("at");
  const std::optional<std::int64_t> at_ms =
      at && at->is(JsonType::number) ? at->int64() : std::nullopt;
  return at_ms && redacted(message, {text("who"), *at_ms, text("why"), text("sha256")}) == message;
}

std::string redacted_sha256(const Message& redacted) {
  constexpr std::string_view lead = R"("sha256":")", end = R"("}})";
  const std::string_view json = redacted.metadata_json();
  const std::size_t at = json.rfind(lead);
  if (at == std::string_view::npos || !json.ends_with(end)) return {};
  const std::size_t begin = at + lead.size();
  return std::string(json.substr(begin, json.size() - end.size() - begin));
}

bool was_pruned(const Message& message) {
  return message.is_redacted() && message.metadata_json().starts_with(R"({"redacted":{"who":")" +
                                                                      std::string(retention) + '"');
}

}  // namespace undertext
