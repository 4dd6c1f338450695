// Scripts that let a shell complete our words, made from the commands themselves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace undertext {

struct CommandWords {
  std::string name, summary;
  std::vector<Argument> arguments;  // whose targets are not to be written

  bool takes_conversation() const;  // by its place
};
std::vector<CommandWords> command_words();

std::string completion_script(std::string_view shell);  // bash, zsh or fish; empty for another

// Splits "-n,--last".
std::vector<std::string> names_of(const Argument& argument);

}  // namespace undertext
