// The `undertext` command: makes a command line of the commands (command.hpp) and runs the one that
// is asked for.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>

#include <undertext/undertext.hpp>

#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "system/signals.hpp"

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

// The field that errors about an option name, by its long name: atVersion for --at-version.
std::string field_of(const CLI::Option& option) {
  std::string field;
  bool begins_word = false;
  for (const char c : option.get_single_name()) {
    if (c != '-')
      field += begins_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins_word = c == '-';
  }
  return field;
}

class Cli11Arguments : public undertext::Arguments {
 public:
  explicit Cli11Arguments(CLI::App& app) : app_(app) {}

  // The same error, beginning with the option that it is about, where one was given.
  undertext::Error named(undertext::Error error) const {
    const std::string field = error.field.substr(0, error.field.find_first_of(".["));
    if (field.empty() || error.message.starts_with("--")) return error;
    for (const Declared& each : declared_)
      if (each.field == field && each.option->count() > 0)
        return undertext::about_option(each.option->get_name(), std::move(error));
    return error;
  }

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
    if (argument.is_option() && std::holds_alternative<std::vector<std::string>*>(argument.to))
      option->allow_extra_args(false);
    if (argument.required) option->required();
    if (!argument.choices.empty()) option->check(CLI::IsMember(argument.choices));
    // Once by its place, once by its name: one of the two would be ignored.
    for (const Declared& each : declared_)
      if (each.to == argument.to) option->excludes(each.option);
    declared_.push_back(
        {option, argument.to, argument.field.empty() ? field_of(*option) : argument.field});
  }

 private:
  struct Declared {
    CLI::Option* option;
    Argument::Target to;
    std::string field;
  };

  // Known by what is left: to CLI11 it is no argument, so that its options are not taken for ours.
  void add_rest(const Argument& argument) {
    auto* const to = std::get<std::vector<std::string>*>(argument.to);
    app_.prefix_command();
    app_.parse_complete_callback([app = &app_, to] { *to = app->remaining(); });
  }

  CLI::App& app_;
  std::vector<Declared> declared_;
};

int run_command(const std::vector<std::string>& words, Desk& desk) {
  CLI::App app(
      "Undertext keeps the message array that an LLM agent sends to its model.\n"
      "Every edit is an operation, no edit loses anything, every earlier state can be read and "
      "restored.",
      "undertext");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       std::string("undertext ") + std::string(undertext::library_version()),
                       "Print the version and exit");
  app.footer(examples);
  struct Declared {
    CLI::App* app;
    Cli11Arguments arguments;
    undertext::Run run;
  };
  std::list<Declared> commands;
  for (const undertext::Command& command : undertext::all_commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer(std::string(command.more));
    Declared& declared = commands.emplace_back(sub, Cli11Arguments(*sub), nullptr);
    declared.run = command.declare(declared.arguments);
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
  const auto asked = std::find_if(commands.begin(), commands.end(),
                                  [](const Declared& each) { return each.app->parsed(); });
  try {
    const int status = asked->run(desk);
    if (desk.finish()) return status;
    desk.note("not all of the output could be written");
    return status == 0 ? 1 : status;
  } catch (const undertext::Failure& failure) {
    desk.finish();
    desk.tell(asked->arguments.named(failure.error()), json);
    return undertext::exit_status(failure.error().code);
  }
}

}  // namespace

int main(int argc, char** argv) {
  undertext::ignore_file_limit();
  try {
    Desk desk;
    desk.run = [&desk](const std::vector<std::string>& words) { return run_command(words, desk); };
    return desk.run({argv + 1, argv + argc});
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "undertext: %s\n", undertext::printable(exception.what()).c_str());
    return 1;
  }
}
