// The id that a provider gave to an item. Requests may name the item by it instead of repeating it.
#pragma once

#include <string>

#include <undertext/message.hpp>

#include "base/json_text.hpp"

namespace undertext {

// Whether an item of the Responses API is nothing but the id of another one: its type may be left
// out.
bool is_item_reference(const JsonValue& item);

// Of a message that is one item; empty: it has none.
std::string item_id(const Message& message);

// The id of the item that a message names instead of saying it; empty: it says something.
std::string referenced_item(const Message& message);

}  // namespace undertext
