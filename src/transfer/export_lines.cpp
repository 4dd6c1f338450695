#include "transfer/export_lines.hpp"

#include <utility>

#include "base/json_text.hpp"
#include "json/fields.hpp"
#include "json/operation_fields.hpp"
#include "message/redacted.hpp"
#include "store/chain.hpp"

namespace undertext {
namespace {

constexpr std::string_view format_name = "undertext.conversation";
// since 2, a FILTER by text says what it kept; since 3, a version says which messages are redacted
constexpr std::uint64_t format_version = 3;

// JSON as it is, so that people can read it; but as a string where it holds line breaks, so that
// not a byte is changed.
void append_embedded(std::string& out, std::string_view json) {
  if (json.find_first_of("\n\r") == std::string_view::npos) {
    out += json;
  } else {
    append_json_string(out, json);
  }
}
std::string embedded(JsonValue value) {
  return value.is(JsonType::string) ? value.string() : std::string(value.raw());
}

bool is_json_object(std::string_view text) {
  const Result<JsonText> json = JsonText::parse(text, {});
  return json && json->root().is(JsonType::object);
}

void append_text(std::string& out, std::string_view lead, std::string_view text) {
  out += lead;
  append_json_string(out, text);
}

ExportHeader read_header(Fields& fields) {
  ExportHeader header;
  std::uint64_t version = 0;
  fields.find("format");
  fields.need("formatVersion", version);
  if (version > format_version) {
    throw Failure(Error{ErrorCode::unsupported,
                        "the format is of version " + std::to_string(version) +
                            ", and this program knows " + std::to_string(format_version),
                        "formatVersion"});
  }
  Integer created;
  fields.need("createdAt", created);
  header.created_at_ms = created.value;
  fields.need("tokenizer", header.tokenizer);
  if (const std::optional<JsonValue> settings = fields.find("settings"))
    header.note = embedded(*settings);
  return header;
}

void read_messages(Fields& fields, const MessageLimits& limits, std::vector<Message>& messages) {
  const std::optional<JsonValue> list = fields.find("messages");
  if (!list) return;
  if (!list->is(JsonType::array)) return fields.fail("messages", "must be a list");
  for (const JsonValue element : list->elements()) {
    Result<Message> message = Message::parse(embedded(element), limits);
    if (!message) throw Failure(std::move(message.error()));
    messages.push_back(std::move(*message));
  }
}

// A file could name any message, so only what has the form of a redacted one is taken for such.
void read_redacted(Fields& fields, std::vector<Message>& messages) {
  const std::optional<JsonValue> list = fields.find("redacted");
  if (!list) return;
  if (!list->is(JsonType::array)) return fields.fail("redacted", "must be a list");
  for (const JsonValue element : list->elements()) {
    const std::optional<std::uint64_t> at =
        element.is(JsonType::number) ? element.uint64_saturated() : std::nullopt;
    if (!at || *at >= messages.size() || !has_form_of_redacted(messages[*at]) ||
        !digest_of_hex(redacted_sha256(messages[*at])))
      return fields.fail("redacted", "must name messages of the line that were redacted");
    messages[*at] = as_redacted(messages[*at]);
  }
}

ExportedVersion read_version(Fields& fields, const MessageLimits& limits) {
  ExportedVersion version;
  std::string operation;
  Integer at;
  fields.need("version", version.version);
  fields.need("operation", operation);
  fields.need("timestamp", at);
  version.past.at_ms = at.value;
  fields.need("messageCount", version.message_count);
  fields.need("batchIndex", version.batch_index);
  version.past.record = take_record(fields, operation);
  read_messages(fields, limits, version.past.messages);
  read_redacted(fields, version.past.messages);
  return version;
}

ExportEnd read_end(Fields& fields) {
  ExportEnd end;
  fields.find("end");
  fields.need("versions", end.versions);
  fields.need("messages", end.messages);
  fields.need("view", end.view);
  fields.need("digest", end.digest);
  return end;
}

}  // namespace

std::string line_of(const ExportHeader& header) {
  std::string out = R"({"format":")" + std::string(format_name) + R"(","formatVersion":)" +
                    std::to_string(format_version);
  out += R"(,"createdAt":)" + std::to_string(header.created_at_ms);
  append_text(out, R"(,"tokenizer":)", header.tokenizer);
  if (!header.note.empty()) {
    out += R"(,"settings":)";
    // A note that is no JSON object is a string that holds it.
    if (is_json_object(header.note)) {
      append_embedded(out, header.note);
    } else {
      append_json_string(out, header.note);
    }
  }
  return out + "}";
}

std::string line_of(const ExportedVersion& version) {
  std::string out = R"({"version":)" + std::to_string(version.version);
  append_text(out, R"(,"operation":)", name(version.past.record.operation));
  out += R"(,"timestamp":)" + std::to_string(version.past.at_ms);
  append_record(out, version.past.record);
  out += R"(,"messageCount":)" + std::to_string(version.message_count) + R"(,"batchIndex":)" +
         std::to_string(version.batch_index);
  if (!version.past.messages.empty()) {
    std::string_view lead = R"(,"messages":[)";
    for (const Message& message : version.past.messages) {
      out += std::exchange(lead, ",");
      append_embedded(out, message.json());
    }
    out += ']';
  }
  std::string_view lead = R"(,"redacted":[)";
  for (std::size_t i = 0; i < version.past.messages.size(); ++i)
    if (version.past.messages[i].is_redacted())
      (out += std::exchange(lead, ",")) += std::to_string(i);
  if (lead == ",") out += ']';
  return out + "}";
}

std::string line_of(const ExportEnd& end) {
  std::string out = R"({"end":true,"versions":)" + std::to_string(end.versions) +
                    R"(,"messages":)" + std::to_string(end.messages);
  return out + R"(,"view":")" + end.view + R"(","digest":")" + end.digest + R"("})";
}

bool is_export_header(std::string_view line) {
  const Result<JsonText> json = JsonText::parse(line, {});
  if (!json || !json->root().is(JsonType::object)) return false;
  const std::optional<JsonValue> format = json->root().find("format");
  return format && format->is(JsonType::string) && format->string_is(format_name);
}

Result<ExportLine> read_export_line(std::string_view line, const MessageLimits& limits) {
  const Result<JsonText> json = JsonText::parse(line, {.depth = limits.depth + 8});
  if (!json) return json.error();
  const JsonValue root = json->root();
  if (!root.is(JsonType::object))
    return Error{ErrorCode::invalid_argument, "a line of an export is a JSON object"};
  Reading reading(limits);
  Fields fields(root, "a line of an export", reading);
  try {
    ExportLine read = root.find("format") ? ExportLine(read_header(fields))
                      : root.find("end")  ? ExportLine(read_end(fields))
                                          : ExportLine(read_version(fields, limits));
    fields.done();
    if (reading.failed()) return reading.take_error();
    return read;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

void LinesDigest::add(std::string_view line) {
  const Digest next = sha256(digest_ + std::string(line));
  digest_.assign(reinterpret_cast<const char*>(next.data()), next.size());
}

std::string LinesDigest::hex() const {
  Digest digest = {};
  for (std::size_t i = 0; i < digest_.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(digest_[i]);
  return undertext::hex(digest);
}

std::string digest_of_view(const View& view) {
  std::string ordinals;
  for (std::uint64_t i = 0; i < view.size(); ++i)
    (ordinals += std::to_string(view.ordinal(i).value)) += ',';
  return hex(sha256(ordinals));
}

}  // namespace undertext
