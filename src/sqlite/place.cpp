#include "sqlite/place.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file_system.hpp"

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

std::string network_of(const std::string& folder) {
  const FileSystem found = file_system_of(folder);  // where it cannot be told, opening will tell why
  return found.kind.empty() ? network_of_magic(found.magic) : network_of_mount(found.kind);
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

std::optional<Error> refuse_missing_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  if (file_exists(folder)) return std::nullopt;
  return Error{ErrorCode::not_found, "there is no folder " + folder + ": make it, or mend the path of the store", "url"};
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
  for (const char* far : {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.gcsfuse", "fuse.davfs2", "nfs", "smbfs",
                          "afpfs", "webdav"})
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
