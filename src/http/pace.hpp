// How fast bytes must come or go: so many a second on the whole, after a grace, and never none for as long as the grace.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "http/http.hpp"

namespace undertext::http {

using Time = std::chrono::steady_clock::time_point;

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
  Time deadline(const Limits& limits) const {
    const auto earned = std::chrono::milliseconds(bytes_ * 1000 / std::max<std::uint64_t>(limits.bytes_per_second_min, 1));
    return std::min(began_ + earned, last_) + limits.body_grace;
  }

 private:
  Time began_, last_;
  std::uint64_t bytes_ = 0;
};

}  // namespace undertext::http
