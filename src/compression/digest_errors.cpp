#include "compression/digest_errors.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "compression/digest_runs.hpp"
#include "compression/digest_text.hpp"

namespace undertext::digest {
namespace {

constexpr std::size_t error_bytes_max = 400;
// how far to look back for the name of an error, so that no line is walked often
constexpr std::size_t name_bytes_max = 200;
constexpr std::string_view pytest_mark = "E   ";  // before what an assertion says
constexpr std::size_t level_within_bytes = 80;    // of a log line, before its level

// What frames a message: boxes, quotes, pytest's mark.
std::string_view without_frame(std::string_view line) {
  for (;;) {
    line = trim(line);
    bool changed = false;
    for (const std::string_view frame : {"│", "╷", "╵", "┃", "|", ">"}) {
      if (!line.starts_with(frame)) continue;
      line.remove_prefix(frame.size());
      changed = true;
    }
    if (line.starts_with(pytest_mark)) {
      line.remove_prefix(1);
      changed = true;
    }
    if (!changed) return line;
  }
}

// Lines of source code talk about errors that did not happen.
bool looks_like_code(std::string_view whole) {
  // asked for each cue of a line, however long
  const std::string_view line = trim(first_bytes(whole, error_bytes_max));
  if (line.empty()) return true;
  if (line.front() == '{') return false;  // a log in JSON
  if (line.back() == ';' || line.back() == '{' || line.back() == '}' || line.back() == '(' ||
      line.ends_with("=>"))
    return true;
  for (const std::string_view begin :
       {"//",     "/*",      "* ",     "# ",      "#include", "import ", "from ",  "def ",
        "func ",  "fn ",     "class ", "return ", "if ",      "throw ",  "raise ", "except ",
        "catch ", "assert ", "const ", "let ",    "var ",     "+ ",      "- "})
    if (line.starts_with(begin)) return true;
  for (const std::string_view inside :
       {"throw new", "raise ", "console.", "logger.", "logging.", "log.error", "log.warn",
        "log.Error", "printf(", "panic(", "return "})
    if (line.find(inside) != line.npos) return true;
  return false;
}

std::string_view last_word(std::string_view text) {
  text = trim(last_bytes(text, name_bytes_max));
  std::size_t begin = text.size();
  while (begin > 0 && is_alnum(text[begin - 1])) --begin;
  return text.substr(begin);
}

// What stands between a count and what became of it: "0 tests failed".
bool is_counted(std::string_view word) {
  for (const std::string_view one :
       {"test", "tests", "checks", "suites", "cases", "files", "assertions", "jobs", "examples"})
    if (word == one) return true;
  return false;
}

// The number behind `at`, with at most a few marks between.
std::optional<int> number_behind(std::string_view line, std::size_t at) {
  constexpr std::size_t marks_max = 12, digits_max = 5;
  const std::size_t marks_end = std::min(line.size(), at + marks_max);
  while (at < marks_end && std::string_view(" :=\"'`(").find(line[at]) != std::string_view::npos)
    ++at;
  if (at < line.size() && line[at] == '-') ++at;
  int number = 0;
  const std::size_t begin = at;
  while (at < line.size() && at - begin < digits_max && is_digit(line[at]))
    number = number * 10 + (line[at++] - '0');
  if (at == begin || (at < line.size() && (is_word(line[at]) || line[at] == '%')))
    return std::nullopt;
  return number;
}

// "error:", "error: …" at the beginning or behind a place; "TypeError: …"; not "except TypeError:".
bool is_named_error(std::string_view line, const CueMatch& match, Voice voice) {
  if (trim(line.substr(match.end)).empty()) return false;
  const std::size_t begin_min = match.begin - std::min(match.begin, name_bytes_max);
  std::size_t begin = match.begin;
  while (begin > begin_min && (is_word(line[begin - 1]) || line[begin - 1] == '.' ||
                               line[begin - 1] == '$' || line[begin - 1] == ':'))
    --begin;
  const std::string_view before = line.substr(0, begin),
                         name = line.substr(begin, match.end - begin);
  const std::string_view previous = last_word(before);
  for (const std::string_view declares : {"except", "raises", "throws", "catch", "raise", "throw"})
    if (previous == declares) return false;
  if (!line.substr(match.end).starts_with(' ')) return false;  // error::Kind, error:field
  if (std::any_of(name.begin(), name.end(), is_upper)) return true;
  const bool alone = name.size() == match.end - match.begin;
  if (voice == Voice::printed)
    return !looks_like_code(line) && (alone || name.find_first_of(".:") < name.size() - 1);
  return alone && (before.empty() || before.ends_with(": ") || before.ends_with("] ") ||
                   before.ends_with(") ") || before.ends_with('`') || previous == "fatal" ||
                   previous == "runtime" || previous == "syntax");
}

// A name such as java.lang.IllegalStateException with nothing else on the line.
bool is_bare_name(std::string_view line, const CueMatch& match) {
  if (match.end != line.size() || match.begin == 0) return false;
  return is_letter(line.front()) && std::all_of(line.begin(), line.end(), [](char c) {
           return is_word(c) || c == '.' || c == ':';
         });
}

// "error TS2322", "error[E0382]", "ERROR 1045", and eslint's "12:5  error  …".
bool is_coded(std::string_view line, const CueMatch& match) {
  std::string_view rest = line.substr(match.end);
  if (rest.starts_with('['))
    return rest.size() > 2 && is_alnum(rest[1]) && rest.substr(0, 16).find("]:") != rest.npos;
  if (rest.starts_with("  ") && match.begin >= 2 && line[match.begin - 1] == ' ') {
    const std::string_view place = trim(last_bytes(line.substr(0, match.begin), name_bytes_max));
    return place.find(':') != place.npos && is_digit(place.back());
  }
  if (!rest.starts_with(' ')) return false;
  rest.remove_prefix(1);
  std::size_t letters = 0;
  while (letters < rest.size() && is_upper(rest[letters])) ++letters;
  std::size_t digits = 0;
  while (letters + digits < rest.size() && is_digit(rest[letters + digits])) ++digits;
  const std::size_t end = letters + digits;
  return letters <= 5 && digits >= 3 && (end == rest.size() || !is_word(rest[end]));
}

bool holds(std::string_view line, const CueMatch& match, Voice voice) {
  const bool printed = voice == Voice::printed;
  switch (match.rule) {
    case CueRule::error: return true;
    case CueRule::printed_error: {
      std::string_view before = line.substr(0, match.begin);
      std::string_view count = last_word(before);  // 0 failed
      if (is_counted(count))
        count = last_word(before.substr(0, static_cast<std::size_t>(count.data() - before.data())));
      return printed && count != "0" && count != "no" && !looks_like_code(line);
    }
    case CueRule::level:
      return printed && match.begin <= level_within_bytes && !looks_like_code(line);
    case CueRule::line_start:
      return printed && match.begin == 0 && match.end < line.size() && !looks_like_code(line);
    case CueRule::named: return is_named_error(line, match, voice);
    case CueRule::bare_name: return printed && is_bare_name(line, match);
    case CueRule::code: return is_coded(line, match);
    case CueRule::nonzero: return number_behind(line, match.end).value_or(0) != 0;
    case CueRule::status: {
      const int status = number_behind(line, match.end).value_or(0);
      return status >= 400 && status <= 599;
    }
    case CueRule::json: {
      const std::string_view rest = trim(line.substr(match.end));
      return rest.starts_with(':') && trim(rest.substr(1)).starts_with('"') &&
             !trim(rest.substr(1)).starts_with("\"\"");
    }
    case CueRule::panic: return true;
    case CueRule::decision:
    case CueRule::constraint:
    case CueRule::wish:
    case CueRule::hint:
    case CueRule::attempt:
    case CueRule::next_step:
    case CueRule::traceback: return false;
  }
  return false;
}

// The `code` of a line, or its sentence, that holds [begin, end). Asked for in order, so that a
// line is walked once.
class Spans {
 public:
  explicit Spans(std::string_view line) : line_(line) {}

  std::pair<std::size_t, std::size_t> around(std::size_t begin, std::size_t end) {
    while (code_end_ < end && code_end_ < line_.size()) {  // the next pair of backticks
      code_begin_ = std::min(line_.find('`', code_end_), line_.size());
      const std::size_t close = line_.find('`', std::min(code_begin_ + 1, line_.size()));
      code_end_ = close == line_.npos ? line_.size() : close + 1;
      if (close == line_.npos) code_begin_ = line_.size();  // one alone opens nothing
    }
    if (code_begin_ < begin && end < code_end_) return {code_begin_ + 1, code_end_ - 1};
    while (sentence_end_ < end) {
      sentence_begin_ = sentence_end_;
      sentence_end_ = std::max(sentence_end(line_, sentence_begin_), sentence_begin_ + 1);
    }
    return {sentence_begin_, sentence_end_};
  }

 private:
  std::string_view line_;
  std::size_t code_begin_ = 0, code_end_ = 0;
  std::size_t sentence_begin_ = 0, sentence_end_ = 0;
};

// "3 failures", "2 errors generated."
bool is_bare_count(std::string_view text) {
  constexpr std::size_t count_bytes_max = 40;
  if (text.size() > count_bytes_max || text.empty() || !is_digit(text.front())) return false;
  std::string rest;
  for (const char c : text)
    if (is_letter(c)) rest += to_lower(c);
  for (const std::string_view words :
       {"failure", "failures", "failed", "error", "errors", "errorgenerated", "errorsgenerated"})
    if (rest == words) return true;
  return false;
}

// Log lines repeat with another time in front.
std::string_view without_time(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789-:.,TZ+/[]() ");
  return end == std::string_view::npos || !is_digit(text[text.find_first_not_of("[( ")])
             ? text
             : text.substr(end);
}

}  // namespace

void add_error(std::string_view text, Voice voice, Findings& findings) {
  const std::string kept = shorten_end(trim(text), error_bytes_max);
  // the command and the failures themselves say more
  if (is_bare_exit_code(kept) || is_bare_count(kept)) return;
  findings.add(Kind::error, kept, without_time(kept), voice);
}

void ErrorReader::read(std::string_view whole, const std::vector<CueMatch>& matches, Voice voice) {
  const std::string_view line = without_frame(whole);
  if (line.empty()) return;
  if (std::exchange(panicked_, false) ||
      (voice == Voice::printed && whole.starts_with(pytest_mark)))
    return add_error(line, voice, findings_);
  if (traceback_) {
    if (whole.starts_with(*traceback_ + " ")) return;
    const std::string prefix = *std::exchange(traceback_, std::nullopt);
    if (matches.empty() || matches.front().rule != CueRule::traceback)
      return add_error(whole.starts_with(prefix) ? whole.substr(prefix.size()) : line, voice,
                       findings_);
  }

  const auto moved_by = static_cast<std::size_t>(line.data() - whole.data());
  Spans spans(line);
  std::size_t done = 0;  // what stands before was kept or looked at
  for (CueMatch match : matches) {
    if (match.begin < moved_by || match.end - moved_by > line.size()) continue;
    match.begin -= moved_by;
    match.end -= moved_by;
    if (match.begin < done) continue;
    if (match.rule == CueRule::traceback) traceback_ = whole.substr(0, match.begin + moved_by);
    if (!holds(line, match, voice)) continue;
    if (match.rule == CueRule::panic) panicked_ = line.ends_with(':');
    std::size_t begin = 0, end = line.size();
    if (voice == Voice::spoken && match.begin > 0)
      std::tie(begin, end) = spans.around(match.begin, match.end);
    if (end - begin > error_bytes_max) {  // a window, with a little of what leads to it
      constexpr std::size_t lead_bytes_max = 80;
      begin =
          match.begin - last_bytes(line.substr(begin, match.begin - begin), lead_bytes_max).size();
      end = begin + first_bytes(line.substr(begin, end - begin), error_bytes_max).size();
    }
    add_error(line.substr(begin, end - begin), voice, findings_);
    done = end;
  }
}

}  // namespace undertext::digest
