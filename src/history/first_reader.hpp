// What the first releases took for tool calls and results. They recorded of TRUNCATE, FILTER and DELETE what was asked for, not what was kept: carried
// out again, such an operation mends the pairs that were known then, and no others. Frozen: not to be changed.
//
//     toolCalls[].id, tool_calls[].id   tool_use.id, tool_use.tool_use.id
//     toolCallId, tool_call_id          tool_result.tool_use_id, tool_result.tool_result.tool_use_id
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "history/log.hpp"

namespace undertext {

class FirstReader {
 public:
  explicit FirstReader(const Log& log) : log_(log) {}
  bool knows(const Link& link);  // reads the message, once

 private:
  const Log& log_;
  std::unordered_map<std::uint32_t, std::unordered_set<std::uint64_t>> known_;  // Link::hash_and_side by ordinal
};

}  // namespace undertext
