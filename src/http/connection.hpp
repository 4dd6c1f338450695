// One connection: a request is read, answered, and only then the next one is read. A state machine
// that is driven by its wire, on its loop's thread.
//
//     opening -> head -> body -> busy -> answering -> head …      in one piece
//                          \-> busy -> streaming -> head …        bit by bit; a tunnel streams both ways and ends
//     from everywhere: -> lingering -> closed                     lingering reads on for a while, so that a refusal is not lost in a reset
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/body.hpp"
#include "http/head.hpp"
#include "http/pace.hpp"
#include "http/read_buffer.hpp"
#include "http/shared.hpp"
#include "http/stream.hpp"
#include "http/wire.hpp"

namespace undertext::http {

class Connection final : public WireUser, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Shared> shared, std::shared_ptr<Lane> lane, std::unique_ptr<Wire> wire,
             Seat seat);

  // Any thread.
  bool is_open() const { return is_open_.load(std::memory_order_relaxed); }
  void answer(Reply reply);
  void answer_nothing();  // nobody will answer: 500
  void begin_stream(unsigned status, std::string content_type, std::vector<Field> fields,
                    std::shared_ptr<StreamState> stream);
  void begin_relay(RelayedHead head, std::shared_ptr<StreamState> stream);
  void begin_tunnel(RelayedHead head, std::shared_ptr<StreamState> stream,
                    std::function<void(std::string)> on_bytes);
  void read_on();  // a tunnel's: the piece before has gone
  void watch(std::function<void()> on_gone);
  bool reserve(std::uint64_t bytes);  // by whoever works on the request: see Exchange
  // there is something new to do for it; false: there is no loop any more
  bool attend_stream();
  std::uint64_t unsent_bytes_max() const { return shared_->limits.unsent_bytes; }
  bool is_on_loop() const { return lane_->loop->is_current(); }

  // On its loop's thread.
  void start();
  void check_deadline(Time now);
  void stop_soon();  // idle: ends now; else behind the answer
  void abort();
  void on_open(bool failed) override;
  void on_read(std::size_t bytes, bool failed) override;
  void on_written(std::size_t bytes, bool failed) override;

  std::optional<std::size_t> place_in_lane;  // the lane's

 private:
  enum class State { opening, head, body, busy, answering, streaming, lingering, closed };
  struct Piece {
    std::string bytes;
    std::size_t streamed = 0;  // how many bytes of the stream it carries
  };

  template <class Call>
  void guarded(Call&& call);
  template <class Call>
  bool on_loop(Call call);

  void advance();
  bool read_head();
  bool read_body();
  void begin_request();
  void hand_over();
  void next_request();

  void reply(Reply reply);
  void refuse(Refusal refusal);
  void count(const Refusal& refusal);
  void reply_in_stream(unsigned status, const std::string& content_type,
                       const std::vector<Field>& fields,
                       const std::shared_ptr<StreamState>& stream);
  void reply_in_relay(const RelayedHead& head, const std::shared_ptr<StreamState>& stream);
  void reply_in_tunnel(const RelayedHead& head, const std::shared_ptr<StreamState>& stream,
                       std::function<void(std::string)> on_bytes);
  void give_on();
  void begin_to_stream(std::string head, const std::shared_ptr<StreamState>& stream, bool has_body);
  void pump_stream();
  void finish_stream(bool cut);
  void begin_pace();
  bool is_read(Time now);  // the answer, fast enough
  void send(std::string bytes, std::size_t streamed = 0);
  void write_more();
  void take_written(std::size_t bytes);
  void answered();

  void read_more();
  std::size_t read_bytes_max() const;
  void end();
  void report_gone();
  void linger();
  void close();
  bool is_stopping() const { return shared_->is_stopping.load(std::memory_order_relaxed); }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<Lane> lane_;  // outlives the wire, which lives on its loop
  const std::unique_ptr<Wire> wire_;
  std::optional<Seat> seat_;
  std::atomic<bool> is_open_ = true;
  std::atomic<bool> is_abandoned_ = false;  // an answer was lost for want of memory

  State state_ = State::opening;
  Time deadline_ = Time::max();
  Pace pace_;
  // of the answer by the client's system, when it was last asked; 0: not asked
  std::uint64_t untaken_ = 0;
  // Of the request under way. Touched by this side until the request is handed over and once it is
  // answered, and between by whoever works on it.
  Budget::Share share_;

  ReadBuffer buffer_;
  bool is_reading_ = false;
  bool is_at_end_ = false;  // the client sends no more
  std::size_t drained_ = 0;

  HeadReader head_reader_;
  bool is_timing_head_ = true;
  RequestHead request_;
  BodyReader body_reader_;

  std::deque<Piece> unsent_;
  std::size_t sent_of_first_ = 0;
  bool is_writing_ = false;
  bool closes_ = false;
  bool is_refused_ = false;  // there may be a rest of the request, which nobody reads
  bool is_head_method_ = false;
  bool is_http10_ = false;
  std::shared_ptr<StreamState> stream_;
  // none: up to the end of the connection
  enum class Framing : std::uint8_t { chunked, length, none };
  Framing framing_ = Framing::chunked;  // of the stream
  bool is_relay_ = false;
  bool is_torn_ = false;           // the relay was, and ends without its end
  std::uint64_t stream_left_ = 0;  // of a length
  std::function<void()> on_gone_;
  std::function<void(std::string)> on_bytes_;  // of a tunnel; unset: it is none
  bool has_room_behind_ = false;               // on_bytes_ may be called
};

// Whatever goes wrong in here, memory running out above all, costs this connection and no other.
template <class Call>
void Connection::guarded(Call&& call) {
  try {
    call();
  } catch (...) {
    abort();
  }
}

template <class Call>
bool Connection::on_loop(Call call) {
  if (is_on_loop()) {
    guarded([&] { call(*this); });
    return true;
  }
  try {
    return lane_->loop->post([self = shared_from_this(), call = std::move(call)]() mutable {
      self->guarded([&] { call(*self); });
    });
  } catch (...) {
    is_abandoned_ = true;
    return false;
  }
}

std::unique_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection);

}  // namespace undertext::http
