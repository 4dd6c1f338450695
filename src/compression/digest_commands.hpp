// Commands: those a tool was given, those in code blocks, behind a prompt, and in `code` within
// prose.
#pragma once

#include <optional>
#include <string_view>

#include "compression/digest_findings.hpp"

namespace undertext::digest {

// Whether a text reads as a command: it begins with a program that is known, or with a path to one,
// and says more than its name.
bool is_command(std::string_view text);

// What stands behind a shell's prompt: "$ make", "me@host:~/src$ make", "PS C:\> dir",
// "C:\src>dir".
std::optional<std::string_view> after_prompt(std::string_view line);

void add_command(std::string_view command, Voice voice, Findings& findings);

// Adds each command of a script. One that goes on over several lines, by a backslash or inside
// quotes, becomes one line; what is fed to a command (<<EOF …) and comments are left out.
void add_script(std::string_view script, Voice voice, Findings& findings);

}  // namespace undertext::digest
