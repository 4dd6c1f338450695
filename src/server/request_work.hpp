// What one request may use up: its time, and the bytes that its operations make.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>

#include <undertext/work.hpp>

#include "http/http.hpp"
#include "server/fair_share.hpp"

namespace undertext {

// When the server began to stop. Safe for any number of threads.
class Stopping {
 public:
  using Clock = std::chrono::steady_clock;
  void begin() { since_.store(Clock::now().time_since_epoch().count()); }
  bool is_over(std::chrono::milliseconds patience) const {
    const Clock::rep since = since_.load(std::memory_order_relaxed);
    return since != 0 && Clock::now().time_since_epoch() - Clock::duration(since) >= patience;
  }

 private:
  std::atomic<Clock::rep> since_ = 0;  // 0: it is not stopping
};

struct RequestLimits {
  std::chrono::milliseconds time{60'000};  // from the beginning of the work on
  // of a client that has hung up, or sends no more: see http::Exchange
  std::chrono::milliseconds time_after_gone{1'000};
  std::chrono::milliseconds time_after_stop{2'000};        // once the server stops
  std::uint64_t bytes_made_max = std::uint64_t{32} << 20;  // of messages that operations make
};

// What reading the messages of a request's body takes besides its JSON values.
std::uint64_t blocks_bytes(std::string_view body);

// For as long as `exchange`, `stopping` and `processors` live. What is made counts with what the
// request has of the budget.
std::shared_ptr<Work> work_of_request(http::Exchange& exchange, const std::string& tenant,
                                      const Stopping& stopping, FairShare& processors,
                                      const RequestLimits& limits);

}  // namespace undertext
