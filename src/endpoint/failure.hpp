// What went wrong with an endpoint: whose move it is, and whether it may pass by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <undertext/error.hpp>
#include <undertext/summariser.hpp>

#include "endpoint/answer.hpp"
#include "endpoint/http.hpp"
#include "endpoint/key.hpp"

namespace undertext {

struct EndpointFailure {
  enum class Remedy : std::uint8_t {
    none,              // the same request would fail again, or cost again
    wait,              // it may pass by itself
    shorter,           // the model has room for less
    other_tokens_key,  // it knows the limit of the answer by another name
  };
  Error error;
  Remedy remedy = Remedy::none;
  std::optional<std::uint64_t> retry_after_s = {};  // what the endpoint asks for
};

// Of an answer whose status is no success.
EndpointFailure failure_of_status(const HttpHead& head, const ProviderError& said,
                                  const EndpointSettings& settings, const EndpointKey& key);

// Of an error that came in the place of an answer, or in the middle of one, under a status of
// success.
EndpointFailure failure_of_event(const ProviderError& said, bool text_has_come,
                                 const EndpointKey& key);

// Of a connection that did not bring a whole answer.
EndpointFailure failure_of_connection(const HttpOutcome& outcome, bool text_has_come,
                                      const EndpointSettings& settings, const EndpointKey& key);

// Nothing when the model stopped because it had said everything.
std::optional<EndpointFailure> failure_of_answer(const Answer& answer, const EndpointKey& key);

// Of an answer that ends before the model had said everything.
EndpointFailure cut_off_summary();

// `why` is a sentence of ours, not of the endpoint.
EndpointFailure unusable_answer(const std::string& why);

Error cancelled_error();

}  // namespace undertext
