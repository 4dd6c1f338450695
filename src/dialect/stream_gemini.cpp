// Gemini: each event is an answer with some more parts. Texts that follow each other are one,
// unless one of them is signed: a signature stays on the part it came with.
#include <vector>

#include "dialect/stream.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

class GeminiAssembly final : public Assembly {
 public:
  void feed(const JsonValue& event) override {
    if (take_error(event)) return;
    take_names(event, "responseId", "modelVersion");
    if (const std::optional<JsonValue> usage = event.find("usageMetadata");
        usage && usage->is(JsonType::object))
      state.usage_json = usage->raw();
    const std::optional<JsonValue> candidates = event.find("candidates");
    if (!candidates || !candidates->is(JsonType::array) || candidates->empty()) return;
    const JsonValue first = *candidates->elements().begin();
    if (const std::optional<JsonValue> reason = string_of(first, "finishReason")) {
      state.finish_reason = reason->string();
      state.complete = true;
    }
    const std::optional<JsonValue> content = first.find("content");
    const std::optional<JsonValue> parts = content ? content->find("parts") : std::nullopt;
    if (parts) for_each_listed(*parts, [this](const JsonValue& part) { add(part); });
  }

  void build(std::string& out) const override {
    if (parts_.empty()) return;
    out += R"({"role":"model","parts":[)";
    const char* separator = "";
    for (const Growing& part : parts_) {
      out += separator;
      if (part.is_text) {
        out += R"({"text":")" + part.bytes + (part.is_thought ? R"(","thought":true})" : "\"}");
      } else {
        out += part.bytes;
      }
      separator = ",";
    }
    out += "]}";
  }

 private:
  struct Growing {
    std::string bytes;  // the body of a text that may grow, or the part
    bool is_text = false, is_thought = false;
  };

  void add(const JsonValue& part) {
    const std::optional<JsonValue> text = string_of(part, "text");
    const bool is_thought = is_true(part, "thought");
    const bool is_plain = text && part.count() == (part.find("thought") ? 2u : 1u);
    if (!is_plain) {
      parts_.push_back({std::string(part.raw())});
    } else if (!parts_.empty() && parts_.back().is_text && parts_.back().is_thought == is_thought) {
      parts_.back().bytes += text->string_raw();
    } else {
      parts_.push_back({std::string(text->string_raw()), true, is_thought});
    }
  }

  std::vector<Growing> parts_;
};

}  // namespace

std::unique_ptr<Assembly> gemini_assembly() { return std::make_unique<GeminiAssembly>(); }

}  // namespace undertext
