#include "server/detach.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(Detached, ItemsBecomeTheirSummariesAndAllElseStays) {
  const CompactionSeal seal("key");
  const std::string ours =
      seal.seal({.conversation = "c", .version = 3, .summary = "we \"chose\" B"}, "w");
  const std::string theirs =
      CompactionSeal("another").seal({.conversation = "c", .version = 3, .summary = "no"}, "w");
  const std::string before = "{\"type\":\"session_meta\", \"x\":1}\nno JSON\n";
  const std::string line =
      R"({"type":"compacted","payload":{"replacement_history":[{"role":"user"},{"type":"compaction","id":"cmp_1",)";
  const Detached result = detached(before + line + R"("encrypted_content":")" + ours + "\"}]}}\n" +
                                       line + R"("encrypted_content":")" + theirs + "\"}]}}\n" +
                                       line + R"("encrypted_content":"gAAAA"}]}})",
                                   seal);
  EXPECT_EQ(result.items, 1u);
  EXPECT_EQ(result.unopened, 1u);
  EXPECT_TRUE(result.text.starts_with(before));
  EXPECT_NE(
      result.text.find(
          R"([{"role":"user"},{"type":"message","role":"user","content":[{"type":"input_text","text":"The earlier)"),
      std::string::npos);
  EXPECT_NE(result.text.find(R"(we \"chose\" B"}]}]}})"), std::string::npos);
  EXPECT_NE(result.text.find(theirs), std::string::npos);
  EXPECT_TRUE(result.text.ends_with(R"("encrypted_content":"gAAAA"}]}})"));
  EXPECT_EQ(detached(result.text, seal).text, result.text) << "twice is once";
}

TEST(Detached, ABlockOfAMessageBecomesAText) {
  const CompactionSeal seal("key");
  const std::string item = seal.seal({.conversation = "c", .version = 3, .summary = "S"}, "w");
  const Detached result = detached(
      R"({"message":{"role":"assistant","content":[{"type":"compaction","content":"S","encrypted_content":")" +
          item + R"("},{"type":"text","text":"a"}]}})",
      seal);
  EXPECT_EQ(result.items, 1u);
  EXPECT_EQ(
      result.text,
      R"({"message":{"role":"assistant","content":[{"type":"text","text":)"
      R"("The earlier part of this conversation was compacted. What matters of it:\n\nS"},{"type":"text","text":"a"}]}})");
}

TEST(Detached, AListMayBeWrittenOverSeveralLines) {
  const CompactionSeal seal("key");
  const std::string item = seal.seal({.conversation = "c", .version = 3, .summary = "S"}, "w");
  const Detached result = detached(
      "[\n {\"role\": \"user\"},\n {\n  \"type\": \"compaction\",\n  \"encrypted_content\": \"" +
          item + "\"\n }\n]\n",
      seal);
  EXPECT_EQ(result.items, 1u);
  EXPECT_EQ(result.unread, 0u);
  EXPECT_EQ(result.text,
            "[\n {\"role\": \"user\"},\n "
            R"({"type":"message","role":"user","content":[{"type":"input_text","text":)"
            R"("The earlier part of this conversation was compacted. What matters of it:\n\nS"}]})"
            "\n]\n");
}

TEST(Detached, WhatIsNoJsonAndHasAnItemIsReported) {
  const CompactionSeal seal("key");
  const std::string item = seal.seal({.conversation = "c", .version = 3, .summary = "S"}, "w");
  const std::string page =
      "SQLite format 3\n..{\"type\":\"compaction\",\"encrypted_content\":\"" + item + "\"}..\n";
  const Detached result = detached(page, seal);
  EXPECT_EQ(result.items, 0u);
  EXPECT_EQ(result.unread, 1u);
  EXPECT_EQ(result.text, page);
}

}  // namespace
}  // namespace undertext
