// A file's bytes in memory, for reading only, shared with every process that maps it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <undertext/error.hpp>

namespace undertext {

struct MappedFile {
  std::string_view bytes;             // begins at a page
  std::shared_ptr<const void> owner;  // unmaps when the last copy goes
};

// not_found: no such file, or one that may not be read. A file that is cut short while it is mapped
// stops the program that reads it, so whoever replaces such files renames new ones over them.
Result<MappedFile> map_file(const std::string& path);

}  // namespace undertext
