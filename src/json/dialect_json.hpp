// Requests of providers through the protocol: {"query":"render","dialect":"anthropic"}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>

#include "json/fields.hpp"

namespace undertext {

// `dialect`, a name, or `profile`, a name or an object: one of the two. A dialect alone has the
// profile that the settings or their model have for it, else its own; neither of the two is that of
// `own`, the format of what comes with it, else the first profile of the settings or their model.
void read_profile(Fields& fields, const Settings& settings, Profile& profile,
                  std::optional<Dialect> own = {});
// That of the settings, or of their model, for a dialect; of any dialect, the first. Throws
// Failure: a row names a profile that there is none of.
std::optional<Profile> settled_profile(const Settings& settings, std::optional<Dialect> dialect);
void read_bound_thinking(Fields& fields, BoundThinking& bound);
// `cacheMarkers`: "given" or "auto"
void read_cache_markers(Fields& fields, CacheMarkers& markers);

// `toolNames`, as an answer of render has them.
void read_tool_names(Fields& fields, ToolNames& names);

void append_json(std::string& out, const Finding& finding);
void append_json(std::string& out, const Loss& loss);
void append_json(std::string& out, const Rendering& rendering);
void append_json(std::string& out, const EditCost& cost);
void append_json(std::string& out, const Imported& imported);
// {"valid":…,"findings":[…]}
void append_findings(std::string& out, const std::vector<Finding>& findings);

}  // namespace undertext
