// Tools with which a model inspects its own conversation: it searches and reads hidden messages,
// and sees how full its context is.
// Three lines in an agent:
//
//     request.tools = context_tools(Dialect::anthropic);          // JSON, as the provider takes it
//     if (is_context_tool(call.name))
//       result = call_context_tool(conversation, call.name, call.arguments_json).text;
//
//     context_search   messages that share words with a text: hidden ones, or all
//     context_expand   hidden originals as text, within a budget of tokens; the view stays as it is
//     context_status   messages, tokens, what is hidden, which summaries stand for what
//
// ContextTools::with_edits adds four tools that change the conversation: context_pin,
// context_checkpoint, context_undo and context_show. Messages are quoted as data, between marks
// that no quoted text can forge. docs/tools.md has an example.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/dialect_name.hpp>
#include <undertext/export.hpp>
#include <undertext/work.hpp>

namespace undertext {

enum class ContextTools : std::uint8_t {
  reading,     // tools that change nothing
  with_edits,  // also tools that change the conversation
};

// A JSON array: the value of `tools` in a request of this dialect.
UNDERTEXT_API std::string context_tools(Dialect dialect,
                                        ContextTools which = ContextTools::reading);

UNDERTEXT_API bool is_context_tool(std::string_view name);  // of either kind

// The tool's result for the model. An error is a result too: it says what to change.
struct ContextToolResult {
  std::string text;
  bool is_error = false;
};

struct ContextToolOptions {
  ContextTools which = ContextTools::reading;  // what may be called
  std::shared_ptr<Work> work = {};             // null: without limits
};

// Executes a call. `arguments_json` is the object that the model made; an empty text counts as {}.
// Unknown tools, bad arguments and failures of the store are results with is_error. Throws
// std::bad_alloc only.
UNDERTEXT_API ContextToolResult call_context_tool(Conversation& conversation, std::string_view name,
                                                  std::string_view arguments_json,
                                                  const ContextToolOptions& options = {});

}  // namespace undertext
