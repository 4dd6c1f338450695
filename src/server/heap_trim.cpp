#include "server/heap_trim.hpp"

#include <chrono>

#include "system/memory.hpp"

namespace undertext {
namespace {

constexpr std::chrono::seconds between_looks{2};
constexpr std::uint64_t growth_worth_trimming = std::uint64_t{16} << 20;  // since the last time

}  // namespace

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
    give_back_free_memory();
    least = resident_bytes();
  }
}

}  // namespace undertext
