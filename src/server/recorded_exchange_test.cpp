#include "server/recorded_exchange.hpp"

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "server/app_fixture.hpp"
#include "server/log_fixture.hpp"

namespace undertext {
namespace {

class RecordedAnswers : public ::testing::Test, protected LogPipe {
 protected:
  RecordedAnswers() { log(ServerLog::Requests::none); }
  void answer(http::Reply reply) {
    const Recorder recorder{*log_, metrics_, streams_, is_draining_};
    const RequestNote note{&routes_[0],        "GET", "::1",
                           {"acme", "reader"}, 0,     std::chrono::steady_clock::now()};
    recorded(std::make_unique<CollectedExchange>(answered_), recorder, note)
        ->answer(std::move(reply));
  }
  const std::vector<Route> routes_{{.method = "GET", .path = "/v1/things/{id}"}};
  Metrics metrics_{routes_};
  std::atomic<bool> is_draining_ = false;
  std::atomic<std::uint64_t> streams_ = 0;
  std::shared_ptr<Answered> answered_ = std::make_shared<Answered>();
};

TEST_F(RecordedAnswers, AnInternalErrorLogsItsCauseWithItsRouteAndANameThatTheClientHasToo) {
  answer(error_reply({ErrorCode::internal, "/srv/s.db: disk I/O error"}));
  EXPECT_EQ(answered_->reply.status, 500u);
  EXPECT_EQ(answered_->reply.body.find("s.db"), std::string::npos) << answered_->reply.body;
  const std::string request = answered_->field("X-Request-Id");
  EXPECT_EQ(request.size(), 16u);
  const std::string line = written();
  for (const std::string& part :
       {std::string(R"("level":"error","event":"request failed")"),
        R"("request":")" + request + "\"",
        std::string(R"("method":"GET","route":"/v1/things/{id}")"),
        std::string(R"("code":"internal")"), std::string(R"("cause":"/srv/s.db: disk I/O error")")})
    EXPECT_NE(line.find(part), std::string::npos) << part << "\n" << line;
  EXPECT_NE(metrics_.text({}).find(R"(errors_total{code="internal"} 1)"), std::string::npos);
}

TEST_F(RecordedAnswers, AnErrorThatTheCallerCanMendIsCountedAndNotLogged) {
  answer(error_reply({ErrorCode::denied, "the token does not give this right"}));
  EXPECT_EQ(answered_->field("X-Request-Id"), "");
  EXPECT_EQ(written(), "");
  EXPECT_NE(metrics_.text({}).find(R"(errors_total{code="denied"} 1)"), std::string::npos);
}

TEST_F(RecordedAnswers, WhileTheServerDrainsEveryAnswerEndsItsConnection) {
  answer({.body = "{}"});
  EXPECT_FALSE(answered_->reply.close);
  is_draining_ = true;
  answer({.body = "{}"});
  EXPECT_TRUE(answered_->reply.close);
}

TEST(AnsweredCalls, WhatAHandlerThrowsIsTheCauseOfA500) {
  App app{{.store = [](const std::string&) -> std::shared_ptr<Store> {
    throw std::runtime_error("no route to the disk");
  }}};
  for (const char* target :
       {"/v1/conversations", "/v1/conversations/a/events", "/v1/conversations/a/export"}) {
    const std::shared_ptr<Answered> answered = call(app, "GET", target);
    EXPECT_EQ(answered->reply.status, 500u) << target;
    ASSERT_TRUE(answered->reply.error) << target;
    EXPECT_EQ(answered->reply.error->message, "no route to the disk") << target;
    EXPECT_EQ(answered->reply.body.find("disk"), std::string::npos) << target;
  }
}

}  // namespace
}  // namespace undertext
