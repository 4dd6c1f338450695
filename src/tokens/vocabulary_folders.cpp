#include "tokens/vocabulary_folders.hpp"

#include <cstdlib>
#include <filesystem>

#include "system/program_file.hpp"

namespace undertext {

std::vector<std::string> vocabulary_folders() {
  if (const char* folder = std::getenv("UNDERTEXT_VOCABULARIES");
      folder != nullptr && *folder != '\0')
    return {folder};
  const std::filesystem::path folder =
      file_of_code(reinterpret_cast<const void*>(&vocabulary_folders)).parent_path();
  if (folder.empty()) return {};
  return {// a build folder
          (folder / "vocabularies").string(),
          (folder.parent_path() / "share/undertext/vocabularies").string(),  // bin, lib
          // lib/x86_64-linux-gnu
          (folder.parent_path().parent_path() / "share/undertext/vocabularies").string()};
}

}  // namespace undertext
