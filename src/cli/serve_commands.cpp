// serve, token: conversations over HTTP, and who may reach them.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/listening.hpp"
#if UNDERTEXT_HAVE_SERVER
#  include "server/serve.hpp"
#  include "server/tokens.hpp"
#endif

namespace undertext {
namespace {

constexpr std::string_view serve_help =
    R"(Without tokens it listens on loopback only, and every local client has all rights. With tokens (undertext token make)
every request needs one, and sees its tenant's conversations.

Its host names are localhost, 127.0.0.1 and its address; --host adds others, such as the one that a proxy forwards.
On SIGINT and SIGTERM it answers running requests and ends; with --drain-seconds it says so to load balancers first.)";

constexpr std::string_view token_help =
    R"(  undertext token make NAME --tenant TENANT --rights read,write[,metrics,operate] [--expires DAYS]
  undertext token list
  undertext token revoke NAME

make prints the token itself, once: the file keeps its digest. The tenant "default" is the operator's, whose
conversations commands use by default. A running server applies a revocation within a second.)";

struct ServeGiven : Common {
  std::string listen = "127.0.0.1:8777";
  std::optional<std::string> tokens;
  std::vector<std::string> hosts;
  std::optional<std::string> certificate, key;
  std::uint64_t threads = 64, rate = 2000, memory = 512, answer = 64, cache = 512, made = 32;
  std::uint64_t seconds = 60, drain = 0;
  ConnectionsGiven connections;
  QuotaGiven quota;
  bool quiet = false, core_dumps = false;
  std::optional<std::string> docs;
  std::optional<std::string> gateway;
  UpstreamsGiven upstreams;
};

struct TokenGiven : Common {
  std::string action;
  std::optional<std::string> name, tokens, tenant, rights;
  std::optional<std::uint64_t> days;
};

#if UNDERTEXT_HAVE_SERVER

int run_serve(Desk& desk, const ServeGiven& given) {
  ServeOptions options;
  const ListenAddress listen = read_listen(given.listen, {options.address, options.port});
  options.address = listen.address;
  options.port = listen.port;
  options.hosts = given.hosts;
  if (given.certificate.has_value() != given.key.has_value())
    fail(ErrorCode::invalid_argument, "--tls-certificate and --tls-key go together", "tlsKey");
  if (given.certificate) options.tls = http::Tls{*given.certificate, *given.key};
  if (given.threads < 2 || given.threads > 1024)
    fail(ErrorCode::invalid_argument, "threads are 2 to 1024", "threads");
  if (given.rate < 1) fail(ErrorCode::invalid_argument, "a rate is 1 or more", "rate");
  for (const auto& [mib, name] :
       {std::pair(given.memory, "memory"), std::pair(given.answer, "answer"),
        std::pair(given.cache, "cache"), std::pair(given.made, "made")})
    if (mib < 1 || mib > 1 << 20)
      fail(ErrorCode::invalid_argument, "sizes are 1 to 1048576 MiB", name);
  options.memory_bytes = given.memory << 20;
  options.answer_bytes_max = given.answer << 20;
  options.cache_bytes = given.cache << 20;
  options.made_bytes_max = given.made << 20;
  options.quota = read_quota(given.quota);
  if (given.seconds < 1 || given.seconds > 86'400)
    fail(ErrorCode::invalid_argument, "a request has 1 to 86400 s", "requestSeconds");
  options.request_time = std::chrono::seconds(given.seconds);
  if (given.drain > 3'600) fail(ErrorCode::invalid_argument, "at most 3600 s", "drainSeconds");
  options.drain = std::chrono::seconds(given.drain);
  const ConnectionLimits connections = read_connections(given.connections);
  options.connections_max = connections.most;
  // A proxy needs all.
  options.connections_per_address_max =
      connections.per_address.value_or(std::max(1u, connections.most / 2));
  options.threads = given.threads;
  options.requests_per_second = given.rate;
  options.log_requests = !given.quiet;
  options.core_dumps = given.core_dumps;
  if (given.docs) options.site = SiteFiles::read(*given.docs).value();
  options.tokens_file = tokens_meant(given.tokens);
  constexpr std::uint32_t store_connections = 32;
  options.store = given.gateway
                      ? store_of_gateway(desk, given, store_connections)
                      : desk.store(given, Desk::Need::make, {.connections_max = store_connections});
  if (given.gateway) {
    GatewayServing gateway;
    const ListenAddress at = read_listen(*given.gateway, {gateway.address, gateway.port});
    gateway.address = at.address;
    gateway.port = at.port;
    gateway.hosts = options.hosts;
    gateway.connections_max = connections.most;
    gateway.connections_per_address_max = connections.per_address;
    gateway.tls = options.tls;
    read_upstreams(given.upstreams, gateway);
    gateway.secret = secret_of_gateway(desk);
    options.gateway = std::move(gateway);
  }
  options.on_listening = [&](const std::string& url, const std::string& gateway) {
    const std::string who = options.tokens_file ? "tokens: " + *options.tokens_file
                                                : std::string("no tokens: this machine only");
    desk.say("undertext: " + url + "  (" + options.store->name() + ", " + who + ")");
    if (!gateway.empty()) desk.say("gateway: " + gateway);
    desk.finish();
  };
  if (std::optional<Error> error = serve(options)) throw Failure(*std::move(error));
  return 0;
}

std::string as_json(const Token& token) {
  std::string out = R"({"name":")" + token.name + R"(","tenant":")" + token.tenant +
                    R"(","rights":")" + token.rights.text();
  out += R"(","made":)" + std::to_string(token.made_ms);
  if (token.expires_ms) out += R"(,"expires":)" + std::to_string(*token.expires_ms);
  if (token.revoked_ms) out += R"(,"revoked":)" + std::to_string(*token.revoked_ms);
  return out + "}";
}

void list_tokens(Desk& desk, const std::string& path, bool json) {
  const std::vector<Token> tokens = read_tokens(path).value();
  for (const Token& token : tokens) {
    if (json) {
      desk.put_json(as_json(token));
      continue;
    }
    Line line;
    line.add(token.name, {.bold = true})
        .pad_to(20)
        .add(token.tenant)
        .pad_to(40)
        .add(token.rights.text())
        .pad_to(60);
    line.add(token.revoked_ms           ? "revoked " + spelled_time(*token.revoked_ms)
             : !token.is_good(now_ms()) ? "expired " + spelled_time(*token.expires_ms)
             : token.expires_ms         ? "until " + spelled_time(*token.expires_ms)
                                        : "made " + spelled_time(token.made_ms));
    desk.screen().print(line);
  }
  if (tokens.empty() && !json) desk.note("there is no token yet; undertext token make makes one");
}

void make_token(Desk& desk, const std::string& path, const TokenGiven& given) {
  if (!given.tenant) fail(ErrorCode::invalid_argument, "say whose it is, with --tenant", "tenant");
  if (!given.rights)
    fail(ErrorCode::invalid_argument, "say what it allows, with --rights read,write", "rights");
  constexpr std::int64_t day_ms = 86'400'000;
  Token token{.name = *given.name,
              .tenant = *given.tenant,
              .rights = read_rights(*given.rights).value(),
              .made_ms = now_ms()};
  if (given.days && (*given.days < 1 || *given.days > 36'500))
    fail(ErrorCode::invalid_argument, "a token expires after 1 to 36500 days", "expires");
  if (given.days)
    token.expires_ms = token.made_ms + static_cast<std::int64_t>(*given.days) * day_ms;
  if (!given.tokens) make_folders_above(path);
  const std::string secret = undertext::make_token(path, std::move(token)).value();
  if (given.json) {
    desk.put_json(R"({"ok":true,"result":{"name":")" + *given.name + R"(","token":")" + secret +
                  "\"}}");
  } else {
    desk.say(secret);
  }
}

int run_token(Desk& desk, const TokenGiven& given) {
  const std::optional<std::string> known = given.tokens ? given.tokens : default_tokens_file();
  if (!known)
    fail(ErrorCode::invalid_argument, "HOME is not set: say where with --tokens", "tokens");
  const std::string& path = *known;
  if (given.action == "list") {
    list_tokens(desk, path, given.json);
    return 0;
  }
  if (!given.name) fail(ErrorCode::invalid_argument, "say which token", "name");
  if (given.action == "make") {
    make_token(desk, path, given);
    return 0;
  }
  if (std::optional<Error> error = revoke_token(path, *given.name, now_ms()))
    throw Failure(*std::move(error));
  if (given.json) {
    std::string name;
    append_json_string(name, *given.name);
    desk.put_json(R"({"ok":true,"result":{"revoked":)" + name + "}}");
  } else {
    desk.say(*given.name);
  }
  return 0;
}

#else

[[noreturn]] int unsupported() {
  fail(ErrorCode::unsupported,
       "built without the server: install Boost (libboost1.81-dev) and build again");
}
int run_serve(Desk&, const ServeGiven&) { unsupported(); }
int run_token(Desk&, const TokenGiven&) { unsupported(); }

#endif

Run declare_serve(Arguments& arguments) {
  auto given = std::make_shared<ServeGiven>();
  declare_url(arguments, *given);
  arguments.add({"--listen", &given->listen,
                 "Where; port 0 takes one that is free (default: 127.0.0.1:8777)", "ADDRESS:PORT"});
  arguments.add({"--tokens", &given->tokens,
                 "Tokens of clients (default: the file of undertext token, if it exists)", "FILE"});
  arguments.add({"--host", &given->hosts, "An additional host name; may be repeated", "NAME"});
  arguments.add({"--tls-certificate", &given->certificate,
                 "Serve HTTPS, with this certificate and its chain (PEM)", "FILE"});
  arguments.add({"--tls-key", &given->key, "and this key", "FILE"});
  arguments.add({"--threads", &given->threads, "Requests that run at once (default: 64)", "N"});
  arguments.add({"--rate", &given->rate, "Requests a second of one token (default: 2000)", "N"});
  arguments.add({"--memory", &given->memory,
                 "Memory for bodies and answers together (default: 512 MiB)", "MIB"});
  arguments.add({"--answer", &given->answer, "The size of one answer (default: 64 MiB)", "MIB"});
  arguments.add({"--cache", &given->cache,
                 "Memory for open conversations together (default: 512 MiB)", "MIB"});
  arguments.add(
      {"--made", &given->made,
       "What the operations of one request may make, such as copies of TRANSFORM; default 32 MiB",
       "MIB"});
  declare_quota(arguments, given->quota);
  arguments.add(
      {"--drain-seconds", &given->drain,
       "How long it drains before it ends: GET /readyz is 503, and everything is answered",
       "SECONDS"});
  arguments.add({"--request-seconds", &given->seconds,
                 "The time of one request in seconds; default 60", "N"});
  declare_connections(arguments, given->connections, "half of them");
  arguments.add({"--gateway", &given->gateway,
                 "Also run a gateway, on this port: see undertext gateway", "ADDRESS:PORT"});
  declare_upstreams(arguments, given->upstreams);
  arguments.add({"--quiet", &given->quiet, "No line on standard error for each request"});
  arguments.add(
      {"--core-dumps", &given->core_dumps, "Leave core dumps on; they have messages in them"});
  arguments.add({"--docs", &given->docs,
                 "Serve the manual at /docs/: the folder that scripts/site made", "FOLDER"});
  return [given](Desk& desk) { return run_serve(desk, *given); };
}

Run declare_token(Arguments& arguments) {
  auto given = std::make_shared<TokenGiven>();
  arguments.add({.names = "ACTION",
                 .to = &given->action,
                 .help = "make, list or revoke",
                 .required = true,
                 .choices = {"make", "list", "revoke"}});
  arguments.add({"NAME", &given->name, "Its name, for logs: 1 to 64 of A-Z a-z 0-9 _ -"});
  arguments.add({"--tenant", &given->tenant,
                 "The tenant whose conversations it sees: 1 to 64 of A-Z a-z 0-9 _ -", "TENANT"});
  arguments.add({"--rights", &given->rights,
                 "Its rights: read, write, metrics, operate, separated by commas", "RIGHTS"});
  arguments.add({"--expires", &given->days, "Days until it expires (default: never)", "DAYS"});
  arguments.add({"--tokens", &given->tokens,
                 "The file (default: \"tokens\" beside the user's store)", "FILE"});
  arguments.add({"--json", &given->json, "Answer in JSON, errors too"});
  return [given](Desk& desk) { return run_token(desk, *given); };
}

}  // namespace

std::vector<Command> serve_commands() {
  return {
      {"serve", "Serve conversations over HTTP, with the inspector", serve_help, declare_serve},
      {"token", "Make, list and revoke tokens for the server", token_help, declare_token},
  };
}

}  // namespace undertext
