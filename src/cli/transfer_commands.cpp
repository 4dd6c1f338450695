// export, import: conversations as files.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <undertext/client.hpp>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/dialects.hpp"
#include "cli/line_reader.hpp"
#include "cli/private_file.hpp"
#include "dialect/import.hpp"
#include "history/log.hpp"
#include "history/state.hpp"
#include "json/dialect_json.hpp"
#include "store/fresh_id.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "transfer/export.hpp"
#include "transfer/export_lines.hpp"
#include "transfer/import.hpp"
#include "transfer/session_file.hpp"
#include "transfer/transcript.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t line_bytes_max = std::uint64_t{1} << 30;

class File {
 public:
  explicit File(std::FILE* file) : file_(file) {}
  ~File() {
    if (file_ != nullptr) std::fclose(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::FILE* get() const { return file_; }
  bool close() { return std::fclose(std::exchange(file_, nullptr)) == 0; }

 private:
  std::FILE* file_;
};

Error file_error(const std::string& path) {
  return {errno == ENOENT   ? ErrorCode::not_found
          : errno == EEXIST ? ErrorCode::conflict
                            : ErrorCode::unavailable,
          path + ": " + std::strerror(errno)};
}

[[noreturn]] void fail_file(const std::string& path) { throw Failure(file_error(path)); }

std::string on_one_line(std::string json) {
  for (char& c : json) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return json;
}

struct ExportOptions : Common {
  std::optional<std::string> file;
  std::optional<std::string> to;  // the program that is to resume it
  bool install = false;
  bool messages = false, all = false;
  RuleOptions rules;
  DialectOptions dialect;
};

// Writes all that `produce` gives, line by line, to the file or standard output. A new file is for
// its owner alone, and is gone again when it is not whole.
void write_lines(Desk& desk, const std::optional<std::string>& path,
                 const std::function<void(const std::function<void(std::string_view)>&)>& produce,
                 std::string_view option = "--output") {
  const auto fail_output = [&] { throw Failure(about_option(option, file_error(*path))); };
  if (!path || *path == "-") return produce([&](std::string_view line) { desk.put_line(line); });
  OpenFile opened = open_file(*path, OpenFor::making);
  if (!opened) fail_output();
  try {
    const int descriptor = opened.descriptor();
    File file(stream_to(std::move(opened)));
    if (file.get() == nullptr) fail_output();
    produce([&](std::string_view line) {
      if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() ||
          std::fputc('\n', file.get()) == EOF)
        fail_output();
    });
    if (std::fflush(file.get()) != 0 || !sync_to_disk(descriptor) || !file.close()) fail_output();
  } catch (...) {
    remove_name(*path);
    throw;
  }
}

std::string home_folder(const char* variable, const char* otherwise) {
  if (const char* const named = std::getenv(variable); named && *named) return named;
  const char* const home = std::getenv("HOME");
  if (!home || !*home)
    fail(ErrorCode::not_found, std::string("neither $HOME nor $") + variable + " is set",
         "install");
  return std::string(home) + "/" + otherwise;
}

// Of a session that is exported: what its summaries stand for, up to the end of that, and what the
// program is to send.
struct SessionViews {
  View before, now;
  bool is_compacted = false;
  bool begins_with_summary = false, has_summary_second = false;
  std::uint64_t system_prompts = 0;
};

template <class IsToGo>
History without(const History& history, IsToGo is_to_go, std::uint64_t* count = nullptr) {
  op::Delete gone;
  const View view = history.view();
  for (std::uint64_t i = 0; i < view.size(); ++i)
    if (is_to_go(view, i)) gone.names.numbers.push_back(i);
  if (count) *count = gone.names.numbers.size();
  return gone.names.numbers.empty() ? history
                                    : history.apply({std::move(gone)}, {}).value().history;
}

History without_system_prompts(const History& history, std::uint64_t* count = nullptr) {
  return without(
      history, [](const View& view, std::uint64_t i) { return view[i].role() == Role::system; },
      count);
}

bool is_summary(const History& history, const View& view, std::uint64_t index) {
  const auto ordinal = static_cast<std::uint32_t>(view.ordinal(index).value);
  return history.rep().log.originals(ordinal) != nullptr;
}

// Whether another program's session can hold the summary: one that only its own provider can read
// has no text, and system prompts are left out.
bool can_be_written(const Message& summary, SessionFormat format) {
  const bool is_readable = format == SessionFormat::codex || !summary.text().empty();
  return is_readable && summary.role() != Role::system;
}

// With every summary expanded that is to be.
template <class IsToBe>
History with_originals(History history, IsToBe is_to_be) {
  // Once more where there may be summaries among the originals: as often as these are nested.
  for (bool was_expanded = true; std::exchange(was_expanded, false);) {
    for (std::uint64_t index = history.view().size(); index-- > 0;) {
      const View view = history.view();
      if (index >= view.size()) continue;
      if (!is_summary(history, view, index) || !is_to_be(view[index])) continue;
      if (Result<Step> step = history.apply({op::Expand{index}}, {})) {
        history = step->history;
        was_expanded = true;
      }
    }
  }
  return history;
}

SessionViews views_of_session(const History& whole, SessionFormat format) {
  SessionViews views{whole.view(), whole.view()};
  const History seen = with_originals(
      whole, [&](const Message& summary) { return !can_be_written(summary, format); });
  views.now = without_system_prompts(seen, &views.system_prompts).view();
  const History all =
      without_system_prompts(with_originals(seen, [](const Message&) { return true; }));
  std::unordered_set<std::uint64_t> shown;
  for (std::uint64_t i = 0; i < views.now.size(); ++i) shown.insert(views.now.ordinal(i).value);
  std::uint64_t end = 0;
  const View originals = all.view();
  for (std::uint64_t i = 0; i < originals.size(); ++i)
    if (!shown.contains(originals.ordinal(i).value)) end = i + 1;
  views.is_compacted = end > 0;
  views.begins_with_summary = !views.now.empty() && is_summary(seen, views.now, 0);
  views.has_summary_second = views.now.size() > 1 && is_summary(seen, views.now, 1);
  History before = all.apply({op::Truncate{.keep_first = end}}, {}).value().history;
  // What the summary answers belongs to it.
  if (format == SessionFormat::opencode && views.has_summary_second)
    before = without(before, [&](const View& view, std::uint64_t i) {
      return view.ordinal(i) == views.now.ordinal(0);
    });
  views.before = before.view();
  return views;
}

// opencode keeps its sessions in a database, which only itself writes.
void install_by_opencode(const SessionFile& file, const std::string& project) {
  std::string text;
  for (const std::string& line : file.lines) text += line + '\n';
  const PrivateFile given(text, ".json");
  std::error_code ignored;  // a folder that is not here: the session is the current one's
  std::filesystem::current_path(project, ignored);
  constexpr const char* import =
      "command -v opencode >/dev/null || exit 127; exec opencode import \"$1\" >&2";
  const int status = run_shell(import, given.path());
  if (status == 127)
    fail(ErrorCode::unsupported,
         "opencode writes its database itself, and is not in PATH: write a file with -o, and give "
         "it to `opencode import`",
         "install");
  if (status != 0)
    fail(ErrorCode::unavailable, "opencode import failed: " + std::to_string(status), "install");
}

// Where the file was put; nothing: standard output, or another program's database.
std::optional<std::string> put_file(Desk& desk, const ExportOptions& given, SessionFormat format,
                                    const SessionFile& file, const std::string& project) {
  std::optional<std::string> path = given.file;
  if (given.install && format == SessionFormat::opencode) {
    install_by_opencode(file, project);
    return path;
  }
  if (given.install) {
    path = (format == SessionFormat::codex ? home_folder("CODEX_HOME", ".codex")
                                           : home_folder("CLAUDE_CONFIG_DIR", ".claude")) +
           "/" + file.path;
    make_folders_above(*path);
  }
  write_lines(
      desk, path,
      [&](const std::function<void(std::string_view)>& write) {
        for (const std::string& line : file.lines) write(line);
      },
      given.install ? "--install" : "--output");
  return path;
}

void put_session(Desk& desk, const ExportOptions& given, SessionFormat format,
                 const SessionFile& file, const SessionFacts& facts, std::uint64_t prompts,
                 const Rendering& rendering) {
  const std::optional<std::string> path = put_file(desk, given, format, file, facts.project);
  desk.finish();
  if (given.install) desk.say(path.value_or(file.id));
  if (prompts > 0)
    desk.note("left out: " + std::to_string(prompts) + " × system prompt; " + *given.to +
              " has its own");
  note_rendering(desk, rendering);
  const std::string import = format == SessionFormat::opencode && !given.install
                                 ? "opencode import " + path.value_or("FILE") + " && "
                                 : "";
  const char* const resume = format == SessionFormat::codex      ? "codex resume "
                             : format == SessionFormat::opencode ? "opencode -s "
                                                                 : "claude --resume ";
  // opencode goes on with the model of the session, which it must have.
  const char* const model =
      format == SessionFormat::opencode && facts.model.empty() ? " -m PROVIDER/MODEL" : "";
  desk.note("to resume it: " + import + resume + file.id + model);
}

// A session file for another program. Losses are reported on standard error.
int export_session(Desk& desk, const ExportOptions& given) {
  if (given.messages || given.all || given.json || given.dialect.are_given())
    fail(ErrorCode::invalid_argument,
         "a session file has its own form: --messages, --all, --json and --dialect do not go with "
         "it",
         "to");
  if (given.install && given.file)
    fail(ErrorCode::invalid_argument, "--install says where: -o does not go with it", "install");
  const SessionFormat format = *session_format_named(*given.to);
  const Conversation conversation = desk.conversation(given);
  History history = conversation.history();
  if (given.rules.at_version) history = history.fork(Version(*given.rules.at_version)).value();
  const SessionViews views = views_of_session(history, format);
  Profile profile = find_profile(name(dialect_of(format))).value();
  profile.prefill = true;  // a session is not sent: it may end with an answer
  const Rendering now = render(views.now, profile).value();
  const std::string before =
      views.is_compacted ? render(views.before, profile).value().json : std::string();
  SessionFacts facts{conversation.id(), history.version().value, conversation.settings().project,
                     conversation.settings().model};
  if (facts.project.empty()) facts.project = current_folder();
  facts.begins_with_summary = views.begins_with_summary;
  facts.has_summary_second = views.has_summary_second;
  facts.at_ms = history.version_info(history.version()).timestamp_ms;
  put_session(desk, given, format, session_file(format, before, now.json, facts).value(), facts,
              views.system_prompts, now);
  return 0;
}

// Without --json it is the request to the byte: what was imported with line breaks keeps them.
int export_request(Desk& desk, const ExportOptions& given) {
  if (given.messages || given.all)
    fail(ErrorCode::invalid_argument,
         "a request holds what the model sees: --messages and --all do not go with it", "dialect");
  const Conversation conversation = desk.conversation(given);
  const Profile profile = chosen_profile(given.dialect, conversation.settings());
  const History history = conversation.history();
  std::string request;
  RenderOptions options = render_options(given.rules, history, profile, request);
  if (!given.rules.at_version)
    options.volatile_now = conversation.volatile_now(profile.dialect).value();
  const Rendering rendering =
      render(view_at(history, given.rules.at_version), profile, options).value();
  write_lines(desk, given.file, [&](const std::function<void(std::string_view)>& write) {
    if (!given.json) return write(rendering.json);
    std::string out = R"({"ok":true,"result":)";
    append_json(out, rendering);
    write(on_one_line(out + "}"));
  });
  if (given.json) return 0;
  desk.finish();
  note_rendering(desk, rendering);
  return 0;
}

int run_export(Desk& desk, const ExportOptions& given) {
  if (given.to) return export_session(desk, given);
  if (given.install)
    fail(ErrorCode::invalid_argument, "say with --to for which program it is", "install");
  if (given.dialect.are_given()) return export_request(desk, given);
  if (given.rules.sent_version || given.rules.request || given.rules.bound != "strip" ||
      given.rules.markers != "given")
    fail(ErrorCode::invalid_argument, "rules are a provider's: say --dialect with them", "dialect");
  if (given.rules.at_version && (!given.messages || given.all))
    fail(ErrorCode::invalid_argument,
         "a history holds every version: say --dialect or --messages with it", "at-version");
  const std::shared_ptr<Store> store = desk.store(given);
  const Conversation conversation = desk.conversation(given);
  write_lines(desk, given.file, [&](const std::function<void(std::string_view)>& write) {
    if (!given.messages) {
      Progress progress("exporting");
      const std::optional<Error> error = export_conversation(
          *store, conversation,
          {write, [&](std::uint64_t version, std::uint64_t head) { progress.at(version, head); }});
      if (error) throw Failure(*error);
      return;
    }
    const History history = conversation.history();
    for (const Message& message :
         given.all ? history.log() : view_at(history, given.rules.at_version))
      write(on_one_line(std::string(message.json())));
  });
  return 0;
}

Run declare_export(Arguments& arguments) {
  auto given = std::make_shared<ExportOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"-o,--output", &given->file,
                 "A file that is not there yet (default: standard output)", "FILE"});
  arguments.add({.names = "--to",
                 .to = &given->to,
                 .help = "A session file that this program resumes",
                 .value = "PROGRAM",
                 .choices = {"claude-code", "codex", "opencode"}});
  arguments.add(
      {"--install", &given->install, "With --to: put the file where the program looks for it"});
  arguments.add(
      {"--messages", &given->messages, "Only the messages that the model sees now, one a line"});
  arguments.add({"--all", &given->all, "With --messages: those of the log, hidden ones too"});
  declare_dialect(arguments, given->dialect);
  arguments.add({"--at-version", &given->rules.at_version,
                 "With --dialect or --messages: as it was at version V", "V"});
  declare_rules(arguments, given->rules);
  arguments.add({.names = "--bound-thinking",
                 .to = &given->rules.bound,
                 .help = "What becomes of thinking that an edit made void",
                 .value = "POLICY",
                 .choices = {"strip", "refuse", "drop_block"}});
  declare_cache_markers(arguments, given->rules.markers,
                        "auto: mark the request for the provider's prompt cache");
  return [given](Desk& desk) { return run_export(desk, *given); };
}

struct ImportGiven : Common {
  std::string file = "-";
  std::string format = "auto";
  std::optional<std::string> config;
  bool append = false, after = false, trust = false;
  std::optional<std::string> client;
  DialectOptions dialect;
  std::optional<std::string> tool_names;  // a file
};

// A file that can be read twice: what comes from a pipe is copied to one without a name first.
class Rereadable {
 public:
  explicit Rereadable(const std::string& path)
      : file_(path == "-" ? spooled() : open_file(path, OpenFor::reading)), path_(path) {
    if (!file_) fail_file(path);
  }

  LineSource lines() {
    if (!begin_again(file_.descriptor())) fail_file(path_);
    reader_ = std::make_unique<LineReader>(file_.descriptor(), line_bytes_max);
    return [this]() -> std::optional<std::string_view> {
      switch (reader_->next()) {
        case LineReader::Got::line: return reader_->line();
        case LineReader::Got::end: return {};
        case LineReader::Got::too_long: fail(ErrorCode::too_large, path_ + ": a line is too long");
        case LineReader::Got::failed: fail_file(path_);
      }
      return {};
    };
  }
  // The lines that tell what it is.
  std::string beginning() {
    const LineSource next = lines();
    std::string text;
    for (int i = 0; i < 20; ++i) {
      const std::optional<std::string_view> line = next();
      if (!line) break;
      (text += *line) += '\n';
    }
    return text;
  }
  std::string whole() {
    if (!begin_again(file_.descriptor())) fail_file(path_);
    std::string text;
    char piece[1 << 16];
    for (;;) {
      const std::int64_t got = read_some(file_.descriptor(), piece, sizeof piece);
      if (got < 0) fail_file(path_);
      if (got == 0) return text;
      text.append(piece, static_cast<std::size_t>(got));
      if (text.size() > line_bytes_max) fail(ErrorCode::too_large, path_ + " is too large");
    }
  }

 private:
  static OpenFile spooled() {
    if (const std::optional<FileStatus> about = status_of(standard_input);
        about && about->is_regular)
      return second_descriptor(standard_input);
    std::string path = (std::filesystem::temp_directory_path() / "undertext-").string();
    OpenFile copy = make_temporary_file(path, "");
    if (!copy) return copy;
    remove_name(path);
    char piece[1 << 16];
    for (std::int64_t got = 0; (got = read_some(standard_input, piece, sizeof piece)) > 0;)
      if (!write_all(copy.descriptor(), {piece, static_cast<std::size_t>(got)}))
        fail_file("a copy of standard input");
    return copy;
  }

  OpenFile file_;
  std::string path_;
  std::unique_ptr<LineReader> reader_;
};

void report(Desk& desk, const ImportGiven& given, std::string_view format, std::uint64_t versions,
            std::uint64_t messages, const std::map<std::string, std::uint64_t>& left_out) {
  const std::string id = desk.conversation_id(given);
  if (given.json) {
    std::string out = R"({"ok":true,"result":{"conversation":)";
    append_json_string(out, id);
    append_json_string(out += R"(,"format":)", format);
    out += R"(,"versions":)" + std::to_string(versions) + R"(,"messages":)" +
           std::to_string(messages) + R"(,"leftOut":{)";
    const char* separator = "";
    for (const auto& [what, count] : left_out) {
      append_json_string(out += std::exchange(separator, ","), what);
      out += ":" + std::to_string(count);
    }
    return desk.put_json(out + "}}}");
  }
  desk.say(id + ": " + std::to_string(messages) + " messages, " + std::to_string(versions) +
           " versions (" + std::string(format) + ")");
  for (const auto& [what, count] : left_out)
    desk.note("left out: " + std::to_string(count) + " × " + what);
}

// A session into a conversation that may have its beginning: only what is new is stored.
int import_grown(Desk& desk, const ImportGiven& given, const ImportedTranscript& transcript) {
  Conversation conversation = desk.conversation(given, Desk::Need::there, given.config);
  const History before = conversation.history();
  GrownTranscript grown = grown_operations(before, transcript).value();
  if (given.after && grown.known == 0)
    fail(ErrorCode::conflict,
         "it is no session of this conversation: that has not its first message", "after");
  const std::size_t versions = grown.operations.size();
  std::uint64_t messages = before.stats().total_messages;
  if (versions > 0)
    messages = conversation.apply(std::move(grown.operations)).value().back().stats.total_messages;
  report(desk, given, name(transcript.format), versions, messages - before.stats().total_messages,
         transcript.left_out);
  return 0;
}

int import_transcript(Desk& desk, const ImportGiven& given, std::string_view text) {
  const std::optional<TranscriptFormat> format = transcript_format_named(given.format);
  const ImportedTranscript transcript = read_transcript(text, format).value();
  if (transcript.messages.empty()) fail(ErrorCode::invalid_argument, "there is no message in it");
  const bool is_session = transcript.format != TranscriptFormat::messages;
  if (given.after && !is_session)
    fail(ErrorCode::invalid_argument,
         "only a session or a request repeats a conversation: say --dialect with a request",
         "after");
  if (is_session && (given.append || given.after)) return import_grown(desk, given, transcript);
  std::vector<Operation> operations = operations_of(transcript);
  Conversation conversation = desk.conversation(
      given, given.append ? Desk::Need::there : Desk::Need::another, given.config);
  const std::size_t versions = conversation.apply(std::move(operations)).value().size();
  report(desk, given, name(transcript.format), versions, transcript.messages.size(),
         transcript.left_out);
  return 0;
}

// Messages, one a line: no more than a few megabytes of them are in memory at a time.
int import_messages_by_line(Desk& desk, const ImportGiven& given, Rereadable& file) {
  const ImportedConversation expected = check_message_lines(file.lines()).value();
  Progress progress("importing");
  const ImportedConversation imported =
      import_message_lines(
          desk.store(given, Desk::Need::make), desk.conversation_id(given), file.lines(),
          {.config = given.config,
           .progress = [&](std::uint64_t done) { progress.at(done, expected.messages); }})
          .value();
  report(desk, given, name(TranscriptFormat::messages), imported.versions, imported.messages, {});
  return 0;
}

// A request that repeats the conversation as it was exported, in whatever dialect that is kept, and
// goes on. False: it does not.
bool append_what_is_new(Conversation& conversation, const Profile& profile, std::string_view text,
                        const ToolNames& names, Imported& imported) {
  const View view = conversation.history().view();
  imported = import_after(view, profile, text, {}, names).value();
  if (imported.known < view.size()) return false;
  if (!imported.messages.empty()) {
    conversation
        .apply({op::Append{imported.messages},
                {.description = "imported from " + std::string(name(profile.dialect))}})
        .value();
  }
  return true;
}

// Whether a request is of this conversation: that follows the client already, and the request has a
// message of it; or it has every message that is visible.
bool is_of(const History& history, const Step& reconciled) {
  std::unordered_set<std::uint64_t> known;
  for (const Ordinal ordinal : reconciled.history.client_list())
    if (ordinal.value < history.stats().total_messages) known.insert(ordinal.value);
  if (!history.client_list().empty()) return !known.empty();
  const View view = history.view();
  for (std::uint64_t i = 0; i < view.size(); ++i)
    if (!known.contains(view.ordinal(i).value)) return false;
  return true;
}

// Whether the view is what the client sent last; so it is before it has sent anything.
bool shows_client_list(const History& history) {
  const std::vector<Ordinal> listed = history.client_list();
  const View view = history.view();
  if (listed.empty()) return true;
  for (std::uint64_t i = 0; i < view.size() && view.size() == listed.size(); ++i)
    if (view.ordinal(i) != listed[i]) return false;
  return view.size() == listed.size();
}

// One of the consecutive requests of a client, in one operation. The client's own list decides what
// was kept and what is new.
int import_after_request(Desk& desk, const ImportGiven& given, const Profile& profile,
                         std::string_view text, const ToolNames& names) {
  Conversation conversation = desk.conversation(given, Desk::Need::there, given.config);
  const std::string_view dialect = name(profile.dialect);
  const ClientProfile client = find_client(given.client.value_or(std::string(dialect))).value();
  ClientRequest request = read_client_request(client, profile.dialect, text).value();
  const History before = conversation.history();
  const Step tried = before.apply({request.reconcile}, {}).value();
  const bool is_followed = is_of(before, tried);
  const bool adds_nothing = tried.history.stats().total_messages == before.stats().total_messages;
  // Where others edited the view, the request may be what was exported of it.
  const bool may_be_exported =
      !given.client && (!is_followed || !names.empty() || !shows_client_list(before));
  Imported imported;
  if (!given.client && is_followed && adds_nothing && before.client_list().empty()) {
    report(desk, given, dialect, 0, 0, {});
    return 0;
  }
  if (may_be_exported &&
      append_what_is_new(conversation, chosen_profile(given.dialect, conversation.settings()), text,
                         names, imported)) {
    report(desk, given, dialect, imported.messages.empty() ? 0 : 1, imported.messages.size(), {});
    return 0;
  }
  if (!is_followed)
    fail(ErrorCode::conflict,
         "it is no request of this conversation: it has none of its messages, or not all", "after");
  request.reconcile.dialect = dialect;
  const Outcome outcome = conversation
                              .apply({std::move(request.reconcile),
                                      {.description = "imported from " + std::string(dialect)}})
                              .value();
  report(desk, given, dialect, outcome.version.value - before.version().value,
         outcome.stats.total_messages - before.stats().total_messages, {});
  return 0;
}

// One operation, to a conversation that is made where there is none.
int import_request(Desk& desk, const ImportGiven& given, std::string_view text) {
  if (given.format != "auto")
    fail(ErrorCode::invalid_argument, "--format and --dialect exclude each other", "format");
  const Profile profile = chosen_profile(given.dialect);
  const Dialect dialect = profile.dialect;
  const ToolNames names =
      given.tool_names
          ? of_option("--tool-names", [&] { return read_tool_names_of(*given.tool_names); })
          : ToolNames();
  if (given.after) return import_after_request(desk, given, profile, text, names);
  // Of several answers the first: the report says what was left out.
  Imported imported = import_numbered(dialect, text, {}, names, 0).value();
  if (imported.messages.empty()) fail(ErrorCode::invalid_argument, "there is no message in it");
  Conversation conversation =
      desk.conversation(given, given.append ? Desk::Need::there : Desk::Need::make, given.config);
  const std::size_t messages = imported.messages.size();
  conversation
      .apply({op::Append{std::move(imported.messages)},
              {.description = "imported from " + std::string(name(dialect))}})
      .value();
  report(desk, given, name(dialect), 1, messages, left_out_of(imported, text));
  return 0;
}

int run_import(Desk& desk, ImportGiven& given) {
  given.config = config_of(given.config);
  if (!given.conversation && !given.append && !given.after) given.conversation = fresh_id(now_ms());
  Rereadable file(given.file);
  if (given.dialect.are_given()) return import_request(desk, given, file.whole());
  const LineSource first = file.lines();
  const std::optional<std::string_view> line = first();
  const bool is_export = line && is_export_header(*line);
  if (given.format == "export" && !is_export)
    fail(ErrorCode::invalid_argument, "this is no export of undertext", "format");
  if (!is_export || (given.format != "auto" && given.format != "export")) {
    const bool is_new = !given.append && !given.after;
    if (is_new && are_message_lines(file.beginning(), transcript_format_named(given.format)))
      return import_messages_by_line(desk, given, file);
    return import_transcript(desk, given, file.whole());
  }
  if (given.append || given.after)
    fail(ErrorCode::invalid_argument,
         "a conversation with its history makes a conversation of its own",
         given.append ? "append" : "after");
  const ImportedConversation expected = check_export(file.lines()).value();
  Progress progress("importing");
  const ImportedConversation imported =
      import_conversation(
          desk.store(given, Desk::Need::make), *given.conversation, file.lines(),
          {.config = given.config,
           .trust_settings = given.trust,
           .progress = [&](std::uint64_t version) { progress.at(version, expected.versions); }})
          .value();
  report(desk, given, "export", imported.versions, imported.messages, {});
  return 0;
}

Run declare_import(Arguments& arguments) {
  auto given = std::make_shared<ImportGiven>();
  declare_store(arguments, *given);
  arguments.add({.names = "FILE",
                 .to = &given->file,
                 .help = "The file to read; - is standard input",
                 .required = true});
  arguments.add({"CONVERSATION", &given->conversation,
                 "The id of the new conversation; made up when not given"});
  arguments.add({"-c,--conversation", &given->conversation, "The same", "ID"});
  arguments.add(
      {.names = "--format",
       .to = &given->format,
       .help = "What it is (default: recognised by its contents)",
       .value = "NAME",
       .choices = {"auto", "export", "messages", "codex", "claude-code", "pi", "opencode"}});
  declare_dialect(arguments, given->dialect);
  arguments.add({"--append", &given->append,
                 "Append the messages to an existing conversation; of a session, only new ones"});
  arguments.add({"--after", &given->after,
                 "A session that has grown or, with --dialect, the next request of a client: known "
                 "messages are not stored again"});
  arguments.add({"--client", &given->client,
                 "With --after: the client whose request it is, such as claude_code", "NAME"});
  arguments.add({"--tool-names", &given->tool_names,
                 "With --dialect: tools that were sent under other names, from `export --json`",
                 "FILE"});
  arguments.add({"--config", &given->config, "Settings instead of the exported ones", "JSON|FILE"});
  arguments.add({"--trust-settings", &given->trust,
                 "Accept exported settings with summarisers or embeddings, which decide where keys "
                 "and messages are sent"});
  return [given](Desk& desk) { return run_import(desk, *given); };
}

}  // namespace

std::vector<Command> transfer_commands() {
  return {
      {"export",
       "Write a conversation with its whole history, as JSON lines; or as a provider's request",
       "docs/export.md describes the lines. --dialect writes the fields of a request that have the "
       "conversation, so that the\n"
       "provider accepts them. Repairs and losses are reported on standard error.",
       declare_export},
      {"import",
       "Read a conversation: an export, messages, a session of Codex CLI, Claude Code, opencode or "
       "pi",
       "Messages are a JSON array, one a line, or the body of a request to OpenAI or Anthropic. "
       "What is omitted is reported.\n"
       "--dialect reads a request, a response or a list of messages of that provider, keeps the "
       "bytes, and appends the messages\n"
       "to the conversation in one operation. The conversation is made if it does not exist.",
       declare_import},
  };
}

}  // namespace undertext
