// The body of a request, as its head announced it: so many bytes, or in chunks. A value: bytes in,
// the body out, never more of it than allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/head.hpp"

namespace undertext::http {

class BodyReader {
 public:
  BodyReader() = default;
  BodyReader(const RequestHead& head, std::uint64_t bytes_max, std::uint32_t trailer_bytes_max);

  // Takes what belongs to the body off the front of `bytes`. refused: see refusal().
  Progress read(std::string_view& bytes);
  const Refusal& refusal() const { return refusal_; }
  // No more than the body can have: what is allocated beyond is never written to, and costs
  // nothing.
  std::uint64_t bytes_held() const {
    return std::min<std::uint64_t>(body_.capacity(), length_max_);
  }
  std::string take() { return std::move(body_); }

 private:
  enum class Part { data, chunk_size, chunk_data, chunk_end, trailer, done };

  Progress refuse(unsigned status, std::string_view why);
  bool take_data(std::string_view& bytes, Part next);
  Progress read_size(std::string_view& bytes);
  Progress read_chunk_end(std::string_view& bytes);
  Progress read_trailer(std::string_view& bytes);

  Part part_ = Part::done;
  std::uint64_t left_ = 0;  // of the body, or of the chunk
  std::uint64_t bytes_max_ = 0;
  std::uint64_t length_max_ = 0;    // as its head tells, where it does
  std::uint64_t trailer_left_ = 0;  // bytes of trailers and of chunk extensions
  std::string body_;
  Refusal refusal_;
};

}  // namespace undertext::http
