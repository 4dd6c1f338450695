// The head of a request, read line by line and strictly: what two programs could read in two ways
// is refused. A value: bytes in, a head out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/http.hpp"

namespace undertext::http {

enum class Progress { more, done, refused };

// Why a request is refused by this room itself.
struct Refusal {
  unsigned status = 400;
  std::string_view why = {};  // a literal
};

// What the head says of the request as a whole.
struct RequestHead {
  Head head;
  std::uint64_t content_length = 0;
  bool is_chunked = false;
  bool is_http10 = false;
  bool wants_close = false;
  bool expects_continue = false;

  bool has_body() const { return is_chunked || content_length > 0; }
};

class HeadReader {
 public:
  explicit HeadReader(const Limits& limits) : limits_(&limits) {}

  // Takes whole lines off the front of `bytes`, as many as there are up to the end of the head.
  // done: the head is whole. refused: see refusal().
  Progress read(std::string_view& bytes);
  bool has_begun() const { return bytes_ > 0; }
  const Refusal& refusal() const { return refusal_; }
  RequestHead take();  // after `done`; the reader is as new

 private:
  bool refuse(unsigned status, std::string_view why);
  bool check_partial(std::string_view line);
  bool read_line(std::string_view line);
  bool read_request_line(std::string_view line);
  bool read_version(std::string_view version);
  bool read_field(std::string_view line);
  bool read_length(std::string_view value);
  bool read_coding(std::string_view value);
  bool finish();
  bool finish_target(std::string_view host);

  const Limits* limits_;
  RequestHead request_;
  Refusal refusal_;
  std::uint64_t bytes_ = 0;
  bool has_request_line_ = false;
  bool is_done_ = false;
  bool has_length_ = false;
  bool skipped_empty_line_ = false;
};

// A line ends with CR LF, and holds neither elsewhere. nullopt: there is no end of it yet, or (when
// `is_malformed`) there cannot be one.
std::optional<std::string_view> cut_line(std::string_view& bytes, bool& is_malformed);
bool equal_ignoring_case(std::string_view a, std::string_view b);
bool is_token(std::string_view text);        // of RFC 9110: names of methods and fields
bool is_field_value(std::string_view text);  // no control characters but tabs
std::string_view trimmed(std::string_view text);

}  // namespace undertext::http
