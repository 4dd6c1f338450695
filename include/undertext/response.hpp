// Reads a provider's response, whole or streamed, into messages.
//
//     ProviderResponse answer = read_response(Dialect::anthropic, body, ResponseForm::event_stream);
//     conversation.apply({op::Append{answer.messages}});
//     answer.usage.prompt;      // tokens of the whole input, those from a cache included
//
// Pure, for any bytes: a text that is no response of the dialect has no messages. An incomplete
// stream gives the messages so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>
#include <undertext/export.hpp>
#include <undertext/message.hpp>

namespace undertext {

// Tokens as the provider counts them.
struct ProviderUsage {
  std::uint64_t prompt = 0;              // the whole input
  std::uint64_t completion = 0;          // the answer, reasoning included
  std::uint64_t cached = 0;              // of the prompt: read from the provider's cache
  std::uint64_t cache_written = 0;       // of the prompt: written to it
  std::uint64_t cache_written_hour = 0;  // of these: to be kept for an hour
  friend bool operator==(const ProviderUsage&, const ProviderUsage&) = default;
};

// `json`: the usage object of a response of this dialect. Missing members are 0.
UNDERTEXT_API ProviderUsage read_provider_usage(Dialect dialect, std::string_view json);

enum class ResponseForm : std::uint8_t {
  whole,         // a JSON object, or Gemini's array of them
  event_stream,  // server-sent events
};

struct ProviderResponse {
  std::vector<Message> messages = {};
  std::string id = {};  // such as msg_… or resp_…; empty: none
  std::string model = {};
  std::string finish_reason = {};  // the provider's; empty: none
  ProviderUsage usage = {};
  std::string error = {};  // the provider's error, as JSON; empty: none
  bool complete = false;   // it ended properly
};

// The format of a whole response, by its own members; unset: it is no response, or has no such
// members.
UNDERTEXT_API std::optional<Dialect> dialect_of_response(std::string_view json);

// A call without an id, such as Gemini's, gets an id with the number after `made_ids`. Pass the
// last_made_id() of the request's messages, and the call has the same id in the next request.
UNDERTEXT_API ProviderResponse read_response(Dialect dialect, std::string_view bytes,
                                             ResponseForm form, const MessageLimits& limits = {},
                                             std::uint64_t made_ids = 0);
UNDERTEXT_API std::uint64_t last_made_id(const Message& message);  // 0: none

}  // namespace undertext
