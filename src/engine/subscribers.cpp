#include "engine/subscribers.hpp"

#include <algorithm>
#include <utility>

namespace undertext {

struct Subscribers::Subscriber {
  std::function<void(const Event&)> receive;
  // held during a call; recursive, since the function may end its own subscription
  std::recursive_mutex calling;
  bool ended = false;  // guarded by calling
};

Subscription Subscribers::add(std::function<void(const Event&)> receive) {
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->receive = std::move(receive);
  // The token's last owner ends the subscription.
  std::shared_ptr<void> token(subscriber.get(), [subscriber, all = weak_from_this()](void*) {
    {
      const std::lock_guard call(subscriber->calling);
      subscriber->ended = true;
    }
    if (const std::shared_ptr<Subscribers> still_there = all.lock()) {
      const std::lock_guard lock(still_there->mutex_);
      std::erase(still_there->list_, subscriber);
    }
  });
  const std::lock_guard lock(mutex_);
  list_.push_back(std::move(subscriber));
  return Subscription(std::move(token));
}

Subscribers::List Subscribers::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

void Subscribers::deliver(const List& list, std::span<const Event> events) noexcept {
  for (const Event& event : events) {
    for (const std::shared_ptr<Subscriber>& subscriber : list) {
      const std::lock_guard call(subscriber->calling);
      if (subscriber->ended) continue;
      try {
        subscriber->receive(event);
      } catch (...) {
      }
    }
  }
}

}  // namespace undertext
