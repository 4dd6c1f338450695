// Limits of one call: its deadline, and the bytes of messages that its operations may make.
//
//     auto work = std::make_shared<Work>(WorkLimits{.interrupted = deadline_passed, .bytes_made_max = 32 << 20});
//     conversation.apply(std::move(operations), work);
//     conversation.history().limited(work).messages({.contains = "needle"});
//
// Cancellation is cooperative: loops over messages and operations check between two of them, so a
// call ends within the time that one message takes. A cancelled call has changed nothing.
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
  // Returns an error when the work must stop: `unavailable` for a deadline or a client that has
  // gone. Called often, on the working thread. Unset: never stops.
  std::function<Result<void>()> interrupted = {};
  // Of messages that operations make, such as copies of TRANSFORM: too_large beyond that. Messages
  // given by the caller do not count.
  std::uint64_t bytes_made_max = std::numeric_limits<std::uint64_t>::max();
  // Memory for reading a message, per JSON object in it, besides its bytes. For the largest message
  // that is read, this is reserved too.
  std::uint64_t bytes_per_object = 0;
  // Called before so many more bytes are allocated. false: unavailable. Unset: always true.
  std::function<bool(std::uint64_t bytes)> reserve = {};
};

// One call's use of its limits. A null pointer means no limits.
class UNDERTEXT_API Work {
 public:
  explicit Work(WorkLimits limits) : limits_(std::move(limits)) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void go_on() const;  // throws Failure: that of WorkLimits::interrupted
  // as go_on(), and reserves the memory for reading it. Throws Failure: unavailable too
  void read(std::string_view message_json);
  void make(std::uint64_t bytes);  // throws Failure: too_large, unavailable
  std::uint64_t bytes_made() const { return bytes_made_.load(std::memory_order_relaxed); }

 private:
  const WorkLimits limits_;
  std::atomic<std::uint64_t> bytes_made_ = 0;
  std::atomic<std::uint64_t> bytes_to_read_ = 0;  // of the largest message so far
};

}  // namespace undertext
