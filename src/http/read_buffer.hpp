// Bytes that have come and are not read yet.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace undertext::http {

class ReadBuffer {
 public:
  enum class Mode { resting, filling, holding };

  // Where the next bytes go; nowhere when it is full. What is unread moves to the front, so no view
  // of it may be kept. A buffer is small while nothing much comes in (resting), grows up to
  // `bytes_max` when what came filled it (filling), and not at all while nobody reads (holding).
  std::span<char> room(Mode mode, std::size_t bytes_max);
  void add(std::size_t bytes);
  std::string_view unread() const { return {bytes_.get() + begin_, end_ - begin_}; }
  void leave(std::size_t bytes) { begin_ = end_ - bytes; }  // all but the last ones are read

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
  bool was_filled_ = false;
};

}  // namespace undertext::http
