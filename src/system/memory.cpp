#include "system/memory.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#ifdef __APPLE__
#  include <mach/mach.h>
#  include <malloc/malloc.h>
#else
#  include <malloc.h>
#  include <unistd.h>
#endif

namespace undertext {

#ifdef __APPLE__

std::uint64_t resident_bytes() {
  mach_task_basic_info info = {};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  const auto into = reinterpret_cast<task_info_t>(&info);
  if (::task_info(::mach_task_self(), MACH_TASK_BASIC_INFO, into, &count) != KERN_SUCCESS) return 0;
  return info.resident_size;
}

void keep_heaps_few() {}

void give_back_free_memory() { ::malloc_zone_pressure_relief(nullptr, 0); }

#else

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (!(statm >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void keep_heaps_few() {
#  ifdef M_ARENA_MAX
  // glibc gives threads eight heaps for each core, and what is free in one is of no use to the
  // others.
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::max(2u, std::thread::hardware_concurrency())));
#  endif
#  ifdef M_MMAP_THRESHOLD
  // Else glibc raises it up to 32 MiB once such a block was freed, and keeps what follows.
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
#  endif
}

void give_back_free_memory() {
#  ifdef __GLIBC__
  ::malloc_trim(0);
#  endif
}

#endif

}  // namespace undertext
