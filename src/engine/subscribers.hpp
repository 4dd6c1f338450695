// Who is told of a conversation's events.
//
// Events are delivered by one thread at a time. Ending a subscription waits for a call that is
// under way on another thread, so that what the function uses may be destroyed afterwards; from
// inside the function itself it does not wait.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <undertext/conversation.hpp>

namespace undertext {

class Subscribers : public std::enable_shared_from_this<Subscribers> {
 public:
  struct Subscriber;
  using List = std::vector<std::shared_ptr<Subscriber>>;

  // Held by a shared_ptr, since a Subscription may outlive the conversation.
  static std::shared_ptr<Subscribers> make() { return std::make_shared<Subscribers>(); }

  Subscription add(std::function<void(const Event&)> receive);
  List list() const;

  // Calls each subscriber of the list that has not ended meanwhile, in the order of subscription,
  // event by event. An exception from a subscriber is dropped: the change it is told of has been
  // made, and the others want to know of it too.
  static void deliver(const List& list, std::span<const Event> events) noexcept;

 private:
  mutable std::mutex mutex_;
  List list_;
};

}  // namespace undertext
