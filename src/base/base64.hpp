// Base64 (RFC 4648, section 4) for bytes that are no text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace undertext {

std::string base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);  // nothing: it is none

}  // namespace undertext
