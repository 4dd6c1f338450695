#include <charconv>
#include <iterator>
#include <utility>

#include <undertext/store.hpp>

#include "cli/command.hpp"
#include "cli/desk.hpp"

namespace undertext {

std::vector<Command> all_commands() {
  std::vector<Command> all;
  for (const auto& group :
       {store_commands, editing_commands, reading_commands, eval_commands, request_commands,
        ledger_commands, removing_commands, transfer_commands, session_commands, dialect_commands,
        program_commands, serve_commands, gateway_commands, mcp_commands, shell_commands}) {
    std::vector<Command> some = group();
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return all;
}

void declare_url(Arguments& arguments, Common& common) {
  arguments.add(
      {"--store", &common.store,
       "sqlite:PATH, postgres://… or memory: (default: $UNDERTEXT_STORE, or a file of the user's)",
       "URL"});
  declare_models(arguments, common.models);
}

void declare_models(Arguments& arguments, std::optional<std::string>& models) {
  arguments.add(
      {"--models", &models, "Custom models, over those of the table: docs/models.md", "FILE"});
}

void declare_tenant(Arguments& arguments, Common& common) {
  arguments.add(
      {"--tenant", &common.tenant,
       "The tenant whose conversations are used, in a store with tenants (default: the operator's)",
       "TENANT"});
}

void declare_store(Arguments& arguments, Common& common) {
  declare_url(arguments, common);
  declare_tenant(arguments, common);
  arguments.add({"--json", &common.json, "Answer in JSON, errors too"});
}

void declare_conversation(Arguments& arguments, Common& common) {
  declare_store(arguments, common);
  arguments.add({"-c,--conversation", &common.conversation,
                 "The conversation (default: $UNDERTEXT_CONVERSATION, or \"default\")", "ID"});
}

void declare_placed_conversation(Arguments& arguments, Common& common) {
  declare_conversation(arguments, common);
  arguments.add({"CONVERSATION", &common.conversation, "The conversation"});
}

void declare_words(Arguments& arguments, Common& common, Words& words, std::string help) {
  declare_conversation(arguments, common);
  arguments.add({"CONVERSATION", &words.first, "The conversation, if -c is not given"});
  arguments.add({words.name, &words.rest, std::move(help)});
}

namespace {

std::optional<std::uint64_t> as_number(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return {};
  return number;
}

}  // namespace

std::vector<std::string> Words::taken(Common& common) const {
  std::vector<std::string> words;
  if (first) words.push_back(*first);
  words.insert(words.end(), rest.begin(), rest.end());
  const bool may_be_conversation =
      !common.conversation && words.size() > needed && is_conversation_id(words.front());
  if (may_be_conversation &&
      (words.size() > taken_max || !are_numbers || !as_number(words.front()))) {
    common.conversation = words.front();
    words.erase(words.begin());
  }
  if (words.size() < needed)
    fail(ErrorCode::invalid_argument, name + " is required (see --help)", name);
  if (words.size() > taken_max) {
    fail(ErrorCode::invalid_argument,
         "\"" + words[taken_max] + "\" is one argument too many (see --help)", name);
  }
  return words;
}

std::vector<std::uint64_t> Words::numbers(Common& common) const {
  std::vector<std::uint64_t> numbers;
  for (const std::string& word : taken(common)) {
    const std::optional<std::uint64_t> number = as_number(word);
    if (!number)
      fail(ErrorCode::invalid_argument, name + " is a number, not \"" + word + "\"", name);
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace undertext
