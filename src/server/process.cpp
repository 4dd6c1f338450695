#include "server/process.hpp"

#include <algorithm>
#include <chrono>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/memory.hpp"

namespace undertext {
namespace {

// Whoever stops services mostly kills them after 10 s.
constexpr std::chrono::seconds stop_time_max{9};

// Every connection is a file. Many systems let a process have 1024 unless it asks for more.
void allow_many_files(std::uint32_t connections) {
  const rlim_t enough = std::max<rlim_t>(16'384, connections + rlim_t{1024});
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough) return;
  limit.rlim_cur = std::min(limit.rlim_max, enough);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// For this thread, and for those that it starts from now on.
sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails instead, as one to a full disk does
  return signals;
}

}  // namespace

sigset_t set_up_process(const ServingProcess& process) {
  ::umask(077);
  if (!process.core_dumps) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
  }
  allow_many_files(process.connections_max);
  keep_heaps_few();
  return block_stop_signals();
}

void wait_for(const sigset_t& signals) {
  int got = 0;
  while (sigwait(&signals, &got) != 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

StopGuard::~StopGuard() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StopGuard::watch(const ServerLog& log) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, stop_time_max, [this] { return stopped_; })) return;
  log.event(ServerLog::Level::error, "stopping took too long: ended");
  ::_exit(1);
}

}  // namespace undertext
