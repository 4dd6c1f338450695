#include "system/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace undertext {
namespace {

int flags_of(OpenFor purpose) {
  switch (purpose) {
    case OpenFor::reading: return O_RDONLY;
    case OpenFor::reading_itself: return O_RDONLY | O_NOFOLLOW;
    case OpenFor::changing: return O_RDWR;
    case OpenFor::making: return O_WRONLY | O_CREAT | O_EXCL;
    case OpenFor::replacing: return O_WRONLY | O_CREAT | O_TRUNC;
    case OpenFor::appending: return O_WRONLY | O_CREAT | O_APPEND;
    case OpenFor::keeping: return O_RDWR | O_CREAT;
    case OpenFor::folder: return O_RDONLY | O_DIRECTORY;
    case OpenFor::writing_nothing: return O_WRONLY;
  }
  return O_RDONLY;
}

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

#ifdef __APPLE__
const timespec& changed_at(const struct stat& status) { return status.st_ctimespec; }
const timespec& written_at(const struct stat& status) { return status.st_mtimespec; }
#else
const timespec& changed_at(const struct stat& status) { return status.st_ctim; }
const timespec& written_at(const struct stat& status) { return status.st_mtim; }
#endif

FileStatus read_status(const struct stat& status) {
  return {.is_regular = S_ISREG(status.st_mode),
          .is_folder = S_ISDIR(status.st_mode),
          .others_may_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0,
          .is_own = status.st_uid == ::geteuid() || status.st_uid == 0,
          .permissions = static_cast<std::uint32_t>(status.st_mode & 0777),
          .device = static_cast<std::uint64_t>(status.st_dev),
          .inode = status.st_ino,
          .links = status.st_nlink,
          .size_bytes = static_cast<std::uint64_t>(status.st_size),
          .changed_ns = nanoseconds(changed_at(status)),
          .written_ns = nanoseconds(written_at(status))};
}

}  // namespace

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.release();
  }
  return *this;
}

bool OpenFile::close() {
  const int descriptor = release();
  return descriptor < 0 || ::close(descriptor) == 0;
}

OpenFile open_file(const std::string& path, OpenFor purpose) {
  return OpenFile(::open(path.c_str(), flags_of(purpose) | O_CLOEXEC, 0600));
}

std::int64_t read_some(int descriptor, char* to, std::size_t bytes_max) {
  for (;;) {
    const ssize_t got = ::read(descriptor, to, bytes_max);
    if (got >= 0 || errno != EINTR) return got;
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) return false;
  }
  return true;
}

std::string read_from(int descriptor, std::uint64_t offset, std::size_t bytes_max) {
  std::string bytes(bytes_max, '\0');
  std::size_t size = 0;
  while (size < bytes_max) {
    const ssize_t got = ::pread(descriptor, bytes.data() + size, bytes_max - size,
                                static_cast<off_t>(offset + size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

OpenFile second_descriptor(int descriptor) {
  return OpenFile(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

std::FILE* stream_to(OpenFile file) {
  std::FILE* const stream = ::fdopen(file.descriptor(), "wb");
  if (stream != nullptr) file.release();
  return stream;
}

bool sync_to_disk(int descriptor) { return ::fsync(descriptor) == 0; }

bool lock_whole(int descriptor) { return ::flock(descriptor, LOCK_EX) == 0; }

bool lock_range(int descriptor, std::int64_t begin, std::int64_t bytes) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = bytes;
#ifdef F_OFD_SETLK
  return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
#else
  return ::fcntl(descriptor, F_SETLK, &lock) == 0;
#endif
}

bool begin_again(int descriptor) { return ::lseek(descriptor, 0, SEEK_SET) == 0; }
bool is_at_begin(int descriptor) { return ::lseek(descriptor, 0, SEEK_CUR) == 0; }

std::optional<FileStatus> status_of(const char* path) noexcept {
  struct stat status = {};
  if (::stat(path, &status) != 0) return std::nullopt;
  return read_status(status);
}

std::optional<FileStatus> status_of(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return read_status(status);
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool set_permissions(const std::string& path, std::uint32_t permissions) {
  return ::chmod(path.c_str(), static_cast<mode_t>(permissions)) == 0;
}

bool set_permissions(int descriptor, std::uint32_t permissions) {
  return ::fchmod(descriptor, static_cast<mode_t>(permissions)) == 0;
}

bool give_second_name(const std::string& path, const std::string& name) {
  return ::link(path.c_str(), name.c_str()) == 0;
}

bool rename_over(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

bool remove_name(const std::string& path) { return ::unlink(path.c_str()) == 0; }

bool make_private_folder(const std::string& path) { return ::mkdir(path.c_str(), 0700) == 0; }

std::string whole_path(const std::string& path) {
  char* const found = ::realpath(path.c_str(), nullptr);
  std::string whole = found == nullptr ? "" : found;
  std::free(found);
  return whole;
}

std::string make_temporary_folder(const std::string& begin) {
  std::string path = begin + "XXXXXX";
  return ::mkdtemp(path.data()) == nullptr ? std::string() : path;
}

OpenFile make_temporary_file(std::string& path, std::string_view suffix) {
  path.append("XXXXXX").append(suffix);
  return OpenFile(::mkstemps(path.data(), static_cast<int>(suffix.size())));
}

}  // namespace undertext
