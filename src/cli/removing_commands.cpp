// redact, purge: taking bytes out for good.
#include <memory>
#include <string>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"

namespace undertext {
namespace {

struct RemovalGiven : Common {
  std::string why;
  std::optional<std::string> who;
  bool yes = false;

  Removal removal() const { return {who.value_or(user_name()), now_ms(), why}; }
};

void declare_removal(Arguments& arguments, RemovalGiven& given) {
  arguments.add(
      {.names = "--why", .to = &given.why, .help = "The reason, which stays on record", .value = "TEXT", .required = true});
  arguments.add({"--who", &given.who, "On whose account; the user's name unless told", "NAME"});
  arguments.add({"-y,--yes", &given.yes, "Do not ask"});
}

struct RedactOptions : RemovalGiven {
  std::vector<std::uint64_t> ordinals;
};

Run declare_redact(Arguments& arguments) {
  auto given = std::make_shared<RedactOptions>();
  declare_conversation(arguments, *given);
  arguments.add({.names = "ORDINAL", .to = &given->ordinals, .help = "Places in the log: the numbers after #", .required = true});
  declare_removal(arguments, *given);
  return [given](Desk& desk) {
    Conversation conversation = desk.conversation(*given);
    const std::string count = std::to_string(given->ordinals.size());
    if (!desk.confirm("The text of " + count + " messages of " + conversation.id() + " will be gone for good. Go on?", given->yes))
      return 1;
    std::vector<Ordinal> ordinals;
    for (const std::uint64_t ordinal : given->ordinals) ordinals.emplace_back(ordinal);
    if (std::optional<Error> error = conversation.redact(ordinals, given->removal())) throw Failure(std::move(*error));
    if (given->json) {
      desk.put_json(R"({"ok":true,"result":{"redacted":)" + count + "}}");
    } else {
      desk.say(count + (ordinals.size() == 1 ? " message redacted" : " messages redacted"));
    }
    return 0;
  };
}

struct PurgeOptions : RemovalGiven {
  std::string id;
};

Run declare_purge(Arguments& arguments) {
  auto given = std::make_shared<PurgeOptions>();
  declare_store(arguments, *given);
  arguments.add({.names = "CONVERSATION", .to = &given->id, .help = "Its id, which cannot be used again", .required = true});
  declare_removal(arguments, *given);
  return [given](Desk& desk) {
    const std::shared_ptr<Store> store = desk.store(*given);
    store->find(given->id).value();
    if (!desk.confirm("The conversation " + given->id + " will be gone for good, with its history. Go on?", given->yes)) return 1;
    if (std::optional<Error> error = store->purge(given->id, given->removal())) throw Failure(std::move(*error));
    if (given->json) {
      std::string out = R"({"ok":true,"result":{"purged":)";
      append_json_string(out, given->id);
      desk.put_json(out + "}}");
    } else {
      desk.say(given->id + " purged");
    }
    return 0;
  };
}

}  // namespace

std::vector<Command> removing_commands() {
  constexpr std::string_view copies =
      "Copies are not found: summaries, edited or merged messages, backups and exports. A stub with who, when, why and a digest "
      "stays.";
  return {
      {"redact", "Take the text of messages out for good", copies, declare_redact},
      {"purge", "Take a whole conversation out for good",
       "A record with who, when and why stays. A conversation that has forks is not purged.", declare_purge},
  };
}

}  // namespace undertext
