// Texts that clients make, recognised by how they begin.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

inline bool begins_with_one_of(std::string_view text, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return text.starts_with(beginning); });
}

}  // namespace undertext
