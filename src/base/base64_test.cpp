#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(Base64, IsThatOfTheStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, WhatIsNoneIsRefused) {
  for (const char* text : {"Z", "Zg=", "Zg", "Zh==", "Z*==", "====", "Zg==Zg=="})
    EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace undertext
