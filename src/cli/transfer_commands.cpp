// export, import: conversations as files.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <undertext/client.hpp>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/dialects.hpp"
#include "cli/line_reader.hpp"
#include "json/dialect_json.hpp"
#include "store/fresh_id.hpp"
#include "transfer/export.hpp"
#include "transfer/export_lines.hpp"
#include "transfer/import.hpp"
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

[[noreturn]] void fail_file(const std::string& path) {
  fail(errno == ENOENT   ? ErrorCode::not_found
       : errno == EEXIST ? ErrorCode::conflict
                         : ErrorCode::unavailable,
       path + ": " + std::strerror(errno));
}

std::string on_one_line(std::string json) {
  for (char& c : json) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return json;
}

struct ExportOptions : Common {
  std::optional<std::string> file;
  bool messages = false, all = false;
  RuleOptions rules;
  DialectOptions dialect;
};

// Writes all that `produce` gives, line by line, to the file or standard output. A new file is for its owner alone, and is gone again when it is not whole.
void write_lines(Desk& desk, const std::optional<std::string>& path,
                 const std::function<void(const std::function<void(std::string_view)>&)>& produce) {
  if (!path || *path == "-") return produce([&](std::string_view line) { desk.put_line(line); });
  const int descriptor = open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) fail_file(*path);
  try {
    File file(fdopen(descriptor, "wb"));
    produce([&](std::string_view line) {
      if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() || std::fputc('\n', file.get()) == EOF)
        fail_file(*path);
    });
    if (std::fflush(file.get()) != 0 || fsync(descriptor) != 0 || !file.close()) fail_file(*path);
  } catch (...) {
    unlink(path->c_str());
    throw;
  }
}

// Without --json it is the request to the byte: what was imported with line breaks keeps them.
int export_request(Desk& desk, const ExportOptions& given) {
  if (given.messages || given.all)
    fail(ErrorCode::invalid_argument, "a request holds what the model sees: --messages and --all do not go with it", "dialect");
  const Conversation conversation = desk.conversation(given);
  const Profile profile = chosen_profile(given.dialect, conversation.settings());
  const History history = conversation.history();
  std::string request;
  RenderOptions options = render_options(given.rules, history, profile, request);
  if (!given.rules.at_version) options.volatile_now = conversation.volatile_now(profile.dialect).value();
  const Rendering rendering = render(view_at(history, given.rules.at_version), profile, options).value();
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
  if (given.dialect.are_given()) return export_request(desk, given);
  if (given.rules.sent_version || given.rules.request || given.rules.bound != "strip" || given.rules.markers != "given")
    fail(ErrorCode::invalid_argument, "rules are a provider's: say --dialect with them", "dialect");
  if (given.rules.at_version && (!given.messages || given.all))
    fail(ErrorCode::invalid_argument, "a history holds every version: say --dialect or --messages with it", "at-version");
  const std::shared_ptr<Store> store = desk.store(given);
  const Conversation conversation = desk.conversation(given);
  write_lines(desk, given.file, [&](const std::function<void(std::string_view)>& write) {
    if (!given.messages) {
      Progress progress("exporting");
      const std::optional<Error> error = export_conversation(
          *store, conversation, {write, [&](std::uint64_t version, std::uint64_t head) { progress.at(version, head); }});
      if (error) throw Failure(*error);
      return;
    }
    const History history = conversation.history();
    for (const Message& message : given.all ? history.log() : view_at(history, given.rules.at_version))
      write(on_one_line(std::string(message.json())));
  });
  return 0;
}

Run declare_export(Arguments& arguments) {
  auto given = std::make_shared<ExportOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"-o,--output", &given->file, "A file that is not there yet (default: standard output)", "FILE"});
  arguments.add({"--messages", &given->messages, "Only the messages that the model sees now, one a line"});
  arguments.add({"--all", &given->all, "With --messages: those of the log, hidden ones too"});
  declare_dialect(arguments, given->dialect);
  arguments.add({"--at-version", &given->rules.at_version, "With --dialect or --messages: as it was at version V", "V"});
  declare_rules(arguments, given->rules);
  arguments.add({.names = "--bound-thinking",
                 .to = &given->rules.bound,
                 .help = "What becomes of thinking that an edit made void",
                 .value = "POLICY",
                 .choices = {"strip", "refuse", "drop_block"}});
  declare_cache_markers(arguments, given->rules.markers, "auto: mark the request for the provider's prompt cache");
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
  explicit Rereadable(const std::string& path) : file_(path == "-" ? spooled() : std::fopen(path.c_str(), "rbe")), path_(path) {
    if (file_.get() == nullptr) fail_file(path);
  }

  LineSource lines() {
    if (lseek(fileno(file_.get()), 0, SEEK_SET) != 0) fail_file(path_);
    reader_ = std::make_unique<LineReader>(fileno(file_.get()), line_bytes_max);
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
  std::string whole() {
    if (lseek(fileno(file_.get()), 0, SEEK_SET) != 0) fail_file(path_);
    std::string text;
    char piece[1 << 16];
    for (;;) {
      const ssize_t got = read(fileno(file_.get()), piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_file(path_);
      if (got == 0) return text;
      text.append(piece, static_cast<std::size_t>(got));
      if (text.size() > line_bytes_max) fail(ErrorCode::too_large, path_ + " is too large");
    }
  }

 private:
  static std::FILE* spooled() {
    struct stat about = {};
    if (fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode)) return fdopen(dup(STDIN_FILENO), "rb");
    std::FILE* copy = std::tmpfile();
    if (copy == nullptr) return nullptr;
    char piece[1 << 16];
    for (;;) {
      const ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      if (std::fwrite(piece, 1, static_cast<std::size_t>(got), copy) != static_cast<std::size_t>(got))
        fail_file("a copy of standard input");
    }
    if (std::fflush(copy) != 0) fail_file("a copy of standard input");
    return copy;
  }

  File file_;
  std::string path_;
  std::unique_ptr<LineReader> reader_;
};

void report(Desk& desk, const ImportGiven& given, std::string_view format, std::uint64_t versions, std::uint64_t messages,
            const std::map<std::string, std::uint64_t>& left_out) {
  const std::string id = desk.conversation_id(given);
  if (given.json) {
    std::string out = R"({"ok":true,"result":{"conversation":)";
    append_json_string(out, id);
    append_json_string(out += R"(,"format":)", format);
    out += R"(,"versions":)" + std::to_string(versions) + R"(,"messages":)" + std::to_string(messages) + R"(,"leftOut":{)";
    const char* separator = "";
    for (const auto& [what, count] : left_out) {
      append_json_string(out += std::exchange(separator, ","), what);
      out += ":" + std::to_string(count);
    }
    return desk.put_json(out + "}}}");
  }
  desk.say(id + ": " + std::to_string(messages) + " messages, " + std::to_string(versions) + " versions (" + std::string(format) +
           ")");
  for (const auto& [what, count] : left_out) desk.note("left out: " + std::to_string(count) + " × " + what);
}

int import_transcript(Desk& desk, const ImportGiven& given, std::string_view text) {
  const std::optional<TranscriptFormat> format = transcript_format_named(given.format);
  const ImportedTranscript transcript = read_transcript(text, format).value();
  if (transcript.messages.empty()) fail(ErrorCode::invalid_argument, "there is no message in it");
  std::vector<Operation> operations = operations_of(transcript);
  Conversation conversation = desk.conversation(given, given.append ? Desk::Need::there : Desk::Need::another, given.config);
  const std::size_t versions = conversation.apply(std::move(operations)).value().size();
  report(desk, given, name(transcript.format), versions, transcript.messages.size(), transcript.left_out);
  return 0;
}

// A request that repeats the conversation as it was exported, in whatever dialect that is kept, and goes on. False: it does not.
bool append_what_is_new(Conversation& conversation, const Profile& profile, std::string_view text, const ToolNames& names,
                        Imported& imported) {
  const View view = conversation.history().view();
  imported = import_after(view, profile, text, {}, names).value();
  if (imported.known < view.size()) return false;
  if (!imported.messages.empty()) {
    conversation.apply({op::Append{imported.messages}, {.description = "imported from " + std::string(name(profile.dialect))}})
        .value();
  }
  return true;
}

// Whether a request is of this conversation: that follows the client already, and the request has a message of it; or it has
// every message that is visible.
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

// One of the consecutive requests of a client, in one operation. The client's own list decides what was kept and what is new.
int import_after_request(Desk& desk, const ImportGiven& given, const Profile& profile, std::string_view text,
                         const ToolNames& names) {
  Conversation conversation = desk.conversation(given, Desk::Need::there, given.config);
  const std::string_view dialect = name(profile.dialect);
  const ClientProfile client = find_client(given.client.value_or(std::string(dialect))).value();
  ClientRequest request = read_client_request(client, profile.dialect, text).value();
  const History before = conversation.history();
  const Step tried = before.apply({request.reconcile}, {}).value();
  const bool is_followed = is_of(before, tried);
  const bool adds_nothing = tried.history.stats().total_messages == before.stats().total_messages;
  // Where others edited the view, the request may be what was exported of it.
  const bool may_be_exported = !given.client && (!is_followed || !names.empty() || !shows_client_list(before));
  Imported imported;
  if (!given.client && is_followed && adds_nothing && before.client_list().empty()) {
    report(desk, given, dialect, 0, 0, {});
    return 0;
  }
  if (may_be_exported &&
      append_what_is_new(conversation, chosen_profile(given.dialect, conversation.settings()), text, names, imported)) {
    report(desk, given, dialect, imported.messages.empty() ? 0 : 1, imported.messages.size(), {});
    return 0;
  }
  if (!is_followed)
    fail(ErrorCode::conflict, "it is no request of this conversation: it has none of its messages, or not all", "after");
  request.reconcile.dialect = dialect;
  const Outcome outcome =
      conversation.apply({std::move(request.reconcile), {.description = "imported from " + std::string(dialect)}}).value();
  report(desk, given, dialect, outcome.version.value - before.version().value,
         outcome.stats.total_messages - before.stats().total_messages, {});
  return 0;
}

// One operation, to a conversation that is made where there is none.
int import_request(Desk& desk, const ImportGiven& given, std::string_view text) {
  if (given.format != "auto") fail(ErrorCode::invalid_argument, "--format and --dialect exclude each other", "format");
  const Profile profile = chosen_profile(given.dialect);
  const Dialect dialect = profile.dialect;
  const ToolNames names = given.tool_names ? read_tool_names_of(*given.tool_names) : ToolNames();
  if (given.after) return import_after_request(desk, given, profile, text, names);
  Imported imported = import_messages(dialect, text, {}, names).value();
  if (imported.messages.empty()) fail(ErrorCode::invalid_argument, "there is no message in it");
  Conversation conversation = desk.conversation(given, given.append ? Desk::Need::there : Desk::Need::make, given.config);
  const std::size_t messages = imported.messages.size();
  conversation.apply({op::Append{std::move(imported.messages)}, {.description = "imported from " + std::string(name(dialect))}})
      .value();
  report(desk, given, name(dialect), 1, messages, left_out_of(imported, text));
  return 0;
}

int run_import(Desk& desk, ImportGiven& given) {
  given.config = config_of(given.config);
  if (!given.conversation && !given.append && !given.after) given.conversation = fresh_id(now_ms());
  Rereadable file(given.file);
  if (given.dialect.are_given()) return import_request(desk, given, file.whole());
  if (given.after) fail(ErrorCode::invalid_argument, "only a request repeats a conversation: say --dialect with it", "after");
  const LineSource first = file.lines();
  const std::optional<std::string_view> line = first();
  const bool is_export = line && is_export_header(*line);
  if (given.format == "export" && !is_export) fail(ErrorCode::invalid_argument, "this is no export of undertext", "format");
  if (!is_export || (given.format != "auto" && given.format != "export")) return import_transcript(desk, given, file.whole());
  if (given.append) fail(ErrorCode::invalid_argument, "a conversation with its history makes a conversation of its own", "append");
  const ImportedConversation expected = check_export(file.lines()).value();
  Progress progress("importing");
  const ImportedConversation imported =
      import_conversation(desk.store(given, Desk::Need::make), *given.conversation, file.lines(),
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
  arguments.add({.names = "FILE", .to = &given->file, .help = "What to read; - is standard input", .required = true});
  arguments.add({"CONVERSATION", &given->conversation, "The id of the new conversation; made up when not given"});
  arguments.add({"-c,--conversation", &given->conversation, "The same", "ID"});
  arguments.add({.names = "--format",
                 .to = &given->format,
                 .help = "What it is (default: recognised by its contents)",
                 .value = "NAME",
                 .choices = {"auto", "export", "messages", "codex", "claude-code"}});
  declare_dialect(arguments, given->dialect);
  arguments.add({"--append", &given->append, "Add the messages to a conversation that is there"});
  arguments.add({"--after", &given->after,
                 "With --dialect: the next request of a client that sends its whole list; what it kept is not stored again"});
  arguments.add({"--client", &given->client, "With --after: the client whose request it is, such as claude_code", "NAME"});
  arguments.add(
      {"--tool-names", &given->tool_names, "With --dialect: tools that were sent under other names, from `export --json`", "FILE"});
  arguments.add({"--config", &given->config, "Settings instead of the exported ones", "JSON|FILE"});
  arguments.add({"--trust-settings", &given->trust, "Take exported settings that name summarisers: who is sent keys and messages"});
  return [given](Desk& desk) { return run_import(desk, *given); };
}

}  // namespace

std::vector<Command> transfer_commands() {
  return {
      {"export", "Write a conversation with its whole history, as JSON lines; or as a provider's request",
       "docs/export.md describes the lines. With --dialect it is the fields of a request that hold the conversation, so that the\n"
       "provider accepts them: what was repaired for that, or had no place, is told on standard error.",
       declare_export},
      {"import", "Read a conversation: an export, messages, a session of Codex CLI or Claude Code",
       "Messages are a JSON array, one a line, or the body of a request to OpenAI or Anthropic. What is left out is reported.\n"
       "With --dialect it is a request, a response or a list of messages of that provider, kept to the byte, and added to the\n"
       "conversation in one operation; that is made where there is none.",
       declare_import},
  };
}

}  // namespace undertext
