// Sessions of opencode: rows of one database, or, of its older versions, a folder of JSON files.
//
//     $XDG_DATA_HOME or ~/.local/share, and opencode in it
//       opencode.db, opencode-CHANNEL.db    session, message and part; $OPENCODE_DB names another one
//       storage/session/PROJECT/ID.json     with storage/message/ID/*.json and storage/part/MESSAGE/*.json
//
// Both become the lines that transcripts have (transfer/transcript.hpp). Nothing is written; a
// database that is in use is read as it is at one moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sessions/found.hpp"

namespace undertext {

// Adds them, and what could not be read. A session that both have is the database's.
void find_opencode_sessions(FoundSessions& found);

// As the program names it, in whichever of them it is kept.
std::string opencode_session_id(const FoundSession& session);

// What changes when the session may have changed; 0: its file is gone.
std::uint64_t opencode_stamp(const FoundSession& session);

// The session's own line first. Empty: it is gone. Nothing: it cannot be read at this moment.
// none: enough for a list, and far less to read
enum class OpencodeParts : std::uint8_t { none, all };
std::optional<std::string> opencode_lines(const FoundSession& session, OpencodeParts parts);

}  // namespace undertext
