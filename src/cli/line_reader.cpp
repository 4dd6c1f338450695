#include "cli/line_reader.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "system/files.hpp"

namespace undertext {

namespace {

constexpr std::size_t read_bytes = std::size_t{256} << 10;
// a larger buffer is given back after the line that needed it
constexpr std::size_t buffer_kept_bytes = std::size_t{4} << 20;

}  // namespace

// Room for one more read behind what is there: by moving it to the front when that is cheap, else
// by doubling.
void LineReader::make_room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == 0 && buffer_bytes_ > buffer_kept_bytes) {
    buffer_.reset();
    buffer_bytes_ = 0;
  }
  if (buffer_bytes_ - end_ >= read_bytes / 2) return;
  const std::size_t used = end_ - begin_;
  if (begin_ >= used && begin_ >= read_bytes / 2) {
    std::memcpy(buffer_.get(), buffer_.get() + begin_, used);
  } else {
    const std::size_t larger_bytes = used * 2 + read_bytes;
    auto larger = std::make_unique_for_overwrite<char[]>(larger_bytes);
    if (used != 0) std::memcpy(larger.get(), buffer_.get() + begin_, used);
    buffer_ = std::move(larger);
    buffer_bytes_ = larger_bytes;
  }
  begin_ = 0;
  end_ = used;
}

bool LineReader::fill() {
  make_room();
  const std::int64_t got = read_some(descriptor_, buffer_.get() + end_, buffer_bytes_ - end_);
  failed_ = got < 0;
  if (got <= 0) return false;
  end_ += static_cast<std::size_t>(got);
  return true;
}

LineReader::Got LineReader::next() {
  std::size_t searched = 0;  // bytes from begin_ on that hold no newline
  bool too_long = false;
  for (;;) {
    const std::size_t left = end_ - begin_;
    const void* const newline =
        left == searched ? nullptr
                         : std::memchr(buffer_.get() + begin_ + searched, '\n', left - searched);
    if (newline != nullptr) {
      const char* const start = buffer_.get() + begin_;
      line_ = {start, static_cast<std::size_t>(static_cast<const char*>(newline) - start)};
      begin_ += line_.size() + 1;
      return too_long || line_.size() > line_bytes_max_ ? Got::too_long : Got::line;
    }
    searched = left;
    if (too_long || left > line_bytes_max_) {
      too_long = true;
      begin_ = end_;  // let go of it
      searched = 0;
    }

    bool more = false;
    try {
      more = fill();
    } catch (const std::bad_alloc&) {
      if (begin_ == end_) throw;  // not even the smallest buffer
      too_long = true;
      begin_ = end_;
      searched = 0;
      continue;
    }
    if (more) continue;
    if (failed_) return Got::failed;
    if (too_long) return Got::too_long;
    if (begin_ == end_) return Got::end;
    line_ = {buffer_.get() + begin_, end_ - begin_};
    begin_ = end_;
    return Got::line;
  }
}

}  // namespace undertext
