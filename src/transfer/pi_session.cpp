// Session files of pi. The first line is {"type":"session",…}; entries follow, a tree by `id` and
// `parentId`. Entries of type `message` hold a message:
// `toolResult` is the role of results, `toolCall` the part of a call.
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::string_view origin = "pi";

// The parts that all providers know by the same name, and the calls.
std::pair<std::string, std::string> content_and_calls(JsonValue content) {
  if (!content.is(JsonType::array)) return {std::string(content.raw()), ""};
  std::string parts, calls;
  for (const JsonValue part : content.elements()) {
    if (part.is(JsonType::object) && text_member(part, "type") == "toolCall") {
      calls += calls.empty() ? "[" : ",";
      append_json_string(calls += R"({"id":)", text_member(part, "id"));
      append_json_string(calls += R"(,"name":)", text_member(part, "name"));
      const std::optional<JsonValue> arguments = part.find("arguments");
      (calls += R"(,"arguments":)") += arguments ? arguments->raw() : std::string_view("{}");
      calls += '}';
    } else {
      (parts += parts.empty() ? "[" : ",") += part.raw();
    }
  }
  return {parts.empty() ? "\"\"" : parts + "]", calls.empty() ? "" : calls + "]"};
}

}  // namespace

bool is_pi_line(JsonValue line) {
  return line.is(JsonType::object) && text_member(line, "type") == "session" && line.find("cwd") &&
         line.find("id") && !line.find("payload") && !line.find("sessionId");
}

// Where the entry says that it stands; nothing: it says nothing, or of an entry that is not there.
std::optional<EntryPlace> PiReader::parent_of(JsonValue line) const {
  const std::optional<JsonValue> parent = line.find("parentId");
  if (!parent) return {};
  if (parent->is(JsonType::null)) return EntryPlace{};
  const auto found = by_id_.find(text_member(line, "parentId"));
  return found == by_id_.end() ? std::nullopt : std::optional(found->second);
}

// An entry whose parent is not the last one: the user went to another branch.
void PiReader::follow(JsonValue line) {
  if (const std::optional<EntryPlace> parent = parent_of(line)) list_.go_back_to(*parent);
}

void PiReader::read_message(JsonValue line, JsonValue message) {
  MessageFields fields;
  const std::string role = text_member(message, "role");
  const std::optional<JsonValue> content = message.find("content");
  fields.role = role == "toolResult" ? "tool" : role;
  if (role == "bashExecution") {
    fields.role = "user";
    append_json_string(fields.content, "$ " + text_member(message, "command") + "\n" +
                                           text_member(message, "output"));
  } else if (content) {
    std::tie(fields.content, fields.tool_calls) = content_and_calls(*content);
  } else {
    fields.content = "null";
  }
  if (role == "custom" || role == "hookMessage") fields.role = "user";
  fields.tool_call_id = text_member(message, "toolCallId");
  fields.id = text_member(line, "id");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  fields.origin = origin;
  fields.rest = members_without(message, {"role", "content", "toolCallId", "timestamp"});
  add(line, fields);
}

void PiReader::add(JsonValue line, const MessageFields& fields) {
  const std::size_t message = transcript_.messages.size();
  add_message(transcript_, fields, limits_);
  if (transcript_.messages.size() == message) return pass_over(line);
  by_id_[fields.id] = EntryPlace{message};
}

// What comes behind an entry that is no message follows the message before it.
void PiReader::pass_over(JsonValue line) {
  if (const std::optional<EntryPlace> parent = parent_of(line))
    by_id_[text_member(line, "id")] = *parent;
}

// What pi or an extension says in the user's name: what a branch that was left was about, or a
// message of its own.
void PiReader::read_words(JsonValue line, std::string_view content) {
  const std::optional<JsonValue> words = line.find(content);
  if (!words) {
    ++transcript_.left_out[text_member(line, "type")];
    return pass_over(line);
  }
  follow(line);
  MessageFields fields;
  fields.role = "user";
  fields.content = words->raw();
  fields.id = text_member(line, "id");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  fields.origin = origin;
  fields.rest = members_without(line, {content, "id", "parentId", "timestamp"});
  add(line, fields);
}

// The list goes on with the summary, and what was there from the first entry that is kept.
void PiReader::read_compaction(JsonValue line) {
  follow(line);
  const std::size_t summary = transcript_.messages.size();
  std::vector<std::size_t> list = {summary};
  if (const auto first = by_id_.find(text_member(line, "firstKeptEntryId")); first != by_id_.end())
    for (const std::size_t each : list_.list())
      if (each >= first->second.message.value_or(0)) list.push_back(each);
  MessageFields fields;
  fields.role = "user";
  append_json_string(fields.content, text_member(line, "summary"));
  fields.id = text_member(line, "id");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  add(line, fields);
  if (transcript_.messages.size() == summary) return;
  transcript_.compactions.push_back({summary, summary + 1, list, summary});
  list_.replace(std::move(list));
}

void PiReader::read(JsonValue line) {
  const std::string type = text_member(line, "type");
  if (type == "compaction") return read_compaction(line);
  if (type == "branch_summary") return read_words(line, "summary");
  if (type == "custom_message") return read_words(line, "content");
  const std::optional<JsonValue> message = line.find("message");
  if (type == "message" && message && message->is(JsonType::object)) {
    follow(line);
    return read_message(line, *message);
  }
  ++transcript_.left_out[type];
  pass_over(line);
}

}  // namespace undertext
