// A place for a message that may not be in memory: a Message, or nothing, in one word.
#pragma once

#include <undertext/message.hpp>

namespace undertext {

class MessageSlot {
 public:
  MessageSlot() noexcept : message_(static_cast<Message::Rep*>(nullptr)) {}
  MessageSlot(Message message) noexcept : message_(std::move(message)) {}

  bool is_here() const noexcept { return message_.rep_ != nullptr; }
  const Message& operator*() const noexcept { return message_; }  // of one that is here

 private:
  Message message_;
};

}  // namespace undertext
