#include "pack/pack.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

std::string random_text(std::mt19937& random, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>(random() % 256);
  return text;
}

TEST(Pack, BytesComeBackAsTheyWere) {
  std::mt19937 random(1);
  for (const std::size_t size : {0u, 1u, 100u, 5000u, 300'000u}) {
    const std::string reference = random_text(random, size),
                      bytes = random_text(random, size / 2) + reference + "end";
    EXPECT_EQ(unpack(pack(bytes, reference), reference, bytes.size()).value(), bytes);
    EXPECT_EQ(unpack(pack(bytes, ""), "", bytes.size()).value(), bytes);
  }
}

TEST(Pack, WhatTheReferenceHasCostsNextToNothing) {
  std::mt19937 random(2);
  const std::string a = random_text(random, 200'000), b = random_text(random, 3000),
                    c = random_text(random, 200'000);
  const std::string packed =
      pack("head" + c + b.substr(0, 1500) + "x" + b.substr(1500) + "middle" + a, a + b + c);
  EXPECT_LT(packed.size(), 200u);
}

TEST(Pack, AnotherReferenceOrADamagedPackIsCorruptAndNeverOtherBytes) {
  std::mt19937 random(3);
  const std::string reference = random_text(random, 2000),
                    bytes = reference.substr(100, 1500) + random_text(random, 300);
  const std::string packed = pack(bytes, reference);
  EXPECT_EQ(unpack(packed, random_text(random, 2000), bytes.size()).error().code,
            ErrorCode::corrupt);
  EXPECT_EQ(unpack(packed, "", bytes.size()).error().code, ErrorCode::corrupt);
  EXPECT_EQ(unpack(packed, reference, bytes.size() - 1).error().code, ErrorCode::corrupt);
  EXPECT_EQ(unpack("", reference, bytes.size()).error().code, ErrorCode::corrupt);
  for (std::size_t at = 0; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    const Result<std::string> made = unpack(damaged, reference, bytes.size());
    EXPECT_TRUE(!made || *made == bytes) << at;
    EXPECT_FALSE(unpack(packed.substr(0, at), reference, bytes.size())) << at;
  }
}

}  // namespace
}  // namespace undertext
