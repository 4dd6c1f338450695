// Letting the user edit a text in the editor of their choice.
#pragma once

#include <string>
#include <string_view>

namespace undertext {

// Opens $VISUAL, $EDITOR or vi on a private copy of `text`, and answers what it was left as; a line
// break that the editor put at the end of a text that had none is taken off. Throws Failure:
// unavailable, when the editor cannot be started or fails.
std::string edited_by_user(std::string_view text, std::string_view suffix);

}  // namespace undertext
