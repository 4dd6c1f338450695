#include "transfer/session_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json_text.hpp"
#include "store/chain.hpp"
#include "transfer/opencode_export.hpp"
#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

// in the order of the enum
constexpr std::array<std::string_view, 3> session_formats = {"claude-code", "codex", "opencode"};

// A UUID that depends on the facts alone.
std::string uuid_of(const std::string& seed) {
  std::string text = hex(sha256(seed)).substr(0, 32);
  text[12] = '4';
  text[16] = "89ab"[static_cast<unsigned char>(text[16]) % 4];
  for (const std::size_t at : {8u, 13u, 18u, 23u}) text.insert(at, 1, '-');
  return text;
}

// Every line is a millisecond after the one before; the last one has the session's time.
class Clock {
 public:
  Clock(std::int64_t last_ms, std::size_t lines)
      : now_ms_(last_ms - static_cast<std::int64_t>(lines)) {}
  std::string tick() { return iso_time(++now_ms_); }

 private:
  std::int64_t now_ms_;
};

Result<JsonText> list_in(std::string_view request, std::string_view field) {
  Result<JsonText> json = JsonText::parse(request, {.depth = 512});
  if (!json) return json.error();
  const std::optional<JsonValue> list = json->root().find(field);
  if (!list || !list->is(JsonType::array))
    return Error{ErrorCode::invalid_argument,
                 "the request has no list `" + std::string(field) + "`"};
  return json;
}

// Two stores may have conversations of one name: what they say tells them apart.
std::string uuid_seed(const SessionFacts& facts, std::string_view before, std::string_view now) {
  return facts.conversation + "@" + std::to_string(facts.version) + "\n" + hex(sha256(before)) +
         hex(sha256(now));
}

class ClaudeCodeLines {
 public:
  ClaudeCodeLines(const SessionFacts& facts, std::string id, std::size_t lines)
      : facts_(facts), id_(std::move(id)), clock_(facts.at_ms, lines) {}

  void add(JsonValue message, bool is_summary) {
    const std::string role = text_member(message, "role");
    std::string line = begin(role == "assistant" ? "assistant" : "user");
    line += R"(,"message":)" + (role == "assistant"
                                    ? answer(message)
                                    : R"({"role":"user","content":)" + content(message) + "}");
    if (is_summary) line += R"(,"isVisibleInTranscriptOnly":true,"isCompactSummary":true)";
    end(std::move(line));
  }

  // What comes after it is all that is sent.
  void add_boundary() {
    const std::string last = std::exchange(parent_, "");
    std::string line =
        begin("system") +
        R"(,"subtype":"compact_boundary","content":"Conversation compacted","isMeta":false)";
    line +=
        R"(,"level":"info","compactMetadata":{"trigger":"manual","preTokens":0},"logicalParentUuid":)" +
        json_string(last);
    end(std::move(line));
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::string begin(std::string_view type) const {
    std::string line = R"({"parentUuid":)" + (parent_.empty() ? "null" : json_string(parent_));
    line += R"(,"isSidechain":false,"userType":"external","cwd":)" + json_string(facts_.project);
    line += R"(,"sessionId":)" + json_string(id_) + R"(,"version":"0.0.0","gitBranch":"","type":)" +
            json_string(type);
    return line;
  }
  void end(std::string line) {
    parent_ = uuid_of(id_ + std::to_string(lines_.size()));
    line += R"(,"uuid":)" + json_string(parent_) + R"(,"timestamp":)" + json_string(clock_.tick()) +
            "}";
    lines_.push_back(std::move(line));
  }
  static std::string content(JsonValue message) {
    const std::optional<JsonValue> content = message.find("content");
    return content ? std::string(content->raw()) : "\"\"";
  }
  // The program joins answers by their ids, so each has one of its own.
  std::string answer(JsonValue message) const {
    std::string parts = content(message);
    if (parts.front() == '"') parts = R"([{"type":"text","text":)" + parts + "}]";
    return R"({"id":)" + json_string("msg_" + uuid_of(id_ + "a" + std::to_string(lines_.size()))) +
           R"(,"type":"message","role":"assistant","model":)" +
           json_string(facts_.model.empty() ? "unknown" : facts_.model) + R"(,"content":)" + parts +
           R"(,"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}})";
  }

  const SessionFacts& facts_;
  const std::string id_;
  Clock clock_;
  std::string parent_;  // the line before; empty: none
  std::vector<std::string> lines_;
};

// An item as rollouts have it: with its type, and with a list of parts.
std::string codex_item(JsonValue item) {
  const std::string role = text_member(item, "role");
  if (role.empty()) return std::string(item.raw());
  std::string out = R"({"type":"message","role":)" + json_string(role) + R"(,"content":)";
  const std::optional<JsonValue> content = item.find("content");
  if (content && content->is(JsonType::string)) {
    const char* const type = role == "assistant" ? "output_text" : "input_text";
    out +=
        R"([{"type":")" + std::string(type) + R"(","text":)" + std::string(content->raw()) + "}]";
  } else {
    out += content ? std::string(content->raw()) : "[]";
  }
  return out + "}";
}

std::string codex_line(Clock& clock, std::string_view type, const std::string& payload) {
  return R"({"timestamp":)" + json_string(clock.tick()) + R"(,"type":)" + json_string(type) +
         R"(,"payload":)" + payload + "}";
}

std::vector<std::string> codex_lines(const SessionFacts& facts, const std::string& id,
                                     std::optional<JsonValue> before, JsonValue now) {
  Clock clock(facts.at_ms, 2 + now.count() + (before ? before->count() : 0));
  std::vector<std::string> lines;
  lines.push_back(codex_line(
      clock, "session_meta",
      R"({"id":)" + json_string(id) + R"(,"timestamp":)" + json_string(iso_time(facts.at_ms)) +
          R"(,"cwd":)" + json_string(facts.project) +
          R"(,"originator":"undertext","cli_version":"0.0.0","source":"cli"})"));
  for (const JsonValue item : (before ? *before : now).elements())
    lines.push_back(codex_line(clock, "response_item", codex_item(item)));
  if (!before) return lines;
  std::string kept;
  for (const JsonValue item : now.elements()) kept += (kept.empty() ? "" : ",") + codex_item(item);
  lines.push_back(
      codex_line(clock, "compacted", R"({"message":"","replacement_history":[)" + kept + "]}"));
  return lines;
}

}  // namespace

std::string_view name(SessionFormat format) {
  return session_formats[static_cast<std::size_t>(format)];
}

std::optional<SessionFormat> session_format_named(std::string_view name) {
  const auto found = std::find(session_formats.begin(), session_formats.end(), name);
  if (found == session_formats.end()) return {};
  return static_cast<SessionFormat>(found - session_formats.begin());
}

Dialect dialect_of(SessionFormat format) {
  return format == SessionFormat::codex ? Dialect::openai_responses : Dialect::anthropic;
}

std::string claude_code_folder(std::string_view project) {
  std::string folder(project);
  for (char& c : folder) {
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!stays) c = '-';
  }
  return folder;
}

Result<SessionFile> session_file(SessionFormat format, std::string_view before,
                                 std::string_view now, const SessionFacts& facts) {
  const std::string_view field = format == SessionFormat::codex ? "input" : "messages";
  const Result<JsonText> now_json = list_in(now, field);
  if (!now_json) return now_json.error();
  std::optional<JsonText> before_json;
  if (!before.empty()) {
    Result<JsonText> read = list_in(before, field);
    if (!read) return read.error();
    before_json = std::move(*read);
  }
  SessionFile file;
  file.id = uuid_of(uuid_seed(facts, before, now));
  const JsonValue list = *now_json->root().find(field);
  std::optional<JsonValue> earlier;
  if (before_json) earlier = before_json->root().find(field);
  if (format == SessionFormat::opencode)
    return opencode_file(facts, uuid_seed(facts, before, now), earlier, list);
  if (format == SessionFormat::codex) {
    const std::string time = iso_time(facts.at_ms);
    std::string stamp = time.substr(0, 19);
    std::replace(stamp.begin(), stamp.end(), ':', '-');
    file.path = "sessions/" + time.substr(0, 4) + "/" + time.substr(5, 2) + "/" +
                time.substr(8, 2) + "/rollout-" + stamp + "-" + file.id + ".jsonl";
    file.lines = codex_lines(facts, file.id, earlier, list);
    return file;
  }
  file.path = "projects/" + claude_code_folder(facts.project) + "/" + file.id + ".jsonl";
  ClaudeCodeLines lines(facts, file.id, list.count() + (earlier ? earlier->count() + 1 : 0));
  if (earlier) {
    for (const JsonValue message : earlier->elements()) lines.add(message, false);
    lines.add_boundary();
  }
  bool is_summary = earlier.has_value() && facts.begins_with_summary;
  for (const JsonValue message : list.elements())
    lines.add(message, std::exchange(is_summary, false));
  file.lines = lines.take();
  return file;
}

}  // namespace undertext
