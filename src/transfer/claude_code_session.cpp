// Session files of Claude Code. Lines of type `user` and `assistant` hold a message of the Messages
// API; others are the program's own.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "message/turn.hpp"
#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::string_view claude_code_origin = "claudeCode";

// The elements of a list without its brackets; a text as a part.
std::string parts_of(JsonValue content) {
  if (content.is(JsonType::array))
    return std::string(content.raw().substr(1, content.raw().size() - 2));
  return R"({"type":"text","text":)" + std::string(content.raw()) + "}";
}

// What an attachment says: its text, that of a file, or lines; else all of it.
std::string attached_text(JsonValue attachment) {
  if (std::string text = text_member(attachment, "content"); !text.empty()) return text;
  const std::optional<JsonValue> content = attachment.find("content");
  const std::optional<JsonValue> file = content ? content->find("file") : std::nullopt;
  if (file && file->is(JsonType::object))
    return text_member(attachment, "filename") + "\n" + text_member(*file, "content");
  std::string lines;
  if (const std::optional<JsonValue> added = attachment.find("addedLines");
      added && added->is(JsonType::array)) {
    for (const JsonValue each : added->elements())
      if (each.is(JsonType::string)) (lines += lines.empty() ? "" : "\n") += each.string();
  }
  return lines.empty() ? std::string(attachment.raw()) : lines;
}

}  // namespace

bool is_claude_code_line(JsonValue line) {
  return line.is(JsonType::object) && line.find("type") && !line.find("payload") &&
         (line.find("sessionId") || line.find("leafUuid") || line.find("parentUuid") ||
          (line.find("uuid") && line.find("message")) || line.find("snapshot"));
}

void ClaudeCodeReader::finish_in(ImportedTranscript& transcript) const {
  if (answer_id_.empty()) return;
  MessageFields answer = answer_;
  answer.content = "[" + parts_ + "]";
  add_message(transcript, answer, limits_);
}

void ClaudeCodeReader::finish() {
  finish_in(transcript_);
  answer_id_.clear();
  parts_.clear();
}

// The line is part of the next message that is added.
void ClaudeCodeReader::note_uuid(JsonValue line) {
  by_uuid_[text_member(line, "uuid")] = transcript_.messages.size();
}

// The new list is the summary, which follows, and what the boundary names; then it goes on.
void ClaudeCodeReader::read_boundary(JsonValue line) {
  finish();
  ImportedTranscript::Compaction compaction{transcript_.messages.size(),
                                            transcript_.messages.size()};
  const std::optional<JsonValue> about = line.find("compactMetadata");
  const std::optional<JsonValue> preserved =
      about ? about->find("preservedMessages") : std::nullopt;
  const std::optional<JsonValue> uuids = preserved ? preserved->find("uuids") : std::nullopt;
  if (uuids && uuids->is(JsonType::array)) {
    for (const JsonValue uuid : uuids->elements()) {
      const auto found = uuid.is(JsonType::string) ? by_uuid_.find(uuid.string()) : by_uuid_.end();
      if (found != by_uuid_.end() && found->second < compaction.at)
        compaction.list.push_back(found->second);
    }
  }
  // Several lines are parts of one answer.
  std::sort(compaction.list.begin(), compaction.list.end());
  compaction.list.erase(std::unique(compaction.list.begin(), compaction.list.end()),
                        compaction.list.end());
  list_.replace(compaction.list);
  transcript_.compactions.push_back(std::move(compaction));
}

// A prompt may follow an earlier line than the last one: the user went back. Results of parallel
// calls follow their calls, and are no such thing.
void ClaudeCodeReader::follow(JsonValue line, JsonValue message) {
  Arena arena;
  ToolIds ids;
  if (has_kind(read_message(message, Dialect::anthropic, arena, ids), BlockKind::result)) return;
  const auto parent = by_uuid_.find(text_member(line, "parentUuid"));
  if (parent != by_uuid_.end() && parent->second < transcript_.messages.size())
    list_.go_back_to(parent->second);
}

void ClaudeCodeReader::note_summary() {
  if (transcript_.compactions.empty()) return;
  ImportedTranscript::Compaction& compaction = transcript_.compactions.back();
  const std::size_t next = transcript_.messages.size();
  if (compaction.summary || compaction.at != next) return;
  compaction.summary = next;
  compaction.end = next + 1;
  compaction.list.insert(compaction.list.begin(), next);
  list_.replace(compaction.list);
}

// What the program tells the model besides: lists of agents and skills, files. It reaches the model
// as a system message in the middle.
void ClaudeCodeReader::read_attachment(JsonValue line) {
  const std::optional<JsonValue> attachment = line.find("attachment");
  if (!attachment || !attachment->is(JsonType::object) || is_left_out(line)) {
    ++transcript_.left_out["attachment"];
    return;
  }
  finish();
  MessageFields fields;
  fields.role = "system";
  append_json_string(fields.content, attached_text(*attachment));
  fields.id = text_member(line, "uuid");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  fields.origin = claude_code_origin;
  fields.rest = R"({"attachment":)" + std::string(attachment->raw()) + "}";
  note_uuid(line);
  add_message(transcript_, fields, limits_);
}

void ClaudeCodeReader::read(JsonValue line) {
  const std::string type = text_member(line, "type");
  const std::optional<JsonValue> message = line.find("message");
  if (type == "system" && text_member(line, "subtype") == "compact_boundary")
    return read_boundary(line);
  if (type == "attachment") return read_attachment(line);
  if ((type != "user" && type != "assistant") || !message || !message->is(JsonType::object)) {
    ++transcript_.left_out[type.empty() ? "a line without a type" : type];
    return;
  }
  if (is_left_out(line)) {
    ++transcript_.left_out[std::string(sidechain)];
    return;
  }
  if (true_member(line, "isApiErrorMessage")) {
    ++transcript_.left_out["an error of the API"];
    return;
  }
  const std::optional<JsonValue> content = message->find("content");
  if (!content) {
    ++transcript_.left_out["a message without content"];
    return;
  }
  const std::string answer_id = type == "assistant" ? text_member(*message, "id") : std::string();
  if (!answer_id.empty() && answer_id == answer_id_) {
    const std::string more = parts_of(*content);
    if (!more.empty()) parts_ += (parts_.empty() ? "" : ",") + more;
    return note_uuid(line);
  }
  finish();
  if (true_member(line, "isCompactSummary")) note_summary();
  if (type == "user") follow(line, *message);
  note_uuid(line);
  MessageFields fields;
  fields.role = type;
  fields.content = content->raw();
  fields.id = text_member(line, "uuid");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  fields.origin = claude_code_origin;
  fields.rest = members_without(*message, {"role", "content", "type"});
  if (answer_id.empty()) return add_message(transcript_, fields, limits_);
  answer_id_ = answer_id;
  answer_ = std::move(fields);
  parts_ = parts_of(*content);
}

}  // namespace undertext
