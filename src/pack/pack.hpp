// Bytes as their differences to a reference: zstd, with the reference as what stands before them.
//
//     std::string packed = pack(bytes, reference);
//     unpack(packed, reference).value() == bytes;
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <undertext/error.hpp>

namespace undertext {

enum class PackEffort : std::uint8_t { quick, thorough };

// A pack names its size and carries a checksum of the bytes. An empty reference is fine.
std::string pack(std::string_view bytes, std::string_view reference,
                 PackEffort effort = PackEffort::thorough);

// The very bytes that were packed, given the same reference. Never makes more than `bytes_max`.
// corrupt: the pack is damaged, of more bytes, or of another reference.
Result<std::string> unpack(std::string_view packed, std::string_view reference,
                           std::uint64_t bytes_max);

}  // namespace undertext
