// What the server tells its operator: a line of JSON for each request and event, on standard error. A line holds what is listed here and nothing else:
// no body, no query, no header, no path but its route's pattern.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace undertext {

class ServerLog {
 public:
  enum class Requests : std::uint8_t { each, none };
  ServerLog(int descriptor, Requests requests) : descriptor_(descriptor), requests_(requests) {}

  struct Request {
    std::string_view method;
    std::string_view route;  // its pattern, such as "/v1/conversations/{id}"; "" where there is none
    unsigned status = 0;
    std::chrono::nanoseconds duration{};
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::string_view tenant, token, peer;
  };
  void request(const Request& request) const;

  enum class Level : std::uint8_t { info, warning, error };
  void event(Level level, std::string_view event, const std::vector<std::pair<std::string_view, std::string>>& fields = {}) const;

 private:
  void put(std::string line) const;  // in one write, so that lines of several threads never mix

  const int descriptor_;
  const Requests requests_;
};

}  // namespace undertext
