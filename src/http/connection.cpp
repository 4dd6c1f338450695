#include "http/connection.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

namespace undertext::http {
namespace {

constexpr std::size_t buffer_bytes_max = 64 << 10;  // while a body comes in
constexpr std::size_t joined_bytes_max = 8 << 10;   // a body up to this size is sent in one piece with its head
constexpr std::size_t drained_bytes_max = 256 << 10;
constexpr std::chrono::milliseconds linger_patience_max{2'000};

Time now() { return std::chrono::steady_clock::now(); }

}  // namespace

Connection::Connection(std::shared_ptr<Shared> shared, std::shared_ptr<Lane> lane, std::unique_ptr<Wire> wire, Seat seat)
    : shared_(std::move(shared)),
      lane_(std::move(lane)),
      wire_(std::move(wire)),
      seat_(std::move(seat)),
      head_reader_(shared_->limits) {}

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
    return lane_->loop->post(
        [self = shared_from_this(), call = std::move(call)]() mutable { self->guarded([&] { call(*self); }); });
  } catch (...) {
    is_abandoned_ = true;
    return false;
  }
}

void Connection::answer(Reply reply) {
  on_loop([reply = std::move(reply)](Connection& self) mutable {
    if (self.state_ == State::busy) self.reply(std::move(reply));
  });
}

void Connection::answer_nothing() {
  on_loop([](Connection& self) {
    if (self.state_ == State::busy) self.refuse({500, "nobody answered"});
  });
}

void Connection::begin_stream(unsigned status, std::string content_type, std::vector<Field> fields,
                              std::shared_ptr<StreamState> stream) {
  const bool begun = on_loop([=, content_type = std::move(content_type), fields = std::move(fields)](Connection& self) {
    if (self.state_ == State::busy)
      self.reply_in_stream(status, content_type, fields, stream);
    else
      stream->close();
  });
  if (!begun) stream->close();
}

bool Connection::attend_stream() {
  return on_loop([](Connection& self) { self.pump_stream(); });
}

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
    if (failed || (bytes == 0 && (state_ == State::lingering || state_ == State::streaming))) return close();
    lane_->bytes_in.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes == 0) {
      is_at_end_ = true;
      is_open_ = false;
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
  const std::uint64_t body_bytes_max = std::get<Admission>(verdict).body_bytes_max;
  if (request_.content_length > body_bytes_max) return refuse({413, "the body is too large"});
  body_reader_ = BodyReader(request_, body_bytes_max, shared_->limits.head_bytes);
  state_ = State::body;
  begin_pace();
  if (request_.expects_continue && request_.has_body() && buffer_.unread().empty()) send("HTTP/1.1 100 Continue\r\n\r\n");
}

bool Connection::read_body() {
  std::string_view bytes = buffer_.unread();
  const Progress progress = body_reader_.read(bytes);
  buffer_.leave(bytes.size());
  if (progress == Progress::refused) refuse(body_reader_.refusal());
  if (progress == Progress::done) hand_over();
  if (progress == Progress::more) deadline_ = pace_.deadline(shared_->limits);
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

void Connection::reply(Reply reply) {
  closes_ = closes_ || reply.close || is_at_end_ || is_stopping();
  const ReplyHead head{.status = reply.status,
                       .content_type = reply.content_type,
                       .fields = reply.fields,
                       .content_length = reply.body.size(),
                       .closes = closes_};
  std::string text = head_text(head, lane_->date.now());
  const bool has_body = may_have_body(reply.status) && !is_head_method_;
  const bool is_joined = has_body && reply.body.size() <= joined_bytes_max;
  if (is_joined) text += reply.body;
  state_ = State::answering;
  begin_pace();
  send(std::move(text));
  if (has_body && !is_joined) send(std::move(reply.body));
}

void Connection::count(const Refusal& refusal) {
  const bool over_limit = refusal.status == 413 || refusal.status == 414 || refusal.status == 431;
  if (refusal.status == 408) ++shared_->timed_out;
  if (over_limit) ++shared_->refused;
  if (!over_limit && refusal.status != 408 && refusal.status != 500) ++shared_->malformed;
}

// A request that this room itself refuses; where the next one would begin is not certain, so it is the last one.
void Connection::refuse(const Refusal& refusal) {
  count(refusal);
  Reply answer{.status = refusal.status, .content_type = "text/plain", .body = std::string(refusal.why) + "\n"};
  try {
    if (shared_->calls.refusal) answer = shared_->calls.refusal(refusal.status, refusal.why);
  } catch (...) {
  }
  answer.close = true;
  is_refused_ = true;
  reply(std::move(answer));
}

void Connection::reply_in_stream(unsigned status, const std::string& content_type, const std::vector<Field>& fields,
                                 const std::shared_ptr<StreamState>& stream) {
  closes_ = closes_ || is_http10_;
  std::string text =
      head_text({.status = status, .content_type = content_type, .fields = fields, .is_chunked = !is_http10_, .closes = closes_},
                lane_->date.now());
  if (is_head_method_ || !may_have_body(status)) {
    stream->close();
    state_ = State::answering;
    return send(std::move(text));
  }
  if (is_stopping() || is_at_end_) {
    stream->close();
    return abort();
  }
  stream_ = stream;
  state_ = State::streaming;
  begin_pace();
  send(std::move(text));
  pump_stream();
}

void Connection::pump_stream() {
  if (state_ != State::streaming) return;
  StreamState::Taken taken = stream_->take();
  if (taken.is_cut) return abort();
  if (!taken.bytes.empty()) {
    const std::size_t size = taken.bytes.size();
    if (!is_http10_) {
      send(chunk_prefix(size));
      taken.bytes += "\r\n";
    }
    send(std::move(taken.bytes), size);
  }
  if (!taken.is_finished) return;
  state_ = State::answering;
  if (!is_http10_)
    send("0\r\n\r\n");
  else if (unsent_.empty())
    answered();
}

void Connection::begin_pace() {
  pace_.begin(now());
  deadline_ = pace_.deadline(shared_->limits);
}

void Connection::send(std::string bytes, std::size_t streamed) {
  if (unsent_.empty() && state_ != State::body) begin_pace();
  unsent_.push_back({std::move(bytes), streamed});
  write_more();
}

void Connection::write_more() {
  if (is_writing_ || unsent_.empty()) return;
  is_writing_ = true;
  const std::string_view first = std::string_view(unsent_[0].bytes).substr(sent_of_first_);
  wire_->write(shared_from_this(), first, unsent_.size() > 1 ? std::string_view(unsent_[1].bytes) : std::string_view());
}

void Connection::on_written(std::size_t bytes, bool failed) {
  guarded([&] {
    is_writing_ = false;
    if (state_ == State::closed) return;
    if (failed) return close();
    lane_->bytes_out.fetch_add(bytes, std::memory_order_relaxed);
    take_written(bytes);
    const bool answers = state_ == State::answering || state_ == State::streaming;
    if (answers && !unsent_.empty()) {
      pace_.advance(bytes, now());
      deadline_ = pace_.deadline(shared_->limits);
    }
    if (!unsent_.empty()) return write_more();
    if (state_ == State::streaming) deadline_ = Time::max();
    if (state_ == State::answering) answered();
  });
}

void Connection::take_written(std::size_t bytes) {
  sent_of_first_ += bytes;
  while (!unsent_.empty() && sent_of_first_ >= unsent_.front().bytes.size()) {
    sent_of_first_ -= unsent_.front().bytes.size();
    if (stream_ && unsent_.front().streamed > 0) stream_->sent(unsent_.front().streamed);
    unsent_.pop_front();
  }
}

void Connection::answered() {
  if (std::shared_ptr<StreamState> stream = std::exchange(stream_, nullptr)) stream->close();
  if (closes_ || is_stopping()) return end();
  next_request();
}

// With a request under way the client has to wait once the buffer is full; as far as there is room it is read on, to see it go.
void Connection::read_more() {
  if (is_reading_ || is_at_end_ || state_ == State::closed) return;
  ReadBuffer::Mode mode = ReadBuffer::Mode::holding;
  if (state_ == State::body || (state_ == State::head && !buffer_.unread().empty())) mode = ReadBuffer::Mode::filling;
  if (state_ == State::head && buffer_.unread().empty()) mode = ReadBuffer::Mode::resting;
  const std::span<char> room =
      buffer_.room(mode, std::max<std::size_t>(buffer_bytes_max, 2 * std::size_t{shared_->limits.head_bytes}));
  if (room.empty()) return;
  is_reading_ = true;
  wire_->read(shared_from_this(), room.data(), room.size());
}

void Connection::check_deadline(Time now) {
  guarded([&] {
    if (is_abandoned_) return abort();
    if (now < deadline_) return;
    switch (state_) {
      case State::head:
        if (!is_timing_head_ || (!head_reader_.has_begun() && buffer_.unread().empty())) return close();
        return refuse({408, "the head took too long"});
      case State::body: return refuse({408, "the body took too long"});
      case State::opening:
      case State::answering:
      case State::streaming: ++shared_->timed_out; return abort();
      case State::lingering: return abort();
      case State::busy:
      case State::closed: return;
    }
  });
}

void Connection::stop_soon() {
  guarded([&] {
    if (state_ == State::streaming || state_ == State::opening) return abort();
    if (state_ == State::head && !head_reader_.has_begun() && buffer_.unread().empty()) close();
  });
}

// Closing while the client still sends would reset the connection, and could take the answer with it.
void Connection::end() {
  const bool may_send_more = is_refused_ || !buffer_.unread().empty() || !(request_.wants_close || is_stopping());
  if (may_send_more && !is_at_end_) return linger();
  wire_->end_writing(shared_from_this());
  close();
}

void Connection::linger() {
  state_ = State::lingering;
  is_open_ = false;
  buffer_.leave(0);
  deadline_ = now() + std::min({linger_patience_max, shared_->limits.head_patience, shared_->limits.body_grace});
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
  wire_->close();
  lane_->remove(*this);
  seat_.reset();
}

}  // namespace undertext::http
