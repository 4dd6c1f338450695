// What a process that serves sets up once, and how it is told to stop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "server/log.hpp"
#include "system/signals.hpp"

namespace undertext {

struct ServingProcess {
  std::uint32_t connections_max = 4096;
  bool core_dumps = false;  // else off: they would hold messages
};

// Files for their owner alone, enough of them, few heaps; SIGINT and SIGTERM are blocked for this
// thread and those that it starts from now on. Returns these two.
sigset_t set_up_process(const ServingProcess& process);
void wait_for(const sigset_t& signals);  // the second time, they end the process at once

// Ends the process where stopping takes too long, such as for a disk that does not answer. What was
// acknowledged is stored.
class StopGuard {
 public:
  explicit StopGuard(const ServerLog& log) : thread_([this, &log] { watch(log); }) {}
  ~StopGuard();

 private:
  void watch(const ServerLog& log);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace undertext
