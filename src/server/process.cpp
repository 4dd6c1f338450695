#include "server/process.hpp"

#include <algorithm>
#include <chrono>

#include "system/memory.hpp"
#include "system/process.hpp"

namespace undertext {
namespace {

// Whoever stops services mostly kills them after 10 s.
constexpr std::chrono::seconds stop_time_max{9};

// Every connection is a file. Many systems let a process have 1024 unless it asks for more.
std::uint64_t files_for(std::uint32_t connections) {
  return std::max<std::uint64_t>(16'384, std::uint64_t{connections} + 1024);
}

}  // namespace

sigset_t set_up_process(const ServingProcess& process) {
  make_files_private();
  if (!process.core_dumps) forbid_core_dumps();
  allow_files(files_for(process.connections_max));
  keep_heaps_few();
  ignore_broken_pipes();
  return block_signals({SIGINT, SIGTERM});
}

void wait_for(const sigset_t& signals) {
  await_any(signals);
  unblock(signals);
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
  end_at_once(1);
}

}  // namespace undertext
