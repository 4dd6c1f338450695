#include "base/event_stream.hpp"

namespace undertext {

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

bool EventStream::read(std::string_view bytes,
                       const std::function<bool(std::string_view, std::string_view)>& visit) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() + data_.size() > bytes_max_) return false;
    if (end == std::string_view::npos) return true;
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    if (!line_.empty()) {
      read_line();
    } else {
      const bool go_on = !has_data_ || visit(name_, data_);
      name_.clear();
      data_.clear();
      has_data_ = false;
      if (!go_on) return true;
    }
    line_.clear();
  }
  return true;
}

}  // namespace undertext
