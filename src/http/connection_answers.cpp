// How a connection answers: in one piece or bit by bit, and at what pace.
#include <algorithm>
#include <utility>

#include "http/connection.hpp"

namespace undertext::http {
namespace {

// a body up to this size is sent in one piece with its head
constexpr std::size_t joined_bytes_max = 8 << 10;

}  // namespace

void Connection::answer(Reply reply) {
  on_loop([reply = std::move(reply)](Connection& self) mutable {
    if (self.state_ == State::busy) self.reply(std::move(reply));
  });
}

void Connection::answer_nothing() {
  on_loop([](Connection& self) {
    if (self.state_ == State::busy) self.refuse({500, "the request was not answered"});
  });
}

bool Connection::reserve(std::uint64_t bytes) { return share_.resize(share_.bytes() + bytes); }

void Connection::begin_stream(unsigned status, std::string content_type, std::vector<Field> fields,
                              std::shared_ptr<StreamState> stream) {
  const bool begun = on_loop(
      [=, content_type = std::move(content_type), fields = std::move(fields)](Connection& self) {
        if (self.state_ == State::busy)
          self.reply_in_stream(status, content_type, fields, stream);
        else
          stream->close();
      });
  if (!begun) stream->close();
}

void Connection::begin_relay(RelayedHead head, std::shared_ptr<StreamState> stream) {
  const bool begun = on_loop([head = std::move(head), stream](Connection& self) {
    if (self.state_ == State::busy)
      self.reply_in_relay(head, stream);
    else
      stream->close();
  });
  if (!begun) stream->close();
}

void Connection::begin_tunnel(RelayedHead head, std::shared_ptr<StreamState> stream,
                              std::function<void(std::string)> on_bytes) {
  const bool begun =
      on_loop([head = std::move(head), stream, on_bytes = std::move(on_bytes)](Connection& self) {
        if (self.state_ == State::busy)
          self.reply_in_tunnel(head, stream, on_bytes);
        else
          stream->close();
      });
  if (!begun) stream->close();
}

void Connection::read_on() {
  on_loop([](Connection& self) {
    if (!self.on_bytes_) return;
    self.has_room_behind_ = true;
    self.advance();
  });
}

void Connection::watch(std::function<void()> on_gone) {
  const bool begun = on_loop([on_gone](Connection& self) {
    self.on_gone_ = on_gone;
    if (!self.is_open_) self.report_gone();
  });
  if (!begun) on_gone();
}

bool Connection::attend_stream() {
  return on_loop([](Connection& self) { self.pump_stream(); });
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
  share_.count(text.size() + (has_body && !is_joined ? reply.body.capacity() : 0));
  send(std::move(text));
  if (has_body && !is_joined) send(std::move(reply.body));
}

void Connection::count(const Refusal& refusal) {
  const bool over_limit = refusal.status == 413 || refusal.status == 414 || refusal.status == 431 ||
                          refusal.status == 503;
  if (refusal.status == 408) ++shared_->timed_out;
  if (over_limit) ++shared_->refused;
  if (!over_limit && refusal.status != 408 && refusal.status != 500) ++shared_->malformed;
}

// A request that this room itself refuses; where the next one would begin is not certain, so it is
// the last one.
void Connection::refuse(Refusal refusal) {
  count(refusal);
  body_reader_ = {};  // nobody wants what has come of it
  Reply answer{.status = refusal.status,
               .content_type = "text/plain",
               .body = std::string(refusal.why) + "\n"};
  try {
    const Head* const head = state_ == State::body ? &request_.head : nullptr;
    if (shared_->calls.refusal)
      answer = shared_->calls.refusal({refusal.status, refusal.why, seat_->peer(), head});
  } catch (...) {
  }
  answer.close = true;
  is_refused_ = true;
  reply(std::move(answer));
}

void Connection::reply_in_stream(unsigned status, const std::string& content_type,
                                 const std::vector<Field>& fields,
                                 const std::shared_ptr<StreamState>& stream) {
  closes_ = closes_ || is_http10_;
  framing_ = is_http10_ ? Framing::none : Framing::chunked;
  is_relay_ = false;
  std::string text = head_text({.status = status,
                                .content_type = content_type,
                                .fields = fields,
                                .is_chunked = !is_http10_,
                                .closes = closes_},
                               lane_->date.now());
  begin_to_stream(std::move(text), stream, !is_head_method_ && may_have_body(status));
}

void Connection::reply_in_relay(const RelayedHead& head,
                                const std::shared_ptr<StreamState>& stream) {
  const auto at = std::find_if(head.fields.begin(), head.fields.end(), [](const Field& field) {
    return equal_ignoring_case(field.name, "content-length");
  });
  const bool has_body = !is_head_method_ && may_have_body(head.status);
  framing_ = at != head.fields.end() ? Framing::length
             : is_http10_            ? Framing::none
                                     : Framing::chunked;
  stream_left_ = framing_ == Framing::length ? std::stoull(at->value) : 0;
  closes_ = closes_ || (has_body && framing_ == Framing::none) || is_stopping();
  is_relay_ = true;
  is_torn_ = false;
  begin_to_stream(relayed_head_text(head, has_body && framing_ == Framing::chunked, closes_),
                  stream, has_body);
}

void Connection::reply_in_tunnel(const RelayedHead& head,
                                 const std::shared_ptr<StreamState>& stream,
                                 std::function<void(std::string)> on_bytes) {
  framing_ = Framing::none;
  closes_ = true;
  is_relay_ = true;
  is_torn_ = false;
  on_bytes_ = std::move(on_bytes);
  has_room_behind_ = true;
  begin_to_stream(relayed_head_text(head, false, false), stream, true);
  advance();  // what the client sent right behind its request
}

// A piece at a time: what the other side has not taken yet stays in the client's system.
void Connection::give_on() {
  const std::string_view bytes = buffer_.unread();
  if (!has_room_behind_ || bytes.empty() || state_ != State::streaming) return;
  has_room_behind_ = false;
  std::string piece(bytes);
  buffer_.leave(0);
  on_bytes_(std::move(piece));
}

void Connection::begin_to_stream(std::string head, const std::shared_ptr<StreamState>& stream,
                                 bool has_body) {
  if (!has_body) {
    stream->close();
    state_ = State::answering;
    return send(std::move(head));
  }
  if ((is_stopping() && !is_relay_) || is_at_end_) {
    stream->close();
    return abort();
  }
  stream_ = stream;
  state_ = State::streaming;
  share_.count(0);
  begin_pace();
  send(std::move(head));
  pump_stream();
}

void Connection::pump_stream() {
  if (state_ != State::streaming) return;
  StreamState::Taken taken = stream_->take();
  if (taken.is_cut && !is_relay_) return abort();
  share_.count(share_.bytes() + taken.bytes.size());
  if (!taken.bytes.empty()) {
    const std::size_t size = taken.bytes.size();
    if (framing_ == Framing::length) {
      if (size > stream_left_) return abort();
      stream_left_ -= size;
    }
    if (framing_ == Framing::chunked) {
      send(chunk_prefix(size));
      taken.bytes += "\r\n";
    }
    send(std::move(taken.bytes), size);
  }
  if (taken.is_finished) finish_stream(taken.is_cut);
}

void Connection::finish_stream(bool cut) {
  is_torn_ = cut || (framing_ == Framing::length && stream_left_ > 0);
  closes_ = closes_ || is_torn_;
  state_ = State::answering;
  if (framing_ == Framing::chunked && !is_torn_)
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
  wire_->write(shared_from_this(), first,
               unsent_.size() > 1 ? std::string_view(unsent_[1].bytes) : std::string_view());
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
      untaken_ = 0;  // not known
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
    if (stream_ && unsent_.front().streamed > 0) {
      stream_->sent(unsent_.front().streamed);
      share_.count(share_.bytes() - unsent_.front().streamed);
    }
    unsent_.pop_front();
  }
}

// What the client's system has taken since the last look was read, though there was no room for
// more here.
bool Connection::is_read(Time now) {
  const std::uint64_t untaken = wire_->untaken_bytes();
  if (untaken < untaken_) pace_.advance(0, now);
  untaken_ = untaken;
  deadline_ = pace_.deadline(shared_->limits, shared_->limits.unheard_bytes);
  return now < deadline_;
}

void Connection::answered() {
  share_.release();
  on_gone_ = nullptr;
  on_bytes_ = nullptr;
  // Where the end of the connection would be the end of the answer, only a reset says that it is
  // none.
  if (std::exchange(is_torn_, false) && framing_ == Framing::none) return abort();
  if (std::shared_ptr<StreamState> stream = std::exchange(stream_, nullptr)) stream->close();
  if (closes_ || is_stopping()) return end();
  next_request();
}

}  // namespace undertext::http
