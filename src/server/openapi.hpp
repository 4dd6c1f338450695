// What the table of routes says, for programs and for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/route.hpp"

namespace undertext {

std::string openapi_json(const std::vector<Route>& routes);  // OpenAPI 3.1
// HTML that needs docs_style() and nothing else
std::string docs_page(const std::vector<Route>& routes);
std::string_view docs_style();

}  // namespace undertext
