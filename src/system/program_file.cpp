#include "system/program_file.hpp"

#include <cstdint>
#include <string>
#include <system_error>

#include <dlfcn.h>
#ifdef __APPLE__
#  include <mach-o/dyld.h>
#endif

namespace undertext {
namespace {

#ifdef __APPLE__
std::filesystem::path program() {
  std::uint32_t size = 0;
  ::_NSGetExecutablePath(nullptr, &size);  // says how long it is
  std::string path(size, '\0');
  if (::_NSGetExecutablePath(path.data(), &size) != 0) return {};
  return path.c_str();
}
#else
std::filesystem::path program() { return "/proc/self/exe"; }
#endif

}  // namespace

std::filesystem::path file_of_code(const void* code) {
  Dl_info info{};
  std::error_code error;
  std::filesystem::path named;
  // A program that is linked statically knows no files.
  if (::dladdr(code, &info) != 0 && info.dli_fname != nullptr) named = info.dli_fname;
  // A program found through PATH is named without its folder.
  if (!named.has_parent_path()) named = program();
  std::filesystem::path file = std::filesystem::canonical(named, error);
  if (error) file = std::filesystem::canonical(program(), error);
  return error ? std::filesystem::path() : file;
}

}  // namespace undertext
