#include "transfer/transcript.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "message/read_fields.hpp"
#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::array<std::string_view, 5> format_names = {"messages", "codex", "claude-code", "pi",
                                                          "opencode"};  // in the order of the enum

bool is_blank_line(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Error at_line(Error error, std::uint64_t number) {
  error.message = "line " + std::to_string(number) + ": " + error.message;
  return error;
}

bool has_tool_calls(JsonValue message) {
  for (const JsonMember member : message.members())
    if (names_tool_calls(member.key)) return true;
  return false;
}

// A message as a provider takes it. An assistant's may come without content beside its tool calls.
Result<Message> read_message(JsonValue value, const MessageLimits& limits) {
  if (!value.is(JsonType::object))
    return Error{ErrorCode::invalid_argument, "a message must be an object"};
  if (!value.find("content") && has_tool_calls(value)) {
    std::string json = R"({"content":null)";
    for (const JsonMember member : value.members()) {
      ((json += ',') += member.key.raw()) += ':';
      json += member.value.raw();
    }
    return Message::parse(json + "}", limits);
  }
  return Message::parse(value.raw(), limits);
}

std::optional<Error> read_list(ImportedTranscript& transcript, JsonValue list,
                               const MessageLimits& limits) {
  if (!list.is(JsonType::array))
    return Error{ErrorCode::invalid_argument, "must be a list of messages", "messages"};
  std::size_t place = 0;
  for (const JsonValue element : list.elements()) {
    Result<Message> message = read_message(element, limits);
    if (!message) {
      message.error().message = "message " + std::to_string(place) + ": " + message.error().message;
      return std::move(message.error());
    }
    transcript.messages.push_back(std::move(*message));
    ++place;
  }
  return {};
}

// The body of a request: Anthropic's has the system prompt beside the messages.
std::optional<Error> read_body(ImportedTranscript& transcript, JsonValue body,
                               const MessageLimits& limits) {
  if (const std::optional<JsonValue> system = body.find("system");
      system && !system->string_is("") && !(system->is(JsonType::array) && system->empty())) {
    Result<Message> message =
        Message::parse(R"({"role":"system","content":)" + std::string(system->raw()) + "}", limits);
    if (!message) return std::move(message.error());
    transcript.messages.push_back(std::move(*message));
  }
  for (const JsonMember member : body.members()) {
    if (!member.key.string_is("messages") && !member.key.string_is("system"))
      ++transcript.left_out[member.key.string() + " of the request"];
  }
  return read_list(transcript, *body.find("messages"), limits);
}

struct Lines {
  std::string_view rest;
  std::uint64_t number = 0;

  // The next line that is not blank; empty at the end.
  std::string_view next() {
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      ++number;
      if (!is_blank_line(line)) return line;
    }
    return {};
  }
};

// Session files are told by the first lines that either program would write.
TranscriptFormat format_of_lines(std::string_view text, const JsonLimits& depth) {
  Lines lines{text};
  for (int tries = 0; tries < 20; ++tries) {
    const std::string_view line = lines.next();
    const Result<JsonText> json = JsonText::parse(line, depth);
    if (line.empty() || !json) break;
    if (is_pi_line(json->root())) return TranscriptFormat::pi;
    if (is_opencode_line(json->root())) return TranscriptFormat::opencode;
    if (is_claude_code_line(json->root())) return TranscriptFormat::claude_code;
    if (is_codex_line(json->root())) return TranscriptFormat::codex;
  }
  return TranscriptFormat::messages;
}

}  // namespace

std::string_view name(TranscriptFormat format) {
  return format_names[static_cast<std::size_t>(format)];
}

std::optional<TranscriptFormat> transcript_format_named(std::string_view name) {
  const auto found = std::find(format_names.begin(), format_names.end(), name);
  if (found == format_names.end()) return {};
  return static_cast<TranscriptFormat>(found - format_names.begin());
}

bool are_message_lines(std::string_view first_lines, std::optional<TranscriptFormat> format) {
  const JsonLimits depth{MessageLimits().depth + 8};
  Lines lines{first_lines};
  const Result<JsonText> first = JsonText::parse(lines.next(), depth);
  if (!first || !first->root().is(JsonType::object) || lines.next().empty()) return false;
  return format.value_or(format_of_lines(first_lines, depth)) == TranscriptFormat::messages;
}

Result<std::optional<Message>> read_message_line(std::string_view line, std::uint64_t number,
                                                 const MessageLimits& limits) {
  if (is_blank_line(line)) return std::optional<Message>();
  const Result<JsonText> json = JsonText::parse(line, {limits.depth + 8});
  if (!json) return at_line(json.error(), number);
  Result<Message> message = read_message(json->root(), limits);
  if (!message) return at_line(std::move(message.error()), number);
  return std::optional(std::move(*message));
}

struct TranscriptReader::Rep {
  using Sidechains = ClaudeCodeReader::Sidechains;

  Rep(TranscriptFormat format, const MessageLimits& given, Sidechains sidechains)
      : limits(given),
        transcript{format},
        codex(transcript, limits),
        claude_code(transcript, limits, sidechains),
        pi(transcript, limits),
        opencode(transcript, limits) {}

  std::optional<Error> read(std::string_view text);
  std::optional<Error> read_line(JsonValue root);

  const MessageLimits limits;
  ImportedTranscript transcript;
  CodexReader codex;
  ClaudeCodeReader claude_code;
  PiReader pi;
  OpencodeReader opencode;
  std::uint64_t lines = 0;  // that were read before
};

std::optional<Error> TranscriptReader::Rep::read_line(JsonValue root) {
  if (transcript.format == TranscriptFormat::messages) {
    Result<Message> message = read_message(root, limits);
    if (!message) return std::move(message.error());
    transcript.messages.push_back(std::move(*message));
    return {};
  }
  if (!root.is(JsonType::object)) return Error{ErrorCode::invalid_argument, "is no object"};
  if (transcript.format == TranscriptFormat::codex) {
    codex.read(root);
  } else if (transcript.format == TranscriptFormat::pi) {
    pi.read(root);
  } else if (transcript.format == TranscriptFormat::opencode) {
    opencode.read(root);
  } else {
    claude_code.read(root);
  }
  return {};
}

std::optional<Error> TranscriptReader::Rep::read(std::string_view text) {
  Lines rest{text, lines};
  for (;;) {
    const std::string_view line = rest.next();
    if (line.empty()) break;
    const Result<JsonText> json = JsonText::parse(line, {limits.depth + 8});
    if (!json) {
      // The last line of a program that was killed.
      if (is_blank_line(rest.rest) && transcript.format != TranscriptFormat::messages) {
        ++transcript.left_out["a last line that is cut off"];
        break;
      }
      return at_line(json.error(), rest.number);
    }
    if (std::optional<Error> error = read_line(json->root()))
      return at_line(std::move(*error), rest.number);
  }
  lines = rest.number;
  return {};
}

TranscriptReader::TranscriptReader(TranscriptFormat format, const MessageLimits& limits)
    : rep_(std::make_unique<Rep>(format, limits, Rep::Sidechains::left_out)) {}
TranscriptReader::~TranscriptReader() = default;

std::optional<Error> TranscriptReader::read(std::string_view text) {
  const bool is_first = rep_->lines == 0;
  if (std::optional<Error> error = rep_->read(text)) return error;
  const bool has_sidechain = rep_->transcript.left_out.contains(std::string(sidechain));
  if (!is_first || !has_sidechain || !rep_->transcript.messages.empty()) return {};
  rep_ = std::make_unique<Rep>(rep_->transcript.format, rep_->limits, Rep::Sidechains::taken);
  return rep_->read(text);
}

ImportedTranscript TranscriptReader::transcript() const { return rep_->transcript; }

Result<ImportedTranscript> read_transcript(std::string_view text,
                                           std::optional<TranscriptFormat> format,
                                           const MessageLimits& limits) {
  if (is_blank_line(text)) return Error{ErrorCode::invalid_argument, "there is nothing in it"};
  const JsonLimits depth{limits.depth + 8};
  const bool is_one_value =
      !format || *format == TranscriptFormat::messages || *format == TranscriptFormat::opencode;
  // One line that is a message, or a session's only line, is read as lines are.
  if (is_one_value) {
    const Result<JsonText> whole = JsonText::parse(text, depth);
    if (whole && format.value_or(TranscriptFormat::opencode) == TranscriptFormat::opencode &&
        is_opencode_export(whole->root())) {
      TranscriptReader reader(TranscriptFormat::opencode, limits);
      if (std::optional<Error> error = reader.read(without_whitespace(text)))
        return std::move(*error);
      return reader.transcript();
    }
    const bool list = whole && whole->root().is(JsonType::array);
    const bool body = whole && whole->root().is(JsonType::object) && whole->root().find("messages");
    if (list || body) {
      ImportedTranscript transcript;
      std::optional<Error> error = list ? read_list(transcript, whole->root(), limits)
                                        : read_body(transcript, whole->root(), limits);
      if (error) return std::move(*error);
      return transcript;
    }
    if (whole && whole->root().is(JsonType::object) && whole->root().find("role")) {
      Result<Message> message = read_message(whole->root(), limits);
      if (!message) return message.error();
      return ImportedTranscript{.messages = {std::move(*message)}};
    }
  }
  TranscriptReader reader(format.value_or(format_of_lines(text, depth)), limits);
  if (std::optional<Error> error = reader.read(text)) return std::move(*error);
  return reader.transcript();
}

}  // namespace undertext
