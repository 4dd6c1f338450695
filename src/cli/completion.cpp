#include "cli/completion.hpp"

#include <algorithm>
#include <utility>

namespace undertext {
namespace {

class Collected : public Arguments {
 public:
  void add(Argument argument) override { list.push_back(std::move(argument)); }
  std::vector<Argument> list;
};

// Ids are made of letters that no shell takes for anything else.
constexpr std::string_view list_ids =
    R"sh(undertext list --json 2>/dev/null | sed -n 's/^{"conversation":"\([A-Za-z0-9._-]*\)".*/\1/p')sh";

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += R"('\'')";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

bool is_flag(const Argument& argument) { return std::holds_alternative<bool*>(argument.to); }
bool names_conversation(const Argument& argument) {
  return argument.names == "CONVERSATION" || argument.names == "-c,--conversation";
}

std::string bash_script() {
  std::string names, options, values;
  for (const CommandWords& command : command_words()) {
    if (!names.empty()) names += ' ';
    names += command.name;
    std::string words = "--help";
    for (const Argument& argument : command.arguments) {
      if (!argument.is_option()) continue;
      words += " " + joined(names_of(argument), " ");
      if (!argument.choices.empty()) {
        for (const std::string& name : names_of(argument)) {
          values += "    " + command.name + ":" + name + ") COMPREPLY=($(compgen -W " +
                    quoted(joined(argument.choices, " ")) + " -- \"$current\")); return ;;\n";
        }
      } else if (!is_flag(argument) && !names_conversation(argument)) {
        for (const std::string& name : names_of(argument))
          values += "    " + command.name + ":" + name + ") return ;;\n";
      }
    }
    options += "    " + command.name + ") options=" + quoted(words) +
               "; places=" + (command.takes_conversation() ? "ids" : "files");
    for (const Argument& argument : command.arguments) {
      if (!argument.is_option() && !argument.choices.empty())
        options += "; places=" + quoted(joined(argument.choices, " "));
    }
    options += " ;;\n";
  }
  std::string out =
      "# Completion of undertext for bash: source <(undertext completion bash)\n_undertext() {\n";
  out +=
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= "
      "options= places=files word\n";
  out +=
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $word in -*) ;; *) "
      "command=$word; break ;; esac\n  done\n";
  out += "  if [ -z \"$command\" ]; then COMPREPLY=($(compgen -W " +
         quoted(names + " --help --version") + " -- \"$current\")); return; fi\n";
  out += "  COMPREPLY=()\n";
  out += "  case $before in\n    -c|--conversation) COMPREPLY=($(compgen -W \"$(" +
         std::string(list_ids) + ")\" -- \"$current\")); return ;;\n  esac\n";
  out += "  case $command:$before in\n" + values + "  esac\n";
  out += "  case $command in\n" + options + "  esac\n";
  out +=
      "  case $current in -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")); return ;; "
      "esac\n";
  out += "  case $places in\n    ids) COMPREPLY=($(compgen -W \"$(" + std::string(list_ids) +
         ")\" -- \"$current\")) ;;\n";
  out += "    files) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n";
  out += "    *) COMPREPLY=($(compgen -W \"$places\" -- \"$current\")) ;;\n  esac\n}\n";
  return out + "complete -o filenames -F _undertext undertext\n";
}

// Within a specification of _arguments, these mean something.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_script() {
  std::string names, cases;
  for (const CommandWords& command : command_words()) {
    names += "    " + quoted(command.name + ":" + zsh_text(command.summary)) + "\n";
    cases += "    " + command.name + ") _arguments '--help[explain it]'";
    for (const Argument& argument : command.arguments) {
      const std::string values = names_conversation(argument) ? "_undertext_ids"
                                 : argument.choices.empty()
                                     ? argument.is_option() ? "" : "_files"
                                     : "(" + joined(argument.choices, " ") + ")";
      const std::string value = zsh_text(argument.value.empty() ? "value" : argument.value);
      if (!argument.is_option()) {
        cases += " " + quoted("*:" + zsh_text(argument.names) + ":" + values);
        continue;
      }
      for (const std::string& name : names_of(argument)) {
        cases += " " + quoted(name + "[" + zsh_text(argument.help) + "]" +
                              (is_flag(argument) ? "" : ":" + value + ":" + values));
      }
    }
    cases += " ;;\n";
  }
  std::string out =
      "#compdef undertext\n# Completion of undertext for zsh: undertext completion zsh > a folder "
      "of $fpath/_undertext\n";
  out += "_undertext_ids() {\n  local -a ids\n  ids=(${(f)\"$(" + std::string(list_ids) +
         ")\"})\n  compadd -a ids\n}\n";
  out += "_undertext() {\n  local -a names\n  names=(\n" + names + "  )\n";
  out += "  if (( CURRENT == 2 )); then _describe command names; return; fi\n";
  out += "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n" +
         cases + "  esac\n}\n";
  return out + "_undertext \"$@\"\n";
}

std::string fish_script() {
  std::string out =
      "# Completion of undertext for fish: undertext completion fish > "
      "~/.config/fish/completions/undertext.fish\n";
  out += "function __undertext_ids\n  " + std::string(list_ids) + "\nend\n";
  for (const CommandWords& command : command_words()) {
    out += "complete -c undertext -f -n __fish_use_subcommand -a " + command.name + " -d " +
           quoted(command.summary) + "\n";
    const std::string here =
        "complete -c undertext -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const Argument& argument : command.arguments) {
      const std::string values = names_conversation(argument) ? " -f -a '(__undertext_ids)'"
                                 : argument.choices.empty()
                                     ? ""
                                     : " -f -a " + quoted(joined(argument.choices, " "));
      if (!argument.is_option()) {
        if (!values.empty()) out += here + values + "\n";
        continue;
      }
      out += here;
      for (const std::string& name : names_of(argument))
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      out += (is_flag(argument) ? "" : " -r") + values + " -d " + quoted(argument.help) + "\n";
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> names_of(const Argument& argument) {
  std::vector<std::string> names;
  for (std::string_view rest = argument.names; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    names.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return names;
}

bool CommandWords::takes_conversation() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& a) { return a.names == "CONVERSATION"; });
}

std::vector<CommandWords> command_words() {
  std::vector<CommandWords> all;
  for (const Command& command : all_commands()) {
    Collected arguments;
    command.declare(arguments);
    all.push_back(
        {std::string(command.name), std::string(command.summary), std::move(arguments.list)});
  }
  return all;
}

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return {};
}

}  // namespace undertext
