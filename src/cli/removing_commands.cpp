// redact, purge: taking bytes out for good.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "json/answer_json.hpp"

namespace undertext {
namespace {

struct RemovalGiven : Common {
  std::string why;
  std::optional<std::string> who;
  bool yes = false;

  Removal removal() const { return {who.value_or(user_name()), now_ms(), why}; }
};

void declare_removal(Arguments& arguments, RemovalGiven& given) {
  arguments.add({.names = "--why",
                 .to = &given.why,
                 .help = "The reason, which stays on record",
                 .value = "TEXT",
                 .required = true});
  arguments.add({"--who", &given.who, "On whose account (default: the user's name)", "NAME"});
  arguments.add({"-y,--yes", &given.yes, "Do not ask"});
}

struct RedactGiven : RemovalGiven {
  Words words{
      .name = "ORDINAL", .taken_max = std::numeric_limits<std::size_t>::max(), .are_numbers = true};
  bool derived = false;
};

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// What was made from the messages, a line each.
std::vector<std::string> described(const Redaction& found, const std::string& here) {
  const auto of = [&](const std::string& id) { return id == here ? std::string() : " of " + id; };
  std::vector<std::string> lines;
  for (const Redaction::Derived& derived : found.derived)
    lines.push_back((derived.is_summary ? "summary #" : "copy #") +
                    std::to_string(derived.ordinal.value) + of(derived.conversation));
  for (const Redaction::Quoting& quoting : found.operations)
    lines.push_back("operation v" + std::to_string(quoting.version.value) +
                    of(quoting.conversation) + ", which quotes it");
  return lines;
}

int redact(Desk& desk, RedactGiven& given) {
  std::vector<Ordinal> ordinals;
  for (const std::uint64_t number : given.words.numbers(given)) ordinals.emplace_back(number);
  Conversation conversation = desk.conversation(given);
  const Redaction found = conversation.find_derived(ordinals).value();
  std::string question =
      "The text of " + plural(ordinals.size(), "message") + " of " + conversation.id();
  if (given.derived)
    question += ", and of what was derived (" +
                plural(found.derived.size() + found.operations.size(), "place") + "),";
  if (!desk.confirm(question + " will be deleted permanently. Go on?", given.yes)) return 1;
  const Redaction done =
      conversation.redact(ordinals, given.removal(), {.derived = given.derived}).value();
  if (given.json) {
    std::string out = R"({"ok":true,"result":)";
    append_json(out, done);
    desk.put_json(out + "}");
    return 0;
  }
  desk.say(plural(done.messages, "message") + " redacted");
  const std::vector<std::string> lines = described(done, conversation.id());
  if (lines.empty()) return 0;
  desk.say(
      given.derived
          ? "With them:"
          : "Their text may still be in what was derived from them; --derived redacts that, too:");
  for (const std::string& line : lines) desk.say("  " + line);
  return 0;
}

Run declare_redact(Arguments& arguments) {
  auto given = std::make_shared<RedactGiven>();
  declare_words(arguments, *given, given->words, "Ordinals: the numbers after #");
  arguments.add({"--derived", &given->derived,
                 "What was made from them, too: summaries, edited copies, texts of operations that "
                 "quote them; in forks as well"});
  declare_removal(arguments, *given);
  return [given](Desk& desk) { return redact(desk, *given); };
}

Run declare_purge(Arguments& arguments) {
  auto given = std::make_shared<RemovalGiven>();
  declare_store(arguments, *given);
  arguments.add(
      {"-c,--conversation", &given->conversation, "Its id, which cannot be used again", "ID"});
  arguments.add({"CONVERSATION", &given->conversation, "The same"});
  declare_removal(arguments, *given);
  return [given](Desk& desk) {
    // Never the one that happens to be the default.
    if (!given->conversation)
      fail(ErrorCode::invalid_argument, "say which conversation: CONVERSATION is required",
           "conversation");
    const std::string& id = *given->conversation;
    const std::shared_ptr<Store> store = desk.store(*given);
    store->find(id).value();
    if (!desk.confirm(
            "The conversation " + id + " will be deleted permanently, with its history. Go on?",
            given->yes))
      return 1;
    store->purge(id, given->removal()).value();
    if (given->json) {
      std::string out = R"({"ok":true,"result":{"purged":)";
      append_json_string(out, id);
      desk.put_json(out + "}}");
    } else {
      desk.say(id + " purged");
    }
    return 0;
  };
}

}  // namespace

std::vector<Command> removing_commands() {
  constexpr std::string_view copies =
      "A stub with who, when, why and a digest stays. Derived messages and operations are listed, "
      "and redacted with --derived.\n"
      "Backups and exports are not changed; nor are messages that say the same without being "
      "derived.";
  return {
      {"redact", "Delete the text of messages permanently", copies, declare_redact},
      {"purge", "Delete a whole conversation permanently",
       "A record with who, when and why stays. A conversation that has forks is not purged.",
       declare_purge},
  };
}

}  // namespace undertext
