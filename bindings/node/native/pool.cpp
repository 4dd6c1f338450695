#include "pool.hpp"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace undertext::node {

namespace {

// Enough that commits which wait for one disk share its fsync.
constexpr std::size_t threads_max = 32;
constexpr std::chrono::seconds idle_for{5};

}  // namespace

void Pool::submit(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  work_.push_back(std::move(work));
  if (idle_ >= work_.size() || threads_ >= threads_max + waiting_ || start_thread()) {
    changed_.notify_one();
  } else if (threads_ == 0) {
    const std::function<void()> now = std::move(work_.back());
    work_.pop_back();
    lock.unlock();
    now();
  }
}

bool Pool::start_thread() {
  try {
    // finish() waits for it, and the code of an addon stays in memory (-z nodelete): it need not be
    // joined.
    std::thread([this] { run(); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  ++threads_;
  return true;
}

void Pool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (work_.empty()) {
      if (finishing_) break;
      ++idle_;
      const bool called =
          changed_.wait_for(lock, idle_for, [this] { return finishing_ || !work_.empty(); });
      --idle_;
      if (!called) break;
      continue;
    }
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  --threads_;
  changed_.notify_all();
}

Pool::Waiting::Waiting(Pool& pool) : pool_(pool) {
  const std::lock_guard lock(pool_.mutex_);
  ++pool_.waiting_;
  if (!pool_.work_.empty() && pool_.idle_ == 0) pool_.start_thread();
}

Pool::Waiting::~Waiting() {
  const std::lock_guard lock(pool_.mutex_);
  --pool_.waiting_;
}

void Pool::finish() {
  std::unique_lock lock(mutex_);
  finishing_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return threads_ == 0; });
}

}  // namespace undertext::node
