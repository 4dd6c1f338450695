#include "dialect/write_parts.hpp"

#include "base/json_string.hpp"

namespace undertext {

void write_in(Dialect dialect, std::string& out, const Turn& turn) {
  switch (dialect) {
    case Dialect::openai_chat: return write_chat(out, turn);
    case Dialect::openai_responses: return write_responses(out, turn);
    case Dialect::anthropic: return write_anthropic(out, turn);
    case Dialect::gemini: return write_gemini(out, turn);
  }
}

void append_string(std::string& out, std::string_view utf8) { append_json_string(out, utf8); }

namespace {

std::string text_of_token(std::string_view token) {
  return decoded(token.substr(1, token.size() - 2));
}

bool is_object_text(std::string_view text) {
  const Result<JsonText> read = JsonText::parse(text, {});
  return read && read->root().is(JsonType::object);
}

}  // namespace

bool arguments_are_object(const Block& call) {
  if (call.json.empty()) return true;
  if (call.json.front() == '{') return true;
  return call.json.front() == '"' && !call.is_custom && is_object_text(text_of_token(call.json));
}

void append_arguments_object(std::string& out, const Block& call) {
  if (call.json.empty()) {
    out += "{}";
  } else if (call.json.front() == '{') {
    out += call.json;
  } else if (call.json.front() == '"' && !call.is_custom) {
    const std::string text = text_of_token(call.json);
    if (is_object_text(text)) {
      out += text;
    } else if (text.empty()) {
      out += "{}";
    } else {
      out += R"({"_raw":)";
      out += call.json;
      out += '}';
    }
  } else {
    out += call.is_custom ? R"({"input":)" : R"({"_raw":)";
    out += call.json;
    out += '}';
  }
}

void append_arguments_text(std::string& out, const Block& call) {
  if (call.json.empty()) {
    out += call.is_custom ? R"("")" : R"("{}")";
  } else if (call.json.front() == '"') {
    out += call.json;
  } else {
    append_json_string(out, call.json);
  }
}

std::string result_body(const Block& result) {
  if (!result.is_list) return result.json.empty() ? std::string(result.text) : escaped(result.json);
  std::string body;
  for (const Block& inner : result.inner) {
    if (!body.empty()) body += "\\n";
    if (inner.kind == BlockKind::text) {
      body += inner.text;
    } else if (inner.kind == BlockKind::media) {
      body += inner.media.kind == MediaKind::image ? "[image]" : "[file]";
    } else {
      body += escaped(inner.raw);
    }
  }
  return body;
}

void append_data_url(std::string& out, const Media& media) {
  out += '"';
  if (media.source == MediaSource::base64) {
    out += "data:";
    out += media.mime.empty() ? std::string_view("application/octet-stream") : media.mime;
    out += ";base64,";
  }
  out += media.data;
  out += '"';
}

}  // namespace undertext
