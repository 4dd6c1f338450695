#include "gateway/upstreams.hpp"

#include <algorithm>
#include <utility>

#include "endpoint/http.hpp"
#include "endpoint/key.hpp"
#include "gateway/fields.hpp"
#include "http/head.hpp"

namespace undertext {
namespace {

struct PublicUpstream {
  std::string_view name;
  Provider provider;
  std::string_view url;
};
// First those of the providers, in their order.
constexpr std::array<PublicUpstream, provider_count + 1> public_upstreams = {{
    {"anthropic", Provider::anthropic, "https://api.anthropic.com"},
    {"openai", Provider::openai, "https://api.openai.com"},
    {"gemini", Provider::gemini, "https://generativelanguage.googleapis.com"},
    {"chatgpt", Provider::openai, "https://chatgpt.com/backend-api/codex"},
}};

struct CallRow {
  std::string_view path;  // behind the version
  CallKind kind;
  Provider provider;
  Dialect dialect;
};
constexpr std::array<CallRow, 6> calls = {{
    {"/messages", CallKind::messages, Provider::anthropic, Dialect::anthropic},
    {"/messages/count_tokens", CallKind::count_tokens, Provider::anthropic, Dialect::anthropic},
    {"/chat/completions", CallKind::chat_completions, Provider::openai, Dialect::openai_chat},
    {"/responses", CallKind::responses, Provider::openai, Dialect::openai_responses},
    {"/responses/compact", CallKind::responses_compact, Provider::openai,
     Dialect::openai_responses},
    {"/responses/input_tokens", CallKind::count_tokens, Provider::openai,
     Dialect::openai_responses},
}};

// The first part of a path, without its slash.
std::string_view first_part(std::string_view path) { return path.substr(1, path.find('/', 1) - 1); }

// v1, v1beta, v1alpha2, …
bool is_version(std::string_view part) {
  return part.size() >= 2 && part[0] == 'v' && part[1] >= '0' && part[1] <= '9' &&
         part.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz", 1) == part.npos;
}

// What stands behind the version; the whole path where there is none.
std::string_view behind_version(std::string_view path) {
  for (std::string_view rest = path; rest.size() > 1;) {
    const std::string_view part = first_part(rest);
    rest.remove_prefix(part.size() + 1);
    if (is_version(part)) return rest;
    if (!rest.starts_with('/')) break;
  }
  return path;
}

// A path as it is meant: one slash where a base URL and a path each brought theirs, none at the
// end, and the colon of Google's verbs though a client has encoded it.
std::string plain(std::string_view path) {
  std::string meant;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool is_colon = path.substr(i, 3) == "%3A" || path.substr(i, 3) == "%3a";
    const char c = is_colon ? ':' : path[i];
    if (is_colon) i += 2;
    if (c != '/' || !meant.ends_with('/')) meant += c;
  }
  if (meant.size() > 1 && meant.ends_with('/')) meant.pop_back();
  return meant;
}

bool is_under(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

struct Meaning {
  std::optional<Provider> provider = {};
  CallKind call = CallKind::other;
  std::optional<Dialect> dialect = {};
};

// Google's calls are verbs behind a colon.
std::optional<Meaning> google_meaning(std::string_view method, std::string_view path) {
  const std::string_view last = path.substr(path.rfind('/') + 1);
  const std::size_t colon = last.rfind(':');
  if (colon == last.npos) return std::nullopt;
  const std::string_view verb = last.substr(colon + 1);
  if (method == "POST" && verb == "generateContent")
    return Meaning{Provider::gemini, CallKind::generate_content, Dialect::gemini};
  if (method == "POST" && verb == "streamGenerateContent")
    return Meaning{Provider::gemini, CallKind::stream_generate_content, Dialect::gemini};
  return std::any_of(verb.begin(), verb.end(), [](char c) { return c >= 'A' && c <= 'Z'; })
             ? std::optional(Meaning{.provider = Provider::gemini})
             : std::nullopt;
}

Meaning meaning_of(std::string_view method, std::string_view path) {
  if (std::optional<Meaning> google = google_meaning(method, path)) return *google;
  const std::string_view rest = behind_version(path);
  const bool is_google = path.starts_with("/v1beta/") || path.starts_with("/v1alpha/");
  for (const CallRow& row : calls)
    if (method == "POST" && rest == row.path) return {row.provider, row.kind, row.dialect};
  constexpr std::string_view response = "/responses/";
  if (method == "GET" && rest.starts_with(response) && rest.size() > response.size() &&
      rest.find('/', response.size()) == rest.npos)
    return {Provider::openai, CallKind::response, Dialect::openai_responses};
  // Behind a deployment (Azure), or in Google's form of it.
  if (method == "POST" && rest.ends_with("/chat/completions"))
    return {is_google ? Provider::gemini : Provider::openai, CallKind::chat_completions,
            Dialect::openai_chat};
  if (is_under(rest, "/models"))
    return {.provider = is_google ? std::optional(Provider::gemini) : std::nullopt,
            .call = method == "GET" ? CallKind::models : CallKind::other};
  if (is_under(rest, "/messages") || rest == "/complete" || path == "/")
    return {.provider = Provider::anthropic};
  if (is_under(rest, "/chat") || is_under(rest, "/responses"))
    return {.provider = Provider::openai};
  if (is_google) return {.provider = Provider::gemini};
  return {};
}

// Of a path that is of several providers, or of none that is known.
Provider hinted(const http::Head& head) {
  if (head.find("x-goog-api-key") != nullptr || head.find("x-goog-api-client") != nullptr)
    return Provider::gemini;
  if (head.find("anthropic-version") != nullptr || head.find("anthropic-beta") != nullptr)
    return Provider::anthropic;
  // nobody else takes keys there
  return key_in_target(head.target) ? Provider::gemini : Provider::openai;
}

Result<Upstream> make_upstream(const std::string& called, Provider provider, const std::string& url,
                               const std::string* variable) {
  Result<HttpUrl> read = read_base_url(url);
  if (!read)
    return Error{.code = read.error().code,
                 .message = called + ": " + read.error().message,
                 .field = called};
  const std::size_t path =
      std::min(read->text.find('/', read->text.find("://") + 3), read->text.size());
  Upstream upstream{.name = called,
                    .provider = provider,
                    .origin = read->text.substr(0, path),
                    .path = read->text.substr(path),
                    .is_https = read->is_https,
                    .is_loopback = read->is_loopback};
  if (variable == nullptr) return upstream;
  EndpointSettings settings;
  settings.key_variable = *variable;
  Result<EndpointKey> key = EndpointKey::read(settings);
  if (!key)
    return Error{.code = key.error().code,
                 .message = called + ": " + key.error().message,
                 .field = "key-env"};
  upstream.key = key->value();
  return upstream;
}

}  // namespace

std::string_view name(CallKind kind) {
  constexpr std::array<std::string_view, 10> names = {
      "messages",  "count_tokens",      "chat_completions",
      "responses", "responses_compact", "response",
      "models",    "generate_content",  "stream_generate_content",
      "other"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name(Provider provider) {
  constexpr std::array<std::string_view, provider_count> names = {"anthropic", "openai", "gemini"};
  return names[static_cast<std::size_t>(provider)];
}

Result<Upstreams> Upstreams::make(const UpstreamSettings& settings) {
  for (const auto* given : {&settings.urls, &settings.key_variables})
    for (const auto& [called, value] : *given)
      if (std::none_of(public_upstreams.begin(), public_upstreams.end(),
                       [&](const PublicUpstream& known) { return known.name == called; }))
        return Error{.code = ErrorCode::invalid_argument,
                     .message = "there is no upstream " + called +
                                ": they are anthropic, openai, gemini and chatgpt",
                     .field = "upstream"};
  Upstreams made;
  for (const auto& [known, provider, url] : public_upstreams) {
    const std::string called(known);
    const auto given = settings.urls.find(called);
    const auto variable = settings.key_variables.find(called);
    Result<Upstream> upstream = make_upstream(
        called, provider, given == settings.urls.end() ? std::string(url) : given->second,
        variable == settings.key_variables.end() ? nullptr : &variable->second);
    if (!upstream) return upstream.error();
    made.list_.push_back(*std::move(upstream));
  }
  const bool is_openai_chosen =
      settings.urls.contains("openai") || settings.key_variables.contains("openai");
  made.is_anthropic_public_ = !settings.urls.contains("anthropic");
  made.knows_logins_ = settings.urls.contains("chatgpt") || !is_openai_chosen;
  return made;
}

std::optional<GatewayRoute> Upstreams::route(const http::Head& head) const {
  if (head.was_url || !head.target.starts_with('/')) return std::nullopt;
  std::string_view target = head.target;
  std::string_view path = target.substr(0, target.find('?'));
  const Upstream* named = nullptr;
  for (const Upstream& upstream : list_)
    if (first_part(path) == upstream.name) named = &upstream;
  if (named != nullptr) {
    target.remove_prefix(named->name.size() + 1);
    path.remove_prefix(named->name.size() + 1);
  }
  const Meaning meaning = meaning_of(head.method, plain(path.empty() ? "/" : path));
  GatewayRoute route{
      .upstream = named, .call = meaning.call, .dialect = meaning.dialect, .target = {}};
  if (named == nullptr) route.upstream = find(meaning.provider ? *meaning.provider : hinted(head));
  if (knows_logins_ && route.upstream == find(Provider::openai) &&
      head.find("chatgpt-account-id") != nullptr) {
    route.upstream = &list_.back();
    if (is_under(path, "/v1")) target.remove_prefix(3);
  }
  route.target = route.upstream->path;
  // The AI SDK of Vercel takes the version to be part of ANTHROPIC_BASE_URL; Claude Code and
  // Anthropic's SDKs do not.
  const bool is_unversioned = is_under(path, "/messages") || is_under(path, "/models");
  if (is_unversioned && route.upstream == find(Provider::anthropic) && is_anthropic_public_)
    route.target += "/v1";
  if (!target.starts_with('/')) route.target += '/';
  route.target += target;
  return route;
}

}  // namespace undertext
