// A count of a message's tokens without any vocabulary: the estimate of estimate_tokenizer.hpp with
// the costs of message_tokens.hpp. The same on every machine, and cheap enough to run on each
// message that is stored. How wrong it is stands in docs/tokens.md.
#pragma once

#include <cstdint>

#include <undertext/message.hpp>

namespace undertext {

std::uint32_t estimate_tokens(const Message& message);

}  // namespace undertext
