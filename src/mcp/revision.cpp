#include "mcp/revision.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"

namespace undertext {
namespace {

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";

RpcError unknown_revision(std::string_view revision) {
  return {RpcCode::unsupported_version, "Unsupported protocol version", 400,
          R"({"supported":)" + known_revisions() + R"(,"requested":)" +
              json_string(revision.substr(0, 64)) + "}"};
}

RpcError mismatch(std::string_view field, std::string_view problem) {
  return {RpcCode::header_mismatch,
          "Header mismatch: " + std::string(field) + " " + std::string(problem), 400};
}

// A field's value is ASCII; anything else comes as =?base64?…?=. Nothing: it is none.
std::optional<std::string> decoded_field(std::string_view value) {
  constexpr std::string_view begin = "=?base64?", end = "?=";
  if (value.size() < begin.size() + end.size() || !value.starts_with(begin) ||
      !value.ends_with(end))
    return std::string(value);
  return from_base64(value.substr(begin.size(), value.size() - begin.size() - end.size()));
}

std::optional<std::string> string_member(const std::optional<JsonValue>& object,
                                         std::string_view name) {
  const std::optional<JsonValue> value = object ? object->find(name) : std::nullopt;
  if (!value || !value->is(JsonType::string)) return {};
  return value->string();
}

// The member of params that the field Mcp-Name repeats; empty: the method has none.
std::string_view named_by(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : "";
}

std::optional<RpcError> check_fields(const RpcMessage& message, const std::string& revision,
                                     const McpFields& fields) {
  if (!fields.protocol_version) return mismatch("MCP-Protocol-Version", "is missing");
  if (*fields.protocol_version != revision)
    return mismatch("MCP-Protocol-Version", "is not what _meta says");
  if (!fields.method) return mismatch("Mcp-Method", "is missing");
  if (*fields.method != message.method) return mismatch("Mcp-Method", "is not the method");
  const std::string_view member = named_by(message.method);
  if (member.empty()) return {};
  if (!fields.name) return mismatch("Mcp-Name", "is missing");
  const std::optional<std::string> name = decoded_field(*fields.name);
  if (!name || name != string_member(message.params, member))
    return mismatch("Mcp-Name", "is not params." + std::string(member));
  return {};
}

}  // namespace

bool is_known_revision(std::string_view revision) {
  return revision == stateless_revision ||
         std::ranges::find(handshake_revisions, revision) != std::end(handshake_revisions);
}

std::string known_revisions() {
  std::string out = "[" + json_string(stateless_revision);
  for (const std::string_view revision : handshake_revisions) out += "," + json_string(revision);
  return out + "]";
}

std::string_view handshake_revision(std::string_view asked) {
  const auto* const found = std::ranges::find(handshake_revisions, asked);
  return found == std::end(handshake_revisions) ? handshake_revisions[0] : *found;
}

bool may_be_list(const McpFields* fields) {
  return fields == nullptr || !fields->protocol_version ||
         *fields->protocol_version == "2025-03-26";
}

RevisionFound find_revision(const RpcMessage& message, const McpFields* fields) {
  const auto fails = [](RpcError error) { return RevisionFound{true, std::move(error)}; };
  const std::optional<JsonValue> meta =
      message.params ? message.params->find("_meta") : std::nullopt;
  const std::optional<JsonValue> said = meta ? meta->find(version_key) : std::nullopt;
  if (said && !said->is(JsonType::string))
    return fails({RpcCode::invalid_params, std::string(version_key) + " must be a string", 400});
  const std::optional<std::string> in_field =
      fields != nullptr ? fields->protocol_version : std::nullopt;
  if (!said && in_field && !is_known_revision(*in_field)) return fails(unknown_revision(*in_field));
  // Only the stateless revision has this method; a client calls it before it knows a revision.
  if (!said && message.method == "server/discover") return {true};
  if (!said && in_field != stateless_revision) return {};
  if (!said)
    return fails({RpcCode::invalid_params, "params._meta lacks " + std::string(version_key), 400});
  const std::string revision = said->string();
  if (fields != nullptr && in_field && *in_field != revision)
    return fails(mismatch("MCP-Protocol-Version", "is not what _meta says"));
  if (!is_known_revision(revision)) return fails(unknown_revision(revision));
  if (revision != stateless_revision) return {};
  const std::optional<JsonValue> capabilities = meta->find(capabilities_key);
  if (!capabilities || !capabilities->is(JsonType::object))
    return fails(
        {RpcCode::invalid_params, "params._meta lacks " + std::string(capabilities_key), 400});
  return {true, fields != nullptr ? check_fields(message, revision, *fields) : std::nullopt};
}

}  // namespace undertext
