// What the first releases took for tool calls and results, and which of them they paired. They
// recorded of TRUNCATE, FILTER and DELETE what was asked for, not what was kept: carried out again,
// such an operation mends the pairs that were found then, and no others. Frozen: not to be changed.
//
//     toolCalls[].id, tool_calls[].id   tool_use.id, tool_use.tool_use.id
//     toolCallId, tool_call_id          tool_result.tool_use_id, tool_result.tool_result.tool_use_id
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/operation.hpp>

#include "history/placed_view.hpp"

namespace undertext {

// Drops, or keeps, the other halves of the pairs that keeping `kept` would break. `pinned` (rising
// indices) are never dropped. Of a call with more than 32 results it may see only some.
Stretches mend_first_pairs(const Log& log, const PlacedView& before, Stretches kept, Pairs pairs,
                           const std::vector<std::uint64_t>& pinned);

}  // namespace undertext
