#include <string>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

namespace undertext {
namespace {

constexpr std::int64_t start_ms = 1'790'000'000'000;

// A request that was recorded and not followed: its version says nothing of its messages.
void record(Conversation& conversation, const std::string& request) {
  RequestRecord record;
  record.version = conversation.version();
  record.at_ms = start_ms;
  record.dialect = "anthropic";
  record.model = "claude-sonnet-4-5";
  record.status = 200;
  record.usage = {.request_id = std::to_string(conversation.requests().value().size() + 1),
                  .model = record.model,
                  .prompt = 10'000,
                  .completion = 10,
                  .cached = 0,
                  .at_ms = start_ms,
                  .estimated_prompt = 10'000,
                  .cache_written = 10'000};
  conversation.record_request(std::move(record), request).value();
}

std::string asking(const std::string& system, const std::string& question) {
  return R"({"model":"claude-sonnet-4-5","system":")" + system +
         R"(","messages":[{"role":"user","content":")" + question + R"("}]})";
}

Ledger ledger_of(const std::string& before, const std::string& after) {
  Conversation conversation;
  record(conversation, before);
  record(conversation, after);
  return conversation.ledger().value();
}

TEST(RequestMoney, AMissOfARequestThatWasNotFollowedIsAChangeWhereItsTextDiffers) {
  const Ledger ledger = ledger_of(asking("It is 10:15.", "hi"), asking("It is 10:16.", "hi"));
  ASSERT_EQ(ledger.findings.size(), 1u);
  EXPECT_EQ(ledger.findings[0].cause, MissCause::changed);
  EXPECT_EQ(ledger.turns[1].cause, MissCause::changed);
  EXPECT_EQ(ledger.findings[0].at.path, "system[0].text");
}

TEST(RequestMoney, AMissOfARequestThatWasNotFollowedIsTheUpstreamsWhereItsTextIsTheSame) {
  const std::string request = asking("It is 10:15.", "hi");
  const Ledger ledger = ledger_of(request, request);
  ASSERT_EQ(ledger.findings.size(), 1u);
  EXPECT_EQ(ledger.findings[0].cause, MissCause::upstream);
  EXPECT_EQ(ledger.turns[1].cause, MissCause::upstream);
}

}  // namespace
}  // namespace undertext
