#include "http/head.hpp"

#include <algorithm>
#include <array>

namespace undertext::http {
namespace {

constexpr std::array<bool, 256> token_characters = [] {
  std::array<bool, 256> table{};
  for (char c : std::string_view(
           "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

constexpr std::size_t method_bytes_max = 32;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_target(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

// host [":" port], where the host is a name, an IPv4 address or an IPv6 address in brackets.
bool is_authority(std::string_view text) {
  const std::size_t host_end = text.starts_with('[') ? text.find(']') : text.find(':');
  if (text.starts_with('[') && host_end == text.npos) return false;
  const bool bracketed = text.starts_with('[');
  std::string_view host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end);
  std::string_view port =
      host_end == text.npos ? std::string_view() : text.substr(host_end + (bracketed ? 1 : 0));
  const auto in_host = [&](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '.' ||
           (bracketed ? c == ':' : c == '-' || c == '_');
  };
  if (host.empty() || !std::all_of(host.begin(), host.end(), in_host)) return false;
  return port.empty() || (port.size() >= 2 && port.size() <= 6 && port[0] == ':' &&
                          std::all_of(port.begin() + 1, port.end(), is_digit));
}

bool holds_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equal_ignoring_case(trimmed(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return token_characters[static_cast<unsigned char>(c)];
  });
}

bool is_field_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f;
  });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::string_view> cut_line(std::string_view& bytes, bool& is_malformed) {
  const std::size_t end = bytes.find_first_of("\r\n");
  if (end == bytes.npos || (bytes[end] == '\r' && end + 1 == bytes.size())) return std::nullopt;
  if (bytes[end] != '\r' || bytes[end + 1] != '\n') {
    is_malformed = true;
    return std::nullopt;
  }
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  return line;
}

const std::string* Head::find(std::string_view name) const {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const Field& f) { return equal_ignoring_case(f.name, name); });
  return at == fields.end() ? nullptr : &at->value;
}

std::size_t Head::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), [&](const Field& f) {
    return equal_ignoring_case(f.name, name);
  }));
}

bool HeadReader::refuse(unsigned status, std::string_view why) {
  refusal_ = {status, why};
  return false;
}

Progress HeadReader::read(std::string_view& bytes) {
  while (!is_done_) {
    bool is_malformed = false;
    const std::size_t before = bytes.size();
    const std::optional<std::string_view> line = cut_line(bytes, is_malformed);
    if (is_malformed) {
      refuse(400, "a line that does not end with CR LF");
      return Progress::refused;
    }
    if (!line) return check_partial(bytes) ? Progress::more : Progress::refused;
    bytes_ += before - bytes.size();
    if (!read_line(*line)) return Progress::refused;
  }
  return Progress::done;
}

RequestHead HeadReader::take() {
  RequestHead taken = std::move(request_);
  *this = HeadReader(*limits_);
  return taken;
}

// What can never become a line is refused before its end is seen, so that nobody can make the
// server keep it.
bool HeadReader::check_partial(std::string_view line) {
  if (!has_request_line_ && line.size() > method_bytes_max + 1 + limits_->target_bytes + 10)
    return refuse(414, "the target is too long");
  if (bytes_ + line.size() > limits_->head_bytes) return refuse(431, "the head is too large");
  return true;
}

bool HeadReader::read_line(std::string_view line) {
  if (bytes_ > limits_->head_bytes && has_request_line_)
    return refuse(431, "the head is too large");
  if (has_request_line_) return line.empty() ? finish() : read_field(line);
  // RFC 9112 asks to overlook one empty line that a client sent behind its last body.
  if (line.empty() && !skipped_empty_line_) {
    skipped_empty_line_ = true;
    return true;
  }
  return read_request_line(line);
}

bool HeadReader::read_request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last)
    return refuse(400, "the first line is not: method, target, version");
  const std::string_view method = line.substr(0, first),
                         target = line.substr(first + 1, last - first - 1);
  if (!is_token(method) || method.size() > method_bytes_max)
    return refuse(400, "the method is not a word");
  if (!read_version(line.substr(last + 1))) return false;
  if (target.size() > limits_->target_bytes) return refuse(414, "the target is too long");
  if (target.empty() || !is_target(target))
    return refuse(400, "the target holds characters that must be percent-encoded");
  if (bytes_ > limits_->head_bytes) return refuse(431, "the head is too large");
  request_.head.method = method;
  request_.head.target = target;
  has_request_line_ = true;
  return true;
}

bool HeadReader::read_version(std::string_view version) {
  request_.is_http10 = version == "HTTP/1.0";
  if (request_.is_http10 || version == "HTTP/1.1") return true;
  const bool well_formed = version.size() == 8 && version.starts_with("HTTP/") &&
                           is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
  return well_formed ? refuse(505, "another version of HTTP than 1.1")
                     : refuse(400, "the version is not HTTP/1.1");
}

bool HeadReader::read_field(std::string_view line) {
  if (request_.head.fields.size() >= limits_->fields) return refuse(431, "too many fields");
  const std::size_t colon = line.find(':');
  // A line that goes on with the field before it begins with a space, which is no token either.
  if (colon == line.npos || !is_token(line.substr(0, colon)))
    return refuse(400, "a field's name is not a word followed by a colon");
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (!is_field_value(value)) return refuse(400, "a field holds control characters");
  if (equal_ignoring_case(name, "content-length") && !read_length(value)) return false;
  if (equal_ignoring_case(name, "transfer-encoding") && !read_coding(value)) return false;
  request_.head.fields.push_back({std::string(name), std::string(value)});
  return true;
}

bool HeadReader::read_length(std::string_view value) {
  if (has_length_) return refuse(400, "two Content-Length");
  if (value.empty() || value.size() > 18 || !std::all_of(value.begin(), value.end(), is_digit))
    return refuse(400, "Content-Length is not a number");
  for (char digit : value)
    request_.content_length =
        request_.content_length * 10 + static_cast<std::uint64_t>(digit - '0');
  has_length_ = true;
  return true;
}

bool HeadReader::read_coding(std::string_view value) {
  if (request_.is_chunked) return refuse(400, "two Transfer-Encoding");
  if (!equal_ignoring_case(value, "chunked"))
    return refuse(400, "a Transfer-Encoding other than chunked");
  request_.is_chunked = true;
  return true;
}

bool HeadReader::finish() {
  const Head& head = request_.head;
  if (request_.is_chunked && has_length_)
    return refuse(400, "both Content-Length and Transfer-Encoding");
  if (request_.is_chunked && request_.is_http10)
    return refuse(400, "Transfer-Encoding in HTTP/1.0");
  const std::size_t hosts = head.count("host");
  if (hosts > 1 || (hosts == 0 && !request_.is_http10))
    return refuse(400, "there must be one Host");
  const std::string_view host = hosts == 0 ? std::string_view() : *head.find("host");
  if (hosts == 1 && !is_authority(host)) return refuse(400, "Host is not a host");
  if (!finish_target(host)) return false;
  if (const std::string* expect = head.find("expect"); expect && !request_.is_http10) {
    if (!equal_ignoring_case(*expect, "100-continue"))
      return refuse(417, "an Expect other than 100-continue");
    request_.expects_continue = true;
  }
  request_.wants_close = request_.is_http10;
  for (const Field& field : head.fields)
    if (equal_ignoring_case(field.name, "connection") && holds_word(field.value, "close"))
      request_.wants_close = true;
  is_done_ = true;
  return true;
}

// A target is a path, `*` for OPTIONS, or a whole URL as proxies are sent it; of which the path is
// left, if it names the same host as Host does.
bool HeadReader::finish_target(std::string_view host) {
  std::string& target = request_.head.target;
  if (target.starts_with('/')) return true;
  if (target == "*" && request_.head.method == "OPTIONS") return true;
  const std::size_t scheme = target.find("://");
  if (scheme == target.npos) return refuse(400, "the target is not a path");
  if (!equal_ignoring_case(target.substr(0, scheme), "http") &&
      !equal_ignoring_case(target.substr(0, scheme), "https"))
    return refuse(400, "the target is not a path");
  const std::size_t authority = scheme + 3;
  const std::size_t path = std::min(target.find_first_of("/?", authority), target.size());
  if (host.empty() ||
      !equal_ignoring_case(std::string_view(target).substr(authority, path - authority), host))
    return refuse(400, "the target names another host than Host does");
  request_.head.was_url = true;
  target.erase(0, path);
  if (!target.starts_with('/')) target.insert(0, "/");
  return true;
}

}  // namespace undertext::http
