// Threads for work that may wait: for a disk, a network, or for JavaScript. Not libuv's: those are
// few, and a function of JavaScript for which one of them waits may itself need another (to look up
// a host name, to read a file).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace undertext::node {

class Pool {
 public:
  // Carried out soon, on some thread. Where no thread is to be had, at once, on this one.
  void submit(std::function<void()> work);

  // Held by a thread of the pool while it waits for JavaScript: another one may be started in its
  // place, so that the pool never stands still.
  class Waiting {
   public:
    explicit Waiting(Pool& pool);
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting();

   private:
    Pool& pool_;
  };

  // Returns when everything that was submitted is done and all threads have ended.
  void finish();

 private:
  void run();
  bool start_thread();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  std::size_t waiting_ = 0;  // for JavaScript
  bool finishing_ = false;
};

}  // namespace undertext::node
