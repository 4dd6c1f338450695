// Whether the store answers, however often that is asked: the store itself is asked at most once a
// second, by one at a time. Safe for any number of threads.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include <undertext/error.hpp>

namespace undertext {

class Readiness {
 public:
  using Clock = std::chrono::steady_clock;
  using Ask = std::function<std::optional<Error>()>;  // nothing: it answers. May throw Failure
  explicit Readiness(Ask ask) : ask_(std::move(ask)) {}

  // Nothing: it answers. While somebody asks it, others are told what it said the last time;
  // unavailable when that takes long.
  std::optional<Error> look(Clock::time_point now = Clock::now());

 private:
  const Ask ask_;
  std::mutex lock_;
  std::optional<Clock::time_point> asked_at_;
  bool is_asking_ = false;
  std::optional<Error> said_;
};

}  // namespace undertext
