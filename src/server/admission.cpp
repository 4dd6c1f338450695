#include "server/admission.hpp"

#include <algorithm>
#include <utility>

namespace undertext {
namespace {

constexpr std::string_view all_peers = "";

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), small);
  return result;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return small(x) == small(y); });
}

bool has_port(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  return colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos &&
         (authority.find(':') == colon || authority.front() == '[');
}

http::Reply refuse(unsigned status, ErrorCode code, std::string message, std::string field = {}) {
  return error_reply(Error{code, std::move(message), std::move(field)}, status);
}

http::Reply too_often(std::chrono::seconds wait) {
  http::Reply reply = refuse(429, ErrorCode::unavailable, "too many requests: wait, and try again");
  reply.fields.push_back({"Retry-After", std::to_string(wait.count())});
  return reply;
}

// Pages of other sites name theirs. What no browser sends has none.
bool is_of_another_origin(const http::Head& head) {
  const std::string* const origin = head.find("Origin");
  if (origin == nullptr) return false;
  if (head.count("Origin") != 1) return true;
  std::string_view authority = *origin;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!authority.starts_with(scheme)) continue;
    authority.remove_prefix(scheme.size());
    return !same_letters(authority, *head.find("Host"));
  }
  return true;
}

// A browser says so too where it sends no Origin. A link from elsewhere to the page itself is no
// harm.
bool is_fetched_by_another_site(const http::Head& head) {
  const std::string* const site = head.find("Sec-Fetch-Site");
  return site != nullptr && *site != "same-origin" && *site != "none";
}

std::optional<std::string_view> bearer(const http::Head& head) {
  constexpr std::string_view scheme = "Bearer ";
  if (head.count("Authorization") != 1) return std::nullopt;
  std::string_view value = *head.find("Authorization");
  if (value.size() <= scheme.size() || !same_letters(value.substr(0, scheme.size()), scheme))
    return std::nullopt;
  value.remove_prefix(scheme.size());
  const std::size_t first = value.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  return value.substr(first);
}

// Strangers who share an address, such as a proxy's, must not make the server look dead. Both are
// cheap.
bool is_probe(const RouteMatch& match) {
  return match.route != nullptr &&
         (match.route->path == "/healthz" || match.route->path == "/readyz");
}

bool has_body(const http::Head& head) {
  if (head.find("Transfer-Encoding") != nullptr) return true;
  const std::string* const length = head.find("Content-Length");
  return length != nullptr && *length != "0";
}

bool is_of_type(std::string_view value, std::string_view type) {
  const std::size_t semicolon = value.find(';');
  std::string_view essence = value.substr(0, semicolon);
  while (!essence.empty() && (essence.back() == ' ' || essence.back() == '\t'))
    essence.remove_suffix(1);
  return same_letters(essence, type);
}

// A form of another site can send any body, but not with these types.
std::optional<http::Reply> refuse_body(const http::Head& head, Body body) {
  if (const std::string* const encoding = head.find("Content-Encoding");
      encoding && !same_letters(*encoding, "identity"))
    return refuse(415, ErrorCode::unsupported, "bodies are taken as they are, not compressed",
                  "Content-Encoding");
  if (body == Body::none) return std::nullopt;
  const std::string* const type = head.find("Content-Type");
  if (type == nullptr && !has_body(head)) return std::nullopt;
  const std::string_view wanted = body == Body::json ? "application/json" : "application/x-ndjson";
  if (type != nullptr && head.count("Content-Type") == 1 && is_of_type(*type, wanted))
    return std::nullopt;
  return refuse(415, ErrorCode::invalid_argument, "the body must be " + std::string(wanted),
                "Content-Type");
}

http::Reply no_route(const RouteMatch& match) {
  if (match.methods_allowed.empty())
    return refuse(404, ErrorCode::not_found, "there is nothing at this path", "path");
  http::Reply reply =
      refuse(405, ErrorCode::invalid_argument, "this path has no such method", "method");
  std::string allowed;
  for (const std::string& method : match.methods_allowed)
    allowed += (allowed.empty() ? "" : ", ") + method;
  reply.fields.push_back({"Allow", std::move(allowed)});
  return reply;
}

}  // namespace

http::Reply token_needed() {
  http::Reply reply =
      refuse(401, ErrorCode::denied, "a token is needed: Authorization: Bearer …", "Authorization");
  reply.fields.push_back({"WWW-Authenticate", "Bearer"});
  return reply;
}

bool is_wildcard(std::string_view address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

Hosts::Hosts(std::string_view address, std::uint16_t port, bool secure,
             const std::vector<std::string>& more) {
  const std::string own_port = ":" + std::to_string(port);
  const auto add = [&](std::string name) {
    name = in_small_letters(name);
    // What has more than one colon and no brackets is an IPv6 address.
    if (name.find(':') != name.rfind(':') && name.front() != '[') name = "[" + name + "]";
    if (port == (secure ? 443 : 80)) allowed_.push_back(name);
    allowed_.push_back(name + own_port);
  };
  for (const std::string_view name :
       {std::string_view("localhost"), std::string_view("127.0.0.1"), std::string_view("[::1]")})
    add(std::string(name));
  if (!is_wildcard(address)) add(std::string(address));
  for (const std::string& name : more) {
    if (name.empty()) continue;
    if (has_port(name)) {
      allowed_.push_back(in_small_letters(name));
    } else {
      add(name);
      allowed_.push_back(in_small_letters(name));  // behind a proxy, at the usual port
    }
  }
}

bool Hosts::allow(std::string_view authority) const {
  return std::any_of(allowed_.begin(), allowed_.end(),
                     [&](const std::string& one) { return same_letters(one, authority); });
}

Admission::Admission(const std::vector<Route>& routes, Tokens* tokens, Hosts hosts,
                     AdmissionLimits limits)
    : routes_(routes),
      tokens_(tokens),
      hosts_(std::move(hosts)),
      requests_(limits.requests_per_second, 2 * limits.requests_per_second),
      failures_(limits.failures_per_second, limits.failures_at_once),
      all_failures_(limits.all_failures_per_second, 2 * limits.all_failures_per_second, 1),
      open_(limits.open_per_second, 2 * limits.open_per_second) {}

Admission::Verdict Admission::decide(const http::Head& head, Now now) {
  bool failed = false;
  Verdict verdict = identify(head, now, failed);
  if (failed) {
    // A good token is let in all the same: behind a proxy many come from one address.
    std::optional<std::chrono::seconds> wait = failures_.take(head.peer, now.steady);
    if (!wait) wait = all_failures_.take(all_peers, now.steady);
    if (wait) verdict.refusal = too_often(*wait);
  } else if (tokens_ != nullptr) {
    const bool is_open =
        verdict.match.route == nullptr || verdict.match.route->right == Right::none;
    std::optional<std::chrono::seconds> wait;
    if (is_open && !is_probe(verdict.match)) wait = open_.take(head.peer, now.steady);
    if (!is_open && !verdict.refusal) wait = requests_.take(verdict.caller.name, now.steady);
    if (wait) verdict.refusal = too_often(*wait);
  }
  return verdict;
}

Admission::Verdict Admission::identify(const http::Head& head, Now now, bool& failed) const {
  Verdict verdict;
  const std::string* const host = head.find("Host");
  if (host == nullptr || head.count("Host") != 1 || !hosts_.allow(*host)) {
    verdict.refusal =
        refuse(421, ErrorCode::denied, "this server does not go by that name", "Host");
    return verdict;
  }
  if (is_of_another_origin(head)) {
    verdict.refusal =
        refuse(403, ErrorCode::denied, "pages of other sites may not call this server", "Origin");
    return verdict;
  }
  verdict.match = find_route(routes_, head.method, head.target);
  if (verdict.match.route == nullptr) {
    verdict.refusal = no_route(verdict.match);
    return verdict;
  }
  const Route& route = *verdict.match.route;
  verdict.caller = {"", "local", true};
  if (route.right != Right::none) {
    if (is_fetched_by_another_site(head)) {
      verdict.refusal = refuse(403, ErrorCode::denied,
                               "pages of other sites may not call this server", "Sec-Fetch-Site");
      return verdict;
    }
    if (tokens_ != nullptr) {
      verdict.caller = {};
      const std::optional<std::string_view> secret = bearer(head);
      const std::optional<Token> token = secret ? tokens_->find(*secret, now.ms) : std::nullopt;
      if (!token) {
        failed = true;
        verdict.refusal = token_needed();
        return verdict;
      }
      verdict.caller = token->caller();
      if (!token->rights.allow(route.right)) {
        verdict.refusal =
            refuse(403, ErrorCode::denied, "the token does not give this right", "Authorization");
        return verdict;
      }
    }
  }
  verdict.refusal = refuse_body(head, route.body);
  return verdict;
}

}  // namespace undertext
