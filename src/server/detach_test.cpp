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

std::string block_of(std::string_view sealed) {
  return R"({"type":"compaction","content":"S","encrypted_content":")" + std::string(sealed) +
         R"("})";
}

constexpr std::string_view summary_of_the_user =
    R"({"role":"user","content":)"
    R"("The earlier part of this conversation was compacted. What matters of it:\n\nS"})";

TEST(Detached, AListBeginsWithTheSummaryOfItsLastBlockAsAMessageOfTheUser) {
  const CompactionSeal seal("key");
  const std::string block =
      block_of(seal.seal({.conversation = "c", .version = 3, .summary = "S"}, "w"));
  const std::string former =
      block_of(seal.seal({.conversation = "c", .version = 2, .summary = "R"}, "w"));
  const std::string assistant = R"({"role":"assistant","content":[)",
                    answer = R"({"type":"text","text":"a"})",
                    question = R"({"role":"user","content":"q"})";
  const std::string rest = assistant + answer + "]}," + question + "]";
  struct Case {
    const char* name;
    std::string list, detached;
    std::uint64_t items = 1;
  };
  for (const Case& c : {
           Case{"what stood before it was dropped",
                "[" + assistant + block + "," + answer + "]}," + question + "]",
                "[" + std::string(summary_of_the_user) + "," + rest},
           Case{"what stood before it was kept",
                "[" + question + "," + assistant + answer + "]},\n" + question + "," + assistant +
                    block + "," + answer + "]}," + question + "]",
                "[" + std::string(summary_of_the_user) + "," + rest},
           Case{"there are two",
                "[" + question + "," + assistant + former + "," + answer + "]}," + question + "," +
                    assistant + block + "," + answer + "]}," + question + "]",
                "[" + std::string(summary_of_the_user) + "," + rest, 2},
           Case{"nothing was said behind it", "[" + assistant + block + "]}," + question + "]",
                "[" + std::string(summary_of_the_user) + "," + question + "]"},
           Case{"in a whole request",
                R"({"model":"m","messages":[)" + assistant + block + "," + answer + "]}," +
                    question + R"(],"max_tokens":9})",
                R"({"model":"m","messages":[)" + std::string(summary_of_the_user) + "," + rest +
                    R"(,"max_tokens":9})"},
       }) {
    const Detached result = detached(c.list, seal);
    EXPECT_EQ(result.text, c.detached) << c.name;
    EXPECT_EQ(result.items, c.items) << c.name;
    EXPECT_EQ(result.unopened + result.unread, 0u) << c.name;
    EXPECT_EQ(detached(result.text, seal).text, result.text) << c.name << ": twice is once";
  }
}

TEST(Detached, AnotherKeysBlockStaysInAListWithTheMessagesBehindOurs) {
  const CompactionSeal seal("key");
  const CompactionPointer pointer{.conversation = "c", .version = 3, .summary = "S"};
  const std::string assistant = R"({"role":"assistant","content":[)",
                    question = R"({"role":"user","content":"q"})",
                    ours = assistant + block_of(seal.seal(pointer, "w")) + "]}",
                    theirs = assistant + block_of(CompactionSeal("another").seal(pointer, "w")) +
                             R"(,{"type":"text","text":"a"}]})";
  const Detached result =
      detached("[" + question + "," + ours + "," + question + "," + theirs + "]", seal);
  EXPECT_EQ(result.items, 1u);
  EXPECT_EQ(result.unopened, 1u);
  EXPECT_EQ(result.text,
            "[" + std::string(summary_of_the_user) + "," + question + "," + theirs + "]");
}

TEST(Detached, AMessageThatIsALineHasTheSummaryInALineBeforeIt) {
  const CompactionSeal seal("key");
  const std::string block =
      block_of(seal.seal({.conversation = "c", .version = 3, .summary = "S"}, "w"));
  const std::string question = R"({"role":"user","content":"q"})";
  const std::string lines = R"({"role":"assistant","content":[)" + block +
                            R"(,{"type":"text","text":"a"}]})" + "\n" + question + "\n" +
                            R"({"role":"assistant","content":[)" + block + "]}\n";
  const Detached result = detached(lines, seal);
  EXPECT_EQ(result.items, 2u);
  EXPECT_EQ(result.text, std::string(summary_of_the_user) + "\n" +
                             R"({"role":"assistant","content":[{"type":"text","text":"a"}]})" +
                             "\n" + question + "\n" + std::string(summary_of_the_user) + "\n");
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
