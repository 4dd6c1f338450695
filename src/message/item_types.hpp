// The items of the Responses API that are calls of tools and results of calls, by type; the Agents
// SDK has some of them under names of its own.
// One row says all that the engine needs to know of a kind of tool: what a unit is, what a provider
// runs, where ids and words stand.
#pragma once

#include <optional>
#include <string_view>

#include "message/turn.hpp"

namespace undertext {

struct ItemType {
  std::string_view type;
  BlockKind kind = BlockKind::call;
  // the member with the arguments of a call, or the output of a result
  std::string_view said = {};
  std::string_view id = "call_id";  // the member with the id that joins both
  bool by_provider = false;
  // a call that holds its own result, or has none: it is no half of a pair
  bool is_complete = false;
  std::string_view tool = {};  // the name of the tool, where the item has none
  bool needs_id = false;       // the item's own `id` cannot be left out
  std::string_view held = {};  // of a complete call: the member with its result, if that is text
};

inline constexpr ItemType item_types[] = {
    {"function_call", BlockKind::call, "arguments"},
    {"function_call_output", BlockKind::result, "output"},
    {"function_call_result", BlockKind::result, "output"},
    {"custom_tool_call", BlockKind::call, "input"},
    {"custom_tool_call_output", BlockKind::result, "output"},
    {.type = "shell_call", .said = "action", .tool = "shell"},
    {"shell_call_output", BlockKind::result, "output"},
    {.type = "local_shell_call", .said = "action", .tool = "local_shell", .needs_id = true},
    {.type = "local_shell_call_output",
     .kind = BlockKind::result,
     .said = "output",
     .needs_id = true},
    {.type = "apply_patch_call", .said = "operation", .tool = "apply_patch"},
    {"apply_patch_call_output", BlockKind::result, "output"},
    {.type = "computer_call", .said = "action", .tool = "computer", .needs_id = true},
    {"computer_call_output", BlockKind::result, "output"},
    {"computer_call_result", BlockKind::result, "output"},
    {.type = "tool_search_call", .said = "arguments", .by_provider = true, .tool = "tool_search"},
    {.type = "tool_search_output", .kind = BlockKind::result, .said = "tools", .by_provider = true},
    {.type = "program", .said = "code", .by_provider = true, .tool = "program", .needs_id = true},
    {.type = "program_output",
     .kind = BlockKind::result,
     .said = "result",
     .by_provider = true,
     .needs_id = true},
    {.type = "mcp_approval_request",
     .said = "arguments",
     .id = "id",
     .by_provider = true,
     .needs_id = true},
    {.type = "mcp_approval_response",
     .kind = BlockKind::result,
     .said = "reason",
     .id = "approval_request_id",
     .by_provider = true},
    {.type = "mcp_call",
     .said = "arguments",
     .by_provider = true,
     .is_complete = true,
     .needs_id = true,
     .held = "output"},
    {.type = "mcp_list_tools",
     .said = "tools",
     .by_provider = true,
     .is_complete = true,
     .tool = "mcp_list_tools",
     .needs_id = true},
    {.type = "web_search_call",
     .said = "action",
     .by_provider = true,
     .is_complete = true,
     .tool = "web_search",
     .needs_id = true},
    {.type = "file_search_call",
     .said = "queries",
     .by_provider = true,
     .is_complete = true,
     .tool = "file_search",
     .needs_id = true,
     .held = "results"},
    {.type = "code_interpreter_call",
     .said = "code",
     .by_provider = true,
     .is_complete = true,
     .tool = "code_interpreter",
     .needs_id = true,
     .held = "outputs"},
    {.type = "image_generation_call",
     .by_provider = true,
     .is_complete = true,
     .tool = "image_generation",
     .needs_id = true},
    {.type = "hosted_tool_call",
     .said = "arguments",
     .by_provider = true,
     .is_complete = true,
     .held = "output"},
};

// Hosted tools that are newer than this table have names like these. Nullopt: no call and no
// result.
constexpr std::optional<ItemType> item_type(std::string_view type) {
  for (const ItemType& row : item_types)
    if (row.type == type) return row;
  if (type.ends_with("_call"))
    return ItemType{.type = type, .said = "arguments", .by_provider = true};
  if (type.ends_with("_call_output") || type.ends_with("_call_result"))
    return ItemType{.type = type, .kind = BlockKind::result, .said = "output", .by_provider = true};
  return std::nullopt;
}

// The kind of tool that a call or result is of in the Responses API: its type without what says
// which half it is. What cannot be copied there is written as a function's.
constexpr std::string_view tool_kind(const Block& block) {
  const bool is_copied = (block.native & bit(Dialect::openai_responses)) != 0 && !block.raw.empty();
  if (!block.has_own_form || !is_copied) return block.is_custom ? "custom_tool" : "function";
  std::string_view kind = block.type;
  for (const std::string_view half : {"_output", "_result", "_call"})
    if (kind.ends_with(half)) kind.remove_suffix(half.size());
  return kind;
}

// Whether a result is of the kind that the call takes. Codex answers the call of a local shell with
// the output of a function.
constexpr bool answers_in_kind(const Block& call, const Block& result) {
  const std::string_view called = tool_kind(call), answered = tool_kind(result);
  return called == answered || (called == "local_shell" && answered == "function");
}

}  // namespace undertext
