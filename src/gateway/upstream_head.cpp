#include "gateway/upstream_head.hpp"

#include <algorithm>
#include <utility>

#include "gateway/fields.hpp"
#include "http/head.hpp"

namespace undertext {
namespace {

using http::Field;

bool is_digits(std::string_view text, std::size_t size_max) {
  return !text.empty() && text.size() <= size_max &&
         text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

UpstreamHeadReader::Progress UpstreamHeadReader::read(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > bytes_max) return Progress::refused;
  if (is_done_) return Progress::more;
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.empty())
    return (has_status_ ? read_field(line) : read_status(line)) ? Progress::more
                                                                : Progress::refused;
  if (!has_status_ || !check_framing() || !check_upgrade()) return Progress::refused;
  if (head_.status < 200 && head_.status != 101) {
    head_ = {};
    has_status_ = false;
    return Progress::more;
  }
  is_done_ = true;
  return Progress::done;
}

bool UpstreamHeadReader::read_status(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (!line.starts_with("HTTP/") || space == line.npos) return false;
  const std::string_view status = line.substr(space + 1, 3);
  const std::string_view rest = line.substr(std::min(space + 4, line.size()));
  if (status.size() != 3 || !is_digits(status, 3) || (!rest.empty() && rest[0] != ' '))
    return false;
  head_.status =
      static_cast<unsigned>((status[0] - '0') * 100 + (status[1] - '0') * 10 + (status[2] - '0'));
  head_.reason = http::trimmed(rest);
  has_status_ = true;
  // Nobody changes a protocol that was not asked to.
  const bool may_be = head_.status != 101 || upgrade_ == Upgrade::allowed;
  return head_.status >= 100 && may_be && http::is_field_value(head_.reason);
}

bool UpstreamHeadReader::read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || !http::is_token(line.substr(0, colon))) return false;
  const std::string_view value = http::trimmed(line.substr(colon + 1));
  if (!http::is_field_value(value)) return false;
  head_.fields.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return true;
}

// One length at most, and none beside chunks.
bool UpstreamHeadReader::check_framing() const {
  const Field* length = nullptr;
  bool is_chunked = false;
  for (const Field& field : head_.fields) {
    if (is_named(field, "transfer-encoding")) {
      if (is_chunked || !http::equal_ignoring_case(field.value, "chunked")) return false;
      is_chunked = true;
    }
    if (!is_named(field, "content-length")) continue;
    if (length != nullptr || !is_digits(field.value, 18)) return false;
    length = &field;
  }
  return length == nullptr || !is_chunked;
}

bool UpstreamHeadReader::check_upgrade() const {
  return head_.status != 101 ||
         std::any_of(head_.fields.begin(), head_.fields.end(), [](const Field& field) {
           return is_named(field, "upgrade") && http::equal_ignoring_case(field.value, "websocket");
         });
}

UpstreamHead UpstreamHeadReader::take() {
  head_.is_chunked = std::any_of(head_.fields.begin(), head_.fields.end(), [](const Field& field) {
    return is_named(field, "transfer-encoding");
  });
  head_.fields = end_to_end_fields(head_.fields);
  std::erase_if(head_.fields, is_own);  // an upstream does not speak for the gateway
  return std::move(head_);
}

}  // namespace undertext
