// gateway, wrap, detach: traffic between clients and providers, passed on and kept.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/listening.hpp"
#if UNDERTEXT_HAVE_SERVER
#  include "cli/wrap.hpp"
#  include "server/detach.hpp"
#  include "server/gateway_serving.hpp"
#endif

namespace undertext {
namespace {

constexpr std::string_view gateway_help =
    R"(Point a client's base URL at it: http://127.0.0.1:8788/anthropic, http://127.0.0.1:8788/openai/v1,
http://127.0.0.1:8788/gemini. Requests and answers are forwarded unchanged, as they arrive.

Without tokens it listens on loopback only. With tokens (undertext token make) clients send one as their API key, and --key-env
names the keys that providers get instead. Keys are never stored and never logged. On SIGINT and SIGTERM it waits for running
answers, at most 6 s.)";

constexpr std::string_view wrap_help =
    R"(  undertext wrap claude [ARGUMENT...]
  undertext wrap codex [ARGUMENT...]
  undertext wrap COMMAND [ARGUMENT...]

Starts a gateway, and runs the command with its base URLs pointed at it: ANTHROPIC_BASE_URL, OPENAI_BASE_URL and
GOOGLE_GEMINI_BASE_URL of that process, or an option of codex. Its configuration is not changed. Base URLs that are set already
become the upstreams of the gateway. The exit status is the command's.)";

constexpr std::string_view detach_help =
    R"(SESSION is a file of JSON, or the id of a session of Codex or Claude Code. Its compaction items that a gateway made
("compaction":"pointer") become messages with their summaries, so that the session works without the gateway. The previous file
is kept with the suffix .before-detach.)";

struct DetachGiven : Common {
  std::string session;
  std::optional<std::string> compaction_key_env;
};

struct GatewayGiven : Common {
  std::optional<std::string> place;
  std::string listen = "127.0.0.1:8788";
  std::optional<std::string> tokens, certificate, key, metrics;
  std::vector<std::string> hosts;
  std::uint64_t memory = 512;
  ConnectionsGiven connections;
  bool quiet = false, core_dumps = false;
  UpstreamsGiven upstreams;
  QuotaGiven quota;
};

struct WrapGiven : Common {
  std::vector<std::string> command;
  UpstreamsGiven upstreams;
};

#if UNDERTEXT_HAVE_SERVER

// What a client gets in place of its list means nothing to its provider.
void tell_of_pointers(const Desk& desk, const GatewayPolicies& policies) {
  if (policies.answers_compactions())
    desk.note(
        "compaction: pointer: a session that is compacted here needs Undertext; before removing "
        "it: undertext detach SESSION");
}

int run_gateway(Desk& desk, GatewayGiven& given) {
  if (given.place) given.store = given.place;
  GatewayServing serving;
  const ListenAddress listen = read_listen(given.listen, {serving.address, serving.port});
  serving.address = listen.address;
  serving.port = listen.port;
  serving.hosts = given.hosts;
  if (given.certificate.has_value() != given.key.has_value())
    fail(ErrorCode::invalid_argument, "--tls-certificate and --tls-key go together", "tlsKey");
  if (given.certificate) serving.tls = http::Tls{*given.certificate, *given.key};
  if (given.memory < 1 || given.memory > 1 << 20)
    fail(ErrorCode::invalid_argument, "sizes are 1 to 1048576 MiB", "memory");
  serving.memory_bytes = given.memory << 20;
  const ConnectionLimits connections = read_connections(given.connections);
  serving.connections_max = connections.most;
  serving.connections_per_address_max = connections.per_address;
  serving.tokens_file = tokens_meant(given.tokens);
  serving.log_requests = !given.quiet;
  serving.core_dumps = given.core_dumps;
  read_upstreams(given.upstreams, serving);
  serving.quota = read_quota(given.quota);
  if (serving.record != RecordLevel::none || !serving.record_by_tenant.empty())
    serving.store = store_of_gateway(desk, given, 8);
  serving.secret = secret_of_gateway(desk);
  tell_of_pointers(desk, serving.policies);
  if (given.metrics) {
    const ListenAddress at = read_listen(*given.metrics, {"127.0.0.1", 8789});
    serving.numbers = {at.address, at.port};
  }
  serving.on_listening = [&](const std::string& url, const std::string& numbers) {
    const std::string who = serving.tokens_file ? "tokens: " + *serving.tokens_file
                                                : std::string("no tokens: this machine only");
    desk.say("gateway: " + url + "  (" + who + ")");
    if (!numbers.empty()) desk.say("metrics: " + numbers);
    desk.finish();
  };
  if (std::optional<Error> error = serve_gateway(serving)) throw Failure(*std::move(error));
  return 0;
}

int run_wrap(Desk& desk, const WrapGiven& given) {
  if (given.command.empty())
    fail(ErrorCode::invalid_argument, "say what to run, such as claude or codex", "command");
  Wrapping wrapping{.command = given.command, .serve = {}};
  wrapping.serve.store = store_of_gateway(desk, given, 8);
  wrapping.serve.gateway.emplace();
  read_upstreams(given.upstreams, *wrapping.serve.gateway);
  wrapping.serve.gateway->secret = secret_of_gateway(desk);
  wrapping.serve.gateway->one_user = true;
  wrapping.serve.gateway->project = current_folder();
  tell_of_pointers(desk, wrapping.serve.gateway->policies);
  return wrap(desk, std::move(wrapping));
}

// Where clients keep their sessions.
std::vector<std::filesystem::path> session_folders() {
  std::vector<std::filesystem::path> folders;
  const auto add = [&](const char* variable, const char* folder, const char* inside) {
    const char* const home = std::getenv("HOME");
    if (const char* const given = std::getenv(variable); given != nullptr && *given != '\0')
      folders.push_back(std::filesystem::path(given) / inside);
    else if (home != nullptr)
      folders.push_back(std::filesystem::path(home) / folder / inside);
  };
  add("CODEX_HOME", ".codex", "sessions");
  add("CLAUDE_CONFIG_DIR", ".claude", "projects");
  return folders;
}

// The session's file. Throws Failure: not_found; invalid_argument: several have this id.
std::filesystem::path find_session(const std::string& session) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(session, ignored)) return session;
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& folder : session_folders())
    for (std::filesystem::recursive_directory_iterator each(folder, ignored), end; each != end;
         each.increment(ignored))
      if (each->path().extension() == ".jsonl" && each->path().stem().string().ends_with(session))
        found.push_back(each->path());
  if (found.empty())
    fail(ErrorCode::not_found, "there is no session " + session + ": give its file", "session");
  if (found.size() > 1)
    fail(ErrorCode::invalid_argument, "several sessions end with " + session + ": give a file",
         "session");
  return found.front();
}

int run_detach(Desk& desk, const DetachGiven& given) {
  const std::filesystem::path path = find_session(given.session);
  const std::string key = compaction_key(
      given.compaction_key_env ? read_key_variable(*given.compaction_key_env) : std::string(),
      installation_secret());
  const Detached detached = undertext::detached(read_whole(path.string()), CompactionSeal(key));
  if (detached.unopened > 0)
    fail(ErrorCode::invalid_argument,
         std::to_string(detached.unopened) + " items of " + path.string() +
             " were sealed with another key: see --compaction-key-env",
         "session");
  if (detached.unread > 0)
    fail(ErrorCode::invalid_argument,
         path.string() +
             " has items of a gateway and is no JSON: write the session's items to a file, as a "
             "JSON list",
         "session");
  if (detached.items > 0) {
    const std::string written = path.string() + ".unfinished";
    std::ofstream out(written, std::ios::binary | std::ios::trunc);
    out << detached.text;
    out.close();
    if (!out) fail(ErrorCode::unavailable, written + " cannot be written");
    std::filesystem::permissions(written, std::filesystem::status(path).permissions());
    // The client finds one of the two under its name at any time.
    std::filesystem::copy_file(path, path.string() + ".before-detach",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(written, path);
  }
  desk.say(path.string() + ": " + std::to_string(detached.items) +
           (detached.items == 1 ? " item" : " items") + " replaced");
  desk.finish();
  return 0;
}

#else

[[noreturn]] int no_gateway() {
  fail(ErrorCode::unsupported,
       "built without the server: install Boost (libboost1.81-dev) and build again");
}
int run_gateway(Desk&, const GatewayGiven&) { no_gateway(); }
int run_wrap(Desk&, const WrapGiven&) { no_gateway(); }
int run_detach(Desk&, const DetachGiven&) { no_gateway(); }

#endif

Run declare_gateway(Arguments& arguments) {
  auto given = std::make_shared<GatewayGiven>();
  arguments.add({"STORE", &given->place, "Where exchanges are recorded, as of --store"});
  declare_url(arguments, *given);
  arguments.add({"--listen", &given->listen,
                 "The address; port 0: any free one. Default 127.0.0.1:8788", "ADDRESS:PORT"});
  declare_upstreams(arguments, given->upstreams);
  arguments.add({"--tokens", &given->tokens,
                 "Tokens of clients; default: the file of undertext token, if it exists", "FILE"});
  arguments.add({"--host", &given->hosts, "An additional host name; may be repeated", "NAME"});
  arguments.add({"--tls-certificate", &given->certificate,
                 "Serve HTTPS, with this certificate and its chain (PEM)", "FILE"});
  arguments.add({"--tls-key", &given->key, "and this key", "FILE"});
  declare_quota(arguments, given->quota);
  arguments.add(
      {"--memory", &given->memory, "Memory for running requests together; default 512 MiB", "MIB"});
  declare_connections(arguments, given->connections, "all of them on loopback, else half");
  arguments.add({"--metrics", &given->metrics,
                 "Serve GET /metrics for Prometheus there, on loopback only", "ADDRESS:PORT"});
  arguments.add({"--quiet", &given->quiet, "No line on standard error for each request"});
  arguments.add(
      {"--core-dumps", &given->core_dumps, "Leave core dumps on; they have messages in them"});
  return [given](Desk& desk) { return run_gateway(desk, *given); };
}

Run declare_wrap(Arguments& arguments) {
  auto given = std::make_shared<WrapGiven>();
  declare_url(arguments, *given);
  declare_upstreams(arguments, given->upstreams);
  arguments.add({.names = "COMMAND",
                 .to = &given->command,
                 .help = "What to run, with its arguments",
                 .takes_rest = true});
  return [given](Desk& desk) { return run_wrap(desk, *given); };
}

Run declare_detach(Arguments& arguments) {
  auto given = std::make_shared<DetachGiven>();
  arguments.add({.names = "SESSION",
                 .to = &given->session,
                 .help = "A file, or the id of a session",
                 .required = true});
  arguments.add({"--compaction-key-env", &given->compaction_key_env,
                 "The key of the items, as of undertext gateway", "VARIABLE"});
  return [given](Desk& desk) { return run_detach(desk, *given); };
}

}  // namespace

std::vector<Command> gateway_commands() {
  return {
      {"gateway", "Forward clients' requests to providers, and record them", gateway_help,
       declare_gateway},
      {"wrap", "Run a client behind its own gateway", wrap_help, declare_wrap},
      {"detach", "Make a client's session work without the gateway", detach_help, declare_detach},
  };
}

}  // namespace undertext
