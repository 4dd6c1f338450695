#include "sqlite/place.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace undertext {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error unavailable(const std::string& what) { return {ErrorCode::unavailable, what + ": " + std::strerror(errno)}; }

std::optional<Error> sync(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return unavailable(path + " cannot be opened");
  const int failed = ::fsync(file);
  const int why = errno;
  ::close(file);
  errno = why;
  // Some file systems do not know how to sync a folder, and need not.
  if (failed != 0 && errno != EINVAL) return unavailable(path + " cannot be written to disk");
  return std::nullopt;
}

// Of linux/magic.h and the file systems' own sources.
struct Network {
  std::uint32_t magic;
  const char* name;
};
constexpr Network networks[] = {
    {0x6969, "NFS"},    {0x517b, "SMB"},      {0xff534d42, "CIFS"},  {0xfe534d42, "SMB2"},
    {0x01021997, "9P"}, {0x5346414f, "AFS"},  {0x00c36400, "Ceph"},  {0x0bd00bd0, "Lustre"},
    {0x564c, "NCP"},    {0x73757245, "Coda"}, {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},
};
constexpr std::uint32_t fuse_magic = 0x65735546;

// The kind of the mount a folder is on, such as "fuse.sshfs": statfs() says only that it is FUSE.
std::string mount_kind(const std::string& folder) {
  struct stat wanted;
  if (::stat(folder.c_str(), &wanted) != 0) return {};
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word, device, kind;
    words >> word >> word >> device;
    while (words >> word && word != "-") {
    }
    words >> kind;
    std::ostringstream ours;
    ours << (wanted.st_dev >> 8 & 0xfff) << ':' << ((wanted.st_dev & 0xff) | (wanted.st_dev >> 12 & 0xfff00));
    if (device == ours.str()) return kind;
  }
  return {};
}

}  // namespace

Result<std::string> plain_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return Error{ErrorCode::invalid_argument, "sqlite: is followed by the path of a file", "url"};
  return path.front() == '/' ? std::string(path) : "./" + std::string(path);
}

bool file_exists(const std::string& path) {
  struct stat ignored;
  return ::stat(path.c_str(), &ignored) == 0;
}

std::optional<Error> make_folder_of(const std::string& path) {
  std::string missing = folder_of(path);
  std::vector<std::string> folders;
  while (!file_exists(missing) && missing.find('/') != std::string::npos && missing != "/") {
    folders.push_back(missing);
    missing = folder_of(missing);
  }
  std::reverse(folders.begin(), folders.end());
  for (const std::string& folder : folders) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return unavailable("the folder " + folder + " cannot be made");
    if (auto error = sync_folder_of(folder)) return error;
  }
  return std::nullopt;
}

std::optional<Error> sync_file(const std::string& path) { return sync(path, O_RDONLY); }

std::optional<Error> sync_folder_of(const std::string& path) { return sync(folder_of(path), O_RDONLY | O_DIRECTORY); }

std::optional<Error> refuse_network_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  struct statfs about;
  if (::statfs(folder.c_str(), &about) != 0) return std::nullopt;  // opening will tell why
  const auto magic = static_cast<std::uint32_t>(about.f_type);
  std::string name;
  for (const Network& network : networks)
    if (magic == network.magic) name = network.name;
  if (magic == fuse_magic) {
    const std::string kind = mount_kind(folder);
    for (const char* far : {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.gcsfuse", "fuse.davfs2"})
      if (kind == far) name = kind;
  }
  if (name.empty()) return std::nullopt;
  return Error{ErrorCode::unsupported, path + " is on a network file system (" + name +
                                           "), where SQLite cannot keep it safe: use a local disk, or a postgres: store"};
}

std::optional<Error> give_name(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST) return Error{ErrorCode::invalid_argument, to + " is there already", "path"};
    return unavailable(to + " cannot be made");
  }
  remove_file(from);
  return sync_folder_of(to);
}

void remove_file(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace undertext
