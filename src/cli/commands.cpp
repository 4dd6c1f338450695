#include <iterator>
#include <utility>

#include "cli/command.hpp"

namespace undertext {

std::vector<Command> all_commands() {
  std::vector<Command> all;
  for (const auto& group : {store_commands, editing_commands, reading_commands, removing_commands, transfer_commands,
                            dialect_commands, program_commands, serve_commands, shell_commands}) {
    std::vector<Command> some = group();
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return all;
}

void declare_url(Arguments& arguments, Common& common) {
  arguments.add({"--store", &common.store,
                 "sqlite:PATH, postgres://… or memory:; $UNDERTEXT_STORE or a file of the user's unless told", "URL"});
  declare_models(arguments, common.models);
}

void declare_models(Arguments& arguments, std::optional<std::string>& models) {
  arguments.add({"--models", &models, "Models of your own, laid over the table: docs/models.md", "FILE"});
}

void declare_tenant(Arguments& arguments, Common& common) {
  arguments.add({"--tenant", &common.tenant,
                 "Whose conversations, of a store that a server shares among tenants; the operator's unless told", "TENANT"});
}

void declare_store(Arguments& arguments, Common& common) {
  declare_url(arguments, common);
  declare_tenant(arguments, common);
  arguments.add({"--json", &common.json, "Answer in JSON, errors too"});
}

void declare_conversation(Arguments& arguments, Common& common) {
  declare_store(arguments, common);
  arguments.add(
      {"-c,--conversation", &common.conversation, "Which conversation; $UNDERTEXT_CONVERSATION or \"default\" unless told", "ID"});
}

void declare_placed_conversation(Arguments& arguments, Common& common) {
  declare_conversation(arguments, common);
  arguments.add({"CONVERSATION", &common.conversation, "Which conversation"});
}

}  // namespace undertext
