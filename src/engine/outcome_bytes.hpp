// What an operation answered, as bytes: stored with its operation id, for whoever repeats it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>

namespace undertext {

std::string outcome_bytes(const Outcome& outcome);
// Calls edit(text) for each text of an outcome that may quote a message: of errors, and the reason
// of a receipt.
void edit_texts(Outcome& outcome, const std::function<void(std::string& text)>& edit);
Outcome read_outcome(std::string_view bytes);  // throws Failure: corrupt

}  // namespace undertext
