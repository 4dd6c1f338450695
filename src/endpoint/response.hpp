// One response of an endpoint, taken in piece by piece and judged at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <undertext/summariser.hpp>

#include "base/event_stream.hpp"
#include "endpoint/answer.hpp"
#include "endpoint/failure.hpp"
#include "endpoint/http.hpp"
#include "endpoint/key.hpp"

namespace undertext {

// Borrows all it is given.
class EndpointResponse {
 public:
  EndpointResponse(const EndpointSettings& settings, const SummaryRequest& request,
                   const EndpointKey& key)
      : settings_(settings), request_(request), key_(key), answer_(settings.kind) {}

  // Whether more is wanted. Calls on_progress, of the settings and of the request, when a stream
  // has brought text.
  bool read(const HttpHead& head, std::string_view bytes);

  // What it comes to, once the connection has ended as `outcome` says.
  std::variant<Answer, EndpointFailure> finish(const HttpOutcome& outcome);

 private:
  enum class Form : std::uint8_t { unknown, whole, stream, compressed, other };

  static Form form_of(const HttpHead& head, std::string_view bytes);
  bool read_stream(std::string_view bytes);
  bool fits(std::size_t bytes_max);

  const EndpointSettings& settings_;
  const SummaryRequest& request_;
  const EndpointKey& key_;
  AnswerReader answer_;
  EventStream events_;
  Form form_ = Form::unknown;
  std::string body_;  // of an error, or of an answer that is not streamed
  std::size_t bytes_seen_ = 0;
  bool is_too_long_ = false;
};

}  // namespace undertext
