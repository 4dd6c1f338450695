#include "dialect/turn.hpp"

#include "base/json_string.hpp"

namespace undertext {

bool is_blank(std::string_view body) {
  for (std::size_t at = 0; at < body.size();) {
    const JsonUnit unit = json_unit(body, at);
    if (unit.code_point != ' ' && unit.code_point != '\n' && unit.code_point != '\t' && unit.code_point != '\r') return false;
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

void write_in(Dialect dialect, std::string& out, const Turn& turn) {
  switch (dialect) {
    case Dialect::openai_chat: return write_chat(out, turn);
    case Dialect::openai_responses: return write_responses(out, turn);
    case Dialect::anthropic: return write_anthropic(out, turn);
    case Dialect::gemini: return write_gemini(out, turn);
  }
}

}  // namespace undertext
