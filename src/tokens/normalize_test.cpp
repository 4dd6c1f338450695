#include "tokens/normalize.hpp"

#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

std::string nfc(std::string_view text) {
  std::string storage;
  return std::string(normalize_nfc(text, storage));
}

TEST(Normalize, MarksBecomeOneWithTheirLetter) {
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("xe\u0301y"), "x\u00E9y");
  EXPECT_EQ(nfc("o\u0323\u0302"), "\u1ED9");
  EXPECT_EQ(nfc("o\u0302\u0323"), "\u1ED9") << "whatever their order";
  EXPECT_EQ(nfc("か\u3099"), "が");
}

TEST(Normalize, SomeCharactersAreNeverComposed) {
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C");
  EXPECT_EQ(nfc("\u212B\u2126"), "\u00C5\u03A9");
}

TEST(Normalize, HangulIsComposedByArithmetic) {
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "한");
  EXPECT_EQ(nfc("하\u11AB"), "한");
  EXPECT_EQ(nfc("\u1112\u1161\u11A7"), "하\u11A7");
}

TEST(Normalize, TextThatIsNormalIsNotCopied) {
  for (const std::string_view text : {"", "plain", "Zoë 你好 한국 😀", "\u0301"}) {
    std::string storage;
    EXPECT_EQ(normalize_nfc(text, storage), text);
  }
  const std::string_view text = "Zoë 你好";
  std::string storage;
  EXPECT_EQ(normalize_nfc(text, storage).data(), text.data());
}

}  // namespace
}  // namespace undertext
