#include "gateway/asked_edits.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(AskedEdits, AreTakenFromTheRequestAndUnknownOnesStay) {
  const std::optional<AskedEdits> asked = asked_edits(
      Dialect::anthropic,
      R"({"model":"m","context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":9},)"
      R"("keep":{"type":"tool_uses","value":2},"exclude_tools":["read"],"clear_at_least":{"type":"input_tokens","value":50}},)"
      R"({"type":"compact_20260112","trigger":{"type":"input_tokens","value":60000}},{"type":"new_20300101"}]},"messages":[]})");
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->edits.size(), 2u);
  EXPECT_EQ(asked->edits[0].above_tool_uses, 9u);
  EXPECT_FALSE(asked->edits[0].above_tokens);
  EXPECT_EQ(asked->edits[0].keep, 2u);
  EXPECT_EQ(asked->edits[0].tokens_gain_min, 50u);
  EXPECT_EQ(asked->edits[0].exclude, std::vector<std::string>{"read"});
  EXPECT_EQ(asked->edits[1].above_tokens, 60'000u);
  EXPECT_EQ(
      asked->body,
      R"({"model":"m","context_management":{"edits":[{"type":"new_20300101"}]},"messages":[]})");
}

TEST(AskedEdits, ACompactionMayPauseAndThinkingHasNoTrigger) {
  const std::optional<AskedEdits> asked = asked_edits(
      Dialect::anthropic,
      R"({"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"clear_thinking_20251015","keep":"all"},)"
      R"({"type":"clear_thinking_20251015","keep":{"type":"all"}},)"
      R"({"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":4}},)"
      R"({"type":"compact_20260112","pause_after_compaction":true}]}})");
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->edits.size(), 3u);
  EXPECT_EQ(asked->edits[0].kind, AskedEdit::Kind::clear_thinking);
  EXPECT_EQ(asked->edits[0].keep, 1u);
  EXPECT_EQ(asked->edits[1].keep, 4u);
  EXPECT_TRUE(asked->edits[2].pauses);
  EXPECT_EQ(asked->edits[2].above_tokens, 150'000u);
  EXPECT_EQ(asked->body,
            R"({"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"},)"
            R"({"type":"clear_thinking_20251015","keep":{"type":"all"}}]}})");
}

TEST(AskedEdits, WithoutAnythingLeftTheMemberGoes) {
  const std::optional<AskedEdits> asked = asked_edits(
      Dialect::openai_responses,
      R"({"context_management":[{"type":"compaction","compact_threshold":1000}],"input":[]})");
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->edits[0].above_tokens, 1000u);
  EXPECT_EQ(asked->body, R"({"input":[]})");
  EXPECT_FALSE(asked_edits(Dialect::anthropic, R"({"messages":[]})"));
  EXPECT_FALSE(
      asked_edits(Dialect::openai_chat,
                  R"({"context_management":[{"type":"compaction","compact_threshold":1}]})"));
}

TEST(AskedEdits, ThinkingThatOtherThinkingIsBoundToIsLeftToTheProvider) {
  const std::string_view body =
      R"({"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"compact_20260112"}]}})";
  const std::optional<AskedEdits> asked =
      asked_edits(Dialect::anthropic, body, ThinkingEdits::leave);
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->edits.size(), 1u);
  EXPECT_EQ(asked->edits[0].kind, AskedEdit::Kind::compact);
  EXPECT_EQ(asked->body,
            R"({"context_management":{"edits":[{"type":"clear_thinking_20251015"}]}})");
}

}  // namespace
}  // namespace undertext
