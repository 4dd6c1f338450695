#include "server/heap_trim.hpp"

#include <chrono>
#include <fstream>

#include <malloc.h>
#include <unistd.h>

namespace undertext {
namespace {

constexpr std::chrono::seconds between_looks{2};
constexpr std::uint64_t growth_worth_trimming = std::uint64_t{16} << 20;  // since the last time

}  // namespace

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (!(statm >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

HeapTrim::~HeapTrim() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HeapTrim::run() {
  std::uint64_t least = resident_bytes();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, between_looks, [this] { return stopped_; })) {
    if (resident_bytes() < least + growth_worth_trimming) continue;
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
    least = resident_bytes();
  }
}

}  // namespace undertext
