// The line protocol: one JSON line in, one JSON line out. Every door that speaks it calls this and nothing else of this room.
#pragma once

#include <string>
#include <string_view>

#include <undertext/conversation.hpp>

namespace undertext {

// Carries out the operation, the atomic list of operations, or the query in `line`. The answer is one line without its newline;
// every failure is an answer too ({"ok":false,"error":{…}}), and has then changed nothing. Throws only std::bad_alloc.
std::string answer(Conversation& conversation, std::string_view line);

// The answer that says `error`.
std::string answer(const Error& error);

}  // namespace undertext
