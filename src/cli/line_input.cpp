#include "cli/line_input.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

#if UNDERTEXT_HAVE_EDITLINE
#  include <editline/readline.h>
#endif

#include "system/files.hpp"
#include "system/terminal.hpp"

namespace undertext {
namespace {

bool somebody_types() {
  return leads_to_terminal(standard_input) && leads_to_terminal(standard_output);
}

#if UNDERTEXT_HAVE_EDITLINE

constexpr int history_lines = 1000;

// libedit calls a function without a place for data.
LineInput::Complete& completer() {
  static LineInput::Complete complete;
  return complete;
}

char** complete_word(const char* text, int start, int) {
  rl_attempted_completion_over = 1;  // no names of files instead
  const std::string_view line = rl_line_buffer;
  const std::vector<std::string> words =
      completer()(line.substr(0, static_cast<std::size_t>(start)), text);
  if (words.empty()) return nullptr;
  // As readline wants it: first what all have in common, then all, then nothing; each to be freed.
  std::string common = words.front();
  for (const std::string& word : words) {
    std::size_t same = 0;
    while (same < common.size() && same < word.size() && common[same] == word[same]) ++same;
    common.resize(same);
  }
  auto** matches = static_cast<char**>(std::malloc((words.size() + 2) * sizeof(char*)));
  if (matches == nullptr) return nullptr;
  std::size_t n = 0;
  matches[n++] = strdup(common.c_str());
  if (words.size() > 1) {
    for (const std::string& word : words) matches[n++] = strdup(word.c_str());
  }
  matches[n] = nullptr;
  return matches;
}

#endif

}  // namespace

#if UNDERTEXT_HAVE_EDITLINE

LineInput::LineInput(std::string history_file, Complete complete)
    : history_file_(std::move(history_file)), editing_(somebody_types()) {
  if (!editing_) return;
  completer() = std::move(complete);
  static char program[] = "undertext";
  rl_readline_name = program;
  rl_attempted_completion_function = complete_word;
  using_history();
  stifle_history(history_lines);
  if (history_file_.empty()) return;
  // Made before libedit can make it for everybody to read.
  if (const OpenFile file = open_file(history_file_, OpenFor::keeping); file) {
    set_permissions(file.descriptor(), 0600);
  } else {
    history_file_.clear();
    return;
  }
  read_history(history_file_.c_str());
}

LineInput::~LineInput() {
  if (editing_ && !history_file_.empty()) write_history(history_file_.c_str());
  completer() = {};
}

bool LineInput::next(const std::string& prompt, std::string& line) {
  if (!editing_) return static_cast<bool>(std::getline(std::cin, line));
  char* typed = readline(prompt.c_str());
  if (typed == nullptr) return false;
  line = typed;
  std::free(typed);
  if (!line.empty()) add_history(line.c_str());
  return true;
}

#else

LineInput::LineInput(std::string history_file, Complete)
    : history_file_(std::move(history_file)), editing_(false) {}
LineInput::~LineInput() = default;

bool LineInput::next(const std::string& prompt, std::string& line) {
  if (somebody_types()) {
    std::fputs(prompt.c_str(), stdout);
    std::fflush(stdout);
  }
  return static_cast<bool>(std::getline(std::cin, line));
}

#endif

}  // namespace undertext
