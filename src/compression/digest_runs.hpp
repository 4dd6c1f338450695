// Commands that were run and what came of them: the last result of each test and build, and which
// errors are not fixed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace undertext::digest {

struct RunError {
  std::string text;
  std::size_t key_at = 0;  // of the part that makes two of them the same
  std::uint64_t when = 0;
};

// One command, or one call of another tool, and its result.
struct Run {
  std::string command;  // on one line
  // what the command is one of: "pytest", "npm test", "edit src/a.c"
  std::string family = {};
  std::vector<std::string> arguments;  // its operands, sorted
  std::string outcome = {};            // the line of its output that says how it went
  bool is_check = false;               // a test or a build
  bool is_code = false;                // a program, whose lines are the arguments
  bool failed = false;
  bool only_looked = false;  // what it printed is the content of files
  std::vector<RunError> errors = {};
  std::uint64_t when = 0;
  // set by Runs::add(), so that few texts are compared
  std::size_t command_hash = 0, family_hash = 0;
};

class Runs {
 public:
  void add(Run run);

  // The last run of each test and build, the newest first.
  std::vector<const Run*> last_checks() const;
  // Visits the errors of each run with whether a later run of the same command shows that they are
  // fixed, or no longer so.
  template <class Visit>
  void visit_errors(Visit visit) const {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].errors.empty()) continue;
      const bool is_settled = settles_any(i);
      for (const RunError& error : runs_[i].errors) visit(runs_[i], error, is_settled);
    }
  }

 private:
  bool settles_any(std::size_t index) const;  // whether a later run settles what this one found

  std::vector<Run> runs_;
};

// Sets command, family, arguments and is_check from a script.
void describe_run(std::string_view script, Run& run);

// The command of the test or build that a script runs and only looks at the output of; empty: it is
// none, or does more.
std::string sole_check(std::string_view script);

// Sets family, arguments and is_code from a program that is no script.
void describe_code(std::string_view code, Run& run);

// How a run went, from what it printed: sets `outcome` and `failed`. `exit_code` is what a result
// says beside its text.
void judge_run(std::string_view output, bool is_error, std::optional<std::int64_t> exit_code,
               Run& run);

// Whether what a tool other than a shell printed begins by saying that it failed, or was not let do
// what it was called for.
bool begins_as_failure(std::string_view output);

// The first lines of an output that say something, on one line each.
std::vector<std::string> telling_lines(std::string_view output, std::size_t lines_max);

// Whether a result says that the user, a rule or a hook did not let the call be made.
bool is_refusal(std::string_view output);

// Whether a result only says that an earlier one still holds, as "File unchanged since last read".
bool points_back(std::string_view output);

// "exit code 1", "[exited with status 2]" and nothing else.
bool is_bare_exit_code(std::string_view text);

}  // namespace undertext::digest
