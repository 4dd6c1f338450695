#include "client/pointer.hpp"

#include <charconv>

namespace undertext {
namespace {

std::optional<JsonValue> step(const JsonValue& value, std::string_view word) {
  if (!value.is(JsonType::array)) return value.find(word);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  for (const JsonValue element : value.elements())
    if (index-- == 0) return element;
  return std::nullopt;
}

}  // namespace

std::string text_at(const JsonValue& root, std::string_view pointer) {
  const std::size_t inner = pointer.find('#');
  std::string_view way = pointer.substr(0, inner);
  std::optional<JsonValue> at = root;
  while (at && way.starts_with('/')) {
    way.remove_prefix(1);
    const std::size_t end = way.find('/');
    at = step(*at, way.substr(0, end));
    way = end == std::string_view::npos ? std::string_view() : way.substr(end);
  }
  if (!at || !at->is(JsonType::string)) return {};
  const std::string text = at->string();
  if (inner == std::string_view::npos) return text;
  const Result<JsonText> held = JsonText::parse(text, {});
  return held ? text_at(held->root(), pointer.substr(inner + 1)) : std::string();
}

}  // namespace undertext
