// Session files of Claude Code. Lines of type `user` and `assistant` hold a message of the Messages
// API; others are the program's own.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// What the user said while an answer was still being written.
std::optional<JsonValue> queued_words(JsonValue attachment) {
  if (text_member(attachment, "type") != "queued_command") return {};
  const std::optional<JsonValue> origin = attachment.find("origin");
  const std::string mode = text_member(attachment, "commandMode"),
                    from = origin ? text_member(*origin, "kind") : std::string();
  const bool is_the_users = (mode.empty() || mode == "prompt") &&
                            (from.empty() || from == "human") && !true_member(attachment, "isMeta");
  return is_the_users ? attachment.find("prompt") : std::nullopt;
}

// What an attachment says: its text, that of a file, or lines; else all of it.
std::string attached_text(JsonValue attachment) {
  if (std::string text = text_member(attachment, "prompt"); !text.empty()) return text;
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

bool has_results(JsonValue message) {
  Arena arena;
  ToolIds ids;
  return has_kind(read_message(message, Dialect::anthropic, arena, ids), BlockKind::result);
}

}  // namespace

bool is_claude_code_line(JsonValue line) {
  return line.is(JsonType::object) && line.find("type") && !line.find("payload") &&
         (line.find("sessionId") || line.find("leafUuid") || line.find("parentUuid") ||
          (line.find("uuid") && line.find("message")) || line.find("snapshot"));
}

// Where the line says that it stands; nothing: it says nothing, or of a line that is not there.
std::optional<EntryPlace> ClaudeCodeReader::parent_of(JsonValue line) const {
  const std::optional<JsonValue> parent = line.find("parentUuid");
  if (!parent) return {};
  if (parent->is(JsonType::null)) return EntryPlace{};
  const auto found = by_uuid_.find(text_member(line, "parentUuid"));
  return found == by_uuid_.end() ? std::nullopt : std::optional(found->second.place);
}

void ClaudeCodeReader::note_message(JsonValue line, std::size_t message) {
  if (const std::string uuid = text_member(line, "uuid"); !uuid.empty())
    by_uuid_[uuid] = {EntryPlace{message}, true, text_member(line, "parentUuid")};
}

// What comes behind a line that is no message follows the message before it.
void ClaudeCodeReader::pass_over(JsonValue line) {
  const std::string uuid = text_member(line, "uuid");
  const std::optional<EntryPlace> place = parent_of(line);
  if (!uuid.empty() && place) by_uuid_[uuid] = {*place, false, text_member(line, "parentUuid")};
}

void ClaudeCodeReader::add(JsonValue line, const MessageFields& fields) {
  const std::size_t message = transcript_.messages.size();
  add_message(transcript_, fields, limits_);
  if (transcript_.messages.size() == message) return pass_over(line);
  note_message(line, message);
}

// The lines that a boundary says were kept: all of them, or the first and the last.
std::vector<std::string> ClaudeCodeReader::preserved_by(JsonValue metadata) const {
  std::vector<std::string> kept;
  const std::optional<JsonValue> preserved = metadata.find("preservedMessages");
  const std::optional<JsonValue> uuids = preserved ? preserved->find("uuids") : std::nullopt;
  if (uuids && uuids->is(JsonType::array)) {
    for (const JsonValue uuid : uuids->elements())
      if (uuid.is(JsonType::string)) kept.push_back(uuid.string());
    return kept;
  }
  const std::optional<JsonValue> segment = metadata.find("preservedSegment");
  if (!segment) return kept;
  const std::string head = text_member(*segment, "headUuid");
  std::string uuid = text_member(*segment, "tailUuid");
  // No longer than the file: parents may go in a circle.
  while (kept.size() <= by_uuid_.size()) {
    const auto found = by_uuid_.find(uuid);
    if (found == by_uuid_.end()) break;
    kept.push_back(uuid);
    if (uuid == head) return kept;
    uuid = found->second.parent;
  }
  return {};  // the program itself keeps nothing then
}

// Results of parallel calls stand beside the way from the last line to the first.
void ClaudeCodeReader::add_results_between(std::vector<std::size_t>& list) {
  if (list.empty()) return;
  const std::size_t first = list.front(), last = list.back();
  for (const std::size_t each : list_.list())
    if (each > first && each < last && says_result(transcript_.messages[each]))
      list.push_back(each);
}

// The new list is the summary, which follows, and what the boundary names; then it goes on.
void ClaudeCodeReader::read_boundary(JsonValue line) {
  answer_id_.clear();
  ImportedTranscript::Compaction compaction{transcript_.messages.size(),
                                            transcript_.messages.size()};
  const std::optional<JsonValue> about = line.find("compactMetadata");
  std::vector<std::size_t>& list = compaction.list;
  keeps_first_ = false;
  if (about) {
    for (const std::string& uuid : preserved_by(*about)) {
      const auto found = by_uuid_.find(uuid);
      if (found != by_uuid_.end() && found->second.is_message)
        list.push_back(*found->second.place.message);
    }
    std::sort(list.begin(), list.end());
    const std::optional<JsonValue> messages = about->find("preservedMessages"),
                                   segment = about->find("preservedSegment");
    if (!messages) add_results_between(list);
    const std::optional<JsonValue>& kept = messages ? messages : segment;
    const std::string anchor = kept ? text_member(*kept, "anchorUuid") : std::string();
    keeps_first_ = !anchor.empty() && anchor == text_member(line, "uuid");
  }
  // Several lines are parts of one answer.
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  list_.replace(list);
  transcript_.compactions.push_back(std::move(compaction));
}

// A line may follow an earlier one than the last: the user went back.
void ClaudeCodeReader::follow(JsonValue line) {
  if (const std::optional<EntryPlace> parent = parent_of(line)) list_.go_back_to(*parent);
}

void ClaudeCodeReader::note_summary(std::size_t message) {
  if (transcript_.compactions.empty() || message == transcript_.messages.size()) return;
  ImportedTranscript::Compaction& compaction = transcript_.compactions.back();
  if (compaction.summary || compaction.at != message) return;
  compaction.summary = message;
  compaction.end = message + 1;
  compaction.list.insert(keeps_first_ ? compaction.list.end() : compaction.list.begin(), message);
  list_.replace(compaction.list);
}

// What the program tells the model besides: lists of agents and skills, files. It reaches the model
// as a system message in the middle. What the user said meanwhile are the user's words.
void ClaudeCodeReader::read_attachment(JsonValue line) {
  const std::optional<JsonValue> attachment = line.find("attachment");
  if (!attachment || !attachment->is(JsonType::object) || is_left_out(line)) {
    ++transcript_.left_out["attachment"];
    return pass_over(line);
  }
  follow(line);
  MessageFields fields;
  fields.id = text_member(line, "uuid");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  fields.origin = claude_code_origin;
  std::string about(attachment->raw());
  if (const std::optional<JsonValue> words = queued_words(*attachment)) {
    fields.role = "user";
    fields.content = words->raw();
    about = members_without(*attachment, {"prompt"});
  } else {
    fields.role = "system";
    append_json_string(fields.content, attached_text(*attachment));
  }
  fields.rest = R"({"attachment":)" + about + "}";
  add(line, fields);
}

// Which line the program stands at. Where the user went back and said nothing yet, only this says
// so, and is explicit; else it may be of an earlier time, and matters where it is on another branch.
void ClaudeCodeReader::read_leaf(JsonValue line) {
  const std::optional<JsonValue> leaf = line.find("leafUuid");
  const bool is_explicit = true_member(line, "explicit");
  if (!leaf) return;
  if (leaf->is(JsonType::null)) {
    if (is_explicit) list_.go_back_to({});
    return;
  }
  const auto found = by_uuid_.find(text_member(line, "leafUuid"));
  if (found == by_uuid_.end()) return;
  const EntryPlace place = found->second.place;
  if (is_explicit || (place.message && !list_.has(*place.message))) list_.go_back_to(place);
}

// The next part of an answer. Results of its first calls may stand between the parts: they are
// written as they come, and the answer is one message to the provider.
void ClaudeCodeReader::read_more(JsonValue line, JsonValue content) {
  const std::string more = parts_of(content);
  if (!more.empty()) parts_ += (parts_.empty() ? "" : ",") + more;
  answer_.content = "[" + parts_ + "]";
  Result<Message> whole = message_of(answer_, limits_);
  if (!whole) {
    leave_out(transcript_, whole.error());
    return pass_over(line);
  }
  if (!answer_at_) {
    answer_at_ = transcript_.messages.size();
    transcript_.messages.push_back(std::move(*whole));
  } else {
    transcript_.messages[*answer_at_] = std::move(*whole);
  }
  note_message(line, *answer_at_);
}

void ClaudeCodeReader::read(JsonValue line) {
  const std::string type = text_member(line, "type");
  const std::optional<JsonValue> message = line.find("message");
  if (type == "system" && text_member(line, "subtype") == "compact_boundary")
    return read_boundary(line);
  if (type == "attachment") return read_attachment(line);
  if (type == "last-prompt") read_leaf(line);
  if ((type != "user" && type != "assistant") || !message || !message->is(JsonType::object)) {
    ++transcript_.left_out[type.empty() ? "a line without a type" : type];
    return pass_over(line);
  }
  if (is_left_out(line)) {
    ++transcript_.left_out[std::string(sidechain)];
    return;
  }
  if (true_member(line, "isApiErrorMessage")) {
    ++transcript_.left_out["an error of the API"];
    return pass_over(line);
  }
  const std::optional<JsonValue> content = message->find("content");
  if (!content) {
    ++transcript_.left_out["a message without content"];
    return pass_over(line);
  }
  const std::string answer_id = type == "assistant" ? text_member(*message, "id") : std::string();
  if (!answer_id.empty() && answer_id == answer_id_) return read_more(line, *content);
  // Results of parallel calls follow their calls: that is no way back, and no end of the answer.
  const bool is_summary = type == "user" && true_member(line, "isCompactSummary");
  if (type == "user" && !has_results(*message)) {
    answer_id_.clear();
    if (!is_summary) follow(line);
  }
  MessageFields fields;
  fields.role = type;
  fields.content = content->raw();
  fields.id = text_member(line, "uuid");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  fields.origin = claude_code_origin;
  fields.rest = members_without(*message, {"role", "content", "type"});
  const std::size_t at = transcript_.messages.size();
  if (answer_id.empty()) {
    add(line, fields);
    if (is_summary) note_summary(at);
    return;
  }
  parts_ = parts_of(*content);
  fields.content = "[" + parts_ + "]";
  add(line, fields);
  answer_id_ = answer_id;
  answer_ = std::move(fields);
  answer_at_ = transcript_.messages.size() > at ? std::optional(at) : std::nullopt;
}

}  // namespace undertext
