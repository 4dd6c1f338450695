// A lock that is waited for no longer than the work it is for may take.
#pragma once

#include <chrono>
#include <mutex>

#include <undertext/work.hpp>

namespace undertext {

// Throws Failure: `work` is to end before the lock is free. Null: it waits as long as it takes.
inline std::unique_lock<std::timed_mutex> lock_within(std::timed_mutex& mutex, const Work* work) {
  constexpr std::chrono::milliseconds between_questions{20};
  std::unique_lock lock(mutex, std::defer_lock);
  if (work == nullptr) {
    lock.lock();
    return lock;
  }
  work->go_on();
  while (!lock.try_lock_for(between_questions)) work->go_on();
  return lock;
}

}  // namespace undertext
