// What the connections of one server have in common: the limits, the calls, the counts, and who is
// connected.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "http/http.hpp"
#include "http/reply_text.hpp"
#include "http/wire.hpp"

namespace undertext::http {

class Connection;

struct Shared {
  Limits limits;
  Calls calls;  // only on the loops' threads
  bool is_secure = false;
  std::atomic<bool> is_stopping = false;
  std::atomic<std::uint64_t> connections_total = 0, connections_refused = 0, refused = 0,
                             malformed = 0, timed_out = 0;

  bool enter(const std::string& peer);           // false: over a limit
  void leave(const std::string& peer) noexcept;  // see Seat
  std::uint64_t connections() const;
  void wait_until_empty(std::chrono::milliseconds patience);

 private:
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::unordered_map<std::string, std::uint32_t> peers_;
  std::uint64_t connections_ = 0;
};

// One connection's place among those that are allowed; given back when it goes.
class Seat {
 public:
  // none: over a limit
  static std::optional<Seat> take(std::shared_ptr<Shared> shared, std::string peer);
  Seat(Seat&&) noexcept = default;
  Seat& operator=(Seat&&) = delete;
  ~Seat() {
    if (shared_) shared_->leave(peer_);
  }
  const std::string& peer() const { return peer_; }

 private:
  Seat(std::shared_ptr<Shared> shared, std::string peer)
      : shared_(std::move(shared)), peer_(std::move(peer)) {}
  std::shared_ptr<Shared> shared_;
  std::string peer_;
};

// The connections of one loop. Only its thread touches them; the counts are for all.
struct Lane {
  std::shared_ptr<Loop> loop = Loop::make();
  std::vector<std::shared_ptr<Connection>> connections;
  DateText date;
  std::atomic<std::uint32_t> open = 0;
  std::atomic<std::uint64_t> bytes_in = 0, bytes_out = 0;

  void add(const std::shared_ptr<Connection>& connection);
  void remove(Connection& connection);
};

}  // namespace undertext::http
