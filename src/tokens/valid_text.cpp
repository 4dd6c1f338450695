// Checks UTF-8, with a quick way past ASCII.
#include "tokens/valid_text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/utf8.hpp"

namespace undertext {
namespace {

// The first byte at or after `at` that begins no well-formed sequence, or `end`.
const char* skip_valid(const char* at, const char* end) {
  while (at != end) {
    while (end - at >= 16) {
      std::uint64_t words[2];
      std::memcpy(words, at, 16);
      if (((words[0] | words[1]) & 0x8080808080808080u) != 0) break;
      at += 16;
    }
    // Non-ASCII text comes in runs; look for a quick way again after a while only.
    const char* const pause = end - at > 64 ? at + 64 : end;
    while (at < pause) {
      // The commonest cases at once: all bits that must be as they are, and none of the forms that
      // are too long or surrogates.
      if (end - at >= 4) {
        const auto byte = [at](std::size_t i) {
          return static_cast<std::uint32_t>(static_cast<std::uint8_t>(at[i]));
        };
        const std::uint32_t three = byte(0) | byte(1) << 8 | byte(2) << 16;
        const std::uint32_t range = three & 0x200F;
        if ((three & 0xC0C0F0) == 0x8080E0 && range != 0 && range != 0x200D) {
          at += 3;
          continue;
        }
        if ((three & 0xC0E0) == 0x80C0 && (three & 0x1E) != 0) {
          at += 2;
          continue;
        }
      }
      const std::size_t size = utf8_sequence_size(at, end);
      if (size == 0) return at;
      at += size;
    }
  }
  return end;
}

// How many bytes at `at`, where nothing well-formed begins, could have been the beginning of
// something well-formed; at least 1.
std::size_t invalid_size(const char* at, const char* end) {
  const auto lead = static_cast<std::uint8_t>(*at);
  const std::size_t wanted = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 : 1;
  std::size_t size = 1;
  for (; size < wanted && at + size != end; ++size) {
    const auto byte = static_cast<std::uint8_t>(at[size]);
    std::uint8_t low = 0x80, high = 0xBF;
    if (size == 1 && lead == 0xE0) low = 0xA0;
    if (size == 1 && lead == 0xED) high = 0x9F;
    if (size == 1 && lead == 0xF0) low = 0x90;
    if (size == 1 && lead == 0xF4) high = 0x8F;
    if (byte < low || byte > high) break;
  }
  return size;
}

}  // namespace

std::string_view valid_text(std::string_view text, std::string& storage) {
  const char* const end = text.data() + text.size();
  const char* valid = skip_valid(text.data(), end);
  if (valid == end) return text;
  storage.clear();
  storage.reserve(text.size() + 16);
  const char* at = text.data();
  for (;;) {
    storage.append(at, valid);
    if (valid == end) return storage;
    append_utf8(storage, replacement_character);
    at = valid + invalid_size(valid, end);
    valid = skip_valid(at, end);
  }
}

}  // namespace undertext
