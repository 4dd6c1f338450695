#include "history/first_reader.hpp"

#include <limits>
#include <optional>

#include "base/json_text.hpp"

namespace undertext {
namespace {

std::optional<JsonValue> text_of(const JsonValue& object, std::string_view key) {
  if (!object.is(JsonType::object)) return {};
  std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::string) && !value->string_raw().empty() ? value : std::nullopt;
}

// The fields of a part may stand in an object of the part's type inside it.
template <class Visit>
void visit_parts_of(const JsonValue& message, std::string_view type, Visit visit) {
  const std::optional<JsonValue> content = message.find("content");
  if (!content || !content->is(JsonType::array)) return;
  for (const JsonValue part : content->elements()) {
    const std::optional<JsonValue> given = text_of(part, "type");
    if (!given || !given->string_is(type)) continue;
    const std::optional<JsonValue> inner = part.find(type);
    visit(inner && inner->is(JsonType::object) ? *inner : part);
  }
}

std::unordered_set<std::uint64_t> links_then(const Message& message) {
  std::unordered_set<std::uint64_t> links;
  const auto add = [&](ToolLink::Side side, const std::optional<JsonValue>& id) {
    if (id) links.insert(Link::of({side, id->string()}, 0).hash_and_side);
  };
  JsonText text;
  text.read(message.json(), {.depth = std::numeric_limits<std::uint32_t>::max()});
  const JsonValue root = text.root();
  for (const JsonMember member : root.members()) {
    if (!member.value.is(JsonType::array)) continue;
    if (member.key.string_is("toolCalls") || member.key.string_is("tool_calls")) {
      for (const JsonValue call : member.value.elements()) add(ToolLink::Side::call, text_of(call, "id"));
    }
  }
  for (const std::string_view key : {"toolCallId", "tool_call_id"}) add(ToolLink::Side::result, text_of(root, key));
  visit_parts_of(root, "tool_use", [&](const JsonValue& use) { add(ToolLink::Side::call, text_of(use, "id")); });
  visit_parts_of(root, "tool_result",
                 [&](const JsonValue& result) { add(ToolLink::Side::result, text_of(result, "tool_use_id")); });
  return links;
}

}  // namespace

bool FirstReader::knows(const Link& link) {
  const auto [known, is_new] = known_.try_emplace(link.ordinal);
  if (is_new) known->second = links_then(log_.message(link.ordinal));
  return known->second.count(link.hash_and_side) > 0;
}

}  // namespace undertext
