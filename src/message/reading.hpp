// A stored message read once: its JSON, and what it says.
//
//     MessageReading reading(message);
//     for (const Block& block : reading.turn().blocks) …
//
// Everything it hands out borrows the message's bytes or the reading itself.
#pragma once

#include <limits>

#include <undertext/message.hpp>

#include "base/json_text.hpp"
#include "message/turn.hpp"

namespace undertext {

class MessageReading {
 public:
  explicit MessageReading(const Message& message, KeptItems items = KeptItems::read) {
    // These bytes have been read before, so this cannot fail.
    text_.read(message.json(), {.depth = std::numeric_limits<std::uint32_t>::max()});
    turn_ = read_message(text_.root(), std::nullopt, arena_, ids_, items);
  }
  MessageReading(const MessageReading&) = delete;
  MessageReading& operator=(const MessageReading&) = delete;

  const Turn& turn() const { return turn_; }
  JsonValue root() const { return text_.root(); }

 private:
  JsonText text_;
  Arena arena_;
  ToolIds ids_;
  Turn turn_;
};

}  // namespace undertext
