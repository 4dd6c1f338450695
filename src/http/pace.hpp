// How fast bytes must come or go: so many a second on the whole, after a grace, and never none for
// as long as the grace.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "http/http.hpp"

namespace undertext::http {

using Time = std::chrono::steady_clock::time_point;

inline Time now() { return std::chrono::steady_clock::now(); }

class Pace {
 public:
  void begin(Time now) {
    began_ = last_ = now;
    bytes_ = 0;
  }
  void advance(std::size_t bytes, Time now) {
    bytes_ += bytes;
    last_ = now;
  }
  // `unheard`: how many bytes may have gone without this side hearing of it.
  Time deadline(const Limits& limits, std::uint64_t unheard = 0) const {
    const auto earned_by = [&](std::uint64_t bytes) {
      return std::chrono::milliseconds(bytes * 1000 /
                                       std::max<std::uint64_t>(limits.bytes_per_second_min, 1));
    };
    return std::min(began_ + earned_by(bytes_), last_ + earned_by(unheard)) + limits.body_grace;
  }

 private:
  Time began_, last_;
  std::uint64_t bytes_ = 0;
};

}  // namespace undertext::http
