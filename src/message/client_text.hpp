// Text that clients put into the messages of users: reminders, files, pages, what hooks and skills
// say, summaries. It stands in a user's message and is not what the user says.
//
//     <system-reminder>…</system-reminder>
//     Fix the parser.                            what the user says
//     --- Content from referenced files ---
//     …
//     --- End of content ---
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace undertext {

// What a block of text in a user's message is, by how it begins. The first `size` bytes are no
// words of the user: all of a block that ends with no mark.
struct ClientBlock {
  enum class Kind : std::uint8_t {
    words,   // the user's, as far as without_client_text() leaves them; `size` is 0
    quoted,  // a summary, a skill, what a hook says
    result   // what a tool printed, where an agent has no other place for it
  };
  Kind kind = Kind::words;
  std::size_t size = 0;
};
ClientBlock client_block(std::string_view text);

// The text of a user's message without what clients put between marks. A mark that the user only
// mentions stays, and so does all that follows it. Linear in the text.
std::string without_client_text(std::string_view text);

// What opencode says in the place of what it compacted; its answer is the summary.
inline constexpr std::string_view opencode_question = "What did we do so far?";

}  // namespace undertext
