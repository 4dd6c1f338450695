#include "endpoint/failure.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace undertext {

namespace {

using Remedy = EndpointFailure::Remedy;

bool contains_any(const ProviderError& said, std::initializer_list<std::string_view> signs) {
  std::string text = said.type + " " + said.message;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return text.find(sign) != std::string::npos; });
}

// How providers say that a request does not fit the window of the model; there is no common code
// for it.
bool is_over_context_window(const ProviderError& said) {
  return contains_any(
      said, {"context_length_exceeded", "context window", "context length", "context size",
             "prompt is too long", "input is too long", "maximum number of tokens allowed",
             "maximum prompt length", "request_too_large", "exceed_context_size",
             "reduce the length of the messages", "prompt token count"});
}

bool is_temporary(const ProviderError& said) {
  return contains_any(said, {"overloaded", "rate_limit", "api_error", "server_error", "timeout",
                             "unavailable", "try again"});
}

bool is_about_money(const ProviderError& said) {
  return contains_any(said, {"insufficient_quota", "billing", "credit balance"});
}

std::string in_words(const ProviderError& said, const EndpointKey& key) {
  const std::string text = key.clean(said.message.empty() ? said.type : said.message);
  return text.empty() ? "" : ": " + text;
}

EndpointFailure make(ErrorCode code, std::string message, Remedy remedy = Remedy::none,
                     std::string field = {}) {
  return {.error = {.code = code, .message = std::move(message), .field = std::move(field)},
          .remedy = remedy};
}

EndpointFailure too_long_for_model(const std::string& detail) {
  return make(ErrorCode::too_large,
              "the messages to be summarised are too long for the model" + detail, Remedy::shorter,
              "messages");
}

EndpointFailure refused_key(int status, const std::string& detail, const EndpointSettings& settings,
                            const EndpointKey& key) {
  const std::string start = "the endpoint answers with status " + std::to_string(status) + ": ";
  if (key.empty())
    return make(ErrorCode::invalid_argument,
                start + "it wants a key; name one with key_variable or key_file" + detail,
                Remedy::none, "key_variable");
  const bool is_variable = !settings.key_variable.empty();
  return make(ErrorCode::invalid_argument,
              start + "it refuses the key of " +
                  (is_variable ? settings.key_variable : settings.key_file) +
                  ", or this use of it; check both" + detail,
              Remedy::none, is_variable ? "key_variable" : "key_file");
}

}  // namespace

EndpointFailure failure_of_status(const HttpHead& head, const ProviderError& said,
                                  const EndpointSettings& settings, const EndpointKey& key) {
  const int status = head.status;
  const std::string detail = in_words(said, key);
  const std::string answers = "the endpoint answers with status " + std::to_string(status);
  if (status < 200)
    return make(ErrorCode::unavailable, answers + ", which is no answer", Remedy::none);
  if (status < 400)
    return make(ErrorCode::invalid_argument,
                answers + ", a redirect, which is not followed; give its target as base_url",
                Remedy::none, "base_url");
  if (status == 401 || status == 403) return refused_key(status, detail, settings, key);
  if (status == 402 || is_about_money(said))
    return make(ErrorCode::unavailable, answers + "; its account cannot pay for this" + detail);
  if (status == 413 || (status < 500 && is_over_context_window(said)))
    return too_long_for_model(detail);
  if (status == 408 || status == 409 || status == 429 || status >= 500) {
    EndpointFailure failure =
        make(ErrorCode::unavailable, answers + "; try again later" + detail, Remedy::wait);
    failure.retry_after_s = head.retry_after_s;
    return failure;
  }
  if (status == 404 || status == 405)
    return make(ErrorCode::invalid_argument, answers + "; check model, kind and base_url" + detail,
                Remedy::none, "model");
  const bool wants_other_key = settings.kind == EndpointSettings::Kind::openai &&
                               contains_any(said, {"max_completion_tokens"});
  return make(ErrorCode::invalid_argument, answers + ": it refuses the request" + detail,
              wants_other_key ? Remedy::other_tokens_key : Remedy::none);
}

EndpointFailure failure_of_event(const ProviderError& said, bool text_has_come,
                                 const EndpointKey& key) {
  const std::string detail = in_words(said, key);
  if (is_over_context_window(said)) return too_long_for_model(detail);
  if (is_temporary(said) && !is_about_money(said))
    return make(ErrorCode::unavailable,
                "the endpoint failed while it answered; try again later" + detail,
                text_has_come ? Remedy::none : Remedy::wait);
  if (contains_any(said, {"invalid_request", "authentication", "permission", "not_found"}))
    return make(ErrorCode::invalid_argument, "the endpoint refuses the request" + detail);
  return make(ErrorCode::unavailable, "the endpoint answers with an error" + detail);
}

EndpointFailure failure_of_connection(const HttpOutcome& outcome, bool text_has_come,
                                      const EndpointSettings& settings, const EndpointKey& key) {
  const std::string detail = outcome.detail.empty() ? "" : ": " + key.clean(outcome.detail);
  // A model that has begun to write would begin again from the start, and be paid again.
  const Remedy remedy = text_has_come ? Remedy::none : Remedy::wait;
  switch (outcome.end) {
    case HttpEnd::cancelled: return {.error = cancelled_error()};
    case HttpEnd::timed_out:
      return make(
          ErrorCode::unavailable,
          "the endpoint did not finish within " + std::to_string(settings.timeout_ms) + " ms",
          remedy);
    case HttpEnd::not_connected:
      return make(ErrorCode::unavailable, "the endpoint cannot be reached" + detail, remedy);
    case HttpEnd::untrusted:
      return make(ErrorCode::unavailable,
                  "the endpoint has no certificate that is trusted here" + detail, Remedy::none,
                  "base_url");
    default:
      return make(ErrorCode::unavailable,
                  "the connection to the endpoint broke before its answer was whole" + detail,
                  remedy);
  }
}

std::optional<EndpointFailure> failure_of_answer(const Answer& answer, const EndpointKey& key) {
  const std::string& reason = answer.stop_reason;
  if (reason == "length" || reason == "max_tokens" || reason == "incomplete")
    return cut_off_summary();
  if (reason == "model_context_window_exceeded") return too_long_for_model("");
  if (reason == "content_filter" || reason == "refusal" || !answer.refusal.empty())
    return make(ErrorCode::invalid_argument,
                "the model, or a filter before it, refuses to summarise these messages" +
                    (answer.refusal.empty() ? "" : ": " + key.clean(answer.refusal)),
                Remedy::none, "messages");
  if (reason == "tool_calls" || reason == "function_call" || reason == "tool_use" ||
      reason == "pause_turn")
    return unusable_answer("the model wants to call a tool instead of writing a summary");
  if (answer.text.find_first_not_of(" \t\r\n") == std::string::npos)
    return unusable_answer("there is no text in it");
  return std::nullopt;
}

EndpointFailure cut_off_summary() {
  return make(ErrorCode::unavailable,
              "the summary was cut off at its limit of tokens, so that its end is missing; allow "
              "more tokens (a reasoning model needs "
              "some to think with), or summarise fewer messages",
              Remedy::none, "summariser");
}

EndpointFailure unusable_answer(const std::string& why) {
  return make(ErrorCode::unavailable, "the endpoint's answer is of no use: " + why +
                                          "; if this goes on, check base_url, kind and model");
}

Error cancelled_error() { return {.code = ErrorCode::unavailable, .message = "cancelled"}; }

}  // namespace undertext
