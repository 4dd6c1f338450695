#include "mcp/rpc.hpp"

#include <utility>

namespace undertext {
namespace {

// An id is repeated in the answer, so it must not be a message of its own.
constexpr std::size_t id_bytes_max = 512, method_bytes_max = 256;

bool is_id(JsonValue value) {
  if (value.raw().size() > id_bytes_max) return false;
  if (value.is(JsonType::string)) return true;
  return value.is(JsonType::number) && value.raw().find_first_of(".eE") == std::string_view::npos;
}

RpcError bad_request(std::string message) {
  return {RpcCode::invalid_request, std::move(message), 400};
}

}  // namespace

std::optional<RpcError> read_rpc(JsonValue value, RpcMessage& message) {
  if (!value.is(JsonType::object)) return bad_request("a message is a JSON object");
  const std::optional<JsonValue> id = value.find("id"), method = value.find("method"),
                                 version = value.find("jsonrpc");
  if (id && is_id(*id)) message.id = id->raw();
  if (!version || !version->is(JsonType::string) || !version->string_is("2.0"))
    return bad_request("jsonrpc must be \"2.0\"");
  if (!method) {
    if (!value.find("result") && !value.find("error")) return bad_request("a message has a method");
    message.kind = RpcMessage::Kind::response;
    return {};
  }
  if (!method->is(JsonType::string) || method->raw().size() > method_bytes_max)
    return bad_request("method must be a short string");
  message.method = method->string();
  message.kind = id ? RpcMessage::Kind::request : RpcMessage::Kind::notification;
  if (id && message.id.empty())
    return bad_request("id must be an integer or a string of at most 512 bytes");
  message.params = value.find("params");
  if (message.params && !message.params->is(JsonType::object))
    return RpcError{RpcCode::invalid_params, "params must be an object", 400};
  return {};
}

std::string rpc_result(std::string_view id, std::string_view result_json) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  (out += id) += R"(,"result":)";
  return (out += result_json) += '}';
}

std::string rpc_error(std::string_view id, const RpcError& error) {
  std::string out = R"({"jsonrpc":"2.0")";
  if (!id.empty()) (out += R"(,"id":)") += id;  // the protocol knows no null here
  out += R"(,"error":{"code":)" + std::to_string(static_cast<int>(error.code)) + R"(,"message":)" +
         json_string(error.message);
  if (!error.data.empty()) (out += R"(,"data":)") += error.data;
  return out += "}}";
}

}  // namespace undertext
