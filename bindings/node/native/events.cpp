#include "events.hpp"

#include <utility>

#include "values.hpp"

namespace undertext::node {

Events::Events(Env& env, napi_value listener) : env_(env.shared_from_this()) {
  if (!is(env.raw(), listener, napi_function))
    throw refused(UNDERTEXT_INVALID_ARGUMENT, "listener", "must be a function");
  check(napi_create_reference(env.raw(), listener, 0, &listener_));
}

Events::~Events() {
  env_->run_on_loop([listener = listener_](napi_env env) { napi_delete_reference(env, listener); });
}

void Events::subscribe(undertext_conversation* conversation) {
  auto* const kept = new std::weak_ptr<Events>(weak_from_this());
  Owned error;
  const undertext_status status = undertext_subscribe(
      conversation,
      [](void* context, undertext_text event) {
        if (const std::shared_ptr<Events> events =
                static_cast<std::weak_ptr<Events>*>(context)->lock())
          events->add(event);
      },
      [](void* context) { delete static_cast<std::weak_ptr<Events>*>(context); }, kept,
      &subscription_, error.out());
  if (status == UNDERTEXT_OK) return;
  delete kept;
  throw Refused{status, std::string(error.view())};
}

void Events::close() {
  undertext_subscription_close(std::exchange(subscription_, nullptr));
  const std::lock_guard lock(mutex_);
  events_.clear();
}

void Events::add(undertext_text event) {
  {
    const std::lock_guard lock(mutex_);
    events_.emplace_back(event.data, event.size);
    if (events_.size() > 1) return;  // whoever delivers the first delivers all
  }
  const auto deliver_all = [events = shared_from_this()](napi_env env) { events->deliver(env); };
  if (env_->on_loop()) {
    env_->before_leaving(deliver_all);
  } else {
    env_->run_on_loop(deliver_all);
  }
}

void Events::deliver(napi_env env) {
  std::deque<std::string> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
  }
  for (const std::string& event : events) {
    napi_handle_scope scope;
    if (napi_open_handle_scope(env, &scope) != napi_ok) return;
    napi_value listener = nullptr, self = nullptr, text = nullptr, ignored = nullptr;
    if (napi_get_reference_value(env, listener_, &listener) == napi_ok && listener != nullptr &&
        napi_get_undefined(env, &self) == napi_ok &&
        napi_create_string_utf8(env, event.data(), event.size(), &text) == napi_ok &&
        napi_call_function(env, self, listener, 1, &text, &ignored) == napi_pending_exception) {
      napi_get_and_clear_last_exception(env, &ignored);
    }
    napi_close_handle_scope(env, scope);
  }
}

}  // namespace undertext::node
