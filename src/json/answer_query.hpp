// The answers to queries.
#pragma once

#include <string>

#include "json/query_json.hpp"
#include "json/request.hpp"

namespace undertext {

// too_large, unavailable: see AnswerRoom. Throws Failure where something cannot be read from the store.
void append_answer(std::string& out, const Asked& asked, const Query& query);

}  // namespace undertext
