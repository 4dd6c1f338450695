// Cache markers in the parts of a request. They move with every turn, so a message is stored without them.
#pragma once

#include <string>
#include <string_view>

#include "base/json_text.hpp"

namespace undertext {

// The text of `root` without the markers of its messages' parts. `text` is what `root` was read from.
std::string without_markers(std::string_view text, const JsonValue& root);

}  // namespace undertext
