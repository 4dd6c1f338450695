// The file system that a folder is on.
#pragma once

#include <cstdint>
#include <string>

namespace undertext {

struct FileSystem {
  std::uint32_t magic = 0;  // of statfs(), on Linux
  // such as "fuse.sshfs" or "smbfs"; on Linux only for FUSE, of which statfs() says no more
  std::string kind;
};

// Nothing in it: the system does not say.
FileSystem file_system_of(const std::string& folder);

}  // namespace undertext
