#include "sqlite/place.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#  include <sys/statfs.h>
#  include <sys/sysmacros.h>
#endif

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

#ifdef __linux__

// The kind of the mount a folder is on, such as "fuse.sshfs": statfs() says only that it is FUSE.
std::string mount_kind(const std::string& folder) {
  struct stat wanted;
  if (::stat(folder.c_str(), &wanted) != 0) return {};
  const std::string wanted_device = std::to_string(major(wanted.st_dev)) + ":" + std::to_string(minor(wanted.st_dev));
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

std::string network_of(const std::string& folder) {
  struct statfs about;
  if (::statfs(folder.c_str(), &about) != 0) return {};  // opening will tell why
  constexpr std::uint32_t fuse = 0x65735546;
  const auto magic = static_cast<std::uint32_t>(about.f_type);
  return magic == fuse ? network_of_mount(mount_kind(folder)) : network_of_magic(magic);
}

#else

std::string network_of(const std::string&) { return {}; }

#endif

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

std::string network_of_magic(std::uint32_t magic) {
  switch (magic) {
    case 0x6969: return "NFS";
    case 0x517b: return "SMB";
    case 0xff534d42: return "CIFS";
    case 0xfe534d42: return "SMB2";
    case 0x01021997: return "9P";
    case 0x5346414f: return "AFS";
    case 0x00c36400: return "Ceph";
    case 0x0bd00bd0: return "Lustre";
    case 0x564c: return "NCP";
    case 0x73757245: return "Coda";
    case 0x7461636f: return "OCFS2";
    case 0x01161970: return "GFS2";
    default: return {};
  }
}

std::string network_of_mount(const std::string& kind) {
  for (const char* far : {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.gcsfuse", "fuse.davfs2"})
    if (kind == far) return kind;
  return {};
}

std::optional<Error> refuse_network_folder(const std::string& path) {
  const std::string network = network_of(folder_of(path));
  if (network.empty()) return std::nullopt;
  return Error{ErrorCode::unsupported, path + " is on a network file system (" + network +
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

std::optional<Error> replace_file(const std::string& from, const std::string& to) {
  struct stat there = {};
  const mode_t mode = ::stat(to.c_str(), &there) == 0 ? there.st_mode & 0777 : 0600;
  if (::chmod(from.c_str(), mode) != 0 || ::rename(from.c_str(), to.c_str()) != 0) return unavailable(to + " cannot be replaced");
  return std::nullopt;
}

Result<ExclusiveFile> ExclusiveFile::lock(const std::string& path) {
  constexpr off_t pending_byte = 0x40000000, lock_bytes = 512;  // pending, reserved, and 510 of those who read
  ExclusiveFile made(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (made.file_ < 0) {
    if (errno == ENOENT) return made;
    return unavailable(path + " cannot be opened");
  }
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = pending_byte;
  lock.l_len = lock_bytes;
#ifdef F_OFD_SETLK
  const int failed = ::fcntl(made.file_, F_OFD_SETLK, &lock);
#else
  const int failed = ::fcntl(made.file_, F_SETLK, &lock);
#endif
  if (failed == 0) return made;
  // It may be this process that has it open: closing the file would take away the locks of that store, so it stays open.
  made.file_ = -1;
  if (errno == EAGAIN || errno == EACCES) return Error{ErrorCode::unavailable, path + " is in use: stop what has it open first"};
  return unavailable(path + " cannot be locked");
}

ExclusiveFile::~ExclusiveFile() {
  if (file_ >= 0) ::close(file_);
}

void remove_file(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace undertext
