// export, import: conversations as files.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/fresh_id.hpp"
#include "cli/line_reader.hpp"
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

struct ExportOptions : Common {
  std::optional<std::string> file, dialect;
  bool messages = false, all = false;
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

// What a provider would be sent, and what would have been refused or has no place there.
std::string rendered(Desk& desk, const Conversation& conversation, const std::string& dialect) {
  Rendering rendering = render(conversation.view(), find_profile(dialect).value()).value();
  for (const Finding& finding : rendering.findings) desk.note(std::string(finding.code) + ": " + std::string(finding.repair));
  for (const Loss& loss : rendering.losses) desk.note(std::string(loss.code) + ": " + std::string(loss.note));
  return std::move(rendering.json);
}

int run_export(Desk& desk, const ExportOptions& given) {
  const std::shared_ptr<Store> store = desk.store(given);
  const Conversation conversation = desk.conversation(given);
  write_lines(desk, given.file, [&](const std::function<void(std::string_view)>& write) {
    if (given.dialect) {
      std::string json = rendered(desk, conversation, *given.dialect);
      for (char& c : json) {
        if (c == '\n' || c == '\r') c = ' ';
      }
      return write(json);
    }
    if (!given.messages) {
      Progress progress("exporting");
      const std::optional<Error> error = export_conversation(
          *store, conversation, {write, [&](std::uint64_t version, std::uint64_t head) { progress.at(version, head); }});
      if (error) throw Failure(*error);
      return;
    }
    const History history = conversation.history();
    for (const Message& message : given.all ? history.log() : history.view()) {
      std::string line(message.json());
      for (char& c : line) {
        if (c == '\n' || c == '\r') c = ' ';
      }
      write(line);
    }
  });
  return 0;
}

Run declare_export(Arguments& arguments) {
  auto given = std::make_shared<ExportOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"-o,--output", &given->file, "A file that is not there yet; standard output unless told", "FILE"});
  arguments.add({"--messages", &given->messages, "Only the messages that the model sees now, one a line"});
  arguments.add({"--all", &given->all, "With --messages: those of the log, hidden ones too"});
  arguments.add(
      {"--dialect", &given->dialect,
       "Only the messages, as a provider takes them: openai_chat, openai_responses, anthropic, gemini, or a profile's name",
       "NAME"});
  return [given](Desk& desk) { return run_export(desk, *given); };
}

struct ImportGiven : Common {
  std::string file = "-";
  std::string format = "auto";
  std::optional<std::string> config, dialect;
  bool append = false, trust = false;
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

// A request, answer or list of messages in the words of one provider.
ImportedTranscript read_dialect(const std::string& dialect, std::string_view text) {
  Imported imported = import_messages(*dialect_named(dialect), text).value();
  ImportedTranscript transcript{.messages = std::move(imported.messages)};
  if (imported.rest.size() > 2) transcript.left_out["other fields of the request"] = 1;
  return transcript;
}

int import_transcript(Desk& desk, const ImportGiven& given, std::string_view text) {
  const ImportedTranscript transcript =
      given.dialect ? read_dialect(*given.dialect, text) : read_transcript(text, transcript_format_named(given.format)).value();
  const std::string from = given.dialect.value_or(std::string(name(transcript.format)));
  if (transcript.messages.empty()) fail(ErrorCode::invalid_argument, "there is no message in it");
  std::vector<Operation> operations;
  std::vector<std::size_t> starts = transcript.fresh_starts;
  starts.push_back(transcript.messages.size());
  std::size_t at = 0;
  const std::string described = "imported from " + from;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto begin = transcript.messages.begin();
    if (starts[i] > at) {
      operations.push_back({op::Append{{begin + static_cast<std::ptrdiff_t>(at), begin + static_cast<std::ptrdiff_t>(starts[i])}},
                            {.description = described}});
    }
    if (i + 1 < starts.size()) operations.push_back({op::StartBatch{.hide_prior = true}, {.description = "summarised by " + from}});
    at = starts[i];
  }
  Conversation conversation = desk.conversation(given, given.append ? Desk::Need::there : Desk::Need::another, given.config);
  const std::size_t versions = conversation.apply(std::move(operations)).value().size();
  report(desk, given, from, versions, transcript.messages.size(), transcript.left_out);
  return 0;
}

int run_import(Desk& desk, ImportGiven& given) {
  if (!given.conversation && !given.append) given.conversation = fresh_id(now_ms());
  Rereadable file(given.file);
  const LineSource first = file.lines();
  const std::optional<std::string_view> line = first();
  const bool is_export = line && is_export_header(*line);
  if (given.format == "export" && !is_export) fail(ErrorCode::invalid_argument, "this is no export of undertext", "format");
  if (given.dialect) return import_transcript(desk, given, file.whole());
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
                 .help = "What it is; found out unless told",
                 .value = "NAME",
                 .choices = {"auto", "export", "messages", "codex", "claude-code"}});
  arguments.add({.names = "--dialect",
                 .to = &given->dialect,
                 .help = "It is a request, an answer or a list of messages in the words of this provider",
                 .value = "NAME",
                 .choices = {"openai_chat", "openai_responses", "anthropic", "gemini"}});
  arguments.add({"--append", &given->append, "Add the messages to a conversation that is there"});
  arguments.add({"--config", &given->config, "Settings instead of the exported ones", "JSON"});
  arguments.add({"--trust-settings", &given->trust, "Take exported settings that name summarisers: who is sent keys and messages"});
  return [given](Desk& desk) { return run_import(desk, *given); };
}

}  // namespace

std::vector<Command> transfer_commands() {
  return {
      {"export", "Write a conversation with its whole history, as JSON lines", "docs/export.md describes the lines.",
       declare_export},
      {"import", "Read a conversation: an export, messages, a session of Codex CLI or Claude Code",
       "Messages are a JSON array, one a line, or the body of a request to OpenAI or Anthropic. What is left out is reported.",
       declare_import},
  };
}

}  // namespace undertext
