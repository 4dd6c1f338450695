#include "server/metrics.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace undertext {
namespace {

void begin(std::string& out, std::string_view name, std::string_view kind, std::string_view what) {
  out.append("# HELP undertext_")
      .append(name)
      .append(" ")
      .append(what)
      .append("\n# TYPE undertext_")
      .append(name);
  out.append(" ").append(kind).append("\n");
}

void put(std::string& out, std::string_view name, const std::string& labels,
         const std::string& value) {
  out.append("undertext_").append(name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(value).append("\n");
}

std::uint64_t of(const std::atomic<std::uint64_t>& number) {
  return number.load(std::memory_order_relaxed);
}

}  // namespace

std::string metric_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

Metrics::Metrics(const std::vector<Route>& routes)
    : routes_(routes), of_routes_(routes.size() + 1) {}

void Metrics::answered(const Route* route, unsigned status, std::chrono::nanoseconds duration,
                       std::uint64_t bytes_in, std::uint64_t bytes_out) {
  const std::size_t index =
      route == nullptr ? routes_.size() : static_cast<std::size_t>(route - routes_.data());
  OfRoute& mine = of_routes_[index];
  const auto known = std::find(statuses.begin(), statuses.end() - 1, status);
  mine.answers[static_cast<std::size_t>(known - statuses.begin())].fetch_add(
      1, std::memory_order_relaxed);
  const double seconds = std::chrono::duration<double>(duration).count();
  const auto bound = std::lower_bound(bounds_s.begin(), bounds_s.end(), seconds);
  mine.durations[static_cast<std::size_t>(bound - bounds_s.begin())].fetch_add(
      1, std::memory_order_relaxed);
  mine.nanoseconds.fetch_add(static_cast<std::uint64_t>(duration.count()),
                             std::memory_order_relaxed);
  mine.bytes_in.fetch_add(bytes_in, std::memory_order_relaxed);
  mine.bytes_out.fetch_add(bytes_out, std::memory_order_relaxed);
}

void Metrics::failed(ErrorCode code) {
  errors_[static_cast<std::size_t>(code)].fetch_add(1, std::memory_order_relaxed);
}

std::string Metrics::labels(std::size_t index) const {
  if (index == routes_.size()) return R"(method="",route="")";
  return R"(method=")" + routes_[index].method + R"(",route=")" + routes_[index].path + "\"";
}

std::string Metrics::text(const std::vector<Number>& numbers) const {
  std::string out;
  begin(out, "requests_total", "counter", "Requests answered, by route and status.");
  for (std::size_t i = 0; i < of_routes_.size(); ++i)
    for (std::size_t s = 0; s < statuses.size(); ++s)
      if (const std::uint64_t count = of(of_routes_[i].answers[s]); count > 0)
        put(out, "requests_total",
            labels(i) + R"(,status=")" +
                (statuses[s] == 0 ? "other" : std::to_string(statuses[s])) + "\"",
            std::to_string(count));
  begin(out, "request_seconds", "histogram",
        "From the head of a request to its answer, or to the end of a stream.");
  for (std::size_t i = 0; i < of_routes_.size(); ++i) {
    std::uint64_t count = 0;
    std::string buckets;
    for (std::size_t b = 0; b <= bounds_s.size(); ++b) {
      count += of(of_routes_[i].durations[b]);
      const std::string bound = b < bounds_s.size() ? metric_number(bounds_s[b]) : "+Inf";
      put(buckets, "request_seconds_bucket", labels(i) + R"(,le=")" + bound + "\"",
          std::to_string(count));
    }
    if (count == 0) continue;
    out += buckets;
    put(out, "request_seconds_sum", labels(i),
        metric_number(static_cast<double>(of(of_routes_[i].nanoseconds)) / 1e9));
    put(out, "request_seconds_count", labels(i), std::to_string(count));
  }
  for (const auto& [name, what, member] :
       {std::tuple("request_bytes_total", "Bytes of bodies that came in.", &OfRoute::bytes_in),
        std::tuple("reply_bytes_total", "Bytes of bodies that went out.", &OfRoute::bytes_out)}) {
    begin(out, name, "counter", what);
    for (std::size_t i = 0; i < of_routes_.size(); ++i)
      if (const std::uint64_t bytes = of(of_routes_[i].*member); bytes > 0)
        put(out, name, labels(i), std::to_string(bytes));
  }
  begin(out, "errors_total", "counter",
        "Answers of routes that say an error, by its code; corrupt is the store's, and most of "
        "unavailable.");
  for (std::size_t code = 0; code < error_code_count; ++code)
    put(out, "errors_total", R"(code=")" + std::string(name(static_cast<ErrorCode>(code))) + "\"",
        std::to_string(of(errors_[code])));
  return out + text_of(numbers);
}

std::string Metrics::text_of(const std::vector<Number>& numbers) {
  std::string out;
  for (const Number& number : numbers) {
    begin(out, number.name, number.kind == Number::Kind::gauge ? "gauge" : "counter", number.what);
    put(out, number.name, "", std::to_string(number.value));
  }
  return out;
}

}  // namespace undertext
