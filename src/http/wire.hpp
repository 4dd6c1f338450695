// Sockets, TLS and the threads that serve them, without the library behind them: only wire.cpp
// knows it.
//
// A Loop is one thread's events. Everything of a connection happens on the thread of its loop, so
// nothing of it needs a lock; other threads come in by post().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <undertext/error.hpp>

#include "http/http.hpp"

namespace undertext::http {

class Loop {
 public:
  static std::shared_ptr<Loop> make();

  // Any thread. false: the loop has ended, and the task was dropped. May throw bad_alloc, and then
  // it was dropped too.
  bool post(std::function<void()> task);
  bool is_current() const;

  void run();  // until finish(), then until nothing is left to do; on one thread, once
  void finish();
  void every(std::chrono::milliseconds interval, std::function<void()> tick);  // before run(), once
  ~Loop();

  struct Rep;
  Rep& rep() { return *rep_; }

 private:
  explicit Loop(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// Whose connection it is: told of what became of a Wire's calls, on the loop's thread.
class WireUser {
 public:
  virtual ~WireUser() = default;
  virtual void on_open(bool failed) = 0;
  // No bytes and not failed: the other side sends no more.
  virtual void on_read(std::size_t bytes, bool failed) = 0;
  virtual void on_written(std::size_t bytes, bool failed) = 0;
};

// A connection's bytes, plain or encrypted. At most one read and one write at a time; what they
// point to stays until they are told of. The user lives at least as long as a call is under way.
class Wire {
 public:
  virtual ~Wire() = default;
  // shakes hands; a plain one is open at once
  virtual void open(std::shared_ptr<WireUser> user) = 0;
  virtual void read(std::shared_ptr<WireUser> user, char* to, std::size_t bytes_max) = 0;
  virtual void write(std::shared_ptr<WireUser> user, std::string_view first,
                     std::string_view second) = 0;
  virtual std::uint64_t
  // what the other side's system has not taken yet, of all that was written; 0 where nobody knows
  untaken_bytes() = 0;
  virtual void end_writing(std::shared_ptr<WireUser> user) = 0;  // the other side reads an end
  // sends what can be sent at once, and closes
  virtual void turn_away(std::string_view bytes) = 0;
  virtual void close() = 0;  // what is under way fails
  // as close(); what is unsent is thrown away
  virtual void reset() = 0;
};

class Acceptor {
 public:
  // Which loop the next connection is to live on; and what becomes of it, on the acceptor's thread.
  using Pick = std::function<std::shared_ptr<Loop>()>;
  using Take = std::function<void(std::shared_ptr<Loop>, std::unique_ptr<Wire>, std::string peer)>;

  // invalid_argument, unavailable: see Server::listen.
  static Result<std::shared_ptr<Acceptor>> open(std::shared_ptr<Loop> loop,
                                                const Listening& listening);
  virtual ~Acceptor() = default;
  virtual std::string address() const = 0;  // a URL
  virtual void start(Pick pick, Take take) = 0;
  // On its loop's thread. It stops accepting when the system has no descriptors or memory left:
  // those who wait then stay in the system's queue.
  virtual void go_on() = 0;  // unless it accepts already, or was closed
  virtual void close() = 0;
};

}  // namespace undertext::http
