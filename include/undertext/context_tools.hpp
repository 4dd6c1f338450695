// Tools by which a model looks into its own conversation: it finds what is hidden, reads it, and learns
// how full its context is. Three lines in an agent:
//
//     request.tools = context_tools(Dialect::anthropic);          // JSON, as the provider takes it
//     if (is_context_tool(call.name))
//       result = call_context_tool(conversation, call.name, call.arguments_json).text;
//
//     context_search   messages that share words with a text: hidden ones, or all
//     context_expand   hidden originals as text, within a budget of tokens; the view stays as it is
//     context_status   messages, tokens, what is hidden, which summaries stand for what
//
// With ContextTools::with_edits there are four more, which change the conversation: context_pin,
// context_checkpoint, context_undo, context_show. What messages say is quoted as data, between marks that
// no quoted text can forge. docs/tools.md has an example.
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
  reading,     // nothing of them changes the conversation
  with_edits,  // also those that do
};

// A JSON array: the value of `tools` in a request of this dialect.
UNDERTEXT_API std::string context_tools(Dialect dialect, ContextTools which = ContextTools::reading);

UNDERTEXT_API bool is_context_tool(std::string_view name);  // of either kind

// What the model is sent back as the tool's result. An error is one too: it says what to change.
struct ContextToolResult {
  std::string text;
  bool is_error = false;
};

struct ContextToolOptions {
  ContextTools which = ContextTools::reading;  // what may be called
  std::shared_ptr<Work> work = {};             // null: without limits
};

// Carries out a call. `arguments_json` is the object that the model made; an empty text counts as {}.
// Unknown tools, bad arguments and failures of the store are results with is_error. Throws std::bad_alloc only.
UNDERTEXT_API ContextToolResult call_context_tool(Conversation& conversation, std::string_view name,
                                                  std::string_view arguments_json, const ContextToolOptions& options = {});

}  // namespace undertext
