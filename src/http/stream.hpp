// What a stream's writer and its connection share: bytes that wait, and whether there is a point in
// more of them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace undertext::http {

class StreamState {
 public:
  explicit StreamState(std::uint64_t unsent_max) : unsent_max_(unsent_max) {}
  // Of a relay: whoever writes asks has_room(), and is told by `on_drained` when there is room
  // again.
  StreamState(std::uint64_t unsent_max, std::function<void()> on_drained)
      : unsent_max_(unsent_max), on_drained_(std::move(on_drained)) {}

  enum class Wait : std::uint8_t { yes, no };
  // the last two: the connection must be told
  enum class Added : std::uint8_t { no, yes, first, overflow };
  Added add(std::string bytes, Wait wait, const std::function<bool()>& goes_on = {});
  bool has_room();
  Added add_anyway(std::string_view bytes);  // a relay's
  bool finish(bool cut);                     // true: the connection must be told
  bool is_open() const;

  struct Taken {
    std::string bytes;
    bool is_finished = false;
    bool is_cut = false;
  };
  Taken take();                  // the connection's: what is to be sent now
  void sent(std::size_t bytes);  // makes room
  void close() noexcept;         // the connection has ended

 private:
  Added added();
  bool wait_for_room(std::unique_lock<std::mutex>& lock, const std::function<bool()>& goes_on);

  const std::uint64_t unsent_max_;
  const std::function<void()> on_drained_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::uint64_t unsent_ = 0;  // waiting or on their way
  bool is_open_ = true;
  bool is_finished_ = false;
  bool is_cut_ = false;
  bool is_told_ = false;
  bool is_waiting_ = false;  // whoever writes, for on_drained_
};

}  // namespace undertext::http
