#include "endpoint/answer.hpp"

#include <undertext/response.hpp>

namespace undertext {

namespace {

constexpr JsonLimits limits = {.depth = 64};

std::optional<JsonValue> find_as(const JsonValue& holder, std::string_view key, JsonType type) {
  std::optional<JsonValue> value = holder.find(key);
  return value && value->is(type) ? value : std::nullopt;
}

std::string string_at(const JsonValue& holder, std::string_view key) {
  const std::optional<JsonValue> value = find_as(holder, key, JsonType::string);
  return value ? value->string() : std::string();
}

std::uint64_t number_at(const JsonValue& holder, std::string_view key) {
  const std::optional<JsonValue> value = find_as(holder, key, JsonType::number);
  return value ? value->uint64_saturated().value_or(0) : 0;
}

// {"message":…,"type":…,"code":…}, or no more than a string.
ProviderError read_error_value(const JsonValue& error) {
  if (error.is(JsonType::string)) return {.message = error.string()};
  ProviderError read{.message = string_at(error, "message"), .type = string_at(error, "type")};
  if (const std::string code = string_at(error, "code"); !code.empty()) read.type += " " + code;
  return read;
}

bool holds_error(const JsonValue& object) {
  const std::optional<JsonValue> error = object.find("error");
  return error && !error->is(JsonType::null);
}

}  // namespace

ProviderError read_provider_error(std::string_view body) {
  JsonText table;
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  if (table.read(body, limits))
    return {.message = body[body.find_first_not_of(" \t\r\n")] == '<' ? "an HTML page"
                                                                      : std::string(body)};
  JsonValue root = table.root();
  // Some wrap the object in an array.
  if (root.is(JsonType::array) && !root.empty()) root = *root.elements().begin();
  if (holds_error(root)) return read_error_value(*root.find("error"));
  ProviderError error = read_error_value(root);
  if (error.message.empty()) error.message = string_at(root, "detail");
  if (error.message.empty()) error.message = body;
  return error;
}

std::optional<JsonValue> AnswerReader::read_object(std::string_view json) {
  if (const std::optional<Error> fault = table_.read(json, limits)) {
    garbage_ = "it is not JSON: " + fault->message;
  } else if (!table_.root().is(JsonType::object)) {
    garbage_ = "it is no JSON object";
  } else if (holds_error(table_.root())) {
    error_ = read_error_value(*table_.root().find("error"));
  } else {
    return table_.root();
  }
  is_over_ = true;
  return std::nullopt;
}

// Usage is cumulative, and what is reported last is right. Tokens read from a cache or written to
// it were sent like all others.
void AnswerReader::read_usage(const JsonValue& holder) {
  const std::optional<JsonValue> usage = find_as(holder, "usage", JsonType::object);
  if (!usage) return;
  const bool is_anthropic = kind_ == EndpointSettings::Kind::anthropic;
  const ProviderUsage reported =
      read_provider_usage(is_anthropic ? Dialect::anthropic : Dialect::openai_chat, usage->raw());
  if (reported.prompt != 0) answer_.prompt_tokens = reported.prompt;
  if (reported.completion != 0) answer_.completion_tokens = reported.completion;
}

void AnswerReader::read_role(const JsonValue& holder) {
  const std::string role = string_at(holder, "role");
  if (role.empty() || role == "assistant") return;
  garbage_ = "it speaks as \"" + role + "\" instead of as the assistant";
  is_over_ = true;
}

// A string, or a list of parts of which those of type text count.
void AnswerReader::read_content(const JsonValue& content) {
  if (content.is(JsonType::string)) answer_.text += content.string();
  if (!content.is(JsonType::array)) return;
  for (const JsonValue part : content.elements())
    if (string_at(part, "type") == "text") answer_.text += string_at(part, "text");
}

void AnswerReader::read_openai_choices(const JsonValue& answer, std::string_view message_key) {
  const std::optional<JsonValue> choices = find_as(answer, "choices", JsonType::array);
  if (!choices) return;
  for (const JsonValue choice : choices->elements()) {
    if (number_at(choice, "index") != 0) continue;  // only one was asked for
    if (const std::string reason = string_at(choice, "finish_reason"); !reason.empty())
      answer_.stop_reason = reason;
    const std::optional<JsonValue> message = find_as(choice, message_key, JsonType::object);
    if (!message) continue;
    read_role(*message);
    if (const std::optional<JsonValue> content = message->find("content")) read_content(*content);
    answer_.refusal += string_at(*message, "refusal");
  }
}

void AnswerReader::read_anthropic_event(const JsonValue& event) {
  const std::string type = string_at(event, "type");
  if (type == "message_start") {
    const std::optional<JsonValue> message = find_as(event, "message", JsonType::object);
    if (!message) return;
    answer_.model = string_at(*message, "model");
    read_role(*message);
    read_usage(*message);
  } else if (type == "content_block_start") {
    const std::optional<JsonValue> block = event.find("content_block");
    if (block && string_at(*block, "type") == "text") answer_.text += string_at(*block, "text");
  } else if (type == "content_block_delta") {
    const std::optional<JsonValue> delta = event.find("delta");
    if (delta && string_at(*delta, "type") == "text_delta")
      answer_.text += string_at(*delta, "text");
  } else if (type == "message_delta") {
    if (const std::optional<JsonValue> delta = event.find("delta"))
      answer_.stop_reason = string_at(*delta, "stop_reason");
    read_usage(event);
  } else if (type == "message_stop") {
    is_over_ = true;
  }
}

void AnswerReader::read_whole(std::string_view json) {
  const std::optional<JsonValue> root = read_object(json);
  if (!root) return;
  is_over_ = true;
  answer_.model = string_at(*root, "model");
  read_usage(*root);
  if (kind_ == EndpointSettings::Kind::openai) {
    read_openai_choices(*root, "message");
  } else {
    read_role(*root);
    answer_.stop_reason = string_at(*root, "stop_reason");
    if (const std::optional<JsonValue> content = root->find("content")) read_content(*content);
  }
}

void AnswerReader::read_event(std::string_view name, std::string_view data) {
  if (is_over_) return;
  if (data == "[DONE]") {
    is_over_ = true;
    return;
  }
  if (name == "error") {
    error_ = read_provider_error(data);
    is_over_ = true;
    return;
  }
  const std::optional<JsonValue> root = read_object(data);
  if (!root) return;
  if (kind_ == EndpointSettings::Kind::anthropic) return read_anthropic_event(*root);
  if (std::string model = string_at(*root, "model"); !model.empty())
    answer_.model = std::move(model);
  read_usage(*root);
  read_openai_choices(*root, "delta");
}

}  // namespace undertext
