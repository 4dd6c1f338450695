// Aho and Corasick's automaton over the table of cues. Each byte of a line is one step.
#include "compression/digest_cues.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "compression/digest_text.hpp"

namespace undertext::digest {
namespace {

struct Cue {
  CueRule rule;
  std::string_view text;  // one with a capital letter is found only as spelled
};

constexpr Cue cues[] = {
    {CueRule::decision, "decided"},
    {CueRule::decision, "decision:"},
    {CueRule::decision, "the decision is"},
    {CueRule::decision, "let's use"},
    {CueRule::decision, "let's go"},
    {CueRule::decision, "let's keep"},
    {CueRule::decision, "let's stick"},
    {CueRule::decision, "let's switch"},
    {CueRule::decision, "let us use"},
    {CueRule::decision, "i'll use"},
    {CueRule::decision, "i'll go with"},
    {CueRule::decision, "i'll keep"},
    {CueRule::decision, "i'll stick"},
    {CueRule::decision, "i'll switch"},
    {CueRule::decision, "i will use"},
    {CueRule::decision, "i will go with"},
    {CueRule::decision, "i will keep"},
    {CueRule::decision, "we'll use"},
    {CueRule::decision, "we'll go with"},
    {CueRule::decision, "we'll keep"},
    {CueRule::decision, "we'll switch"},
    {CueRule::decision, "we will use"},
    {CueRule::decision, "we will go with"},
    {CueRule::decision, "we will keep"},
    {CueRule::decision, "going with"},
    {CueRule::decision, "go with"},
    {CueRule::decision, "settled on"},
    {CueRule::decision, "opted for"},
    {CueRule::decision, "we chose"},
    {CueRule::decision, "i chose"},
    {CueRule::decision, "agreed to"},
    {CueRule::decision, "agreed on"},
    {CueRule::decision, "we agreed"},
    {CueRule::decision, "switch to"},
    {CueRule::decision, "switching to"},
    {CueRule::decision, "switched to"},
    {CueRule::decision, "stick with"},
    {CueRule::decision, "sticking with"},
    {CueRule::decision, "must not"},
    {CueRule::decision, "do not use"},
    {CueRule::decision, "don't use"},
    {CueRule::decision, "never use"},
    {CueRule::decision, "always use"},
    {CueRule::decision, "the plan is"},
    {CueRule::decision, "决定"},
    {CueRule::decision, "改用"},
    {CueRule::decision, "采用"},
    {CueRule::decision, "选用"},
    {CueRule::decision, "选定"},
    {CueRule::decision, "就用"},
    {CueRule::decision, "换成"},
    {CueRule::decision, "敲定"},
    {CueRule::decision, "约定"},
    {CueRule::decision, "统一用"},
    {CueRule::decision, "统一使用"},
    {CueRule::decision, "不要用"},
    {CueRule::decision, "決定"},
    {CueRule::decision, "採用"},
    {CueRule::decision, "に決め"},
    {CueRule::decision, "결정"},
    {CueRule::decision, "하기로"},

    {CueRule::named, "error:"},
    {CueRule::named, "exception:"},
    {CueRule::named, "fatal:"},
    {CueRule::named, "panic:"},
    {CueRule::named, "failure:"},
    {CueRule::named, "refused:"},
    {CueRule::named, "timeout:"},
    {CueRule::named, "notfound:"},
    {CueRule::bare_name, "Error"},
    {CueRule::bare_name, "Exception"},
    {CueRule::code, "error"},
    {CueRule::json, "\"error\""},
    {CueRule::nonzero, "error code"},
    {CueRule::nonzero, "exit code"},
    {CueRule::nonzero, "exit status"},
    {CueRule::nonzero, "exit_code"},
    {CueRule::nonzero, "exitcode"},
    {CueRule::nonzero, "exited with"},
    {CueRule::nonzero, "exited with code"},
    {CueRule::nonzero, "exited with status"},
    {CueRule::nonzero, "return code"},
    {CueRule::nonzero, "returncode"},
    {CueRule::nonzero, "[errno"},
    {CueRule::nonzero, "退出码"},
    {CueRule::status, "http"},
    {CueRule::status, "http/1.0"},
    {CueRule::status, "http/1.1"},
    {CueRule::status, "http/2"},
    {CueRule::status, "http error"},
    {CueRule::status, "http status"},
    {CueRule::status, "status"},
    {CueRule::status, "status code"},
    {CueRule::status, "status_code"},
    {CueRule::status, "statuscode"},
    {CueRule::status, "returned error:"},
    {CueRule::status, "状态码"},
    {CueRule::error, "400 bad request"},
    {CueRule::error, "401 unauthorized"},
    {CueRule::error, "403 forbidden"},
    {CueRule::error, "404 not found"},
    {CueRule::error, "405 method not allowed"},
    {CueRule::error, "408 request timeout"},
    {CueRule::error, "409 conflict"},
    {CueRule::error, "413 payload too large"},
    {CueRule::error, "422 unprocessable"},
    {CueRule::error, "429 too many requests"},
    {CueRule::error, "500 internal server error"},
    {CueRule::error, "502 bad gateway"},
    {CueRule::error, "503 service unavailable"},
    {CueRule::error, "504 gateway timeout"},
    {CueRule::traceback, "traceback (most recent call last)"},
    {CueRule::panic, "' panicked at"},
    {CueRule::panic, ") panicked at"},

    {CueRule::error, "segmentation fault"},
    {CueRule::error, "core dumped"},
    {CueRule::error, "stack overflow"},
    {CueRule::error, "heap-buffer-overflow"},
    {CueRule::error, "use-after-free"},
    {CueRule::error, "terminate called after"},
    {CueRule::error, "command not found"},
    {CueRule::error, "no such file or directory"},
    {CueRule::error, "permission denied"},
    {CueRule::error, "connection refused"},
    {CueRule::error, "connection reset"},
    {CueRule::error, "no space left on device"},
    {CueRule::error, "undefined reference"},
    {CueRule::error, "no module named"},
    {CueRule::error, "cannot find module"},
    {CueRule::error, "address already in use"},
    {CueRule::error, "caused by:"},
    {CueRule::error, "exception in thread"},
    {CueRule::error, "is not recognized as"},
    {CueRule::error, "ECONNREFUSED"},
    {CueRule::error, "ECONNRESET"},
    {CueRule::error, "EADDRINUSE"},
    {CueRule::error, "ETIMEDOUT"},
    {CueRule::error, "ENOTFOUND"},
    {CueRule::error, "ENOENT"},
    {CueRule::error, "EACCES"},
    {CueRule::error, "EPERM"},
    {CueRule::error, "ENOMEM"},
    {CueRule::error, "ENOSPC"},
    {CueRule::error, "EPIPE"},
    {CueRule::error, "ERESOLVE"},
    {CueRule::error, "SIGSEGV"},
    {CueRule::error, "SIGABRT"},
    {CueRule::error, "SIGKILL"},
    {CueRule::error, "OOMKilled"},
    {CueRule::error, "CrashLoopBackOff"},
    {CueRule::error, "ImagePullBackOff"},
    {CueRule::error, "ErrImagePull"},
    {CueRule::error, "错误："},
    {CueRule::error, "错误:"},
    {CueRule::error, "报错："},
    {CueRule::error, "报错:"},
    {CueRule::error, "异常："},
    {CueRule::error, "异常:"},
    {CueRule::error, "失败："},
    {CueRule::error, "失败:"},

    {CueRule::printed_error, "failed"},
    {CueRule::printed_error, "failure"},
    {CueRule::printed_error, "failures"},
    {CueRule::printed_error, "denied"},
    {CueRule::printed_error, "refused"},
    {CueRule::printed_error, "rejected"},
    {CueRule::printed_error, "declined"},
    {CueRule::printed_error, "[error]"},
    {CueRule::printed_error, "*** ["},
    {CueRule::printed_error, "_test.go:"},
    {CueRule::printed_error, ".exceptions."},
    {CueRule::printed_error, ".errors."},
    {CueRule::printed_error, "ERR_"},
    {CueRule::printed_error, "could not"},
    {CueRule::printed_error, "couldn't"},
    {CueRule::printed_error, "unable to"},
    {CueRule::printed_error, "cannot access"},
    {CueRule::printed_error, "cannot assign"},
    {CueRule::printed_error, "cannot borrow"},
    {CueRule::printed_error, "cannot connect"},
    {CueRule::printed_error, "cannot create"},
    {CueRule::printed_error, "cannot find"},
    {CueRule::printed_error, "cannot import"},
    {CueRule::printed_error, "cannot open"},
    {CueRule::printed_error, "cannot read"},
    {CueRule::printed_error, "cannot resolve"},
    {CueRule::printed_error, "cannot stat"},
    {CueRule::printed_error, "not found:"},
    {CueRule::printed_error, "module not found"},
    {CueRule::printed_error, "package not found"},
    {CueRule::printed_error, "no such"},
    {CueRule::printed_error, "does not exist"},
    {CueRule::printed_error, "timed out"},
    {CueRule::printed_error, "timeout exceeded"},
    {CueRule::printed_error, "deadline exceeded"},
    {CueRule::printed_error, "out of memory"},
    {CueRule::printed_error, "out of range"},
    {CueRule::printed_error, "not permitted"},
    {CueRule::printed_error, "must be one of"},
    {CueRule::printed_error, "must not be"},
    {CueRule::printed_error, "is not valid"},
    {CueRule::printed_error, "is invalid"},
    {CueRule::printed_error, "Killed"},
    {CueRule::printed_error, "Aborted"},
    {CueRule::printed_error, "unresolved external"},
    {CueRule::printed_error, "undefined symbol"},
    {CueRule::printed_error, "assertion failed"},
    {CueRule::printed_error, "assertion `"},
    {CueRule::printed_error, "deadlock detected"},
    {CueRule::printed_error, "unhealthy:"},
    {CueRule::printed_error, "back-off"},
    {CueRule::printed_error, "CONFLICT ("},
    {CueRule::printed_error, "level=error"},
    {CueRule::printed_error, "level=fatal"},
    {CueRule::printed_error, "\"level\":\"error\""},
    {CueRule::printed_error, "\"level\": \"error\""},
    {CueRule::printed_error, "错误"},
    {CueRule::printed_error, "失败"},
    {CueRule::printed_error, "异常"},
    {CueRule::printed_error, "无法"},
    {CueRule::printed_error, "找不到"},
    {CueRule::printed_error, "拒绝访问"},
    {CueRule::level, "ERROR"},
    {CueRule::level, "FATAL"},
    {CueRule::level, "CRITICAL"},
    {CueRule::level, "SEVERE"},
    {CueRule::level, "PANIC"},
    {CueRule::line_start, "error"},
    {CueRule::line_start, "fatal"},
    {CueRule::line_start, "npm err!"},
    {CueRule::line_start, "npm error"},
    {CueRule::line_start, "FAIL"},
    {CueRule::line_start, "--- FAIL"},
    {CueRule::line_start, "✕"},
    {CueRule::line_start, "✗"},
    {CueRule::line_start, "✘"},
};

class Automaton {
 public:
  Automaton() {
    for (std::size_t i = 0; i < std::size(cues); ++i) {
      add(std::string(cues[i].text), i);
      std::string curly;  // as word processors write it
      for (const char c : cues[i].text) c == '\'' ? curly += "’" : curly += c;
      if (curly != cues[i].text) add(curly, i);
    }
    link();
  }

  void find(std::string_view line, std::vector<CueMatch>& matches) const {
    State at = root;
    for (std::size_t i = 0; i < line.size(); ++i) {
      at = states_[at].next[classes_[static_cast<std::uint8_t>(line[i])]];
      for (State end = states_[at].ends ? at : states_[at].shorter; end != root; end = states_[end].shorter)
        for (const std::size_t cue : states_[end].cues) try_match(line, i + 1, states_[end].depth, cues[cue], matches);
    }
  }

 private:
  using State = std::uint16_t;
  static constexpr State root = 0;
  static constexpr std::size_t classes_max = 128;  // of bytes; all that no cue has are one class

  struct Node {
    std::array<State, classes_max> next = {};
    State longest_suffix = root;
    State shorter = root;  // the longest proper suffix that is a cue
    bool ends = false;     // whether this is a cue
    std::size_t depth = 0;
    std::vector<std::size_t> cues = {};
  };

  void add(const std::string& text, std::size_t cue) {
    State at = root;
    for (const char raw : text) {
      const char c = to_lower(raw);
      std::uint8_t& byte_class = classes_[static_cast<std::uint8_t>(c)];
      if (byte_class == 0) {
        byte_class = ++class_count_;
        if (is_lower(c)) classes_[static_cast<std::uint8_t>(c - ('a' - 'A'))] = byte_class;
      }
      if (states_[at].next[byte_class] == root) {
        states_[at].next[byte_class] = static_cast<State>(states_.size());
        const std::size_t depth = states_[at].depth + 1;
        states_.emplace_back().depth = depth;
      }
      at = states_[at].next[byte_class];
    }
    states_[at].ends = true;
    states_[at].cues.push_back(cue);
  }

  // Breadth first, so that what a state falls back to is ready before it.
  void link() {
    std::vector<State> queue;
    for (const State child : states_[root].next)
      if (child != root) queue.push_back(child);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const State at = queue[i];
      const Node& back = states_[states_[at].longest_suffix];
      states_[at].shorter = back.ends ? states_[at].longest_suffix : back.shorter;
      for (std::size_t c = 0; c < classes_max; ++c) {
        State& child = states_[at].next[c];
        if (child == root) {
          child = back.next[c];
        } else {
          states_[child].longest_suffix = back.next[c];
          queue.push_back(child);
        }
      }
    }
  }

  static void try_match(std::string_view line, std::size_t end, std::size_t size, const Cue& cue, std::vector<CueMatch>& matches) {
    const std::size_t begin = end - size;
    const bool exact = std::any_of(cue.text.begin(), cue.text.end(), is_upper);
    if (exact && line.substr(begin, size) != cue.text) return;
    const bool ends_a_name = cue.rule == CueRule::named || cue.rule == CueRule::bare_name;
    if (!ends_a_name && begin > 0 && is_alnum(line[begin]) && is_word(line[begin - 1])) return;
    if (end < line.size() && is_alnum(line[end - 1]) && is_word(line[end])) return;
    matches.push_back({cue.rule, begin, end});
  }

  std::vector<Node> states_ = std::vector<Node>(1);
  std::array<std::uint8_t, 256> classes_ = {};
  std::uint8_t class_count_ = 0;
};

}  // namespace

void find_cues(std::string_view line, std::vector<CueMatch>& matches) {
  static const Automaton automaton;
  matches.clear();
  automaton.find(line, matches);
}

}  // namespace undertext::digest
