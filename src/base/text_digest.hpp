// A digest of 128 bits of a text that comes in pieces. It is part of stored pages: the same on
// every machine and in every release.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace undertext {

// SipHash-1-3 with a fixed key and an output of 128 bits. Equal digests count as equal texts:
// chance does not make two, and whoever looks for two of their own making gains no more than a
// message of their own.
class TextDigest {
 public:
  void add(std::string_view text) {
    size_ += text.size();
    std::size_t i = 0;
    while (i < text.size()) {
      if (filled_ == 0 && text.size() - i >= 8) {
        word_ = word_at(text.data() + i);
        i += 8;
        take_word();
        continue;
      }
      word_ |= byte_at(text.data() + i++) << (8 * filled_);
      if (++filled_ == 8) take_word();
    }
  }
  void add(char c) { add(std::string_view(&c, 1)); }

  std::pair<std::uint64_t, std::uint64_t> finish() {
    word_ |= size_ << 56;
    take_word();
    v2_ ^= 0xee;
    mix(), mix(), mix();
    const std::uint64_t high = v0_ ^ v1_ ^ v2_ ^ v3_;
    v1_ ^= 0xdd;
    mix(), mix(), mix();
    return {high, v0_ ^ v1_ ^ v2_ ^ v3_};
  }

 private:
  static std::uint64_t byte_at(const char* at) { return static_cast<unsigned char>(*at); }
  static std::uint64_t word_at(const char* at) {  // one load on most machines
    std::uint64_t word = 0;
    for (unsigned k = 0; k < 8; ++k) word |= byte_at(at + k) << (8 * k);
    return word;
  }
  void mix() {
    v0_ += v1_, v1_ = std::rotl(v1_, 13) ^ v0_, v0_ = std::rotl(v0_, 32);
    v2_ += v3_, v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_, v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_, v1_ = std::rotl(v1_, 17) ^ v2_, v2_ = std::rotl(v2_, 32);
  }
  void take_word() {
    v3_ ^= word_;
    mix();
    v0_ ^= word_;
    word_ = 0;
    filled_ = 0;
  }

  std::uint64_t v0_ = 0x736f6d6570736575, v1_ = 0x646f72616e646f6d ^ 0xee;
  std::uint64_t v2_ = 0x6c7967656e657261, v3_ = 0x7465646279746573;
  std::uint64_t word_ = 0, size_ = 0;
  unsigned filled_ = 0;
};

}  // namespace undertext
