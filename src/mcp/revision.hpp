// Revisions of the Model Context Protocol: which one a request is of, and whether it keeps to its
// rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mcp/mcp.hpp"
#include "mcp/rpc.hpp"

namespace undertext {

// The revision in which every request says all about itself.
inline constexpr std::string_view stateless_revision = "2026-07-28";
// Those that begin with a handshake, the newest first.
inline constexpr std::string_view handshake_revisions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                           "2024-11-05"};

bool is_known_revision(std::string_view revision);
std::string known_revisions();  // a JSON array, the newest first

// What `initialize` is answered with: the revision asked for, else the newest with a handshake.
std::string_view handshake_revision(std::string_view asked);

struct RevisionFound {
  bool is_stateless = false;
  std::optional<RpcError> error = {};
};
// `fields` are null on stdio.
RevisionFound find_revision(const RpcMessage& message, const McpFields* fields);

// Lists of messages are part of revision 2025-03-26 alone, whose clients send no field with a
// revision.
bool may_be_list(const McpFields* fields);

}  // namespace undertext
