#include "message/canonical_json.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/json_string.hpp"

namespace undertext {
namespace {

constexpr char end_of_text = static_cast<char>(0xff);
constexpr std::uint32_t depth_max = 4096;  // what was read as a message is less deep

bool says_nothing(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::null: return true;
    case JsonType::string: return value.string_raw().empty();
    case JsonType::array:
    case JsonType::object: return value.empty();
    default: return false;
  }
}

// 1, 1.0 and 10e-1 are one number: digits without zeros at either end, and the exponent of the last
// one.
struct Decimal {
  std::string digits;
  std::int64_t exponent = 0;
  bool is_negative = false;
};
bool read_decimal(std::string_view spelled, Decimal& number) {
  number.is_negative = spelled.front() == '-';
  if (number.is_negative) spelled.remove_prefix(1);
  const std::size_t e = spelled.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view power = spelled.substr(e + 1);
    if (power.front() == '+') power.remove_prefix(1);
    if (std::from_chars(power.data(), power.data() + power.size(), number.exponent).ec !=
        std::errc())
      return false;
    spelled = spelled.substr(0, e);
  }
  const std::size_t point = spelled.find('.');
  number.digits = spelled.substr(0, point);
  if (point != std::string_view::npos) {
    number.digits += spelled.substr(point + 1);
    number.exponent -= static_cast<std::int64_t>(spelled.size() - point - 1);
  }
  number.digits.erase(0, number.digits.find_first_not_of('0'));
  while (!number.digits.empty() && number.digits.back() == '0') {
    number.digits.pop_back();
    ++number.exponent;
  }
  return true;
}

}  // namespace

void CanonicalJson::add_text(std::string_view utf8) {
  digest_.add(utf8);
  digest_.add(end_of_text);
}

void CanonicalJson::add_body(std::string_view body) {
  if (body.find('\\') == std::string_view::npos) return add_text(body);
  std::string decoded;
  append_json_decoded(decoded, body, LoneSurrogates::keep);
  add_text(decoded);
}

void CanonicalJson::add_number(std::string_view spelled) {
  Decimal number;
  if (!read_decimal(spelled, number)) return add_text(spelled);  // beyond any exponent
  if (number.digits.empty()) return add_text("0");
  add_text((number.is_negative ? "-" : "") + number.digits + "e" + std::to_string(number.exponent));
}

template <class Skip, class Add>
void CanonicalJson::add_members(const JsonValue& object, Skip skip, Add add) {
  struct Member {
    std::string key;
    JsonValue value;
  };
  std::vector<Member> members;
  for (const JsonMember member : object.members()) {
    std::string key = member.key.string();
    if (!skip(key, member.value)) members.push_back({std::move(key), member.value});
  }
  std::ranges::sort(members, {}, &Member::key);
  add_mark('{');
  for (const Member& member : members) {
    add_text(member.key);
    add(member.value);
  }
  add_mark('}');
}

void CanonicalJson::add_value(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::null: return add_mark('n');
    case JsonType::boolean: return add_mark(value.boolean() ? 't' : 'f');
    case JsonType::number: add_mark('#'); return add_number(value.raw());
    case JsonType::string: add_mark('"'); return add_body(value.string_raw());
    case JsonType::array:
      add_mark('[');
      for (const JsonValue element : value.elements()) add_value(element);
      return add_mark(']');
    case JsonType::object:
      return add_members(
          value, [](const std::string&, const JsonValue&) { return false; },
          [this](const JsonValue& each) { add_value(each); });
  }
}

// As add_value(), without members that say nothing.
void CanonicalJson::add_what_says(const JsonValue& value) {
  if (value.is(JsonType::object)) return add_object_without(value, {});
  if (!value.is(JsonType::array)) return add_value(value);
  add_mark('[');
  for (const JsonValue element : value.elements()) add_what_says(element);
  add_mark(']');
}

void CanonicalJson::add_object_without(const JsonValue& object,
                                       std::span<const std::string> members) {
  if (!object.is(JsonType::object)) return add_value(object);
  add_members(
      object,
      [&](const std::string& key, const JsonValue& value) {
        return says_nothing(value) || std::ranges::find(members, key) != members.end();
      },
      [this](const JsonValue& value) { add_what_says(value); });
}

void CanonicalJson::add_value_or_held(std::string_view json) {
  const Result<JsonText> text = JsonText::parse(json, {.depth = depth_max});
  if (!text) return add_text(json);
  if (!text->root().is(JsonType::string)) return add_value(text->root());
  const std::string held = text->root().string();
  const Result<JsonText> inner = JsonText::parse(held, {.depth = depth_max});
  if (inner && (inner->root().is(JsonType::object) || inner->root().is(JsonType::array)))
    return add_value(inner->root());
  add_value(text->root());
}

}  // namespace undertext
