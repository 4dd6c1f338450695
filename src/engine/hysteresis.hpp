// When a conversation is to compress itself, so that it never does so again and again without
// progress.
//
//     tokens   |  threshold            due
//              |  ----------------     due until a try fell short and left t tokens; then not before
//              |                       t + threshold / 16, or once there were less than t
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace undertext {

class Hysteresis {
 public:
  explicit Hysteresis(std::uint64_t threshold) : threshold_(threshold) {}

  // The least growth that makes a new try worth it, and the least that a try which falls short has
  // to free.
  static std::uint64_t step(std::uint64_t threshold) {
    return std::max<std::uint64_t>(threshold / 16, 1);
  }
  bool is_due(std::uint64_t tokens) {
    if (waits_from_ && tokens < *waits_from_) waits_from_.reset();
    return tokens > threshold_ && (!waits_from_ || tokens - *waits_from_ >= step(threshold_));
  }
  void wait_from(std::uint64_t tokens) { waits_from_ = tokens; }
  void reset() { waits_from_.reset(); }

 private:
  std::uint64_t threshold_;
  std::optional<std::uint64_t> waits_from_;
};

}  // namespace undertext
