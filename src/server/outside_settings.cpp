#include "server/outside_settings.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json_text.hpp"
#include "json/settings_json.hpp"

namespace undertext {

void check_outside_tokenizer(std::string_view name) {
  if (name.find('/') == std::string_view::npos) return;
  throw Failure(Error{ErrorCode::invalid_argument,
                      "a tokenizer must be one by name: files are for who runs the server",
                      "tokenizer"});
}

namespace {

// Members that hold keys, or where to find them, and say where messages are sent.
constexpr std::string_view endpoint_members[] = {"summarisers", "embeddings"};

bool names_endpoint(const JsonValue& key) {
  return std::any_of(std::begin(endpoint_members), std::end(endpoint_members),
                     [&](std::string_view name) { return key.string_is(name); });
}

}  // namespace

Settings outside_settings(std::string_view json) {
  if (json.empty()) return {};
  // Before anything is read, for reading them opens files.
  const Result<JsonText> text = JsonText::parse(json, {});
  for (const std::string_view member : endpoint_members) {
    if (!text || !text->root().find(member)) continue;
    throw Failure(
        Error{ErrorCode::invalid_argument,
              std::string(member) +
                  " hold keys, and say where messages are sent: they are for who runs the server",
              std::string(member)});
  }
  Settings settings = read_settings(json).value().settings;
  check_outside_tokenizer(settings.tokenizer);
  if (settings.limits.message.message_bytes > MessageLimits{}.message_bytes) {
    throw Failure(Error{ErrorCode::invalid_argument, "is more than this server takes",
                        "messageBytes", "limits.messageBytes"});
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
      if (!names_endpoint(member.key)) {
        out += member.value.raw();
        continue;
      }
      if (member.key.string_is("embeddings")) {
        const std::optional<JsonValue> model = member.value.find("model");
        out += model && model->is(JsonType::string)
                   ? R"({"model":)" + std::string(model->raw()) + "}"
                   : "{}";
        continue;
      }
      const char* between = "";
      out += '[';
      if (member.value.is(JsonType::object)) {
        for (const JsonMember summariser : member.value.members())
          (out += std::exchange(between, ",")) += summariser.key.raw();
      }
      out += ']';
    }
  }
  out += '}';
}

std::string exported_settings(std::string note) {
  const Result<JsonText> text = JsonText::parse(note, {});
  if (!text || !(text->root().find("summarisers") || text->root().find("embeddings"))) return note;
  std::string out = "{";
  const char* separator = "";
  for (const JsonMember member : text->root().members()) {
    if (names_endpoint(member.key)) continue;
    if (member.key.string_is("compressionConfig") && text->root().find("summarisers")) continue;
    ((out.append(std::exchange(separator, ",")) += member.key.raw()) += ':') += member.value.raw();
  }
  return out + "}";
}

}  // namespace undertext
