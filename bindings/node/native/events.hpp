// The events of a conversation, on their way to one function of JavaScript.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include <node_api.h>
#include <undertext.h>

#include "env.hpp"

namespace undertext::node {

// They come on any thread, in order; the function gets them in that order, on the loop, when no
// change is under way there: so it may change the conversation itself.
class Events : public std::enable_shared_from_this<Events> {
 public:
  Events(Env& env, napi_value listener);  // held weakly, as all code
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events();

  void subscribe(undertext_conversation* conversation);
  void close();

 private:
  void add(undertext_text event);
  void deliver(napi_env env);

  std::shared_ptr<Env> env_;
  napi_ref listener_ = nullptr;
  undertext_subscription* subscription_ = nullptr;
  std::mutex mutex_;
  std::deque<std::string> events_;
};

}  // namespace undertext::node
