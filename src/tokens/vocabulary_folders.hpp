// Where vocabularies lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace undertext {

inline constexpr std::string_view vocabulary_suffix = ".vocabulary";

// In the order of search: the folder that the environment names, if it names one, and no other;
// else those beside the library, or beside the program it is linked into. Nothing here is known
// before the program runs, so an installed tree may be moved.
std::vector<std::string> vocabulary_folders();

}  // namespace undertext
