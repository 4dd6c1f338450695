// What a store tells of its conversations, as JSON text.
#pragma once

#include <string>

#include <undertext/store.hpp>

namespace undertext {

// {"conversation":…,"version":…,"totalMessages":…,"createdAt":…,"updatedAt":…}, and firstVersion
// and forkOf where there is such
void append_json(std::string& out, const ConversationRecord& record);
// {"conversations":…,"versions":…,"messages":…,"damage":[{"conversation":…,"what":…}]}
void append_json(std::string& out, const CheckReport& report);
// {"conversation":…,"ordinal":…,"who":…,"at":…,"why":…,"digest":…}, without ordinal for a whole
// conversation
void append_json(std::string& out, const RemovalRecord& record);

}  // namespace undertext
