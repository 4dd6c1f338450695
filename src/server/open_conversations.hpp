// The conversations of all tenants that are open in this process. One is opened once, and stays
// open for whoever asks next; those that nobody uses go when there are too many or have too much in
// memory, the least recently used first. Safe for any number of threads.
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
  struct Limits {
    std::size_t count = 1024;
    std::uint64_t bytes_each = std::uint64_t{8} << 20;  // about what one keeps in memory
    std::uint64_t bytes = std::uint64_t{512} << 20;     // about what all of them do
  };
  OpenConversations(StoreOf store_of, Limits limits)
      : store_of_(std::move(store_of)), limits_(limits) {}

  // With the settings it was made with. Whoever holds it keeps it open.
  std::shared_ptr<Conversation> get(const std::string& tenant, const std::string& id);

  // The next get() looks in the store again. Who holds it still may go on, as far as the store lets
  // them.
  void forget(const std::string& tenant, const std::string& id);

  std::size_t count() const;
  std::uint64_t bytes() const;  // about what they keep in memory, as far as somebody has used them

 private:
  using Key = std::pair<std::string, std::string>;  // tenant, id
  struct Entry {
    std::mutex opening;
    std::optional<Conversation> conversation;
  };
  struct Place {
    std::shared_ptr<Entry> entry;  // owned by this alone: nobody uses it, and nobody is about to
    std::list<Key>::iterator in_order;
    std::uint64_t bytes = 0;
  };
  using Places = std::map<Key, Place>;

  std::shared_ptr<Entry> entry_of(const Key& key);
  void weigh(const Key& key, const std::shared_ptr<Entry>& entry);
  // with the lock held
  void take_idle(std::list<std::shared_ptr<Entry>>& idle, std::size_t count_max);
  std::shared_ptr<Entry> take(Places::iterator place);  // likewise
  void drop(const Key& key, const std::shared_ptr<Entry>& entry);

  StoreOf store_of_;
  const Limits limits_;
  mutable std::mutex lock_;
  Places places_;
  std::uint64_t bytes_ = 0;  // of all places
  std::list<Key> order_;     // the most recently used first
};

}  // namespace undertext
