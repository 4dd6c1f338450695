#include "mcp/scope.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/json_text.hpp"
#include "engine/durable.hpp"

namespace undertext {
namespace {

constexpr std::uint32_t records_a_page = 1000;

// What the settings of a conversation say, without reading the others of them.
bool is_of_project(const ConversationRecord& record, const std::string& project) {
  const std::string note = Durable::note_of(record);
  if (note.empty()) return false;
  const Result<JsonText> text = JsonText::parse(note, {});
  if (!text) return false;
  const std::optional<JsonValue> named = text->root().find("project");
  return named && named->is(JsonType::string) && named->string_is(project);
}

bool is_in_scope(const McpScope& scope, const ConversationRecord& record) {
  if (scope.conversation && record.id != *scope.conversation) return false;
  return !scope.project || is_of_project(record, *scope.project);
}

// Goes through the scope by id, until `take` answers false.
template <class Take>
void walk_scope(const McpScope& scope, std::string after, Take take) {
  if (scope.conversation) {
    if (*scope.conversation <= after) return;
    const Result<ConversationRecord> record = scope.store->find(*scope.conversation);
    if (record && is_in_scope(scope, *record)) take(*record);
    if (!record && record.error().code != ErrorCode::not_found) throw Failure(record.error());
    return;
  }
  for (;;) {
    const std::vector<ConversationRecord> page =
        scope.store->list({.after = after, .limit = records_a_page}).value();
    for (const ConversationRecord& record : page)
      if (is_in_scope(scope, record) && !take(record)) return;
    if (page.size() < records_a_page) return;
    after = page.back().id;
  }
}

}  // namespace

std::vector<ScopedConversation> list_scope(const McpScope& scope, const std::string& after,
                                           std::size_t limit) {
  std::vector<ScopedConversation> found;
  walk_scope(scope, after, [&](const ConversationRecord& record) {
    found.push_back({record.id, record.updated_at_ms});
    return found.size() < limit;
  });
  return found;
}

std::vector<ScopedConversation> newest_of_scope(const McpScope& scope, std::size_t limit) {
  // A heap of the newest ones so far, the oldest of them on top.
  std::vector<ScopedConversation> found;
  const auto is_newer = [](const ScopedConversation& a, const ScopedConversation& b) {
    return a.updated_at_ms != b.updated_at_ms ? a.updated_at_ms > b.updated_at_ms : a.id < b.id;
  };
  walk_scope(scope, "", [&](const ConversationRecord& record) {
    found.push_back({record.id, record.updated_at_ms});
    std::ranges::push_heap(found, is_newer);
    if (found.size() > limit) {
      std::ranges::pop_heap(found, is_newer);
      found.pop_back();
    }
    return true;
  });
  std::ranges::sort(found, is_newer);
  return found;
}

std::vector<StoreFound> best_of_scope(const McpScope& scope, StoreRecallQuery query,
                                      std::size_t conversations_max,
                                      const std::shared_ptr<Work>& work) {
  query.in_scope = [&scope](const ConversationRecord& record) {
    return is_in_scope(scope, record);
  };
  std::vector<StoreFound> best = scope.recall->search(query, work).value().found;
  std::set<std::string> conversations;
  std::erase_if(best, [&](const StoreFound& found) {
    return !conversations.contains(found.conversation) &&
           (conversations.size() == conversations_max ||
            !conversations.insert(found.conversation).second);
  });
  return best;
}

std::shared_ptr<Conversation> open_in_scope(const McpScope& scope, const std::string& id) {
  const Error none{ErrorCode::not_found, "there is no such conversation here", "conversation"};
  if (!is_conversation_id(id)) throw Failure(none);
  const Result<ConversationRecord> record = scope.store->find(id);
  if (!record && record.error().code != ErrorCode::not_found) throw Failure(record.error());
  if (!record || !is_in_scope(scope, *record)) throw Failure(none);
  return scope.open(id);
}

}  // namespace undertext
