// The line protocol: one JSON line in, one JSON line out. Every door that speaks it calls this and nothing else of this room.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>

namespace undertext {

// Carries out the operation, the atomic list of operations, or the query in `line`. The answer is one line without its newline;
// every failure is an answer too ({"ok":false,"error":{…}}), and has then changed nothing. Throws only std::bad_alloc.
std::string answer(Conversation& conversation, std::string_view line);

// A conversation as it was at one version, to be asked. Without a tokenizer and an aim, queries that need them are `unsupported`.
struct Asked {
  const History& history;
  const Settings& settings;
  std::shared_ptr<const Tokenizer> tokenizer = {};
  std::optional<Aim> aim = {};
};
// As answer(), of a line that is a query.
std::string answer(const Asked& asked, std::string_view line);

// The code of the error that an answer says; nothing when it is a good one.
std::optional<ErrorCode> failure_of(std::string_view answer);

// The answer that says `error`.
std::string answer(const Error& error);

}  // namespace undertext
