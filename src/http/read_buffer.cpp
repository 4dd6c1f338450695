#include "http/read_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace undertext::http {
namespace {

constexpr std::size_t resting_bytes = 4 << 10;

}  // namespace

std::span<char> ReadBuffer::room(Mode mode, std::size_t bytes_max) {
  const std::size_t size = end_ - begin_;
  std::size_t wanted = capacity_;
  if (capacity_ == 0 || (mode == Mode::resting && size == 0))
    wanted = resting_bytes;
  else if (mode == Mode::filling && was_filled_)
    wanted = std::clamp(capacity_ * 2, capacity_, std::max(capacity_, bytes_max));
  if (wanted != capacity_) {
    auto other = std::make_unique_for_overwrite<char[]>(wanted);
    if (size > 0) std::memcpy(other.get(), bytes_.get() + begin_, size);
    bytes_ = std::move(other);
    capacity_ = wanted;
  } else if (begin_ > 0 && size > 0) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, size);
  }
  begin_ = 0;
  end_ = size;
  was_filled_ = false;
  return {bytes_.get() + end_, capacity_ - end_};
}

void ReadBuffer::add(std::size_t bytes) {
  end_ += bytes;
  was_filled_ = end_ == capacity_;
}

}  // namespace undertext::http
