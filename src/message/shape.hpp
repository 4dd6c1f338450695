// Where things stand in the JSON of a message: the one place that knows the spellings of tool calls and parts.
//
//     {"type":"tool_use","id":…}          or  {"type":"tool_use","tool_use":{"id":…}}
//     {"type":"tool_result",
//      "tool_use_id":…,"content":…}       or  {"type":"tool_result","tool_result":{"tool_use_id":…,"content":…}}
//
// Parts are free in all but being objects with a string for a type, so everything here looks before it takes.
#pragma once

#include <optional>
#include <string_view>

#include <undertext/message.hpp>

#include "base/json_text.hpp"

namespace undertext {

inline bool names_tool_calls(const JsonValue& key) { return key.string_is("toolCalls") || key.string_is("tool_calls"); }
inline bool names_tool_call_id(const JsonValue& key) { return key.string_is("toolCallId") || key.string_is("tool_call_id"); }

inline std::optional<JsonValue> find_string(const JsonValue& object, std::string_view key) {
  std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::string) ? value : std::nullopt;
}

inline bool part_is(const JsonValue& part, std::string_view type) {
  const std::optional<JsonValue> given = find_string(part, "type");
  return given && given->string_is(type);
}

// The object that has the fields of a tool_use or tool_result part: an inner one of that name, or the part itself.
inline JsonValue part_fields(const JsonValue& part, std::string_view type) {
  const std::optional<JsonValue> inner = part.find(type);
  return inner && inner->is(JsonType::object) ? *inner : part;
}

// Whether there is a part of a model's thinking, or a text of reasoning beside the content, as DeepSeek and its kin send it.
inline bool holds_thinking(const JsonValue& message) {
  const std::optional<JsonValue> content = message.find("content");
  if (content && content->is(JsonType::array)) {
    for (const JsonValue part : content->elements())
      for (const std::string_view type : {"thinking", "redacted_thinking", "reasoning"})
        if (part_is(part, type)) return true;
  }
  const std::optional<JsonValue> reasoning = find_string(message, "reasoning_content");
  return reasoning && !reasoning->string_raw().empty();
}

// Calls visit(text) for each string in `parts` that is text; visit returns whether to go on. False when it was stopped.
template <class Visit>
bool visit_text_parts(const JsonValue& parts, Visit& visit) {
  for (const JsonValue part : parts.elements())
    if (part_is(part, "text"))
      if (const std::optional<JsonValue> text = find_string(part, "text"); text && !visit(*text)) return false;
  return true;
}

// Calls visit(text) for each string of the message that is text, in order: the string content, or the text parts and the
// texts of tool results. visit returns whether to go on.
template <class Visit>
void visit_texts(const JsonValue& message, Visit visit) {
  const std::optional<JsonValue> content = message.find("content");
  if (content && content->is(JsonType::string)) visit(*content);
  if (!content || !content->is(JsonType::array)) return;
  for (const JsonValue part : content->elements()) {
    if (part_is(part, "text")) {
      if (const std::optional<JsonValue> text = find_string(part, "text"); text && !visit(*text)) return;
    } else if (part_is(part, "tool_result")) {
      const std::optional<JsonValue> result = part_fields(part, "tool_result").find("content");
      if (!result) continue;
      if (result->is(JsonType::string) && !visit(*result)) return;
      if (result->is(JsonType::array) && !visit_text_parts(*result, visit)) return;
    }
  }
}

// Calls visit(element) for each element of `toolCalls` (or `tool_calls`), in order.
template <class Visit>
void visit_tool_calls(const JsonValue& message, Visit visit) {
  for (const JsonMember member : message.members())
    if (names_tool_calls(member.key))
      for (const JsonValue call : member.value.elements()) visit(call);
}

// Calls visit(fields) for the fields of each part of that type, in order.
template <class Visit>
void visit_parts(const JsonValue& message, std::string_view type, Visit visit) {
  const std::optional<JsonValue> content = message.find("content");
  if (!content || !content->is(JsonType::array)) return;
  for (const JsonValue part : content->elements())
    if (part_is(part, type)) visit(part, part_fields(part, type));
}

// Calls visit(side, id) for each call and result of the message. An empty id links nothing.
template <class Visit>
void visit_tool_ids(const JsonValue& message, Visit visit) {
  const auto visit_id = [&visit](ToolLink::Side side, const std::optional<JsonValue>& id) {
    if (id && !id->string_raw().empty()) visit(side, *id);
  };
  visit_tool_calls(message, [&](const JsonValue& call) { visit_id(ToolLink::Side::call, find_string(call, "id")); });
  visit_parts(message, "tool_use",
              [&](const JsonValue&, const JsonValue& use) { visit_id(ToolLink::Side::call, find_string(use, "id")); });
  for (const JsonMember member : message.members())
    if (names_tool_call_id(member.key) && member.value.is(JsonType::string)) visit_id(ToolLink::Side::result, member.value);
  visit_parts(message, "tool_result", [&](const JsonValue&, const JsonValue& result) {
    visit_id(ToolLink::Side::result, find_string(result, "tool_use_id"));
  });
}

}  // namespace undertext
