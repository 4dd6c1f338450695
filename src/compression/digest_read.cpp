#include "compression/digest_read.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compression/digest_commands.hpp"
#include "compression/digest_numbers.hpp"
#include "compression/digest_places.hpp"
#include "compression/digest_text.hpp"
#include "compression/digest_words.hpp"
#include "message/reading.hpp"

namespace undertext::digest {
namespace {

constexpr std::size_t sentence_bytes_max = 300;
constexpr std::size_t tool_name_bytes_max = 64;
constexpr std::size_t echo_bytes_max = 80;        // how soon a printed command has an option
constexpr std::size_t short_question_bytes = 24;  // "Which one?" says nothing without what stands before it
constexpr unsigned depth_max = 64;                // of values inside each other
constexpr unsigned encoded_depth_max = 4;         // of JSON inside the strings of JSON

// Arguments by what they are called, in lower case and without dashes and underscores.
constexpr std::string_view command_keys[] = {"bash", "cmd", "cmdline", "command", "commandline", "commands", "shellcommand", "sql"};
constexpr std::string_view path_keys[] = {"absolutepath", "cwd",          "dir",
                                          "directory",    "file",         "filename",
                                          "filepath",     "filepaths",    "files",
                                          "folder",       "newpath",      "notebookpath",
                                          "oldpath",      "outputpath",   "path",
                                          "paths",        "relativepath", "relativeworkspacepath",
                                          "targetfile",   "workdir",      "workingdirectory"};
constexpr std::string_view exit_keys[] = {"exit", "exitcode", "exitstatus", "returncode"};
constexpr std::string_view status_keys[] = {"httpstatus", "status", "statuscode"};
constexpr std::string_view error_keys[] = {"error", "errormessage", "exception"};
static_assert(std::is_sorted(std::begin(command_keys), std::end(command_keys)));
static_assert(std::is_sorted(std::begin(path_keys), std::end(path_keys)));

std::string plain_key(std::string_view key) {
  constexpr std::size_t key_bytes_max = 32;
  std::string out;
  for (const char c : first_bytes(key, key_bytes_max))
    if (c != '_' && c != '-') out += to_lower(c);
  return out;
}

bool runs_commands(std::string_view tool) {
  const std::string name = lower(first_bytes(tool, tool_name_bytes_max));
  for (const std::string_view word : {"bash", "shell", "terminal", "exec", "command", "powershell"})
    if (name.find(word) != name.npos) return true;
  return false;
}

// Marks of lists, headings and quotes.
std::string_view without_markdown(std::string_view line) {
  line = trim(line);
  while (line.starts_with('#') || line.starts_with('>')) line = trim(line.substr(1));
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) line = trim(line.substr(2));
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  if (digits > 0 && digits < 4 && (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") ")))
    line = trim(line.substr(digits + 2));
  return line;
}

bool is_question(std::string_view sentence) {
  while (!sentence.empty() && std::string_view("\"')* ").find(sentence.back()) != std::string_view::npos) sentence.remove_suffix(1);
  constexpr std::size_t question_bytes_min = 6;
  if (sentence.size() < question_bytes_min) return false;
  if (sentence.ends_with("？")) return true;
  return sentence.ends_with('?') && (sentence.find(' ') != sentence.npos ||
                                     std::any_of(sentence.begin(), sentence.end(), [](char c) { return !is_ascii(c); }));
}

}  // namespace

void Reader::read(const Message& message, Origin origin) {
  ++messages_;
  const MessageReading reading(message);
  const std::vector<Block>& blocks = reading.turn().blocks;
  // One message is one request, however many parts it has.
  std::string said;
  for (const Block& block : blocks) {
    if (block.kind != BlockKind::text) continue;
    if (!said.empty()) said += '\n';
    said += decoded(block.text);
  }
  read_prose(said, message.role(), origin);
  for (const Block& block : blocks) {
    if (block.kind != BlockKind::call) continue;
    JsonText arguments;
    const bool has_arguments =
        !block.json.empty() && !arguments.read(block.json, {.depth = std::numeric_limits<std::uint32_t>::max()});
    const JsonValue root = arguments.root();
    read_call(block.name, has_arguments ? &root : nullptr);
  }
  const auto read_result = [this](std::string_view body) {
    read_printed(decoded(body), 0);
    return true;
  };
  for (const Block& block : blocks) {
    if (block.kind != BlockKind::result) continue;
    visit_texts(block, read_result);
    if (!block.is_list && !block.json.empty()) read_printed(block.json, 0);
  }
}

void Reader::finish() {
  for (const std::string& question : asked_by_user_) findings_.add(Kind::open_question, question, Voice::spoken);
  for (const std::string& question : asked_by_assistant_) findings_.add(Kind::open_question, question, Voice::spoken);
  asked_by_user_.clear();
  asked_by_assistant_.clear();
}

void Reader::read_prose(std::string_view utf8, Role speaker, Origin origin) {
  const std::string text = clean(utf8);
  if (trim(text).empty()) return;
  if (origin == Origin::summary && read_earlier_digest(text, speaker)) return;
  if (speaker == Role::user) {
    for (const std::string& question : asked_by_assistant_) findings_.add(Kind::answered_question, question, Voice::spoken);
    asked_by_assistant_.clear();
    findings_.add_request(one_line(text));
  } else if (speaker == Role::assistant) {
    asked_by_user_.clear();  // they stand among the requests
    findings_.set_last_reply(one_line(text));
  }
  read_lines(text, speaker);
}

void Reader::read_lines(std::string_view text, Role speaker) {
  ErrorReader errors(findings_);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at), mark = trim(line);
    at = end + 1;
    if (!mark.starts_with("```") && !mark.starts_with("~~~")) {
      read_line(line, speaker, errors);
      continue;
    }
    const std::string_view fence = mark.substr(0, 3);
    std::string_view language = mark.substr(std::min(mark.find_first_not_of(mark[0]), mark.size()));
    language = language.substr(0, language.find_first_of(" {:,"));
    const std::size_t body = std::min(at, text.size());
    std::size_t body_end = body;
    while (at < text.size()) {
      const std::size_t inner_end = std::min(text.find('\n', at), text.size());
      const bool closes = trim(text.substr(at, inner_end - at)).starts_with(fence);
      at = inner_end + 1;
      if (closes) break;
      body_end = inner_end;
    }
    read_code_block(language, text.substr(body, body_end - body), errors);
  }
}

void Reader::read_code_block(std::string_view language, std::string_view body, ErrorReader& errors) {
  read_places(body, Voice::spoken);
  const bool shell = is_in(language, shells);
  if (!shell && !language.empty() && !is_in(language, printed_languages)) return;
  bool prompts = false;
  for_each_line(body, [&prompts](std::string_view line) { prompts = prompts || after_prompt(line); });
  if (shell && !prompts) return add_script(body, Voice::spoken, findings_);
  for_each_line(body, [&](std::string_view line) {
    if (const std::optional<std::string_view> command = after_prompt(line)) {
      add_command(*command, Voice::spoken, findings_);
    } else if (!prompts && language.empty() && is_command(line)) {
      add_command(line, Voice::spoken, findings_);
    } else {
      find_cues(line, cues_);
      errors.read(line, cues_, Voice::printed);
      find_numbers(line, Voice::spoken, findings_);
    }
  });
}

void Reader::read_line(std::string_view line, Role speaker, ErrorReader& errors) {
  find_places(line, Voice::spoken, findings_);
  if (const std::optional<std::string_view> command = after_prompt(line)) return add_command(*command, Voice::spoken, findings_);
  for (std::size_t open = line.find('`'); open != line.npos;) {
    const std::size_t close = line.find('`', open + 1);
    if (close == line.npos) break;
    const std::string_view code = line.substr(open + 1, close - open - 1);
    if (is_command(code)) add_command(code, Voice::spoken, findings_);
    open = line.find('`', close + 1);
  }
  find_numbers(line, Voice::spoken, findings_);
  find_cues(line, cues_);
  errors.read(line, cues_, Voice::spoken);
  read_sentences(line, speaker);
}

// Questions, and decisions: the sentences with a cue of one. A question is no decision.
void Reader::read_sentences(std::string_view line, Role speaker) {
  std::size_t cue = 0, previous = 0;  // where the sentence before begins
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::max(sentence_end(line, at), at + 1);
    std::string_view sentence = without_markdown(line.substr(at, end - at));
    bool decides = false;
    for (; cue < cues_.size() && cues_[cue].end <= end; ++cue) decides = decides || cues_[cue].rule == CueRule::decision;
    const bool asks = is_question(sentence);
    if (asks && sentence.size() < short_question_bytes && end - previous <= sentence_bytes_max)
      sentence = without_markdown(line.substr(previous, end - previous));
    previous = std::exchange(at, end);
    if (!asks && !decides) continue;
    const std::string kept = shorten_end(sentence, sentence_bytes_max);
    if (!asks) {
      findings_.add(Kind::decision, kept, Voice::spoken);
    } else if (speaker == Role::user) {
      asked_by_user_.push_back(kept);
    } else if (speaker == Role::assistant) {
      asked_by_assistant_.push_back(kept);
    }
  }
}

// A digest is no text to be quoted in the next one: what it kept is kept again, under the same headings.
bool Reader::read_earlier_digest(std::string_view text, Role speaker) {
  constexpr std::size_t title_within_bytes = 512;  // something may introduce it
  std::size_t at = 0;
  std::optional<std::uint64_t> messages;
  while (!messages && at < std::min(text.size(), title_within_bytes)) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    messages = messages_of_title(trim(text.substr(at, end - at)));
    at = end + 1;
  }
  if (!messages) return false;
  messages_ += *messages > 0 ? *messages - 1 : 0;
  ErrorReader errors(findings_);
  std::optional<Section> section;
  for_each_line(text.substr(std::min(at, text.size())), [&](std::string_view line) {
    line = trim(line);
    if (const std::optional<Section> next = section_headed(line)) {
      section = next;
    } else if (section && line.size() > 2 && (line.starts_with("- ") || *section == Section::requests)) {
      read_digest_line(*section, line);
    } else if (!messages_of_title(line)) {
      read_line(line, speaker, errors);
    }
  });
  return true;
}

void Reader::read_digest_line(Section section, std::string_view line) {
  if (section == Section::requests) {
    const std::size_t open = line.find('"');
    if (open != line.npos && open + 2 < line.size() && line.ends_with('"'))
      findings_.add_request(std::string(line.substr(open + 1, line.size() - open - 2)));
    return;
  }
  line = trim(line.substr(2));
  const auto keep = [this, line](Kind kind) { findings_.add(kind, line, Voice::spoken); };
  switch (section) {
    case Section::requests: break;
    case Section::open_questions: asked_by_assistant_.emplace_back(line); break;
    case Section::decisions: keep(Kind::decision); break;
    case Section::errors: add_error(line, Voice::spoken, findings_); break;
    case Section::files: keep(Kind::file); break;
    case Section::commands: keep(Kind::command); break;
    case Section::urls: keep(Kind::url); break;
    case Section::answered_questions: keep(Kind::answered_question); break;
    case Section::numbers: keep(Kind::number); break;
    case Section::last_reply: findings_.set_last_reply(std::string(line)); break;
    case Section::tools: {
      constexpr std::string_view times = " ×";
      constexpr std::size_t digits_max = 12;
      const std::size_t found = line.rfind(times);
      if (found == line.npos) break;
      std::uint64_t count = 0;
      for (const char c : line.substr(found + times.size()).substr(0, digits_max))
        count = is_digit(c) ? count * 10 + static_cast<std::uint64_t>(c - '0') : count;
      findings_.add_tool_calls(line.substr(0, found), count);
      break;
    }
  }
}

void Reader::read_printed(std::string_view utf8, unsigned depth) {
  const std::string_view body = trim(utf8);
  if (depth < encoded_depth_max && (body.starts_with('{') || body.starts_with('['))) {
    JsonText json;
    if (!json.read(body, {.depth = depth_max})) return read_printed_value({}, json.root(), depth + 1);
  }
  const std::string text = clean(utf8);
  ErrorReader errors(findings_);
  for_each_line(text, [&](std::string_view line) { read_printed_line(line, errors, Voice::printed); });
}

void Reader::read_printed_line(std::string_view line, ErrorReader& errors, Voice voice) {
  find_places(line, voice, findings_);
  if (const std::optional<std::string_view> command = after_prompt(line)) return add_command(*command, voice, findings_);
  // Such as make prints them. An option tells them from sentences.
  if (line.substr(0, echo_bytes_max).find(" -") != line.npos && is_command(line)) add_command(line, voice, findings_);
  find_numbers(line, voice, findings_);
  find_cues(line, cues_);
  errors.read(line, cues_, Voice::printed);
}

void Reader::read_printed_value(std::string_view key, const JsonValue& value, unsigned depth) {
  const std::string plain = plain_key(key);
  switch (value.type()) {
    case JsonType::string: {
      const std::string text = value.string();
      const std::string line = clean(text);
      if (is_in(plain, error_keys) && !trim(line).empty()) add_error(line.substr(0, line.find('\n')), Voice::printed, findings_);
      if (is_in(plain, path_keys) && is_named_path(line)) {
        findings_.add(Kind::file, trim(line), Voice::printed);
      } else {
        read_printed(text, depth);
      }
      break;
    }
    case JsonType::number: {
      const std::int64_t number = value.int64().value_or(0);
      const bool failed = (is_in(plain, exit_keys) && number != 0) || (is_in(plain, status_keys) && number >= 400 && number <= 599);
      if (failed) add_error(clean(key) + " " + std::to_string(number), Voice::printed, findings_);
      break;
    }
    case JsonType::array:
      for (const JsonValue element : value.elements()) read_printed_value(key, element, depth);
      break;
    case JsonType::object:
      for (const JsonMember member : value.members()) read_printed_value(member.key.string(), member.value, depth);
      break;
    case JsonType::null:
    case JsonType::boolean: break;
  }
}

void Reader::read_call(std::string_view name, const JsonValue* arguments) {
  const std::string tool = one_line(clean(first_bytes(name, tool_name_bytes_max)));
  if (!tool.empty()) findings_.add_tool_calls(tool, 1);
  if (arguments == nullptr) return;
  if (!arguments->is(JsonType::string)) return read_argument(tool, {}, *arguments, 0);
  const std::string text = arguments->string();
  JsonText json;
  if (!json.read(text, {.depth = depth_max})) return read_argument(tool, {}, json.root(), 0);
  read_argument_text(tool, "input", clean(text));  // not JSON after all
}

void Reader::read_argument(std::string_view tool, std::string_view key, const JsonValue& value, unsigned depth) {
  if (depth > depth_max) return;
  if (value.is(JsonType::string)) return read_argument_text(tool, key, clean(value.string()));
  if (value.is(JsonType::object))
    for (const JsonMember member : value.members()) read_argument(tool, member.key.string(), member.value, depth + 1);
  if (!value.is(JsonType::array)) return;
  if (!is_in(plain_key(key), command_keys) || plain_key(key) == "commands") {
    for (const JsonValue element : value.elements()) read_argument(tool, key, element, depth + 1);
    return;
  }
  // A command in words: ["bash", "-lc", "make test"] or ["git", "log"].
  std::vector<std::string> words;
  for (const JsonValue element : value.elements())
    if (element.is(JsonType::string)) words.push_back(clean(element.string()));
  if (words.size() == 3 && words[1].starts_with('-') && words[1].ends_with('c')) return read_argument_text(tool, key, words[2]);
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  read_argument_text(tool, key, command);
}

void Reader::read_argument_text(std::string_view tool, std::string_view key, std::string_view text) {
  const std::string plain = plain_key(key);
  if (is_in(plain, path_keys) && is_named_path(trim(text))) return findings_.add(Kind::file, trim(text), Voice::spoken);
  read_places(text, Voice::spoken);
  if (plain == "sql") {
    add_command(text, Voice::spoken, findings_);
  } else if (is_in(plain, command_keys) || (runs_commands(tool) && (plain == "input" || plain == "code" || plain == "script")) ||
             (plain == "script" && is_command(text.substr(0, text.find('\n'))))) {
    add_script(text, Voice::spoken, findings_);
  }
}

void Reader::read_places(std::string_view text, Voice voice) {
  for_each_line(text, [&](std::string_view line) { find_places(line, voice, findings_); });
}

}  // namespace undertext::digest
