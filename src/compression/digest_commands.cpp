#include "compression/digest_commands.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "compression/digest_text.hpp"
#include "compression/digest_words.hpp"

namespace undertext::digest {
namespace {

constexpr std::size_t command_bytes_max = 500;

std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != word.npos && equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_word) &&
         !is_digit(word[0]);
}

// Get-ChildItem
bool is_cmdlet(std::string_view word) {
  const std::size_t dash = word.find('-');
  if (dash == word.npos || dash < 2 || dash + 2 >= word.size() || !is_upper(word[0]) ||
      !is_upper(word[dash + 1]))
    return false;
  for (const std::string_view verb :
       {"Add",     "Clear",   "Copy",   "Disable", "Enable", "Expand", "Export", "Get",
        "Import",  "Install", "Invoke", "Move",    "New",    "Out",    "Remove", "Rename",
        "Restart", "Select",  "Set",    "Start",   "Stop",   "Test",   "Update", "Write"})
    if (word.substr(0, dash) == verb)
      return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(dash) + 1, word.end(),
                         is_alnum);
  return false;
}

bool is_program(std::string_view word) {
  if (is_in(word, commands)) return true;
  const std::string_view tool = word.substr(word.rfind('-') + 1);  // arm-none-eabi-gcc
  return tool == "gcc" || tool == "g++" || tool == "clang" || tool == "clang++" || tool == "ld";
}

bool reads_as_sentence(std::string_view arguments) {
  while (!arguments.empty()) {
    const std::string_view word = take_word(arguments);
    if (is_in(word, function_words)) return true;
  }
  return false;
}

}  // namespace

bool is_command(std::string_view text) {
  text = first_bytes(trim(text), command_bytes_max);
  if (text.find('\n') != text.npos) return false;
  std::string_view program = take_word(text);
  while (is_assignment(program) || program == "sudo" || program == "time") {
    if (trim(text).empty()) return false;
    program = take_word(text);
  }
  text = trim(text);
  if (is_cmdlet(program)) return true;
  if (text.empty() || text.starts_with('=') || text.starts_with("->")) return false;
  if (program.starts_with("./") || program.starts_with("../") || program.starts_with(".\\"))
    return !reads_as_sentence(text);
  if (program != lower(program) || !is_program(program)) return false;
  return !is_in(program, english_programs) || !reads_as_sentence(text);
}

std::optional<std::string_view> after_prompt(std::string_view line) {
  line = trim(line);
  std::string_view rest;
  // (venv) $ make
  if (line.starts_with("(") && line.find(") ") < 40) line = trim(line.substr(line.find(") ") + 2));
  if (line.starts_with("$ ")) {
    rest = line.substr(2);
  } else if (line.starts_with("❯ ")) {
    rest = line.substr(std::string_view("❯ ").size());
  } else {
    constexpr std::size_t prompt_bytes_max = 120;
    const std::string_view head = first_bytes(line, prompt_bytes_max);
    const bool windows = head.starts_with("PS ") ? head.size() > 5 && head[4] == ':'
                                                 : head.size() > 3 && is_letter(head[0]) &&
                                                       head[1] == ':' && head[2] == '\\';
    if (windows) {
      const std::size_t end = head.find('>');
      if (end == head.npos) return std::nullopt;
      rest = line.substr(end + 1);
    } else {  // me@host:~/src$ make, [me@host src]$ make, bash-5.1$ make
      const std::size_t end = std::min(head.find("$ "), head.find("# "));
      if (end == head.npos || end == 0) return std::nullopt;
      const std::string_view prompt = head.substr(0, end);
      const std::size_t at = prompt.find('@');
      const bool host = at != prompt.npos && at > 0 &&
                        (prompt.find(':') != prompt.npos || prompt.starts_with('['));
      if ((!host && !prompt.starts_with("bash-") && !prompt.starts_with("sh-")) ||
          prompt.find("  ") != prompt.npos)
        return std::nullopt;
      rest = line.substr(end + 2);
    }
  }
  rest = trim(rest);
  const bool begins =
      !rest.empty() &&
      (is_letter(rest[0]) || std::string_view("./~_[").find(rest[0]) != std::string_view::npos);
  if (!begins) return std::nullopt;
  return rest;
}

void add_command(std::string_view command, Voice voice, Findings& findings) {
  const std::string kept =
      shorten_end(one_line(first_bytes(trim(command), 2 * command_bytes_max)), command_bytes_max);
  if (kept.empty() || is_in(kept, script_keywords)) return;
  if (std::none_of(kept.begin(), kept.end(), is_alnum)) return;
  findings.add(Kind::command, kept, voice);
}

void add_script(std::string_view script, Voice voice, Findings& findings) {
  std::string command;
  std::string heredoc;  // what ends the text fed to the command
  char quote = 0;
  std::size_t at = 0;
  const auto finish = [&] {
    add_command(command, voice, findings);
    command.clear();
    quote = 0;
  };
  while (at < script.size()) {
    const char c = script[at++];
    if (quote == 0 && c == '\\' && at < script.size()) {
      if (script[at] == '\n') {
        command += ' ';
      } else {
        command += c;
        command += script[at];
      }
      ++at;
    } else if (c == '\n' && quote == 0) {
      finish();
      if (heredoc.empty()) continue;
      while (at < script.size()) {
        const std::size_t end = std::min(script.find('\n', at), script.size());
        const std::string_view line = trim(script.substr(at, end - at));
        at = std::min(end + 1, script.size());
        if (line == heredoc) break;
      }
      heredoc.clear();
    } else if (quote == 0 && c == '#' && trim(command).empty()) {
      at = std::min(script.find('\n', at), script.size());
    } else if (quote == 0 && c == '<' && script.substr(at).starts_with('<') &&
               !script.substr(at).starts_with("<<")) {
      std::size_t word = at + 1;
      while (word < script.size() &&
             (script[word] == '-' || script[word] == '~' || script[word] == ' ' ||
              script[word] == '\'' || script[word] == '"'))
        ++word;
      std::size_t end = word;
      while (end < script.size() && is_word(script[end])) ++end;
      heredoc = std::string(script.substr(word, end - word));
      command += script.substr(at - 1, end - at + 1);
      at = end;
      if (at < script.size() && (script[at] == '\'' || script[at] == '"')) command += script[at++];
    } else {
      if (c == '\\' && quote == '"' && at < script.size()) {
        command += c;
        command += script[at++];
        continue;
      }
      if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      }
      command += c;
    }
  }
  finish();
}

}  // namespace undertext::digest
