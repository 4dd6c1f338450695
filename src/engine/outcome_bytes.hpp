// What an operation answered, as bytes: stored with its operation id, for whoever repeats it.
#pragma once

#include <string>
#include <string_view>

#include <undertext/conversation.hpp>

namespace undertext {

std::string outcome_bytes(const Outcome& outcome);
Outcome read_outcome(std::string_view bytes);  // throws Failure: corrupt

}  // namespace undertext
