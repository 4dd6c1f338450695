// mcp: conversations as tools and resources of the Model Context Protocol.
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/mcp_serving.hpp"
#include "system/files.hpp"
#include "system/signals.hpp"

namespace undertext {
namespace {

constexpr std::string_view mcp_help = R"(  claude mcp add undertext -- undertext mcp
  codex mcp add undertext -- undertext mcp

An agent starts it, and speaks the Model Context Protocol with it over standard input and output. Its model then has the tools context_search,
context_expand and context_status; with --allow-edits also context_pin, context_checkpoint, context_undo and context_show.

It looks into the conversations of a project: those whose setting `project` is the folder it runs in. `undertext wrap` sets it, and so does
--config '{"project":"FOLDER"}' of new, import and exec. --project names another one, --all takes all conversations of the store, -c only one.)";

struct McpGiven : Common {
  std::optional<std::string> project;
  bool all = false, edits = false;
};

// Of a folder its whole path, as `wrap` keeps it; anything else is a name.
std::string project_named(const std::string& given) {
  const std::string whole = whole_path(given);
  return whole.empty() ? given : whole;
}

Run declare_mcp(Arguments& arguments) {
  auto given = std::make_shared<McpGiven>();
  declare_url(arguments, *given);
  declare_tenant(arguments, *given);
  arguments.add({"-c,--conversation", &given->conversation, "Only this conversation", "ID"});
  arguments.add({"CONVERSATION", &given->conversation, "The same"});
  arguments.add({"--project", &given->project,
                 "Conversations of this project (default: the current folder)", "FOLDER"});
  arguments.add({"--all", &given->all, "All conversations of the store"});
  arguments.add({"--allow-edits", &given->edits,
                 "Also tools that change a conversation; nothing is lost by them"});
  return [given](Desk& desk) {
    if (given->all + given->project.has_value() + given->conversation.has_value() > 1)
      fail(ErrorCode::invalid_argument, "--all, --project and --conversation exclude each other",
           "all");
    const std::shared_ptr<Store> store = desk.store(*given, Desk::Need::make);
    const auto open = std::make_shared<KeptOpenConversations>(store);
    McpOptions options{
        .scope = {.store = store, .open = [open](const std::string& id) { return open->get(id); }},
        .tools = given->edits ? ContextTools::with_edits : ContextTools::reading};
    options.scope.conversation = given->conversation;
    options.scope.recall = std::make_shared<StoreRecall>(store);
    if (given->project) options.scope.project = project_named(*given->project);
    if (!given->all && !given->project && !given->conversation)
      options.scope.project = current_folder();
    ignore_broken_pipes();
    return serve_mcp(options, standard_input, standard_output);
  };
}

}  // namespace

std::vector<Command> mcp_commands() {
  return {{"mcp",
           "Let an agent search and read its conversations: a server of the Model Context Protocol",
           mcp_help, declare_mcp}};
}

}  // namespace undertext
