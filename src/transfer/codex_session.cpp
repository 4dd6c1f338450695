// Session files of Codex CLI. A line is {"timestamp":…,"type":…,"payload":{…}}; `response_item` holds what is sent to the model, an item of the
// Responses API. Older ones have the items themselves as lines.
#include <string>
#include <string_view>

#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::string_view origin = "codex";

bool is_item_type(std::string_view type) {
  for (const std::string_view known :
       {"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call",
        "local_shell_call_output", "reasoning", "web_search_call"}) {
    if (type == known) return true;
  }
  return false;
}

// The parts, those of text by the name that all providers know.
std::string content_of(JsonValue content) {
  if (!content.is(JsonType::array)) return std::string(content.raw());
  std::string parts;
  for (const JsonValue part : content.elements()) {
    parts += parts.empty() ? "[" : ",";
    const std::string type = part.is(JsonType::object) ? text_member(part, "type") : std::string();
    if (type == "input_text" || type == "output_text") {
      parts += R"({"type":"text","text":)";
      append_json_string(parts, text_member(part, "text"));
      parts += '}';
    } else {
      parts += part.raw();
    }
  }
  return parts.empty() ? "\"\"" : parts + "]";
}

// What a tool gave: a text, parts, or an object around one of them.
std::string output_of(JsonValue output) {
  if (output.is(JsonType::object)) {
    if (const std::optional<JsonValue> content = output.find("content"); content && content->is(JsonType::string))
      return std::string(content->raw());
    std::string text;
    append_json_string(text, output.raw());
    return text;
  }
  return content_of(output);
}

void add_call(ImportedTranscript& transcript, JsonValue item, std::string_view name, std::string_view arguments,
              MessageFields fields, const MessageLimits& limits) {
  fields.role = "assistant";
  fields.content = "\"\"";
  std::string call = R"([{"id":)";
  append_json_string(call, text_member(item, "call_id"));
  append_json_string(call += R"(,"name":)", name);
  (call += R"(,"arguments":)") += arguments;
  fields.tool_calls = call + "}]";
  add_message(transcript, fields, limits);
}

void read_item(ImportedTranscript& transcript, JsonValue item, std::optional<std::int64_t> timestamp_ms,
               const MessageLimits& limits) {
  const std::string type = text_member(item, "type");
  MessageFields fields;
  fields.timestamp_ms = timestamp_ms;
  fields.origin = origin;
  const auto raw_or = [&](std::string_view name, std::string_view otherwise) {
    const std::optional<JsonValue> value = item.find(name);
    return std::string(value ? value->raw() : otherwise);
  };
  if (type == "message") {
    fields.role = text_member(item, "role");
    const std::optional<JsonValue> content = item.find("content");
    fields.content = content ? content_of(*content) : "null";
    fields.rest = members_without(item, {"type", "role", "content"});
    add_message(transcript, fields, limits);
  } else if (type == "function_call") {
    fields.rest = members_without(item, {"type", "call_id", "name", "arguments"});
    add_call(transcript, item, text_member(item, "name"), raw_or("arguments", "\"\""), fields, limits);
  } else if (type == "custom_tool_call") {
    fields.rest = members_without(item, {"type", "call_id", "name", "input"});
    add_call(transcript, item, text_member(item, "name"), raw_or("input", "\"\""), fields, limits);
  } else if (type == "local_shell_call") {
    fields.rest = members_without(item, {"type", "call_id", "action"});
    add_call(transcript, item, "local_shell", raw_or("action", "{}"), fields, limits);
  } else if (type.ends_with("_call_output")) {
    fields.role = "tool";
    fields.tool_call_id = text_member(item, "call_id");
    const std::optional<JsonValue> output = item.find("output");
    fields.content = output ? output_of(*output) : "\"\"";
    fields.rest = members_without(item, {"type", "call_id", "output"});
    add_message(transcript, fields, limits);
  } else if (type == "compaction" || type == "reasoning" || type.ends_with("_call")) {  // what only its provider can read
    fields.role = "assistant";
    fields.content = R"([{"type":")" + std::string(type == "reasoning" ? "reasoning" : "openai_responses") + R"(","item":)" +
                     std::string(item.raw()) + "}]";
    add_message(transcript, fields, limits);
  } else {
    ++transcript.left_out[type.empty() ? "an item without a type" : type];
  }
}

// All that was written since is the new list. A summary among what was kept is told by its profile.
void add_compaction(ImportedTranscript& transcript, ImportedTranscript::Compaction compaction) {
  compaction.end = transcript.messages.size();
  for (std::size_t i = compaction.at; i < compaction.end; ++i) compaction.list.push_back(i);
  transcript.compactions.push_back(std::move(compaction));
}

// Codex goes on with a summary, and what it chose to keep.
void read_compacted(ImportedTranscript& transcript, JsonValue payload, std::optional<std::int64_t> timestamp_ms,
                    const MessageLimits& limits) {
  ImportedTranscript::Compaction compaction{transcript.messages.size()};
  const std::optional<JsonValue> kept = payload.find("replacement_history");
  if (kept && kept->is(JsonType::array)) {
    for (const JsonValue item : kept->elements()) {
      if (item.is(JsonType::object)) read_item(transcript, item, timestamp_ms, limits);
    }
    return add_compaction(transcript, std::move(compaction));
  }
  MessageFields fields;
  fields.role = "user";
  append_json_string(fields.content, text_member(payload, "message"));
  fields.timestamp_ms = timestamp_ms;
  fields.origin = origin;
  fields.rest = R"({"type":"compacted"})";
  add_message(transcript, fields, limits);
  compaction.summary = compaction.at;
  add_compaction(transcript, std::move(compaction));
}

}  // namespace

bool is_codex_line(JsonValue line) {
  if (!line.is(JsonType::object)) return false;
  const std::optional<JsonValue> payload = line.find("payload");
  if (payload && payload->is(JsonType::object) && line.find("type")) return true;
  return is_item_type(text_member(line, "type")) || line.find("record_type") || (line.find("instructions") && line.find("id"));
}

void read_codex_line(ImportedTranscript& transcript, JsonValue line, const MessageLimits& limits) {
  const std::string type = text_member(line, "type");
  const std::optional<std::int64_t> timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  const std::optional<JsonValue> payload = line.find("payload");
  if (!payload || !payload->is(JsonType::object)) {
    if (is_item_type(type)) return read_item(transcript, line, timestamp_ms, limits);
    ++transcript.left_out[type.empty() ? "session_meta" : type];
  } else if (type == "response_item") {
    read_item(transcript, *payload, timestamp_ms, limits);
  } else if (type == "compacted") {
    read_compacted(transcript, *payload, timestamp_ms, limits);
  } else {
    ++transcript.left_out[type];  // session_meta, turn_context, event_msg: what the program knows beside the conversation
  }
}

}  // namespace undertext
