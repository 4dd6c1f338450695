// Server-sent events, taken apart as they arrive in pieces of any size. Lines end as the standard
// allows: LF, CRLF or CR. A byte order mark before the first line is skipped.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace undertext {

class EventStream {
 public:
  static constexpr std::size_t event_bytes_max = 1u << 20;

  // of one event
  explicit EventStream(std::size_t bytes_max = event_bytes_max) : bytes_max_(bytes_max) {}

  // Calls visit(name, data) for each event that `bytes` complete, until it returns false. The name
  // is empty when the event has none; lines of data are joined by newlines. False when an event is
  // too long, after which the stream is of no use.
  bool read(std::string_view bytes,
            const std::function<bool(std::string_view name, std::string_view data)>& visit);

 private:
  using Visit = std::function<bool(std::string_view name, std::string_view data)>;

  // False: no more is wanted.
  bool end_line(const Visit& visit);
  void read_line();

  std::size_t bytes_max_;
  bool is_first_line_ = true;
  bool ended_with_cr_ = false;  // the last line: an LF right behind it is part of its end
  std::string line_;            // what has come of the current line
  std::string name_, data_;
  bool has_data_ = false;
};

}  // namespace undertext
