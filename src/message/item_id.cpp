#include "message/item_id.hpp"

#include "base/json_text.hpp"

namespace undertext {
namespace {

constexpr std::string_view reference = "item_reference";

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
  return text ? read(item_of(text->root())) : std::string();
}

}  // namespace

std::string item_id(const Message& message) {
  if (message.json().find(R"("id")") == std::string_view::npos) return {};
  return of_item(message, [](const std::optional<JsonValue>& item) {
    return text_of(item, "type") == reference ? std::string() : text_of(item, "id");
  });
}

std::string referenced_item(const Message& message) {
  if (message.json().find(reference) == std::string_view::npos) return {};
  return of_item(message, [](const std::optional<JsonValue>& item) {
    return text_of(item, "type") == reference ? text_of(item, "id") : std::string();
  });
}

}  // namespace undertext
