// When a conversation is to compress itself, so that it never does so again and again without progress.
//
//     tokens   |  threshold            due
//              |  ----------------     due until a try changed nothing at t; then not before
//              |                       t + threshold / 16, or below t
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace undertext {

class Hysteresis {
 public:
  explicit Hysteresis(std::uint64_t threshold) : threshold_(threshold) {}

  bool is_due(std::uint64_t tokens) {
    if (tokens <= threshold_) failed_at_.reset();
    if (tokens <= threshold_) return false;
    return !failed_at_ || tokens < *failed_at_ || tokens - *failed_at_ >= std::max<std::uint64_t>(threshold_ / 16, 1);
  }
  void changed_nothing(std::uint64_t tokens) { failed_at_ = tokens; }
  void reset() { failed_at_.reset(); }

 private:
  std::uint64_t threshold_;
  std::optional<std::uint64_t> failed_at_;
};

}  // namespace undertext
