#include "tokens/image_size.hpp"

#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

std::string base64(std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (unsigned k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : digits[three >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string big(std::uint32_t number, unsigned bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(number >> (8 * bytes));
  return text;
}
std::string little(std::uint32_t number, unsigned bytes) {
  const std::string text = big(number, bytes);
  return {text.rbegin(), text.rend()};
}

std::string png(std::uint32_t width, std::uint32_t height) {
  return "\x89PNG\r\n\x1A\n" + big(13, 4) + "IHDR" + big(width, 4) + big(height, 4) +
         std::string(20, 'x');
}
std::string jpeg(std::uint32_t width, std::uint32_t height, std::size_t metadata) {
  std::string bytes = "\xFF\xD8";
  while (metadata > 0) {
    const std::size_t some = std::min<std::size_t>(metadata, 60'000);
    bytes += "\xFF\xE1" + big(static_cast<std::uint32_t>(some) + 2, 2) + std::string(some, 'm');
    metadata -= some;
  }
  return bytes + "\xFF\xC2" + big(17, 2) + "\x08" + big(height, 2) + big(width, 2) +
         std::string(12, 'x');
}

void expect_size(const std::string& bytes, std::uint32_t width, std::uint32_t height) {
  const auto size = image_size(base64(bytes));
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, width);
  EXPECT_EQ(size->height, height);
}

TEST(ImageSize, IsReadFromTheHeadOfEveryFormat) {
  expect_size(png(1024, 768), 1024, 768);
  expect_size("GIF89a" + little(320, 2) + little(200, 2) + std::string(30, 'x'), 320, 200);
  expect_size(jpeg(4032, 3024, 0), 4032, 3024);
  expect_size(jpeg(4032, 3024, 50'000), 4032, 3024);
  const std::string riff = "RIFF" + little(1000, 4) + "WEBP";
  expect_size(
      riff + "VP8X" + little(10, 4) + std::string(4, '\0') + little(1919, 3) + little(1079, 3),
      1920, 1080);
  expect_size(riff + "VP8 " + little(100, 4) + std::string(3, 'x') + "\x9D\x01\x2A" +
                  little(640, 2) + little(480, 2),
              640, 480);
  expect_size(
      riff + "VP8L" + little(100, 4) + "\x2F" + little(99 | 49 << 14, 4) + std::string(8, 'x'), 100,
      50);
}

TEST(ImageSize, TheRestOfTheFileIsNotLookedAt) {
  std::string text = base64(png(10, 20));
  text += std::string(50'000'000, 'A');
  EXPECT_EQ(image_size(text)->height, 20u);
}

TEST(ImageSize, LinesSlashesAndTheOtherAlphabetAreRead) {
  std::string broken = base64(png(10, 20));
  broken.insert(8, "\\n");
  broken.insert(4, "\n ");
  EXPECT_EQ(image_size(broken)->width, 10u);
  std::string slashed;
  for (const char c : base64(jpeg(5, 6, 0))) slashed += c == '/' ? "\\/" : std::string(1, c);
  EXPECT_EQ(image_size(slashed)->width, 5u);
  std::string url = base64(jpeg(5, 6, 0));
  for (char& c : url) c = c == '/' ? '_' : c == '+' ? '-' : c;
  EXPECT_EQ(image_size(url)->height, 6u);
}

TEST(ImageSize, DamagedHeadsHaveNone) {
  EXPECT_FALSE(image_size(""));
  EXPECT_FALSE(image_size("!!!!"));
  EXPECT_FALSE(image_size(base64(png(0, 20))));
  EXPECT_FALSE(image_size(base64("BM" + std::string(60, 'x'))));
  // a segment without length
  EXPECT_FALSE(
      image_size(base64("\xFF\xD8\xFF\xE1" + std::string(2, '\0') + std::string(100, 'x'))));
  // behind too much metadata
  EXPECT_FALSE(image_size(base64(jpeg(5, 6, 200'000))));
  for (const std::string& whole :
       {png(7, 8), jpeg(7, 8, 10), "GIF89a" + little(1, 2) + little(2, 2),
        std::string("RIFF1234WEBPVP8X")})
    // none of them reads beyond its end
    for (std::size_t n = 0; n < whole.size(); ++n) image_size(base64(whole.substr(0, n)));
}

TEST(ImageSize, AnAbsurdSizeIsWhatTheHeadSays) {
  expect_size(png(0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFF, 0xFFFFFFFF);
}

}  // namespace
}  // namespace undertext
