#include "tokens/vocabulary_folders.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <unistd.h>

namespace undertext {
namespace {

// The file this code is in: the shared library, or the program. Empty when nobody can tell.
std::filesystem::path this_file() {
  Dl_info info{};
  std::error_code error;
  std::filesystem::path named;
  if (::dladdr(reinterpret_cast<const void*>(&vocabulary_folders), &info) != 0 && info.dli_fname != nullptr) named = info.dli_fname;
  // A program found through PATH is named without its folder.
  if (!named.has_parent_path()) named = "/proc/self/exe";
  std::filesystem::path file = std::filesystem::canonical(named, error);
  if (error) file = std::filesystem::canonical("/proc/self/exe", error);
  return error ? std::filesystem::path() : file;
}

}  // namespace

std::vector<std::string> vocabulary_folders() {
  if (const char* folder = std::getenv("UNDERTEXT_VOCABULARIES"); folder != nullptr && *folder != '\0') return {folder};
  const std::filesystem::path folder = this_file().parent_path();
  if (folder.empty()) return {};
  return {
      (folder / "vocabularies").string(),                                             // a build folder
      (folder.parent_path() / "share/undertext/vocabularies").string(),               // bin, lib
      (folder.parent_path().parent_path() / "share/undertext/vocabularies").string()  // lib/x86_64-linux-gnu
  };
}

}  // namespace undertext
