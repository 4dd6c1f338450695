// /mcp: the Model Context Protocol over Streamable HTTP. Each message is a POST of its own; nothing
// is kept between two.
#include <optional>
#include <string>
#include <utility>

#include "mcp/mcp.hpp"
#include "server/app_rep.hpp"

namespace undertext {
namespace {

using Type = Parameter::Type;

constexpr std::uint64_t message_bytes_max = 1 << 20;

std::optional<std::string> parameter(const Call& call, std::string_view name) {
  const std::string* const value = call.find(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

McpOptions mcp_options(App::Rep& app, const Call& call) {
  const std::string* const edits = call.find("edits");
  const bool with_edits = edits != nullptr && *edits == "true";
  if (with_edits && !call.caller.may_write)
    refuse(ErrorCode::denied, "edits need a token that may write", "edits");
  return {.scope = {.store = app.store(call),
                    .open =
                        [&app, &call](const std::string& id) {
                          return app.conversations.get(call.caller.tenant, id);
                        },
                    .project = parameter(call, "project"),
                    .conversation = parameter(call, "conversation"),
                    .recall = app.recalls.of(call.caller.tenant)},
          .tools = with_edits ? ContextTools::with_edits : ContextTools::reading,
          .work = call.work};
}

// One message is the answer; several are a stream of events that ends at once.
http::Reply mcp_reply(McpAnswer answer) {
  http::Reply reply{.status = answer.status};
  if (answer.messages.size() == 1) reply.body = std::move(answer.messages.front());
  if (answer.messages.size() < 2) return reply;
  reply.content_type = "text/event-stream";
  for (const std::string& message : answer.messages)
    reply.body += "event: message\ndata: " + message + "\n\n";
  return reply;
}

}  // namespace

std::vector<Route> mcp_routes(App::Rep& app) {
  return {
      {.method = "POST",
       .path = "/mcp",
       .name = "mcp",
       .what = "A message of the Model Context Protocol: docs/mcp.md.",
       .parameters = {{.name = "project",
                       .type = Type::text,
                       .what = "Only conversations of this project.",
                       .least = 1,
                       .most = 4096},
                      {.name = "conversation", .type = Type::id, .what = "Only this conversation."},
                      {.name = "edits",
                       .type = Type::boolean,
                       .what =
                           "Also tools that change it; the token must give the right to write."},
                      {.name = "MCP-Protocol-Version",
                       .in = Parameter::In::header,
                       .what = "The revision, as in the message."},
                      {.name = "Mcp-Method",
                       .in = Parameter::In::header,
                       .what = "The method, as in the message."},
                      {.name = "Mcp-Name",
                       .in = Parameter::In::header,
                       .what = "The tool or the resource, as in the message."}},
       .body = Body::json,
       .takes = "JsonObject",
       .answers = "JsonObject",
       .body_bytes_max = message_bytes_max,
       .handle = replying([&app](const Call& call) {
         const McpFields fields{parameter(call, "MCP-Protocol-Version"),
                                parameter(call, "Mcp-Method"), parameter(call, "Mcp-Name")};
         return mcp_reply(answer_mcp(call.request.body, mcp_options(app, call), &fields));
       })}};
}

}  // namespace undertext
