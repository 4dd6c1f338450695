#include "gateway/compaction_seal.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

const CompactionPointer pointer{
    .conversation = "codex-1", .version = 17, .summary = "Goal: \"ship it\" \xC3\xBC"};

TEST(CompactionSeal, WhatIsSealedOpensForWhomItWasMade) {
  const CompactionSeal seal("key");
  const std::string item = seal.seal(pointer, "acme/alice");
  EXPECT_EQ(seal.open(item, "acme/alice"), pointer);
  EXPECT_EQ(CompactionSeal("key").open(item, "acme/alice"), pointer) << "after a restart";
  EXPECT_NE(seal.seal(pointer, "acme/alice"), item)
      << "nothing tells that two items are about the same";
}

TEST(CompactionSeal, NobodyElseOpensIt) {
  const CompactionSeal seal("key");
  const std::string item = seal.seal(pointer, "acme/alice");
  EXPECT_FALSE(seal.open(item, "acme/bob"));
  EXPECT_FALSE(seal.open(item, "other/alice"));
  EXPECT_FALSE(CompactionSeal("another key").open(item, "acme/alice"));
}

TEST(CompactionSeal, AnItemWithAnyByteChangedIsForged) {
  const CompactionSeal seal("key");
  const std::string item = seal.seal(pointer, "w");
  for (std::size_t i = 0; i < item.size(); ++i) {
    std::string forged = item;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(seal.open(forged, "w").has_value()) << i;
    EXPECT_FALSE(seal.open(item.substr(0, i), "w").has_value()) << i;
  }
  EXPECT_FALSE(seal.open(item + "A", "w"));
  EXPECT_FALSE(seal.open("", "w"));
  EXPECT_FALSE(seal.open("ut1.", "w"));
}

std::string compaction(const std::string& item) {
  return R"({"type":"compaction","encrypted_content":")" + item + "\"}";
}

TEST(CompactionSeal, OnlyCompactionItemsAreItems) {
  const std::string item = CompactionSeal("key").seal(pointer, "w");
  const std::string quoted = '"' + item + '"';
  const std::string body =
      R"({"input":[)" + compaction(item) + R"(,{"type":"message","role":"user","content":)" +
      quoted + R"(},{"role":"user","content":[{"type":"input_text","text":)" + quoted +
      R"(}]},{"type":"function_call_output","call_id":"c","output":)" + quoted +
      R"(},{"type":"function_call_output","call_id":"d","output":[)" + compaction(item) +
      R"(]},{"type":"reasoning","encrypted_content":)" + quoted + "}," +
      compaction("gAAAAprovider") + "," + compaction("see " + item) +
      R"(,{"x":"ut1.short"}],"metadata":{"a":)" + compaction(item) + "}}";
  const std::vector<SealedItem> found = sealed_items(Dialect::openai_responses, body);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(body.substr(found[0].text.begin, found[0].text.end - found[0].text.begin), item);
  EXPECT_EQ(body.substr(found[0].whole.begin, found[0].whole.end - found[0].whole.begin),
            compaction(item));
  EXPECT_FALSE(found[0].is_block);
}

TEST(CompactionSeal, OfAMessageOnlyItsOwnBlocksAreItems) {
  const std::string item = CompactionSeal("key").seal(pointer, "w");
  const std::string body =
      R"({"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[)" +
      compaction(item) + R"(]}]},{"role":"assistant","content":[)" + compaction(item) +
      R"(,{"type":"text","text":"a"}]},{"role":"user","content":")" + item + R"("}],"system":[)" +
      compaction(item) + "]}";
  const std::vector<SealedItem> found = sealed_items(Dialect::anthropic, body);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_block);
  EXPECT_EQ(
      with_summaries(Dialect::anthropic, body, {"S"}),
      R"({"messages":[{"role":"user","content":)"
      R"("The earlier part of this conversation was compacted. What matters of it:\n\nS"},)"
      R"({"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":")" +
          item + R"("}],"system":[)" + compaction(item) + "]}");
}

TEST(CompactionSeal, AMessageThatQuotesAnItemStaysAsItIs) {
  const std::string item = CompactionSeal("key").seal(pointer, "w");
  const std::string said = R"({"role":"user","content":"keep me: \")" + item +
                           R"(\""},{"role":"user","content":")" + item + "\"}";
  const std::string body = R"({"input":[)" + said + "," + compaction(item) + "," + said + "]}";
  EXPECT_EQ(
      with_summaries(Dialect::openai_responses, body, {"S"}),
      R"({"input":[)" + said +
          R"(,{"role":"user","content":"The earlier part of this conversation was compacted. What matters of it:\n\nS"},)" +
          said + "]}");
}

TEST(CompactionSeal, ARequestCanDoWithSummariesAlone) {
  const std::string item = CompactionSeal("key").seal(pointer, "w");
  const std::string body =
      R"({"model":"m", "input":[{"role":"user","content":"a"},{"type":"compaction","id":"c","encrypted_content":")" +
      item + R"("},{"role":"user","content":"b"}],"store":false})";
  EXPECT_EQ(with_summaries(Dialect::openai_responses, body, {"S"}),
            R"({"model":"m", "input":[{"role":"user","content":"a"},{"role":"user","content":)"
            R"("The earlier part of this conversation was compacted. What matters of it:\n\nS"},)"
            R"({"role":"user","content":"b"}],"store":false})");
}

}  // namespace
}  // namespace undertext
