// The handles of undertext.h as Python objects.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <utility>
#include <vector>

#include "calls.hpp"

namespace undertext_python {

// The handle of an owner for the length of a call. Raises where the owner is closed.
template <class Owner>
class Use {
 public:
  explicit Use(Owner& owner) : owner_(owner) { owner.begin_call(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { owner_.end_call(); }
  auto operator*() const { return owner_.handle_; }

 private:
  Owner& owner_;
};

// A conversation, until it is closed. A call under way on another thread finishes first: the last
// one to leave closes it.
class Conversation {
 public:
  Conversation(undertext_conversation* handle, nb::tuple code);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation();

  void close();
  void forget();  // for finalizers: leaves the waiting to a thread of the library's
  bool is_closed() const { return is_ending_ || handle_ == nullptr; }
  static void close_all();  // at the end of the interpreter
  // in a child of fork(), which has none of the library's threads and no right to its files
  static void forget_all();

  std::uint64_t subscribe(nb::object function);
  void unsubscribe(std::uint64_t number);
  // `code`: on behalf of which, where this thread is not there for it itself; else None.
  void wait_for_compression(nb::handle code);
  const nb::tuple& code() const { return code_; }
  const std::string& id() const { return id_; }
  void visit_functions(visitproc visit, void* argument, int& status);

 private:
  friend class Use<Conversation>;
  struct Subscribed {
    undertext_subscription* subscription;
    nb::object* function;  // the context of its callback, and owned by that
  };
  void begin_call();
  void end_call();
  void stop_compressing();
  void end(void (*closing)(undertext_conversation*));

  undertext_conversation* handle_;
  const std::string id_;
  std::map<std::uint64_t, Subscribed> subscriptions_;
  nb::tuple code_;  // of its settings
  // for a compression, by those whom a signal called away
  std::vector<std::future<undertext_status>> left_waiting_;
  std::uint64_t next_number_ = 0;
  unsigned calls_ = 0;
  bool is_ending_ = false;
};

class Store {
 public:
  Store(undertext_store* handle, std::string name);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  void close();
  static void forget_all();
  bool is_closed() const { return is_ending_ || handle_ == nullptr; }
  const std::string& name() const { return name_; }  // its URL, without what gives access to it

 private:
  friend class Use<Store>;
  void begin_call();
  void end_call();

  undertext_store* handle_;
  const std::string name_;
  unsigned calls_ = 0;
  bool is_ending_ = false;
};

// A view: owned, or lent to a strategy for the length of its call.
class View {
 public:
  explicit View(const undertext_view* lent)
      : handle_(lent), is_owned_(false), process_(this_process) {}
  View(undertext_view* owned, nb::tuple code)
      : handle_(owned), is_owned_(true), process_(this_process), code_(std::move(code)) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    if (is_owned_ && process_ == this_process)
      undertext_view_close(const_cast<undertext_view*>(handle_));
  }
  // In a child of fork(). There are many views, so they are told apart by number instead of being
  // listed.
  static void forget_all() { ++this_process; }
  // Waits for those who still read it: a strategy may have handed it to another thread.
  void take_back();
  int visit_code(visitproc visit, void* argument) const { return visit(code_.ptr(), argument); }
  void forget_code() { const nb::tuple code = std::exchange(code_, {}); }

 private:
  friend class Use<View>;
  void begin_call();
  void end_call();

  static inline unsigned this_process = 0;  // how many forks lie behind it

  const undertext_view* handle_;
  bool is_owned_;
  bool is_back_ = false;
  unsigned process_;  // the one it was made in
  // of the conversation's settings, which a query may name when the conversation is gone
  nb::tuple code_;
  std::atomic<int> readers_ = 0;
};

// Whether a result is still wanted; after the call that lent it, it is not.
class Cancel {
 public:
  explicit Cancel(const undertext_cancel* handle) : handle_(handle) {}
  void take_back() { handle_ = nullptr; }
  bool is_cancelled() const { return handle_ == nullptr || undertext_is_cancelled(handle_) != 0; }

 private:
  const undertext_cancel* handle_;
};

// Its functions are known to the library by weak references, and are held by whatever was opened
// with them, where the garbage collector sees it: code may refer to its own conversation.
class Settings {
 public:
  Settings();
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() { undertext_settings_close(handle_); }
  void read(nb::handle json);
  void add_summariser(nb::handle name, bool is_slow, nb::handle function);
  void add_strategy(nb::handle name, bool is_slow, nb::handle function);
  const undertext_settings* get() const { return handle_; }
  nb::tuple code() const { return nb::tuple(code_); }

 private:
  undertext_settings* handle_ = nullptr;
  nb::list code_;
};
// The function of settings that this thread is there for, where the thread is one of the library's;
// else not valid.
nb::object code_in_background();

class Stream {
 public:
  explicit Stream(nb::handle dialect);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { undertext_stream_close(handle_); }
  void feed(nb::handle data);
  nb::object result() const;

 private:
  undertext_stream* handle_ = nullptr;
};

void bind_conversation(nb::module_& module);
void bind_store(nb::module_& module);
void bind_view(nb::module_& module);
void bind_settings(nb::module_& module);

}  // namespace undertext_python
