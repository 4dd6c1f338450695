#include "system/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/files.hpp"

namespace undertext {
namespace {

int as_a_shell_says(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int status_at_end(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return as_a_shell_says(status);
}

[[noreturn]] void wait_and_run(const Child::Run& run, int from) {
  std::string told;
  char bytes[256];
  for (std::int64_t size = 0; (size = read_some(from, bytes, sizeof bytes)) > 0;)
    told.append(bytes, static_cast<std::size_t>(size));
  if (!told.empty()) run(told);
  end_at_once(1);
}

}  // namespace

std::int64_t process_id() { return ::getpid(); }

std::uint64_t user_id() { return ::getuid(); }

void end_at_once(int status) { ::_exit(status); }

void make_files_private() { ::umask(077); }

void forbid_core_dumps() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void allow_files(std::uint64_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void lower_priority(int steps) { ::setpriority(PRIO_PROCESS, 0, steps); }

bool fill_with_chance(unsigned char* bytes, std::size_t count) {
  return ::getentropy(bytes, count) == 0;
}

void set_variable(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

void set_missing_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 0);
}

void become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
}

int run_shell(const std::string& command, const std::string& argument) {
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), "sh", argument.c_str(),
            static_cast<char*>(nullptr));
    end_at_once(127);
  }
  return status_at_end(child);
}

bool open_in_browser(const std::string& url) {
#ifdef __APPLE__
  const char* const program = "open";
#else
  const char* const program = "xdg-open";
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp(program, program, url.c_str(), static_cast<char*>(nullptr));
    end_at_once(127);
  }
  return child > 0 && status_at_end(child) == 0;
}

Child::Child(const Run& run) {
  int ends[2];
  if (::pipe(ends) != 0) return;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  process_ = ::fork();
  if (process_ == 0) {
    ::close(ends[1]);
    wait_and_run(run, ends[0]);
  }
  const int why = errno;
  ::close(ends[0]);
  start_ = ends[1];
  errno = why;
}

Child::~Child() {
  if (start_ >= 0) ::close(start_);
  // it was never told: it has ended
  if (process_ > 0) ::waitpid(static_cast<pid_t>(process_), nullptr, 0);
}

void Child::start(const std::string& told) {
  write_all(start_, told);
  ::close(std::exchange(start_, -1));
}

void Child::send(int signal) const { ::kill(static_cast<pid_t>(process_), signal); }

std::optional<int> Child::ended() {
  int status = 0;
  if (::waitpid(static_cast<pid_t>(process_), &status, WNOHANG) != process_) return std::nullopt;
  process_ = 0;
  return as_a_shell_says(status);
}

}  // namespace undertext
