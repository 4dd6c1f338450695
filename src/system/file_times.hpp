// When a file was changed.
#pragma once

#include <cstdint>

#include <sys/stat.h>

namespace undertext {

// Its contents or its properties, in nanoseconds since 1970.
inline std::int64_t changed_ns(const struct stat& status) {
#ifdef __APPLE__
  const timespec& changed = status.st_ctimespec;
#else
  const timespec& changed = status.st_ctim;
#endif
  return changed.tv_sec * std::int64_t{1'000'000'000} + changed.tv_nsec;
}

}  // namespace undertext
