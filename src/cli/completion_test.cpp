#include "cli/completion.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "cli/desk.hpp"

namespace undertext {
namespace {

TEST(Commands, EveryOptionIsExplainedAndIsNamedOnce) {
  std::set<std::string> commands;
  for (const CommandWords& command : command_words()) {
    EXPECT_TRUE(commands.insert(command.name).second) << command.name;
    EXPECT_FALSE(command.summary.empty()) << command.name;
    std::set<std::string> names;
    for (const Argument& argument : command.arguments) {
      EXPECT_FALSE(argument.help.empty()) << command.name << " " << argument.names;
      for (const std::string& name : names_of(argument))
        EXPECT_TRUE(names.insert(name).second) << command.name << " " << name;
    }
  }
}

TEST(Commands, EveryShellIsOfferedEveryLongOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(shell);
    for (const CommandWords& command : command_words()) {
      for (const Argument& argument : command.arguments) {
        for (const std::string& name : names_of(argument)) {
          if (!name.starts_with("--")) continue;
          EXPECT_NE(script.find(std::string(shell) == "fish" ? "-l " + name.substr(2) : name),
                    std::string::npos)
              << shell << " " << name;
        }
      }
    }
  }
  EXPECT_EQ(completion_script("tcsh"), "");
}

TEST(Commands, EveryErrorHasAnExitStatusOfItsOwn) {
  std::set<int> statuses;
  for (std::size_t code = 0; code < error_code_count; ++code) {
    const int status = exit_status(static_cast<ErrorCode>(code));
    EXPECT_GT(status, 0);
    EXPECT_TRUE(statuses.insert(status).second) << code;
  }
}

}  // namespace
}  // namespace undertext
