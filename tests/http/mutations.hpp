// For tests: proper requests, and the same with a few bytes changed.
#pragma once

#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace undertext::http::testing {

// From the environment, so that a run can be played again.
inline unsigned seed_of_run() {
  const char* given = std::getenv("SEED");
  return given ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
}

inline std::string proper(std::mt19937& random) {
  switch (random() % 4) {
    case 0: return "GET /a?b=c HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    case 1: return "POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nsome body";
    case 2:
      return "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
             "chunked\r\n\r\n3;x=y\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nT: "
             "u\r\n\r\n";
    default:
      return "POST /d HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok";
  }
}

inline std::string mutated(std::string bytes, std::mt19937& random) {
  static constexpr std::string_view interesting("\r\n\0 \t:;,0fF-\x7f\xff\x80/#%", 19);
  for (auto edits = random() % 4; edits > 0; --edits) {
    const std::size_t at = random() % bytes.size();
    const char byte =
        random() % 2 ? interesting[random() % interesting.size()] : static_cast<char>(random());
    switch (random() % 4) {
      case 0: bytes[at] = byte; break;
      case 1: bytes.insert(at, 1, byte); break;
      case 2: bytes.erase(at, 1 + random() % 3); break;
      default: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40)); break;
    }
    if (bytes.empty()) return bytes;
  }
  return bytes;
}

}  // namespace undertext::http::testing
