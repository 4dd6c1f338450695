// The providers behind a gateway, as data: where each is, whose key opens it, and which of them a
// request is for.
//
//     Upstreams upstreams = Upstreams::make({}).value();
//     std::optional<GatewayRoute> route = upstreams.route(head);
//     route->upstream->name;    // "anthropic"
//     route->call;              // CallKind::messages
//
// Where a request goes follows from this data, its path and a few fields; no part of a request can
// name a host. Values: nothing here waits.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>
#include <undertext/error.hpp>

#include "http/http.hpp"

namespace undertext {

// What a call asks for. Everything but `other` can be recorded.
enum class CallKind : std::uint8_t {
  messages,
  count_tokens,
  chat_completions,
  responses,
  responses_compact,
  response,  // that was asked for before: how far the provider has come with it
  models,
  generate_content,
  stream_generate_content,
  other,
};
std::string_view name(CallKind kind);  // "messages", …

// Whose API an upstream speaks: decides the field of its key and the form of its errors.
enum class Provider : std::uint8_t { anthropic, openai, gemini };
inline constexpr std::size_t provider_count = 3;
std::string_view name(Provider provider);

struct Upstream {
  // "anthropic", "openai", "gemini", "chatgpt"; also the first part of a path that asks for it
  std::string name = {};
  Provider provider = Provider::openai;
  std::string origin = {};  // "https://api.anthropic.com", without a path
  std::string path = {};    // what stands before the path of every request; mostly ""
  bool is_https = false;
  bool is_loopback = false;
  std::string key = {};  // the gateway's own; empty: the client's credentials are passed on
};

struct UpstreamSettings {
  // by name; default: the provider's public address
  std::map<std::string, std::string> urls = {};
  // by name: the environment variable with the gateway's own key
  std::map<std::string, std::string> key_variables = {};
};

struct GatewayRoute {
  const Upstream* upstream = nullptr;
  CallKind call = CallKind::other;
  std::optional<Dialect> dialect = {};  // of the call's body; none for `models` and `other`
  // what the upstream is asked for: its own path, and the request's
  std::string target;
};

class Upstreams {
 public:
  // invalid_argument: no such upstream, no URL, a variable that is not set; the message never shows
  // a key.
  static Result<Upstreams> make(const UpstreamSettings& settings);

  // The route of a request whose target is a path; none: it is not.
  //
  // A first part that is the name of an upstream asks for it and is taken off
  // (/anthropic/v1/messages). Else the path decides; of paths that several providers have
  // (/v1/models), the fields x-goog-api-key and anthropic-version. What nobody knows goes to
  // openai, except "/", which is Claude Code's question.
  //
  // Codex with a ChatGPT login names the account in chatgpt-account-id, and has another host for it
  // than with an API key: what would go to openai then goes to chatgpt, without /v1. Not where
  // openai was configured and chatgpt was not.
  std::optional<GatewayRoute> route(const http::Head& head) const;

  const std::vector<Upstream>& all() const { return list_; }

 private:
  const Upstream* find(Provider provider) const {
    return &list_[static_cast<std::size_t>(provider)];
  }
  std::vector<Upstream> list_;  // in the order of Provider; then chatgpt
  bool knows_logins_ = true;
  bool is_anthropic_public_ = true;
};

}  // namespace undertext
