#include <gtest/gtest.h>

#include "gateway/observed.hpp"

#if UNDERTEXT_HAVE_ZLIB
#  include <zlib.h>
#endif
#include <zstd.h>

namespace undertext {
namespace {

constexpr std::uint64_t much = 1 << 20;

std::string text_of(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "data: " + std::to_string(text.size()) + "\n\n";
  return text;
}

TEST(Decoded, WithoutACodingTheBytesAreAsTheyCame) {
  EXPECT_EQ(decoded("abc", "", much).value(), "abc");
  EXPECT_EQ(decoded("abc", "identity", much).value(), "abc");
  EXPECT_EQ(decoded("abc", "", 2).error().code, ErrorCode::too_large);
  EXPECT_EQ(decoded("abc", "compress", much).error().code, ErrorCode::unsupported);
  EXPECT_EQ(decoded("abc", "gzip, gzip, gzip, gzip", much).error().code, ErrorCode::unsupported);
}

#if UNDERTEXT_HAVE_ZLIB

// 31: gzip; 15: zlib; -15: neither.
std::string deflated(const std::string& text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Decoded, GzipAndDeflateGiveWhatWasCompressed) {
  const std::string text = text_of(300'000);
  EXPECT_EQ(decoded(deflated(text, 31), "gzip", much).value(), text);
  EXPECT_EQ(decoded(deflated(text, 31) + deflated(text, 31), "X-Gzip", much).value(), text + text);
  EXPECT_EQ(decoded(deflated(text, 15), "deflate", much).value(), text);
  EXPECT_EQ(decoded(deflated(text, -15), "Deflate", much).value(), text);
  EXPECT_EQ(decoded(deflated(deflated(text, 15), 31), "deflate, gzip", much).value(), text);
}

TEST(Decoded, ABombIsRefusedBeforeItIsLarge) {
  const std::string bomb = deflated(std::string(64 << 20, 'x'), 31);
  ASSERT_LT(bomb.size(), 100'000u);
  EXPECT_EQ(decoded(bomb, "gzip", much).error().code, ErrorCode::too_large);
  EXPECT_EQ(decoded(deflated(bomb, 31), "gzip, gzip", much).error().code, ErrorCode::too_large);
}

TEST(Decoded, WhatIsCutOffIsAnErrorUnlessItIsAllowed) {
  const std::string text = text_of(100'000), bytes = deflated(text, 31),
                    cut = bytes.substr(0, bytes.size() / 2);
  EXPECT_EQ(decoded(cut, "gzip", much).error().code, ErrorCode::invalid_argument);
  const std::string begun = decoded(cut, "gzip", much, CutOff::allowed).value();
  EXPECT_FALSE(begun.empty());
  EXPECT_TRUE(text.starts_with(begun));
  EXPECT_EQ(decoded("no gzip at all", "gzip", much, CutOff::allowed).error().code,
            ErrorCode::invalid_argument);
}

#endif

#if UNDERTEXT_HAVE_BROTLI

std::string of_hexadecimal(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

// "data: hello" and two line ends, 20,000 times; 64 MiB of x.
constexpr std::string_view brotli_lines =
    "5b9ff783df9160c7a6ac8b8b3e4b1032b456d061a3d361656c6fe2c068e0a6f7"
    "81186d0d";
constexpr std::string_view brotli_bomb =
    "cbffff3ff825f0e2b14020f7fe8fffff7ff04b00c4611180eefd1fffffffe097"
    "0088c30200ddfb3ffeffffc12f0110870500baf77ffcffff835f02200e0b0074"
    "effff8ffff07bf04401c1600e8defff1ffff0f7e0980382c00d0bdffcbffff3f"
    "fc1200715800a07bff07";

TEST(Decoded, BrotliToo) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "data: hello\n\n";
  const std::string bytes = of_hexadecimal(brotli_lines), cut = bytes.substr(0, bytes.size() - 4);
  EXPECT_EQ(decoded(bytes, "br", much).value(), text);
  EXPECT_EQ(decoded(of_hexadecimal(brotli_bomb), "BR", much).error().code, ErrorCode::too_large);
  EXPECT_EQ(decoded(cut, "br", much).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(text.starts_with(decoded(cut, "br", much, CutOff::allowed).value()));
  EXPECT_EQ(decoded(bytes + "more", "br", much).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(decoded("nonsense", "br", much).error().code, ErrorCode::invalid_argument);
}

#endif

TEST(Decoded, ZstdToo) {
  const std::string text = text_of(300'000);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3));
  EXPECT_EQ(decoded(bytes, "zstd", much).value(), text);
  EXPECT_EQ(decoded(bytes + bytes, "zstd", much).value(), text + text);
  EXPECT_EQ(decoded(bytes, "zstd", 1000).error().code, ErrorCode::too_large);
  EXPECT_EQ(decoded(bytes.substr(0, bytes.size() - 9), "zstd", much).error().code,
            ErrorCode::invalid_argument);
  EXPECT_TRUE(text.starts_with(
      decoded(bytes.substr(0, bytes.size() - 9), "zstd", much, CutOff::allowed).value()));
  EXPECT_EQ(decoded("nonsense", "zstd", much).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace undertext
