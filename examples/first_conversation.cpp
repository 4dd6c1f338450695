// The first conversation: append, query, edit, compress, go back. Prints what the README shows.
#include <iostream>

#include <undertext/undertext.hpp>

using namespace undertext;

int main() {
  Conversation conversation;
  const auto say = [](const char* json) { return Message::parse(json).value(); };

  conversation.apply({op::Append{{say(R"({"role":"system","content":"You fix bugs."})"),
                                  say(R"({"role":"user","content":"The build is red."})"),
                                  say(R"({"role":"assistant","content":"A test fails in parser.cpp."})"),
                                  say(R"({"role":"user","content":"Please fix it."})")}}}).value();

  // Compress what is old. Nothing is lost: the summary knows what it stands for.
  conversation.apply({op::Compress{Names::indices({1, 2}), say(R"({"role":"user","content":"(Red build: parser.cpp.)"})")}}).value();
  for (const Message& message : conversation.view()) std::cout << name(message.role()) << ": " << message.text() << "\n";

  // Go back to before it, and read any version at any time.
  conversation.apply({op::Rollback{0}}).value();
  std::cout << conversation.stats().current_batch_messages << " messages again, " << conversation.stats().total_messages
            << " in the log, version " << conversation.version().value << "\n";
  std::cout << "version 2 had " << conversation.history().view_at(Version(2)).value().size() << " messages\n";
  std::cout << "last user message: " << conversation.messages({.roles = {Role::user}, .last = 1}).value().messages[0].text() << "\n";
}
