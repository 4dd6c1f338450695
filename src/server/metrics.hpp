// What happened so far, in the text format of Prometheus. Its labels are routes of the table,
// statuses of a list and names of gauges: nothing that a client could make more of.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/route.hpp"

namespace undertext {

std::string metric_number(double number);  // as that format spells it

class Metrics {
 public:
  explicit Metrics(const std::vector<Route>& routes);  // which it borrows

  // `route` is one of the table, or null where there is none for the request. Any thread may call
  // it.
  void answered(const Route* route, unsigned status, std::chrono::nanoseconds duration,
                std::uint64_t bytes_in, std::uint64_t bytes_out);

  void failed(ErrorCode code);  // what was answered says so. Any thread may call it

  struct Number {
    std::string_view name;  // without "undertext_"
    std::string_view what;
    std::uint64_t value = 0;
    enum class Kind : std::uint8_t { gauge, counter } kind = Kind::gauge;
  };
  std::string text(const std::vector<Number>& numbers) const;  // these beside its own
  static std::string text_of(const std::vector<Number>& numbers);
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  static constexpr std::array<unsigned, 28> statuses = {
      200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 412,
      413, 414, 415, 417, 421, 422, 428, 429, 431, 500, 501, 503, 505, 0};
  static constexpr std::array<double, 13> bounds_s = {
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};

  struct OfRoute {
    std::array<std::atomic<std::uint64_t>, statuses.size()> answers = {};
    std::array<std::atomic<std::uint64_t>, bounds_s.size() + 1> durations = {};
    std::atomic<std::uint64_t> nanoseconds = 0, bytes_in = 0, bytes_out = 0;
  };
  std::string labels(std::size_t index) const;

  const std::vector<Route>& routes_;
  std::vector<OfRoute> of_routes_;  // the last one is of requests without a route
  std::array<std::atomic<std::uint64_t>, error_code_count> errors_ = {};
};

}  // namespace undertext
