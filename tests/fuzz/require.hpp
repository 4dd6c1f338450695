// What a fuzz target says of every input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace undertext {

// Ends the program where it does not hold; `about` is printed then.
inline void require(bool holds, const char* what, std::string_view about = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%s\n", what, std::string(about).c_str());
  std::abort();
}

}  // namespace undertext
