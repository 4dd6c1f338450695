#include "http/connection.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

namespace undertext::http {
namespace {

// While a body comes in. Where many connections are open, their bodies may come in at once, and the
// allocator keeps what it once had for all of them.
constexpr std::size_t buffer_bytes_max = 64 << 10;
constexpr std::size_t buffer_bytes_of_many = 16 << 10;
constexpr std::size_t few_connections_max = 64;
constexpr std::size_t drained_bytes_max = 256 << 10;
constexpr std::chrono::milliseconds linger_patience_max{2'000};
constexpr Refusal no_room{503, "there is too much in memory already: retry later"};

}  // namespace

Connection::Connection(std::shared_ptr<Shared> shared, std::shared_ptr<Lane> lane,
                       std::unique_ptr<Wire> wire, Seat seat)
    : shared_(std::move(shared)),
      lane_(std::move(lane)),
      wire_(std::move(wire)),
      seat_(std::move(seat)),
      head_reader_(shared_->limits) {}

void Connection::start() {
  guarded([&] {
    lane_->add(shared_from_this());
    if (is_stopping()) return close();
    deadline_ = now() + shared_->limits.head_patience;
    wire_->open(shared_from_this());
  });
}

void Connection::on_open(bool failed) {
  guarded([&] {
    if (state_ != State::opening) return;
    if (failed) return close();
    state_ = State::head;
    read_more();
  });
}

void Connection::on_read(std::size_t bytes, bool failed) {
  guarded([&] {
    is_reading_ = false;
    if (state_ == State::closed) return;
    if (failed || (bytes == 0 && (state_ == State::lingering || state_ == State::streaming)))
      return close();
    lane_->bytes_in.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes == 0) {
      is_at_end_ = true;
      is_open_ = false;
      report_gone();
      return advance();
    }
    buffer_.add(bytes);
    if (state_ == State::body) pace_.advance(bytes, now());
    if (state_ == State::lingering) {
      buffer_.leave(0);
      drained_ += bytes;
      if (drained_ > drained_bytes_max) return abort();
    }
    advance();
  });
}

void Connection::advance() {
  while (state_ == State::head || state_ == State::body)
    if (!(state_ == State::head ? read_head() : read_body())) break;
  if (is_at_end_ && state_ == State::head) return close();
  if (is_at_end_ && state_ == State::body) return refuse({400, "the body ends before its length"});
  if (on_bytes_) give_on();
  read_more();
}

// false: there is nothing more to be read now.
bool Connection::read_head() {
  std::string_view bytes = buffer_.unread();
  const Progress progress = bytes.empty() ? Progress::more : head_reader_.read(bytes);
  buffer_.leave(bytes.size());
  if (progress == Progress::refused) {
    refuse(head_reader_.refusal());
    return false;
  }
  if (progress == Progress::done) {
    begin_request();
    return true;
  }
  if (!is_timing_head_ && (head_reader_.has_begun() || !bytes.empty())) {
    is_timing_head_ = true;
    deadline_ = now() + shared_->limits.head_patience;
  }
  return false;
}

void Connection::begin_request() {
  request_ = head_reader_.take();
  state_ = State::body;
  request_.head.peer = seat_->peer();
  request_.head.secure = shared_->is_secure;
  is_http10_ = request_.is_http10;
  is_head_method_ = request_.head.method == "HEAD";
  closes_ = request_.wants_close;
  std::variant<Admission, Reply> verdict;
  try {
    verdict = shared_->calls.admit(request_.head);
  } catch (...) {
    return refuse({500, "the request could not be looked at"});
  }
  if (Reply* no = std::get_if<Reply>(&verdict)) {
    is_refused_ = request_.has_body();
    closes_ = closes_ || is_refused_;
    return reply(std::move(*no));
  }
  Admission& admission = std::get<Admission>(verdict);
  request_.head.admitted = std::move(admission.known);
  const std::uint64_t body_bytes_max = admission.body_bytes_max;
  if (request_.content_length > body_bytes_max) return refuse({413, "the body is too large"});
  share_ = std::move(admission.share);
  // What could not have room now is refused before it is read. What has not come yet takes no room
  // from others, or a slow sender would.
  if (!share_.resize(request_.content_length)) return refuse(no_room);
  share_.release();
  body_reader_ = BodyReader(request_, body_bytes_max, shared_->limits.head_bytes);
  begin_pace();
  if (request_.expects_continue && request_.has_body() && buffer_.unread().empty())
    send("HTTP/1.1 100 Continue\r\n\r\n");
}

bool Connection::read_body() {
  std::string_view bytes = buffer_.unread();
  const Progress progress = body_reader_.read(bytes);
  buffer_.leave(bytes.size());
  if (progress == Progress::refused) {
    refuse(body_reader_.refusal());
  } else if (!share_.resize(body_reader_.bytes_held())) {
    refuse(no_room);
  } else if (progress == Progress::done) {
    hand_over();
  } else {
    deadline_ = pace_.deadline(shared_->limits);
  }
  return false;
}

void Connection::hand_over() {
  state_ = State::busy;
  deadline_ = Time::max();
  Request request;
  static_cast<Head&>(request) = std::move(request_.head);
  request.body = body_reader_.take();
  std::unique_ptr<Exchange> exchange = make_exchange(shared_from_this());
  try {
    shared_->calls.handle(std::move(request), std::move(exchange));
  } catch (...) {
    // The exchange has gone with the call, and said so.
  }
}

void Connection::next_request() {
  state_ = State::head;
  is_timing_head_ = false;
  is_head_method_ = false;
  deadline_ = now() + shared_->limits.idle_patience;
  advance();
}

// With a request under way the client has to wait once the buffer is full; as far as there is room
// it is read on, to see it go.
void Connection::read_more() {
  if (is_reading_ || is_at_end_ || state_ == State::closed) return;
  ReadBuffer::Mode mode = ReadBuffer::Mode::holding;
  const bool is_tunnel = on_bytes_ && has_room_behind_;
  if (state_ == State::body || is_tunnel || (state_ == State::head && !buffer_.unread().empty()))
    mode = ReadBuffer::Mode::filling;
  const bool is_waiting =
      state_ == State::head || state_ == State::busy || (state_ == State::streaming && !is_tunnel);
  if (is_waiting && buffer_.unread().empty()) mode = ReadBuffer::Mode::resting;
  const std::span<char> room = buffer_.room(mode, read_bytes_max());
  if (room.empty()) return;
  is_reading_ = true;
  wire_->read(shared_from_this(), room.data(), room.size());
}

// A line of a head, or of a chunked body's trailer, must fit.
std::size_t Connection::read_bytes_max() const {
  const bool has_lines = state_ != State::body || request_.is_chunked;
  if (!has_lines && lane_->connections.size() > few_connections_max) return buffer_bytes_of_many;
  return std::max<std::size_t>(buffer_bytes_max, 2 * std::size_t{shared_->limits.head_bytes});
}

void Connection::check_deadline(Time now) {
  guarded([&] {
    if (is_abandoned_) return abort();
    if (now < deadline_) return;
    switch (state_) {
      case State::head:
        if (!is_timing_head_ || (!head_reader_.has_begun() && buffer_.unread().empty()))
          return close();
        return refuse({408, "the head took too long"});
      case State::body: return refuse({408, "the body took too long"});
      case State::answering:
      case State::streaming:
        if (is_read(now)) return;
        [[fallthrough]];
      case State::opening: ++shared_->timed_out; return abort();
      case State::lingering:
        // the end of the answer is still on its way
        if (wire_->untaken_bytes() > 0 && is_read(now)) return;
        return abort();
      case State::busy:
      case State::closed: return;
    }
  });
}

void Connection::stop_soon() {
  guarded([&] {
    // A tunnel has no end of its own to wait for.
    if ((state_ == State::streaming && (!is_relay_ || on_bytes_)) || state_ == State::opening)
      return abort();
    if (state_ == State::head && !head_reader_.has_begun() && buffer_.unread().empty()) close();
  });
}

void Connection::report_gone() {
  if (const std::function<void()> call = std::exchange(on_gone_, nullptr)) call();
}

// Closing while the client still sends would reset the connection, and could take the answer with
// it.
void Connection::end() {
  const bool may_send_more =
      is_refused_ || !buffer_.unread().empty() || !(request_.wants_close || is_stopping());
  if (may_send_more && !is_at_end_) return linger();
  wire_->end_writing(shared_from_this());
  close();
}

void Connection::linger() {
  state_ = State::lingering;
  is_open_ = false;
  buffer_.leave(0);
  deadline_ = now() + std::min({linger_patience_max, shared_->limits.head_patience,
                                shared_->limits.body_grace});
  wire_->end_writing(shared_from_this());
  read_more();
}

void Connection::abort() {
  if (state_ == State::closed) return;
  wire_->reset();
  close();
}

void Connection::close() {
  if (state_ == State::closed) return;
  const std::shared_ptr<Connection> self = shared_from_this();  // the lane's may be the last one
  state_ = State::closed;
  is_open_ = false;
  deadline_ = Time::max();
  if (std::shared_ptr<StreamState> stream = std::exchange(stream_, nullptr)) stream->close();
  on_bytes_ = nullptr;
  report_gone();
  wire_->close();
  lane_->remove(*this);
  seat_.reset();
}

}  // namespace undertext::http
