// The Model Context Protocol as values: a JSON-RPC message in, its answer out. Transports call this
// and nothing else of this room; it keeps nothing between two messages.
//
//     McpAnswer answer = answer_mcp(line, {.scope = scope});
//     for (const std::string& message : answer.messages) write_line(message);
//
// Speaks revision 2026-07-28, in which each request says its revision, and answers the handshake
// (`initialize`) of 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05. docs/mcp.md has the tools,
// the resources and what is left out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/context_tools.hpp>
#include <undertext/work.hpp>

#include "mcp/scope.hpp"

namespace undertext {

struct McpOptions {
  McpScope scope;
  ContextTools tools = ContextTools::reading;
  std::shared_ptr<Work> work = {};  // null: without limits
};

// What the fields of an HTTP request say; revision 2026-07-28 has them repeat what the message
// says.
struct McpFields {
  std::optional<std::string> protocol_version = {};  // MCP-Protocol-Version
  std::optional<std::string> method = {};            // Mcp-Method
  std::optional<std::string> name = {};              // Mcp-Name
};

struct McpAnswer {
  // one line each, without its end; none for a notification
  std::vector<std::string> messages = {};
  unsigned status = 200;  // of HTTP
};

// Every failure is an answer. Throws std::bad_alloc only. `fields` are null on stdio.
McpAnswer answer_mcp(std::string_view message, const McpOptions& options,
                     const McpFields* fields = nullptr);

}  // namespace undertext
