#include "http/reply_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "http/head.hpp"

namespace undertext::http {
namespace {

struct Reason {
  unsigned status;
  std::string_view text;
};

constexpr Reason reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

void append_number(std::string& text, std::uint64_t number, int base = 10) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  text.append(digits.data(), end);
}

void append_field(std::string& text, std::string_view name, std::string_view value) {
  if (!is_token(name) || !is_field_value(value)) return;
  text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

// RFC 9110 gives the form, whatever the locale.
const std::string& DateText::now() {
  const std::time_t second = std::time(nullptr);
  if (second == second_ && !text_.empty()) return text_;
  static constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed",
                                                      "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm parts{};
  gmtime_r(&second, &parts);
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                 days[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                                 months[static_cast<std::size_t>(parts.tm_mon)],
                                 parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  text_.assign(text.data(), static_cast<std::size_t>(size));
  second_ = second;
  return text_;
}

std::string_view reason_of(unsigned status) {
  const auto at = std::find_if(std::begin(reasons), std::end(reasons),
                               [&](const Reason& r) { return r.status == status; });
  return at == std::end(reasons) ? std::string_view("Unknown") : at->text;
}

bool may_have_body(unsigned status) { return status >= 200 && status != 204 && status != 304; }

std::string head_text(const ReplyHead& head, std::string_view date) {
  std::string text;
  text.reserve(256);
  text.append("HTTP/1.1 ");
  append_number(text, head.status);
  text.append(" ").append(reason_of(head.status)).append("\r\nDate: ").append(date).append("\r\n");
  if (may_have_body(head.status)) {
    append_field(text, "Content-Type", head.content_type);
    if (head.content_length) {
      text.append("Content-Length: ");
      append_number(text, *head.content_length);
      text.append("\r\n");
    } else if (head.is_chunked) {
      text.append("Transfer-Encoding: chunked\r\n");
    }
  }
  for (const Field& field : head.fields) append_field(text, field.name, field.value);
  if (head.closes) text.append("Connection: close\r\n");
  return text.append("\r\n");
}

std::string relayed_head_text(const RelayedHead& head, bool is_chunked, bool closes) {
  std::string text;
  text.reserve(1024);
  text.append("HTTP/1.1 ");
  append_number(text, head.status);
  text.append(" ")
      .append(head.reason.empty() ? reason_of(head.status) : head.reason)
      .append("\r\n");
  for (const Field& field : head.fields) append_field(text, field.name, field.value);
  if (is_chunked) text.append("Transfer-Encoding: chunked\r\n");
  if (closes) text.append("Connection: close\r\n");
  return text.append("\r\n");
}

std::string chunk_prefix(std::uint64_t size) {
  std::string text;
  append_number(text, size, 16);
  return text.append("\r\n");
}

}  // namespace undertext::http
