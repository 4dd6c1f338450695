// A pointer to an immutable value with many owners, of one word: half a std::shared_ptr, for
// records kept by the million.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace undertext {

template <class T>
class Shared {
 public:
  Shared() = default;
  template <class... Args>
  static Shared make(Args&&... args) {
    Shared made;
    made.box_ = new Box{{1}, T{std::forward<Args>(args)...}};
    return made;
  }

  Shared(const Shared& other) noexcept : box_(other.box_) {
    if (box_) box_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~Shared() {
    if (box_ && box_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box_;
  }

  explicit operator bool() const { return box_ != nullptr; }
  const T& operator*() const { return box_->value; }
  const T* operator->() const { return &box_->value; }
  friend bool operator==(const Shared& a, const Shared& b) { return a.box_ == b.box_; }

 private:
  struct Box {
    std::atomic<std::uint32_t> refs;
    T value;
  };
  Box* box_ = nullptr;
};

}  // namespace undertext
