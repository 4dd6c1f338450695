#include "system/mapped_file.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include <sys/mman.h>

#include "system/files.hpp"

namespace undertext {
namespace {

Error refused(const std::string& path, int number) {
  return {.code = ErrorCode::not_found, .message = path + ": " + std::strerror(number)};
}

#ifdef MAP_POPULATE
// it is checked from end to end at once, so all of it is wanted
constexpr int map_flags = MAP_PRIVATE | MAP_POPULATE;
#else
constexpr int map_flags = MAP_PRIVATE;
#endif

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
  const OpenFile file = open_file(path, OpenFor::reading);
  if (!file) return refused(path, errno);
  const std::optional<FileStatus> status = status_of(file.descriptor());
  if (!status) return refused(path, errno);
  if (!status->is_regular) return refused(path, status->is_folder ? EISDIR : EINVAL);
  const auto size = static_cast<std::size_t>(status->size_bytes);
  if (size == 0) return MappedFile{};
  void* const address = ::mmap(nullptr, size, PROT_READ, map_flags, file.descriptor(), 0);
  if (address == MAP_FAILED) return refused(path, errno);
  std::shared_ptr<const void> owner(
      address, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return MappedFile{{static_cast<const char*>(address), size}, std::move(owner)};
}

}  // namespace undertext
