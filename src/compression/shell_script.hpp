// A shell script as the commands it runs: words without their quotes, redirections, what is fed to
// them. Enough to tell what a script does to files; nothing is expanded. Linear in the script,
// whatever it holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace undertext {

struct ShellRedirect {
  bool appends = false;
  std::string target;
};

struct ShellCommand {
  std::vector<std::string> words;  // quotes removed; assignments and wrappers such as sudo included
  std::vector<ShellRedirect> outputs;
  std::string text;       // as written, from the first word to the last, on one line
  std::string heredoc;    // what follows <<EOF
  bool is_piped = false;  // its output goes to the next command
};

std::vector<ShellCommand> shell_commands(std::string_view script);

// The words from the program on: behind assignments, `sudo`, `env`, `time`, `nice`, `timeout 60`,
// `npx` and the like.
std::vector<std::string> program_words(const ShellCommand& command);

// The last name of a path: "/usr/bin/git" is "git".
std::string_view base_name(std::string_view path);

// What `bash -lc "…"` and the like run, else nothing.
std::string_view inner_script(const std::vector<std::string>& words);

}  // namespace undertext
