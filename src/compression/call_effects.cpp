#include "compression/call_effects.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "compression/digest_text.hpp"

namespace undertext {
namespace {

using digest::first_bytes;
using digest::lower;
using digest::trim;

constexpr std::size_t path_size_max = 512;
constexpr unsigned script_depth_max = 3;  // of bash -c inside bash -c
constexpr unsigned value_depth_max = 16;

// In lower case and without dashes and underscores.
constexpr std::string_view keys_of_commands[] = {
    "bash", "cmd", "cmdline", "command", "commandline", "commands", "shellcommand", "sql"};
constexpr std::string_view keys_of_paths[] = {
    "absolutepath", "cwd",          "dir",
    "directory",    "file",         "filename",
    "filepath",     "filepaths",    "files",
    "folder",       "newpath",      "notebookpath",
    "oldpath",      "outputpath",   "path",
    "paths",        "relativepath", "relativeworkspacepath",
    "targetfile",   "workdir",      "workingdirectory"};
constexpr std::string_view keys_of_files[] = {
    "absolutepath",          "file",    "filename",   "filepath", "filepaths", "files",
    "notebookpath",          "oldpath", "outputpath", "path",     "paths",     "relativepath",
    "relativeworkspacepath", "source",  "targetfile"};
constexpr std::string_view keys_of_targets[] = {"destination", "newname", "newpath", "target",
                                                "to"};
constexpr std::string_view keys_of_content[] = {
    "codeedit", "diff",      "edits",   "filetext", "inserttext", "newcontent", "newsource",
    "newstr",   "newstring", "newtext", "oldstr",   "oldstring",  "patch",      "replacement"};
constexpr std::string_view keys_of_ranges[] = {
    "cellid",    "endline",   "endlineoneindexedinclusive",
    "head",      "length",    "limit",
    "linecount", "lines",     "offset",
    "pages",     "startline", "startlineoneindexed",
    "tail",      "viewrange"};
constexpr std::string_view keys_of_folders[] = {"cwd", "workdir", "workingdirectory"};
// What a call may have beside the path of what it reads without reading something else.
// Of texts that hold a plan.
constexpr std::string_view keys_of_plans[] = {"checklist",    "plan",     "progress", "tasks",
                                              "taskprogress", "todolist", "todos"};
constexpr std::string_view tools_that_add_tasks[] = {"addtodo", "taskcreate", "todoadd"};
constexpr std::string_view tools_of_tasks[] = {"taskupdate", "todoupdate", "updatetodo"};
constexpr std::size_t plan_item_bytes_max = 300;
// Tools whose next call goes on where the last one ended, with the same arguments: what has been
// printed since, the next page.
constexpr std::string_view tools_that_go_on[] = {
    "keys", "keystroke", "logs",  "nextpage", "output",        "pagedown", "pageup",
    "poll", "scroll",    "stdin", "wait",     "commandstatus", "fetchmore"};
constexpr std::string_view keys_of_notes[] = {"description",   "encoding", "explanation",
                                              "justification", "reason",   "shouldreadentirefile",
                                              "taskprogress",  "thought",  "timeout"};
static_assert(std::is_sorted(std::begin(keys_of_commands), std::end(keys_of_commands)));
static_assert(std::is_sorted(std::begin(keys_of_paths), std::end(keys_of_paths)));

template <std::size_t n>
bool is_among(std::string_view word, const std::string_view (&list)[n]) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> pieces) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](std::string_view piece) { return text.find(piece) != text.npos; });
}

bool is_file_target(std::string_view path) {
  return !path.empty() && path.size() <= path_size_max && path != "-" &&
         !path.starts_with("/dev/") && !path.starts_with('&') &&
         path.find_first_of("$`*?\n|<>") == path.npos;
}

void add_change(std::vector<FileChange>& changes, FileChangeKind kind, std::string_view path,
                std::string_view from = {}) {
  path = trim(path);
  while (path.starts_with("./")) path.remove_prefix(2);
  if (!is_file_target(path)) return;
  changes.push_back({kind, std::string(path), std::string(trim(from))});
}

bool is_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

std::vector<std::string_view> operands(const std::vector<std::string>& words,
                                       std::size_t from = 1) {
  std::vector<std::string_view> found;
  bool only_operands = false;
  for (std::size_t i = from; i < words.size(); ++i) {
    if (words[i] == "--") {
      only_operands = true;
    } else if (only_operands || !is_option(words[i])) {
      found.push_back(words[i]);
    }
  }
  return found;
}

bool has_option(const std::vector<std::string>& words,
                std::initializer_list<std::string_view> options) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(options.begin(), options.end(), word) != options.end();
  });
}

// -i, -pi, -i.bak, --in-place
bool edits_in_place(const std::vector<std::string>& words) {
  return std::any_of(words.begin() + 1, words.end(), [](const std::string& word) {
    if (word.starts_with("--in-place")) return true;
    return is_option(word) && word[1] != '-' && word.find('i') != word.npos && word.size() < 12;
  });
}

void read_in_place(const std::vector<std::string>& words, std::vector<FileChange>& changes) {
  if (!edits_in_place(words)) return;
  std::vector<std::string_view> files;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (is_option(word)) {
      if (word == "-e" || word == "-f" ||
          (word.size() > 2 && word[1] != '-' && word.ends_with('e')))
        ++i;
      continue;
    }
    if (!word.empty()) files.push_back(word);
  }
  const bool has_e = has_option(words, {"-e", "-f", "--expression"}) ||
                     std::any_of(words.begin() + 1, words.end(), [](const std::string& w) {
                       return is_option(w) && w[1] != '-' && w.size() > 2 && w.ends_with('e');
                     });
  if (!has_e && !files.empty()) files.erase(files.begin());  // the script itself
  for (const std::string_view file : files) add_change(changes, FileChangeKind::edited, file);
}

void read_move(const std::vector<std::string_view>& paths, std::vector<FileChange>& changes) {
  if (paths.size() < 2) return;
  const std::string_view to = paths.back();
  for (std::size_t i = 0; i + 1 < paths.size(); ++i) {
    const bool into_folder = paths.size() > 2 || to.ends_with('/');
    std::string target(to);
    if (into_folder) {
      if (!to.ends_with('/')) target += '/';
      target += base_name(paths[i]);
    }
    if (is_file_target(paths[i])) add_change(changes, FileChangeKind::renamed, target, paths[i]);
  }
}

void read_git(const std::vector<std::string>& words, std::vector<FileChange>& changes) {
  std::size_t at = 1;
  while (at < words.size() && is_option(words[at]))
    at += words[at] == "-C" || words[at] == "-c" ? 2u : 1u;
  if (at >= words.size()) return;
  const std::string_view what = words[at];
  if (what == "mv") return read_move(operands(words, at + 1), changes);
  if (what == "rm") {
    if (has_option(words, {"--cached"})) return;
    for (const std::string_view path : operands(words, at + 1))
      add_change(changes, FileChangeKind::deleted, path);
  } else if (what == "restore" || what == "checkout") {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (has_option(words, {"--staged", "-b", "-B"})) return;
    const std::size_t from =
        dashes == words.end() ? at + 1 : static_cast<std::size_t>(dashes - words.begin()) + 1;
    for (const std::string_view path : operands(words, from)) {
      // Without dashes it may be a branch, which has no ending of a file.
      const std::string_view last = base_name(path);
      const std::size_t dot = last.rfind('.');
      const bool is_file =
          dot != last.npos && dot + 1 < last.size() && digest::is_letter(last[dot + 1]);
      if (what == "restore" || dashes != words.end() || is_file)
        add_change(changes, FileChangeKind::restored, path);
    }
  }
}

bool is_formatter(const std::vector<std::string>& words) {
  const std::string_view program = base_name(words[0]);
  if (has_option(words, {"--check", "--diff", "--dry-run", "-n"})) return false;
  if (program == "black" || program == "isort" || program == "rustfmt" || program == "swiftformat")
    return true;
  if (program == "ruff") return has_option(words, {"format", "--fix"});
  if (program == "prettier") return has_option(words, {"--write", "-w"});
  if (program == "eslint" || program == "standard" || program == "stylelint" || program == "biome")
    return has_option(words, {"--fix", "--write"});
  if (program == "gofmt" || program == "goimports" || program == "shfmt")
    return has_option(words, {"-w"});
  if (program == "clang-format" || program.starts_with("clang-format-") || program == "autopep8" ||
      program == "yapf")
    return has_option(words, {"-i", "--in-place"});
  return false;
}

// What a program in another language writes: open("x", "w"), Path("x").write_text(…),
// fs.writeFileSync("x", …), with names that stand for strings.
class WritesOfCode {
 public:
  WritesOfCode(std::string_view code, std::vector<FileChange>& changes)
      : code_(code), changes_(changes) {}

  void read() {
    read_names();
    for_each("open(", [&](std::size_t behind) {
      const std::optional<std::string> path = argument(behind);
      if (path && writes(behind)) add_change(changes_, FileChangeKind::edited, *path);
    });
    for (const std::string_view call :
         {"writeFileSync(", "writeFile(", "appendFileSync(", "File.write(", "savefig(", ".save(",
          "np.savez(", "imsave(", "imwrite(", "ggsave("})
      for_each(call, [&](std::size_t behind) {
        if (const std::optional<std::string> path = argument(behind))
          add_change(changes_, FileChangeKind::edited, *path);
      });
    // Tables and charts: df.to_csv("x"), df.write_parquet("x"), fig.write_html("x").
    for (const std::string_view call : {".to_", ".write_"})
      for_each(call, [&](std::size_t behind) {
        std::size_t open = behind;
        while (open < code_.size() && digest::is_word(code_[open])) ++open;
        if (open == behind || open >= code_.size() || code_[open] != '(') return;
        const std::optional<std::string> path = argument(open + 1);
        if (path && base_name(*path).find('.') != std::string_view::npos)
          add_change(changes_, FileChangeKind::edited, *path);
      });
    // The second argument: shutil.copy(a, b), joblib.dump(x, "file"), saveRDS(x, "file").
    for (const std::string_view call :
         {"shutil.copy(", "shutil.copy2(", "shutil.copyfile(", "copyFileSync(", "joblib.dump(",
          "torch.save(", "saveRDS(", "write.csv("})
      for_each(call, [&](std::size_t behind) {
        if (const std::optional<std::string> path = second_argument(behind))
          add_change(changes_, FileChangeKind::created, *path);
      });
    for (const std::string_view call : {"os.rename(", "os.replace(", "shutil.move(", "renameSync("})
      for_each(call, [&](std::size_t behind) {
        const std::optional<std::string> from = argument(behind), to = second_argument(behind);
        if (from && to) add_change(changes_, FileChangeKind::renamed, *to, *from);
      });
    for (const std::string_view call : {"os.remove(", "os.unlink(", "unlinkSync("})
      for_each(call, [&](std::size_t behind) {
        if (const std::optional<std::string> path = argument(behind))
          add_change(changes_, FileChangeKind::deleted, *path);
      });
    for (const std::string_view call : {".write_text(", ".write_bytes("})
      for_each(call, [&](std::size_t behind) {
        if (const std::optional<std::string> path = before(behind - call.size()))
          add_change(changes_, FileChangeKind::edited, *path);
      });
  }

 private:
  template <class Visit>
  void for_each(std::string_view call, Visit visit) {
    for (std::size_t at = code_.find(call); at != code_.npos;
         at = code_.find(call, at + call.size()))
      visit(at + call.size());
  }

  // p = "x", p = Path("x"), const p = 'x'
  void read_names() {
    digest::for_each_line(code_, [&](std::string_view line) {
      const std::size_t equals = line.find('=');
      if (equals == line.npos || equals + 1 >= line.size() || line[equals + 1] == '=') return;
      std::string_view name = trim(line.substr(0, equals));
      if (const std::size_t space = name.rfind(' '); space != name.npos)
        name.remove_prefix(space + 1);
      if (name.empty() || !std::all_of(name.begin(), name.end(), digest::is_word)) return;
      const std::size_t at = static_cast<std::size_t>(line.data() - code_.data()) + equals + 1;
      std::size_t value = code_.find_first_not_of(' ', at);
      for (const std::string_view wrapper : {"Path(", "pathlib.Path("})
        if (value != code_.npos && code_.substr(value).starts_with(wrapper))
          value += wrapper.size();
      if (value == code_.npos) return;
      if (const std::optional<std::string> text = literal(value)) names_[std::string(name)] = *text;
    });
  }

  std::optional<std::string> literal(std::size_t at) const {
    if (at >= code_.size() || (code_[at] != '"' && code_[at] != '\'')) return {};
    const std::size_t end = code_.find(code_[at], at + 1);
    if (end == code_.npos || end - at > path_size_max) return {};
    return std::string(code_.substr(at + 1, end - at - 1));
  }

  // A literal or a name at `at`.
  std::optional<std::string> argument(std::size_t at) const {
    if (std::optional<std::string> text = literal(at)) return text;
    std::size_t end = at;
    while (end < code_.size() && digest::is_word(code_[end])) ++end;
    const auto found = names_.find(std::string(code_.substr(at, end - at)));
    return found == names_.end() ? std::nullopt : std::optional(found->second);
  }

  // What stands behind the first comma of a call whose arguments begin at `at`, if it is such.
  std::optional<std::string> second_argument(std::size_t at) const {
    const std::string_view rest = first_bytes(code_.substr(at), path_size_max);
    const std::size_t comma = rest.find(','), line = rest.find('\n');
    if (comma == rest.npos || line < comma) return {};
    const std::size_t next = code_.find_first_not_of(' ', at + comma + 1);
    return next == code_.npos ? std::nullopt : argument(next);
  }

  // What `.write_text` is asked of.
  std::optional<std::string> before(std::size_t at) const {
    if (at > 0 && code_[at - 1] == ')') {
      const std::size_t open = code_.rfind("Path(", at);
      return open == code_.npos || at - open > path_size_max ? std::nullopt : argument(open + 5);
    }
    std::size_t begin = at;
    while (begin > 0 && digest::is_word(code_[begin - 1])) --begin;
    return argument(begin);
  }

  // Whether the mode says so: the second argument, or `mode=`.
  bool writes(std::size_t at) const {
    const std::string_view rest = first_bytes(code_.substr(at), path_size_max);
    const std::string_view inside = rest.substr(0, rest.find(')'));
    const std::size_t comma = inside.find(',');
    if (comma == inside.npos) return false;
    std::string_view mode = trim(inside.substr(comma + 1));
    if (mode.starts_with("mode=")) mode.remove_prefix(5);
    if (mode.size() < 2 || (mode[0] != '"' && mode[0] != '\'')) return false;
    return mode[1] == 'w' || mode[1] == 'a' || mode[1] == 'x' ||
           mode.substr(1, 3).find('+') != mode.npos;
  }

  std::string_view code_;
  std::vector<FileChange>& changes_;
  std::map<std::string, std::string> names_;
};

bool runs_code(std::string_view program) {
  return program.starts_with("python") || program == "node" || program == "ruby" ||
         program == "perl" || program == "bun" || program == "deno";
}

void read_code(const std::vector<std::string>& words, const std::string& heredoc,
               std::vector<FileChange>& changes) {
  if (!heredoc.empty()) WritesOfCode(heredoc, changes).read();
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "-c" || words[i] == "-e") WritesOfCode(words[i + 1], changes).read();
}

void read_program(const std::vector<std::string>& words, const ShellCommand& command,
                  CallEffects& effects) {
  std::vector<FileChange>& changes = effects.changes;
  const std::string_view program = base_name(words[0]);
  const std::vector<std::string_view> paths = operands(words);
  if (program == "sed" || program == "perl" || program == "gsed") read_in_place(words, changes);
  if (runs_code(program)) read_code(words, command.heredoc, changes);
  if (program == "git") read_git(words, changes);
  if (program == "mv") read_move(paths, changes);
  if (program == "rm" || program == "unlink") {
    for (const std::string_view path : paths) add_change(changes, FileChangeKind::deleted, path);
  } else if (program == "cp" || program == "install" || program == "ln") {
    if (paths.size() >= 2) {
      const std::string target = paths.back().ends_with('/')
                                     ? std::string(paths.back()) + std::string(base_name(paths[0]))
                                     : std::string(paths.back());
      add_change(changes, FileChangeKind::created, target);
    }
  } else if (program == "touch") {
    // With a time, it is the time that is meant.
    const auto is_time = [](const std::string& word) {
      return word == "-d" || word == "-r" || word == "-t" || word.starts_with("--date") ||
             word.starts_with("--reference");
    };
    if (std::any_of(words.begin() + 1, words.end(), is_time)) return;
    for (const std::string_view path : paths) add_change(changes, FileChangeKind::created, path);
  } else if (program == "tee") {
    for (const std::string_view path : paths) add_change(changes, FileChangeKind::edited, path);
  } else if (program == "curl" || program == "wget") {
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
      if (words[i] == "-o" || words[i] == "-O" || words[i] == "--output")
        add_change(changes, FileChangeKind::created, words[i + 1]);
  } else if (program == "apply_patch") {
    read_patch(words.size() > 1 && command.heredoc.empty() ? std::string_view(words[1])
                                                           : std::string_view(command.heredoc),
               changes);
  } else if ((program == "git" || program == "patch") &&
             command.heredoc.find("+++ ") != std::string::npos) {
    read_patch(command.heredoc, changes);
  } else if (is_formatter(words)) {
    for (const std::string_view path : paths)
      if (path.find_first_of("./") != path.npos)
        add_change(changes, FileChangeKind::formatted, path);
  }
}

// Reads ----------------------------------------------------------------------------------------

constexpr std::uint64_t last_line = ~std::uint64_t{0};

std::optional<std::uint64_t> number_of(std::string_view text) {
  constexpr std::size_t digits_max = 9;
  if (text.empty() || text.size() > digits_max ||
      !std::all_of(text.begin(), text.end(), digest::is_digit))
    return {};
  std::uint64_t number = 0;
  for (const char c : text) number = number * 10 + static_cast<std::uint64_t>(c - '0');
  return number;
}

// Which part of a file sed, head and tail print, as far as the words before the file tell.
std::optional<FileRead> part_printed(const std::vector<std::string>& words,
                                     std::vector<std::string_view>& files) {
  const std::string_view program = base_name(words[0]);
  FileRead part;
  if (program == "sed") {
    if (edits_in_place(words) || !has_option(words, {"-n"})) return {};
    std::vector<std::string_view> given = operands(words);
    if (given.empty()) return {};
    const std::string_view range = given.front();
    files.assign(given.begin() + 1, given.end());
    part.range = range;
    if (!range.ends_with('p')) return part;
    const std::string_view lines = range.substr(0, range.size() - 1);
    const std::size_t comma = lines.find(',');
    const std::optional<std::uint64_t> first = number_of(lines.substr(0, comma));
    if (!first) return part;
    if (comma == lines.npos) {
      part.lines = {*first, *first};
    } else if (const std::string_view end = lines.substr(comma + 1); end == "$") {
      part.lines = {*first, last_line};
    } else if (const std::optional<std::uint64_t> last = number_of(end)) {
      part.lines = {*first, *last};
    }
    return part;
  }
  if (program != "head" && program != "tail") return {};
  std::string count = "10";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "-n" && i + 1 < words.size()) {
      count = words[++i];
    } else if (word.starts_with("-n")) {
      count = word.substr(2);
    } else if (word.size() > 1 && word[0] == '-' && digest::is_digit(word[1])) {
      count = word.substr(1);
    } else if (is_option(word)) {
      return {};
    } else {
      files.push_back(word);
    }
  }
  part.range = std::string(program) + " " + count;
  if (const std::optional<std::uint64_t> lines = number_of(count); lines && program == "head")
    part.lines = {1, *lines};
  return part;
}

// Whether the command prints files and nothing else: cat, nl, bat, or a part of one by sed, head or
// tail.
bool read_reads(const std::vector<std::string>& words, std::vector<FileRead>& reads) {
  const std::string_view program = base_name(words[0]);
  std::vector<std::string_view> files;
  FileRead part;
  if (program == "cat" || program == "nl" || program == "bat" || program == "batcat") {
    files = operands(words);
  } else if (std::optional<FileRead> printed = part_printed(words, files)) {
    part = std::move(*printed);
  } else {
    return false;
  }
  if (files.empty() || !std::all_of(files.begin(), files.end(), is_file_target)) return false;
  for (const std::string_view file : files) {
    part.path = file;
    reads.push_back(part);
  }
  return true;
}

// `nl -ba FILE | sed -n '1,50p'`: the part that the second prints of what the first reads.
bool read_piped(const std::vector<std::string>& reader, const std::vector<std::string>& cutter,
                std::vector<FileRead>& reads) {
  std::vector<FileRead> whole;
  std::vector<std::string_view> files;
  if (!read_reads(reader, whole) || whole.size() != 1 || !whole[0].range.empty()) return false;
  std::optional<FileRead> part = part_printed(cutter, files);
  if (!part || !files.empty()) return false;
  part->path = whole[0].path;
  reads.push_back(std::move(*part));
  return true;
}

void read_redirects(const ShellCommand& command, const std::vector<std::string>& words,
                    std::vector<FileChange>& changes) {
  for (const ShellRedirect& output : command.outputs) {
    const std::string_view program = words.empty() ? std::string_view() : base_name(words[0]);
    const bool writes_text = program == "cat" || program == "echo" || program == "printf";
    // what a command printed, to be looked at
    if (output.target.starts_with("/tmp/") && !writes_text) continue;
    add_change(changes, output.appends ? FileChangeKind::edited : FileChangeKind::created,
               output.target);
  }
}

// Says of the paths that a command named in which folder they are: a relative one is part of the
// path.
void set_folder(std::string_view folder, std::size_t first_change, std::size_t first_read,
                CallEffects& effects) {
  if (folder.empty()) return;
  const auto set = [&](auto& file) {
    if (folder.starts_with('/') || folder.starts_with('~') || folder.starts_with('$')) {
      file.folder = folder;
    } else {
      file.path = joined_path({}, folder, file.path);
    }
  };
  for (std::size_t i = first_change; i < effects.changes.size(); ++i) {
    FileChange& change = effects.changes[i];
    set(change);
    if (!change.from.empty() && change.folder.empty())
      change.from = joined_path({}, folder, change.from);
  }
  for (std::size_t i = first_read; i < effects.reads.size(); ++i) set(effects.reads[i]);
}

// What is true of a script as a whole.
struct ScriptNature {
  bool looks = true;       // nothing in it does more than to look
  bool only_reads = true;  // nothing in it prints something other than files
};

void read_commands(std::string_view script, CallEffects& effects, unsigned depth,
                   ScriptNature& nature) {
  const std::vector<ShellCommand> commands = shell_commands(script);
  // What a subshell does with its folder ends with it; so it is not followed.
  const bool follows = script.find("(cd ") == script.npos && script.find("pushd ") == script.npos;
  std::string folder;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const ShellCommand& command = commands[i];
    const std::vector<std::string> words = program_words(command);
    const std::size_t first_change = effects.changes.size(), first_read = effects.reads.size();
    read_redirects(command, words, effects.changes);
    if (words.empty()) continue;
    if (const std::string_view inner = inner_script(words);
        !inner.empty() && depth < script_depth_max) {
      read_commands(inner, effects, depth + 1, nature);
      set_folder(folder, first_change, first_read, effects);
      continue;
    }
    const std::string_view program = base_name(words[0]);
    if (program == "cd" && words.size() == 2)
      folder = follows ? joined_path({}, folder, words[1]) : "$unknown";
    nature.looks = nature.looks && only_looks(words) && command.outputs.empty();
    read_program(words, command, effects);
    const bool has_next = i + 1 < commands.size();
    if (command.is_piped && has_next && !commands[i + 1].is_piped &&
        commands[i + 1].outputs.empty() &&
        read_piped(words, program_words(commands[i + 1]), effects.reads)) {
      ++i;
    } else {
      const bool reads =
          !command.is_piped && command.outputs.empty() && read_reads(words, effects.reads);
      const bool says_little =
          program == "cd" || program == "echo" || program == "printf" || program == "true";
      nature.only_reads = nature.only_reads && (reads || (says_little && !command.is_piped));
    }
    set_folder(folder, first_change, first_read, effects);
  }
}

// Plans
// --------------------------------------------------------------------------------------------------------------------------------

PlanItem::State state_of(std::string_view status) {
  const std::string plain = plain_key(status);
  if (plain == "completed" || plain == "done" || plain == "complete" || plain == "finished" ||
      plain == "true")
    return PlanItem::State::done;
  if (plain == "inprogress" || plain == "active" || plain == "doing" || plain == "started" ||
      plain == "current")
    return PlanItem::State::active;
  return PlanItem::State::open;
}

bool is_dropped(std::string_view status) {
  const std::string plain = plain_key(status);
  return plain == "deleted" || plain == "removed" || plain == "cancelled" || plain == "canceled";
}

// An element such as {"content":"…","status":"pending"}.
struct ListedItem {
  PlanItem item;
  bool is_dropped = false;
};
std::optional<ListedItem> listed_item(const JsonValue& value) {
  if (!value.is(JsonType::object)) return {};
  std::optional<std::string> text, status;
  for (const JsonMember member : value.members()) {
    const std::string key = plain_key(member.key.string());
    if (member.value.is(JsonType::boolean) && (key == "done" || key == "completed"))
      status = member.value.raw() == "true" ? "done" : "open";
    if (!member.value.is(JsonType::string)) continue;
    if (key == "status" || key == "state") status = member.value.string();
    if (key == "content" || key == "step" || key == "title" || key == "task" || key == "text" ||
        (key == "description" && !text))
      text = digest::one_line(digest::clean(member.value.string()));
  }
  if (!text || !status || text->empty()) return {};
  return ListedItem{{state_of(*status), digest::shorten_end(*text, plan_item_bytes_max)},
                    is_dropped(*status)};
}

// A plan in one text: each line of it has a box.
std::vector<PlanItem> plan_of_lines(std::string_view text) {
  std::vector<PlanItem> items;
  bool has_other = false;
  digest::for_each_line(text, [&](std::string_view line) {
    std::string_view mark = trim(line);
    if (mark.empty()) return;
    mark.remove_prefix(std::min(mark.size(), mark.find_first_not_of("-*+0123456789.) ")));
    std::optional<PlanItem> item = boxed_item(mark);
    if (item) items.push_back(std::move(*item));
    has_other = has_other || !item;
  });
  if (has_other) items.clear();
  return items;
}

void read_plan(std::string_view key, const JsonValue& value, CallEffects& effects, unsigned depth) {
  if (depth > value_depth_max || effects.is_plan) return;
  if (value.is(JsonType::object)) {
    for (const JsonMember member : value.members())
      read_plan(member.key.string(), member.value, effects, depth + 1);
    return;
  }
  std::vector<PlanItem> items;
  bool is_plan = false;
  if (value.is(JsonType::string) && is_among(plain_key(key), keys_of_plans)) {
    items = plan_of_lines(digest::clean(value.string()));
    is_plan = !items.empty();
  }
  if (value.is(JsonType::array)) {
    for (const JsonValue element : value.elements()) {
      std::optional<ListedItem> listed = listed_item(element);
      if (!listed) return;
      is_plan = true;
      if (!listed->is_dropped) items.push_back(std::move(listed->item));
    }
  }
  if (!is_plan) return;
  effects.is_plan = true;
  effects.plan = std::move(items);
}

// A call that adds one task to a plan or changes one, as TaskCreate and TaskUpdate do.
void read_plan_step(std::string_view plain_tool, const JsonValue& arguments, CallEffects& effects) {
  const bool adds = is_among(plain_tool, tools_that_add_tasks);
  if (!arguments.is(JsonType::object) || (!adds && !is_among(plain_tool, tools_of_tasks))) return;
  PlanStep step;
  for (const JsonMember member : arguments.members()) {
    const std::string key = plain_key(member.key.string());
    const bool is_id = key == "taskid" || key == "todoid" || key == "id";
    if (is_id && member.value.is(JsonType::number)) step.id = std::string(member.value.raw());
    if (!member.value.is(JsonType::string)) continue;
    const std::string text = digest::one_line(digest::clean(member.value.string()));
    if (is_id) step.id = text;
    if (key == "status" || key == "state") {
      step.state = state_of(text);
      step.is_dropped = is_dropped(text);
    }
    if (key == "subject" || key == "title" || key == "content" || key == "text")
      step.text = digest::shorten_end(text, plan_item_bytes_max);
  }
  if (adds) step.id.clear();
  if (adds ? !step.text.empty() : !step.id.empty()) effects.step = std::move(step);
}

// Arguments
// ----------------------------------------------------------------------------------------------------------------------------

struct Arguments {
  std::vector<std::string> files;
  std::string target, range, command, script, code, language, folder;
  std::string variant;  // what else is given, which may say which revision or repository is meant
  std::map<std::string, std::vector<std::uint64_t>> numbers;  // of ranges, by key
  bool has_content = false, has_text = false;
};

// The lines that the arguments of a read name, if they do.
std::optional<std::pair<std::uint64_t, std::uint64_t>> lines_of(const Arguments& arguments) {
  const auto number =
      [&](std::initializer_list<std::string_view> keys) -> std::optional<std::uint64_t> {
    for (const std::string_view key : keys)
      if (const auto found = arguments.numbers.find(std::string(key));
          found != arguments.numbers.end())
        return found->second.front();
    return {};
  };
  std::size_t known = 0;
  for (const std::string_view key :
       {"offset", "limit", "startline", "endline", "startlineoneindexed",
        "endlineoneindexedinclusive", "viewrange", "head"})
    known += arguments.numbers.count(std::string(key));
  if (known != arguments.numbers.size() || known == 0 || !arguments.variant.empty()) return {};
  if (const auto view = arguments.numbers.find("viewrange"); view != arguments.numbers.end())
    return view->second.size() == 2 ? std::optional(std::pair(view->second[0], view->second[1]))
                                    : std::nullopt;
  if (const std::optional<std::uint64_t> head = number({"head"}))
    return std::pair(std::uint64_t{1}, *head);
  const std::uint64_t first = number({"offset", "startline", "startlineoneindexed"}).value_or(1);
  if (const std::optional<std::uint64_t> last = number({"endline", "endlineoneindexedinclusive"}))
    return std::pair(first, *last);
  const std::optional<std::uint64_t> limit = number({"limit"});
  return std::pair(first, limit ? first + *limit - std::min<std::uint64_t>(*limit, 1) : last_line);
}

std::string words_as_script(const JsonValue& list) {
  std::vector<std::string> words;
  for (const JsonValue element : list.elements())
    if (element.is(JsonType::string)) words.push_back(element.string());
  if (const std::string_view inner = inner_script(words); !inner.empty()) return std::string(inner);
  std::string script;
  for (const std::string& word : words) {
    const bool plain = word.find_first_of(" \n'\"$&|;<>()") == word.npos && !word.empty();
    script += script.empty() ? "" : " ";
    if (plain) {
      script += word;
    } else {
      script += '\'';
      for (const char c : word) c == '\'' ? script += "'\\''" : script += c;
      script += '\'';
    }
  }
  return script;
}

void read_arguments(const JsonValue& value, std::string_view key, std::string_view tool,
                    Arguments& to, CallEffects& effects, unsigned depth) {
  if (depth > value_depth_max) return;
  const bool is_shell = runs_scripts(tool);
  const std::string plain = plain_key(key);
  if (value.is(JsonType::object)) {
    for (const JsonMember member : value.members())
      read_arguments(member.value, member.key.string(), tool, to, effects, depth + 1);
    return;
  }
  const bool is_range = is_among(plain, keys_of_ranges) && !value.is(JsonType::null);
  if (is_range && value.is(JsonType::number)) {
    const std::int64_t number = value.int64().value_or(0);
    to.numbers[plain].push_back(number < 0 ? last_line : static_cast<std::uint64_t>(number));
  }
  const bool is_known = is_among(plain, keys_of_files) || is_among(plain, keys_of_notes) ||
                        is_among(plain, keys_of_folders) || plain == "command" || plain.empty();
  const bool is_plain = !value.is(JsonType::array) && !value.is(JsonType::null);
  if (is_range || (!is_known && is_plain))
    (is_range ? to.range : to.variant) +=
        plain + "=" + std::string(first_bytes(value.raw(), path_size_max)) + " ";
  if (is_among(plain, keys_of_content)) to.has_content = true;
  if (value.is(JsonType::array)) {
    if (is_among(plain, keys_of_commands) && plain != "commands") {
      to.script += (to.script.empty() ? "" : "\n") + words_as_script(value);
      return;
    }
    for (const JsonValue element : value.elements())
      read_arguments(element, key, tool, to, effects, depth + 1);
    return;
  }
  if (!value.is(JsonType::string)) return;
  const std::string text = value.string();
  if (plain == "content" || plain == "contents" || plain == "text" || plain == "body" ||
      plain == "code")
    to.has_text = true;
  if (is_among(plain, keys_of_files) && text.size() <= path_size_max) to.files.push_back(text);
  if (is_among(plain, keys_of_folders) && text.size() <= path_size_max) to.folder = text;
  if (is_among(plain, keys_of_targets) && text.size() <= path_size_max) to.target = text;
  if (plain == "command" && !is_shell) to.command = text;
  const bool is_code = holds_code(tool, plain);
  if (is_code) to.code += (to.code.empty() ? "" : "\n") + text;
  if (plain == "language" || plain == "lang") to.language = lower(first_bytes(text, 16));
  const bool is_script =
      (is_among(plain, keys_of_commands) && plain != "sql") ||
      (is_shell && !is_code &&
       (plain == "input" || plain == "code" || plain == "script" || plain == "keystrokes"));
  if (text.find("*** Begin Patch") != text.npos) {
    read_patch(text, effects.changes);
  } else if ((plain == "patch" || plain == "diff" || plain == "input") &&
             text.find("\n+++ ") != text.npos) {
    read_patch(text, effects.changes);
  } else if (is_script) {
    to.script += (to.script.empty() ? "" : "\n") + text;
  }
}

void read_code_call(const Arguments& read, CallEffects& effects) {
  const bool is_shell = read.language == "bash" || read.language == "sh" ||
                        read.language == "shell" || read.language == "zsh";
  const std::string script = is_shell ? read.code : shell_lines(read.code);
  if (!script.empty()) read_script_effects(script, effects);
  std::string rest;
  digest::for_each_line(read.code, [&rest](std::string_view line) {
    const std::string_view mark = trim(line);
    if (!mark.empty() && mark[0] != '!' && mark[0] != '%') (rest += line) += '\n';
  });
  if (script.empty() || (!is_shell && !rest.empty() && !read.code.starts_with("%%"))) {
    effects.only_reads = effects.is_inspection = false;
    effects.code = read.code;
    WritesOfCode(effects.code, effects.changes).read();
  } else {
    effects.script = script;
  }
}

bool is_edit_command(std::string_view command) {
  return command == "create" || command == "str_replace" || command == "insert" ||
         command == "undo_edit" || command == "write" || command == "edit" || command == "append" ||
         command == "delete" || command == "rename" || command == "view";
}

// The same of a script: a program of SWE-agent's.
bool script_goes_on(std::string_view script) {
  for (const std::string_view program : {"scroll_down", "scroll_up", "next_page", "prev_page"})
    if (trim(script) == program) return true;
  return false;
}

// Without the server that a tool of the Model Context Protocol is named for:
// "mcp__files__read_file".
std::string_view without_server(std::string_view tool) {
  const std::size_t end = tool.rfind("__");
  return end == tool.npos || end + 2 >= tool.size() ? tool : tool.substr(end + 2);
}

void read_file_tool(std::string_view tool, const Arguments& arguments, CallEffects& effects) {
  if (arguments.files.empty()) return;
  const std::string name = plain_key(without_server(tool));
  const bool by_command = is_edit_command(arguments.command);
  const std::string what = by_command ? arguments.command : name;
  const bool reads = what == "view" || name.starts_with("read") || name.ends_with("read") ||
                     name.starts_with("view") || name.starts_with("open") ||
                     name.starts_with("cat") || name.starts_with("get") ||
                     name.starts_with("show") || name.starts_with("fetchfile");
  const bool looks = reads || holds_any(name, {"search", "grep", "glob", "list", "find", "ls"});
  const bool deletes = holds_any(what, {"delet", "remov", "unlink"});
  const bool renames = holds_any(what, {"renam", "move"});
  const bool creates = what.starts_with("creat") ||
                       (holds_any(what, {"write", "creat", "save"}) && !arguments.has_content);
  const bool edits =
      arguments.has_content ||
      holds_any(what, {"edit", "replac", "patch", "insert", "append", "updat", "modif", "write"});
  const bool changes =
      !(looks && !arguments.has_content) && (deletes || renames || creates || edits);
  // the patch says it all
  if (changes && !effects.changes.empty() && arguments.has_content && holds_any(what, {"patch"}))
    return;
  for (const std::string& file : arguments.files) {
    if (!changes) {
      if (reads)
        effects.reads.push_back({.path = file,
                                 .range = arguments.range + arguments.variant,
                                 .lines = lines_of(arguments),
                                 .is_variant = !arguments.variant.empty()});
    } else if (renames && !arguments.target.empty()) {
      add_change(effects.changes, FileChangeKind::renamed, arguments.target, file);
    } else {
      add_change(effects.changes,
                 deletes   ? FileChangeKind::deleted
                 : creates ? FileChangeKind::created
                           : FileChangeKind::edited,
                 file);
    }
  }
  if (looks && !changes) effects.is_inspection = true;
  effects.only_reads = !effects.reads.empty() && effects.changes.empty();
}

}  // namespace

std::string_view name(FileChangeKind kind) {
  switch (kind) {
    case FileChangeKind::edited: return "edited";
    case FileChangeKind::created: return "created";
    case FileChangeKind::deleted: return "deleted";
    case FileChangeKind::renamed: return "renamed";
    case FileChangeKind::formatted: return "formatted";
    case FileChangeKind::restored: return "restored";
  }
  return "";
}

std::string joined_path(std::string_view call_folder, std::string_view folder,
                        std::string_view path) {
  std::string whole(path);
  for (const std::string_view before : {folder, call_folder})
    if (!before.empty() && !whole.starts_with('/') && !whole.starts_with('~') &&
        !whole.starts_with('$'))
      whole = std::string(before) + "/" + whole;
  std::vector<std::string_view> names;
  const std::string_view all = whole;
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find('/', at), all.size());
    const std::string_view name = all.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    if (name == ".." && !names.empty() && names.back() != "..") {
      names.pop_back();
    } else {
      names.push_back(name);
    }
  }
  std::string joined;
  for (const std::string_view name : names)
    ((joined += joined.empty() && !all.starts_with('/') ? "" : "/")) += name;
  return joined;
}

std::string plain_key(std::string_view key) {
  constexpr std::size_t key_bytes_max = 32;
  std::string out;
  for (const char c : first_bytes(key, key_bytes_max))
    if (c != '_' && c != '-') out += digest::to_lower(c);
  return out;
}

bool is_command_key(std::string_view plain) { return is_among(plain, keys_of_commands); }
bool is_path_key(std::string_view plain) { return is_among(plain, keys_of_paths); }

bool runs_scripts(std::string_view tool) {
  constexpr std::size_t tool_bytes_max = 64;
  return holds_any(lower(first_bytes(tool, tool_bytes_max)),
                   {"bash", "shell", "terminal", "exec", "command", "run_in", "console"});
}

bool holds_code(std::string_view tool, std::string_view plain) {
  if (plain != "code" && plain != "source" && plain != "cellsource") return false;
  constexpr std::size_t tool_bytes_max = 64;
  return !holds_any(lower(first_bytes(tool, tool_bytes_max)),
                    {"bash", "shell", "terminal", "command", "console"});
}

std::string shell_lines(std::string_view code) {
  for (const std::string_view magic : {"%%bash", "%%sh", "%%script bash"})
    if (code.starts_with(magic))
      return std::string(code.substr(std::min(code.find('\n'), code.size() - 1) + 1));
  std::string lines;
  digest::for_each_line(code, [&lines](std::string_view line) {
    const std::string_view mark = trim(line);
    if (mark.size() > 1 && mark[0] == '!')
      (lines += lines.empty() ? "" : "\n") += trim(mark.substr(1));
  });
  return lines;
}

bool only_looks(const std::vector<std::string>& words) {
  if (words.empty()) return true;
  static constexpr std::string_view looking[] = {
      "awk",     "basename", "bat",    "cat",  "cd",     "cut",  "date", "df",     "diff",
      "dirname", "du",       "echo",   "env",  "fd",     "file", "find", "git",    "grep",
      "head",    "jq",       "less",   "ls",   "more",   "nl",   "od",   "printf", "ps",
      "pwd",     "readlink", "rg",     "sed",  "sleep",  "sort", "stat", "tail",   "test",
      "tr",      "tree",     "true",   "type", "uname",  "uniq", "wc",   "which",  "whoami",
      "xxd",     "[",        "export", "set",  "source", "."};
  const std::string_view program = base_name(words[0]);
  if (!is_among(program, looking)) return false;
  if (program == "sed") return !edits_in_place(words);
  if (program != "git") return true;
  std::size_t at = 1;
  while (at < words.size() && is_option(words[at]))
    at += words[at] == "-C" || words[at] == "-c" ? 2u : 1u;
  if (at >= words.size()) return true;
  static constexpr std::string_view looking_git[] = {"blame",     "branch",   "diff",   "grep",
                                                     "log",       "ls-files", "reflog", "remote",
                                                     "rev-parse", "show",     "status", "describe"};
  return is_among(words[at], looking_git);
}

void read_script_effects(std::string_view script, CallEffects& effects) {
  ScriptNature nature;
  read_commands(script, effects, 0, nature);
  effects.is_inspection = nature.looks && effects.changes.empty();
  effects.only_reads = nature.only_reads && !effects.reads.empty() && effects.changes.empty();
}

void read_patch(std::string_view patch, std::vector<FileChange>& changes) {
  std::string_view old_path;
  digest::for_each_line(patch, [&](std::string_view line) {
    const auto behind = [&](std::string_view mark) { return trim(line.substr(mark.size())); };
    const auto unified = [&](std::string_view mark) {
      std::string_view path = behind(mark);
      path = path.substr(0, path.find('\t'));
      if (path.starts_with("a/") || path.starts_with("b/")) path.remove_prefix(2);
      return path;
    };
    if (line.starts_with("*** Update File: ")) {
      add_change(changes, FileChangeKind::edited, behind("*** Update File: "));
    } else if (line.starts_with("*** Add File: ")) {
      add_change(changes, FileChangeKind::created, behind("*** Add File: "));
    } else if (line.starts_with("*** Delete File: ")) {
      add_change(changes, FileChangeKind::deleted, behind("*** Delete File: "));
    } else if (line.starts_with("*** Move to: ") && !changes.empty()) {
      const std::string from = changes.back().path;
      changes.pop_back();
      add_change(changes, FileChangeKind::renamed, behind("*** Move to: "), from);
    } else if (line.starts_with("--- ")) {
      old_path = unified("--- ");
    } else if (line.starts_with("+++ ")) {
      const std::string_view path = unified("+++ ");
      if (path == "/dev/null") {
        add_change(changes, FileChangeKind::deleted, old_path);
      } else {
        add_change(changes,
                   old_path == "/dev/null" ? FileChangeKind::created : FileChangeKind::edited,
                   path);
      }
    }
  });
}

void read_printed_changes(std::string_view script, std::string_view output,
                          std::vector<FileChange>& changes) {
  const bool asks_git =
      script.find("git status") != script.npos || script.find("git commit") != script.npos ||
      script.find("git merge") != script.npos || script.find("git stash") != script.npos;
  const bool formats = holds_any(script, {"black", "patch", "ruff", "isort", "gofmt", "prettier"});
  if (!asks_git && !formats) return;
  digest::for_each_line(output, [&](std::string_view line) {
    const std::string_view mark = trim(line);
    const auto behind = [&](std::string_view begin) { return trim(mark.substr(begin.size())); };
    if (mark.starts_with("patching file "))
      add_change(changes, FileChangeKind::edited, behind("patching file "));
    if (mark.starts_with("reformatted "))
      add_change(changes, FileChangeKind::formatted, behind("reformatted "));
    if (mark.starts_with("Fixing "))
      add_change(changes, FileChangeKind::formatted, behind("Fixing "));
    if (!asks_git) return;
    if (mark.starts_with("modified:"))
      add_change(changes, FileChangeKind::edited, behind("modified:"));
    if (mark.starts_with("new file:"))
      add_change(changes, FileChangeKind::created, behind("new file:"));
    if (mark.starts_with("deleted:"))
      add_change(changes, FileChangeKind::deleted, behind("deleted:"));
    if (mark.starts_with("create mode 100"))
      add_change(changes, FileChangeKind::created,
                 mark.substr(std::min(mark.size(), mark.find(' ', 12) + 1)));
    if (mark.starts_with("delete mode 100"))
      add_change(changes, FileChangeKind::deleted,
                 mark.substr(std::min(mark.size(), mark.find(' ', 12) + 1)));
    if (mark.starts_with("renamed:") && mark.find(" -> ") != mark.npos) {
      const std::string_view both = behind("renamed:");
      add_change(changes, FileChangeKind::renamed, both.substr(both.find(" -> ") + 4),
                 both.substr(0, both.find(" -> ")));
    }
    // git status --short: two letters and a space.
    if (line.size() > 3 && line[2] == ' ' && line[3] != ' ') {
      const std::string_view states = line.substr(0, 2), path = line.substr(3);
      if (states == " M" || states == "M " || states == "MM" || states == "AM")
        add_change(changes, states == "AM" ? FileChangeKind::created : FileChangeKind::edited,
                   path);
      if (states == "??" || states == "A ") add_change(changes, FileChangeKind::created, path);
      if (states == " D" || states == "D ") add_change(changes, FileChangeKind::deleted, path);
      if (states == "R " && path.find(" -> ") != path.npos)
        add_change(changes, FileChangeKind::renamed, path.substr(path.find(" -> ") + 4),
                   path.substr(0, path.find(" -> ")));
    }
  });
}

std::optional<PlanItem> boxed_item(std::string_view item) {
  constexpr std::size_t box_bytes = 3;  // of each of these
  const bool has_box = item.size() > 4 && item[0] == '[' && item[2] == ']';
  if (!has_box && !item.starts_with("✅") && !item.starts_with("☐") && !item.starts_with("☑"))
    return {};
  const bool done = has_box ? item[1] == 'x' || item[1] == 'X' : !item.starts_with("☐");
  const bool active = has_box && (item[1] == '>' || item[1] == '~' || item[1] == '-');
  return PlanItem{done     ? PlanItem::State::done
                  : active ? PlanItem::State::active
                           : PlanItem::State::open,
                  digest::shorten_end(trim(item.substr(box_bytes)), plan_item_bytes_max)};
}

CallEffects effects_of(std::string_view tool, const JsonValue* arguments) {
  CallEffects effects;
  const std::string name = plain_key(without_server(tool));
  effects.goes_on =
      std::any_of(std::begin(tools_that_go_on), std::end(tools_that_go_on),
                  [&name](std::string_view piece) { return name.find(piece) != name.npos; });
  if (arguments == nullptr) return effects;
  Arguments read;
  if (arguments->is(JsonType::string)) {
    const std::string text = arguments->string();
    JsonText json;
    if (!json.read(text, {.depth = 64}) && !json.root().is(JsonType::string)) {
      const JsonValue root = json.root();
      return effects_of(tool, &root);
    }
    read_arguments(*arguments, "input", tool, read, effects, 0);
  } else {
    read_arguments(*arguments, {}, tool, read, effects, 0);
    read_plan({}, *arguments, effects, 0);
  }
  if (!read.script.empty() && !is_edit_command(read.script)) {
    effects.script = std::move(read.script);
    read_script_effects(effects.script, effects);
    effects.goes_on = effects.goes_on || script_goes_on(effects.script);
  }
  effects.folder = std::move(read.folder);
  read_plan_step(name, *arguments, effects);
  if (effects.script.empty() && !read.code.empty() && read.files.empty()) {
    read_code_call(read, effects);
    return effects;
  }
  if (effects.script.empty()) read_file_tool(tool, read, effects);
  if (effects.script.empty() && effects.changes.empty() &&
      holds_any(name, {"grep", "glob", "search", "list", "read", "view"}))
    effects.is_inspection = true;
  return effects;
}

}  // namespace undertext
