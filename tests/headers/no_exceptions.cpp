// The public headers are for programs without exceptions too: that this compiles is the test.
#include <undertext/undertext.hpp>

namespace {

bool is_empty(const undertext::Conversation& conversation) {
  const undertext::Result<undertext::MessageList> messages = conversation.messages();
  return messages && messages->messages.empty();
}

}  // namespace

int main() { return is_empty(undertext::Conversation()) ? 0 : 1; }
