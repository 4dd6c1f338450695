// A model looks into its own conversation: it searches what was hidden, and reads it.
#include <iostream>

#include <undertext/undertext.hpp>

using namespace undertext;

int main() {
  Conversation conversation;
  const auto say = [](Role role, const char* text) { return Message::make(role, text).value(); };
  conversation
      .apply({op::Append{{say(Role::user, "Why does the tokenizer crash on emoji?"),
                          say(Role::assistant, "It reads a surrogate in utf16_length()."),
                          say(Role::assistant, "It is fixed.")}}})
      .value();
  conversation.apply({op::Compress{Names::ordinals({0, 1}), say(Role::user, "(A bug was fixed.)")}})
      .value();

  // Three lines of an agent: declare the tools, and answer a call of the model with what they say.
  const std::string tools = context_tools(Dialect::anthropic);
  const std::string name = "context_search",
                    arguments = R"({"text":"utf16_length"})";  // what the model said
  const ContextToolResult result = call_context_tool(conversation, name, arguments);

  std::cout << tools.substr(0, 26) << "…\n" << result.text << "\n";
  return result.is_error ? 1 : 0;
}
