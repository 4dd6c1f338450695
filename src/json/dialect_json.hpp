// Requests of providers through the protocol: {"query":"render","dialect":"anthropic"}.
#pragma once

#include <string>
#include <vector>

#include <undertext/dialect.hpp>

#include "json/fields.hpp"

namespace undertext {

// `dialect`, a name, or `profile`, a name or an object: one of the two.
void read_profile(Fields& fields, Profile& profile);
void read_bound_thinking(Fields& fields, BoundThinking& bound);

void append_json(std::string& out, const Finding& finding);
void append_json(std::string& out, const Loss& loss);
void append_json(std::string& out, const Rendering& rendering);
void append_json(std::string& out, const EditCost& cost);
void append_findings(std::string& out, const std::vector<Finding>& findings);  // {"valid":…,"findings":[…]}

}  // namespace undertext
