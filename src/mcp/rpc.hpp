// JSON-RPC 2.0 as the Model Context Protocol uses it: what a message is, and what an answer looks
// like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.hpp"

namespace undertext {

enum class RpcCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal = -32603,
  resource_not_found = -32002,  // of revisions before 2026-07-28
  header_mismatch = -32020,
  unsupported_version = -32022,
};

// What a request fails with.
struct RpcError {
  RpcCode code = RpcCode::internal;
  std::string message;
  unsigned status = 200;  // of HTTP
  std::string data = {};  // JSON; empty: none
};

struct RpcMessage {
  enum class Kind : std::uint8_t { request, notification, response };
  Kind kind = Kind::request;
  std::string id;  // JSON: a string or an integer; of a request
  std::string method;
  std::optional<JsonValue> params = {};  // an object
};

// Borrows the value's text. `id` is set as soon as it is known, for the answer to a bad request.
std::optional<RpcError> read_rpc(JsonValue value, RpcMessage& message);

std::string rpc_result(std::string_view id, std::string_view result_json);
// an empty id: it could not be read
std::string rpc_error(std::string_view id, const RpcError& error);

}  // namespace undertext
