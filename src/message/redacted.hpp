// What is left of a message whose body was taken out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <undertext/message.hpp>

namespace undertext {

struct RedactionNote {
  std::string who;
  std::int64_t at_ms = 0;
  std::string why;
  std::string sha256;  // of the body, in hexadecimal
};

// A message of the same role that says so, in its text and in `metadata.redacted`. It keeps the ids
// of tool calls and results, so that pairs stay whole. Message::is_redacted() is true of it.
Message redacted(const Message& message, const RedactionNote& note);
// A copy of which Message::is_redacted() is true. Only of what a store has recorded as redacted:
// what a caller gives can have the same bytes.
Message as_redacted(const Message& stub);
// Whether redacted() made these bytes, of any message and with any note.
bool has_form_of_redacted(const Message& message);
// The note's; empty where the message is none that redacted() makes.
std::string redacted_sha256(const Message& redacted);

// The `who` of stubs that pruning leaves, and of no redaction; and whether a message is such a stub.
inline constexpr std::string_view retention = "retention";
bool was_pruned(const Message& message);

}  // namespace undertext
