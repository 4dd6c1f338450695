#if UNDERTEXT_HAVE_SERVER

#  include "cli/wrap.hpp"

#  include <cerrno>
#  include <cstdlib>
#  include <cstring>
#  include <filesystem>
#  include <map>
#  include <utility>

#  include "cli/one_token.hpp"
#  include "system/files.hpp"
#  include "system/process.hpp"
#  include "system/signals.hpp"

namespace undertext {
namespace {

std::string variable_or(const char* name, std::string otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == 0 ? std::move(otherwise) : std::string(value);
}

std::string without_slashes(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// A base URL that a variable of a client holds, and what the client is to be given instead. Where
// the variable is set, that is where the gateway sends to.
struct ClientUrl {
  const char* upstream;
  const char* variable;
  std::string_view path;  // that the provider's public base URL has, and clients expect
};
constexpr ClientUrl client_urls[] = {{"anthropic", "ANTHROPIC_BASE_URL", ""},
                                     {"openai", "OPENAI_BASE_URL", "/v1"},
                                     {"gemini", "GOOGLE_GEMINI_BASE_URL", ""}};

std::string base_url(const ClientUrl& client, const std::string& gateway) {
  const bool is_set = !variable_or(client.variable, "").empty();
  return gateway + "/" + client.upstream + (is_set ? "" : std::string(client.path));
}

bool is_codex(const std::vector<std::string>& command) {
  return std::filesystem::path(command[0]).filename() == "codex";
}

// Codex does not read the variable of its provider: what it holds is for others.
bool is_read(const ClientUrl& client, const std::vector<std::string>& command) {
  return !is_codex(command) || std::string_view(client.upstream) != "openai";
}

void take_upstreams(const std::vector<std::string>& command, UpstreamSettings& upstreams) {
  for (const ClientUrl& client : client_urls)
    if (const std::string url = variable_or(client.variable, "");
        !url.empty() && is_read(client, command))
      upstreams.urls.emplace(client.upstream, without_slashes(url));
}

// In the child, once the gateway listens.
void set_environment(const std::vector<std::string>& command, const std::string& gateway) {
  for (const ClientUrl& client : client_urls) {
    if (!is_read(client, command) && !variable_or(client.variable, "").empty()) continue;
    const std::string url = base_url(client, gateway);
    set_variable(client.variable, url);
    if (std::string_view(client.upstream) == "openai") set_variable("OPENAI_API_BASE", url);
  }
  // Claude Code leaves tools out where it does not know the host.
  set_missing_variable("ENABLE_TOOL_SEARCH", "true");
  for (const char* const name : {"no_proxy", "NO_PROXY"}) {
    const std::string hosts = variable_or(name, "");
    set_variable(name, hosts.empty() ? "127.0.0.1" : hosts + ",127.0.0.1");
  }
}

std::vector<std::string> command_line(std::vector<std::string> command,
                                      const std::string& gateway) {
  if (!is_codex(command)) return command;
  command.insert(command.begin() + 1, {"-c", "openai_base_url=\"" + gateway + "/openai/v1\""});
  return command;
}

[[noreturn]] void run_command_line(const std::vector<std::string>& command) {
  become(command);
  const int why = errno;
  write_all(standard_error,
            "undertext: " + printable(command[0]) + ": " + std::strerror(why) + "\n");
  end_at_once(why == ENOENT ? 127 : 126);
}

// In the client's process.
[[noreturn]] void run_client(const std::vector<std::string>& command, const std::string& gateway) {
  // In this order: what is set says how a base URL looks.
  const std::vector<std::string> line = command_line(command, gateway);
  set_environment(command, gateway);
  run_command_line(line);
}

// Signals are passed on, except those of the terminal, which has sent them to the command too.
int wait_for_end(Child& child, const sigset_t& signals) {
  for (;;) {
    const Signal signal = wait_for_signal(signals);
    if (signal.number == SIGCHLD || signal.number < 0) {
      if (const std::optional<int> status = child.ended()) return *status;
    } else if (!signal.is_of_terminal) {
      child.send(signal.number);
    }
  }
}

// The terminal is the command's: what the server logs goes to a file beside the user's store.
OpenFile open_log() {
  const std::optional<std::string> tokens = default_tokens_file();
  if (tokens) {
    const std::filesystem::path folder = std::filesystem::path(*tokens).parent_path();
    if (OpenFile log = open_file((folder / "wrap.log").string(), OpenFor::appending)) return log;
  }
  return open_file("/dev/null", OpenFor::writing_nothing);
}

}  // namespace

int wrap(Desk& desk, Wrapping wrapping) {
  ServeOptions& serve_options = wrapping.serve;
  take_upstreams(wrapping.command, serve_options.gateway->upstreams);
  const OneToken token("wrap");
  // Made before any thread, so that it has the signals, limits and mask of the shell.
  Child child([&](const std::string& gateway) { run_client(wrapping.command, gateway); });
  if (!child.is_made())
    fail(ErrorCode::unavailable, std::string("no process: ") + std::strerror(errno));
  const sigset_t signals = block_signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  serve_options.port = 0;
  serve_options.gateway->port = 0;
  serve_options.gateway->takes_tokens = false;  // clients have the provider's
  serve_options.tokens_file = token.file();
  const OpenFile log = open_log();
  serve_options.log_descriptor = log.descriptor();
  int status = 1;
  serve_options.on_listening = [&](const std::string& url, const std::string& gateway) {
    desk.note("gateway " + gateway + ", store " + serve_options.store->name());
    desk.note("look inside: " + url + "/#token=" + token.secret());
    child.start(gateway);
  };
  serve_options.until = [&] { status = wait_for_end(child, signals); };
  std::optional<Error> error = serve(serve_options);
  if (error) throw Failure(*std::move(error));
  return status;
}

}  // namespace undertext

#endif
