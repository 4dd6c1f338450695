#include "message/item_id.hpp"

#include "base/json_text.hpp"

namespace undertext {
namespace {

std::string text_of(const std::optional<JsonValue>& object, std::string_view member) {
  if (!object || !object->is(JsonType::object)) return {};
  const std::optional<JsonValue> found = object->find(member);
  return found && found->is(JsonType::string) ? found->string() : std::string();
}

std::optional<JsonValue> member(const std::optional<JsonValue>& object, std::string_view name) {
  return object && object->is(JsonType::object) ? object->find(name) : std::nullopt;
}

// The item as the provider wrote it, or as the only part of the content.
std::optional<JsonValue> item_of(const JsonValue& message) {
  if (std::optional<JsonValue> native = member(member(message, "native"), "json")) return native;
  const std::optional<JsonValue> content = member(message, "content");
  if (!content || !content->is(JsonType::array)) return std::nullopt;
  std::optional<JsonValue> only;
  for (const JsonValue part : content->elements()) {
    if (only) return std::nullopt;
    only = member(part, "item");
  }
  return only;
}

template <class Read>
std::string of_item(const Message& message, Read read) {
  const Result<JsonText> text = JsonText::parse(message.json(), {.depth = 4096});
  if (!text) return {};
  const std::optional<JsonValue> item = item_of(text->root());
  return item ? read(*item) : std::string();
}

}  // namespace

bool is_item_reference(const JsonValue& item) {
  if (!item.is(JsonType::object)) return false;
  const std::optional<JsonValue> type = item.find("type");
  if (type && !type->is(JsonType::null))
    return type->is(JsonType::string) && type->string_is("item_reference");
  for (const JsonMember member : item.members())
    if (!member.key.string_is("id") && !member.key.string_is("type")) return false;
  return !text_of(item, "id").empty();
}

std::string item_id(const Message& message) {
  if (message.json().find(R"("id")") == std::string_view::npos) return {};
  return of_item(message, [](const JsonValue& item) {
    return is_item_reference(item) ? std::string() : text_of(item, "id");
  });
}

std::string referenced_item(const Message& message) {
  constexpr std::size_t bytes_max = 4096;  // longer than any reference
  if (message.json().size() > bytes_max ||
      message.json().find("openai_responses") == std::string_view::npos)
    return {};
  return of_item(message, [](const JsonValue& item) {
    return is_item_reference(item) ? text_of(item, "id") : std::string();
  });
}

}  // namespace undertext
