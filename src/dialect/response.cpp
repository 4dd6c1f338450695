#include <undertext/response.hpp>

#include <algorithm>
#include <charconv>

#include "base/event_stream.hpp"
#include "dialect/import.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

// Of one event: the last of Responses repeats the whole answer.
constexpr std::size_t event_bytes_max = std::size_t{64} << 20;

std::uint64_t number_of(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> value = object.find(key);
  return value ? value->uint64_saturated().value_or(0) : 0;
}
std::uint64_t number_of(const JsonValue& object, std::string_view outer, std::string_view key) {
  const std::optional<JsonValue> inner = object.find(outer);
  return inner && inner->is(JsonType::object) ? number_of(*inner, key) : 0;
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> value = string_of(object, key);
  return value ? value->string() : std::string();
}

std::string raw_of(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> value = object.find(key);
  return value && !value->is(JsonType::null) ? std::string(value->raw()) : std::string();
}

// How the messages of an answer are read.
struct ResponseReading {
  Dialect dialect;
  const MessageLimits& limits;
  std::uint64_t made_ids;
};

void take_messages(const ResponseReading& reading, std::string_view json,
                   ProviderResponse& response) {
  Result<Imported> imported =
      import_numbered(reading.dialect, json, reading.limits, {}, reading.made_ids);
  if (imported) response.messages = std::move(imported->messages);
}

ProviderResponse response_of(const ResponseReading& reading, StreamAssembler::Streamed streamed) {
  ProviderResponse response;
  if (!streamed.message.empty()) take_messages(reading, streamed.message, response);
  response.id = std::move(streamed.id);
  response.model = std::move(streamed.model);
  response.finish_reason = std::move(streamed.finish_reason);
  response.usage = read_provider_usage(reading.dialect, streamed.usage_json);
  response.error = std::move(streamed.error_json);
  response.complete = streamed.complete;
  return response;
}

ProviderResponse read_events(const ResponseReading& reading, std::string_view bytes) {
  StreamAssembler assembler(reading.dialect);
  EventStream events(event_bytes_max);
  const auto feed = [&](std::string_view, std::string_view data) {
    static_cast<void>(assembler.feed(data));  // what is no JSON says nothing
    return true;
  };
  // Not everybody ends the last event with an empty line.
  if (events.read(bytes, feed)) events.read("\n\n", feed);
  return response_of(reading, assembler.finish());
}

std::string finish_reason_of(Dialect dialect, const JsonValue& root) {
  switch (dialect) {
    case Dialect::anthropic: return text_of(root, "stop_reason");
    case Dialect::openai_responses: return text_of(root, "status");
    case Dialect::openai_chat:
    case Dialect::gemini: break;
  }
  const bool is_chat = dialect == Dialect::openai_chat;
  const std::optional<JsonValue> list = root.find(is_chat ? "choices" : "candidates");
  if (!list || !list->is(JsonType::array) || list->empty()) return {};
  return text_of(*list->elements().begin(), is_chat ? "finish_reason" : "finishReason");
}

ProviderResponse read_object(const ResponseReading& reading, const JsonValue& root) {
  const Dialect dialect = reading.dialect;
  const bool is_gemini = dialect == Dialect::gemini;
  ProviderResponse response;
  response.id = text_of(root, is_gemini ? "responseId" : "id");
  response.model = text_of(root, is_gemini ? "modelVersion" : "model");
  response.finish_reason = finish_reason_of(dialect, root);
  response.usage =
      read_provider_usage(dialect, raw_of(root, is_gemini ? "usageMetadata" : "usage"));
  response.error = raw_of(root, "error");
  // One that is made in the background is asked for again until it has ended.
  const bool is_under_way =
      dialect == Dialect::openai_responses &&
      (response.finish_reason == "queued" || response.finish_reason == "in_progress");
  response.complete = response.error.empty() && !is_under_way;
  if (response.error.empty()) take_messages(reading, root.raw(), response);
  return response;
}

// The next object of an array that came in pieces, and may end anywhere. Takes it off the front;
// empty: there is none whole.
std::string_view cut_object(std::string_view& array) {
  const std::size_t begin = array.find('{');
  std::size_t depth = 0;
  bool is_string = false;
  for (std::size_t i = begin; i < array.size(); ++i) {
    const char c = array[i];
    if (is_string && c == '\\') ++i;
    if (c == '"') is_string = !is_string;
    if (!is_string && c == '{') ++depth;
    if (is_string || c != '}' || --depth > 0) continue;
    const std::string_view object = array.substr(begin, i + 1 - begin);
    array.remove_prefix(i + 1);
    return object;
  }
  return {};
}

// Google streams an array where it is not asked for events.
ProviderResponse read_array(const ResponseReading& reading, std::string_view bytes) {
  StreamAssembler assembler(reading.dialect);
  for (std::string_view object = cut_object(bytes); !object.empty(); object = cut_object(bytes))
    static_cast<void>(assembler.feed(object));
  return response_of(reading, assembler.finish());
}

ProviderResponse read_whole(const ResponseReading& reading, std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin != bytes.npos && bytes[begin] == '[') return read_array(reading, bytes);
  const Result<JsonText> text = JsonText::parse(bytes, {.depth = reading.limits.depth + 8});
  return text && text->root().is(JsonType::object) ? read_object(reading, text->root())
                                                   : ProviderResponse{};
}

}  // namespace

ProviderUsage read_provider_usage(Dialect dialect, std::string_view json) {
  const Result<JsonText> text = JsonText::parse(json, {});
  if (!text || !text->root().is(JsonType::object)) return {};
  const JsonValue usage = text->root();
  switch (dialect) {
    case Dialect::anthropic: {
      const std::uint64_t read = number_of(usage, "cache_read_input_tokens"),
                          written = number_of(usage, "cache_creation_input_tokens");
      const std::uint64_t hour = number_of(usage, "cache_creation", "ephemeral_1h_input_tokens");
      return {number_of(usage, "input_tokens") + read + written, number_of(usage, "output_tokens"),
              read, written, std::min(hour, written)};
    }
    case Dialect::openai_chat:
      return {number_of(usage, "prompt_tokens"), number_of(usage, "completion_tokens"),
              number_of(usage, "prompt_tokens_details", "cached_tokens"),
              number_of(usage, "prompt_tokens_details", "cache_write_tokens"), 0};
    case Dialect::openai_responses:
      return {number_of(usage, "input_tokens"), number_of(usage, "output_tokens"),
              number_of(usage, "input_tokens_details", "cached_tokens"),
              number_of(usage, "input_tokens_details", "cache_write_tokens"), 0};
    case Dialect::gemini:
      return {number_of(usage, "promptTokenCount"),
              number_of(usage, "candidatesTokenCount") + number_of(usage, "thoughtsTokenCount"),
              number_of(usage, "cachedContentTokenCount"), 0, 0};
  }
  return {};
}

std::optional<Dialect> dialect_of_response(std::string_view json) {
  const Result<JsonText> text = JsonText::parse(json, {});
  if (!text || !text->root().is(JsonType::object)) return std::nullopt;
  const JsonValue root = text->root();
  if (root.find("choices")) return Dialect::openai_chat;
  if (root.find("candidates")) return Dialect::gemini;
  if (text_of(root, "object") == "response") return Dialect::openai_responses;
  if (text_of(root, "type") == "message" && root.find("model")) return Dialect::anthropic;
  return std::nullopt;
}

std::uint64_t last_made_id(const Message& message) {
  const std::string_view json = message.json();
  std::uint64_t last = 0;
  for (const std::string_view begin : {gemini_id_begin, legacy_id_begin}) {
    for (std::size_t at = json.find(begin); at != json.npos; at = json.find(begin, at)) {
      at += begin.size();
      std::uint64_t number = 0;
      const char* const end =
          std::from_chars(json.data() + at, json.data() + json.size(), number).ptr;
      if (end < json.data() + json.size() && *end == '"') last = std::max(last, number);
    }
  }
  return last;
}

ProviderResponse read_response(Dialect dialect, std::string_view bytes, ResponseForm form,
                               const MessageLimits& limits, std::uint64_t made_ids) {
  const ResponseReading reading{dialect, limits, made_ids};
  return form == ResponseForm::event_stream ? read_events(reading, bytes)
                                            : read_whole(reading, bytes);
}

}  // namespace undertext
