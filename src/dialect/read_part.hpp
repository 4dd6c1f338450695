// Parts of a message's content.
#pragma once

#include "dialect/turn.hpp"

namespace undertext {

// `origin`: the dialect that the message is known to come from, or 0. `native` loses those in which the part may not stand as it is.
Block read_part(const JsonValue& part, DialectSet origin, DialectSet& native, Arena& arena);

}  // namespace undertext
