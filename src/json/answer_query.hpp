// The answers to queries.
#pragma once

#include <string>

#include "json/query_json.hpp"
#include "json/request.hpp"

namespace undertext {

// Throws Failure, having written a part of the answer: what the query fails with, what the store
// fails with, and too_large or unavailable (AnswerRoom).
void append_answer(std::string& out, const Asked& asked, const Query& query);

}  // namespace undertext
