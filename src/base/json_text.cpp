// Reading values from the table of nodes, and writing strings.
#include "base/json_text.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/json_string.hpp"

namespace undertext {

std::string_view name(JsonType type) {
  switch (type) {
    case JsonType::null: return "null";
    case JsonType::boolean: return "boolean";
    case JsonType::number: return "number";
    case JsonType::string: return "string";
    case JsonType::array: return "array";
    case JsonType::object: return "object";
  }
  return "value";
}

Result<JsonText> JsonText::parse(std::string_view text, const JsonLimits& limits) {
  JsonText read;
  if (std::optional<Error> error = read.read(text, limits)) return std::move(*error);
  return read;
}

void JsonText::release_above(std::size_t bytes) {
  if (nodes_.capacity() * sizeof(Node) > bytes) std::vector<Node>().swap(nodes_);
}

std::string JsonValue::string() const {
  std::string decoded;
  append_json_decoded(decoded, string_raw());
  return decoded;
}

std::optional<std::int64_t> JsonValue::int64() const {
  if (!is(JsonType::number)) return std::nullopt;
  const std::string_view digits = raw();
  const char* const end = digits.data() + digits.size();
  std::int64_t value = 0;
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (at != end || error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> JsonValue::uint64_saturated() const {
  if (!is(JsonType::number)) return std::nullopt;
  const std::string_view digits = raw();
  if (digits == "-0") return 0;
  const char* const end = digits.data() + digits.size();
  std::uint64_t value = 0;
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (at != end) return std::nullopt;
  return error == std::errc::result_out_of_range ? std::numeric_limits<std::uint64_t>::max()
                                                 : value;
}

std::size_t JsonValue::count() const {
  std::size_t count = 0;
  if (is(JsonType::object)) {
    for ([[maybe_unused]] const JsonMember member : members()) ++count;
  } else {
    for ([[maybe_unused]] const JsonValue element : elements()) ++count;
  }
  return count;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (!is(JsonType::object)) return std::nullopt;
  for (const JsonMember member : members())
    if (member.key.string_is(key)) return member.value;
  return std::nullopt;
}

void append_json_string(std::string& out, std::string_view utf8) {
  out += '"';
  append_json_escaped(out, utf8);
  out += '"';
}

void append_json_escaped(std::string& out, std::string_view utf8) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
  };
  for (std::size_t at = 0; at < utf8.size();) {
    std::size_t plain_end = at;
    while (plain_end < utf8.size() && is_plain(utf8[plain_end])) ++plain_end;
    out.append(utf8, at, plain_end - at);
    if (plain_end == utf8.size()) return;
    const char c = utf8[plain_end];
    at = plain_end + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: {
        constexpr std::string_view hex = "0123456789abcdef";
        out += "\\u00";
        out += hex[static_cast<std::size_t>(c) >> 4];
        out += hex[static_cast<std::size_t>(c) & 15];
      }
    }
  }
}

std::string json_string(std::string_view utf8) {
  std::string out;
  append_json_string(out, utf8);
  return out;
}

void append_json_number(std::string& out, double number) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
  // JSON has no spelling of an infinity.
  const bool is_spelled = std::isfinite(number) && end.ec == std::errc();
  out.append(is_spelled ? std::string_view(digits, end.ptr) : "0");
}

}  // namespace undertext
