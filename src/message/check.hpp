// The rules a message must pass.
#pragma once

#include <cstdint>
#include <optional>

#include <undertext/message.hpp>

#include "base/json_text.hpp"

namespace undertext {

// What is known of a message once it has passed.
struct MessageFacts {
  Role role = Role::user;
  std::optional<std::int64_t> timestamp_ms = {};
};

// invalid_argument with the member at fault as `field`. Fills `facts` when there is no error.
std::optional<Error> check_message(const JsonValue& message, MessageFacts& facts);

}  // namespace undertext
