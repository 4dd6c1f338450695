// Session files of Claude Code. Lines of type `user` and `assistant` hold a message of the Messages API; others are the program's own.
#include <string>
#include <string_view>
#include <utility>

#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::string_view origin = "claudeCode";

// The elements of a list without its brackets; a text as a part.
std::string parts_of(JsonValue content) {
  if (content.is(JsonType::array)) return std::string(content.raw().substr(1, content.raw().size() - 2));
  return R"({"type":"text","text":)" + std::string(content.raw()) + "}";
}

}  // namespace

bool is_claude_code_line(JsonValue line) {
  return line.is(JsonType::object) && line.find("type") && !line.find("payload") &&
         (line.find("sessionId") || line.find("leafUuid") || line.find("parentUuid") ||
          (line.find("uuid") && line.find("message")) || line.find("snapshot"));
}

void ClaudeCodeReader::finish() {
  if (answer_id_.empty()) return;
  answer_.content = "[" + parts_ + "]";
  add_message(transcript_, answer_, limits_);
  answer_id_.clear();
  parts_.clear();
}

void ClaudeCodeReader::read(JsonValue line) {
  const std::string type = text_member(line, "type");
  const std::optional<JsonValue> message = line.find("message");
  if (type == "system" && text_member(line, "subtype") == "compact_boundary") {
    finish();
    transcript_.fresh_starts.push_back(transcript_.messages.size());
    return;
  }
  if ((type != "user" && type != "assistant") || !message || !message->is(JsonType::object)) {
    ++transcript_.left_out[type.empty() ? "a line without a type" : type];
    return;
  }
  if (true_member(line, "isSidechain")) {
    ++transcript_.left_out["sidechain, the work of a sub-agent"];
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
    return;
  }
  finish();
  MessageFields fields;
  fields.role = type;
  fields.content = content->raw();
  fields.id = text_member(line, "uuid");
  fields.timestamp_ms = read_iso_time(text_member(line, "timestamp"));
  fields.origin = origin;
  fields.rest = members_without(*message, {"role", "content", "type"});
  if (answer_id.empty()) return add_message(transcript_, fields, limits_);
  answer_id_ = answer_id;
  answer_ = std::move(fields);
  parts_ = parts_of(*content);
}

}  // namespace undertext
