#include "gateway/recording.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gateway/fields.hpp"
#include "http/head.hpp"
#include "system/process.hpp"

namespace undertext {
namespace {

// what one exchange costs besides its heads and bodies
constexpr std::uint64_t item_bytes = 2 << 10;
constexpr std::int64_t report_every_s = 10;

std::uint64_t size_of(const std::vector<http::Field>& fields) {
  std::uint64_t bytes = 0;
  for (const http::Field& field : fields)
    bytes += field.name.size() + field.value.size() + 2 * sizeof(http::Field);
  return bytes;
}

std::string encoding_in(const std::vector<http::Field>& fields) {
  std::string encodings;
  for (const http::Field& field : fields) {
    if (!http::equal_ignoring_case(field.name, "content-encoding")) continue;
    if (!encodings.empty()) encodings += ", ";
    encodings += field.value;
  }
  return encodings;
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

const std::string* ObservedRequest::find(std::string_view field) const {
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const http::Field& f) {
    return http::equal_ignoring_case(f.name, field);
  });
  return at == fields.end() ? nullptr : &at->value;
}

std::string_view name(ObservedExchange::End end) {
  constexpr std::array<std::string_view, 4> names = {"complete", "torn", "client_left",
                                                     "upstream_failed"};
  return names[static_cast<std::size_t>(end)];
}

Result<RecordLevel> read_record_level(std::string_view text) {
  if (text == "full") return RecordLevel::full;
  if (text == "metadata") return RecordLevel::metadata;
  if (text == "none") return RecordLevel::none;
  return Error{.code = ErrorCode::invalid_argument,
               .message = "what is recorded is full, metadata or none",
               .field = "record"};
}

RecordingQueue::RecordingQueue(std::shared_ptr<ExchangeRecorder> recorder,
                               std::shared_ptr<http::Budget> budget, OnEvent on_event)
    : recorder_(std::move(recorder)), on_event_(std::move(on_event)), budget_(std::move(budget)) {
  if (recorder_) thread_ = std::thread([this] { run(); });
}

RecordingQueue::~RecordingQueue() { stop(); }

std::optional<Recording> RecordingQueue::begin(ObservedRequest request) noexcept {
  if (!recorder_ || request.level == RecordLevel::none) return std::nullopt;
  try {
    request.content_encoding = encoding_in(request.fields);
    request.fields = without_secrets(request.fields);
    request.target = without_key(request.target);
    if (request.level == RecordLevel::metadata) request.body = nullptr;
    ObservedExchange exchange;
    exchange.share = http::Budget::Share(budget_, request.tenant);
    if (!exchange.share.resize(item_bytes + size_of(request.fields) +
                               (request.body ? request.body->capacity() : 0))) {
      drop("there is no room for its request");
      return std::nullopt;
    }
    exchange.request = std::make_shared<const ObservedRequest>(std::move(request));
    push(exchange.request);
    return Recording(*this, std::move(exchange));
  } catch (...) {
    drop("memory has run out");
    return std::nullopt;
  }
}

void RecordingQueue::push(Item item) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(item));
    ++pushed_;
  }
  changed_.notify_all();
}

void RecordingQueue::wait_for_recorder(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const std::uint64_t last = pushed_;
  changed_.wait_until(lock, deadline, [&] { return taken_ >= last || stops_at_; });
}

void RecordingQueue::drop(std::string_view why) noexcept {
  ++dropped_;
  report(why, dropped_);
}

// Now and then: under pressure there would be an event for each request.
void RecordingQueue::report(std::string_view event, std::uint64_t count) noexcept {
  std::int64_t last = reported_s_;
  const std::int64_t now = seconds_now();
  if (!on_event_ || (last != 0 && now - last < report_every_s) ||
      !reported_s_.compare_exchange_strong(last, now))
    return;
  try {
    on_event_("an exchange is not recorded",
              std::string(event) + "; so far " + std::to_string(count));
  } catch (...) {
  }
}

void RecordingQueue::run() {
  // Of this thread alone, where the system counts so: with few cores, traffic goes first.
  lower_priority(5);
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stops_at_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    if (stops_at_ && std::chrono::steady_clock::now() >= *stops_at_)
      return give_up(std::exchange(waiting_, {}));
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    record(std::move(item));
    lock.lock();
    ++taken_;
    changed_.notify_all();
  }
}

void RecordingQueue::record(Item item) {
  try {
    if (auto* request = std::get_if<std::shared_ptr<const ObservedRequest>>(&item))
      return recorder_->request(*request);
    if (const Asked* const asked = std::get_if<Asked>(&item)) return (*asked)(*recorder_);
    recorder_->finished(std::get<ObservedExchange>(std::move(item)));
    ++recorded_;
  } catch (...) {
    ++failed_;
    report("the recorder failed", failed_);
  }
}

void RecordingQueue::give_up(std::deque<Item> rest) noexcept {
  for (const Item& item : rest)
    if (std::holds_alternative<ObservedExchange>(item)) drop("the gateway stops");
}

void RecordingQueue::stop(std::chrono::steady_clock::time_point deadline) {
  {
    const std::lock_guard lock(mutex_);
    stops_at_ = deadline;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

RecordingQueue::Counts RecordingQueue::counts() const {
  const std::uint64_t reported = recorder_ ? recorder_->failures() : 0;
  return {.recorded = recorded_,
          .dropped = dropped_,
          .failed = failed_ + reported,
          .bytes = budget_->counts().bytes};
}

void Recording::head(unsigned status, const std::vector<http::Field>& fields) noexcept {
  try {
    exchange_.status = status;
    exchange_.first_byte = std::chrono::system_clock::now();
    exchange_.content_encoding = encoding_in(fields);
    exchange_.fields = without_secrets(fields);
  } catch (...) {
    give_up_body();
  }
}

void Recording::bytes(std::string_view bytes) noexcept {
  exchange_.body_bytes += bytes.size();
  if (exchange_.dropped || exchange_.request->level != RecordLevel::full) return;
  try {
    std::string& body = exchange_.body;
    // Grows by doubling, and only as far as the budget has room.
    if (body.size() + bytes.size() > body.capacity()) {
      const std::size_t wanted = std::max(body.size() + bytes.size(), 2 * body.capacity());
      if (!exchange_.share.resize(exchange_.share.bytes() + wanted -
                                  (body.empty() ? 0 : body.capacity())))
        return give_up_body();
      body.reserve(wanted);
    }
    body.append(bytes);
  } catch (...) {
    give_up_body();
  }
}

void Recording::give_up_body() noexcept {
  if (std::exchange(exchange_.dropped, true)) return;
  exchange_.share.count(exchange_.share.bytes() -
                        (exchange_.body.empty() ? 0 : exchange_.body.capacity()));
  exchange_.body = std::string();
  queue_->drop("there is no room for its answer");
}

void Recording::end(ObservedExchange::End end, std::string_view failure) noexcept {
  try {
    exchange_.end = end;
    exchange_.failure = failure;
    exchange_.ended = std::chrono::system_clock::now();
    queue_->push(std::move(exchange_));
  } catch (...) {
    queue_->drop("memory has run out");
  }
}

}  // namespace undertext
