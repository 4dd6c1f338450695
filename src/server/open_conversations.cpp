#include "server/open_conversations.hpp"

#include <algorithm>

#include "json/kept_settings.hpp"

namespace undertext {

std::shared_ptr<Conversation> OpenConversations::get(const std::string& tenant,
                                                     const std::string& id) {
  const Key key{tenant, id};
  const std::shared_ptr<Entry> entry = entry_of(key);
  const std::lock_guard opening(entry->opening);
  if (!entry->conversation) {
    try {
      entry->conversation =
          open_kept(
              store_of_(tenant), id,
              {.options = {.make = OpenOptions::Make::never, .cache_bytes = limits_.bytes_each}})
              .value();
    } catch (...) {
      drop(key, entry);
      throw;
    }
  }
  weigh(key, entry);
  return {entry, &*entry->conversation};
}

// A conversation has no more in memory than there is of it, and gives the rest back when it is more
// than bytes_each.
void OpenConversations::weigh(const Key& key, const std::shared_ptr<Entry>& entry) {
  constexpr std::uint64_t at_least = 32 << 10, of_a_version = 64;
  const History history = entry->conversation->history();
  const std::uint64_t there_is =
      at_least + history.log().sums().bytes + of_a_version * history.version().value;
  const std::uint64_t weight = std::min(there_is, std::max(limits_.bytes_each, at_least));
  std::list<std::shared_ptr<Entry>> idle;
  const std::lock_guard lock(lock_);
  const auto found = places_.find(key);
  if (found == places_.end() || found->second.entry != entry) return;
  bytes_ += weight - found->second.bytes;
  found->second.bytes = weight;
  take_idle(idle, limits_.count);
}

std::shared_ptr<OpenConversations::Entry> OpenConversations::entry_of(const Key& key) {
  // closed when the lock is free again, for that may take a while
  std::list<std::shared_ptr<Entry>> idle;
  const std::lock_guard lock(lock_);
  if (const auto found = places_.find(key); found != places_.end()) {
    order_.splice(order_.begin(), order_, found->second.in_order);
    return found->second.entry;
  }
  take_idle(idle, limits_.count - std::min<std::size_t>(limits_.count, 1));
  order_.push_front(key);
  return places_.emplace(key, Place{std::make_shared<Entry>(), order_.begin(), 0})
      .first->second.entry;
}

void OpenConversations::take_idle(std::list<std::shared_ptr<Entry>>& idle, std::size_t count_max) {
  // Where the oldest are all in use, one more than the limit is better than a long search.
  constexpr int looked_at_max = 32;
  int looked_at = 0;
  const auto too_much = [&] { return places_.size() > count_max || bytes_ > limits_.bytes; };
  for (auto key = order_.end(); key != order_.begin() && too_much() && looked_at < looked_at_max;
       ++looked_at) {
    --key;
    const auto place = places_.find(*key);
    if (place->second.entry.use_count() > 1) continue;
    const auto behind = std::next(key);
    idle.push_back(take(place));
    key = behind;
  }
}

std::shared_ptr<OpenConversations::Entry> OpenConversations::take(Places::iterator place) {
  std::shared_ptr<Entry> entry = std::move(place->second.entry);
  bytes_ -= place->second.bytes;
  order_.erase(place->second.in_order);
  places_.erase(place);
  return entry;
}

void OpenConversations::forget(const std::string& tenant, const std::string& id) {
  std::shared_ptr<Entry> gone;
  const std::lock_guard lock(lock_);
  const auto found = places_.find({tenant, id});
  if (found == places_.end()) return;
  gone = take(found);
}

void OpenConversations::drop(const Key& key, const std::shared_ptr<Entry>& entry) {
  const std::lock_guard lock(lock_);
  const auto found = places_.find(key);
  if (found != places_.end() && found->second.entry == entry) take(found);
}

std::size_t OpenConversations::count() const {
  const std::lock_guard lock(lock_);
  return places_.size();
}

std::uint64_t OpenConversations::bytes() const {
  const std::lock_guard lock(lock_);
  return bytes_;
}

}  // namespace undertext
