#include "base/event_stream.hpp"

#include <algorithm>
#include <utility>

namespace undertext {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

// A line is a comment (":…"), "field", "field:value" or "field: value".
void EventStream::read_line() {
  const std::string_view line = line_;
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") name_ = value;
  if (field != "data") return;
  if (has_data_) data_ += '\n';
  has_data_ = true;
  data_ += value;
}

bool EventStream::end_line(const Visit& visit) {
  bool go_on = true;
  if (is_first_line_ && line_.starts_with(byte_order_mark)) line_.erase(0, byte_order_mark.size());
  is_first_line_ = false;
  if (!line_.empty()) {
    read_line();
  } else {
    go_on = !has_data_ || visit(name_, data_);
    name_.clear();
    data_.clear();
    has_data_ = false;
  }
  line_.clear();
  return go_on;
}

bool EventStream::read(std::string_view bytes,
                       const std::function<bool(std::string_view, std::string_view)>& visit) {
  std::size_t newline = bytes.find('\n');  // the next one, searched once for many lines with CR
  for (std::size_t at = 0; at < bytes.size();) {
    if (newline < at) newline = bytes.find('\n', at);
    if (std::exchange(ended_with_cr_, false) && newline == at) {
      ++at;
      continue;
    }
    const std::string_view rest = bytes.substr(at, std::min(newline, bytes.size()) - at);
    const std::size_t cr = rest.find('\r');
    const std::string_view piece = rest.substr(0, cr);
    line_ += piece;
    if (line_.size() + data_.size() > bytes_max_) return false;
    at += piece.size();
    if (at == bytes.size()) return true;
    ended_with_cr_ = cr != std::string_view::npos;
    ++at;
    if (!end_line(visit)) return true;
  }
  return true;
}

}  // namespace undertext
