#include "server/recorded_exchange.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/fresh_name.hpp"

namespace undertext {
namespace {

std::string_view pattern_of(const RequestNote& note) {
  return note.route == nullptr ? std::string_view() : note.route->path;
}

void record(const Recorder& recorder, const RequestNote& note, unsigned status,
            std::uint64_t bytes_out) {
  const auto duration = std::chrono::steady_clock::now() - note.began;
  recorder.metrics.answered(note.route, status, duration, note.bytes_in, bytes_out);
  recorder.log.request({.method = note.method,
                        .route = pattern_of(note),
                        .status = status,
                        .duration = duration,
                        .bytes_in = note.bytes_in,
                        .bytes_out = bytes_out,
                        .tenant = note.caller.tenant,
                        .token = note.caller.name,
                        .peer = note.peer});
}

// The client gets no more than a name to ask the operator by.
void log_cause(const Recorder& recorder, const RequestNote& note, http::Reply& reply) {
  if (reply.status != 500 || !reply.error) return;
  const std::string request = fresh_name();
  recorder.log.event(ServerLog::Level::error, "request failed",
                     {{"request", request},
                      {"method", note.method},
                      {"route", std::string(pattern_of(note))},
                      {"code", std::string(name(reply.error->code))},
                      {"cause", reply.error->message}});
  reply.fields.push_back({"X-Request-Id", request});
}

class RecordedStream final : public http::Stream {
 public:
  RecordedStream(std::shared_ptr<http::Stream> inner, const Recorder& recorder, RequestNote note,
                 unsigned status)
      : inner_(std::move(inner)), recorder_(recorder), note_(std::move(note)), status_(status) {
    recorder_.streams.fetch_add(1, std::memory_order_relaxed);
  }
  ~RecordedStream() override {
    recorder_.streams.fetch_sub(1, std::memory_order_relaxed);
    record(recorder_, note_, status_, bytes_out_.load(std::memory_order_relaxed));
  }
  bool write(std::string bytes, const std::function<bool()>& goes_on) override {
    return inner_->write(counted(std::move(bytes)), goes_on);
  }
  bool offer(std::string bytes) override { return inner_->offer(counted(std::move(bytes))); }
  void end() override { inner_->end(); }
  bool is_open() const override { return inner_->is_open(); }

 private:
  std::string counted(std::string bytes) {
    bytes_out_.fetch_add(bytes.size(), std::memory_order_relaxed);
    return bytes;
  }

  const std::shared_ptr<http::Stream> inner_;
  const Recorder recorder_;
  const RequestNote note_;
  const unsigned status_;
  std::atomic<std::uint64_t> bytes_out_ = 0;
};

class RecordedExchange final : public http::Exchange {
 public:
  RecordedExchange(std::unique_ptr<http::Exchange> inner, const Recorder& recorder,
                   RequestNote note)
      : inner_(std::move(inner)), recorder_(recorder), note_(std::move(note)) {}
  ~RecordedExchange() override {
    if (!answered_) answer(error_reply({ErrorCode::internal, "the request was not answered"}));
  }

  void answer(http::Reply reply) override {
    // a stream, which failed
    if (std::exchange(answered_, true)) return log_cause(recorder_, note_, reply);
    if (reply.error) recorder_.metrics.failed(reply.error->code);
    inner_->answer(recorded(std::move(reply), recorder_, note_));
  }
  std::shared_ptr<http::Stream> stream(unsigned status, std::string content_type,
                                       std::vector<http::Field> fields) override {
    answered_ = true;
    add_guarding_fields(fields);
    return std::make_shared<RecordedStream>(
        inner_->stream(status, std::move(content_type), std::move(fields)), recorder_,
        std::move(note_), status);
  }
  bool is_open() const override { return inner_->is_open(); }
  bool reserve(std::uint64_t bytes) override { return inner_->reserve(bytes); }

 private:
  const std::unique_ptr<http::Exchange> inner_;
  const Recorder recorder_;
  RequestNote note_;
  bool answered_ = false;
};

bool same_name(const std::string& a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

}  // namespace

http::Reply recorded(http::Reply reply, const Recorder& recorder, const RequestNote& note) {
  record(recorder, note, reply.status, reply.body.size());
  log_cause(recorder, note, reply);
  add_guarding_fields(reply.fields);
  reply.close = reply.close || recorder.is_draining.load(std::memory_order_relaxed);
  return reply;
}

void add_guarding_fields(std::vector<http::Field>& fields) {
  constexpr std::pair<std::string_view, std::string_view> guards[] = {
      {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
  };
  for (const auto& [name, value] : guards) {
    const auto has = [&](const http::Field& field) { return same_name(field.name, name); };
    if (std::none_of(fields.begin(), fields.end(), has))
      fields.push_back({std::string(name), std::string(value)});
  }
}

std::unique_ptr<http::Exchange> recorded(std::unique_ptr<http::Exchange> exchange,
                                         const Recorder& recorder, RequestNote note) {
  return std::make_unique<RecordedExchange>(std::move(exchange), recorder, std::move(note));
}

}  // namespace undertext
