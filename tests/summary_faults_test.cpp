// A conversation whose summaries come from a real HTTP server that fails in every way it can: a
// digest takes the summary's place, the receipt says why, and the next attempt works.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

#include "endpoint/fault_server.hpp"

namespace undertext {
namespace {

std::vector<std::uint64_t> ordinals(const View& view) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < view.size(); ++i) all.push_back(view.ordinal(i).value);
  return all;
}

Message words(std::size_t number) {
  std::string text = "Request " + std::to_string(number) + ":";
  for (int i = 0; i < 30; ++i) text += " word" + std::to_string(i);
  return Message::make(Role::user, text).value();
}

class SummaryFaults : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Result<std::shared_ptr<const Summariser>> made =
        endpoint_summariser({.base_url = "http://127.0.0.1:1/v1", .model = "m"});
    if (!made && made.error().code == ErrorCode::unsupported)
      GTEST_SKIP() << "endpoint: built without libcurl";
  }

  static constexpr std::uint32_t patient_ms = 60'000;
  StrategyPtr by(const std::string& scene, std::uint32_t timeout_ms = 300) const {
    EndpointSettings settings;
    settings.base_url = server.url(scene);
    settings.model = "test-model";
    settings.timeout_ms = timeout_ms;
    settings.attempts_max = 1;
    return smart_summary(
        {.summariser = endpoint_summariser(settings).value(), .summary_tokens_max = 200});
  }

  // Compresses itself once, on the append that crosses the threshold.
  static Conversation open(StrategyPtr strategy) {
    Settings settings;
    settings.compression = {
        .enabled = true, .threshold = 800, .target_tokens = 600, .strategy = std::move(strategy)};
    return Conversation::open(settings).value();
  }
  static void cross_the_threshold(Conversation& conversation) {
    for (std::size_t i = 0; conversation.stats().tokens <= 800; ++i)
      conversation.apply({op::Append{{words(i)}}}).value();
  }
  static std::vector<Event> next_events(Conversation& conversation) {
    return conversation.apply({op::Append{{Message::make(Role::user, "next").value()}}})
        .value()
        .events;
  }
  static const Event* find(const std::vector<Event>& events, Event::Type type) {
    const auto found =
        std::find_if(events.begin(), events.end(), [&](const Event& e) { return e.type == type; });
    return found == events.end() ? nullptr : &*found;
  }

  FaultServer server;
};

TEST_F(SummaryFaults, LeadToADigestAndTheNextAttemptWorks) {
  for (const std::string scene :
       {"status-500", "hang", "stall", "empty-text", "empty", "garbage", "not-json", "html",
        "echo-long", "closes", "truncated", "cut-off", "thinks-on", "refusal"}) {
    SCOPED_TRACE(scene);
    Conversation conversation = open(by(scene));
    cross_the_threshold(conversation);
    conversation.wait_for_compression();
    ASSERT_EQ(conversation.history().receipts().size(), 1u);
    const Receipt receipt = conversation.history().receipts()[0];
    EXPECT_EQ(receipt.summariser, "digest");
    EXPECT_EQ(receipt.model, "");
    EXPECT_NE(receipt.reason.find("; summariser test-model failed: "), std::string::npos)
        << receipt.reason;
    EXPECT_NE(receipt.reason.find("; digest instead"), std::string::npos) << receipt.reason;
    EXPECT_LE(conversation.stats().tokens, 600u);

    for (std::size_t i = 0; conversation.stats().tokens <= 700; ++i)
      conversation.apply({op::Append{{words(i)}}}).value();
    const Outcome outcome = conversation.compress(*by("ok"), {.tokens_max = 600}).value();
    ASSERT_TRUE(outcome.receipt);
    EXPECT_EQ(outcome.receipt->model, "test-model-answered");
    EXPECT_EQ(outcome.receipt->prompt_tokens, 123u);
    EXPECT_EQ(outcome.receipt->completion_tokens, 45u);
    EXPECT_LE(conversation.stats().tokens, 600u);
  }
}

TEST_F(SummaryFaults, AnAnswerAfterTheConversationMovedOnIsDiscarded) {
  Conversation conversation = open(by("wait-for-release", patient_ms));
  cross_the_threshold(conversation);
  server.wait_for_requests(1);
  conversation.apply({op::Delete{Names::indices({0})}}).value();
  const std::vector<std::uint64_t> before = ordinals(conversation.view());
  server.release();
  conversation.wait_for_compression();
  EXPECT_EQ(ordinals(conversation.view()), before);
  const std::vector<Event> events = next_events(conversation);
  const Event* discarded = find(events, Event::Type::compression_discarded);
  ASSERT_TRUE(discarded);
  EXPECT_EQ(discarded->error->code, ErrorCode::conflict);
}

TEST_F(SummaryFaults, WhatIsAppendedWhileTheModelWritesStays) {
  Conversation conversation = open(by("wait-for-release", patient_ms));
  cross_the_threshold(conversation);
  server.wait_for_requests(1);
  conversation.apply({op::Append{{Message::make(Role::user, "meanwhile").value()}}}).value();
  server.release();
  conversation.wait_for_compression();
  const View view = conversation.view();
  EXPECT_EQ(view[view.size() - 1].text(), "meanwhile");
  EXPECT_EQ(conversation.history().receipts().size(), 1u);
  EXPECT_NE(view[0].text().find("src/parser.cpp"), std::string::npos);
}

TEST_F(SummaryFaults, ACancelledSummaryEndsAtOnce) {
  Conversation conversation = open(by("hang", patient_ms));
  cross_the_threshold(conversation);
  server.wait_for_requests(1);
  conversation.cancel_compression();
  conversation.wait_for_compression();
  EXPECT_TRUE(find(next_events(conversation), Event::Type::compression_failed));
}

}  // namespace
}  // namespace undertext
