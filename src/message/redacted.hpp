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
// of tool calls and results, so that pairs stay whole.
Message redacted(const Message& message, const RedactionNote& note);
bool is_redacted(const Message& message);              // whether it is what redacted() makes
std::string redacted_sha256(const Message& redacted);  // the note's

// The `who` of stubs that pruning leaves; and whether a message is such a stub.
inline constexpr std::string_view retention = "retention";
bool was_pruned(const Message& message);

}  // namespace undertext
