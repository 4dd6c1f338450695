// The size of a picture, read from the first bytes of its base64 text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokens/cost_profile.hpp"

namespace undertext {

// Appends what `base64` encodes until `bytes_max` have been appended or something is there that is
// no base64. White space and the backslashes of JSON escapes are passed over; both alphabets are
// read.
void append_base64_decoded(std::string& out, std::string_view base64, std::size_t bytes_max);

// Of a PNG, JPEG, GIF or WebP. Nothing for any other format, a damaged head, or a picture without
// width or height. A JPEG says its size behind its metadata; one with more than 64 KiB of that has
// none here.
std::optional<PixelSize> image_size(std::string_view base64);

}  // namespace undertext
