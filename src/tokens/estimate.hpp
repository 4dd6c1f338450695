// A rough count of a message's tokens, for the time before an exact tokenizer is chosen: the same on every machine, cheap enough to
// run on each message that is stored, and wrong by some tens of percent on ordinary text.
//
//     estimate_tokens(Message::parse(R"({"role":"user","content":"Hello"})").value());   // 6 = 4 + 5 letters / 4, rounded up
//
// What counts:
//   a message                                    4, for the frame that providers put around it
//   text: ASCII                                  1 for every 4 characters
//         Chinese, Japanese, Korean              1 a character
//         anything else                          1 for every 2 characters
//   tool calls and tool inputs                   as text, their JSON included
//   an image, or any string of encoded bytes     765, whatever its length: providers charge by pixels
//   id, timestamp, metadata, further fields      nothing: they are not sent, or weigh nothing
#pragma once

#include <cstdint>

#include <undertext/message.hpp>

namespace undertext {

std::uint32_t estimate_tokens(const Message& message);

}  // namespace undertext
