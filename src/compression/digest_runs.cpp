#include "compression/digest_runs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "compression/call_effects.hpp"
#include "compression/digest_text.hpp"
#include "compression/shell_script.hpp"

namespace undertext::digest {
namespace {

constexpr std::size_t run_bytes_max = 240;
constexpr std::size_t outcome_bytes_max = 160;
// how many later runs are compared with one that failed
constexpr std::size_t later_runs_max = 512;

template <std::size_t n>
bool is_one_of(std::string_view word, const std::string_view (&list)[n]) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// Programs that test or build whatever their arguments are.
constexpr std::string_view checkers[] = {
    "ant",         "ava",     "bazel",         "buck2",      "catch2",     "clippy",  "cppcheck",
    "ctest",       "cypress", "eslint",        "flake8",     "gradle",     "gradlew", "jasmine",
    "jest",        "karma",   "make",          "mocha",      "msbuild",    "mvn",     "mvnw",
    "mypy",        "ninja",   "nox",           "phpunit",    "playwright", "pylint",  "pyright",
    "pytest",      "py.test", "rake",          "rspec",      "rubocop",    "sbt",     "shellcheck",
    "staticcheck", "tap",     "tox",           "tsc",        "unittest",   "vitest",  "webpack",
    "xcodebuild",  "gmake",   "golangci-lint", "clang-tidy", "bats",       "behave",  "nosetests",
    "trial"};
constexpr std::string_view test_words[] = {
    "test",   "tests", "build",  "check", "lint",       "typecheck", "vet",  "compile",
    "clippy", "bench", "verify", "ci",    "type-check", "e2e",       "unit", "nextest"};
constexpr std::string_view compilers[] = {"gcc",   "g++",   "cc",   "c++",    "clang",  "clang++",
                                          "rustc", "javac", "nvcc", "swiftc", "kotlinc"};

// "tests/run.sh": whatever a script among tests is called.
bool is_among_tests(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t folder_end = path.size() - std::min(path.size(), name.size() + 1);
  const std::string_view folder = base_name(path.substr(0, folder_end));
  return name.find('.') != name.npos && (folder == "test" || folder == "tests");
}

bool names_test(std::string_view path) {
  if (is_among_tests(path)) return true;
  const std::string name = lower(first_bytes(base_name(path), 64));
  return name.starts_with("test") || name.find("_test.") != name.npos ||
         name.find(".test.") != name.npos || name.find("test.sh") != name.npos ||
         name.find("tests.") != name.npos || name.find(".spec.") != name.npos ||
         name.ends_with("_tests") || name.ends_with("_test") || name == "tests" ||
         name.starts_with("run_tests") || name.starts_with("check.") || name == "runtests.py" ||
         name.starts_with("build.");
}

// "rustc --version" builds nothing.
bool asks_about_itself(const std::vector<std::string>& words) {
  return words.size() == 2 && (words[1] == "--version" || words[1] == "--help" ||
                               words[1] == "-V" || words[1] == "-version");
}

// The family of a test or build; empty: it is none.
std::string check_family(const std::vector<std::string>& words) {
  if (words.empty() || asks_about_itself(words)) return {};
  const std::string program(base_name(words[0]));
  std::string_view second;
  for (std::size_t i = 1; i < words.size() && second.empty(); ++i)
    if (!words[i].starts_with('-')) second = words[i];
  if (is_one_of(program, checkers)) return program;
  if (is_one_of(program, compilers)) return program;
  if (program.starts_with("python") || program == "py") {
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
      if (words[i] == "-m" && (is_one_of(words[i + 1], checkers) || words[i + 1] == "build" ||
                               words[i + 1] == "compileall"))
        return words[i + 1];
    return names_test(second) ? program + " " + std::string(second) : std::string();
  }
  if (program == "cmake")
    return std::find(words.begin(), words.end(), "--build") != words.end() ? "cmake --build"
                                                                           : "cmake";
  if (program == "ruff") return second == "check" || second.empty() ? "ruff" : "";
  if (program == "npm" || program == "yarn" || program == "pnpm" || program == "bun" ||
      program == "deno") {
    std::string_view script = second;
    if (script == "run" || script == "run-script") {
      script = {};
      for (std::size_t i = 2; i < words.size() && script.empty(); ++i)
        if (!words[i].starts_with('-') && words[i] != "run") script = words[i];
    }
    const std::string_view first = script.substr(0, script.find(':'));
    return is_one_of(first, test_words) || is_one_of(script, checkers) || script == "t"
               ? program + " " + std::string(script)
               : "";
  }
  if (program == "node" || program == "tsx" || program == "ts-node") {
    if (std::find(words.begin(), words.end(), "--test") != words.end()) return "node --test";
    return names_test(second) ? program + " " + std::string(second) : "";
  }
  if (program == "cargo" || program == "go" || program == "dotnet" || program == "swift" ||
      program == "mix" || program == "zig" || program == "docker" || program == "just" ||
      program == "task" || program == "meson" || program == "flutter" || program == "dart" ||
      program == "stack" || program == "cabal" || program == "lein" || program == "rails" ||
      program == "manage.py" || program == "hatch")
    return is_one_of(second, test_words) ? program + " " + std::string(second) : "";
  if (words[0].find('/') != std::string::npos || program == "bash" || program == "sh")
    return names_test(words[0]) ||
                   (!second.empty() && names_test(second) && (program == "bash" || program == "sh"))
               ? std::string(names_test(words[0]) ? std::string_view(words[0]) : second)
               : "";
  return {};
}

// Programs with commands of their own: how many words name one of these, and the options before
// them that have a value behind them.
struct CommandWords {
  std::string_view program;
  std::size_t words;
  std::array<std::string_view, 7> options_with_value;
};
constexpr CommandWords command_words[] = {
    {"aws", 2, {"--profile", "--region", "--output", "--endpoint-url"}},
    {"docker", 2, {"--context", "-c", "-H", "--host", "--config", "-l", "--log-level"}},
    {"gcloud", 3, {"--project", "--account", "--configuration", "--format"}},
    {"gh", 2, {"-R", "--repo"}},
    {"git", 1, {"-C", "-c", "--git-dir", "--work-tree"}},
    {"helm", 1, {"--kube-context", "-n", "--namespace", "--kubeconfig"}},
    {"kubectl",
     2,
     {"--context", "-n", "--namespace", "--kubeconfig", "--cluster", "-s", "--request-timeout"}},
    {"npm", 1, {"--prefix", "-w", "--workspace"}},
    {"ssh", 2, {"-i", "-p", "-o", "-l", "-F", "-J"}},
};

// What a command is one of: its program and the first word that is no option, or the words that
// name a command of the program, as in "kubectl rollout status".
std::string family_of(const std::vector<std::string>& words) {
  static constexpr CommandWords any_program = {{}, 1, {}};
  const std::string_view program = base_name(words[0]);
  const CommandWords* known =
      std::find_if(std::begin(command_words), std::end(command_words),
                   [program](const CommandWords& one) { return one.program == program; });
  if (known == std::end(command_words)) known = &any_program;
  const auto& with_value = known->options_with_value;
  std::string family(program);
  std::size_t left = known->words;
  for (std::size_t i = 1; i < words.size() && left > 0; ++i) {
    if (!words[i].starts_with('-')) {
      (family += ' ') += first_bytes(words[i], run_bytes_max);
      --left;
    } else if (std::find(with_value.begin(), with_value.end(), words[i]) != with_value.end()) {
      ++i;
    }
  }
  return family;
}

bool contains_all(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

// A program that was corrected is mostly the same.
bool shares_half(const std::vector<std::string>& lines, const std::vector<std::string>& others) {
  std::size_t shared = 0;
  for (const std::string& line : lines)
    shared += std::binary_search(others.begin(), others.end(), line) ? 1u : 0u;
  return shared > 0 && 2 * shared >= lines.size();
}

// Whether `later` tells how things stand with what `earlier` found: it is the same command, or one
// of its kind that covers as much.
bool settles(const Run& earlier, const Run& later) {
  if (earlier.command_hash == later.command_hash && earlier.command == later.command) return true;
  if (earlier.family.empty() || earlier.family_hash != later.family_hash ||
      earlier.family != later.family)
    return false;
  if (earlier.is_code) return !later.failed && shares_half(earlier.arguments, later.arguments);
  if (!earlier.is_check) return !later.failed;
  // Without operands it runs everything.
  return later.arguments.empty() ||
         (!earlier.arguments.empty() && contains_all(later.arguments, earlier.arguments));
}

std::optional<std::int64_t> number_after(std::string_view line, std::size_t at) {
  while (at < line.size() && std::string_view(" :=(\"").find(line[at]) != std::string_view::npos)
    ++at;
  if (at < line.size() && line[at] == '-') ++at;
  if (at >= line.size() || !is_digit(line[at])) return {};
  std::int64_t number = 0;
  for (std::size_t digits = 0; at < line.size() && is_digit(line[at]) && digits < 9; ++at, ++digits)
    number = number * 10 + (line[at] - '0');
  return number;
}

// Near the beginning or the end of what was printed.
std::optional<std::int64_t> printed_exit_code(std::string_view output) {
  constexpr std::size_t near_bytes = 400;
  for (const std::string_view part :
       {last_bytes(output, near_bytes), first_bytes(output, near_bytes)}) {
    const std::string text = lower(part);
    if (text.find("exit") == text.npos && text.find("return") == text.npos) continue;
    for (const std::string_view words :
         {"exited with code", "exited with status", "exit code", "exit status", "exit_code",
          "exitcode", "return code", "returncode", "exited with"}) {
      const std::size_t found = text.rfind(words);
      if (found == text.npos) continue;
      if (const std::optional<std::int64_t> code = number_after(text, found + words.size()))
        return code;
    }
  }
  return {};
}

struct Verdict {
  std::string line;
  std::optional<bool> failed;
};

bool line_has(std::string_view line, std::string_view piece) {
  return line.find(piece) != line.npos;
}

// A number other than 0 before a word: "2 failed".
bool counts_some(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    std::size_t end = at;
    while (end > 0 && line[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && is_digit(line[begin - 1])) --begin;
    if (begin < end &&
        line.substr(begin, end - begin).find_first_not_of('0') != std::string_view::npos)
      return true;
  }
  return false;
}

// How a tool that is no shell says that it failed.
constexpr std::string_view failures_begin[] = {
    "Error",
    "error",
    "<tool_use_error>",
    "String to replace not found",
    "No replacement was performed",
    "No replacements were made",
    "No changes were made",
    "No match found",
    "Failed to ",
    "oldString not found",
    "old_string not found",
    "Could not ",
    "Cannot ",
    "Unable to ",
    "File not found",
    "File does not exist",
    "File has not been read yet",
    "The tool execution failed",
    "Tool execution failed",
    "apply_patch verification failed",
    "Invalid patch",
    "Patch failed",
};

// In lower case. Each says who did not let a call be made.
constexpr std::string_view refusals[] = {
    "user doesn't want to",
    "user does not want to",
    "user rejected",
    "user denied",
    "user declined",
    "user refused",
    "user cancelled",
    "user canceled",
    "user skipped",
    "user has rejected",
    "user has denied",
    "user has declined",
    "user did not allow",
    "user did not approve",
    "user chose to skip",
    "user chose to cancel",
    "rejected by user",
    "rejected by the user",
    "denied by user",
    "denied by the user",
    "denied by policy",
    "declined by user",
    "declined by the user",
    "refused by the user",
    "cancelled by user",
    "cancelled by the user",
    "canceled by user",
    "canceled by the user",
    "interrupted by user",
    "interrupted by the user",
    "not approved by",
    "operation cancelled",
    "operation canceled",
    "permission to use",
    "requested permissions to",
    "blocked by hook",
    "blocked by a hook",
    "blocked by policy",
};

constexpr std::string_view parts_of_refusals[] = {"ser ", "user",  "not approved", "peration",
                                                  "hook", "olicy", "ermission"};
constexpr std::string_view parts_of_pointers_back[] = {"changed", "modified", "re-reading"};

constexpr std::string_view pointers_back[] = {
    "unchanged since last read",
    "unchanged since your last read",
    "unchanged since the last read",
    "unchanged since it was last read",
    "unchanged since you last read",
    "not changed since last read",
    "not changed since your last read",
    "not changed since the last read",
    "not changed since you last read",
    "hasn't changed since",
    "not been modified since",
    "file unchanged",
    "file is unchanged",
    "refer to that instead of re-reading",
    "\"status\":\"unchanged\"",
    "\"status\": \"unchanged\"",
};

template <std::size_t n>
bool holds_one_of(std::string_view text, const std::string_view (&list)[n]) {
  return std::any_of(std::begin(list), std::end(list),
                     [text](std::string_view piece) { return text.find(piece) != text.npos; });
}

// {"error":"…"}, {"success":false}
bool says_failure_in_json(std::string_view begin) {
  std::string dense;
  for (const char c : begin)
    if (c != ' ' && c != '\n') dense += to_lower(c);
  constexpr std::string_view error = "{\"error\":";
  if (dense.starts_with(error)) {
    const std::string_view value = std::string_view(dense).substr(error.size());
    for (const std::string_view none : {"null", "false", "\"\"", "0", "[]", "{}"})
      if (value.starts_with(none)) return false;
    return true;
  }
  static constexpr std::string_view failed[] = {
      "{\"success\":false",       "{\"ok\":false",          "{\"iserror\":true",
      "{\"status\":\"error\"",    "{\"status\":\"failed\"", "{\"status\":\"failure\"",
      "{\"status\":\"rejected\"", "{\"status\":\"denied\"", "{\"status\":\"cancelled\""};
  return std::any_of(std::begin(failed), std::end(failed),
                     [&dense](std::string_view says) { return dense.starts_with(says); });
}

// What a line says of the whole run, if it does.
std::optional<Verdict> verdict_of(std::string_view raw) {
  constexpr std::size_t line_bytes_max = 400;
  std::string_view line = trim(first_bytes(raw, line_bytes_max));
  while (!line.empty() && (line.front() == '=' || line.front() == ' ')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == '=' || line.back() == ' ')) line.remove_suffix(1);
  if (line.empty()) return {};
  const std::string low = lower(line);
  const auto says = [&](bool failed) { return Verdict{std::string(line), failed}; };
  if ((is_digit(line[0]) || low.starts_with("no tests ran")) && line_has(low, " in ") &&
      (line_has(low, " passed") || line_has(low, " failed") || line_has(low, " error") ||
       line_has(low, "no tests")))
    return says(counts_some(low, "failed") || counts_some(low, "error"));
  if (line_has(low, "% tests passed")) return says(!low.starts_with("100%"));
  if (low.starts_with("test result:")) return says(line_has(line, "FAILED"));
  if (low.starts_with("tests:") && line_has(low, "total")) return says(counts_some(low, "failed"));
  if (low.starts_with("test files") || low.starts_with("test suites:") ||
      (low.starts_with("tests ") && line_has(low, "(")))
    return says(counts_some(low, "failed"));
  if (low.starts_with("# fail ") || low.starts_with("ℹ fail ")) return says(!low.ends_with(" 0"));
  if (low.starts_with("# pass ") || low.starts_with("ℹ pass "))
    return Verdict{std::string(line), {}};
  if (is_digit(line[0]) && (low.ends_with(" passing") || line_has(low, " passing (")))
    return Verdict{std::string(line), {}};
  if (is_digit(line[0]) && low.ends_with(" failing")) return says(true);
  if (low.starts_with("not ok ") && !line_has(low, "# todo") && !line_has(low, "# skip"))
    return says(true);
  if (line.starts_with("FAILED (") || line == "FAILED") return says(true);
  if (line == "OK" || line.starts_with("OK (")) return says(false);
  if (line.starts_with("FAIL\t") || line == "FAIL" || line.starts_with("FAIL ")) return says(true);
  if (line.starts_with("ok  \t") || line.starts_with("ok \t"))
    return Verdict{std::string(line), false};
  if (line_has(line, "BUILD SUCCESS")) return says(false);
  if (line_has(line, "BUILD FAIL")) return says(true);
  if (low.starts_with("found ") && line_has(low, " error"))
    return says(!low.starts_with("found 0"));
  if (low.starts_with("success: no issues") || low.starts_with("all checks passed") ||
      low.starts_with("all tests passed"))
    return says(false);
  if (line_has(low, " problems (")) return says(counts_some(low, "error"));
  if (low.starts_with("ninja: build stopped") || line_has(line, "*** [") ||
      low.starts_with("make: ***"))
    return says(true);
  if (low.starts_with("error: could not compile") || low.starts_with("error: test failed") ||
      low.starts_with("-- configuring incomplete"))
    return says(true);
  if (low.starts_with("finished `") || low.starts_with("finished dev") ||
      line_has(low, "built target") || low.starts_with("ninja: no work") ||
      low.starts_with("compiled successfully"))
    return says(false);
  if (low.starts_with("ran ") && line_has(low, " test")) return Verdict{std::string(line), {}};
  return {};
}

constexpr std::string_view traceback = "Traceback (most recent call last)";

// Not what frames an output: "Output:", "(no output)", "Wall time: 0.1 seconds", the places in a
// diff.
bool tells_something(std::string_view line) {
  constexpr std::size_t told_bytes_min = 4;
  for (const std::string_view frame :
       {"(no output)", "Output:", "Chunk ID:", "Wall time:", "@@ ", "--- ", "+++ ", "diff "})
    if (line.starts_with(frame)) return false;
  const bool is_place = line.find_first_not_of("0123456789,acd") == line.npos;  // 3,4c3
  return !is_place && line.size() >= told_bytes_min &&
         std::any_of(line.begin(), line.end(), is_alnum);
}

bool is_compiler_error(std::string_view line) {
  return line_has(line, ": error:") || line_has(line, ": fatal error:") ||
         line.starts_with("error[") || line.starts_with("error: ") ||
         line_has(line, "undefined reference to") || line_has(line, ": error TS") ||
         line.starts_with(traceback) || line_has(line, "CMake Error");
}

}  // namespace

void Runs::add(Run run) {
  run.command_hash = std::hash<std::string>()(run.command);
  run.family_hash = std::hash<std::string>()(run.family);
  runs_.push_back(std::move(run));
}

bool Runs::settles_any(std::size_t index) const {
  const std::size_t end = std::min(runs_.size(), index + 1 + later_runs_max);
  for (std::size_t i = index + 1; i < end; ++i)
    if (settles(runs_[index], runs_[i])) return true;
  return false;
}

std::vector<const Run*> Runs::last_checks() const {
  std::vector<const Run*> last;
  std::set<std::string_view> seen;
  for (std::size_t i = runs_.size(); i-- > 0;)
    if (runs_[i].is_check && seen.insert(runs_[i].command).second) last.push_back(&runs_[i]);
  return last;
}

void describe_run(std::string_view script, Run& run) {
  std::string_view whole = script;
  std::vector<ShellCommand> commands = shell_commands(script);
  if (commands.size() == 1)
    if (const std::vector<std::string> words = program_words(commands[0]);
        !inner_script(words).empty()) {
      commands = shell_commands(inner_script(words));
    }
  const ShellCommand* chosen = nullptr;
  for (const ShellCommand& command : commands) {
    const std::vector<std::string> words = program_words(command);
    std::string family = check_family(words);
    if (family.empty()) continue;
    chosen = &command;
    run.family = std::move(family);
    run.is_check = true;  // of several the last one: what was built before it had to succeed
  }
  if (chosen == nullptr) {
    for (const ShellCommand& command : commands) {
      const std::vector<std::string> words = program_words(command);
      if (words.empty() || only_looks(words)) continue;
      chosen = &command;
      run.family = family_of(words);
      break;
    }
  }
  if (chosen != nullptr) {
    const std::vector<std::string> words = program_words(*chosen);
    for (std::size_t i = 1; i < words.size(); ++i)
      if (!words[i].starts_with('-') && run.family.find(words[i]) == std::string::npos)
        run.arguments.emplace_back(first_bytes(words[i], run_bytes_max));
    std::sort(run.arguments.begin(), run.arguments.end());
    whole = chosen->text;
    if (whole.ends_with(" 2>&1")) whole.remove_suffix(std::string_view(" 2>&1").size());
  }
  run.command = shorten_end(one_line(first_bytes(whole, 2 * run_bytes_max)), run_bytes_max);
}

std::string sole_check(std::string_view script) {
  for (const ShellCommand& command : shell_commands(script)) {
    const std::vector<std::string> words = program_words(command);
    if (check_family(words).empty() && !only_looks(words)) return {};
  }
  Run run;
  describe_run(script, run);
  return run.is_check ? run.command : std::string();
}

void describe_code(std::string_view code, Run& run) {
  constexpr std::size_t lines_max = 256, line_bytes_min = 4;  // a brace says nothing
  run.is_code = true;
  run.family = "code";
  for_each_line(code, [&run](std::string_view line) {
    const std::string_view mark = trim(line);
    if (mark.size() >= line_bytes_min && run.arguments.size() < lines_max)
      run.arguments.emplace_back(first_bytes(mark, run_bytes_max));
  });
  std::sort(run.arguments.begin(), run.arguments.end());
}

void judge_run(std::string_view output, bool is_error, std::optional<std::int64_t> exit_code,
               Run& run) {
  if (!exit_code) exit_code = printed_exit_code(output);
  std::array<std::string_view, 4> last_lines;  // of those that are not empty, in a ring
  std::size_t line_count = 0;
  std::optional<Verdict> passed, failed;
  std::string_view error;  // the last that a compiler named
  bool has_error = false, passed_last = false;
  for_each_line(output, [&](std::string_view line) {
    const std::string_view mark = trim(line);
    if (mark.empty()) return;
    last_lines[line_count++ % last_lines.size()] = mark;
    if (!run.is_check) return;
    has_error = has_error || is_compiler_error(mark);
    if (is_compiler_error(mark) && !mark.starts_with(traceback)) error = mark;
    if (std::optional<Verdict> verdict = verdict_of(mark)) {
      // `# pass 3` and `# fail 1` belong together; a failure that one line tells is not undone by
      // the next.
      if (verdict->failed) passed_last = !*verdict->failed;
      std::optional<Verdict>& to = verdict->failed.value_or(false) ? failed : passed;
      if (to && to->failed == verdict->failed &&
          to->line.size() + verdict->line.size() < outcome_bytes_max && to->line.starts_with('#')) {
        to->line += ", " + verdict->line;
      } else {
        to = std::move(verdict);
      }
    }
  });
  const bool says_failed = failed.has_value() || (run.is_check && has_error && !passed);
  // The exit code of `pytest | tail` is that of tail: what the output says of the whole counts more
  // than a zero.
  run.failed = is_error || (exit_code && *exit_code != 0) ||
               (failed ? !passed_last : !exit_code && says_failed);
  if (run.is_code && output.find(traceback) != output.npos) run.failed = true;
  std::string outcome;
  if (passed && failed) {
    outcome = failed->line +
              (failed->line.find(passed->line) == std::string::npos ? ", " + passed->line : "");
  } else if (failed || passed) {
    outcome = failed ? failed->line : passed->line;
  } else if (!error.empty()) {
    outcome = std::string(error);
  } else {
    for (std::size_t back = 1; back <= std::min(line_count, last_lines.size()) && outcome.empty();
         ++back) {
      const std::string_view line = last_lines[(line_count - back) % last_lines.size()];
      // it is not why the run failed
      const bool is_warning = has_error && line.find("warning:") != line.npos;
      if (!is_bare_exit_code(line) && !is_warning) outcome = std::string(line);
    }
  }
  if (outcome.empty() && exit_code) outcome = "exit code " + std::to_string(*exit_code);
  run.outcome = shorten_end(one_line(outcome), outcome_bytes_max);
}

bool begins_as_failure(std::string_view output) {
  constexpr std::size_t begin_bytes = 200;
  const std::string_view begin = trim(first_bytes(output, begin_bytes));
  for (const std::string_view failure : failures_begin)
    if (begin.starts_with(failure)) return true;
  return (begin.starts_with('{') && says_failure_in_json(begin)) || is_refusal(output);
}

std::vector<std::string> telling_lines(std::string_view output, std::size_t lines_max) {
  std::vector<std::string> telling;
  for_each_line(output, [&](std::string_view line) {
    const std::string_view mark = trim(line);
    if (telling.size() < lines_max && !is_bare_exit_code(mark) && tells_something(mark))
      telling.push_back(one_line(mark));
  });
  return telling;
}

bool is_refusal(std::string_view output) {
  constexpr std::size_t line_bytes = 200;
  std::string_view line = trim(first_bytes(output, line_bytes));
  line = line.substr(0, line.find('\n'));
  // Most results have none of these, each of which is part of some of the list.
  return holds_one_of(line, parts_of_refusals) && holds_one_of(lower(line), refusals);
}

bool points_back(std::string_view output) {
  constexpr std::size_t pointer_bytes_max = 800;  // more is a content
  return output.size() <= pointer_bytes_max && holds_one_of(output, parts_of_pointers_back) &&
         holds_one_of(lower(output), pointers_back);
}

bool is_bare_exit_code(std::string_view text) {
  constexpr std::size_t bare_bytes_max = 100;
  if (text.size() > bare_bytes_max) return false;
  static constexpr std::string_view known[] = {
      "exit",     "code",      "status", "exited",     "with",     "process",   "command",
      "the",      "error",     "return", "returncode", "exitcode", "exit_code", "failed",
      "finished", "completed", "shell",  "non",        "zero",     "a"};
  bool has_code = false;
  std::string word;
  const auto end_word = [&] {
    const bool fine = word.empty() || std::all_of(word.begin(), word.end(), is_digit) ||
                      is_one_of(lower(word), known);
    has_code = has_code || lower(word).find("exit") != std::string::npos ||
               lower(word).find("code") != std::string::npos;
    word.clear();
    return fine;
  };
  for (const char c : text) {
    if (is_word(c)) {
      word += c;
    } else if (!is_ascii(c) || !end_word()) {
      return false;
    }
  }
  return end_word() && has_code;
}

}  // namespace undertext::digest
