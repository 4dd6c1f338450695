#include "gateway/error_reply.hpp"

#include <string>

#include "base/json_text.hpp"

namespace undertext {
namespace {

std::string_view anthropic_type(unsigned status) {
  switch (status) {
    case 400: return "invalid_request_error";
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 504: return "timeout_error";
    default: return status < 500 ? "invalid_request_error" : "api_error";
  }
}

std::string_view google_status(unsigned status) {
  switch (status) {
    case 401: return "UNAUTHENTICATED";
    case 403: return "PERMISSION_DENIED";
    case 404: return "NOT_FOUND";
    case 504: return "DEADLINE_EXCEEDED";
    default: return status < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE";
  }
}

std::string body_of(Provider form, unsigned status, std::string_view code,
                    std::string_view message) {
  switch (form) {
    case Provider::anthropic:
      return R"({"type":"error","error":{"type":)" + json_string(anthropic_type(status)) +
             R"(,"message":)" + json_string(message) + "}}";
    case Provider::gemini:
      return R"({"error":{"code":)" + std::to_string(status) + R"(,"message":)" +
             json_string(message) + R"(,"status":)" + json_string(google_status(status)) + "}}";
    case Provider::openai: break;
  }
  return R"({"error":{"message":)" + json_string(message) + R"(,"type":")" +
         (status < 500 ? "invalid_request_error" : "server_error") + R"(","param":null,"code":)" +
         json_string(code) + "}}";
}

}  // namespace

http::Reply gateway_error(Provider form, unsigned status, std::string_view code,
                          std::string_view message) {
  http::Reply reply{.status = status, .body = body_of(form, status, code, message)};
  reply.fields.push_back({"x-undertext-error", std::string(code)});
  return reply;
}

Provider error_form(const GatewayRoute& route) {
  if (!route.dialect) return route.upstream->provider;
  switch (*route.dialect) {
    case Dialect::anthropic: return Provider::anthropic;
    case Dialect::gemini: return Provider::gemini;
    case Dialect::openai_chat:
    case Dialect::openai_responses: break;
  }
  return Provider::openai;
}

}  // namespace undertext
