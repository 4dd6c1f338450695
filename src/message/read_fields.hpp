// Small questions to JSON values that may be anything.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json_text.hpp"
#include "message/turn.hpp"

namespace undertext {

inline constexpr DialectSet in_chat = bit(Dialect::openai_chat),
                            in_anthropic = bit(Dialect::anthropic),
                            in_responses = bit(Dialect::openai_responses);

// What was read from `value`, and may stand as it is in `native`.
inline Block block_of(BlockKind kind, const JsonValue& value, DialectSet native) {
  Block block;
  block.kind = kind;
  block.raw = value.raw();
  block.native = native;
  return block;
}

inline std::optional<JsonValue> string_of(const JsonValue& object, std::string_view key) {
  std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::string) ? value : std::nullopt;
}
inline std::string_view body_of(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> value = string_of(object, key);
  return value ? value->string_raw() : std::string_view();
}
inline std::string_view decoded_of(const JsonValue& string, Arena& arena) {
  return string.has_escapes() ? arena.keep(string.string()) : string.string_raw();
}
inline std::string_view decoded_of(const JsonValue& object, std::string_view key, Arena& arena) {
  const std::optional<JsonValue> value = string_of(object, key);
  return value ? decoded_of(*value, arena) : std::string_view();
}
// The name of a tool, and where it stands.
inline void read_name(const JsonValue& object, std::string_view key, Block& block, Arena& arena) {
  const std::optional<JsonValue> name = string_of(object, key);
  if (!name) return;
  block.name = decoded_of(*name, arena);
  block.named = name->raw();
}
inline bool is_true(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::boolean) && value->boolean();
}
inline bool is_one_of(const JsonValue& string, std::span<const std::string_view> words) {
  for (const std::string_view word : words)
    if (string.string_is(word)) return true;
  return false;
}

inline bool is_one_of(const JsonValue& string, std::initializer_list<std::string_view> words) {
  return is_one_of(string, std::span(words.begin(), words.size()));
}

inline bool names_tool_calls(const JsonValue& key) {
  return is_one_of(key, {"toolCalls", "tool_calls"});
}
inline bool names_tool_call_id(const JsonValue& key) {
  return is_one_of(key, {"toolCallId", "tool_call_id"});
}

// Of a call: the first of the names under which its arguments may stand that is not null. Empty:
// none, as some providers write "".
inline std::string_view arguments_of(const JsonValue& call) {
  for (const std::string_view key : {"arguments", "input", "args"})
    if (const std::optional<JsonValue> value = call.find(key); value && !value->is(JsonType::null))
      return value->raw() == R"("")" ? std::string_view() : value->raw();
  return {};
}

// The elements of a list of Gemini's: where its API expects a list, it takes an object too, for a
// list of this one.
template <typename Take>
void for_each_listed(const JsonValue& list, const Take& take) {
  if (list.is(JsonType::object)) return take(list);
  if (!list.is(JsonType::array)) return;
  for (const JsonValue element : list.elements()) take(element);
}

// What a part of Gemini may hold, one of them each.
inline constexpr std::string_view gemini_payloads[] = {"text",
                                                       "inlineData",
                                                       "inline_data",
                                                       "fileData",
                                                       "file_data",
                                                       "functionCall",
                                                       "function_call",
                                                       "functionResponse",
                                                       "function_response",
                                                       "executableCode",
                                                       "executable_code",
                                                       "codeExecutionResult",
                                                       "code_execution_result",
                                                       "toolCall",
                                                       "tool_call",
                                                       "toolResponse",
                                                       "tool_response"};

// "data:image/png;base64,AAAA" taken apart; a plain URL otherwise.
inline void read_url(std::string_view body, Media& media) {
  constexpr std::string_view scheme = "data:", marker = ";base64,";
  const std::size_t at = body.find(marker);
  if (body.starts_with(scheme) && at != std::string_view::npos) {
    media.source = MediaSource::base64;
    media.mime = body.substr(scheme.size(), at - scheme.size());
    media.data = body.substr(at + marker.size());
  } else {
    media.source = MediaSource::url;
    media.data = body;
  }
}

}  // namespace undertext
