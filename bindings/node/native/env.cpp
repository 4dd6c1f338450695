#include "env.hpp"

#include <chrono>
#include <utility>

namespace undertext::node {

namespace {

// how long it may take until somebody who waits hears that he need not
constexpr std::chrono::milliseconds patience{20};

}  // namespace

void Env::set_up(napi_env env) {
  auto* const kept = new std::shared_ptr<Env>(new Env(env));
  napi_set_instance_data(
      env, kept,
      [](napi_env, void* data, void*) { delete static_cast<std::shared_ptr<Env>*>(data); },
      nullptr);
  Env& made = **kept;
  napi_value name;
  napi_create_string_utf8(env, "undertext", NAPI_AUTO_LENGTH, &name);
  napi_create_threadsafe_function(
      env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, &made,
      [](napi_env on, napi_value, void* context, void*) {
        if (on != nullptr) static_cast<Env*>(context)->run_tasks(on);
      },
      &made.door_);
  napi_unref_threadsafe_function(env, made.door_);
  // Added after the door was made, so it runs before the door is taken down.
  napi_add_env_cleanup_hook(env, [](void* data) { static_cast<Env*>(data)->end(); }, &made);
}

Env& Env::of(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return **static_cast<std::shared_ptr<Env>*>(data);
}

void Env::run_on_loop(std::function<void(napi_env)> task) {
  const std::lock_guard lock(mutex_);
  if (ending_) return;
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) napi_call_threadsafe_function(door_, nullptr, napi_tsfn_nonblocking);
}

void Env::run_tasks(napi_env env) {
  std::deque<std::function<void(napi_env)>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (std::function<void(napi_env)>& task : tasks) {
    napi_handle_scope scope;
    if (napi_open_handle_scope(env, &scope) != napi_ok) return;
    task(env);
    leave(env);
    napi_close_handle_scope(env, scope);
  }
}

void Env::leave(napi_env env) {
  // What is called here may call the addon again, and its events come after those of before.
  if (is_leaving_) return;
  is_leaving_ = true;
  while (!leaving_.empty()) {
    const std::function<void(napi_env)> task = std::move(leaving_.front());
    leaving_.pop_front();
    task(env);
  }
  is_leaving_ = false;
}

bool Env::wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
               const bool& done, const std::function<bool()>& stop) {
  const Pool::Waiting waiting(pool_);
  while (!done) {
    if (ending_ || stop()) return false;
    changed.wait_for(lock, patience);
  }
  return true;
}

void Env::hold() {
  if (held_++ == 0) napi_ref_threadsafe_function(env_, door_);
}

void Env::let_go() {
  if (--held_ == 0) napi_unref_threadsafe_function(env_, door_);
}

void Env::end() {
  // outside of the lock: what they hold may want it
  std::deque<std::function<void(napi_env)>> dropped;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    dropped.swap(tasks_);
  }
  dropped.clear();
  pool_.finish();
  while (!endings_.empty()) {
    Ending* const one = *endings_.begin();
    endings_.erase(endings_.begin());
    one->end();
  }
  napi_release_threadsafe_function(door_, napi_tsfn_abort);
}

}  // namespace undertext::node
