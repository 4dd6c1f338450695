// Where a profile says that something stands.
#pragma once

#include <string>
#include <string_view>

#include "base/json_text.hpp"

namespace undertext {

// The text at a JSON pointer (RFC 6901). Behind a # it goes on in the JSON that the text there
// holds. Empty: there is none.
std::string text_at(const JsonValue& root, std::string_view pointer);

}  // namespace undertext
