// What `undertext shell` needs besides the commands: splitting a line into words, and guessing the
// word that is being typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>

namespace undertext {

// Words as a POSIX shell splits them: blanks, '…', "…" with \" and \\ in it, and \ before any
// character. invalid_argument: a quote that is not closed.
Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace undertext
