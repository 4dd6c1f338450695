// The conversations of all tenants that are open in this process. One is opened once, and stays open for whoever asks next; those that nobody uses go
// when there are too many, the least recently used first. Safe for any number of threads.
//
//     std::shared_ptr<Conversation> conversation = open.get("acme", "support-17");   // throws Failure: not_found, unavailable, …
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

namespace undertext {

class OpenConversations {
 public:
  using StoreOf = std::function<std::shared_ptr<Store>(const std::string& tenant)>;
  OpenConversations(StoreOf store_of, std::size_t count_max, std::uint64_t bytes_each)
      : store_of_(std::move(store_of)), count_max_(count_max), bytes_each_(bytes_each) {}

  // With the settings it was made with. Whoever holds it keeps it open.
  std::shared_ptr<Conversation> get(const std::string& tenant, const std::string& id);

  // The next get() looks in the store again. Who holds it still may go on, as far as the store lets them.
  void forget(const std::string& tenant, const std::string& id);

  std::size_t count() const;

 private:
  using Key = std::pair<std::string, std::string>;  // tenant, id
  struct Entry {
    std::mutex opening;
    std::optional<Conversation> conversation;
  };
  struct Place {
    std::shared_ptr<Entry> entry;  // owned by this alone: nobody uses it, and nobody is about to
    std::list<Key>::iterator in_order;
  };

  std::shared_ptr<Entry> entry_of(const Key& key);
  void take_idle(std::list<std::shared_ptr<Entry>>& idle);  // with the lock held
  void drop(const Key& key, const std::shared_ptr<Entry>& entry);

  StoreOf store_of_;
  std::size_t count_max_;
  std::uint64_t bytes_each_;
  mutable std::mutex lock_;
  std::map<Key, Place> places_;
  std::list<Key> order_;  // the most recently used first
};

}  // namespace undertext
