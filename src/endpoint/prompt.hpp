// What an endpoint is asked: instructions, and the conversation as data between fences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <undertext/summariser.hpp>

#include "endpoint/transcript.hpp"

namespace undertext {

struct PromptOptions {
  std::uint64_t tokens_max = 0;  // of the answer
  std::string_view tokens_max_key =
      // newer models of OpenAI know only "max_completion_tokens", most others only this
      "max_tokens";
  std::uint64_t messages_after = 0;  // that stay visible behind what is summarised
  // the number in the transcript from which on they stand there, in short; 0: they do not
  std::uint64_t shown_from = 0;
};

// The body of the request, as JSON. The prompt and the model of the settings are valid UTF-8.
std::string request_body(const EndpointSettings& settings, const Transcript& transcript,
                         const PromptOptions& options);

}  // namespace undertext
