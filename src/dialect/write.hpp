// Turns as bytes of a dialect, and as messages of the engine's own form.
#pragma once

#include <string>

#include "message/turn.hpp"

namespace undertext {

// Writing, without looking at `raw` of the turn; blocks whose raw is native are copied.
void write_neutral(std::string& out, const Turn& turn);  // without the closing brace
void write_chat(std::string& out, const Turn& turn);
void write_responses(std::string& out, const Turn& turn);
void write_anthropic(std::string& out, const Turn& turn);
void write_gemini(std::string& out, const Turn& turn);
void write_in(Dialect dialect, std::string& out, const Turn& turn);

}  // namespace undertext
