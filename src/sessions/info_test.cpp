#include "sessions/info.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

namespace undertext {
namespace {

SessionInfo info_of(TranscriptFormat format, std::initializer_list<std::string> lines) {
  SessionInfo info;
  SessionReader reader(format, info);
  for (const std::string& line : lines) reader.read(line);
  return info;
}

std::string opencode_answer(const std::string& cost) {
  return R"({"info":{"id":"msg_1","role":"assistant","modelID":"claude-opus-4-7","cost":)" + cost +
         R"(,"tokens":{"input":1000000,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}}})";
}

TEST(SessionInfo, AReportedCostIsTakenWhereItCanBeOne) {
  const auto cost_of = [](const std::string& cost) {
    return info_of(TranscriptFormat::opencode, {opencode_answer(cost)}).cost;
  };
  EXPECT_EQ(cost_of("0.25"), 0.25);
  EXPECT_EQ(cost_of("1e9"), 1e9);
  const double by_the_table = cost_of("0");
  EXPECT_GT(by_the_table, 0);
  for (const char* const no_cost : {"1e300", "1e999", "-1e999", "-1", "1000000001", "\"1\""})
    EXPECT_EQ(cost_of(no_cost), by_the_table) << no_cost;
}

TEST(SessionInfo, SumsStayWithinWhatTheIndexHolds) {
  const SessionInfo info =
      info_of(TranscriptFormat::opencode, {opencode_answer("1e9"), opencode_answer("1e9")});
  EXPECT_EQ(info.cost, session_cost_max);
  const std::string endless =
      R"({"info":{"id":"m","role":"assistant","modelID":"claude-opus-4-7","tokens":)"
      R"({"input":99999999999999999999999,"output":99999999999999999999999,"cache":{}}}})";
  const SessionInfo many = info_of(TranscriptFormat::opencode, {endless, endless});
  EXPECT_EQ(many.tokens.input, UINT64_MAX);
  EXPECT_EQ(many.cost, session_cost_max);
}

std::string claude_answer(const char* id, const char* usage) {
  return R"({"type":"assistant","sessionId":"s","message":{"id":")" + std::string(id) +
         R"(","model":"claude-opus-4-7","usage":)" + usage + "}}";
}

TEST(SessionInfo, WhatAnAnswerPutOutGrowsWithItsLines) {
  const SessionInfo info =
      info_of(TranscriptFormat::claude_code,
              {claude_answer("m1", R"({"input_tokens":10,"output_tokens":1})"),
               claude_answer("m1", R"({"input_tokens":10,"output_tokens":1})"),
               claude_answer("m1", R"({"input_tokens":10,"output_tokens":500})"),
               claude_answer("m1", R"({"input_tokens":0,"output_tokens":0})"),
               claude_answer("m2", R"({"input_tokens":20,"output_tokens":30})")});
  EXPECT_EQ(info.tokens, (SessionTokens{30, 530, 0, 0, 0}));
  EXPECT_EQ(info.messages, 2u);
  const SessionInfo at_once =
      info_of(TranscriptFormat::claude_code,
              {claude_answer("m1", R"({"input_tokens":10,"output_tokens":500})"),
               claude_answer("m2", R"({"input_tokens":20,"output_tokens":30})")});
  EXPECT_DOUBLE_EQ(info.cost, at_once.cost);
}

TEST(SessionInfo, WhatTheCacheKeepsForAnHourHasItsOwnPrice) {
  const auto of = [](const char* usage) {
    return info_of(TranscriptFormat::claude_code, {claude_answer("m1", usage)});
  };
  const SessionInfo usual = of(R"({"cache_creation_input_tokens":1000000})");
  const SessionInfo hour = of(
      R"({"cache_creation_input_tokens":1000000,"cache_creation":{"ephemeral_5m_input_tokens":0,)"
      R"("ephemeral_1h_input_tokens":1000000}})");
  EXPECT_DOUBLE_EQ(usual.cost, 6.25);
  EXPECT_DOUBLE_EQ(hour.cost, 10);
  EXPECT_EQ(hour.tokens.cache_write, 1'000'000u);
  EXPECT_EQ(hour.tokens.all(), 1'000'000u);
}

}  // namespace
}  // namespace undertext
