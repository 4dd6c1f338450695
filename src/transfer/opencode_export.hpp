// A conversation as `opencode import` takes it.
#pragma once

#include <optional>
#include <string>

#include "base/json_text.hpp"
#include "transfer/session_file.hpp"

namespace undertext {

// Lists of messages in Anthropic's form. `before` is left out where what stands for it is no text.
SessionFile opencode_file(const SessionFacts& facts, const std::string& seed,
                          std::optional<JsonValue> before, JsonValue now);

}  // namespace undertext
