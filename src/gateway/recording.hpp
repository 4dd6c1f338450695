// The way from traffic to the recorder: a queue that is bounded in bytes, and one thread that
// empties it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include "gateway/observed.hpp"
#include "http/budget.hpp"

namespace undertext {

class Recording;

// No call but stop() waits, and none throws.
class RecordingQueue {
 public:
  using OnEvent = std::function<void(std::string_view event, const std::string& detail)>;
  // `budget`: what may wait, of all and of each tenant.
  RecordingQueue(std::shared_ptr<ExchangeRecorder> recorder, std::shared_ptr<http::Budget> budget,
                 OnEvent on_event);
  ~RecordingQueue();  // as stop(), without a limit
  RecordingQueue(const RecordingQueue&) = delete;
  RecordingQueue& operator=(const RecordingQueue&) = delete;

  // A request that is on its way. None: it is not recorded, because there is no room for it.
  std::optional<Recording> begin(ObservedRequest request) noexcept;
  // Something that needs the recorder, on its thread, behind what was begun before. Dropped where
  // the queue stops first.
  using Asked = std::function<void(ExchangeRecorder& recorder)>;
  void ask(Asked asked) { push(std::move(asked)); }
  // Until all that was handed over before is recorded, or the time has come. Any thread but the
  // recorder's.
  void wait_for_recorder(std::chrono::steady_clock::time_point deadline);
  // What waits is still recorded, as far as that is begun by `deadline`; the rest is dropped.
  void stop(std::chrono::steady_clock::time_point deadline =
                std::chrono::steady_clock::time_point::max());

  struct Counts {
    std::uint64_t recorded = 0, dropped = 0, failed = 0, bytes = 0;
  };
  Counts counts() const;

 private:
  friend class Recording;
  using Item = std::variant<std::shared_ptr<const ObservedRequest>, ObservedExchange, Asked>;
  void push(Item item);
  void drop(std::string_view why) noexcept;
  void run();
  void record(Item item);
  void give_up(std::deque<Item> rest) noexcept;
  void report(std::string_view event, std::uint64_t count) noexcept;

  const std::shared_ptr<ExchangeRecorder> recorder_;
  const OnEvent on_event_;
  const std::shared_ptr<http::Budget> budget_;
  std::atomic<std::uint64_t> recorded_ = 0, dropped_ = 0, failed_ = 0;
  std::atomic<std::int64_t> reported_s_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> waiting_;
  std::uint64_t pushed_ = 0, taken_ = 0;  // items, ever; taken_ counts those that are done
  std::optional<std::chrono::steady_clock::time_point> stops_at_;
  std::thread thread_;
};

// One exchange while it lasts. One thread at a time; nothing throws.
class Recording {
 public:
  Recording(RecordingQueue& queue, ObservedExchange exchange)
      : queue_(&queue), exchange_(std::move(exchange)) {}

  const ObservedRequest& request() const { return *exchange_.request; }

  void head(unsigned status, const std::vector<http::Field>& fields) noexcept;
  void answered_itself(unsigned status) noexcept { exchange_.status = status; }  // the gateway did
  std::shared_ptr<const ObservedRequest> shared_request() const { return exchange_.request; }
  void bytes(std::string_view bytes) noexcept;
  void end(ObservedExchange::End end, std::string_view failure) noexcept;  // hands it over

 private:
  void give_up_body() noexcept;

  RecordingQueue* queue_;
  ObservedExchange exchange_;
};

}  // namespace undertext
