// COMPRESS by a plan: what a strategy proposed becomes part of the next version, or an error says
// why it cannot.
#pragma once

#include <optional>
#include <string>

#include <undertext/operation.hpp>

#include "history/draft.hpp"

namespace undertext {

Error bad_plan(std::string message);  // "the plan …"

// conflict: the plan is for another version than the head. invalid_argument: its stretches do not
// make sense, or it would hide a system or pinned message, or leave nothing of the view, or more
// tokens than before; or one of its summaries would stand for what does not stand together. Whether
// it breaks a tool pair shows in the warnings, once the draft is finished. A plan without
// replacements changes nothing, and opens no batch.
std::optional<Error> apply_plan(Draft& draft, const Plan& plan);

}  // namespace undertext
