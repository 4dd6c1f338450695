// Text as a model would get it: valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace undertext {

// The text itself where it is valid. Else a copy, kept in `storage`, with U+FFFD for each maximal
// part that is not: what a decoder makes of it that follows Unicode's recommendation (chapter 3.9).
std::string_view valid_text(std::string_view text, std::string& storage);

}  // namespace undertext
