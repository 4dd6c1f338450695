#include "pack/pack.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

#include <zstd.h>

namespace undertext {
namespace {

// Of what zstd offers. References hold nearly everything, so that more gains little.
constexpr int quick_level = 1, thorough_level = 6;
constexpr int window_log_min = 10;  // zstd's least
constexpr int window_log_max = 30;  // beyond it, what stands furthest back is not found

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Error damaged(std::string_view why) {
  return {ErrorCode::corrupt, "packed bytes cannot be unpacked: " + std::string(why)};
}

// Only a bug makes zstd refuse what is set here, or want of memory.
void require(std::size_t code) {
  if (ZSTD_isError(code) != 0) throw std::bad_alloc();
}

}  // namespace

std::string pack(std::string_view bytes, std::string_view reference, PackEffort effort) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  const int window_log =
      std::clamp(static_cast<int>(std::bit_width(bytes.size() + reference.size())), window_log_min,
                 window_log_max);
  require(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel,
                                 effort == PackEffort::quick ? quick_level : thorough_level));
  require(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log));
  // Whole messages stand far from where they stood: matches of any distance are found by this.
  if (!reference.empty())
    require(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1));
  require(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1));
  require(ZSTD_CCtx_refPrefix(context.get(), reference.data(), reference.size()));
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  require(size);
  packed.resize(size);
  packed.shrink_to_fit();
  return packed;
}

Result<std::string> unpack(std::string_view packed, std::string_view reference,
                           std::uint64_t bytes_max) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return damaged("they do not say their size");
  if (size > bytes_max) return damaged("they are more than were packed");
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  require(ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, window_log_max));
  require(ZSTD_DCtx_refPrefix(context.get(), reference.data(), reference.size()));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const std::size_t made =
      ZSTD_decompressDCtx(context.get(), bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(made) != 0) return damaged(ZSTD_getErrorName(made));
  if (made != bytes.size()) return damaged("they end too early");
  return bytes;
}

}  // namespace undertext
