#include "server/detach.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_text.hpp"

namespace undertext {
namespace {

class Detacher {
 public:
  Detacher(const CompactionSeal& seal, Detached& detached) : seal_(seal), detached_(detached) {}

  // A line, or the whole text.
  std::string run(std::string_view line) {
    if (sealed_texts(line).empty()) return std::string(line);
    const Result<JsonText> json = JsonText::parse(line, {.depth = 4096});
    if (!json) {
      ++detached_.unread;
      return std::string(line);
    }
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
    if (type && type->is(JsonType::string) && type->string_is("compaction") && replace(value))
      return;
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
          is_block ? R"({"type":"text","text":)"
                   : R"({"type":"message","role":"user","content":[{"type":"input_text","text":)";
      append_json_string(message, summary_text(opened->pointer.summary));
      replaced_.push_back(
          {{item.offset(), item.offset() + item.raw().size()}, message + (is_block ? "}" : "}]}")});
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
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    result.text += Detacher(seal, result).run(rest.substr(0, end));
    if (end < rest.size()) result.text += '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (result.unread == 0) return result;
  // A list that is written over several lines.
  Detached whole;
  whole.text = Detacher(seal, whole).run(text);
  return whole.unread == 0 ? whole : result;
}

}  // namespace undertext
