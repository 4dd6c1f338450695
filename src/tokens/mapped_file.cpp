#include "tokens/mapped_file.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace undertext {
namespace {

Error refused(const std::string& path, int number) {
  return {.code = ErrorCode::not_found, .message = path + ": " + std::strerror(number)};
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

#ifdef MAP_POPULATE
constexpr int map_flags = MAP_PRIVATE | MAP_POPULATE;  // it is checked from end to end at once, so all of it is wanted
#else
constexpr int map_flags = MAP_PRIVATE;
#endif

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) return refused(path, errno);
  struct stat status;
  if (::fstat(file.number, &status) != 0) return refused(path, errno);
  if (!S_ISREG(status.st_mode)) return refused(path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile{};
  void* const address = ::mmap(nullptr, size, PROT_READ, map_flags, file.number, 0);
  if (address == MAP_FAILED) return refused(path, errno);
  std::shared_ptr<const void> owner(address, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return MappedFile{{static_cast<const char*>(address), size}, std::move(owner)};
}

}  // namespace undertext
