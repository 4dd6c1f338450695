#include "message/turn.hpp"

#include <algorithm>
#include <string>

#include "base/json_string.hpp"

namespace undertext {

bool is_blank(std::string_view body) {
  for (std::size_t at = 0; at < body.size();) {
    const JsonUnit unit = json_unit(body, at);
    if (unit.code_point != ' ' && unit.code_point != '\n' && unit.code_point != '\t' &&
        unit.code_point != '\r')
      return false;
    at += unit.size;
  }
  return true;
}

std::string escaped(std::string_view utf8) {
  std::string body;
  append_json_escaped(body, utf8);
  return body;
}

std::string decoded(std::string_view body) {
  std::string text;
  append_json_decoded(text, body);
  return text;
}

std::size_t blocks_max(const MessageLimits& limits) {
  constexpr std::uint64_t bytes_each = 64, fewest = 4096;
  return static_cast<std::size_t>(std::max(limits.message_bytes / bytes_each, fewest));
}

Error too_many_blocks(const MessageLimits& limits) {
  return {.code = ErrorCode::too_large,
          .message = "a message may have " + std::to_string(blocks_max(limits)) +
                     " parts and calls, one for each 64 bytes of limits.messageBytes: make it "
                     "several messages"};
}

Block text_block(std::string_view body) {
  Block block;
  block.text = body;
  return block;
}

Turn read_in(Dialect dialect, JsonValue json, Arena& arena, ToolIds& ids) {
  switch (dialect) {
    case Dialect::gemini: return read_gemini(json, arena, ids);
    case Dialect::openai_responses: return read_responses(json, arena);
    default: return read_message(json, dialect, arena, ids);
  }
}

std::string_view name(Dialect dialect) {
  switch (dialect) {
    case Dialect::openai_chat: return "openai_chat";
    case Dialect::openai_responses: return "openai_responses";
    case Dialect::anthropic: return "anthropic";
    case Dialect::gemini: return "gemini";
  }
  return "";
}

std::optional<Dialect> dialect_named(std::string_view given) {
  for (const Dialect dialect :
       {Dialect::openai_chat, Dialect::openai_responses, Dialect::anthropic, Dialect::gemini})
    if (name(dialect) == given) return dialect;
  return std::nullopt;
}

}  // namespace undertext
