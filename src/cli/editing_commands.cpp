// append, edit, rollback, undo, redo, fork, merge, compress: changing a conversation.
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/editor.hpp"
#include "cli/line_reader.hpp"
#include "json/answer_json.hpp"
#include "json/operation_json.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

// What every operation may carry.
struct OperationGiven : Common {
  std::string description, operation_id;
  std::optional<std::uint64_t> expected_version;

  OperationOptions options() const {
    OperationOptions options;
    if (expected_version) options.expected_version = Version(*expected_version);
    options.description = description;
    options.operation_id = operation_id;
    return options;
  }
};

void declare_operation(Arguments& arguments, OperationGiven& given) {
  arguments.add({"-m,--description", &given.description, "Why, for the log", "TEXT"});
  arguments.add({"--expected-version", &given.expected_version,
                 "Change nothing (conflict) unless the head is this version", "V"});
  arguments.add({"--operation-id", &given.operation_id,
                 "Repeating an id returns the first answer and changes nothing", "ID"});
}

void report(Desk& desk, const OperationGiven& given, const Outcome& outcome) {
  if (given.json) {
    std::string out;
    append_answer(out, outcome);
    return desk.put_json(std::move(out));
  }
  Line line;
  line.add("v" + std::to_string(outcome.version.value), {.bold = true})
      .add("  " + outcome.operation);
  line.add("  batch " + std::to_string(outcome.affected_batch_index.value));
  line.add("  " + std::to_string(outcome.stats.current_batch_messages) +
           (outcome.stats.current_batch_messages == 1 ? " message, " : " messages, ") +
           std::to_string(outcome.stats.tokens) + " tokens");
  desk.screen().print(line);
  for (const Warning& warning : outcome.warnings) {
    desk.note(std::string(name(warning.code)) + ": #" + std::to_string(warning.ordinal.value) +
              " " + warning.tool_call_id);
  }
  for (const Event& event : outcome.events) {
    desk.note(std::string(name(event.type)) +
              (event.error ? ": " + event.error->message : std::string()));
  }
}

void apply(Desk& desk, const OperationGiven& given, Conversation& conversation,
           Operation::What what) {
  report(desk, given, conversation.apply({std::move(what), given.options()}).value());
}

// One message, or a list of them.
std::vector<Message> messages_of(std::string_view json, const MessageLimits& limits) {
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '[')
    return {Message::parse(json, limits).value()};
  const JsonText text = JsonText::parse(json, {.depth = limits.depth + 1}).value();
  std::vector<Message> messages;
  for (const JsonValue element : text.root().elements())
    messages.push_back(Message::parse(element.raw(), limits).value());
  return messages;
}

struct AppendOptions : OperationGiven {
  Words words{.name = "MESSAGE", .taken_max = std::numeric_limits<std::size_t>::max()};
  std::vector<std::string> texts;
  std::optional<std::string> role;
  bool make = false;
};

// Every line is an operation of its own, and lasts once it is answered.
int append_lines(Desk& desk, const AppendOptions& given, Conversation& conversation) {
  LineReader reader(standard_input, std::uint64_t{256} << 20);
  for (std::uint64_t number = 1;; ++number) {
    switch (reader.next()) {
      case LineReader::Got::end: return 0;
      case LineReader::Got::failed: fail(ErrorCode::unavailable, "standard input cannot be read");
      case LineReader::Got::too_long:
        fail(ErrorCode::too_large, "line " + std::to_string(number) + " is too long");
      case LineReader::Got::line: break;
    }
    if (reader.line().find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      apply(desk, given, conversation,
            op::Append{messages_of(reader.line(), conversation.settings().limits.message)});
    } catch (const Failure& failure) {
      Error error = failure.error();
      error.message = "line " + std::to_string(number) + ": " + error.message;
      throw Failure(std::move(error));
    }
  }
}

// A file that a loop of the shell reads line by line was begun, and is not meant for this command.
bool is_file_given() {
  const std::optional<FileStatus> input = status_of(standard_input);
  return input && input->is_regular && input->size_bytes > 0 && is_at_begin(standard_input);
}

// One word is a text, which may have been meant as the conversation that standard input goes to.
void refuse_what_is_unclear(Desk& desk, const AppendOptions& given) {
  const std::string& text = given.texts.front();
  const bool may_be_id = given.texts.size() == 1 && !given.conversation && is_conversation_id(text);
  if (is_file_given())
    fail(ErrorCode::invalid_argument,
         may_be_id ? "\"" + text + "\" is a text here, and standard input is a file: append " +
                         text + " - appends the file to conversation " + text
                   : "a text and a file as standard input are one too many: - appends the file",
         "message");
  if (!may_be_id) return;
  const Result<ConversationRecord> other = desk.store(given, Desk::Need::make)->find(text);
  if (!other) return;
  fail(ErrorCode::invalid_argument,
       "\"" + text + "\" is a conversation: append " + text +
           " - appends standard input to it, append -c " + desk.conversation_id(given) + " " +
           text + " this text to " + desk.conversation_id(given),
       "message");
}

int append(Desk& desk, const AppendOptions& given) {
  if (!given.texts.empty() && given.texts != std::vector<std::string>{"-"})
    refuse_what_is_unclear(desk, given);
  const bool make = given.make || desk.conversation_id(given) == "default";
  Conversation conversation = desk.conversation(given, make ? Desk::Need::make : Desk::Need::there);
  const MessageLimits& limits = conversation.settings().limits.message;
  const bool from_input = given.texts.empty() || (given.texts.size() == 1 && given.texts[0] == "-");
  if (from_input && !given.role) {
    if (!given.operation_id.empty())
      fail(ErrorCode::invalid_argument,
           "an operation id is for one operation, and every line is one", "operation-id");
    return append_lines(desk, given, conversation);
  }
  op::Append append;
  const std::vector<std::string> texts =
      from_input ? std::vector<std::string>{read_whole("-")} : given.texts;
  for (const std::string& text : texts) {
    if (!given.role && (text.starts_with('{') || text.starts_with('['))) {
      for (Message& message : messages_of(text, limits))
        append.messages.push_back(std::move(message));
    } else {
      append.messages.push_back(
          Message::make(*role_named(given.role.value_or("user")), text, limits).value());
    }
  }
  apply(desk, given, conversation, std::move(append));
  return 0;
}

Run declare_append(Arguments& arguments) {
  auto given = std::make_shared<AppendOptions>();
  declare_words(
      arguments, *given, given->words,
      "A text, a message as JSON, or - for one message as JSON a line from standard input");
  arguments.add({.names = "--role",
                 .to = &given->role,
                 .help = "The role of a text; without it, JSON is read as a message, and other "
                         "text is the user's",
                 .value = "ROLE",
                 .choices = {"system", "user", "assistant", "tool"}});
  arguments.add({"--new", &given->make, "Make the conversation if it does not exist"});
  declare_operation(arguments, *given);
  return [given](Desk& desk) {
    if (given->words.first) given->texts = given->words.taken(*given);
    return append(desk, *given);
  };
}

struct EditOptions : OperationGiven {
  Words words{.name = "INDEX", .are_numbers = true};
  std::uint64_t index = 0;
  std::optional<std::string> text, message;
};

// The message with another text as its content, all else being as it was.
Message with_content(const Message& message, std::string_view text, const MessageLimits& limits) {
  const JsonText json = JsonText::parse(message.json(), {.depth = limits.depth}).value();
  const std::optional<JsonValue> content = json.root().find("content");
  if (!content || !content->is(JsonType::string)) {
    fail(ErrorCode::invalid_argument,
         "its content is no plain text; give the whole message with --message", "text");
  }
  std::string changed(message.json().substr(0, content->offset()));
  append_json_string(changed, text);
  changed += message.json().substr(content->offset() + content->raw().size());
  return Message::parse(changed, limits).value();
}

int edit(Desk& desk, EditOptions& given) {
  Conversation conversation = desk.conversation(given);
  const History history = conversation.history();
  const MessageLimits& limits = conversation.settings().limits.message;
  if (given.index >= history.view().size()) {
    fail(ErrorCode::invalid_argument,
         "there is no message at index " + std::to_string(given.index) + "; the view has " +
             std::to_string(history.view().size()),
         "index");
  }
  const Message before = history.view()[given.index];
  const JsonText json = JsonText::parse(before.json(), {.depth = limits.depth}).value();
  const std::optional<JsonValue> content = json.root().find("content");
  const bool is_text = content && content->is(JsonType::string);
  if (!given.text && !given.message) {
    const std::string shown = is_text ? content->string() : std::string(before.json());
    const std::string edited = edited_by_user(shown, is_text ? ".md" : ".json");
    if (edited == shown) {
      desk.note("nothing was changed");
      return 0;
    }
    (is_text ? given.text : given.message) = edited;
  }
  Message after =
      given.message
          ? of_option("--message", [&] { return Message::parse(*given.message, limits).value(); })
          : with_content(before, *given.text, limits);
  // What was shown is what is changed.
  if (!given.expected_version) given.expected_version = history.version().value;
  apply(desk, given, conversation, op::Replace{Names::indices({given.index}), {std::move(after)}});
  return 0;
}

Run declare_edit(Arguments& arguments) {
  auto given = std::make_shared<EditOptions>();
  declare_words(arguments, *given, given->words, "Its index in the view, from 0");
  arguments.add(
      {"--text", &given->text, "The new text; without it, $VISUAL or $EDITOR is opened", "TEXT"});
  arguments.add({"--message", &given->message, "A whole message that replaces it", "JSON"});
  declare_operation(arguments, *given);
  return [given](Desk& desk) {
    given->index = given->words.numbers(*given).front();
    return edit(desk, *given);
  };
}

struct RollbackOptions : OperationGiven {
  Words words{.name = "BATCH", .are_numbers = true};
  std::optional<std::uint64_t> version;
};

Run declare_rollback(Arguments& arguments) {
  auto given = std::make_shared<RollbackOptions>();
  declare_words(arguments, *given, given->words, "A batch of the stack, from 0");
  arguments.add({.names = "--to-version",
                 .to = &given->version,
                 .help = "Make the state of version V current instead",
                 .value = "V",
                 .field = "version"});
  declare_operation(arguments, *given);
  return [given](Desk& desk) {
    // Whether there is a batch, besides the conversation, follows from --to-version: it is one of
    // the two.
    if (given->version) given->words.needed = 0;
    const std::vector<std::uint64_t> batch = given->words.numbers(*given);
    if (!batch.empty() && given->version)
      fail(ErrorCode::invalid_argument, "give a batch or --to-version, one of the two",
           "to-version");
    Conversation conversation = desk.conversation(*given);
    if (!given->version) {
      apply(desk, *given, conversation, op::Rollback{batch.front()});
    } else {
      apply(desk, *given, conversation, op::Restore{*given->version});
    }
    return 0;
  };
}

template <class What>
Run declare_plain(Arguments& arguments) {
  auto given = std::make_shared<OperationGiven>();
  declare_placed_conversation(arguments, *given);
  declare_operation(arguments, *given);
  return [given](Desk& desk) {
    Conversation conversation = desk.conversation(*given);
    apply(desk, *given, conversation, What{});
    return 0;
  };
}

struct ForkOptions : Common {
  Words words{.name = "NEW"};
  std::optional<std::uint64_t> version;
};

Run declare_fork(Arguments& arguments) {
  auto given = std::make_shared<ForkOptions>();
  declare_words(arguments, *given, given->words, "The fork's id");
  arguments.add({.names = "--at-version",
                 .to = &given->version,
                 .help = "Start at version V (default: the head)",
                 .value = "V",
                 .field = "version"});
  return [given](Desk& desk) {
    const std::string id = given->words.taken(*given).front();
    Conversation conversation = desk.conversation(*given);
    const Version version = given->version ? Version(*given->version) : conversation.version();
    const Conversation made = conversation.fork(version, id).value();
    if (given->json) {
      std::string out = R"({"ok":true,"result":{"conversation":)";
      append_json_string(out, made.id());
      desk.put_json(out + R"(,"version":)" + std::to_string(version.value) + "}}");
    } else {
      desk.say(made.id());
    }
    return 0;
  };
}

struct MergeGiven : OperationGiven {
  Words words{.name = "FORK"};
  std::optional<std::string> mode, summary;
  std::vector<std::uint64_t> ordinals;
};

Run declare_merge(Arguments& arguments) {
  auto given = std::make_shared<MergeGiven>();
  declare_words(arguments, *given, given->words, "The fork's id");
  arguments.add(
      {.names = "--mode",
       .to = &given->mode,
       .help = "A summary of it (default), its own messages, or those that --ordinals names",
       .value = "MODE",
       .choices = {"summary", "messages", "pick"}});
  arguments.add({"--ordinals", &given->ordinals, "Of messages in the fork's log", "N"});
  arguments.add(
      {"--summary", &given->summary, "What to append instead of the fork's last answer", "TEXT"});
  declare_operation(arguments, *given);
  return [given](Desk& desk) {
    op::MergeFork merge{given->words.taken(*given).front()};
    for (const MergeMode mode : {MergeMode::summary, MergeMode::messages, MergeMode::pick})
      if (given->mode && name(mode) == *given->mode) merge.mode = mode;
    if (!given->mode && !given->ordinals.empty()) merge.mode = MergeMode::pick;
    merge.ordinals = given->ordinals;
    Conversation conversation = desk.conversation(*given);
    if (given->summary)
      merge.summary =
          Message::make(Role::user, *given->summary, conversation.settings().limits.message)
              .value();
    apply(desk, *given, conversation, std::move(merge));
    return 0;
  };
}

struct CompressGiven : OperationGiven {
  std::optional<std::string> strategy;
  std::optional<std::uint64_t> tokens;
  bool progress = false;
};

int compress(Desk& desk, const CompressGiven& given) {
  Conversation conversation = desk.conversation(given);
  std::string line = R"({"operation":"COMPRESS","progress":)";
  line += given.progress ? "true" : "false";
  if (given.strategy) {
    line += R"(,"strategy":)";
    if (given.strategy->starts_with('{')) {
      line += *given.strategy;
    } else {
      append_json_string(line, *given.strategy);
    }
  }
  line += "}";
  const SpelledOperation spelled = of_option("--strategy", [&] {
    const JsonText text = JsonText::parse(line, {}).value();
    return read_operation(text.root(), conversation.settings()).value();
  });
  const CompressOptions options{.tokens_max = given.tokens,
                                .progress = spelled.compress_by.progress,
                                .operation = given.options()};
  report(desk, given, conversation.compress(*spelled.compress_by.strategy, options).value());
  return 0;
}

Run declare_compress(Arguments& arguments) {
  auto given = std::make_shared<CompressGiven>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"--strategy", &given->strategy,
                 "default, none, keep_recent, keep_system_and_recent, sliding_window, supersede, "
                 "dedupe, clear_tool_results, "
                 "smart_summary or "
                 "pipeline, by name or as JSON with its settings; without it, the conversation's",
                 "NAME"});
  arguments.add({"--target-tokens", &given->tokens, "Target tokens of the view", "N"});
  arguments.add(
      {"--progress", &given->progress, "Apply the best plan if the target cannot be reached"});
  declare_operation(arguments, *given);
  return [given](Desk& desk) { return compress(desk, *given); };
}

}  // namespace

std::vector<Command> editing_commands() {
  return {
      {"append", "Add messages to the end",
       "Examples:\n"
       "  undertext append \"Hello\"\n"
       "  undertext append support-17 \"Hello\"\n"
       "  undertext append --role assistant \"Hello. How can I help?\"\n"
       "  undertext append '{\"role\":\"user\",\"content\":\"Hello\"}'\n"
       "  undertext append - < messages.jsonl",
       declare_append},
      {"edit", "Replace a message; the old one stays in the log", "", declare_edit},
      {"rollback", "Go back to a batch, or to any version", "", declare_rollback},
      {"undo", "Undo the last operation", "", declare_plain<op::Undo>},
      {"redo", "Redo the last undone operation", "", declare_plain<op::Redo>},
      {"fork", "Make a conversation that shares this one's messages", "", declare_fork},
      {"merge", "Append what a fork achieved",
       "Examples:\n"
       "  undertext fork explore\n"
       "  undertext merge explore\n"
       "  undertext merge explore --mode messages",
       declare_merge},
      {"compress", "Compress the view by a strategy; nothing is lost", "", declare_compress},
  };
}

}  // namespace undertext
