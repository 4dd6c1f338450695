// Paths and URLs in any text: prose, code, what tools print. No path is made up: each is a stretch
// of the text as it stands there.
#pragma once

#include <string_view>

#include "compression/digest_findings.hpp"

namespace undertext::digest {

// Adds the URLs and file paths of a line, in order. Linear in the line.
void find_places(std::string_view line, Voice voice, Findings& findings);

// Whether the whole text, such as an argument called "path", can be taken for a path. Its name says
// that it is one, so hardly anything is asked of its looks.
bool is_named_path(std::string_view text);

// Whether a word of prose is taken for a path because of its looks. docs/digest.md says which are.
bool is_path(std::string_view word);

}  // namespace undertext::digest
