#include "http/stream.hpp"

#include <chrono>
#include <utility>

namespace undertext::http {

// false: whoever writes has given up.
bool StreamState::wait_for_room(std::unique_lock<std::mutex>& lock,
                                const std::function<bool()>& goes_on) {
  constexpr std::chrono::milliseconds between_questions{250};
  const auto has_room = [&] { return !is_open_ || is_finished_ || unsent_ <= unsent_max_; };
  while (!changed_.wait_for(lock, between_questions, has_room)) {
    lock.unlock();
    const bool given_up = goes_on && !goes_on();
    lock.lock();
    if (given_up) return false;
  }
  return true;
}

StreamState::Added StreamState::add(std::string bytes, Wait wait,
                                    const std::function<bool()>& goes_on) {
  std::unique_lock lock(mutex_);
  if (wait == Wait::yes && !wait_for_room(lock, goes_on)) return Added::no;
  if (!is_open_ || is_finished_) return Added::no;
  if (wait == Wait::no && unsent_ > 0 && unsent_ + bytes.size() > unsent_max_) {
    is_cut_ = true;
    is_open_ = false;
    return Added::overflow;
  }
  unsent_ += bytes.size();
  if (waiting_.empty())
    waiting_ = std::move(bytes);
  else
    waiting_ += bytes;
  return added();
}

StreamState::Added StreamState::added() {
  return std::exchange(is_told_, true) ? Added::yes : Added::first;
}

bool StreamState::has_room() {
  const std::lock_guard lock(mutex_);
  if (!is_open_ || unsent_ <= unsent_max_) return true;
  is_waiting_ = true;
  return false;
}

StreamState::Added StreamState::add_anyway(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (!is_open_ || is_finished_) return Added::no;
  unsent_ += bytes.size();
  waiting_ += bytes;
  return added();
}

bool StreamState::finish(bool cut) {
  const std::lock_guard lock(mutex_);
  if (!is_open_ || is_finished_) return false;
  is_finished_ = true;
  is_cut_ = cut;
  changed_.notify_all();
  return !std::exchange(is_told_, true);
}

bool StreamState::is_open() const {
  const std::lock_guard lock(mutex_);
  return is_open_ && !is_finished_;
}

StreamState::Taken StreamState::take() {
  const std::lock_guard lock(mutex_);
  is_told_ = false;
  return {.bytes = std::exchange(waiting_, {}), .is_finished = is_finished_, .is_cut = is_cut_};
}

void StreamState::sent(std::size_t bytes) {
  bool drained = false;
  {
    const std::lock_guard lock(mutex_);
    unsent_ -= bytes;
    changed_.notify_all();
    drained = is_waiting_ && unsent_ <= unsent_max_ / 2;
    if (drained) is_waiting_ = false;
  }
  if (drained) on_drained_();
}

void StreamState::close() noexcept {
  const std::lock_guard lock(mutex_);
  is_open_ = false;
  waiting_ = {};
  changed_.notify_all();
}

}  // namespace undertext::http
