// The summariser that asks a model behind an HTTP endpoint.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <variant>

#include <undertext/summariser.hpp>

#include "base/utf8.hpp"
#include "compression/summary_words.hpp"
#include "endpoint/failure.hpp"
#include "endpoint/http.hpp"
#include "endpoint/key.hpp"
#include "endpoint/prompt.hpp"
#include "endpoint/response.hpp"
#include "endpoint/transcript.hpp"

namespace undertext {

namespace {

using Kind = EndpointSettings::Kind;
using Remedy = EndpointFailure::Remedy;

constexpr std::size_t transcript_bytes_max = 400'000;  // some 100,000 tokens of English
// of those that stay: from the first, and from the last
constexpr std::size_t shown_messages = 4;
constexpr std::size_t shown_bytes = 200;  // of each
// models refuse to be asked for more than they could ever write
constexpr std::uint64_t completion_tokens_max = 16'384;

// Whether the time passed; false when cancelled first.
bool wait(std::chrono::milliseconds time, const std::stop_token& cancel) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, cancel, time, [] { return false; });
  return !cancel.stop_requested();
}

class EndpointSummariser final : public Summariser {
 public:
  EndpointSummariser(EndpointSettings settings, const HttpUrl& base)
      : settings_(std::move(settings)), is_loopback_(base.is_loopback) {
    url_ = base.text;
    // Both "…anthropic.com" and "…anthropic.com/v1" are meant by people.
    if (settings_.kind == Kind::anthropic)
      url_ += url_.ends_with("/v1") ? "/messages" : "/v1/messages";
    if (settings_.kind == Kind::openai) url_ += "/chat/completions";
  }

  std::string_view name() const noexcept override {
    return settings_.name.empty() ? settings_.model : settings_.name;
  }
  bool is_slow() const noexcept override { return true; }

  Result<Summary> summarise(const SummaryRequest& request) const override {
    if (request.messages.empty())
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "there are no messages to summarise",
                   .field = "messages"};
    if (request.tokens_max == 0)
      return Error{.code = ErrorCode::cannot_fit,
                   .message = "no summary has 0 tokens",
                   .field = "tokens_max"};
    if (request.cancel.stop_requested()) return cancelled_error();
    Result<EndpointKey> key = EndpointKey::read(settings_);
    if (!key) return std::move(key.error());
    const std::vector<Message> material = material_of(request);
    Result<Transcript> transcript = make_transcript(material, transcript_bytes_max);
    if (!transcript) return std::move(transcript.error());
    Question question{material, std::move(*transcript),
                      knows_other_tokens_key_.load(std::memory_order_relaxed)};

    for (std::uint32_t attempt = 1;;) {
      std::variant<Answer, EndpointFailure> tried = ask(question, request, *key);
      if (const Answer* const answer = std::get_if<Answer>(&tried))
        return summary_of(*answer, request, *key);
      EndpointFailure& failure = std::get<EndpointFailure>(tried);
      // learning how to ask counts as no attempt
      if (failure.remedy == Remedy::other_tokens_key && !question.other_tokens_key) {
        question.other_tokens_key = true;
        knows_other_tokens_key_.store(true, std::memory_order_relaxed);
        continue;
      }
      const bool go_on =
          attempt < settings_.attempts_max && prepare_next(failure, attempt, request, question);
      if (request.cancel.stop_requested()) return cancelled_error();
      if (!go_on) {
        if (attempt > 1) failure.error.message += " (attempt " + std::to_string(attempt) + ")";
        return std::move(failure.error);
      }
      ++attempt;
    }
  }

 private:
  struct Question {
    const std::vector<Message>& material;
    Transcript transcript;
    bool other_tokens_key;
  };

  std::variant<Answer, EndpointFailure> ask(const Question& question, const SummaryRequest& request,
                                            const EndpointKey& key) const {
    const PromptOptions options{
        .tokens_max = std::min(request.tokens_max, completion_tokens_max),
        .tokens_max_key = question.other_tokens_key ? "max_completion_tokens" : "max_tokens",
        .messages_after = request.after.size(),
        .shown_from =
            question.material.size() > request.messages.size() ? request.messages.size() + 1 : 0};
    const HttpRequest post{.url = url_,
                           .is_loopback = is_loopback_,
                           .headers = headers(key),
                           .body = request_body(settings_, question.transcript, options),
                           .timeout_ms = settings_.timeout_ms};
    EndpointResponse response(settings_, request, key);
    const HttpOutcome outcome = http_post(
        post,
        [&response](const HttpHead& head, std::string_view bytes) {
          return response.read(head, bytes);
        },
        request.cancel);
    return response.finish(outcome);
  }

  std::vector<std::string> headers(const EndpointKey& key) const {
    std::vector<std::string> lines = {"Content-Type: application/json",
                                      settings_.stream
                                          ? "Accept: text/event-stream, application/json"
                                          : "Accept: application/json",
                                      // sends the body at once: few servers answer "100 Continue"
                                      "Expect:"};
    if (settings_.kind == Kind::anthropic) lines.emplace_back("anthropic-version: 2023-06-01");
    if (!key.empty())
      lines.push_back(
          (settings_.kind == Kind::anthropic ? "x-api-key: " : "Authorization: Bearer ") +
          key.value());
    return lines;
  }

  // What is summarised, and behind it in short what people and the assistant say that stays
  // visible.
  static std::vector<Message> material_of(const SummaryRequest& request) {
    std::vector<Message> said;
    for (const Message& message : request.after) {
      if (message.role() != Role::user && message.role() != Role::assistant) continue;
      const std::string text = cut_middle(message.text(), shown_bytes);
      Result<Message> brief = text.empty() ? Error{} : Message::make(message.role(), text);
      if (brief) said.push_back(*std::move(brief));
    }
    if (said.size() > 2 * shown_messages)
      said.erase(said.begin() + shown_messages,
                 said.end() - static_cast<std::ptrdiff_t>(shown_messages));
    std::vector<Message> material = request.messages;
    material.insert(material.end(), said.begin(), said.end());
    return material;
  }

  // Whether another attempt makes sense; waits until it does.
  bool prepare_next(const EndpointFailure& failure, std::uint32_t attempt,
                    const SummaryRequest& request, Question& question) const {
    if (failure.remedy == Remedy::shorter) {
      Result<Transcript> shorter =
          make_transcript(question.material, question.transcript.text.size() / 2);
      if (shorter) question.transcript = std::move(*shorter);
      return static_cast<bool>(shorter);
    }
    if (failure.remedy != Remedy::wait) return false;
    // Nobody waits for longer than an attempt may take: what comes back later than that is for the
    // caller to ask again.
    const std::uint64_t longest_ms = settings_.timeout_ms;
    if (failure.retry_after_s && *failure.retry_after_s > longest_ms / 1000) return false;
    const std::uint64_t backoff_ms = std::min<std::uint64_t>(
        std::uint64_t{settings_.backoff_ms} << std::min(attempt - 1, 31u), longest_ms);
    return wait(std::chrono::milliseconds(failure.retry_after_s ? *failure.retry_after_s * 1000
                                                                : backoff_ms),
                request.cancel);
  }

  static Result<Summary> summary_of(const Answer& answer, const SummaryRequest& request,
                                    const EndpointKey& key) {
    std::optional<std::string> found = without_reasoning(answer.text);
    if (!found) return cut_off_summary().error;
    std::string& text = *found;
    if (is_invisible(text)) return unusable_answer("there is nothing but reasoning in it").error;
    if (request.count_tokens) {
      if (const std::uint64_t tokens = request.count_tokens(text); tokens > request.tokens_max)
        return Error{.code = ErrorCode::cannot_fit,
                     .message = "the model wrote a summary of " + std::to_string(tokens) +
                                " tokens where " + std::to_string(request.tokens_max) +
                                " were the most"};
    }
    return Summary{std::move(text), key.clean(answer.model), answer.prompt_tokens,
                   answer.completion_tokens};
  }

  EndpointSettings settings_;
  std::string url_;
  bool is_loopback_;
  mutable std::atomic<bool> knows_other_tokens_key_ = false;  // learned from an answer
};

Error refuse(const char* field, const char* message) {
  return {.code = ErrorCode::invalid_argument, .message = message, .field = field};
}

}  // namespace

Result<std::shared_ptr<const Summariser>> endpoint_summariser(EndpointSettings settings) {
  if (!http_available())
    return Error{
        .code = ErrorCode::unsupported,
        .message = "this build of Undertext has no HTTP client: it was made without libcurl"};
  if (settings.model.empty() || find_invalid_utf8(settings.model))
    return refuse("model", "model is empty or not UTF-8");
  if (find_invalid_utf8(settings.prompt)) return refuse("prompt", "prompt is not UTF-8");
  if (settings.timeout_ms == 0)
    return refuse("timeout_ms", "timeout_ms is 0: no answer comes at once");
  if (settings.attempts_max == 0)
    return refuse("attempts_max", "attempts_max is 0: the first attempt counts");
  Result<HttpUrl> base = read_base_url(settings.base_url);
  if (!base) return std::move(base.error());
  const bool has_key = !settings.key_variable.empty() || !settings.key_file.empty();
  if (has_key && !base->is_https && !base->is_loopback)
    return refuse(
        "base_url",
        "base_url is http, and a key would travel where everybody can read it; use https");
  return std::shared_ptr<const Summariser>(
      std::make_shared<EndpointSummariser>(std::move(settings), *base));
}

}  // namespace undertext
