#include "base/bytes.hpp"

#include <limits>

namespace undertext {

void ByteIn::fail(std::string_view problem) const {
  std::string message = what_ + " is damaged: ";
  message += problem;
  throw Failure(Error{ErrorCode::corrupt, std::move(message)});
}

void ByteIn::fail_newer() const {
  throw Failure(
      Error{ErrorCode::unsupported, what_ + " was stored by a newer release of Undertext"});
}

std::uint64_t ByteIn::number() {
  std::uint64_t n = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) fail("it ends too early");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    n |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return n;
  }
  fail("a number is too long");
}

std::uint32_t ByteIn::number32() {
  const std::uint64_t n = number();
  if (n > std::numeric_limits<std::uint32_t>::max()) fail("a number is too large");
  return static_cast<std::uint32_t>(n);
}

std::string_view ByteIn::raw(std::size_t size) {
  if (size > rest_.size()) fail("it ends too early");
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

std::string_view ByteIn::text() { return raw(count()); }

std::uint64_t ByteIn::count() {
  const std::uint64_t n = number();
  if (n > rest_.size()) fail("it is too short for what it should hold");
  return n;
}

void ByteIn::end() const {
  if (!rest_.empty()) fail("there is more of it than there should be");
}

}  // namespace undertext
