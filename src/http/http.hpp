// HTTP/1.1 for servers: requests in, replies out. The only room that knows sockets, TLS and the
// library behind them.
//
//     http::Server server = http::Server::listen({.port = 8777}, {.admit = admit, .handle = handle}).value();
//     server.address();     // "http://127.0.0.1:8777"
//     server.stop();        // no new connections; answers what is under way, then returns
//
// A request goes two ways. When its head is there, `admit` is asked on the thread that reads: it
// must not wait, and may refuse before a byte of the body is read. When its body is there, `handle`
// gets it with an Exchange, on the same thread, and hands both to whoever does the work; the answer
// may come from any thread at any time. A connection has one request under way at a time, and reads
// no further before it is answered.
//
// What is no proper HTTP/1.1 (two lengths, a length and chunks, folded lines, bare line feeds,
// control characters, no Host or two) is answered 400 and ends the connection. So does every
// refusal that leaves a body unread; the client may go on sending for a moment, and still reads the
// answer.
#pragma once

#include <any>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <undertext/error.hpp>

#include "http/budget.hpp"

namespace undertext::http {

struct Field {
  std::string name;  // as it came; compared without case
  std::string value;
};

struct Head {
  std::string method;
  // as it came: path, and query behind a question mark; a URL is cut down to them
  std::string target;
  std::vector<Field> fields;
  std::string peer;  // address of the client, without its port
  bool secure = false;
  bool was_url = false;  // the target came as a whole URL
  std::any admitted;     // Admission::known, once there is one

  const std::string* find(std::string_view name) const;  // the first one; null when there is none
  std::size_t count(std::string_view name) const;
};

struct Request : Head {
  std::string body;
};

struct Reply {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  // Content-Type, Content-Length, Date and Connection are the server's
  std::vector<Field> fields = {};
  bool close = false;               // ends the connection behind it
  std::optional<Error> error = {};  // why it is no good answer; for the log, not sent
};

// An answer that is written bit by bit; to HEAD it is closed from the beginning. Any thread may
// call it. Destroying it without end() cuts the connection, so that a client cannot take a part for
// the whole.
class Stream {
 public:
  virtual ~Stream() = default;
  // Waits while more than Limits::unsent_bytes are on their way; on a thread of the server itself
  // it is offer(). false: the client has gone, reads too slowly, or the server stops.
  //
  // `goes_on` is asked now and then while it waits; when it says no, that is false too.
  virtual bool write(std::string bytes, const std::function<bool()>& goes_on = {}) = 0;
  // Never waits. false: as write(), or there is no room; a client that cannot follow is cut off.
  virtual bool offer(std::string bytes) = 0;
  virtual void end() = 0;
  virtual bool is_open() const = 0;
};

// The head of an answer that another server gave, to be passed on. Nothing is added to it but what
// the connection itself needs: Transfer-Encoding where there is no Content-Length, and Connection.
// It must have no fields of those names.
struct RelayedHead {
  unsigned status = 200;
  std::string reason = {};  // "": the usual one
  // sent as they are, in this order; Content-Length among them, if any, is right
  std::vector<Field> fields = {};
};

// The body of such an answer, as it arrives. No call waits, and any thread may call it, one at a
// time. Destroying it without end() is tear().
class Relay {
 public:
  virtual ~Relay() = default;
  // false: more than the allowed bytes are unsent. Exchange::relay()'s `on_drained` is called when
  // half of them are sent. What is written to a client that has gone has room.
  virtual bool has_room() = 0;
  virtual void write(std::string_view bytes) = 0;  // taken whole, whether there is room or not
  virtual void end() = 0;
  virtual void
  // sends what was written, and ends the connection without the end of the answer, so that the
  // client sees that it is torn
  tear() = 0;
};

// An answer that is no HTTP any more: bytes both ways, until one side closes. What the client sends
// comes in pieces, the next one after read_on().
class Tunnel : public Relay {
 public:
  virtual void read_on() = 0;
};

// What a request is answered with, once. Destroyed without an answer, it answers 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void answer(Reply reply) = 0;
  virtual std::shared_ptr<Stream> stream(unsigned status, std::string content_type,
                                         std::vector<Field> fields) = 0;
  // false: the client has gone, and nobody waits for the answer. One that only said that it sends
  // no more counts as gone; it is answered all the same, though not by a stream.
  virtual bool is_open() const = 0;
  // Before an answer is made that may be large: counts so many bytes with what the request has of
  // the budget, until it is answered. false: there is no room for them now.
  virtual bool reserve([[maybe_unused]] std::uint64_t bytes) { return true; }
  // Passes an answer on: of HEAD, 204 and 304 its head alone. `on_drained` is called on a thread of
  // the server, and must not wait.
  // Null: this exchange cannot, and is not answered.
  virtual std::shared_ptr<Relay> relay([[maybe_unused]] RelayedHead head,
                                       [[maybe_unused]] std::uint64_t unsent_max,
                                       [[maybe_unused]] std::function<void()> on_drained) {
    return nullptr;
  }
  // Passes on that another server changes the protocol: `head` is its 101, with Connection and
  // Upgrade. `on_bytes` gets what the client sends behind its request, on a thread of the server,
  // and must not wait. Null: as relay().
  virtual std::shared_ptr<Tunnel> tunnel(
      [[maybe_unused]] RelayedHead head, [[maybe_unused]] std::uint64_t unsent_max,
      [[maybe_unused]] std::function<void()> on_drained,
      [[maybe_unused]] std::function<void(std::string bytes)> on_bytes) {
    return nullptr;
  }
  // Called once when the client has gone before its answer has ended, on a thread of the server; at
  // once where it has gone already. Must not wait.
  virtual void on_gone([[maybe_unused]] std::function<void()> call) {}
};

// What `admit` says of a request that may go on.
struct Admission {
  std::uint64_t body_bytes_max = 0;
  // What its body, and then its answer, is counted in. A body is counted as it comes; one for which
  // there is no room is refused, one with a length before any of it is read.
  Budget::Share share = {};
  // what was found out of the request: `handle` and `refusal` get it as Head::admitted
  std::any known = {};
};

struct Limits {
  // Whoever is one too many is answered 503 as far as that is possible at once (with TLS not at
  // all), and closed.
  std::uint32_t connections_max = 4096;
  std::uint32_t connections_per_peer_max = 2048;
  std::uint32_t head_bytes = 16 << 10;   // 431
  std::uint32_t fields = 100;            // 431
  std::uint32_t target_bytes = 8 << 10;  // 414
  std::chrono::milliseconds head_patience{10'000};
  std::chrono::milliseconds idle_patience{30'000};
  // A body must arrive, and an answer be read, at this many bytes a second, after a grace of
  // body_grace; and never stand still for that long.
  std::uint64_t bytes_per_second_min = 1024;
  std::chrono::milliseconds body_grace{10'000};
  // What a client has read is heard of only when its system has room for more, and that is so in
  // steps of about 128 KiB: an answer may stand still for as long as this many bytes take besides.
  std::uint64_t unheard_bytes = 192 << 10;
  std::uint64_t unsent_bytes = 1 << 20;  // of a stream
  std::chrono::milliseconds stop_patience{10'000};
};

struct Tls {
  std::string certificate_file;  // PEM, the chain behind it
  std::string key_file;
};

struct Listening {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: one that is free
  Limits limits = {};
  std::optional<Tls> tls = {};
  std::uint32_t threads = 2;  // that read and write; work is done elsewhere
};

// A request that this room itself refuses.
struct Refused {
  unsigned status = 400;  // 400, 408, 413, 414, 417, 431, 500, 503, 505
  std::string_view why;
  const std::string& peer;
  // null: it never got as far, or is answered for somebody who should have
  const Head* head = nullptr;
};

// Called on the threads that read, none after stop(). One that throws costs its request a 500.
struct Calls {
  std::function<std::variant<Admission, Reply>(const Head&)> admit;
  std::function<void(Request, std::unique_ptr<Exchange>)> handle;
  // What a request is told that this room itself refuses. Without it: the reason as plain text.
  std::function<Reply(const Refused&)> refusal = {};
};

// What happened on the wire so far.
struct Counts {
  std::uint64_t connections = 0;  // open now
  std::uint64_t connections_total = 0;
  std::uint64_t connections_refused = 0;  // one too many
  std::uint64_t refused = 0;              // requests over a limit: 413, 414, 431, 503
  std::uint64_t malformed = 0;            // 400, 417, 505
  // 408, and those that did not read or shake hands in time; idle ones are not counted
  std::uint64_t timed_out = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;
};

class Server {
 public:
  // invalid_argument: no such address, certificate or key. unavailable: the port is taken.
  static Result<Server> listen(Listening listening, Calls calls);
  std::string address() const;  // a URL; the port is the one it got
  Counts counts() const;
  // Waits until what is under way is answered, Limits::stop_patience at most; streams are cut off
  // at once, relays after that time. Not from within a call.
  void stop();

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // as stop()

 private:
  struct Rep;
  explicit Server(std::shared_ptr<Rep> rep);
  std::shared_ptr<Rep> rep_;
};

}  // namespace undertext::http
