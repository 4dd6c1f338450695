// Messages as one text for a model to read: who says what, tools by name, pictures as "[image]".
//
//     [5be1a9c4 1 user]
//     Why does the build fail?
//     [5be1a9c4 2 assistant calls run]
//     {"command":"make"}
//     [5be1a9c4 3 result of run]
//     cc -c main.c
//     [… 81234 bytes cut …]
//     make: *** [all] Error 2
//
// The word at the head of each frame, the fence, stands nowhere in what the messages say: no text
// of theirs can pass for a frame.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <undertext/error.hpp>
#include <undertext/message.hpp>

namespace undertext {

struct Transcript {
  std::string text;
  std::string fence;
};

// Long texts lose their middle, those of tools first and most; the shorter the whole must be, the
// more. The same messages always give the same transcript. Reasoning ("thinking" parts) is left
// out. too_large: too many messages for `bytes_max`, however short each of them.
Result<Transcript> make_transcript(std::span<const Message> messages, std::size_t bytes_max);

// The first two thirds and the last third of what may stay, with a mark between them that says how
// much is gone. Never cuts a character.
std::string cut_middle(std::string_view utf8, std::size_t bytes_max);

}  // namespace undertext
