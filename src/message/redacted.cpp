#include "message/redacted.hpp"

#include <string_view>
#include <vector>

#include "base/json_text.hpp"

namespace undertext {
namespace {

constexpr std::string_view text = "[redacted]";

void append_calls(std::string& json, const Message& message) {
  bool any = false;
  for (const ToolLink& link : message.tool_links()) {
    if (link.side != ToolLink::Side::call) continue;
    json += any ? "," : R"(,"toolCalls":[)";
    any = true;
    json += R"({"id":)";
    append_json_string(json, link.id);
    json += R"(,"name":"redacted","arguments":"{}"})";
  }
  if (any) json += ']';
}

// Results in the form of parts: several may stand in one message.
bool append_results(std::string& json, const std::vector<ToolLink>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    json += i > 0 ? "," : R"(,"content":[)";
    json += R"({"type":"tool_result","tool_use_id":)";
    append_json_string(json, results[i].id);
    json += R"(,"content":"[redacted]"})";
  }
  if (!results.empty()) json += ']';
  return !results.empty();
}

}  // namespace

Message redacted(const Message& message, const RedactionNote& note) {
  std::string json = R"({"role":")";
  json += name(message.role());
  json += '"';
  std::vector<ToolLink> results = message.tool_links();
  std::erase_if(results, [](const ToolLink& link) { return link.side != ToolLink::Side::result; });
  if (message.role() == Role::tool && !results.empty()) {
    json += R"(,"toolCallId":)";
    append_json_string(json, results.front().id);
    results.erase(results.begin());
  }
  if (!append_results(json, results)) {
    json += R"(,"content":)";
    append_json_string(json, text);
  }
  append_calls(json, message);
  if (const std::optional<std::int64_t> time = message.timestamp_ms()) json += R"(,"timestamp":)" + std::to_string(*time);
  json += R"(,"metadata":{"redacted":{"who":)";
  append_json_string(json, note.who);
  json += R"(,"at":)" + std::to_string(note.at_ms) + R"(,"why":)";
  append_json_string(json, note.why);
  json += R"(,"sha256":")" + note.sha256 + R"("}}})";
  return Message::parse(json).value();
}

}  // namespace undertext
