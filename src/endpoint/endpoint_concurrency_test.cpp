// Cancelling from another thread, and one summariser for many threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/summariser.hpp>

#include "../../tests/endpoint/fault_server.hpp"
#include "endpoint/http.hpp"

namespace undertext {
namespace {

class EndpointConcurrency : public testing::Test {
 protected:
  void SetUp() override {
    if (!http_available()) GTEST_SKIP() << "endpoint: built without libcurl";
    server_.emplace();
  }

  // Far longer than any test may take: what ends earlier was ended.
  EndpointSettings settings(const std::string& scene) const {
    return {
        .base_url = server_->url(), .model = scene, .timeout_ms = 600'000, .backoff_ms = 600'000};
  }

  static SummaryRequest request(std::stop_token cancel = {}) {
    return {.messages = {Message::make(Role::user, "Hello").value()},
            .tokens_max = 100,
            .cancel = std::move(cancel)};
  }

  // Cancels a call once it is where the scene leaves it (`arrived` returns then), and returns how
  // long it takes to end.
  static std::chrono::milliseconds cancel_while(const EndpointSettings& settings,
                                                const std::function<void()>& arrived) {
    const std::shared_ptr<const Summariser> summariser = endpoint_summariser(settings).value();
    std::optional<Result<Summary>> result;
    std::jthread caller(
        [&](const std::stop_token& cancel) { result = summariser->summarise(request(cancel)); });
    arrived();
    const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    caller.request_stop();
    caller.join();
    EXPECT_EQ(result->error().code, ErrorCode::unavailable);
    EXPECT_EQ(result->error().message, "cancelled");
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 began);
  }

  std::optional<FaultServer> server_;
};

TEST_F(EndpointConcurrency, CancellingEndsACallThatWaitsForAnAnswer) {
  // curl looks up by itself some 200 ms after it began, so only what ends earlier was woken. A busy
  // machine may spoil some tries.
  std::chrono::milliseconds fastest = std::chrono::milliseconds::max();
  for (std::size_t count = 1; count <= 5; ++count) {
    fastest = std::min(fastest,
                       cancel_while(settings("hang"), [&] { server_->wait_for_requests(count); }));
    server_->wait_for_gone(count);
  }
  EXPECT_LT(fastest.count(), 50);
}

TEST_F(EndpointConcurrency, CancellingEndsACallThatWaitsForTheRestOfAStream) {
  std::binary_semaphore text_has_come(0);
  EndpointSettings used = settings("stall");
  used.on_progress = [&](std::string_view text) {
    if (text.size() >= 20) text_has_come.release();  // all it will ever get
  };
  EXPECT_LT(cancel_while(used, [&] { text_has_come.acquire(); }).count(), 10'000);
  server_->wait_for_gone(1);
}

TEST_F(EndpointConcurrency, CancellingEndsTheWaitBeforeTheNextAttempt) {
  EXPECT_LT(cancel_while(settings("status-503"), [this] { server_->wait_for_gone(1); }).count(),
            10'000);
  EXPECT_EQ(server_->request_count(), 1u);
}

TEST_F(EndpointConcurrency, AnAnswerMayComeAfterTheConversationMovedOn) {
  const std::shared_ptr<const Summariser> summariser =
      endpoint_summariser(settings("wait-for-release")).value();
  std::optional<Result<Summary>> result;
  std::jthread caller([&] { result = summariser->summarise(request()); });
  server_->wait_for_requests(1);
  server_->release();
  caller.join();
  EXPECT_TRUE(*result);
}

TEST_F(EndpointConcurrency, ManyThreadsUseOneSummariser) {
  constexpr int threads = 8, calls = 5;
  const std::shared_ptr<const Summariser> summariser =
      endpoint_summariser(settings("knows-other-key")).value();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < threads; ++i) {
      callers.emplace_back([&] {
        for (int call = 0; call < calls; ++call)
          good += static_cast<bool>(summariser->summarise(request()));
      });
    }
  }
  EXPECT_EQ(good, threads * calls);
}

TEST_F(EndpointConcurrency, CancellingOneCallLeavesTheOthersAlone) {
  const std::shared_ptr<const Summariser> summariser =
      endpoint_summariser(settings("wait-for-release")).value();
  std::vector<std::optional<Result<Summary>>> results(6);
  std::vector<std::jthread> callers;
  for (std::optional<Result<Summary>>& result : results)
    callers.emplace_back(
        [&](const std::stop_token& cancel) { result = summariser->summarise(request(cancel)); });
  server_->wait_for_requests(results.size());
  for (std::size_t i = 0; i < results.size(); i += 2) {
    callers[i].request_stop();
    callers[i].join();
  }
  server_->release();
  for (std::size_t i = 1; i < results.size(); i += 2) callers[i].join();
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(static_cast<bool>(*results[i]), i % 2 == 1);
}

}  // namespace
}  // namespace undertext
