// Sessions of opencode. A line, or an element of what `opencode export` prints, is
// {"info":…,"parts":[…]}: a message and what it holds. A tool's part is a call and its result;
// `step-start` begins another answer. The model gets what these parts become here.
#include <string>
#include <string_view>
#include <utility>

#include "message/client_text.hpp"
#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::string_view opencode_origin = "opencode";
// As opencode says it to the model in their place.
constexpr std::string_view of_subtask = "The following tool was executed by the user",
                           of_cleared = "[Old tool result content cleared]",
                           of_interrupted = "[Tool execution was interrupted]";

std::string text_part(std::string_view text) {
  return R"({"type":"text","text":)" + json_string(text) + "}";
}

std::string raw_member(JsonValue object, std::string_view name, std::string_view otherwise) {
  const std::optional<JsonValue> value = object.find(name);
  return std::string(value ? value->raw() : otherwise);
}

std::string file_part(JsonValue part) {
  std::string out = R"({"type":"file","mediaType":)" + json_string(text_member(part, "mime"));
  if (const std::string name = text_member(part, "filename"); !name.empty())
    out += R"(,"filename":)" + json_string(name);
  return out + R"(,"url":)" + json_string(text_member(part, "url")) + "}";
}

// Texts and folders are parts of their own already: the message has what they say.
bool is_said_elsewhere(JsonValue file) {
  const std::string mime = text_member(file, "mime");
  return mime == "text/plain" || mime == "application/x-directory";
}

std::string user_part(JsonValue part) {
  const std::string type = text_member(part, "type");
  if (type == "text" && !true_member(part, "ignored") && !text_member(part, "text").empty())
    return text_part(text_member(part, "text"));
  if (type == "file" && !is_said_elsewhere(part)) return file_part(part);
  if (type == "compaction") return text_part(opencode_question);
  if (type == "subtask") return text_part(of_subtask);
  return {};
}

std::string reasoning_part(JsonValue part) {
  const std::optional<JsonValue> about = part.find("metadata");
  const std::optional<JsonValue> anthropic = about ? about->find("anthropic") : std::nullopt;
  const std::string text = text_member(part, "text");
  if (const std::string signature =
          anthropic ? text_member(*anthropic, "signature") : std::string();
      !signature.empty())
    return R"({"type":"thinking","thinking":)" + json_string(text) + R"(,"signature":)" +
           json_string(signature) + "}";
  return text.empty() ? std::string() : R"({"type":"reasoning","text":)" + json_string(text) + "}";
}

// What the model gets for a call; empty while the tool runs.
std::string result_content(JsonValue part) {
  const std::optional<JsonValue> state = part.find("state");
  if (!state || !state->is(JsonType::object)) return {};
  const std::string status = text_member(*state, "status");
  if (status == "error") {
    const std::optional<JsonValue> about = state->find("metadata");
    const bool has_output =
        about && true_member(*about, "interrupted") && !text_member(*about, "output").empty();
    if (has_output) return json_string(text_member(*about, "output"));
    return R"([{"type":"tool_result","tool_use_id":)" + json_string(text_member(part, "callID")) +
           R"(,"content":)" + json_string(text_member(*state, "error")) + R"(,"is_error":true}])";
  }
  if (status != "completed") return {};
  const std::optional<JsonValue> time = state->find("time");
  if (time && time->find("compacted")) return json_string(of_cleared);
  const std::string text = json_string(text_member(*state, "output"));
  std::string files;
  if (const std::optional<JsonValue> attached = state->find("attachments");
      attached && attached->is(JsonType::array))
    for (const JsonValue file : attached->elements())
      if (file.is(JsonType::object)) files += "," + file_part(file);
  return files.empty() ? text : R"([{"type":"text","text":)" + text + "}" + files + "]";
}

bool is_summary_that_is_done(JsonValue info) {
  return true_member(info, "summary") && !text_member(info, "finish").empty() &&
         !info.find("error");
}

std::optional<std::int64_t> created_at(JsonValue info) {
  const std::optional<JsonValue> time = info.find("time");
  const std::optional<JsonValue> created = time ? time->find("created") : std::nullopt;
  return created && created->is(JsonType::number) ? created->int64() : std::nullopt;
}

}  // namespace

bool is_opencode_line(JsonValue line) {
  const std::optional<JsonValue> info = line.find("info");
  return info && info->is(JsonType::object) && info->find("id") &&
         (text_member(*info, "id").starts_with("ses_") ||
          (line.find("parts") && info->find("role")));
}

bool is_opencode_export(JsonValue value) {
  const std::optional<JsonValue> messages = value.find("messages");
  return messages && messages->is(JsonType::array) && is_opencode_line(value);
}

void OpencodeReader::read(JsonValue line) {
  const std::optional<JsonValue> info = line.find("info"), parts = line.find("parts"),
                                 messages = line.find("messages");
  if (!info || !info->is(JsonType::object)) {
    ++transcript_.left_out["a line that is no message"];
    return;
  }
  if (parts && parts->is(JsonType::array)) return read_message(*info, *parts);
  // The session itself. What the user took back is gone with the next prompt.
  if (const std::optional<JsonValue> revert = info->find("revert");
      revert && revert->is(JsonType::object)) {
    reverted_message_ = text_member(*revert, "messageID");
    reverted_part_ = text_member(*revert, "partID");
  }
  if (messages && messages->is(JsonType::array))
    for (const JsonValue each : messages->elements()) read(each);
}

void OpencodeReader::read_message(JsonValue info, JsonValue parts) {
  const std::string id = text_member(info, "id");
  const bool is_cut = !reverted_message_.empty() && id == reverted_message_;
  if (is_reverted_ || (is_cut && reverted_part_.empty())) {
    is_reverted_ = true;
    ++transcript_.left_out["a message that was taken back"];
    return;
  }
  if (is_cut) is_reverted_ = true;
  cut_at_ = is_cut ? reverted_part_ : std::string();
  finish_running();
  const std::size_t first = transcript_.messages.size();
  by_id_.emplace(id, first);
  if (text_member(info, "role") == "user") {
    read_user(info, parts);
    if (transcript_.messages.size() == first) ++transcript_.left_out["a message without content"];
    return;
  }
  read_answer(info, parts);
  if (is_summary_that_is_done(info)) note_compaction(text_member(info, "parentID"), first);
}

bool OpencodeReader::is_cut(JsonValue part) const {
  return !cut_at_.empty() && text_member(part, "id") >= cut_at_;
}

void OpencodeReader::read_user(JsonValue info, JsonValue parts) {
  std::string content;
  std::size_t count = 0;
  std::string only_text;
  for (const JsonValue part : parts.elements()) {
    if (!part.is(JsonType::object) || is_cut(part)) continue;
    const std::string said = user_part(part);
    if (said.empty()) continue;
    if (text_member(part, "type") == "compaction")
      tails_[text_member(info, "id")] = text_member(part, "tail_start_id");
    only_text = text_member(part, "type") == "text" ? text_member(part, "text") : std::string();
    (content += count++ == 0 ? "[" : ",") += said;
  }
  if (count == 0) return;
  MessageFields fields = fields_of(info, "user");
  fields.content = count == 1 && !only_text.empty() ? json_string(only_text) : content + "]";
  add_message(transcript_, fields, limits_);
}

MessageFields OpencodeReader::fields_of(JsonValue info, std::string_view role) const {
  MessageFields fields;
  fields.role = role;
  fields.id = text_member(info, "id");
  fields.timestamp_ms = created_at(info);
  fields.origin = opencode_origin;
  fields.rest = members_without(info, {"id", "sessionID", "role", "time", "parentID", "path",
                                       "summary", "system", "tools", "error"});
  return fields;
}

// One message for each step, with the results of its calls behind it.
void OpencodeReader::read_answer(JsonValue info, JsonValue parts) {
  const std::optional<JsonValue> error = info.find("error");
  if (error && error->is(JsonType::object)) {
    bool has_said = false;
    for (const JsonValue part : parts.elements()) {
      const std::string type = text_member(part, "type");
      has_said = has_said || (type != "step-start" && type != "reasoning");
    }
    if (text_member(*error, "name") != "MessageAbortedError" || !has_said) {
      ++transcript_.left_out["an error of the API"];
      return;
    }
  }
  MessageFields answer = fields_of(info, "assistant");
  std::vector<MessageFields> results;
  const auto finish = [&] {
    if (answer.content.empty() && answer.tool_calls.empty()) return;
    answer.content = answer.content.empty() ? "\"\"" : "[" + answer.content + "]";
    if (!answer.tool_calls.empty()) answer.tool_calls = "[" + answer.tool_calls + "]";
    add_message(transcript_, answer, limits_);
    for (MessageFields& result : results) {
      if (result.content.empty()) {
        running_.push_back(std::move(result));
      } else {
        add_message(transcript_, result, limits_);
      }
    }
    results.clear();
    // The steps of one answer are one message of the program's.
    answer.content.clear();
    answer.tool_calls.clear();
    answer.id.clear();
    answer.rest.clear();
  };
  for (const JsonValue part : parts.elements()) {
    if (!part.is(JsonType::object) || is_cut(part)) continue;
    const std::string type = text_member(part, "type");
    if (type == "step-start") finish();
    std::string said;
    if (type == "text" && !text_member(part, "text").empty())
      said = text_part(text_member(part, "text"));
    if (type == "reasoning") said = reasoning_part(part);
    if (!said.empty()) (answer.content += answer.content.empty() ? "" : ",") += said;
    if (type != "tool") continue;
    const std::optional<JsonValue> state = part.find("state");
    const std::string call = text_member(part, "callID");
    answer.tool_calls += answer.tool_calls.empty() ? "" : ",";
    answer.tool_calls += R"({"id":)" + json_string(call) + R"(,"name":)" +
                         json_string(text_member(part, "tool")) + R"(,"arguments":)" +
                         (state ? raw_member(*state, "input", "{}") : "{}") + "}";
    MessageFields result;
    result.role = "tool";
    result.content = result_content(part);
    result.tool_call_id = call;
    result.timestamp_ms = answer.timestamp_ms;
    results.push_back(std::move(result));
  }
  finish();
}

// The list goes on with the prompt for the summary, the summary, and what was kept; what the
// program keeps stands behind its summary.
void OpencodeReader::note_compaction(const std::string& parent, std::size_t summary) {
  const auto tail = tails_.find(parent);
  const auto prompt = by_id_.find(parent);
  if (tail == tails_.end() || prompt == by_id_.end() || transcript_.messages.size() == summary)
    return;
  const auto kept = by_id_.find(tail->second);
  std::vector<std::size_t> list = {prompt->second, summary};
  for (const std::size_t each : list_.list()) {
    const bool is_tail = kept != by_id_.end() && each >= kept->second && each < prompt->second;
    const bool is_later = each > prompt->second && each != summary;
    if (is_tail || is_later) list.push_back(each);
  }
  transcript_.compactions.push_back({prompt->second, transcript_.messages.size(), list, summary});
  list_.replace(std::move(list));
  tails_.erase(tail);
}

// Calls whose tools still ran when the program went on without them.
void OpencodeReader::finish_running() {
  for (MessageFields& result : running_) {
    result.content = R"([{"type":"tool_result","tool_use_id":)" + json_string(result.tool_call_id) +
                     R"(,"content":)" + json_string(of_interrupted) + R"(,"is_error":true}])";
    add_message(transcript_, result, limits_);
  }
  running_.clear();
}

}  // namespace undertext
