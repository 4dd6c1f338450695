// Session files of Codex CLI. A line is {"timestamp":…,"type":…,"payload":{…}}; `response_item`
// holds what is sent to the model, an item of the Responses API. Older ones have the items
// themselves as lines.
#include <algorithm>
#include <string>
#include <string_view>

#include "message/item_types.hpp"
#include "message/read_part.hpp"
#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::string_view codex_origin = "codex";

// What earlier releases wrote for `compaction`, and what the provider does not take any more.
constexpr std::string_view earlier_compaction = "compaction_summary";

bool is_item_type(std::string_view type) {
  return type == "message" || type == "reasoning" || type == "compaction" ||
         type == earlier_compaction || item_type(type);
}

// The parts, those of text by the name that all providers know.
std::string content_of(JsonValue content) {
  if (!content.is(JsonType::array)) return std::string(content.raw());
  std::string parts;
  for (const JsonValue part : content.elements()) {
    parts += parts.empty() ? "[" : ",";
    const std::string type = part.is(JsonType::object) ? text_member(part, "type") : std::string();
    Arena arena;
    Block said;
    said.kind = BlockKind::opaque;
    if (part.is(JsonType::object)) read_said(part, type, said, arena);
    if (said.kind == BlockKind::text && type != "text") {
      parts += R"({"type":"text","text":")" + std::string(said.text) + R"("})";
    } else {
      parts += part.raw();
    }
  }
  return parts.empty() ? "\"\"" : parts + "]";
}

// What a tool gave: a text, parts, or an object around one of them.
std::string output_of(JsonValue output) {
  if (output.is(JsonType::object)) {
    if (const std::optional<JsonValue> content = output.find("content");
        content && content->is(JsonType::string))
      return std::string(content->raw());
    std::string text;
    append_json_string(text, output.raw());
    return text;
  }
  return content_of(output);
}

void add_call(ImportedTranscript& transcript, const Block& block, MessageFields fields,
              const MessageLimits& limits) {
  fields.role = "assistant";
  fields.content = "\"\"";
  std::string call = R"([{"id":)";
  append_json_string(call, block.id);
  append_json_string(call += R"(,"name":)", block.name);
  const std::string_view nothing = block.has_own_form ? "{}" : "\"\"";
  (call += R"(,"arguments":)") += block.json.empty() ? nothing : block.json;
  fields.tool_calls = call + "}]";
  add_message(transcript, fields, limits);
}

// What is kept whole, since only its provider can read it or a message has no other form for it.
std::string part_of(JsonValue item, std::string_view type) {
  const std::string_view part = type == "reasoning" ? "reasoning" : "openai_responses";
  std::string whole(item.raw());
  if (type == earlier_compaction) {
    const std::string rest = members_without(item, {"type"});
    whole = R"({"type":"compaction")" + (rest.empty() ? "}" : "," + rest.substr(1));
  }
  return R"([{"type":")" + std::string(part) + R"(","item":)" + whole + "}]";
}

// Calls that become `toolCalls`, and their outputs. Every other one is kept whole.
bool is_plain(const Block& block) {
  return !block.has_own_form || block.type.starts_with("local_shell_");
}

void read_item(ImportedTranscript& transcript, JsonValue item,
               std::optional<std::int64_t> timestamp_ms, const MessageLimits& limits) {
  const std::string type = text_member(item, "type");
  MessageFields fields;
  fields.timestamp_ms = timestamp_ms;
  fields.origin = codex_origin;
  Arena arena;
  const std::optional<ItemType> tool = item_type(type);
  const std::optional<Block> block = undertext::read_item(item, arena);
  if (type == "message") {
    fields.role = text_member(item, "role");
    const std::optional<JsonValue> content = item.find("content");
    fields.content = content ? content_of(*content) : "null";
    fields.rest = members_without(item, {"type", "role", "content"});
    add_message(transcript, fields, limits);
  } else if (block && is_plain(*block) && block->kind == BlockKind::call) {
    fields.rest = members_without(item, {"type", tool->id, "name", tool->said});
    add_call(transcript, *block, fields, limits);
  } else if (block && is_plain(*block)) {
    fields.role = "tool";
    fields.tool_call_id = block->id;
    const std::optional<JsonValue> output = item.find(tool->said);
    fields.content = output ? output_of(*output) : "\"\"";
    fields.rest = members_without(item, {"type", tool->id, tool->said});
    add_message(transcript, fields, limits);
  } else if (is_item_type(type)) {
    fields.role = tool && tool->kind == BlockKind::result ? "tool" : "assistant";
    fields.content = part_of(item, type);
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
void read_compacted(ImportedTranscript& transcript, JsonValue payload,
                    std::optional<std::int64_t> timestamp_ms, const MessageLimits& limits) {
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
  fields.origin = codex_origin;
  fields.rest = R"({"type":"compacted"})";
  add_message(transcript, fields, limits);
  if (transcript.messages.size() > compaction.at) compaction.summary = compaction.at;
  add_compaction(transcript, std::move(compaction));
}

// What the program itself says in the name of the user or the developer, before a prompt.
bool is_of_the_program(JsonValue item) {
  const std::string role = text_member(item, "role");
  const std::optional<JsonValue> content = item.find("content");
  if ((role != "user" && role != "developer") || !content || !content->is(JsonType::array))
    return false;
  for (const JsonValue part : content->elements()) {
    if (!part.is(JsonType::object)) continue;
    const std::string said = text_member(part, "text");
    const std::size_t begin = said.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) continue;
    const std::string_view text = std::string_view(said).substr(begin);
    if (role == "developer" && text.starts_with('<')) return true;
    for (const std::string_view mark :
         {"# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<skill>",
          "<user_shell_command>", "<turn_aborted>", "<subagent_notification>"})
      if (text.starts_with(mark)) return true;
  }
  return false;
}

}  // namespace

bool is_codex_line(JsonValue line) {
  if (!line.is(JsonType::object)) return false;
  const std::optional<JsonValue> payload = line.find("payload");
  if (payload && payload->is(JsonType::object) && line.find("type")) return true;
  return is_item_type(text_member(line, "type")) || line.find("record_type") ||
         (line.find("instructions") && line.find("id"));
}

// A turn begins with what the user said, or with what the program says just before that; the first
// one with what the user said: what stands before it belongs to the session.
void CodexReader::read_turn_item(JsonValue item, std::optional<std::int64_t> timestamp_ms) {
  const std::size_t message = transcript_.messages.size();
  read_item(transcript_, item, timestamp_ms, limits_);
  if (transcript_.messages.size() == message) return;
  if (is_of_the_program(item)) {
    context_ = context_.value_or(message);
    return;
  }
  if (text_member(item, "type") == "message" && text_member(item, "role") == "user")
    turns_.push_back(turns_.empty() ? message : context_.value_or(message));
  context_.reset();
}

// The user took so many turns back, also those that a compaction stands for by now.
void CodexReader::read_rollback(JsonValue event) {
  const std::optional<JsonValue> count = event.find("num_turns");
  const std::uint64_t turns =
      count && count->is(JsonType::number) ? count->uint64_saturated().value_or(0) : 0;
  if (turns == 0 || turns_.empty()) return;
  const std::size_t left = turns_.size() - std::min<std::uint64_t>(turns, turns_.size());
  list_.take_back_from(turns_[left]);
  turns_.resize(left);
  context_.reset();
}

void CodexReader::read(JsonValue line) {
  const std::string type = text_member(line, "type");
  const std::optional<std::int64_t> timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  const std::optional<JsonValue> payload = line.find("payload");
  if (!payload || !payload->is(JsonType::object)) {
    if (is_item_type(type)) return read_turn_item(line, timestamp_ms);
    ++transcript_.left_out[type.empty() ? "session_meta" : type];
  } else if (type == "response_item") {
    read_turn_item(*payload, timestamp_ms);
  } else if (type == "compacted") {
    read_compacted(transcript_, *payload, timestamp_ms, limits_);
    list_.replace(transcript_.compactions.back().list);
    context_.reset();
  } else if (type == "event_msg" && text_member(*payload, "type") == "thread_rolled_back") {
    read_rollback(*payload);
  } else {
    // session_meta, turn_context, event_msg: what the program knows beside the conversation
    ++transcript_.left_out[type];
  }
}

}  // namespace undertext
