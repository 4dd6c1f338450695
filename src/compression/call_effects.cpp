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
constexpr std::string_view keys_of_commands[] = {"bash",        "cmd",      "cmdline",      "command",
                                                 "commandline", "commands", "shellcommand", "sql"};
constexpr std::string_view keys_of_paths[] = {"absolutepath", "cwd",          "dir",
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
constexpr std::string_view keys_of_targets[] = {"destination", "newname", "newpath", "target", "to"};
constexpr std::string_view keys_of_content[] = {"codeedit",   "diff",      "edits",  "filetext",   "inserttext",
                                                "newcontent", "newsource", "newstr", "newstring",  "newtext",
                                                "oldstr",     "oldstring", "patch",  "replacement"};
constexpr std::string_view keys_of_ranges[] = {"endline", "length", "limit",     "linecount",
                                               "lines",   "offset", "startline", "viewrange"};
static_assert(std::is_sorted(std::begin(keys_of_commands), std::end(keys_of_commands)));
static_assert(std::is_sorted(std::begin(keys_of_paths), std::end(keys_of_paths)));

template <std::size_t n>
bool is_among(std::string_view word, const std::string_view (&list)[n]) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [&](std::string_view piece) { return text.find(piece) != text.npos; });
}

bool is_file_target(std::string_view path) {
  return !path.empty() && path.size() <= path_size_max && path != "-" && !path.starts_with("/dev/") && !path.starts_with('&') &&
         path.find_first_of("$`*?\n|<>") == path.npos;
}

void add_change(std::vector<FileChange>& changes, FileChangeKind kind, std::string_view path, std::string_view from = {}) {
  path = trim(path);
  while (path.starts_with("./")) path.remove_prefix(2);
  if (!is_file_target(path)) return;
  changes.push_back({kind, std::string(path), std::string(trim(from))});
}

bool is_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

std::vector<std::string_view> operands(const std::vector<std::string>& words, std::size_t from = 1) {
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

bool has_option(const std::vector<std::string>& words, std::initializer_list<std::string_view> options) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return std::find(options.begin(), options.end(), word) != options.end(); });
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
      if (word == "-e" || word == "-f" || (word.size() > 2 && word[1] != '-' && word.ends_with('e'))) ++i;
      continue;
    }
    if (!word.empty()) files.push_back(word);
  }
  const bool has_e =
      has_option(words, {"-e", "-f", "--expression"}) || std::any_of(words.begin() + 1, words.end(), [](const std::string& w) {
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
  while (at < words.size() && is_option(words[at])) at += words[at] == "-C" || words[at] == "-c" ? 2u : 1u;
  if (at >= words.size()) return;
  const std::string_view what = words[at];
  if (what == "mv") return read_move(operands(words, at + 1), changes);
  if (what == "rm") {
    if (has_option(words, {"--cached"})) return;
    for (const std::string_view path : operands(words, at + 1)) add_change(changes, FileChangeKind::deleted, path);
  } else if (what == "restore" || what == "checkout") {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (what == "checkout" && dashes == words.end()) return;
    const std::size_t from = dashes == words.end() ? at + 1 : static_cast<std::size_t>(dashes - words.begin()) + 1;
    if (has_option(words, {"--staged"})) return;
    for (const std::string_view path : operands(words, from)) add_change(changes, FileChangeKind::edited, path);
  }
}

bool is_formatter(const std::vector<std::string>& words) {
  const std::string_view program = base_name(words[0]);
  if (has_option(words, {"--check", "--diff", "--dry-run", "-n"})) return false;
  if (program == "black" || program == "isort" || program == "rustfmt" || program == "swiftformat") return true;
  if (program == "ruff") return has_option(words, {"format", "--fix"});
  if (program == "prettier") return has_option(words, {"--write", "-w"});
  if (program == "eslint" || program == "standard" || program == "stylelint" || program == "biome")
    return has_option(words, {"--fix", "--write"});
  if (program == "gofmt" || program == "goimports" || program == "shfmt") return has_option(words, {"-w"});
  if (program == "clang-format" || program.starts_with("clang-format-") || program == "autopep8" || program == "yapf")
    return has_option(words, {"-i", "--in-place"});
  return false;
}

// What a program in another language writes: open("x", "w"), Path("x").write_text(…), fs.writeFileSync("x", …), with names that stand for strings.
class WritesOfCode {
 public:
  WritesOfCode(std::string_view code, std::vector<FileChange>& changes) : code_(code), changes_(changes) {}

  void read() {
    read_names();
    for_each("open(", [&](std::size_t behind) {
      const std::optional<std::string> path = argument(behind);
      if (path && writes(behind)) add_change(changes_, FileChangeKind::edited, *path);
    });
    for (const std::string_view call : {"writeFileSync(", "writeFile(", "appendFileSync(", "File.write("})
      for_each(call, [&](std::size_t behind) {
        if (const std::optional<std::string> path = argument(behind)) add_change(changes_, FileChangeKind::edited, *path);
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
    for (std::size_t at = code_.find(call); at != code_.npos; at = code_.find(call, at + call.size())) visit(at + call.size());
  }

  // p = "x", p = Path("x"), const p = 'x'
  void read_names() {
    digest::for_each_line(code_, [&](std::string_view line) {
      const std::size_t equals = line.find('=');
      if (equals == line.npos || equals + 1 >= line.size() || line[equals + 1] == '=') return;
      std::string_view name = trim(line.substr(0, equals));
      if (const std::size_t space = name.rfind(' '); space != name.npos) name.remove_prefix(space + 1);
      if (name.empty() || !std::all_of(name.begin(), name.end(), digest::is_word)) return;
      const std::size_t at = static_cast<std::size_t>(line.data() - code_.data()) + equals + 1;
      std::size_t value = code_.find_first_not_of(' ', at);
      for (const std::string_view wrapper : {"Path(", "pathlib.Path("})
        if (value != code_.npos && code_.substr(value).starts_with(wrapper)) value += wrapper.size();
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
    return mode[1] == 'w' || mode[1] == 'a' || mode[1] == 'x' || mode.substr(1, 3).find('+') != mode.npos;
  }

  std::string_view code_;
  std::vector<FileChange>& changes_;
  std::map<std::string, std::string> names_;
};

bool runs_code(std::string_view program) {
  return program.starts_with("python") || program == "node" || program == "ruby" || program == "perl" || program == "bun" ||
         program == "deno";
}

void read_code(const std::vector<std::string>& words, const std::string& heredoc, std::vector<FileChange>& changes) {
  if (!heredoc.empty()) WritesOfCode(heredoc, changes).read();
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "-c" || words[i] == "-e") WritesOfCode(words[i + 1], changes).read();
}

void read_program(const std::vector<std::string>& words, const ShellCommand& command, CallEffects& effects) {
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
      const std::string target =
          paths.back().ends_with('/') ? std::string(paths.back()) + std::string(base_name(paths[0])) : std::string(paths.back());
      add_change(changes, FileChangeKind::created, target);
    }
  } else if (program == "touch") {
    for (const std::string_view path : paths) add_change(changes, FileChangeKind::created, path);
  } else if (program == "tee") {
    for (const std::string_view path : paths) add_change(changes, FileChangeKind::edited, path);
  } else if (program == "curl" || program == "wget") {
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
      if (words[i] == "-o" || words[i] == "-O" || words[i] == "--output")
        add_change(changes, FileChangeKind::created, words[i + 1]);
  } else if (program == "apply_patch") {
    read_patch(words.size() > 1 && command.heredoc.empty() ? std::string_view(words[1]) : std::string_view(command.heredoc),
               changes);
  } else if ((program == "git" || program == "patch") && command.heredoc.find("+++ ") != std::string::npos) {
    read_patch(command.heredoc, changes);
  } else if (is_formatter(words)) {
    for (const std::string_view path : paths)
      if (path.find_first_of("./") != path.npos) add_change(changes, FileChangeKind::formatted, path);
  } else if (program == "cat" && paths.size() == 1 && command.outputs.empty() && !command.is_piped) {
    effects.reads.push_back({std::string(paths[0]), {}});
  } else if (program == "sed" && !edits_in_place(words) && paths.size() == 2) {
    effects.reads.push_back({std::string(paths[1]), std::string(paths[0])});
  }
}

void read_redirects(const ShellCommand& command, const std::vector<std::string>& words, std::vector<FileChange>& changes) {
  for (const ShellRedirect& output : command.outputs) {
    const std::string_view program = words.empty() ? std::string_view() : base_name(words[0]);
    const bool writes_text = program == "cat" || program == "echo" || program == "printf";
    if (output.target.starts_with("/tmp/") && !writes_text) continue;  // what a command printed, to be looked at
    add_change(changes, output.appends ? FileChangeKind::edited : FileChangeKind::created, output.target);
  }
}

void read_commands(std::string_view script, CallEffects& effects, unsigned depth, bool& looks) {
  for (const ShellCommand& command : shell_commands(script)) {
    const std::vector<std::string> words = program_words(command);
    read_redirects(command, words, effects.changes);
    if (words.empty()) continue;
    if (const std::string_view inner = inner_script(words); !inner.empty() && depth < script_depth_max) {
      read_commands(inner, effects, depth + 1, looks);
      continue;
    }
    looks = looks && only_looks(words) && command.outputs.empty();
    read_program(words, command, effects);
  }
}

// Plans --------------------------------------------------------------------------------------------------------------------------------

PlanItem::State state_of(std::string_view status) {
  const std::string plain = plain_key(status);
  if (plain == "completed" || plain == "done" || plain == "complete" || plain == "finished" || plain == "true")
    return PlanItem::State::done;
  if (plain == "inprogress" || plain == "active" || plain == "doing" || plain == "started" || plain == "current")
    return PlanItem::State::active;
  return PlanItem::State::open;
}

// An element such as {"content":"…","status":"pending"}.
std::optional<PlanItem> plan_item(const JsonValue& value) {
  if (!value.is(JsonType::object)) return {};
  std::optional<std::string> text, status;
  for (const JsonMember member : value.members()) {
    const std::string key = plain_key(member.key.string());
    if (member.value.is(JsonType::boolean) && (key == "done" || key == "completed"))
      status = member.value.raw() == "true" ? "done" : "open";
    if (!member.value.is(JsonType::string)) continue;
    if (key == "status" || key == "state") status = member.value.string();
    if (key == "content" || key == "step" || key == "title" || key == "task" || key == "text" || (key == "description" && !text))
      text = digest::one_line(digest::clean(member.value.string()));
  }
  if (!text || !status || text->empty()) return {};
  return PlanItem{state_of(*status), digest::shorten_end(*text, 300)};
}

void read_plan(const JsonValue& value, CallEffects& effects, unsigned depth) {
  if (depth > value_depth_max) return;
  if (value.is(JsonType::object)) {
    for (const JsonMember member : value.members()) read_plan(member.value, effects, depth + 1);
    return;
  }
  if (!value.is(JsonType::array)) return;
  std::vector<PlanItem> items;
  for (const JsonValue element : value.elements()) {
    std::optional<PlanItem> item = plan_item(element);
    if (!item) return;
    items.push_back(std::move(*item));
  }
  if (items.empty() || effects.is_plan) return;
  effects.is_plan = true;
  effects.plan = std::move(items);
}

// Arguments ----------------------------------------------------------------------------------------------------------------------------

struct Arguments {
  std::vector<std::string> files;
  std::string target, range, command, script;
  bool has_content = false, has_text = false;
};

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

void read_arguments(const JsonValue& value, std::string_view key, bool is_shell, Arguments& to, CallEffects& effects,
                    unsigned depth) {
  if (depth > value_depth_max) return;
  const std::string plain = plain_key(key);
  if (value.is(JsonType::object)) {
    for (const JsonMember member : value.members())
      read_arguments(member.value, member.key.string(), is_shell, to, effects, depth + 1);
    return;
  }
  if (is_among(plain, keys_of_ranges) && !value.is(JsonType::null)) to.range += plain + "=" + std::string(value.raw()) + " ";
  if (is_among(plain, keys_of_content)) to.has_content = true;
  if (value.is(JsonType::array)) {
    if (is_among(plain, keys_of_commands) && plain != "commands") {
      to.script += (to.script.empty() ? "" : "\n") + words_as_script(value);
      return;
    }
    for (const JsonValue element : value.elements()) read_arguments(element, key, is_shell, to, effects, depth + 1);
    return;
  }
  if (!value.is(JsonType::string)) return;
  const std::string text = value.string();
  if (plain == "content" || plain == "contents" || plain == "text" || plain == "body" || plain == "code") to.has_text = true;
  if (is_among(plain, keys_of_files) && text.size() <= path_size_max) to.files.push_back(text);
  if (is_among(plain, keys_of_targets) && text.size() <= path_size_max) to.target = text;
  if (plain == "command" && !is_shell) to.command = text;
  const bool is_script = (is_among(plain, keys_of_commands) && plain != "sql") ||
                         (is_shell && (plain == "input" || plain == "code" || plain == "script" || plain == "keystrokes"));
  if (text.find("*** Begin Patch") != text.npos) {
    read_patch(text, effects.changes);
  } else if ((plain == "patch" || plain == "diff" || plain == "input") && text.find("\n+++ ") != text.npos) {
    read_patch(text, effects.changes);
  } else if (is_script) {
    to.script += (to.script.empty() ? "" : "\n") + text;
  }
}

bool is_edit_command(std::string_view command) {
  return command == "create" || command == "str_replace" || command == "insert" || command == "undo_edit" || command == "write" ||
         command == "edit" || command == "append" || command == "delete" || command == "rename" || command == "view";
}

void read_file_tool(std::string_view tool, const Arguments& arguments, CallEffects& effects) {
  if (arguments.files.empty()) return;
  const std::string name = plain_key(tool);
  const bool by_command = is_edit_command(arguments.command);
  const std::string what = by_command ? arguments.command : name;
  const bool reads = what == "view" || name.starts_with("read") || name.starts_with("view") || name.starts_with("open") ||
                     name.starts_with("cat") || name.starts_with("get") || name.starts_with("show") ||
                     name.starts_with("fetchfile");
  const bool looks = reads || holds_any(name, {"search", "grep", "glob", "list", "find", "ls"});
  const bool deletes = holds_any(what, {"delet", "remov", "unlink"});
  const bool renames = holds_any(what, {"renam", "move"});
  const bool creates = what.starts_with("creat") || (holds_any(what, {"write", "creat", "save"}) && !arguments.has_content);
  const bool edits =
      arguments.has_content || holds_any(what, {"edit", "replac", "patch", "insert", "append", "updat", "modif", "write"});
  const bool changes = !(looks && !arguments.has_content) && (deletes || renames || creates || edits);
  if (changes && !effects.changes.empty() && arguments.has_content && holds_any(what, {"patch"})) return;  // the patch says it all
  for (const std::string& file : arguments.files) {
    if (!changes) {
      if (reads) effects.reads.push_back({file, arguments.range});
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
}

}  // namespace

std::string_view name(FileChangeKind kind) {
  switch (kind) {
    case FileChangeKind::edited: return "edited";
    case FileChangeKind::created: return "created";
    case FileChangeKind::deleted: return "deleted";
    case FileChangeKind::renamed: return "renamed";
    case FileChangeKind::formatted: return "formatted";
  }
  return "";
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
  return holds_any(lower(first_bytes(tool, tool_bytes_max)), {"bash", "shell", "terminal", "exec", "command", "run_in", "console"});
}

bool only_looks(const std::vector<std::string>& words) {
  if (words.empty()) return true;
  static constexpr std::string_view looking[] = {
      "awk",  "basename", "bat",      "cat", "cd",    "cut",    "date", "df",   "diff",   "dirname", "du",     "echo", "env",
      "fd",   "file",     "find",     "git", "grep",  "head",   "jq",   "less", "ls",     "more",    "nl",     "od",   "printf",
      "ps",   "pwd",      "readlink", "rg",  "sed",   "sleep",  "sort", "stat", "tail",   "test",    "tr",     "tree", "true",
      "type", "uname",    "uniq",     "wc",  "which", "whoami", "xxd",  "[",    "export", "set",     "source", "."};
  const std::string_view program = base_name(words[0]);
  if (!is_among(program, looking)) return false;
  if (program == "sed") return !edits_in_place(words);
  if (program != "git") return true;
  std::size_t at = 1;
  while (at < words.size() && is_option(words[at])) at += words[at] == "-C" || words[at] == "-c" ? 2u : 1u;
  if (at >= words.size()) return true;
  static constexpr std::string_view looking_git[] = {"blame",  "branch", "diff",      "grep", "log",    "ls-files",
                                                     "reflog", "remote", "rev-parse", "show", "status", "describe"};
  return is_among(words[at], looking_git);
}

void read_script_effects(std::string_view script, CallEffects& effects) {
  bool looks = true;
  read_commands(script, effects, 0, looks);
  effects.is_inspection = looks && effects.changes.empty();
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
        add_change(changes, old_path == "/dev/null" ? FileChangeKind::created : FileChangeKind::edited, path);
      }
    }
  });
}

void read_printed_changes(std::string_view script, std::string_view output, std::vector<FileChange>& changes) {
  const bool asks_git = script.find("git status") != script.npos || script.find("git commit") != script.npos ||
                        script.find("git merge") != script.npos || script.find("git stash") != script.npos;
  const bool formats = holds_any(script, {"black", "patch", "ruff", "isort", "gofmt", "prettier"});
  if (!asks_git && !formats) return;
  digest::for_each_line(output, [&](std::string_view line) {
    const std::string_view mark = trim(line);
    const auto behind = [&](std::string_view begin) { return trim(mark.substr(begin.size())); };
    if (mark.starts_with("patching file ")) add_change(changes, FileChangeKind::edited, behind("patching file "));
    if (mark.starts_with("reformatted ")) add_change(changes, FileChangeKind::formatted, behind("reformatted "));
    if (mark.starts_with("Fixing ")) add_change(changes, FileChangeKind::formatted, behind("Fixing "));
    if (!asks_git) return;
    if (mark.starts_with("modified:")) add_change(changes, FileChangeKind::edited, behind("modified:"));
    if (mark.starts_with("new file:")) add_change(changes, FileChangeKind::created, behind("new file:"));
    if (mark.starts_with("deleted:")) add_change(changes, FileChangeKind::deleted, behind("deleted:"));
    if (mark.starts_with("create mode 100"))
      add_change(changes, FileChangeKind::created, mark.substr(std::min(mark.size(), mark.find(' ', 12) + 1)));
    if (mark.starts_with("delete mode 100"))
      add_change(changes, FileChangeKind::deleted, mark.substr(std::min(mark.size(), mark.find(' ', 12) + 1)));
    if (mark.starts_with("renamed:") && mark.find(" -> ") != mark.npos) {
      const std::string_view both = behind("renamed:");
      add_change(changes, FileChangeKind::renamed, both.substr(both.find(" -> ") + 4), both.substr(0, both.find(" -> ")));
    }
    // git status --short: two letters and a space.
    if (line.size() > 3 && line[2] == ' ' && line[3] != ' ') {
      const std::string_view states = line.substr(0, 2), path = line.substr(3);
      if (states == " M" || states == "M " || states == "MM" || states == "AM")
        add_change(changes, states == "AM" ? FileChangeKind::created : FileChangeKind::edited, path);
      if (states == "??" || states == "A ") add_change(changes, FileChangeKind::created, path);
      if (states == " D" || states == "D ") add_change(changes, FileChangeKind::deleted, path);
      if (states == "R " && path.find(" -> ") != path.npos)
        add_change(changes, FileChangeKind::renamed, path.substr(path.find(" -> ") + 4), path.substr(0, path.find(" -> ")));
    }
  });
}

CallEffects effects_of(std::string_view tool, const JsonValue* arguments) {
  CallEffects effects;
  if (arguments == nullptr) return effects;
  const bool is_shell = runs_scripts(tool);
  Arguments read;
  if (arguments->is(JsonType::string)) {
    const std::string text = arguments->string();
    JsonText json;
    if (!json.read(text, {.depth = 64}) && !json.root().is(JsonType::string)) {
      const JsonValue root = json.root();
      return effects_of(tool, &root);
    }
    read_arguments(*arguments, "input", is_shell, read, effects, 0);
  } else {
    read_arguments(*arguments, {}, is_shell, read, effects, 0);
    read_plan(*arguments, effects, 0);
  }
  if (!read.script.empty() && !is_edit_command(read.script)) {
    effects.script = std::move(read.script);
    read_script_effects(effects.script, effects);
  }
  if (effects.script.empty()) read_file_tool(tool, read, effects);
  const std::string name = plain_key(tool);
  if (effects.script.empty() && effects.changes.empty() && holds_any(name, {"grep", "glob", "search", "list", "read", "view"}))
    effects.is_inspection = true;
  return effects;
}

}  // namespace undertext
