#include "server/detach.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_text.hpp"

namespace undertext {
namespace {

class LineDetacher {
 public:
  LineDetacher(const CompactionSeal& seal, Detached& detached) : seal_(seal), detached_(detached) {}

  std::string run(std::string_view line) {
    if (sealed_texts(line).empty()) return std::string(line);
    const Result<JsonText> json = JsonText::parse(line, {.depth = 4096});
    if (!json) return std::string(line);
    look_into(json->root());
    std::string out;
    std::size_t kept = 0;
    for (const auto& [item, replacement] : replaced_) {
      out += line.substr(kept, item.begin - kept);
      out += replacement;
      kept = item.end;
    }
    return out += line.substr(kept);
  }

 private:
  void look_into(const JsonValue& value) {
    if (value.is(JsonType::array))
      for (const JsonValue element : value.elements()) look_into(element);
    if (!value.is(JsonType::object)) return;
    const std::optional<JsonValue> type = value.find("type");
    if (type && type->is(JsonType::string) && type->string_is("compaction") && replace(value)) return;
    for (const JsonMember member : value.members()) look_into(member.value);
  }

  bool replace(const JsonValue& item) {
    for (const JsonMember member : item.members()) {
      if (!member.value.is(JsonType::string)) continue;
      const std::string text = member.value.string();
      const std::vector<SealedText> sealed = sealed_texts(text);
      if (sealed.empty()) continue;
      const std::optional<CompactionSeal::Opened> opened = seal_.open(text);
      if (!opened) {
        ++detached_.unopened;
        return true;
      }
      ++detached_.items;
      // A block of a message becomes a text there; an item of a list, a message.
      const bool is_block = item.find("content").has_value();
      std::string message =
          is_block ? R"({"type":"text","text":)" : R"({"type":"message","role":"user","content":[{"type":"input_text","text":)";
      append_json_string(message, summary_text(opened->pointer.summary));
      replaced_.push_back({{item.offset(), item.offset() + item.raw().size()}, message + (is_block ? "}" : "}]}")});
      return true;
    }
    return false;
  }

  const CompactionSeal& seal_;
  Detached& detached_;
  std::vector<std::pair<SealedText, std::string>> replaced_;  // in order
};

}  // namespace

Detached detached(std::string_view text, const CompactionSeal& seal) {
  Detached result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result.text += LineDetacher(seal, result).run(text.substr(0, end));
    if (end < text.size()) result.text += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace undertext
