#include "system/thread_time.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include <time.h>
#include <unistd.h>

#include "system/files.hpp"

namespace undertext {
namespace {

// Linux: "<ns that the thread ran> <ns that it waited for a processor> <times it ran>". Where there
// is no such file, what it ran is all that is known.
class ScheduleFile {
 public:
  ScheduleFile() : file_(open_file("/proc/thread-self/schedstat", OpenFor::reading)) {}

  std::chrono::nanoseconds used() const {
    char text[64];
    const ssize_t size = file_ ? ::pread(file_.descriptor(), text, sizeof text, 0) : -1;
    std::int64_t ran = 0, waited = 0;
    const char* const end = text + std::max<ssize_t>(size, 0);
    const auto [space, error] = std::from_chars(text, end, ran);
    if (size > 0 && error == std::errc() && space != end &&
        std::from_chars(space + 1, end, waited).ec == std::errc())
      return std::chrono::nanoseconds(ran + waited);
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
  }

 private:
  const OpenFile file_;
};

}  // namespace

std::chrono::nanoseconds thread_time() {
  static thread_local const ScheduleFile file;
  return file.used();
}

}  // namespace undertext
