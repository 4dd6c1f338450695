// What a message says, as JSON.
#pragma once

#include <string>

#include <undertext/message.hpp>

namespace undertext {

// [{"kind":"text","text":…},{"kind":"call","callId":…,"name":…,"arguments":…},…];
// docs/operations.md has the members of each kind.
void append_blocks(std::string& out, const Message& message);

}  // namespace undertext
