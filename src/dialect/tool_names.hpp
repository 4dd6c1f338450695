// Tools whose names a provider refuses are sent under other names, and what comes back is mapped to
// the caller's.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "message/turn.hpp"

namespace undertext {

bool may_name_tool(char c, Dialect dialect);

// A name that the profile takes, made from one that it does not: its letters as far as they may
// stay, and a digest of the whole. So names that differ only in forbidden letters stay apart, and a
// name becomes the same in every request. Recorded in `names`. `tools` are names that the caller
// has given to other tools.
std::string sendable_tool_name(std::string_view own, const Profile& profile,
                               const std::set<std::string, std::less<>>& tools, ToolNames& names);

// Calls visit(name), a string, for each tool of a request's `tools`, in any provider's form.
void visit_tool_names(const JsonValue& tools,
                      const std::function<void(const JsonValue& name)>& visit);

// The `tools` of a request as the provider takes them. `names` is complete.
std::string sendable_tools(std::string_view tools, const ToolNames& names);

// The bytes of a call or result with another name in the place of its own; nothing where they have
// none.
std::string with_tool_name(const Block& block, std::string_view name);

// A message, an item or a content, or a list of them, in which the provider's names are the
// caller's again.
std::string with_own_tool_names(Dialect dialect, std::string_view json, const ToolNames& names);

}  // namespace undertext
