// Parts that a client changes with every request: stored ones are left out, those of its newest
// request are put in.
#pragma once

#include <undertext/dialect.hpp>

#include "dialect/rules.hpp"

namespace undertext {

// Before the rules are asked. `view`: whose messages the blocks' sources are.
void put_volatile_parts(RequestDraft& draft, const Profile& profile, const RenderOptions& options,
                        const View& view, Arena& arena);

}  // namespace undertext
