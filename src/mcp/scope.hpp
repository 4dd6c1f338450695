// The conversations that a client of the Model Context Protocol may look into.
//
// A project is what the setting `project` of a conversation says, mostly a folder: `undertext wrap`
// sets it to the folder that it runs in. A scope is a project, one conversation, or all
// conversations of a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>
#include <undertext/store_recall.hpp>

namespace undertext {

struct McpScope {
  std::shared_ptr<Store> store;
  // Opens one that is there, with the settings it was made with. May throw Failure.
  std::function<std::shared_ptr<Conversation>(const std::string& id)> open;
  std::optional<std::string> project = {};       // only conversations of this project
  std::optional<std::string> conversation = {};  // only this one
  // Searches all conversations of the store. Null: a search looks into the last ones that were
  // changed.
  std::shared_ptr<StoreRecall> recall = {};
};

struct ScopedConversation {
  std::string id;
  std::int64_t updated_at_ms = 0;
};

// All of these may throw Failure.

// Those of the scope beyond the id `after`, by id: at most `limit`.
std::vector<ScopedConversation> list_scope(const McpScope& scope, const std::string& after,
                                           std::size_t limit);
// The most recently changed of the scope, the newest first.
std::vector<ScopedConversation> newest_of_scope(const McpScope& scope, std::size_t limit);
// The messages of the scope that fit a search best, the best first: of at most so many
// conversations.
std::vector<StoreFound> best_of_scope(const McpScope& scope, StoreRecallQuery query,
                                      std::size_t conversations_max,
                                      const std::shared_ptr<Work>& work = {});
// not_found: there is none of this id in the scope. One outside of it is none.
std::shared_ptr<Conversation> open_in_scope(const McpScope& scope, const std::string& id);

}  // namespace undertext
