#include "endpoint/response.hpp"

#include <optional>
#include <utility>

namespace undertext {

namespace {

constexpr std::size_t whole_bytes_max = 8u << 20;  // of an answer that is not streamed
// of one that is, where each token has a frame of some hundred bytes
constexpr std::size_t stream_bytes_max = 32u << 20;
constexpr std::size_t error_bytes_max = 64u << 10;  // of the body of an error

bool is_success(int status) { return status >= 200 && status < 300; }

}  // namespace

bool EndpointResponse::read(const HttpHead& head, std::string_view bytes) {
  bytes_seen_ += bytes.size();
  if (!is_success(head.status)) {
    body_ += bytes.substr(0, error_bytes_max - body_.size());
    return body_.size() < error_bytes_max;
  }
  if (form_ == Form::unknown) form_ = form_of(head, bytes);
  if (form_ == Form::whole) {
    body_ += bytes;
    return fits(whole_bytes_max);
  }
  return form_ == Form::stream && read_stream(bytes) && fits(stream_bytes_max);
}

std::variant<Answer, EndpointFailure> EndpointResponse::finish(const HttpOutcome& outcome) {
  const HttpHead& head = outcome.head;
  if (outcome.end == HttpEnd::cancelled) return EndpointFailure{.error = cancelled_error()};
  if (head.status != 0 && !is_success(head.status))
    return failure_of_status(head, read_provider_error(body_), settings_, key_);
  if (is_too_long_) {
    return EndpointFailure{
        .error = {.code = ErrorCode::too_large,
                  .message = "the endpoint's answer goes on beyond every limit; cancelled"}};
  }
  if (form_ == Form::compressed)
    return unusable_answer("it is compressed (" + key_.clean(head.content_encoding) +
                           "), which was not asked for");
  if (form_ == Form::other)
    return unusable_answer("it is neither JSON nor an event stream but " +
                           key_.clean(head.content_type));

  const bool ended_well = outcome.end == HttpEnd::complete || outcome.end == HttpEnd::enough;
  const bool text_has_come = !answer_.answer().text.empty();
  if (form_ == Form::unknown && ended_well) return unusable_answer("it is empty");
  if (form_ == Form::whole && ended_well) answer_.read_whole(body_);
  if (answer_.error()) return failure_of_event(*answer_.error(), text_has_come, key_);
  if (!answer_.garbage().empty()) return unusable_answer(key_.clean(answer_.garbage()));
  // A stream that has given its reason to stop is whole, however the connection ends after it.
  const bool is_whole = form_ == Form::stream ? !answer_.answer().stop_reason.empty() : ended_well;
  if (!is_whole)
    return failure_of_connection(ended_well ? HttpOutcome{.end = HttpEnd::broken} : outcome,
                                 text_has_come, settings_, key_);
  if (std::optional<EndpointFailure> failure = failure_of_answer(answer_.answer(), key_))
    return std::move(*failure);
  return answer_.answer();
}

// Servers that cannot stream answer whole when asked to stream, so that the request says nothing
// about the form of the answer.
EndpointResponse::Form EndpointResponse::form_of(const HttpHead& head, std::string_view bytes) {
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return Form::compressed;
  if (head.content_type == "text/event-stream") return Form::stream;
  if (head.content_type == "application/json" || head.content_type.ends_with("+json"))
    return Form::whole;
  if (!head.content_type.empty()) return Form::other;
  return bytes.find_first_not_of(" \t\r\n") == bytes.find('{') ? Form::whole : Form::stream;
}

bool EndpointResponse::read_stream(std::string_view bytes) {
  is_too_long_ = !events_.read(bytes, [this](std::string_view name, std::string_view data) {
    const std::size_t size_before = answer_.answer().text.size();
    answer_.read_event(name, data);
    const std::string& text = answer_.answer().text;
    if (settings_.on_progress && text.size() != size_before) settings_.on_progress(text);
    if (request_.on_progress && text.size() != size_before) request_.on_progress(text);
    return !answer_.is_over();
  });
  return !is_too_long_ && !answer_.is_over();
}

bool EndpointResponse::fits(std::size_t bytes_max) {
  is_too_long_ = bytes_seen_ > bytes_max;
  return !is_too_long_;
}

}  // namespace undertext
