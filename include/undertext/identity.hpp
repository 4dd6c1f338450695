// Recognises messages that a client sends again with its whole list, in every request.
//
//     identity(sent) == identity(kept)      // despite other spelling, markers and item ids
//
// Clients rewrite messages: keys in another order, arguments with other white space, a string for a
// list of one text, null for a missing member. So the identity is a digest of the message's blocks
// (blocks.hpp), in one canonical form:
//
//   - arguments are JSON values: keys sorted, numbers by value; a string that holds JSON is that JSON;
//   - null, absent and "" are alike, and so are a string and a list of one text;
//   - markers, item ids, states and notes of the provider are ignored, and so is every unknown member.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include <undertext/export.hpp>
#include <undertext/message.hpp>

namespace undertext {

struct Identity {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Identity&, const Identity&) = default;
};

// Parts that a client changes from request to request without a change of meaning.
struct VolatileParts {
  // of parts and items; of reasoning, the member with it
  std::vector<std::string> members = {};
  // parts of a system message that begin with one of these
  std::vector<std::string> system_texts = {};
  bool nothing = false;  // messages are the same only to the byte

  // Of all clients: cache markers, and members that answers have and requests lack.
  UNDERTEXT_API static const VolatileParts& common();
};

// Time linear in the message.
UNDERTEXT_API Identity identity(const Message& message,
                                const VolatileParts& volatile_parts = VolatileParts::common());

}  // namespace undertext
