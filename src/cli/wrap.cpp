#if UNDERTEXT_HAVE_SERVER

#  include "cli/wrap.hpp"

#  include <cerrno>
#  include <cstdlib>
#  include <cstring>
#  include <filesystem>
#  include <map>
#  include <utility>

#  include <fcntl.h>
#  include <signal.h>
#  include <sys/wait.h>
#  include <unistd.h>

#  include "server/tokens.hpp"
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

// A base URL that a variable of a client holds, and what the client is to be given instead. Where the variable is set, that is where the gateway sends to.
struct ClientUrl {
  const char* upstream;
  const char* variable;
  std::string_view path;  // that the provider's public base URL has, and clients expect
};
constexpr ClientUrl client_urls[] = {
    {"anthropic", "ANTHROPIC_BASE_URL", ""}, {"openai", "OPENAI_BASE_URL", "/v1"}, {"gemini", "GOOGLE_GEMINI_BASE_URL", ""}};

std::string base_url(const ClientUrl& client, const std::string& gateway) {
  const bool is_set = !variable_or(client.variable, "").empty();
  return gateway + "/" + client.upstream + (is_set ? "" : std::string(client.path));
}

void take_upstreams(UpstreamSettings& upstreams) {
  for (const ClientUrl& client : client_urls)
    if (const std::string url = variable_or(client.variable, ""); !url.empty())
      upstreams.urls.emplace(client.upstream, without_slashes(url));
}

std::string name_of(const std::string& command) { return std::filesystem::path(command).filename().string(); }

// In the child, once the gateway listens.
void set_environment(const std::string& gateway) {
  for (const ClientUrl& client : client_urls) {
    const std::string url = base_url(client, gateway);
    ::setenv(client.variable, url.c_str(), 1);
    if (std::string_view(client.upstream) == "openai") ::setenv("OPENAI_API_BASE", url.c_str(), 1);
  }
  // Claude Code leaves tools out where it does not know the host.
  ::setenv("ENABLE_TOOL_SEARCH", "true", 0);
  for (const char* const name : {"no_proxy", "NO_PROXY"}) {
    const std::string hosts = variable_or(name, "");
    ::setenv(name, (hosts.empty() ? "127.0.0.1" : hosts + ",127.0.0.1").c_str(), 1);
  }
}

std::vector<std::string> command_line(std::vector<std::string> command, const std::string& gateway) {
  if (name_of(command[0]) != "codex") return command;
  // It reads no variable.
  command.insert(command.begin() + 1, {"-c", "openai_base_url=\"" + base_url(client_urls[1], gateway) + "\""});
  return command;
}

[[noreturn]] void run_command_line(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const std::string message = "undertext: " + printable(command[0]) + ": " + std::strerror(errno) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(errno == ENOENT ? 127 : 126);
}

// The client's process: made before any thread, so that it has the signals, limits and mask of the shell. Runs the command once it is told where the gateway is.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command) {
    int ends[2];
    if (::pipe(ends) != 0) fail(ErrorCode::unavailable, std::string("no pipe: ") + std::strerror(errno));
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    process_ = ::fork();
    if (process_ < 0) fail(ErrorCode::unavailable, std::string("no process: ") + std::strerror(errno));
    if (process_ == 0) {
      ::close(ends[1]);
      wait_and_run(command, ends[0]);
    }
    ::close(ends[0]);
    start_ = ends[1];
  }
  ~Child() {
    close_start();
    if (process_ > 0) ::waitpid(process_, nullptr, 0);  // it was never told: it has ended
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void start(const std::string& gateway) {
    [[maybe_unused]] const ssize_t written = ::write(start_, gateway.data(), gateway.size());
    close_start();
  }

  void send(int signal) const { ::kill(process_, signal); }

  // The exit status, once it has ended.
  std::optional<int> ended() {
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
    process_ = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  [[noreturn]] static void wait_and_run(const std::vector<std::string>& command, int from) {
    std::string gateway;
    char bytes[256];
    for (ssize_t size = 0; (size = ::read(from, bytes, sizeof bytes)) != 0;)
      if (size > 0)
        gateway.append(bytes, static_cast<std::size_t>(size));
      else if (errno != EINTR)
        break;
    if (gateway.empty()) ::_exit(1);  // there is none
    // In this order: what is set says how a base URL looks.
    const std::vector<std::string> line = command_line(command, gateway);
    set_environment(gateway);
    run_command_line(line);
  }
  void close_start() {
    if (start_ >= 0) ::close(std::exchange(start_, -1));
  }

  pid_t process_ = 0;
  int start_ = -1;
};

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

sigset_t wrap_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, signal);
  return signals;
}

// A token for the inspector that lives as long as this process.
class OneToken {
 public:
  OneToken() {
    std::string folder = (std::filesystem::temp_directory_path() / "undertext-wrap-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr)
      fail(ErrorCode::unavailable, "no folder for a token: " + std::string(std::strerror(errno)));
    folder_ = folder;
    Token token{.name = "wrap", .digest = {}, .tenant = "default", .rights = {true, true, true}, .made_ms = now_ms()};
    secret_ = make_token(file(), std::move(token)).value();
  }
  ~OneToken() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  OneToken(const OneToken&) = delete;
  OneToken& operator=(const OneToken&) = delete;

  std::string file() const { return (folder_ / "tokens").string(); }
  const std::string& secret() const { return secret_; }

 private:
  std::filesystem::path folder_;
  std::string secret_;
};

// The terminal is the command's: what the server logs goes to a file beside the user's store.
int open_log() {
  const std::optional<std::string> tokens = default_tokens_file();
  if (!tokens) return ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  make_folders_above(*tokens);
  const std::string path = (std::filesystem::path(*tokens).parent_path() / "wrap.log").string();
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

}  // namespace

int wrap(Desk& desk, Wrapping wrapping) {
  ServeOptions& serve_options = wrapping.serve;
  take_upstreams(serve_options.gateway->upstreams);
  const OneToken token;
  Child child(wrapping.command);
  const sigset_t signals = wrap_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  serve_options.port = 0;
  serve_options.gateway->port = 0;
  serve_options.gateway->takes_tokens = false;  // clients have the provider's
  serve_options.tokens_file = token.file();
  serve_options.log_descriptor = open_log();
  int status = 1;
  serve_options.on_listening = [&](const std::string& url, const std::string& gateway) {
    desk.note("gateway " + gateway + ", store " + serve_options.store->name());
    desk.note("look inside: " + url + "/#token=" + token.secret());
    child.start(gateway);
  };
  serve_options.until = [&] { status = wait_for_end(child, signals); };
  std::optional<Error> error = serve(serve_options);
  if (serve_options.log_descriptor >= 0) ::close(serve_options.log_descriptor);
  if (error) throw Failure(*std::move(error));
  return status;
}

}  // namespace undertext

#endif
