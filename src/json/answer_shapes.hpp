// The shapes of what the engine answers; each is what a function of answer_json.hpp and its
// neighbours writes.
#pragma once

#include "json/shape.hpp"

namespace undertext {

// Role, Dialect, Pairs, ErrorCode and so on, from their enumerations
void describe_words(Shapes& shapes);
void describe_message(Shapes& shapes);  // Message, Json, JsonObject
void describe_answers(Shapes& shapes);

}  // namespace undertext
