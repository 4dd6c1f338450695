#include "message/redacted.hpp"

#include <string_view>

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
bool append_results(std::string& json, const Message& message, const std::optional<std::string>& except) {
  bool any = false;
  for (const ToolLink& link : message.tool_links()) {
    if (link.side != ToolLink::Side::result || link.id == except) continue;
    json += any ? "," : R"(,"content":[)";
    any = true;
    json += R"({"type":"tool_result","tool_use_id":)";
    append_json_string(json, link.id);
    json += R"(,"content":"[redacted]"})";
  }
  if (any) json += ']';
  return any;
}

}  // namespace

Message redacted(const Message& message, const RedactionNote& note) {
  std::string json = R"({"role":")";
  json += name(message.role());
  json += '"';
  const std::optional<std::string> tool_call_id = message.tool_call_id();
  if (tool_call_id) {
    json += R"(,"toolCallId":)";
    append_json_string(json, *tool_call_id);
  }
  if (!append_results(json, message, tool_call_id)) {
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
