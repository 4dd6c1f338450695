// Which fields of a request or an answer are passed on, which are kept, and where keys stand.
// Values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/upstreams.hpp"
#include "http/http.hpp"

namespace undertext {

// X-Undertext-…: between a gateway and its clients, and nobody else's.
bool is_own(const http::Field& field);
bool is_named(const http::Field& field, std::string_view name);

// All but those that belong to one connection: RFC 9110's, and what Connection names.
std::vector<http::Field> end_to_end_fields(const std::vector<http::Field>& fields);

// What the upstream gets of a client's fields: without Host, Expect (which was answered here) and
// X-Undertext-*. Of an upstream with a key of the gateway's, that key stands in place of all of the
// client's.
std::vector<http::Field> outgoing_fields(const http::Head& head, const Upstream& upstream);
std::string outgoing_target(std::string target, const Upstream& upstream);

// What may be kept: no credentials, no cookies.
std::vector<http::Field> without_secrets(const std::vector<http::Field>& fields);
// All credentials that a request comes with, wherever they stand.
std::vector<std::string> secrets_of(const http::Head& head);
std::string without_key(std::string_view target);                   // without the parameter `key`
std::optional<std::string> key_in_target(std::string_view target);  // that parameter: Google's keys

// What a client shows to be let in.
struct Credential {
  std::string secret;
  bool is_ours = false;  // it stood in X-Undertext-Token, and not where a provider's key stands
};
std::optional<Credential> credential_of(const http::Head& head);

bool asks_for_websocket(const http::Head& head);

}  // namespace undertext
