// Chat Completions: deltas of one choice. Texts are appended, tool calls are told apart by their
// index.
#include <map>

#include "dialect/stream.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

struct CallParts {
  std::string id, type, name, input;               // bodies
  std::map<std::string, std::string> others = {};  // members that nobody here knows: the last value
  bool is_custom = false;
};

class ChatAssembly final : public Assembly {
 public:
  void feed(const JsonValue& event) override {
    if (take_error(event)) return;
    take_names(event);
    if (const std::optional<JsonValue> usage = event.find("usage");
        usage && usage->is(JsonType::object))
      state.usage_json = usage->raw();
    const std::optional<JsonValue> choices = event.find("choices");
    if (!choices || !choices->is(JsonType::array)) return;
    for (const JsonValue choice : choices->elements()) {
      const std::optional<JsonValue> index = choice.find("index");
      // the first answer is the conversation's
      if (index && index->uint64_saturated().value_or(0) != 0) continue;
      if (const std::optional<JsonValue> reason = string_of(choice, "finish_reason")) {
        state.finish_reason = reason->string();
        state.complete = true;
      }
      if (const std::optional<JsonValue> delta = choice.find("delta");
          delta && delta->is(JsonType::object))
        add(*delta);
    }
  }

  void build(std::string& out) const override {
    if (!began_) return;
    out += R"({"role":"assistant")";
    for (const std::string_view key : {"reasoning_content", "reasoning"}) member(out, key);
    if (!details_.empty()) out += R"(,"reasoning_details":[)" + details_ + ']';
    if (texts_.count("content") > 0) {
      member(out, "content");
    } else {
      out += R"(,"content":null)";
    }
    member(out, "refusal");
    for (const auto& [key, value] : others_) {
      out += ',';
      append_json_string(out, key);
      out += ':' + value;
    }
    if (!function_.name.empty()) {
      out += R"(,"function_call":{"name":")" + function_.name + R"(","arguments":")" +
             function_.input + "\"}";
    }
    if (!calls_.empty()) {
      const char* separator = R"(,"tool_calls":[)";
      for (const auto& [index, call] : calls_) {
        out += separator;
        write(out, call);
        separator = ",";
      }
      out += ']';
    }
    out += '}';
  }

 private:
  void member(std::string& out, std::string_view key) const {
    const auto found = texts_.find(key);
    if (found == texts_.end()) return;
    out += ",\"";
    out += key;
    out += "\":\"" + found->second + '"';
  }

  static void write(std::string& out, const CallParts& call) {
    const std::string_view kind = call.is_custom ? "custom" : "function";
    out += R"({"id":")" + call.id + R"(","type":")";
    out += kind;
    out += "\",\"";
    out += kind;
    out += R"(":{"name":")" + call.name +
           (call.is_custom ? R"(","input":")" : R"(","arguments":")") + call.input + "\"}";
    for (const auto& [key, value] : call.others) {
      out += ',';
      append_json_string(out, key);
      out += ':' + value;
    }
    out += '}';
  }

  void add(const JsonValue& delta) {
    began_ = true;
    for (const JsonMember member : delta.members()) {
      const JsonValue& value = member.value;
      if (value.is(JsonType::null) || member.key.string_is("role")) continue;
      if (is_one_of(member.key, {"content", "refusal", "reasoning_content", "reasoning"}) &&
          value.is(JsonType::string)) {
        texts_[member.key.string()] += value.string_raw();
      } else if (member.key.string_is("reasoning_details") && value.is(JsonType::array)) {
        for (const JsonValue detail : value.elements()) {
          if (!details_.empty()) details_ += ',';
          details_ += detail.raw();
        }
      } else if (member.key.string_is("tool_calls") && value.is(JsonType::array)) {
        for (const JsonValue call : value.elements()) add_call(call);
      } else if (member.key.string_is("function_call") && value.is(JsonType::object)) {
        add_parts(value, function_);
      } else if (member.key.string_is("audio") && value.is(JsonType::object)) {
        // Only its id goes back.
        if (const std::optional<JsonValue> id = string_of(value, "id"))
          others_["audio"] = R"({"id":)" + std::string(id->raw()) + '}';
      } else if (!member.key.string_is("obfuscation")) {
        others_[member.key.string()] = value.raw();
      }
    }
  }

  void add_call(const JsonValue& delta) {
    if (!delta.is(JsonType::object)) return;
    const std::optional<JsonValue> given = delta.find("index");
    const std::optional<std::uint64_t> index = given ? given->uint64_saturated() : std::nullopt;
    // Some servers leave the index out: an id then begins a call, and what has none belongs to the
    // last.
    const std::uint64_t next =
        calls_.empty() ? 0 : calls_.rbegin()->first + (string_of(delta, "id") ? 1 : 0);
    CallParts& call = calls_[index.value_or(next)];
    for (const JsonMember member : delta.members()) {
      const JsonValue& value = member.value;
      if (member.key.string_is("index") || value.is(JsonType::null)) continue;
      if (member.key.string_is("id") && value.is(JsonType::string)) {
        call.id = value.string_raw();
      } else if (member.key.string_is("type")) {
        if (value.is(JsonType::string) && value.string_is("custom")) call.is_custom = true;
      } else if (is_one_of(member.key, {"function", "custom"}) && value.is(JsonType::object)) {
        call.is_custom = call.is_custom || member.key.string_is("custom");
        add_parts(value, call);
      } else {
        call.others[member.key.string()] = value.raw();
      }
    }
  }

  static void add_parts(const JsonValue& fields, CallParts& call) {
    if (const std::optional<JsonValue> name = string_of(fields, "name");
        name && !name->string_raw().empty())
      call.name = name->string_raw();
    for (const std::string_view key : {"arguments", "input"})
      if (const std::optional<JsonValue> text = string_of(fields, key))
        call.input += text->string_raw();
  }

  bool began_ = false;
  std::map<std::string, std::string, std::less<>> texts_;  // bodies
  std::map<std::string, std::string> others_;
  std::string details_;
  CallParts function_;
  std::map<std::uint64_t, CallParts> calls_;
};

}  // namespace

std::unique_ptr<Assembly> chat_assembly() { return std::make_unique<ChatAssembly>(); }

}  // namespace undertext
