// Anthropic: blocks that begin, grow and end.
#include <map>

#include "dialect/stream.hpp"
#include "message/read_fields.hpp"
#include "message/turn.hpp"

namespace undertext {
namespace {

struct GrowingBlock {
  std::string start;                         // the block as it began
  std::map<std::string, std::string> grown;  // members that replace those of the beginning: JSON
  std::string text, thinking, input;         // bodies; of input, the JSON text that it is
  std::string citations;                     // elements
  bool has_text = false, has_thinking = false, has_input = false;
};

class AnthropicAssembly final : public Assembly {
 public:
  void feed(const JsonValue& event) override {
    const std::string_view type = body_of(event, "type");
    if (type == "error") {
      take_error(event);
    } else if (type == "message_start") {
      began_ = true;
      if (const std::optional<JsonValue> message = event.find("message")) {
        take_names(*message);
        take_usage(*message);
      }
    } else if (type == "content_block_start") {
      const std::optional<JsonValue> block = event.find("content_block");
      if (block && block->is(JsonType::object)) blocks_[index_of(event)].start = block->raw();
    } else if (type == "content_block_delta") {
      if (const std::optional<JsonValue> delta = event.find("delta"))
        grow(blocks_[index_of(event)], *delta);
    } else if (type == "message_delta") {
      take_usage(event);
      if (const std::optional<JsonValue> delta = event.find("delta"))
        if (const std::optional<JsonValue> reason = string_of(*delta, "stop_reason"))
          state.finish_reason = reason->string();
    } else if (type == "message_stop") {
      state.complete = true;
    }
  }

  void build(std::string& out) const override {
    if (!began_ && blocks_.empty()) return;
    out += R"({"role":"assistant","content":[)";
    const char* separator = "";
    for (const auto& [index, block] : blocks_) {
      if (block.start.empty()) continue;
      out += separator;
      write(out, block);
      separator = ",";
    }
    out += "]}";
  }

 private:
  static std::uint64_t index_of(const JsonValue& event) {
    const std::optional<JsonValue> index = event.find("index");
    return index ? index->uint64_saturated().value_or(0) : 0;
  }

  // The counts at the end take the place of those at the beginning.
  void take_usage(const JsonValue& from) {
    const std::optional<JsonValue> usage = from.find("usage");
    if (!usage || !usage->is(JsonType::object)) return;
    for (const JsonMember member : usage->members())
      usage_[member.key.string()] = member.value.raw();
    state.usage_json = "{";
    for (const auto& [key, value] : usage_) {
      if (state.usage_json.size() > 1) state.usage_json += ',';
      append_json_string(state.usage_json, key);
      state.usage_json += ':' + value;
    }
    state.usage_json += '}';
  }

  static void grow(GrowingBlock& block, const JsonValue& delta) {
    const std::string_view type = body_of(delta, "type");
    if (type == "text_delta") {
      block.text += body_of(delta, "text");
      block.has_text = true;
    } else if (type == "thinking_delta") {
      block.thinking += body_of(delta, "thinking");
      block.has_thinking = true;
    } else if (type == "signature_delta") {
      if (const std::optional<JsonValue> signature = string_of(delta, "signature"))
        block.grown["signature"] = signature->raw();
    } else if (type == "input_json_delta") {
      if (const std::optional<JsonValue> piece = string_of(delta, "partial_json"))
        block.input += piece->string_raw();
      block.has_input = true;
    } else if (type == "citations_delta") {
      if (const std::optional<JsonValue> citation = delta.find("citation")) {
        if (!block.citations.empty()) block.citations += ',';
        block.citations += citation->raw();
      }
    } else if (type == "compaction_delta") {
      for (const std::string_view name : {"content", "encrypted_content"})
        if (const std::optional<JsonValue> value = delta.find(name))
          block.grown[std::string(name)] = value->raw();
    }
  }

  static void write(std::string& out, const GrowingBlock& block) {
    const Result<JsonText> start = JsonText::parse(block.start, {.depth = 4096});
    std::map<std::string, std::string> grown = block.grown;
    if (block.has_text)
      grown["text"] = '"' + std::string(body_of(start->root(), "text")) + block.text + '"';
    if (block.has_thinking)
      grown["thinking"] =
          '"' + std::string(body_of(start->root(), "thinking")) + block.thinking + '"';
    if (!block.citations.empty()) grown["citations"] = '[' + block.citations + ']';
    if (block.has_input && !block.input.empty()) {
      const std::string input = decoded(block.input);
      const Result<JsonText> read = JsonText::parse(input, {});
      grown["input"] = read && read->root().is(JsonType::object)
                           ? input
                           : R"({"_raw":")" + block.input + "\"}";  // a stream that broke off
    }
    out += '{';
    const char* separator = "";
    for (const JsonMember member : start->root().members()) {
      out += separator;
      out += member.key.raw();
      out += ':';
      const auto replaced = grown.find(member.key.string());
      if (replaced != grown.end()) {
        out += replaced->second;
        grown.erase(replaced);
      } else {
        out += member.value.raw();
      }
      separator = ",";
    }
    for (const auto& [key, value] : grown) {
      out += separator;
      append_json_string(out, key);
      out += ':' + value;
      separator = ",";
    }
    out += '}';
  }

  bool began_ = false;
  std::map<std::uint64_t, GrowingBlock> blocks_;
  std::map<std::string, std::string> usage_;
};

}  // namespace

std::unique_ptr<Assembly> anthropic_assembly() { return std::make_unique<AnthropicAssembly>(); }

}  // namespace undertext
