// Copies in which nothing changed: a TRANSFORM of a whole role names many messages and changes few.
// They say nothing new, so neither their bytes nor their words are stored again.
#pragma once

#include <cstdint>
#include <optional>

#include "history/log.hpp"

namespace undertext {

// False: it is so short that it is stored and indexed again.
bool is_worth_sharing(const Message& body);

// The message whose copy this one is, with the same bytes. Nothing: there is none, or it is not
// worth sharing.
std::optional<std::uint32_t> repeated_original(const Log& log, std::uint32_t ordinal,
                                               const Message& body);

}  // namespace undertext
