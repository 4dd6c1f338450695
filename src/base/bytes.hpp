// Numbers and texts as bytes, small numbers in few of them: what is stored and is not JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <undertext/error.hpp>

namespace undertext {

class ByteOut {
 public:
  void number(std::uint64_t n) {
    while (n >= 0x80) {
      bytes += static_cast<char>(n | 0x80);
      n >>= 7;
    }
    bytes += static_cast<char>(n);
  }
  void signed_number(std::int64_t n) {
    number((static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63));
  }
  void flag(bool b) { number(b ? 1 : 0); }
  void text(std::string_view t) {
    number(t.size());
    bytes += t;
  }

  std::string bytes;
};

// Reads them. Bytes that cannot be so are thrown as Failure: corrupt, with `what` in its message.
class ByteIn {
 public:
  ByteIn(std::string_view bytes, std::string what) : rest_(bytes), what_(std::move(what)) {}

  std::uint64_t number();
  std::uint32_t number32();
  std::int64_t signed_number() {
    const std::uint64_t n = number();
    return static_cast<std::int64_t>((n >> 1) ^ (~(n & 1) + 1));
  }
  bool flag() { return number() != 0; }
  std::string_view text();
  std::string_view raw(std::size_t size);  // that many bytes
  // How many things of at least one byte each follow: a number that cannot be larger than what is
  // left.
  std::uint64_t count();
  std::size_t left() const { return rest_.size(); }
  void end() const;  // nothing may be left
  [[noreturn]] void fail(std::string_view problem) const;
  // Failure: unsupported, for what only a newer release knows
  [[noreturn]] void fail_newer() const;

 private:
  std::string_view rest_;
  std::string what_;
};

}  // namespace undertext
