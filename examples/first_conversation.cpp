// The first conversation: append, compress, query, go back. The README quotes this file and its
// output.
#include <iostream>

#include <undertext/undertext.hpp>

using namespace undertext;

int main() {
  const auto say = [](Role role, const char* text) { return Message::make(role, text).value(); };

  Conversation conversation;
  conversation
      .apply({op::Append{{say(Role::system, "You fix bugs."), say(Role::user, "The build is red."),
                          say(Role::assistant, "A test fails in parser.cpp."),
                          say(Role::user, "Please fix it.")}}})
      .value();

  // Compress what is old. Nothing is lost: the summary knows what it stands for.
  conversation
      .apply({op::Compress{Names::indices({1, 2}), say(Role::user, "(Red build: parser.cpp.)")}})
      .value();
  for (const Message& message : conversation.view())
    std::cout << name(message.role()) << ": " << message.text() << "\n";

  // Go back to before it. Every version stays readable.
  conversation.apply({op::Rollback{0}}).value();
  std::cout << conversation.stats().current_batch_messages << " messages again; version 2 had "
            << conversation.history().view_at(Version(2)).value().size() << "\n";
}
