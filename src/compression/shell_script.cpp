#include "compression/shell_script.hpp"

#include <algorithm>
#include <utility>

#include "compression/digest_text.hpp"

namespace undertext {
namespace {

constexpr std::size_t script_bytes_max = 1u << 16;  // longer ones are data

bool is_shell_name(char c) { return digest::is_word(c) || c == '.' || c == '-'; }

class ShellReader {
 public:
  explicit ShellReader(std::string_view script)
      : script_(digest::first_bytes(script, script_bytes_max)) {}

  std::vector<ShellCommand> read() {
    while (at_ < script_.size()) step();
    end_command(false);
    return std::move(commands_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < script_.size() ? script_[at_ + ahead] : '\0';
  }

  void step() {
    const char c = peek();
    if (c == '\\') return escape();
    if (c == '\'' || c == '"') return quote(c);
    if (c == ' ' || c == '\t') return end_word(), advance(1);
    if (c == '\n') return end_line();
    if (c == '#' && !in_word_) return skip_comment();
    if (c == '&' && peek(1) == '>') return redirect(2);
    if (c == ';' || c == '&') return separator();
    if (c == '|') return pipe();
    if ((c == '(' || c == ')') && !in_word_) return end_command(false), advance(1);
    if (c == '$' && peek(1) == '(') return substitution();
    if (c == '>') return redirect(1);
    if (c == '<' && peek(1) == '<' && peek(2) != '<') return heredoc_mark();
    if (c == '<') return end_word(), advance(1);
    add(c);
    advance(1);
  }

  void advance(std::size_t bytes) {
    for (; bytes > 0 && at_ < script_.size(); --bytes)
      current_.text += script_[at_++] == '\n' ? ' ' : script_[at_ - 1];
  }

  void add(char c) {
    in_word_ = true;
    word_ += c;
  }

  void escape() {
    if (peek(1) == '\n') return end_word(), advance(2);
    if (at_ + 1 < script_.size()) add(peek(1));
    advance(2);
  }

  void quote(char mark) {
    in_word_ = true;
    advance(1);
    while (at_ < script_.size() && peek() != mark) {
      if (mark == '"' && peek() == '\\' && at_ + 1 < script_.size()) {
        if (peek(1) != '\n') word_ += peek(1);
        advance(2);
      } else {
        word_ += peek();
        advance(1);
      }
    }
    advance(1);
  }

  // $(…): part of the word, as written.
  void substitution() {
    std::size_t depth = 0;
    do {
      if (peek() == '(') ++depth;
      if (peek() == ')') --depth;
      add(peek());
      advance(1);
    } while (at_ < script_.size() && (depth > 0 || peek() == '('));
  }

  void skip_comment() { at_ = std::min(script_.find('\n', at_), script_.size()); }

  void separator() {
    const std::size_t bytes = peek() == '&' && peek(1) == '&' ? 2 : 1;
    end_command(false);
    at_ += bytes;
  }

  void pipe() {
    const bool is_or = peek(1) == '|';
    end_command(!is_or);
    at_ += is_or ? 2 : 1;
  }

  // At ">" or "&>"; `mark` is its size. The digit of "2>" is no word.
  void redirect(std::size_t mark) {
    const bool is_errors = word_ == "2";
    if (word_ == "1" || word_ == "2") {
      word_.clear();
      in_word_ = false;
    }
    end_word();
    advance(mark);
    bool appends = false;
    if (peek() == '>') appends = true, advance(1);
    if (peek() == '|') advance(1);
    if (peek() == '&') {  // 2>&1
      advance(1);
      while (digest::is_digit(peek()) || peek() == '-') advance(1);
      return;
    }
    while (peek() == ' ') advance(1);
    takes_target_ = !is_errors;
    drops_target_ = is_errors;
    appends_ = appends;
  }

  void heredoc_mark() {
    end_word();
    advance(2);
    if (peek() == '-' || peek() == '~') advance(1);
    while (peek() == ' ') advance(1);
    const char mark = peek() == '\'' || peek() == '"' ? peek() : '\0';
    if (mark != '\0' || peek() == '\\') advance(1);
    heredoc_end_.clear();
    while (is_shell_name(peek()) && peek() != '\0') {
      heredoc_end_ += peek();
      advance(1);
    }
    if (mark != '\0' && peek() == mark) advance(1);
  }

  void end_line() {
    end_word();
    if (!heredoc_end_.empty()) {
      ++at_;
      read_heredoc();
    }
    end_command(false);
    if (at_ < script_.size() && peek() == '\n') ++at_;
  }

  void read_heredoc() {
    while (at_ < script_.size()) {
      const std::size_t end = std::min(script_.find('\n', at_), script_.size());
      const std::string_view line = script_.substr(at_, end - at_);
      at_ = std::min(end + 1, script_.size());
      if (digest::trim(line) == heredoc_end_) break;
      // Of `a <<EOF && b <<EOF` the first has it; nobody writes that.
      (current_.heredoc += line) += '\n';
    }
    heredoc_end_.clear();
    if (!commands_.empty() && current_.words.empty()) {  // `cat <<EOF | tee x`
      commands_.back().heredoc = std::exchange(current_.heredoc, {});
    }
  }

  void end_word() {
    if (!std::exchange(in_word_, false)) return;
    std::string word = std::exchange(word_, {});
    if (takes_target_) {
      current_.outputs.push_back({appends_, std::move(word)});
    } else if (!drops_target_) {
      current_.words.push_back(std::move(word));
    }
    takes_target_ = drops_target_ = false;
  }

  void end_command(bool piped) {
    end_word();
    takes_target_ = drops_target_ = false;
    ShellCommand done = std::exchange(current_, {});
    while (!done.words.empty() && is_keyword(done.words.front()))
      done.words.erase(done.words.begin());
    if (done.words.empty() && done.outputs.empty()) {
      current_.heredoc = std::move(done.heredoc);
      return;
    }
    done.text = digest::one_line(done.text);
    done.is_piped = piped;
    commands_.push_back(std::move(done));
  }

  static bool is_keyword(std::string_view word) {
    for (const std::string_view keyword : {"if", "then", "else", "elif", "fi", "do", "done",
                                           "while", "until", "{", "}", "!", "esac"})
      if (word == keyword) return true;
    return false;
  }

  std::string_view script_;
  std::size_t at_ = 0;
  std::vector<ShellCommand> commands_;
  ShellCommand current_;
  std::string word_, heredoc_end_;
  bool in_word_ = false, takes_target_ = false, drops_target_ = false, appends_ = false;
};

bool is_shell_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != word.npos && equals > 0 && !digest::is_digit(word[0]) &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     digest::is_word);
}

}  // namespace

std::vector<ShellCommand> shell_commands(std::string_view script) {
  return ShellReader(script).read();
}

std::vector<std::string> program_words(const ShellCommand& command) {
  std::size_t at = 0;
  const std::vector<std::string>& words = command.words;
  for (; at < words.size(); ++at) {
    const std::string_view word = words[at];
    const bool wraps = word == "sudo" || word == "env" || word == "time" || word == "nohup" ||
                       word == "nice" || word == "command" || word == "npx" || word == "pnpx" ||
                       word == "bunx" || word == "stdbuf" || word == "exec" || word == "uvx";
    if (wraps) {
      while (at + 1 < words.size() && words[at + 1].starts_with('-')) {
        if (word == "nice" && words[at + 1] == "-n") ++at;
        ++at;
      }
    } else if (word == "timeout") {
      while (at + 1 < words.size() &&
             (words[at + 1].starts_with('-') || digest::is_digit(words[at + 1][0])))
        ++at;
    } else if ((word == "uv" || word == "poetry" || word == "pipenv" || word == "bundle" ||
                word == "hatch") &&
               at + 2 < words.size() && (words[at + 1] == "run" || words[at + 1] == "exec")) {
      ++at;
    } else if (!is_shell_assignment(word)) {
      break;
    }
  }
  return {words.begin() + static_cast<std::ptrdiff_t>(std::min(at, words.size())), words.end()};
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with('\\'))) path.remove_suffix(1);
  const std::size_t slash = path.find_last_of("/\\");
  return slash == path.npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::string_view inner_script(const std::vector<std::string>& words) {
  if (words.size() < 3) return {};
  const std::string_view shell = base_name(words[0]);
  if (shell != "bash" && shell != "sh" && shell != "zsh" && shell != "dash") return {};
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i].size() > 1 && words[i][0] == '-' && words[i][1] != '-' && words[i].ends_with('c'))
      return words[i + 1];
  return {};
}

}  // namespace undertext
