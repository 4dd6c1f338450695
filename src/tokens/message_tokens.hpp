// What a whole message costs in a request: its text, and what is no text.
//
//     count_message_tokens(message, *tokenizer, default_cost_profile());
//
// What counts:
//   a message                         what the provider puts around it, its role included; a `name` with its own cost
//   text, wherever it stands          its tokens as decoded text, never as JSON escapes
//   tool calls                        name and arguments (as the JSON text that is sent), and a frame; ids count nothing
//   tool results                      what they contain, by these same rules
//   thinking                          its text; never its signature
//   redacted or encrypted thinking    by its bytes, as the profile says
//   an image                          by its pixels, read from the first bytes of its data; never by the length of its base64
//   audio, video, documents           by length or bytes, as the profile says
//   a part of any other type          the strings in it, as text
//   id, timestamp, metadata, others   nothing: they are not sent, or weigh nothing
//
// The numbers are in models.json.
#pragma once

#include <cstdint>

#include <undertext/message.hpp>
#include <undertext/tokenizer.hpp>

#include "tokens/cost_profile.hpp"

namespace undertext {

inline constexpr std::uint32_t message_tokens_max = (1u << 30) - 1;  // a larger count becomes this

// Linear in the message, whatever is in it.
std::uint32_t count_message_tokens(const Message& message, const Tokenizer& tokenizer,
                                   const CostProfile& profile);

// Whether every figure that this needs of the profile is exact; a text needs none beside its
// message's. Linear, but much less work than counting.
bool are_message_tokens_exact(const Message& message, const CostProfile& profile);

}  // namespace undertext
