// What an answer says, without reading it as JSON.
#pragma once

#include <optional>
#include <string_view>

#include <undertext/error.hpp>

namespace undertext {

// The code of a line of the protocol that says an error; nothing for one that does not.
std::optional<ErrorCode> error_of(std::string_view line);

}  // namespace undertext
