// What the server tells its operator: a line of JSON for each request and event, on standard error.
// A line holds what is listed here and nothing else:
// no body, no query, no header, no path but its route's pattern; of a 500, also its cause. Telling
// never waits: lines are written by a thread of their own, and where nobody reads them they are
// dropped, and counted. Any thread may tell.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace undertext {

class ServerLog {
 public:
  enum class Requests : std::uint8_t { each, none };
  ServerLog(int descriptor, Requests requests);
  ~ServerLog();  // writes what waits, as long as somebody reads it
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  struct Request {
    std::string_view method;
    // its pattern, such as "/v1/conversations/{id}"; "" where there is none
    std::string_view route;
    unsigned status = 0;
    std::chrono::nanoseconds duration{};
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::string_view tenant, token, peer;
  };
  void request(const Request& request) const;

  enum class Level : std::uint8_t { info, warning, error };
  void event(Level level, std::string_view event,
             const std::vector<std::pair<std::string_view, std::string>>& fields = {}) const;

 private:
  static constexpr std::size_t waiting_max = 8192;  // lines
  void put(std::string line) const;
  void run();
  // false: nobody reads, and the server stops; or nobody ever will
  bool write(std::string_view line) const;

  const int descriptor_;
  const Requests requests_;
  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  mutable std::deque<std::string> waiting_;
  mutable std::uint64_t dropped_ = 0;  // since this was last said
  bool stopping_ = false;
  std::thread writer_;
};

}  // namespace undertext
