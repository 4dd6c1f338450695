// {"info":…,"messages":[{"info":…,"parts":[…]}]}. A result is part of its call there. Ids begin
// with their time, as the program's own do: its messages come after these.
#include "transfer/opencode_export.hpp"

#include <map>
#include <utility>
#include <vector>

#include "base/json_text.hpp"
#include "message/client_text.hpp"
#include "message/turn.hpp"
#include "store/chain.hpp"

namespace undertext {
namespace {

constexpr std::string_view no_tokens =
    R"({"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}})";

// The providers by which the program calls the models of their makers.
std::string provider_of(std::string_view model) {
  if (model.starts_with("gpt-") || model.starts_with("o1") || model.starts_with("o3") ||
      model.starts_with("o4"))
    return "openai";
  if (model.starts_with("gemini-")) return "google";
  return "anthropic";
}

std::string hex_of_time(std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex(12, '0');
  for (std::size_t i = hex.size(); i-- > 0; number >>= 4) hex[i] = digits[number & 15];
  return hex;
}

// As JSON strings.
std::string quoted(std::string_view body) {
  std::string out;
  append_quoted(out, body);
  return out;
}

// What a result says, as the body of one text, and the files it holds.
struct Said {
  std::string text;
  std::vector<std::string> files;
};

// A list of messages, read.
struct Turns {
  explicit Turns(JsonValue list) {
    ToolIds ids;
    for (const JsonValue message : list.elements())
      all.push_back(read_message(message, Dialect::anthropic, arena, ids));
  }
  Arena arena;
  std::vector<Turn> all;
};

class OpencodeDocument {
 public:
  OpencodeDocument(const SessionFacts& facts, std::string seed, std::size_t messages)
      : facts_(facts),
        seed_(std::move(seed)),
        now_ms_(facts.at_ms - static_cast<std::int64_t>(messages)),
        session_("ses_" + hex_of_time(~(static_cast<std::uint64_t>(now_ms_) << 12)) +
                 chance("session")) {
    model_ = facts.model.empty() ? "unknown" : facts.model;
    provider_ = provider_of(model_);
  }

  const std::string& session() const { return session_; }

  void add_all(const Turns& turns, std::size_t first = 0) {
    std::map<std::string_view, const Block*> results;
    for (const Turn& turn : turns.all)
      for (const Block& block : turn.blocks)
        if (block.kind == BlockKind::result) results[block.id] = &block;
    for (std::size_t i = first; i < turns.all.size(); ++i) add(turns.all[i], results);
  }

  // The program's own record of a compaction: a prompt of its own, and the summary as its answer.
  // What comes after them is all that is sent.
  void add_compaction(const std::string& summary) {
    begin("user");
    part(R"("type":"compaction","auto":false)");
    end(user_info());
    begin("assistant");
    part(R"("type":"text","text":)" + json_string(summary));
    end(answer_info("stop") + R"(,"summary":true)");
  }

  std::string take(const std::string& title) {
    const std::string time = R"({"created":)" + std::to_string(began_ms_) + R"(,"updated":)" +
                             std::to_string(now_ms_) + "}";
    return R"({"info":{"id":)" + json_string(session_) +
           R"(,"slug":"undertext","projectID":"global","directory":)" +
           json_string(facts_.project) + R"(,"title":)" + json_string(title) +
           R"(,"version":"0.0.0","cost":0,"tokens":)" + std::string(no_tokens) + R"(,"time":)" +
           time + R"(},"messages":[)" + messages_ + "]}";
  }

 private:
  std::string chance(const std::string& of) const { return hex(sha256(seed_ + of)).substr(0, 14); }
  std::string next_id(std::string_view prefix) {
    const std::uint64_t number = (static_cast<std::uint64_t>(now_ms_) << 12) + ++ids_;
    return std::string(prefix) + hex_of_time(number) + chance(std::to_string(number));
  }

  void begin(std::string_view role) {
    ++now_ms_;
    ids_ = 0;
    if (began_ms_ == 0) began_ms_ = now_ms_;
    role_ = role;
    message_ = next_id("msg_");
    parts_.clear();
  }

  void part(const std::string& members) {
    parts_ += (parts_.empty() ? "" : ",");
    parts_ += "{" + ids_of_part() + "," + members + "}";
  }
  std::string ids_of_part() {
    return R"("id":)" + json_string(next_id("prt_")) + R"(,"sessionID":)" + json_string(session_) +
           R"(,"messageID":)" + json_string(message_);
  }

  std::string user_info() const {
    return R"(,"time":{"created":)" + std::to_string(now_ms_) +
           R"(},"agent":"build","model":{"providerID":)" + json_string(provider_) +
           R"(,"modelID":)" + json_string(model_) + "}";
  }
  std::string answer_info(std::string_view finish) const {
    const std::string now = std::to_string(now_ms_), folder = json_string(facts_.project);
    return R"(,"time":{"created":)" + now + R"(,"completed":)" + now + R"(},"parentID":)" +
           json_string(prompt_) + R"(,"modelID":)" + json_string(model_) + R"(,"providerID":)" +
           json_string(provider_) + R"(,"mode":"build","agent":"build","path":{"cwd":)" + folder +
           R"(,"root":)" + folder + R"(},"cost":0,"tokens":)" + std::string(no_tokens) +
           R"(,"finish":)" + json_string(finish);
  }
  void end(const std::string& info) {
    if (role_ == "user") prompt_ = message_;
    if (!messages_.empty()) messages_ += ',';
    messages_ += R"({"info":{"id":)" + json_string(message_) + R"(,"sessionID":)" +
                 json_string(session_) + R"(,"role":)" + json_string(role_) + info +
                 R"(},"parts":[)" + parts_ + "]}";
  }

  void add(const Turn& turn, const std::map<std::string_view, const Block*>& results) {
    const bool is_answer = turn.role == Role::assistant;
    begin(is_answer ? "assistant" : "user");
    if (is_answer) part(R"("type":"step-start")");
    for (const Block& block : turn.blocks) {
      if (block.kind == BlockKind::text) part(R"("type":"text","text":)" + quoted(block.text));
      if (block.kind == BlockKind::reasoning) add_reasoning(block);
      if (block.kind == BlockKind::call) add_call(block, results);
      if (const std::string file = file_of(block); !file.empty()) part(file);
    }
    if (!parts_.empty())
      end(is_answer ? answer_info(has_calls(turn) ? "tool-calls" : "stop") : user_info());
  }

  void add_reasoning(const Block& block) {
    const std::string now = std::to_string(now_ms_);
    part(R"("type":"reasoning","text":)" + quoted(block.text) +
         (block.signature.empty()
              ? ""
              : R"(,"metadata":{"anthropic":{"signature":)" + quoted(block.signature) + "}}") +
         R"(,"time":{"start":)" + now + R"(,"end":)" + now + "}");
  }

  // Of a picture or document; empty for anything else.
  static std::string file_of(const Block& block) {
    if (block.kind != BlockKind::media) return {};
    std::string mime(block.media.mime);
    if (mime.empty()) mime = block.media.kind == MediaKind::image ? "image/png" : "application/pdf";
    std::string url(block.media.data);
    if (block.media.source == MediaSource::base64) url = "data:" + mime + ";base64," + url;
    if (block.media.source != MediaSource::base64 && block.media.source != MediaSource::url)
      return {};
    const std::string name =
        block.media.filename.empty() ? "" : R"(,"filename":)" + quoted(block.media.filename);
    return R"("type":"file","mime":)" + quoted(mime) + name + R"(,"url":)" + quoted(url);
  }

  static Said said_in(const Block& result) {
    Said said{std::string(result.text), {}};
    for (const Block& block : result.inner) {
      if (block.kind == BlockKind::text)
        (said.text += said.text.empty() ? "" : "\\n") += block.text;
      if (std::string file = file_of(block); !file.empty()) said.files.push_back(std::move(file));
    }
    return said;
  }

  void add_call(const Block& block, const std::map<std::string_view, const Block*>& results) {
    const auto result = results.find(block.id);
    const bool failed = result == results.end() || result->second->is_error;
    const Said said = result == results.end() ? Said{"[Tool execution was interrupted]", {}}
                                              : said_in(*result->second);
    const std::string now = std::to_string(now_ms_);
    const std::string ids = ids_of_part();
    std::string state = R"({"status":)" + std::string(failed ? R"("error")" : R"("completed")") +
                        R"(,"input":)" +
                        (block.json.starts_with('{') ? std::string(block.json) : "{}") +
                        (failed ? R"(,"error":)" : R"(,"output":)") + quoted(said.text);
    if (!failed) state += R"(,"title":"","metadata":{})";
    state += R"(,"time":{"start":)" + now + R"(,"end":)" + now + "}";
    std::string files;
    for (const std::string& file : said.files)
      files += (files.empty() ? "{" : ",{") + ids_of_part() + "," + file + "}";
    if (!failed && !files.empty()) state += R"(,"attachments":[)" + files + "]";
    parts_ += (parts_.empty() ? "{" : ",{") + ids + R"(,"type":"tool","callID":)" +
              json_string(block.id) + R"(,"tool":)" + json_string(block.name) + R"(,"state":)" +
              state + "}}";
  }

  const SessionFacts& facts_;
  const std::string seed_;
  std::int64_t now_ms_, began_ms_ = 0;
  std::uint64_t ids_ = 0;  // of this millisecond
  const std::string session_;
  std::string model_, provider_;
  std::string role_, message_, parts_;  // of the message being written
  std::string prompt_;                  // the user's last one
  std::string messages_;
};

// The text of a message that the program can say itself: nothing but text.
std::optional<std::string> plain_text(const Turn& turn, Role role) {
  if (turn.role != role) return {};
  std::string text;
  for (const Block& block : turn.blocks) {
    if (block.kind != BlockKind::text) return {};
    (text += text.empty() ? "" : "\n") += decoded(block.text);
  }
  return text;
}

// A summary that the session may have as the program's own, and how many messages are its record.
struct OwnSummary {
  std::string text;
  std::size_t messages = 0;
};

std::optional<OwnSummary> own_summary(const SessionFacts& facts, const Turns& now) {
  const auto text_at = [&](std::size_t place, Role role) {
    return place < now.all.size() ? plain_text(now.all[place], role) : std::nullopt;
  };
  if (facts.begins_with_summary)
    if (std::optional<std::string> text = text_at(0, Role::user)) return OwnSummary{*text, 1};
  // Of several blocks, some were another message: what was kept of an answer.
  if (facts.has_summary_second && now.all.size() > 1 && now.all[1].blocks.size() == 1 &&
      text_at(0, Role::user) == opencode_question)
    if (std::optional<std::string> text = text_at(1, Role::assistant)) return OwnSummary{*text, 2};
  return {};
}

std::string title_of(const Turns& turns) {
  std::string title;
  for (const Turn& turn : turns.all) {
    if (const std::optional<std::string> text = plain_text(turn, Role::user))
      title = text->substr(0, text->find('\n'));
    if (!title.empty()) break;
  }
  constexpr std::size_t bytes_max = 80;
  if (title.size() > bytes_max) {
    std::size_t end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(title[end]) & 0xC0) == 0x80) --end;
    title = title.substr(0, end) + "…";
  }
  return title.empty() ? "From undertext" : title;
}

}  // namespace

SessionFile opencode_file(const SessionFacts& facts, const std::string& seed,
                          std::optional<JsonValue> before, JsonValue now) {
  const Turns turns(now);
  const std::optional<OwnSummary> summary = before ? own_summary(facts, turns) : std::nullopt;
  OpencodeDocument document(facts, seed, now.count() + (before ? before->count() : 0) + 2);
  std::string title = title_of(turns);
  if (summary) {
    const Turns earlier(*before);
    title = title_of(earlier);
    document.add_all(earlier);
    document.add_compaction(summary->text);
  }
  document.add_all(turns, summary ? summary->messages : 0);
  SessionFile file;
  file.id = document.session();
  file.lines = {document.take(title)};
  return file;
}

}  // namespace undertext
