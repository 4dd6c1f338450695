// Where a request is marked for a provider's cache. docs/dialects.md has the rule.
#pragma once

#include <string>

#include <undertext/dialect.hpp>

#include "dialect/request_draft.hpp"

namespace undertext {

// Marks blocks of the draft, if `options` ask for it and the provider takes markers. The answer is the request's tools with a marker on one of them;
// empty when none has to be there.
std::string place_cache_markers(RequestDraft& draft, const Profile& profile, const RenderOptions& options, Arena& arena);

}  // namespace undertext
