#include "server/detach.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_text.hpp"

namespace undertext {
namespace {

bool is_compaction(const JsonValue& value) {
  const std::optional<JsonValue> type = value.find("type");
  return type && type->is(JsonType::string) && type->string_is("compaction");
}

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
    line_ = line;
    if (const JsonValue root = json->root(); const auto summary = summary_of_blocks(root)) {
      count_blocks(root);
      const std::string rest = without_items(root.raw());
      return summary_message(*summary) + (rest.empty() ? "" : "\n" + rest);
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
    if (value.is(JsonType::array)) return look_into_list(value);
    if (!value.is(JsonType::object)) return;
    if (is_compaction(value) && replace(value)) return;
    for (const JsonMember member : value.members()) look_into(member.value);
  }

  void look_into_list(const JsonValue& list) {
    std::vector<JsonValue> elements;
    std::size_t behind = 0;  // of the elements that the last block stands for
    std::optional<std::string> summary;
    for (const JsonValue element : list.elements()) {
      elements.push_back(element);
      if (std::optional<std::string> found = summary_of_blocks(element)) {
        summary = std::move(found);
        behind = elements.size();
      }
    }
    if (summary) {
      for (std::size_t i = 0; i < behind; ++i) count_blocks(elements[i]);
      const JsonValue& last = elements[behind - 1];
      const std::string rest = without_items(last.raw());
      replaced_.push_back({{list.offset() + 1, last.offset() + last.raw().size()},
                           summary_message(*summary) + (rest.empty() ? "" : "," + rest)});
    }
    for (std::size_t i = behind; i < elements.size(); ++i) look_into(elements[i]);
  }

  // Of a message with blocks of ours, what the last of them says.
  std::optional<std::string> summary_of_blocks(const JsonValue& message) const {
    const std::vector<SealedItem> items = sealed_items(message);
    if (items.empty() || !items.back().is_block) return std::nullopt;
    std::optional<CompactionSeal::Opened> opened = open(items.back());
    if (!opened) return std::nullopt;
    return std::move(opened->pointer.summary);
  }

  void count_blocks(const JsonValue& message) {
    for (const SealedItem& item : sealed_items(message))
      if (open(item)) ++detached_.items;
  }

  std::optional<CompactionSeal::Opened> open(const SealedItem& item) const {
    return seal_.open(line_.substr(item.text.begin, item.text.end - item.text.begin));
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
  std::string_view line_;
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
