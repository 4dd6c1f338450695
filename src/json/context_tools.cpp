#include <undertext/context_tools.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_text.hpp"
#include "json/context_answers.hpp"
#include "json/context_calls.hpp"

namespace undertext {
namespace {

std::string json_of(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// Name and description, and the schema under the dialect's word for it.
std::string declaration_of(const ContextToolRow& row, std::string_view schema_member) {
  return R"("name":)" + json_of(row.name) + R"(,"description":)" + json_of(row.description) +
         ",\"" + std::string(schema_member) +
         "\":" + context_tool_schema(row.name, ContextScope::one);
}

std::string declared_for(Dialect dialect, const ContextToolRow& row) {
  switch (dialect) {
    case Dialect::openai_chat:
      return R"({"type":"function","function":{)" + declaration_of(row, "parameters") + "}}";
    // Strict schemas know no optional arguments.
    case Dialect::openai_responses:
      return R"({"type":"function",)" + declaration_of(row, "parameters") + R"(,"strict":false})";
    case Dialect::anthropic: return "{" + declaration_of(row, "input_schema") + "}";
    case Dialect::gemini: return "{" + declaration_of(row, "parameters") + "}";
  }
  return {};
}

// A call, or what is wrong with it.
Result<ContextCall> read_call_text(std::string_view name, std::string_view arguments_json,
                                   ContextTools which) {
  if (arguments_json.empty()) arguments_json = "{}";
  Result<JsonText> text = JsonText::parse(arguments_json, {.depth = 16});
  if (!text)
    return Error{ErrorCode::invalid_argument, "the arguments are no JSON: " + text.error().message,
                 "arguments"};
  return read_context_call(name, text->root(), which, ContextScope::one);
}

// What is thrown becomes a result.
template <class Work>
ContextToolResult as_tool_result(Work work) {
  try {
    return work();
  } catch (const Failure& failure) {
    return tool_error(failure.error());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    return tool_error({ErrorCode::internal, exception.what()});
  }
}

std::vector<std::uint64_t> numbers_of(const std::vector<Ordinal>& ordinals) {
  std::vector<std::uint64_t> numbers;
  for (const Ordinal ordinal : ordinals) numbers.push_back(ordinal.value);
  std::ranges::sort(numbers);
  return numbers;
}

Operation operation_of(const tool::Pin& pin) {
  const Names names = Names::ordinals(numbers_of(pin.ordinals));
  if (pin.unpin) return {op::Unmark{names, "pinned"}};
  return {op::Mark{names, "pinned"}};
}
Operation operation_of(const tool::Checkpoint& checkpoint) {
  return {op::StartBatch{}, {.description = checkpoint.description}};
}
Operation operation_of(const tool::TakeBack& undo) {
  if (undo.checkpoint) return {op::Rollback{*undo.checkpoint}};
  return {op::Undo{}};
}
Operation operation_of(const tool::ShowAgain& show) {
  return {op::Show{numbers_of(show.ordinals)}};
}

// In the words of the tool: others know a batch.
void check_checkpoint(const Conversation& conversation, const tool::TakeBack& undo) {
  const std::uint64_t last = conversation.stats().current_batch_index;
  if (undo.checkpoint.value_or(0) <= last) return;
  throw Failure({ErrorCode::not_found, "checkpoints are numbered 0 to " + std::to_string(last),
                 "checkpoint"});
}

std::string outcome_text(const tool::Pin& pin, const Outcome&) {
  return (pin.unpin ? "No longer pinned: " : "Pinned: ") +
         ordinal_ranges(numbers_of(pin.ordinals)) + ".";
}
std::string outcome_text(const tool::Checkpoint&, const Outcome& outcome) {
  const std::string number = std::to_string(outcome.stats.current_batch_index - 1);
  return "Checkpoint " + number + R"( is set. context_undo {"checkpoint":)" + number +
         "} returns to it.";
}
std::string outcome_text(const tool::TakeBack& undo, const Outcome& outcome) {
  return (undo.checkpoint ? "Returned to checkpoint " + std::to_string(*undo.checkpoint)
                          : std::string("Undone")) +
         ". In context: " + std::to_string(outcome.stats.current_batch_messages) + " messages, " +
         std::to_string(outcome.stats.tokens) + " tokens.";
}
std::string outcome_text(const tool::ShowAgain& show, const Outcome& outcome) {
  return "Back in context from the next request on: " + ordinal_ranges(numbers_of(show.ordinals)) +
         ". In context: " + std::to_string(outcome.stats.current_batch_messages) + " messages, " +
         std::to_string(outcome.stats.tokens) + " tokens.";
}

}  // namespace

ContextToolResult carry_out_call(Conversation& conversation, const ContextCall& call,
                                 std::string_view id, const std::shared_ptr<Work>& work) {
  return std::visit(
      [&]<class Tool>(const Tool& tool) -> ContextToolResult {
        if constexpr (requires { operation_of(tool); }) {
          if constexpr (std::is_same_v<Tool, tool::TakeBack>) check_checkpoint(conversation, tool);
          return {outcome_text(tool, conversation.apply(operation_of(tool), work).value())};
        } else {
          // A stored conversation is read as of the newest version that anyone committed.
          conversation.catch_up().value();
          const History history = conversation.history().limited(work);
          return {read_answer({conversation, history, std::string(id)}, call)};
        }
      },
      call.what);
}

ContextToolResult call_reading_tool(const ContextSource& source, std::string_view name,
                                    std::string_view arguments_json) {
  return as_tool_result([&]() -> ContextToolResult {
    return {
        read_answer(source, read_call_text(name, arguments_json, ContextTools::reading).value())};
  });
}

ContextToolResult call_context_tool(Conversation& conversation, std::string_view name,
                                    std::string_view arguments_json,
                                    const ContextToolOptions& options) {
  return as_tool_result([&] {
    return carry_out_call(conversation, read_call_text(name, arguments_json, options.which).value(),
                          "", options.work);
  });
}

bool is_context_tool(std::string_view name) {
  const std::span<const ContextToolRow> rows = context_tool_rows(ContextTools::with_edits);
  return std::ranges::any_of(rows, [&](const ContextToolRow& row) { return row.name == name; });
}

std::string context_tools(Dialect dialect, ContextTools which) {
  std::string list;
  for (const ContextToolRow& row : context_tool_rows(which))
    list += (list.empty() ? "" : ",") + declared_for(dialect, row);
  if (dialect == Dialect::gemini) return R"([{"functionDeclarations":[)" + list + "]}]";
  return "[" + list + "]";
}

}  // namespace undertext
