#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#if UNDERTEXT_HAVE_ZLIB
#  include <zlib.h>
#endif
#if UNDERTEXT_HAVE_BROTLI
#  include <brotli/decode.h>
#endif
#include <zstd.h>

#include "gateway/observed.hpp"
#include "http/head.hpp"

namespace undertext {
namespace {

constexpr std::size_t piece_bytes = 64 << 10;
constexpr std::size_t codings_max = 3;

Error too_much(std::uint64_t bytes_max) {
  return {.code = ErrorCode::too_large,
          .message = "decoded, the body is larger than " + std::to_string(bytes_max) + " bytes"};
}
Error spoilt(std::string_view coding) {
  return {.code = ErrorCode::invalid_argument, .message = "the body is no " + std::string(coding)};
}
Error ended_early(std::string_view coding) {
  return {.code = ErrorCode::invalid_argument,
          .message = "the body ends before its " + std::string(coding) + " does"};
}

#if UNDERTEXT_HAVE_ZLIB

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// `window_bits` as of inflateInit2: 47 reads gzip and zlib, -15 deflate without a head.
Result<std::string> inflated(std::string_view bytes, int window_bits, std::uint64_t bytes_max,
                             CutOff cut) {
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, EndInflate> owner(&stream);
  // which zlib does not write to
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string result;
  std::array<char, piece_bytes> piece;
  for (int state = Z_OK;;) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
      return spoilt("gzip or deflate");
    const std::size_t size = piece.size() - stream.avail_out;
    if (result.size() + size > bytes_max) return too_much(bytes_max);
    result.append(piece.data(), size);
    if (state == Z_STREAM_END) {
      if (stream.avail_in == 0) return result;
      if (inflateReset(&stream) != Z_OK) return spoilt("gzip");  // gzip may have several members
    } else if (stream.avail_in == 0 && stream.avail_out > 0) {
      return cut == CutOff::allowed ? Result<std::string>(std::move(result))
                                    : ended_early("gzip or deflate");
    }
  }
}

Result<std::string> deflated(std::string_view bytes, std::uint64_t bytes_max, CutOff cut) {
  Result<std::string> with_head = inflated(bytes, 47, bytes_max, cut);
  // Some send deflate without zlib's head.
  if (!with_head && with_head.error().code == ErrorCode::invalid_argument)
    return inflated(bytes, -15, bytes_max, cut);
  return with_head;
}

#else

Result<std::string> inflated(std::string_view, int, std::uint64_t, CutOff) {
  return Error{.code = ErrorCode::unsupported, .message = "this build has no zlib"};
}
Result<std::string> deflated(std::string_view bytes, std::uint64_t bytes_max, CutOff cut) {
  return inflated(bytes, 0, bytes_max, cut);
}

#endif

struct FreeZstd {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

Result<std::string> unzstd(std::string_view bytes, std::uint64_t bytes_max, CutOff cut) {
  const std::unique_ptr<ZSTD_DStream, FreeZstd> stream(ZSTD_createDStream());
  if (!stream) throw std::bad_alloc();
  // 8 MiB, which RFC 8878 asks of every reader; more is memory that a sender chooses
  constexpr int window_log_max = 23;
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, window_log_max);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::string result;
  std::array<char, piece_bytes> piece;
  for (;;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left)) return spoilt("zstd");
    if (result.size() + out.pos > bytes_max) return too_much(bytes_max);
    result.append(piece.data(), out.pos);
    if (in.pos < in.size || out.pos == out.size) continue;
    if (left != 0 && cut == CutOff::refused) return ended_early("zstd");
    return result;
  }
}

#if UNDERTEXT_HAVE_BROTLI

struct FreeBrotli {
  void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
};

Result<std::string> unbrotli(std::string_view bytes, std::uint64_t bytes_max, CutOff cut) {
  const std::unique_ptr<BrotliDecoderState, FreeBrotli> state(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr));
  if (!state) throw std::bad_alloc();
  std::size_t left = bytes.size();
  const auto* in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::string result;
  std::array<std::uint8_t, piece_bytes> piece;
  for (;;) {
    std::size_t room = piece.size();
    std::uint8_t* out = piece.data();
    const BrotliDecoderResult got =
        BrotliDecoderDecompressStream(state.get(), &left, &in, &room, &out, nullptr);
    if (got == BROTLI_DECODER_RESULT_ERROR) return spoilt("br");
    const std::size_t size = piece.size() - room;
    if (result.size() + size > bytes_max) return too_much(bytes_max);
    result.append(reinterpret_cast<const char*>(piece.data()), size);
    if (got == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) continue;
    if (got == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && cut == CutOff::refused)
      return ended_early("br");
    return left == 0 ? Result<std::string>(std::move(result)) : spoilt("br");
  }
}

#else

Result<std::string> unbrotli(std::string_view, std::uint64_t, CutOff) {
  return Error{.code = ErrorCode::unsupported, .message = "this build has no Brotli"};
}

#endif

Result<std::string> decoded_once(std::string_view bytes, std::string_view coding,
                                 std::uint64_t bytes_max, CutOff cut) {
  if (bytes.empty()) return std::string();
  if (http::equal_ignoring_case(coding, "gzip") || http::equal_ignoring_case(coding, "x-gzip"))
    return inflated(bytes, 47, bytes_max, cut);
  if (http::equal_ignoring_case(coding, "deflate")) return deflated(bytes, bytes_max, cut);
  if (http::equal_ignoring_case(coding, "zstd")) return unzstd(bytes, bytes_max, cut);
  if (http::equal_ignoring_case(coding, "br")) return unbrotli(bytes, bytes_max, cut);
  return Error{.code = ErrorCode::unsupported, .message = "a Content-Encoding that is not known"};
}

}  // namespace

Result<std::string> decoded(std::string_view bytes, std::string_view content_encoding,
                            std::uint64_t bytes_max, CutOff cut) {
  std::vector<std::string_view> codings;
  for (std::string_view rest = content_encoding; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view coding = http::trimmed(rest.substr(0, comma));
    if (!coding.empty() && !http::equal_ignoring_case(coding, "identity"))
      codings.push_back(coding);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (codings.size() > codings_max)
    return Error{.code = ErrorCode::unsupported, .message = "too many codings"};
  if (codings.empty())
    return bytes.size() > bytes_max ? Result<std::string>(too_much(bytes_max)) : std::string(bytes);
  std::string result;
  std::string_view from = bytes;
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
    Result<std::string> next = decoded_once(from, *coding, bytes_max, cut);
    if (!next) return next;
    result = *std::move(next);
    from = result;
  }
  return result;
}

}  // namespace undertext
