#include <undertext/response.hpp>

#include <undertext/dialect.hpp>

#include "base/event_stream.hpp"
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

void take_messages(Dialect dialect, std::string_view json, const MessageLimits& limits, ProviderResponse& response) {
  Result<Imported> imported = import_messages(dialect, json, limits);
  if (imported) response.messages = std::move(imported->messages);
}

ProviderResponse response_of(Dialect dialect, StreamAssembler::Streamed streamed, const MessageLimits& limits) {
  ProviderResponse response;
  if (!streamed.message.empty()) take_messages(dialect, streamed.message, limits, response);
  response.id = std::move(streamed.id);
  response.model = std::move(streamed.model);
  response.finish_reason = std::move(streamed.finish_reason);
  response.usage = read_provider_usage(dialect, streamed.usage_json);
  response.error = std::move(streamed.error_json);
  response.complete = streamed.complete;
  return response;
}

ProviderResponse read_events(Dialect dialect, std::string_view bytes, const MessageLimits& limits) {
  StreamAssembler assembler(dialect);
  EventStream events(event_bytes_max);
  events.read(bytes, [&](std::string_view, std::string_view data) {
    static_cast<void>(assembler.feed(data));  // what is no JSON says nothing
    return true;
  });
  return response_of(dialect, assembler.finish(), limits);
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

ProviderResponse read_object(Dialect dialect, const JsonValue& root, const MessageLimits& limits) {
  const bool is_gemini = dialect == Dialect::gemini;
  ProviderResponse response;
  response.id = text_of(root, is_gemini ? "responseId" : "id");
  response.model = text_of(root, is_gemini ? "modelVersion" : "model");
  response.finish_reason = finish_reason_of(dialect, root);
  response.usage = read_provider_usage(dialect, raw_of(root, is_gemini ? "usageMetadata" : "usage"));
  response.error = raw_of(root, "error");
  response.complete = response.error.empty();
  if (response.complete) take_messages(dialect, root.raw(), limits, response);
  return response;
}

ProviderResponse read_whole(Dialect dialect, std::string_view bytes, const MessageLimits& limits) {
  const Result<JsonText> text = JsonText::parse(bytes, {.depth = limits.depth + 8});
  if (!text) return {};
  if (text->root().is(JsonType::object)) return read_object(dialect, text->root(), limits);
  if (!text->root().is(JsonType::array)) return {};
  StreamAssembler assembler(dialect);
  for (const JsonValue element : text->root().elements()) static_cast<void>(assembler.feed(element.raw()));
  return response_of(dialect, assembler.finish(), limits);
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
      return {number_of(usage, "input_tokens") + read + written, number_of(usage, "output_tokens"), read, written};
    }
    case Dialect::openai_chat:
      return {number_of(usage, "prompt_tokens"), number_of(usage, "completion_tokens"),
              number_of(usage, "prompt_tokens_details", "cached_tokens"), 0};
    case Dialect::openai_responses:
      return {number_of(usage, "input_tokens"), number_of(usage, "output_tokens"),
              number_of(usage, "input_tokens_details", "cached_tokens"), 0};
    case Dialect::gemini:
      return {number_of(usage, "promptTokenCount"),
              number_of(usage, "candidatesTokenCount") + number_of(usage, "thoughtsTokenCount"),
              number_of(usage, "cachedContentTokenCount"), 0};
  }
  return {};
}

ProviderResponse read_response(Dialect dialect, std::string_view bytes, ResponseForm form, const MessageLimits& limits) {
  return form == ResponseForm::event_stream ? read_events(dialect, bytes, limits) : read_whole(dialect, bytes, limits);
}

}  // namespace undertext
