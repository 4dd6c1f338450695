// The `undertext` command: makes a command line of the commands (command.hpp) and runs the one that is asked for.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>

#include <undertext/undertext.hpp>

#include "cli/command.hpp"
#include "cli/desk.hpp"

namespace {

using undertext::Argument;
using undertext::Desk;

constexpr const char* examples = R"(Examples:
  undertext demo
      Shows in twenty seconds what Undertext does.

  undertext new support-17
  undertext append -c support-17 "Hello"
  undertext show support-17
      Makes a conversation that lasts, adds a message, prints it.

  echo '{"operation":"APPEND","messages":[{"role":"user","content":"Hello"}]}' | undertext exec
      Applies one operation to an empty conversation in memory, and prints what it did.

'undertext COMMAND --help' explains a command. The exit status is 0, or tells what went wrong: 1 failure, 2 invalid_argument, 3 not_found,
4 conflict, 5 unavailable, 6 corrupt, 7 cannot_fit, 8 unsupported, 9 too_large, 10 denied.)";

class Cli11Arguments : public undertext::Arguments {
 public:
  explicit Cli11Arguments(CLI::App& app) : app_(app) {}

  void add(Argument argument) override {
    if (argument.takes_rest) return add_rest(argument);
    CLI::Option* option = std::visit(
        [&](auto* to) -> CLI::Option* {
          if constexpr (std::is_same_v<decltype(to), bool*>) {
            return app_.add_flag(argument.names, *to, argument.help);
          } else {
            return app_.add_option(argument.names, *to, argument.help);
          }
        },
        argument.to);
    if (!std::holds_alternative<bool*>(argument.to)) option->type_name(argument.value);
    // Of a list, the word after an option's value is another argument.
    if (argument.is_option() && std::holds_alternative<std::vector<std::string>*>(argument.to)) option->allow_extra_args(false);
    if (argument.required) option->required();
    if (!argument.choices.empty()) option->check(CLI::IsMember(argument.choices));
  }

 private:
  // Known by what is left: to CLI11 it is no argument, so that its options are not taken for ours.
  void add_rest(const Argument& argument) {
    auto* const to = std::get<std::vector<std::string>*>(argument.to);
    app_.prefix_command();
    app_.parse_complete_callback([app = &app_, to] { *to = app->remaining(); });
  }

  CLI::App& app_;
};

int run_command(const std::vector<std::string>& words, Desk& desk) {
  CLI::App app(
      "Undertext keeps the message array that an LLM agent sends to its model.\n"
      "Every edit is an operation, no edit loses anything, every earlier state can be read and restored.",
      "undertext");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("undertext ") + std::string(undertext::library_version()),
                       "Print the version and exit");
  app.footer(examples);
  std::vector<std::pair<CLI::App*, undertext::Run>> runs;
  for (const undertext::Command& command : undertext::all_commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer(std::string(command.more));
    Cli11Arguments arguments(*sub);
    runs.emplace_back(sub, command.declare(arguments));
  }

  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& asked_for_text) {  // --help, --version
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    desk.tell({undertext::ErrorCode::invalid_argument, message + " (see --help)"}, json);
    return 2;
  }
  const auto asked = std::find_if(runs.begin(), runs.end(), [](const auto& run) { return run.first->parsed(); });
  try {
    const int status = asked->second(desk);
    if (desk.finish()) return status;
    desk.note("not all of the output could be written");
    return status == 0 ? 1 : status;
  } catch (const undertext::Failure& failure) {
    desk.finish();
    desk.tell(failure.error(), json);
    return undertext::exit_status(failure.error().code);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Desk desk;
    desk.run = [&desk](const std::vector<std::string>& words) { return run_command(words, desk); };
    return desk.run({argv + 1, argv + argc});
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "undertext: %s\n", undertext::printable(exception.what()).c_str());
    return 1;
  }
}
