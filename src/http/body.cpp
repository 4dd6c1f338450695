#include "http/body.hpp"

#include <algorithm>
#include <optional>

namespace undertext::http {
namespace {

constexpr std::size_t chunk_line_bytes_max = 256;

// Once so much of a body has come, the rest gets its memory at once, up to a limit, and is not
// copied each time that it doubles.
constexpr std::size_t begun_bytes = 32 << 10;
constexpr std::uint64_t rest_bytes_max = 1 << 20;

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// hex digits, then nothing or an extension, which begins with a semicolon.
std::optional<std::uint64_t> chunk_size(std::string_view line) {
  const std::string_view digits = line.substr(0, line.find(';'));
  if (digits.empty() || digits.size() > 15 || !is_field_value(line)) return std::nullopt;
  std::uint64_t size = 0;
  for (char c : digits) {
    const std::optional<unsigned> digit = hex_digit(c);
    if (!digit) return std::nullopt;
    size = size * 16 + *digit;
  }
  return size;
}

}  // namespace

BodyReader::BodyReader(const RequestHead& head, std::uint64_t bytes_max,
                       std::uint32_t trailer_bytes_max)
    : part_(head.is_chunked           ? Part::chunk_size
            : head.content_length > 0 ? Part::data
                                      : Part::done),
      left_(head.content_length),
      bytes_max_(bytes_max),
      length_max_(head.is_chunked ? bytes_max : head.content_length),
      trailer_left_(trailer_bytes_max) {}

Progress BodyReader::refuse(unsigned status, std::string_view why) {
  refusal_ = {status, why};
  return Progress::refused;
}

Progress BodyReader::read(std::string_view& bytes) {
  for (;;) {
    Progress progress = Progress::more;
    switch (part_) {
      case Part::data:
        progress = take_data(bytes, Part::done) ? Progress::done : Progress::more;
        break;
      case Part::chunk_data:
        progress = take_data(bytes, Part::chunk_end) ? Progress::done : Progress::more;
        break;
      case Part::chunk_size: progress = read_size(bytes); break;
      case Part::chunk_end: progress = read_chunk_end(bytes); break;
      case Part::trailer: progress = read_trailer(bytes); break;
      case Part::done: return Progress::done;
    }
    if (progress != Progress::done) return progress;
  }
}

bool BodyReader::take_data(std::string_view& bytes, Part next) {
  const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  if (body_.size() < begun_bytes && body_.size() + taken >= begun_bytes)
    body_.reserve(body_.size() + static_cast<std::size_t>(std::clamp<std::uint64_t>(
                                     left_, taken, taken + rest_bytes_max)));
  body_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  left_ -= taken;
  if (left_ > 0) return false;
  part_ = next;
  return true;
}

Progress BodyReader::read_size(std::string_view& bytes) {
  bool is_malformed = false;
  const std::optional<std::string_view> line = cut_line(bytes, is_malformed);
  if (is_malformed || (line ? line->size() : bytes.size()) > chunk_line_bytes_max)
    return refuse(400, "a chunk without a proper size");
  if (!line) return Progress::more;
  const std::optional<std::uint64_t> size = chunk_size(*line);
  if (!size) return refuse(400, "a chunk without a proper size");
  const std::size_t extension = line->size() - std::min(line->find(';'), line->size());
  if (extension > trailer_left_) return refuse(400, "too many chunk extensions");
  trailer_left_ -= extension;
  if (*size > bytes_max_ - body_.size()) return refuse(413, "the body is too large");
  left_ = *size;
  part_ = *size == 0 ? Part::trailer : Part::chunk_data;
  return Progress::done;
}

Progress BodyReader::read_chunk_end(std::string_view& bytes) {
  constexpr std::string_view end = "\r\n";
  const std::string_view begun = bytes.substr(0, end.size());
  if (!end.starts_with(begun)) return refuse(400, "a chunk longer than its size");
  if (begun.size() < end.size()) return Progress::more;
  bytes.remove_prefix(end.size());
  part_ = Part::chunk_size;
  return Progress::done;
}

// Trailers are held to the rules of fields, and dropped: nothing here may depend on what came
// behind a body.
Progress BodyReader::read_trailer(std::string_view& bytes) {
  bool is_malformed = false;
  const std::optional<std::string_view> line = cut_line(bytes, is_malformed);
  if (is_malformed) return refuse(400, "a line that does not end with CR LF");
  if ((line ? line->size() : bytes.size()) > trailer_left_)
    return refuse(431, "the trailer is too large");
  if (!line) return Progress::more;
  trailer_left_ -= line->size();
  if (line->empty()) {
    part_ = Part::done;
    return Progress::done;
  }
  const std::size_t colon = line->find(':');
  if (colon == line->npos || !is_token(line->substr(0, colon)) ||
      !is_field_value(line->substr(colon + 1)))
    return refuse(400, "a trailer is not a field");
  return Progress::done;
}

}  // namespace undertext::http
