#include "base/json_size.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(JsonSize, EveryValueAndKeyCounts) {
  const std::uint64_t one = json_reading_bytes("1");
  EXPECT_GT(one, 0u);
  EXPECT_EQ(json_reading_bytes("[1,2,[3]]"), 5 * one);
  EXPECT_EQ(json_reading_bytes(R"({"a":1,"b":[]})"), 6 * one)
      << "an empty array counts as one with a value";
}

TEST(JsonSize, WhatStandsInStringsDoesNotCount) {
  EXPECT_EQ(json_reading_bytes(R"("a,b:[{\",\\")"), json_reading_bytes("1"));
  EXPECT_EQ(json_reading_bytes(R"(["\\",","])"), 3 * json_reading_bytes("1"));
  EXPECT_EQ(json_reading_bytes(R"("never closed,,,\)"), json_reading_bytes("1"));
}

}  // namespace
}  // namespace undertext
