#include "system/file_system.hpp"

#include <fstream>
#include <sstream>

#include <sys/stat.h>
#ifdef __APPLE__
#  include <sys/mount.h>
#  include <sys/param.h>
#else
#  include <sys/statfs.h>
#  include <sys/sysmacros.h>
#endif

namespace undertext {

#ifdef __APPLE__

FileSystem file_system_of(const std::string& folder) {
  struct statfs about;
  if (::statfs(folder.c_str(), &about) != 0) return {};
  return {.magic = 0, .kind = static_cast<const char*>(about.f_fstypename)};
}

#else

namespace {

// By the table of mounts.
std::string mount_kind(const std::string& folder) {
  struct stat wanted;
  if (::stat(folder.c_str(), &wanted) != 0) return {};
  const std::string wanted_device =
      std::to_string(major(wanted.st_dev)) + ":" + std::to_string(minor(wanted.st_dev));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    // Such as `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`.
    std::istringstream words(line);
    std::string word, device, kind;
    words >> word >> word >> device;
    while (words >> word && word != "-") {
    }
    words >> kind;
    if (device == wanted_device) return kind;
  }
  return {};
}

}  // namespace

FileSystem file_system_of(const std::string& folder) {
  struct statfs about;
  if (::statfs(folder.c_str(), &about) != 0) return {};
  constexpr std::uint32_t fuse = 0x65735546;
  const auto magic = static_cast<std::uint32_t>(about.f_type);
  return {.magic = magic, .kind = magic == fuse ? mount_kind(folder) : std::string()};
}

#endif

}  // namespace undertext
