#include "http/budget.hpp"

#include <utility>

namespace undertext::http {

bool Budget::change(const std::string& owner, std::uint64_t from, std::uint64_t to, Room room) {
  const std::lock_guard lock(lock_);
  const auto found = owners_.find(owner);
  const std::uint64_t own = found == owners_.end() ? 0 : found->second;
  const bool is_too_much =
      counts_.bytes + (to - from) > bytes_max_ || own + (to - from) > bytes_max_each_;
  if (to > from && room == Room::asked_for && is_too_much &&
      own + (to - from) > bytes_always_each_) {
    ++counts_.refused;
    return false;
  }
  const std::uint64_t left = own + to - from;
  if (found == owners_.end()) {
    owners_.emplace(owner, left);
  } else if (left == 0) {
    owners_.erase(found);
  } else {
    found->second = left;
  }
  counts_.bytes += to - from;
  return true;
}

Budget::Counts Budget::counts() const {
  const std::lock_guard lock(lock_);
  return counts_;
}

Budget::Share::Share(Share&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)),
      owner_(std::move(other.owner_)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Budget::Share& Budget::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  release();
  budget_ = std::exchange(other.budget_, nullptr);
  owner_ = std::move(other.owner_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool Budget::Share::resize(std::uint64_t bytes) {
  if (budget_ && bytes != bytes_ && !budget_->change(owner_, bytes_, bytes, Room::asked_for))
    return false;
  bytes_ = bytes;
  return true;
}

void Budget::Share::count(std::uint64_t bytes) {
  if (budget_ && bytes != bytes_) budget_->change(owner_, bytes_, bytes, Room::not_asked_for);
  bytes_ = bytes;
}

// What is given back is known to the budget: nothing is allocated.
void Budget::Share::release() noexcept { count(0); }

}  // namespace undertext::http
