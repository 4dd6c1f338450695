// Where the code that runs lies.
#pragma once

#include <filesystem>

namespace undertext {

// The file that holds `code`, a function of it: a shared library, or the program. Empty when nobody
// can tell.
std::filesystem::path file_of_code(const void* code);

}  // namespace undertext
