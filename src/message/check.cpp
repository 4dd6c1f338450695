// The rules a message must pass, one function per field.
#include "message/check.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "message/read_fields.hpp"

namespace undertext {
namespace {

using MaybeError = std::optional<Error>;

Error bad_field(std::string_view field, std::string message, std::string path = {}) {
  return {.code = ErrorCode::invalid_argument,
          .message = std::move(message),
          .field = std::string(field),
          .path = std::move(path)};
}

// "content[2]", for an error inside a list.
std::string element_path(std::string_view field, std::size_t index) {
  return std::string(field) + "[" + std::to_string(index) + "]";
}

MaybeError check_role(const std::optional<JsonValue>& given, Role& role) {
  constexpr std::string_view roles = R"(role must be "system", "user", "assistant" or "tool")";
  if (!given) return bad_field("role", "a message needs a role: " + std::string(roles));
  const std::optional<Role> known = !given->is(JsonType::string)    ? std::nullopt
                                    : given->string_is("developer") ? Role::system
                                    : given->has_escapes()          ? role_named(given->string())
                                                           : role_named(given->string_raw());
  if (!known) return bad_field("role", std::string(roles));
  role = *known;
  return std::nullopt;
}

MaybeError check_parts(const JsonValue& parts) {
  std::size_t index = 0;
  for (const JsonValue part : parts.elements()) {
    if (!part.is(JsonType::object))
      return bad_field(
          "content",
          "each part of content must be an object, not " + std::string(name(part.type())),
          element_path("content", index));
    if (const std::optional<JsonValue> type = part.find("type");
        type && !type->is(JsonType::string))
      return bad_field("content", "the type of a part must be a string",
                       element_path("content", index) + ".type");
    ++index;
  }
  return std::nullopt;
}

// Nothing to say is fine for a tool that returned nothing and for an assistant that calls tools;
// null is "no content", which a tool's answer cannot be.
MaybeError check_content(const std::optional<JsonValue>& content, Role role, bool has_tool_calls) {
  if (!content) return bad_field("content", "a message needs content: a string or a list of parts");
  const bool calls_tools = role == Role::assistant && has_tool_calls;
  const auto must_not_be = [role](std::string_view what) {
    std::string message = "content of a message with role " + std::string(name(role)) +
                          " must not be " + std::string(what);
    if (role == Role::assistant) message += " unless it has tool calls";
    return bad_field("content", std::move(message));
  };
  switch (content->type()) {
    case JsonType::string:
      if (content->string_raw().empty() && role != Role::tool && !calls_tools)
        return must_not_be("empty");
      return std::nullopt;
    case JsonType::array:
      if (content->empty() && role != Role::tool && !calls_tools) return must_not_be("empty");
      return check_parts(*content);
    case JsonType::null:
      if (!calls_tools) return must_not_be("null");
      return std::nullopt;
    default:
      return bad_field("content", "content must be a string or a list of parts, not " +
                                      std::string(name(content->type())));
  }
}

MaybeError check_tool_calls(std::string_view field, const JsonValue& calls) {
  if (!calls.is(JsonType::array)) return bad_field(field, std::string(field) + " must be a list");
  std::size_t index = 0;
  for (const JsonValue call : calls.elements()) {
    if (!call.is(JsonType::object))
      return bad_field(field, "each element of " + std::string(field) + " must be an object",
                       element_path(field, index));
    if (const std::optional<JsonValue> id = call.find("id"); id && !id->is(JsonType::string))
      return bad_field(field, "the id of a tool call must be a string",
                       element_path(field, index) + ".id");
    ++index;
  }
  return std::nullopt;
}

MaybeError check_type(std::string_view field, const JsonValue& value, JsonType type) {
  if (value.is(type)) return std::nullopt;
  const bool vowel = type == JsonType::object || type == JsonType::array;
  return bad_field(field, std::string(field) + (vowel ? " must be an " : " must be a ") +
                              std::string(name(type)) + ", not " + std::string(name(value.type())));
}

MaybeError check_timestamp(const JsonValue& value, std::optional<std::int64_t>& timestamp_ms) {
  timestamp_ms = value.int64();
  if (timestamp_ms) return std::nullopt;
  return bad_field("timestamp",
                   "timestamp must be an integer: milliseconds since 1970, spelled without "
                   "fraction or exponent");
}

// The members whose rules need no other member.
MaybeError check_member(const JsonMember& member, MessageFacts& facts, bool& has_tool_calls) {
  const JsonValue& key = member.key;
  // Many programs write a member they have nothing for as null, and mean that it is absent.
  if (member.value.is(JsonType::null) && !key.string_is("timestamp")) return std::nullopt;
  if (key.string_is("id")) return check_type("id", member.value, JsonType::string);
  if (key.string_is("timestamp")) return check_timestamp(member.value, facts.timestamp_ms);
  if (key.string_is("metadata")) return check_type("metadata", member.value, JsonType::object);
  if (names_tool_call_id(key)) return check_type(key.string(), member.value, JsonType::string);
  if (names_tool_calls(key)) {
    has_tool_calls = has_tool_calls || (member.value.is(JsonType::array) && !member.value.empty());
    return check_tool_calls(key.string(), member.value);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> check_message(const JsonValue& message, MessageFacts& facts) {
  if (!message.is(JsonType::object))
    return Error{
        .code = ErrorCode::invalid_argument,
        .message = "a message must be a JSON object, not " + std::string(name(message.type()))};
  std::optional<JsonValue> role;
  std::optional<JsonValue> content;
  MaybeError member_error;
  bool has_tool_calls = false;
  for (const JsonMember member : message.members()) {
    if (member.key.string_is("role")) {
      role = member.value;
    } else if (member.key.string_is("content")) {
      content = member.value;
    } else if (!member_error) {
      member_error = check_member(member, facts, has_tool_calls);
    }
  }
  if (MaybeError error = check_role(role, facts.role)) return error;
  // Before the content, whose rules ask whether there are tool calls.
  if (member_error) return member_error;
  return check_content(content, facts.role, has_tool_calls);
}

}  // namespace undertext
