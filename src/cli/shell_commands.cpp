// shell, completion: typing commands, one after another or with the help of one's own shell.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/desk.hpp"
#include "cli/line_input.hpp"
#include "cli/shell.hpp"
#include "json/request.hpp"
#include "system/files.hpp"
#include "system/terminal.hpp"

namespace undertext {
namespace {

constexpr std::string_view own_words[] = {"use", "help", "exit", "quit"};

// $XDG_STATE_HOME/undertext/history, the folders made for their owner alone; empty where that
// cannot be.
std::string history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder = state != nullptr && *state == '/' ? state
                       : home != nullptr                 ? std::string(home) + "/.local/state"
                                                         : "";
  if (folder.empty()) return {};
  folder += "/undertext";
  for (std::size_t slash = folder.find('/', 1); slash != std::string::npos;
       slash = folder.find('/', slash + 1)) {
    make_private_folder(folder.substr(0, slash));
  }
  if (!make_private_folder(folder) && errno != EEXIST) return {};
  return folder + "/history";
}

std::vector<std::string> ids_of(Desk& desk) {
  std::vector<std::string> ids;
  const Result<std::vector<ConversationRecord>> records = desk.store({})->list({.limit = 1000});
  if (!records) return ids;
  for (const ConversationRecord& record : *records) ids.push_back(record.id);
  return ids;
}

std::vector<std::string> guesses(Desk& desk, const std::vector<CommandWords>& commands,
                                 std::string_view before, std::string_view word) {
  std::vector<std::string> all;
  const Result<std::vector<std::string>> words = split_words(before);
  if (!words) return {};
  if (words->empty()) {
    for (const CommandWords& command : commands) all.push_back(command.name);
    all.insert(all.end(), std::begin(own_words), std::end(own_words));
  } else if (words->front() == "use" || words->back() == "-c" ||
             words->back() == "--conversation") {
    all = ids_of(desk);
  } else {
    for (const CommandWords& command : commands) {
      if (command.name != words->front()) continue;
      for (const Argument& argument : command.arguments) {
        if (!argument.is_option()) continue;
        for (const std::string& name : names_of(argument)) {
          if (name.starts_with("--")) all.push_back(name);
          if (name == words->back() && !argument.choices.empty()) return argument.choices;
        }
      }
      if (command.takes_conversation() && !word.starts_with('-')) all = ids_of(desk);
    }
  }
  std::erase_if(all, [&](const std::string& candidate) { return !candidate.starts_with(word); });
  std::sort(all.begin(), all.end());
  return all;
}

// A line of JSON is carried out as by `exec`, on the conversation in use.
void run_json(Desk& desk, std::string_view line) {
  Conversation conversation = desk.conversation({}, Desk::Need::make);
  desk.put_json(answer(conversation, line));
}

// Answers false to end.
bool run_line(Desk& desk, const std::string& line, int& status) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos || line[first] == '#') return true;
  try {
    if (line[first] == '{' || line[first] == '[') {
      run_json(desk, line);
      status = 0;
      return true;
    }
    std::vector<std::string> words = split_words(line).value();
    if (words.front() == "undertext") words.erase(words.begin());
    if (words.empty()) return true;
    if (words.front() == "exit" || words.front() == "quit") return false;
    if (words.front() == "use") {
      if (words.size() != 2)
        fail(ErrorCode::invalid_argument, "use takes the id of a conversation", "conversation");
      desk.conversation({.conversation = words[1]});  // is it there?
      desk.chosen_conversation = words[1];
      status = 0;
      return true;
    }
    if (words.front() == "shell") fail(ErrorCode::invalid_argument, "this is a shell already");
    if (words.front() == "serve")
      fail(ErrorCode::invalid_argument, "a server needs a process of its own");
    if (words.front() == "exec")
      fail(ErrorCode::invalid_argument, "lines of JSON can be written right here");
    if (!leads_to_terminal(standard_input) &&
        std::find(words.begin(), words.end(), "-") != words.end())
      fail(ErrorCode::invalid_argument, "standard input is this script; name a file instead of -");
    if (words.front() == "help")
      words = words.size() == 1 ? std::vector<std::string>{"--help"}
                                : std::vector<std::string>{words[1], "--help"};
    status = desk.run(words);
  } catch (const Failure& failure) {
    desk.finish();
    desk.tell(failure.error(), false);
    status = exit_status(failure.error().code);
  }
  return true;
}

Run declare_shell(Arguments& arguments) {
  auto given = std::make_shared<Common>();
  declare_url(arguments, *given);
  declare_tenant(arguments, *given);
  arguments.add(
      {"-c,--conversation", &given->conversation, "Which conversation to begin with", "ID"});
  arguments.add({"CONVERSATION", &given->conversation, "The same"});
  return [given](Desk& desk) {
    if (given->store) desk.chosen_store = given->store;
    if (given->tenant) desk.chosen_tenant = *given->tenant;
    if (given->conversation) desk.chosen_conversation = *given->conversation;
    desk.store({}, Desk::Need::make);
    const std::vector<CommandWords> commands = command_words();
    LineInput input(history_file(), [&](std::string_view before, std::string_view word) {
      try {
        return guesses(desk, commands, before, word);
      } catch (const Failure&) {
        return std::vector<std::string>();  // a guess is no reason to complain
      }
    });
    if (desk.is_terminal())
      desk.say(
          "Commands as on the command line, or JSON lines as of exec. `use ID`, `help`, `exit`.");
    int status = 0;
    std::string line;
    while (input.next(printable(desk.chosen_conversation) + "> ", line)) {
      if (!run_line(desk, line, status)) break;
      std::fflush(stdout);
    }
    // Of a script, the last command's; who typed has seen it.
    return leads_to_terminal(standard_input) ? 0 : status;
  };
}

Run declare_completion(Arguments& arguments) {
  auto shell = std::make_shared<std::string>();
  arguments.add({.names = "SHELL",
                 .to = shell.get(),
                 .help = "bash, zsh or fish",
                 .required = true,
                 .choices = {"bash", "zsh", "fish"}});
  return [shell](Desk&) {
    std::fputs(completion_script(*shell).c_str(), stdout);
    return 0;
  };
}

}  // namespace

std::vector<Command> shell_commands() {
  return {
      {"shell", "Run commands interactively, with history and completion",
       "A line is a command as on the command line, or JSON as of exec. `use ID` chooses the "
       "conversation, `exit` ends.",
       declare_shell},
      {"completion", "Print a script that lets a shell complete these words",
       "Examples:\n"
       "  source <(undertext completion bash)\n"
       "  undertext completion zsh > ~/.zfunc/_undertext\n"
       "  undertext completion fish > ~/.config/fish/completions/undertext.fish",
       declare_completion},
  };
}

}  // namespace undertext
