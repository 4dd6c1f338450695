#include "server/outside_settings.hpp"

#include <utility>

#include "base/json_text.hpp"
#include "json/settings_json.hpp"

namespace undertext {

void check_outside_tokenizer(std::string_view name) {
  if (name.find('/') == std::string_view::npos) return;
  throw Failure(
      Error{ErrorCode::invalid_argument, "a tokenizer must be one by name: files are for who runs the server", "tokenizer"});
}

Settings outside_settings(std::string_view json) {
  if (json.empty()) return {};
  // Before anything is read, for reading them opens files.
  const Result<JsonText> text = JsonText::parse(json, {});
  if (text && text->root().find("summarisers")) {
    throw Failure(Error{ErrorCode::invalid_argument,
                        "summarisers hold keys, and say where messages are sent: they are for who runs the server", "summarisers"});
  }
  Settings settings = read_settings(json).value().settings;
  check_outside_tokenizer(settings.tokenizer);
  if (settings.limits.message.message_bytes > MessageLimits{}.message_bytes) {
    throw Failure(Error{ErrorCode::invalid_argument, "is more than this server takes", "messageBytes", "limits.messageBytes"});
  }
  return settings;
}

void append_shown_settings(std::string& out, std::string_view note) {
  const Result<JsonText> text = JsonText::parse(note, {});
  out += '{';
  const char* separator = "";
  if (text && text->root().is(JsonType::object)) {
    for (const JsonMember member : text->root().members()) {
      ((out += std::exchange(separator, ",")) += member.key.raw()) += ':';
      if (!member.key.string_is("summarisers")) {
        out += member.value.raw();
        continue;
      }
      const char* between = "";
      out += '[';
      if (member.value.is(JsonType::object)) {
        for (const JsonMember summariser : member.value.members()) (out += std::exchange(between, ",")) += summariser.key.raw();
      }
      out += ']';
    }
  }
  out += '}';
}

std::string exported_settings(std::string note) {
  const Result<JsonText> text = JsonText::parse(note, {});
  if (!text || !text->root().find("summarisers")) return note;
  std::string out = "{";
  const char* separator = "";
  for (const JsonMember member : text->root().members()) {
    if (member.key.string_is("summarisers") || member.key.string_is("compressionConfig")) continue;
    ((out.append(std::exchange(separator, ",")) += member.key.raw()) += ':') += member.value.raw();
  }
  return out + "}";
}

}  // namespace undertext
