// What one call may use up: when it has to end, and how many bytes of messages its operations may make.
//
//     auto work = std::make_shared<Work>(WorkLimits{.interrupted = deadline_passed, .bytes_made_max = 32 << 20});
//     conversation.apply(std::move(operations), work);
//     conversation.history().limited(work).messages({.contains = "needle"});
//
// Cancellation is cooperative: the loops that work through messages and operations ask between two of them, so a call ends within the time that one
// message takes. What ends so has changed nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>

#include <undertext/error.hpp>
#include <undertext/export.hpp>

namespace undertext {

struct WorkLimits {
  // Fails where the work has to end now: `unavailable` for a deadline or a client that has gone.
  // Called often, on the thread that works. Unset: never.
  std::function<Result<void>()> interrupted = {};
  // Of messages that operations make, such as copies of TRANSFORM: too_large beyond that. What the operations bring with them does not count.
  std::uint64_t bytes_made_max = std::numeric_limits<std::uint64_t>::max();
  // What reading a message takes for each JSON object in it, besides its bytes. Of the largest one that is read, this counts as made by reserve().
  std::uint64_t bytes_per_object = 0;
  // Called before so many bytes more are made. false: unavailable. Unset: there is memory for them.
  std::function<bool(std::uint64_t bytes)> reserve = {};
};

// One call's use of its limits. A pointer to none means: no limits.
class UNDERTEXT_API Work {
 public:
  explicit Work(WorkLimits limits) : limits_(std::move(limits)) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void go_on() const;                        // throws Failure: that of WorkLimits::interrupted
  void read(std::string_view message_json);  // asks the same, and counts what reading it takes. Throws Failure: unavailable too
  void make(std::uint64_t bytes);            // throws Failure: too_large, unavailable
  std::uint64_t bytes_made() const { return bytes_made_.load(std::memory_order_relaxed); }

 private:
  const WorkLimits limits_;
  std::atomic<std::uint64_t> bytes_made_ = 0;
  std::atomic<std::uint64_t> bytes_to_read_ = 0;  // of the largest message so far
};

}  // namespace undertext
