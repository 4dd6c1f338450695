#include "server/metrics.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

using std::chrono::milliseconds;

TEST(MetricsText, CountsByRouteAndStatusAndDuration) {
  std::vector<Route> routes(2);
  routes[0].method = routes[1].method = "GET";
  routes[0].path = "/v1/things/{id}";
  routes[1].path = "/never";
  Metrics metrics(routes);
  metrics.answered(&routes[0], 200, milliseconds(3), 10, 100);
  metrics.answered(&routes[0], 200, milliseconds(30), 0, 50);
  metrics.answered(&routes[0], 418, milliseconds(20'000), 0, 0);
  metrics.answered(nullptr, 404, milliseconds(0), 0, 0);
  metrics.failed(ErrorCode::corrupt);
  const std::string text = metrics.text({{"queue_waiting", "Requests that wait.", 7}});
  const auto has = [&](const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
  };
  EXPECT_TRUE(
      has(R"(undertext_requests_total{method="GET",route="/v1/things/{id}",status="200"} 2)"))
      << text;
  EXPECT_TRUE(
      has(R"(undertext_requests_total{method="GET",route="/v1/things/{id}",status="other"} 1)"));
  EXPECT_TRUE(has(R"(undertext_requests_total{method="",route="",status="404"} 1)"));
  EXPECT_TRUE(has(
      R"(undertext_request_seconds_bucket{method="GET",route="/v1/things/{id}",le="0.0025"} 0)"));
  EXPECT_TRUE(has(
      R"(undertext_request_seconds_bucket{method="GET",route="/v1/things/{id}",le="0.005"} 1)"));
  EXPECT_TRUE(
      has(R"(undertext_request_seconds_bucket{method="GET",route="/v1/things/{id}",le="0.05"} 2)"));
  EXPECT_TRUE(
      has(R"(undertext_request_seconds_bucket{method="GET",route="/v1/things/{id}",le="10"} 2)"));
  EXPECT_TRUE(
      has(R"(undertext_request_seconds_bucket{method="GET",route="/v1/things/{id}",le="+Inf"} 3)"));
  EXPECT_TRUE(has(R"(undertext_request_seconds_count{method="GET",route="/v1/things/{id}"} 3)"));
  EXPECT_TRUE(has(R"(undertext_request_seconds_sum{method="GET",route="/v1/things/{id}"} 20.033)"));
  EXPECT_TRUE(has(R"(undertext_request_bytes_total{method="GET",route="/v1/things/{id}"} 10)"));
  EXPECT_TRUE(has(R"(undertext_reply_bytes_total{method="GET",route="/v1/things/{id}"} 150)"));
  EXPECT_TRUE(has("undertext_queue_waiting 7"));
  EXPECT_TRUE(has(R"(undertext_errors_total{code="corrupt"} 1)"));
  EXPECT_TRUE(has(R"(undertext_errors_total{code="unavailable"} 0)"));
  EXPECT_EQ(text.find("/never"), std::string::npos) << "what was never asked for says nothing";
}

}  // namespace
}  // namespace undertext
