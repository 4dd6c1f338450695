// Lines from a file descriptor, each with as little delay and copying as read(2) allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace undertext {

class LineReader {
 public:
  LineReader(int descriptor, std::uint64_t line_bytes_max)
      : descriptor_(descriptor), line_bytes_max_(line_bytes_max) {}

  enum class Got : std::uint8_t {
    line,  // line() has it, without its newline, until the next call
    // a line was over the limit, or over the memory there is; it has been read to its end
    too_long,
    end,
    failed,  // errno says why
  };
  Got next();

  std::string_view line() const { return line_; }

 private:
  bool fill();  // reads more into the buffer; false at the end of input, or on failure
  void make_room();

  int descriptor_;
  std::uint64_t line_bytes_max_;
  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_bytes_ = 0;
  std::size_t begin_ = 0;  // of what has been read and not yet given out
  std::size_t end_ = 0;
  bool failed_ = false;
  std::string_view line_;
};

}  // namespace undertext
