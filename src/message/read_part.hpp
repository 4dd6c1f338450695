// Parts of a message's content.
#pragma once

#include "message/turn.hpp"

namespace undertext {

// `origin`: the dialect that the message is known to come from, or 0. `native` loses those in which
// the part may not stand as it is.
Block read_part(const JsonValue& part, DialectSet origin, DialectSet& native, Arena& arena,
                ToolIds& ids);

// A part that is said or shown: text, a refusal, media. Leaves `block` as it is where the part is
// none of these.
void read_said(const JsonValue& part, std::string_view type, Block& block, Arena& arena);

// The words of an item or part of the type reasoning, those that can be read; a body.
std::string_view reasoning_text(const JsonValue& reasoning, Arena& arena);

}  // namespace undertext
