// How many tokens a request leaves its answer, whatever its dialect calls that.
#pragma once

#include <cstdint>

#include "base/json_text.hpp"

namespace undertext {

// 0: it does not say.
std::uint64_t answer_tokens_in(const JsonValue& request);

}  // namespace undertext
