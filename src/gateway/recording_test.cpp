#include "gateway/recording.hpp"

#include <future>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace undertext {
namespace {

// Keeps what it gets, once it may go on.
class KeepingRecorder : public ExchangeRecorder {
 public:
  void request(const std::shared_ptr<const ObservedRequest>& request) override {
    goes_on.wait();
    requests.push_back(request);
    if (fails) throw std::runtime_error("no disk");
  }
  void finished(ObservedExchange exchange) override { exchanges.push_back(std::move(exchange)); }

  std::promise<void> may_go_on;
  const std::shared_future<void> goes_on = may_go_on.get_future().share();
  bool fails = false;
  std::vector<std::shared_ptr<const ObservedRequest>> requests;
  std::vector<ObservedExchange> exchanges;
};

ObservedRequest request_of(std::string body, RecordLevel level = RecordLevel::full) {
  ObservedRequest request;
  request.level = level;
  request.target = "/v1/x?key=secret&a=1";
  request.fields = {{"Authorization", "Bearer secret"}, {"Content-Encoding", "gzip"}, {"X-A", "1"}};
  request.body_bytes = body.size();
  request.body = std::make_shared<const std::string>(std::move(body));
  return request;
}

struct Fixture {
  explicit Fixture(std::uint64_t bytes_max)
      : Fixture(std::make_shared<http::Budget>(bytes_max, bytes_max)) {}
  explicit Fixture(std::shared_ptr<http::Budget> budget)
      : queue(recorder, std::move(budget),
              [this](std::string_view, const std::string&) { ++events; }) {}
  std::shared_ptr<KeepingRecorder> recorder = std::make_shared<KeepingRecorder>();
  std::atomic<int> events = 0;
  RecordingQueue queue;
};

TEST(Recording, ARecorderGetsBothBodiesAndNoSecret) {
  Fixture at(1 << 20);
  at.recorder->may_go_on.set_value();
  std::optional<Recording> recording = at.queue.begin(request_of("question"));
  recording->head(200, {{"Content-Encoding", "zstd"}, {"Set-Cookie", "secret"}});
  recording->bytes("ans");
  recording->bytes("wer");
  recording->end(ObservedExchange::End::torn, "upstream_torn");
  at.queue.stop();
  ASSERT_EQ(at.recorder->exchanges.size(), 1u);
  const ObservedExchange& exchange = at.recorder->exchanges[0];
  EXPECT_EQ(exchange.request, at.recorder->requests.at(0));
  EXPECT_EQ(*exchange.request->body, "question");
  EXPECT_EQ(exchange.request->content_encoding, "gzip");
  EXPECT_EQ(exchange.request->target, "/v1/x?a=1");
  EXPECT_EQ(exchange.request->find("authorization"), nullptr);
  EXPECT_EQ(exchange.body, "answer");
  EXPECT_EQ(exchange.content_encoding, "zstd");
  EXPECT_EQ(exchange.fields.size(), 1u);
  EXPECT_EQ(exchange.end, ObservedExchange::End::torn);
  EXPECT_TRUE(exchange.first_byte);
}

TEST(Recording, OfMetadataThereAreSizesWithoutBodies) {
  Fixture at(1 << 20);
  at.recorder->may_go_on.set_value();
  std::optional<Recording> recording =
      at.queue.begin(request_of("question", RecordLevel::metadata));
  recording->head(200, {});
  recording->bytes("answer");
  recording->end(ObservedExchange::End::complete, "");
  EXPECT_FALSE(at.queue.begin(request_of("question", RecordLevel::none)));
  at.queue.stop();
  const ObservedExchange& exchange = at.recorder->exchanges.at(0);
  EXPECT_EQ(exchange.request->body, nullptr);
  EXPECT_EQ(exchange.request->body_bytes, 8u);
  EXPECT_EQ(exchange.body, "");
  EXPECT_EQ(exchange.body_bytes, 6u);
}

TEST(Recording, WhatDoesNotFitIsDroppedAndCountedWhileTheRecorderIsBusy) {
  Fixture at(100 << 10);
  std::optional<Recording> first = at.queue.begin(request_of(std::string(60 << 10, 'a')));
  ASSERT_TRUE(first);
  EXPECT_FALSE(at.queue.begin(request_of(std::string(60 << 10, 'b'))))
      << "there is no room for its request";
  first->head(200, {});
  for (int i = 0; i < 100; ++i) first->bytes(std::string(1 << 10, 'c'));
  first->end(ObservedExchange::End::complete, "");
  EXPECT_EQ(at.queue.counts().dropped, 2u);
  EXPECT_EQ(at.events, 1) << "not for each of them";
  at.recorder->may_go_on.set_value();
  at.queue.stop();
  ASSERT_EQ(at.recorder->exchanges.size(), 1u);
  EXPECT_TRUE(at.recorder->exchanges[0].dropped);
  EXPECT_EQ(at.recorder->exchanges[0].body, "");
  EXPECT_EQ(at.recorder->exchanges[0].body_bytes, 100u << 10);
  at.recorder->exchanges.clear();
  EXPECT_EQ(at.queue.counts().bytes, 0u);
}

TEST(Recording, ATenantThatFillsItsPartKeepsNobodyElseFromBeingRecorded) {
  Fixture at(std::make_shared<http::Budget>(100 << 10, 50 << 10, 20 << 10));
  const auto begin = [&](const std::string& tenant, std::size_t bytes) {
    ObservedRequest request = request_of(std::string(bytes, 'a'));
    request.tenant = tenant;
    return at.queue.begin(std::move(request));
  };
  const std::optional<Recording> acme = begin("acme", 40 << 10);
  EXPECT_TRUE(acme);
  EXPECT_FALSE(begin("acme", 10 << 10)) << "it has its part";
  const std::optional<Recording> other = begin("other", 45 << 10);
  EXPECT_TRUE(other);
  EXPECT_TRUE(begin("third", 10 << 10)) << "a little there is always";
  EXPECT_EQ(at.queue.counts().dropped, 1u);
  at.recorder->may_go_on.set_value();
}

TEST(Recording, WhatIsNotBegunWhenItStopsIsDroppedAndCounted) {
  Fixture at(1 << 20);
  for (int i = 0; i < 3; ++i)
    at.queue.begin(request_of("question"))->end(ObservedExchange::End::complete, "");
  const auto now = std::chrono::steady_clock::now();
  std::thread stopping([&] { at.queue.stop(now); });
  at.queue.wait_for_recorder(now + std::chrono::minutes(1));  // ends as soon as it is to stop
  at.recorder->may_go_on.set_value();
  stopping.join();
  EXPECT_LE(at.recorder->requests.size(), 1u);
  EXPECT_EQ(at.queue.counts().dropped, 3u);
  EXPECT_EQ(at.queue.counts().bytes, 0u);
}

TEST(Recording, WhatARecorderThrowsIsCountedAndGoesNoFurther) {
  Fixture at(1 << 20);
  at.recorder->fails = true;
  at.recorder->may_go_on.set_value();
  std::optional<Recording> recording = at.queue.begin(request_of("question"));
  recording->end(ObservedExchange::End::complete, "");
  at.queue.stop();
  EXPECT_EQ(at.queue.counts().failed, 1u);
  EXPECT_EQ(at.queue.counts().recorded, 1u);
}

}  // namespace
}  // namespace undertext
