#include "client/markers.hpp"

#include <algorithm>
#include <vector>

namespace undertext {
namespace {

class Markers {
 public:
  // A body, an array of messages, or a message.
  void look_into(const JsonValue& value) {
    if (value.is(JsonType::array)) {
      at_ = {0};
      for (const JsonValue element : value.elements()) {
        look_into_message(element);
        ++*at_.message;
      }
      return;
    }
    at_ = {};
    for (const std::string_view list : {"messages", "input", "contents"})
      if (const std::optional<JsonValue> found = value.find(list);
          found && found->is(JsonType::array))
        look_into(*found);
    at_.message.reset();
    if (const std::optional<JsonValue> system = value.find("system")) look_into_parts(*system);
  }

  std::string cut(std::string_view text) const {
    std::string kept;
    std::size_t at = 0;
    for (const Cut& cut : cuts_) {
      kept += text.substr(at, cut.begin - at);
      at = cut.end;
    }
    return kept += text.substr(at);
  }
  bool empty() const { return cuts_.empty(); }
  std::vector<MarkerAt> take() { return std::move(found_); }

 private:
  struct Cut {
    std::size_t begin, end;
  };

  void look_into_message(const JsonValue& message) {
    for (const std::string_view content : {"content", "output"})
      if (const std::optional<JsonValue> parts = message.find(content)) look_into_parts(*parts);
  }

  // A result's content has parts too. Arguments are the model's, whatever their members are called.
  void look_into_parts(const JsonValue& parts) {
    if (!parts.is(JsonType::array)) return;
    at_.block = 0;
    for (const JsonValue part : parts.elements()) {
      look_into_part(part);
      ++at_.block;
    }
  }
  void look_into_part(const JsonValue& part) {
    if (!part.is(JsonType::object)) return;
    const std::optional<JsonValue> content = part.find("content");
    if (content && content->is(JsonType::array)) {
      at_.inner = 0;
      for (const JsonValue inner : content->elements()) {
        if (inner.is(JsonType::object)) cut_markers(inner);
        ++*at_.inner;
      }
      at_.inner.reset();
    }
    cut_markers(part);
  }

  // A member goes with the comma before it, or with the one behind it if it is the first.
  void cut_markers(const JsonValue& part) {
    std::optional<std::size_t> end_before;  // of the last member that stays
    std::optional<std::size_t> cut_from;
    for (const JsonMember member : part.members()) {
      const std::size_t begin = member.key.offset(),
                        end = member.value.offset() + member.value.raw().size();
      if (member.key.string_is("cache_control") ||
          member.key.string_is("prompt_cache_breakpoint")) {
        at_.json = member.value.raw();
        found_.push_back(at_);
        if (end_before) {
          add({*end_before, end});
        } else {
          if (!cut_from) cut_from = begin;
          last_end_ = end;
        }
      } else if (cut_from) {
        add({*cut_from, begin});
        cut_from.reset();
      }
      if (!cut_from) end_before = end;
    }
    if (cut_from) add({*cut_from, last_end_});
  }

  void add(Cut cut) {
    // Inner parts were looked into first.
    const auto at = std::lower_bound(cuts_.begin(), cuts_.end(), cut,
                                     [](const Cut& a, const Cut& b) { return a.begin < b.begin; });
    cuts_.insert(at, cut);
  }

  std::vector<Cut> cuts_;
  std::vector<MarkerAt> found_;
  MarkerAt at_;  // where it looks
  std::size_t last_end_ = 0;
};

}  // namespace

std::vector<MarkerAt> markers_of(const JsonValue& root) {
  Markers markers;
  if (root.is(JsonType::object) || root.is(JsonType::array)) markers.look_into(root);
  return markers.take();
}

std::string without_markers(std::string_view text, const JsonValue& root) {
  Markers markers;
  if (root.is(JsonType::object) || root.is(JsonType::array)) markers.look_into(root);
  return markers.empty() ? std::string(text) : markers.cut(text);
}

}  // namespace undertext
