#include "server/open_conversations.hpp"

#include "json/settings_json.hpp"

namespace undertext {

std::shared_ptr<Conversation> OpenConversations::get(const std::string& tenant, const std::string& id) {
  const Key key{tenant, id};
  const std::shared_ptr<Entry> entry = entry_of(key);
  const std::lock_guard opening(entry->opening);
  if (!entry->conversation) {
    try {
      entry->conversation =
          open_as_stored(store_of_(tenant), id, {.make = OpenOptions::Make::never, .cache_bytes = bytes_each_}).value();
    } catch (...) {
      drop(key, entry);
      throw;
    }
  }
  return {entry, &*entry->conversation};
}

std::shared_ptr<OpenConversations::Entry> OpenConversations::entry_of(const Key& key) {
  std::list<std::shared_ptr<Entry>> idle;  // closed when the lock is free again, for that may take a while
  const std::lock_guard lock(lock_);
  if (const auto found = places_.find(key); found != places_.end()) {
    order_.splice(order_.begin(), order_, found->second.in_order);
    return found->second.entry;
  }
  take_idle(idle);
  order_.push_front(key);
  return places_.emplace(key, Place{std::make_shared<Entry>(), order_.begin()}).first->second.entry;
}

void OpenConversations::take_idle(std::list<std::shared_ptr<Entry>>& idle) {
  // Where the oldest are all in use, one more than the limit is better than a long search.
  constexpr int looked_at_max = 32;
  int looked_at = 0;
  for (auto key = order_.end(); key != order_.begin() && places_.size() >= count_max_ && looked_at < looked_at_max; ++looked_at) {
    --key;
    const auto place = places_.find(*key);
    if (place->second.entry.use_count() > 1) continue;
    idle.push_back(std::move(place->second.entry));
    places_.erase(place);
    key = order_.erase(key);
  }
}

void OpenConversations::forget(const std::string& tenant, const std::string& id) {
  std::shared_ptr<Entry> gone;
  const std::lock_guard lock(lock_);
  const auto found = places_.find({tenant, id});
  if (found == places_.end()) return;
  gone = std::move(found->second.entry);
  order_.erase(found->second.in_order);
  places_.erase(found);
}

void OpenConversations::drop(const Key& key, const std::shared_ptr<Entry>& entry) {
  const std::lock_guard lock(lock_);
  const auto found = places_.find(key);
  if (found == places_.end() || found->second.entry != entry) return;
  order_.erase(found->second.in_order);
  places_.erase(found);
}

std::size_t OpenConversations::count() const {
  const std::lock_guard lock(lock_);
  return places_.size();
}

}  // namespace undertext
