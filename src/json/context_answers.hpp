// What tools for models answer: texts, made of a conversation as it is now. Nothing here changes
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <undertext/context_tools.hpp>
#include <undertext/conversation.hpp>
#include <undertext/history.hpp>
#include <undertext/store_recall.hpp>

#include "json/context_calls.hpp"

namespace undertext {

// A conversation that a tool looks into. The id is given where there are several.
struct ContextSource {
  const Conversation& conversation;
  const History& history;
  std::string id = {};
  // by the model: then a search leaves out what is visible, unless it asks for all
  bool is_seen = true;
};

// All of these throw Failure.
// Of several sources: what has a message of `best` comes in the order of these, and then, as scores
// of different conversations say nothing about each other, the best of each, the second best of
// each, and so on.
std::string search_answer(std::span<const ContextSource> sources, const tool::Search& search,
                          std::span<const StoreFound> best = {});
std::string expand_answer(const ContextSource& source, const tool::Expand& expand);
std::string status_answer(const ContextSource& source);

// "0-3, 7".
std::string ordinal_ranges(std::span<const std::uint64_t> ordinals);

// What a call without edits answers. The call is not one that edits.
std::string read_answer(const ContextSource& source, const ContextCall& call);

// An error in words for a model.
ContextToolResult tool_error(const Error& error);

// As call_context_tool(), without edits and on a history that is at hand.
ContextToolResult call_reading_tool(const ContextSource& source, std::string_view name,
                                    std::string_view arguments_json);

// As call_context_tool(), of a call that was read. Throws Failure.
ContextToolResult carry_out_call(Conversation& conversation, const ContextCall& call,
                                 std::string_view id, const std::shared_ptr<Work>& work);

}  // namespace undertext
