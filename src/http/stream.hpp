// What a stream's writer and its connection share: bytes that wait, and whether there is a point in more of them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace undertext::http {

class StreamState {
 public:
  explicit StreamState(std::uint64_t unsent_max) : unsent_max_(unsent_max) {}

  enum class Wait : std::uint8_t { yes, no };
  enum class Added : std::uint8_t { no, yes, first, overflow };  // the last two: the connection must be told
  Added add(std::string bytes, Wait wait, const std::function<bool()>& goes_on = {});
  bool finish(bool cut);  // true: the connection must be told
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
  bool wait_for_room(std::unique_lock<std::mutex>& lock, const std::function<bool()>& goes_on);

  const std::uint64_t unsent_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::uint64_t unsent_ = 0;  // waiting or on their way
  bool is_open_ = true;
  bool is_finished_ = false;
  bool is_cut_ = false;
  bool is_told_ = false;
};

}  // namespace undertext::http
