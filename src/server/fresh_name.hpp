// A name for something that lives in this process: a background job, a request that failed.
#pragma once

#include <random>
#include <string>

namespace undertext {

// 16 hexadecimal digits that nobody can guess.
inline std::string fresh_name() {
  std::random_device chance;
  std::string name;
  for (int i = 0; i < 16; ++i) name += "0123456789abcdef"[chance() % 16];
  return name;
}

}  // namespace undertext
