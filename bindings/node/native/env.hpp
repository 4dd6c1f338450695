// One JavaScript thread: the main one, or that of a worker. Everything the addon has belongs to one
// of these; nothing is global.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <node_api.h>

#include "pool.hpp"

namespace undertext::node {

// What is wrapped into an object of JavaScript; `kind` tells a method that it was called on another
// one.
enum class Kind { conversation, store, view, cancel, stream, text };
inline constexpr std::size_t kinds = 6;

// Something that must be ended before the thread is.
class Ending {
 public:
  Ending() = default;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  virtual ~Ending() = default;
  virtual void end() = 0;
};

class Env : public std::enable_shared_from_this<Env> {
 public:
  static void set_up(napi_env env);
  static Env& of(napi_env env);

  napi_env raw() const { return env_; }
  Pool& pool() { return pool_; }
  bool on_loop() const { return std::this_thread::get_id() == thread_; }
  bool is_ending() const { return ending_; }

  // From any thread: `task` runs on this one, in the order of the calls; never, once the thread is
  // ending.
  void run_on_loop(std::function<void(napi_env)> task);
  // Waits for `done` to become true; false when the thread is ending or `stop` says so, which is
  // asked now and then.
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const bool& done,
            const std::function<bool()>& stop);

  // While anyone is held, the process does not end by itself. On this thread only, as is all below.
  void hold();
  void let_go();

  void add(Ending& one) { endings_.insert(&one); }
  void remove(Ending& one) { endings_.erase(&one); }

  // What is to be done when the change that is under way on the loop is complete; leave() does it.
  void before_leaving(std::function<void(napi_env)> task) { leaving_.push_back(std::move(task)); }
  void leave(napi_env env);

  void keep_class(Kind kind, napi_ref made) { classes_[static_cast<std::size_t>(kind)] = made; }
  napi_ref class_of(Kind kind) const { return classes_[static_cast<std::size_t>(kind)]; }

 private:
  explicit Env(napi_env env) : env_(env), thread_(std::this_thread::get_id()) {}
  void run_tasks(napi_env env);
  void end();

  napi_env env_;
  std::thread::id thread_;
  Pool pool_;
  napi_threadsafe_function door_ = nullptr;
  std::size_t held_ = 0;
  std::set<Ending*> endings_;
  std::deque<std::function<void(napi_env)>> leaving_;
  bool is_leaving_ = false;
  napi_ref classes_[kinds] = {};

  std::mutex mutex_;
  std::deque<std::function<void(napi_env)>> tasks_;
  std::atomic<bool> ending_ = false;
};

}  // namespace undertext::node
