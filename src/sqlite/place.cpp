#include "sqlite/place.hpp"

#include <cerrno>
#include <cstring>

#include "system/file_system.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error unavailable(const std::string& what) {
  return {ErrorCode::unavailable, what + ": " + std::strerror(errno)};
}

std::optional<Error> sync(const std::string& path, OpenFor purpose) {
  const OpenFile file = open_file(path, purpose);
  if (!file) return unavailable(path + " cannot be opened");
  // Some file systems do not know how to sync a folder, and need not.
  if (!sync_to_disk(file.descriptor()) && errno != EINVAL)
    return unavailable(path + " cannot be written to disk");
  return std::nullopt;
}

std::string network_of(const std::string& folder) {
  // where it cannot be told, opening will tell why
  const FileSystem found = file_system_of(folder);
  return found.kind.empty() ? network_of_magic(found.magic) : network_of_mount(found.kind);
}

}  // namespace

Result<std::string> plain_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return Error{ErrorCode::invalid_argument, "sqlite: is followed by the path of a file", "url"};
  return path.front() == '/' ? std::string(path) : "./" + std::string(path);
}

std::string followed(const std::string& path) {
  std::string whole = whole_path(path);
  return whole.empty() ? path : whole;
}

bool file_exists(const std::string& path) { return status_of(path).has_value(); }

std::optional<Error> refuse_missing_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  if (file_exists(folder)) return std::nullopt;
  return Error{ErrorCode::not_found,
               "there is no folder " + folder + ": make it, or mend the path of the store", "url"};
}

std::optional<Error> sync_file(const std::string& path) { return sync(path, OpenFor::reading); }

std::optional<Error> sync_folder_of(const std::string& path) {
  return sync(folder_of(path), OpenFor::folder);
}

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
  for (const char* far : {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs",
                          "fuse.gcsfuse", "fuse.davfs2", "nfs", "smbfs", "afpfs", "webdav"})
    if (kind == far) return kind;
  return {};
}

std::optional<Error> refuse_network_folder(const std::string& path) {
  const std::string network = network_of(folder_of(path));
  if (network.empty()) return std::nullopt;
  return Error{ErrorCode::unsupported,
               path + " is on a network file system (" + network +
                   "), where SQLite cannot keep it safe: use a local disk, or a postgres: store"};
}

std::optional<Error> give_name(const std::string& from, const std::string& to) {
  if (!give_second_name(from, to)) {
    if (errno == EEXIST)
      return Error{ErrorCode::invalid_argument, to + " is there already", "path"};
    return unavailable(to + " cannot be made");
  }
  remove_file(from);
  return sync_folder_of(to);
}

std::optional<Error> replace_file(const std::string& from, const std::string& to) {
  const std::optional<FileStatus> there = status_of(to);
  if (!set_permissions(from, there ? there->permissions : 0600) || !rename_over(from, to))
    return unavailable(to + " cannot be replaced");
  return std::nullopt;
}

Result<ExclusiveFile> ExclusiveFile::lock(const std::string& path) {
  constexpr std::int64_t pending_byte = 0x40000000,
                         lock_bytes = 512;  // pending, reserved, and 510 of those who read
  ExclusiveFile made(open_file(path, OpenFor::changing));
  if (!made.file_) {
    if (errno == ENOENT) return made;
    return unavailable(path + " cannot be opened");
  }
  if (lock_range(made.file_.descriptor(), pending_byte, lock_bytes)) return made;
  // It may be this process that has it open: closing the file would take away the locks of that
  // store, so it stays open.
  made.file_.release();
  if (errno == EAGAIN || errno == EACCES)
    return Error{ErrorCode::unavailable, path + " is in use: stop what has it open first"};
  return unavailable(path + " cannot be locked");
}

void remove_file(const std::string& path) { remove_name(path); }

}  // namespace undertext
