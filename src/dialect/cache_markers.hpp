// Where a request is marked for a provider's cache. docs/dialects.md has the rule.
#pragma once

#include <string>

#include <undertext/dialect.hpp>

#include "dialect/request_draft.hpp"

namespace undertext {

// Marks blocks of the draft, if `options` ask for it and the provider takes markers. `tools` are
// those of the request as they are sent, empty for as the caller gave them; with a marker on one of
// them they are set.
void place_cache_markers(RequestDraft& draft, const Profile& profile, const RenderOptions& options,
                         Arena& arena, std::string& tools);

}  // namespace undertext
