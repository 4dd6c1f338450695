// The id that a provider gave to an item. Requests may name the item by it instead of repeating it.
#pragma once

#include <string>

#include <undertext/message.hpp>

namespace undertext {

// Of a message that is one item; empty: it has none.
std::string item_id(const Message& message);

// The id of the item that a message names instead of saying it; empty: it says something.
std::string referenced_item(const Message& message);

}  // namespace undertext
