// What a tool call does, as far as its name and arguments tell: which files it reads and changes,
// which script it runs, which plan it sets. Tools of any agent are read by the names of their
// arguments; no tool has to be known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.hpp"
#include "compression/shell_script.hpp"

namespace undertext {

// restored: as it was before, such as by `git checkout -- FILE`.
enum class FileChangeKind : std::uint8_t { edited, created, deleted, renamed, formatted, restored };
std::string_view name(FileChangeKind kind);

struct FileChange {
  FileChangeKind kind = FileChangeKind::edited;
  std::string path;
  std::string from = {};    // of a renamed one
  std::string folder = {};  // where a script went before, if it is absolute: the path begins there
};

struct FileRead {
  std::string path;
  std::string range = {};  // empty: all of it
  // The range as lines, where it is some. `last` may be all that follow.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> lines = {};
  // the range says more than lines: it may be another revision of the file
  bool is_variant = false;
  std::string folder = {};
};

struct PlanItem {
  enum class State : std::uint8_t { open, active, done };
  State state = State::open;
  std::string text;
};

// What a call does to one task of a plan whose others it does not name.
struct PlanStep {
  std::string id;    // empty: the task is new, and its result says its id
  std::string text;  // empty: as it was
  std::optional<PlanItem::State> state = {};
  bool is_dropped = false;
};

struct CallEffects {
  std::vector<FileChange> changes;
  std::vector<FileRead> reads;
  std::string script;  // that a shell runs; empty: none
  std::string code;    // a program in another language, such as a cell of a notebook; empty: none
  std::string folder;  // in which the call works, as its arguments say
  std::vector<PlanItem> plan;
  bool is_plan = false;
  std::optional<PlanStep> step = {};
  bool is_inspection = false;  // it only looks: reads, lists, searches
  bool only_reads = false;     // it prints what `reads` names and nothing else
  bool goes_on = false;        // it shows what follows what the same call showed before
};

// `arguments` is null where there are none. A string is read as JSON, or else as a script of a tool
// that runs such.
CallEffects effects_of(std::string_view tool, const JsonValue* arguments);

// A line of a plan with a box, without the mark of the list: "[x] Read it", "☐ Fix it".
std::optional<PlanItem> boxed_item(std::string_view item);

// What a script does to files, and what it only reads.
void read_script_effects(std::string_view script, CallEffects& effects);
// The files that a patch names, in the form of `apply_patch` or of a unified diff.
void read_patch(std::string_view patch, std::vector<FileChange>& changes);
// The files that what git, patch and formatters print says were changed.
void read_printed_changes(std::string_view script, std::string_view output,
                          std::vector<FileChange>& changes);

// Whether a program only looks at things.
bool only_looks(const std::vector<std::string>& words);

// A path with the folders that it is relative to, without "." and ".."; one that begins with ~ or $
// stays as it is.
std::string joined_path(std::string_view call_folder, std::string_view folder,
                        std::string_view path);

// An argument's name in lower case, without dashes and underscores.
std::string plain_key(std::string_view key);
bool is_command_key(std::string_view plain);
bool is_path_key(std::string_view plain);
bool runs_scripts(std::string_view tool);  // by its name: bash, shell, exec_command, …
// Whether what the argument holds is a program and no shell script: `code` of a tool that is not
// named for a shell.
bool holds_code(std::string_view tool, std::string_view plain);
// The lines of a cell that are for a shell: behind "!", or all of one that begins with %%bash.
std::string shell_lines(std::string_view code);

}  // namespace undertext
