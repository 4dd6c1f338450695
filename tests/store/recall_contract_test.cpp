// The full-text index, asked of every store: rows of words, and what a conversation finds by them.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include <undertext/conversation.hpp>
#include <undertext/index_store.hpp>

#include "kinds.hpp"
#include "recall/index.hpp"
#include "writing.hpp"

namespace undertext {
namespace {

using test::body;
using test::stub_of;
using test::Writing;

class RecallContract : public test::OfEveryStore {
 protected:
  static WordsRow row(std::uint64_t first, std::uint64_t end, std::string bytes) {
    return {first, end, bytes.size(), std::move(bytes)};
  }
  std::vector<WordsRow> rows(const std::string& id, WordsBytes bytes = WordsBytes::with) {
    return store().words(id, 0, 1'000'000, bytes).value();
  }
  Result<void> add(Writing& writing, std::vector<std::string> bodies, std::vector<WordsRow> words) {
    Commit commit = writing.append(std::move(bodies));
    commit.words = std::move(words);
    Result<void> done = store().commit(commit);
    if (done) writing.taken(commit);
    return done;
  }

  Conversation open(const std::string& id = "a") { return Conversation::open(shared(), id).value(); }
  static Operation say(const std::string& text) { return {op::Append{{Message::make(Role::user, text).value()}}}; }
  static std::set<std::uint64_t> found(const Conversation& conversation, const std::string& text) {
    std::set<std::uint64_t> ordinals;
    const RecallQuery query{.text = text, .budget_tokens = 1'000'000, .which = {.all = true}};
    for (const RecalledUnit& unit : conversation.recall(query).value().units)
      for (const Ordinal ordinal : unit.matched) ordinals.insert(ordinal.value);
    return ordinals;
  }
};

TEST_P(RecallContract, RowsAreReadAsTheyWereWrittenWithOrWithoutTheirBytes) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  EXPECT_TRUE(rows("a").empty());
  ASSERT_TRUE(add(writing, {body(0), body(1), body(2)}, {row(0, 2, std::string("one\0", 4))}));
  ASSERT_TRUE(add(writing, {body(3)}, {row(2, 4, "two")}));
  reopen();
  EXPECT_EQ(rows("a"), (std::vector{row(0, 2, std::string("one\0", 4)), row(2, 4, "two")}));
  EXPECT_EQ(rows("a", WordsBytes::without), (std::vector{WordsRow{0, 2, 4}, WordsRow{2, 4, 3}}));
  EXPECT_EQ(store().words("a", 1, 9, WordsBytes::with).value(), std::vector{row(2, 4, "two")});
  EXPECT_CODE(store().words("none", 0, 9, WordsBytes::with).error(), ErrorCode::not_found);
}

TEST_P(RecallContract, ARowTakesThePlaceOfThoseWithinIt) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(add(writing, {body(0), body(1), body(2), body(3)}, {row(0, 1, "a"), row(1, 2, "b"), row(2, 4, "c")}));
  Commit alone{.conversation = "a", .expected_version = writing.version()};
  alone.words = {row(0, 2, "ab")};
  ASSERT_TRUE(store().commit(alone));
  EXPECT_EQ(rows("a"), (std::vector{row(0, 2, "ab"), row(2, 4, "c")}));
}

TEST_P(RecallContract, RowsThatDoNotFitAreRefused) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  EXPECT_CODE(add(writing, {body(0)}, {row(0, 0, "a")}).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(add(writing, {body(0)}, {row(0, 2, "a")}).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(add(writing, {body(0), body(1)}, {row(1, 2, "a"), row(0, 1, "b")}).error(), ErrorCode::invalid_argument);
  ASSERT_TRUE(add(writing, {body(0)}, {}));
  Commit alone{.conversation = "a", .expected_version = writing.version()};
  alone.words = {row(0, 2, "a")};
  EXPECT_CODE(store().commit(alone).error(), ErrorCode::not_found);
  EXPECT_TRUE(rows("a").empty());
}

TEST_P(RecallContract, ARedactionDeletesTheRowsThatHaveWordsOfTheMessage) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(add(writing, {body(0), body(1), body(2), body(3)}, {row(0, 1, "a"), row(1, 3, "canary-b"), row(3, 4, "c")}));
  const std::vector<MessageRecord> before = store().messages("a", 0, 10).value();
  ASSERT_TRUE(store().redact("a", {stub_of(before[2])}, {"me", 1, "why"}));
  EXPECT_EQ(rows("a"), (std::vector{row(0, 1, "a"), row(3, 4, "c")}));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    std::ifstream file(entry.path(), std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}).find("canary-b"), std::string::npos) << entry.path();
  }
}

TEST_P(RecallContract, APurgeDeletesAllRows) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(add(writing, {body(0)}, {row(0, 1, "a")}));
  ASSERT_TRUE(store().purge("a", {"me", 1, "why"}, {}));
  EXPECT_TRUE(check_store(store()).value().damage.empty());
}

TEST_P(RecallContract, WhatIsStoredIsFoundByWhoeverOpensItNext) {
  {
    Conversation conversation = open();
    for (int i = 0; i < 700; ++i)
      conversation.apply(say("message " + std::to_string(i) + " about kettle" + std::to_string(i % 100))).value();
    EXPECT_EQ(found(conversation, "kettle42"), (std::set<std::uint64_t>{42, 142, 242, 342, 442, 542, 642}));
  }
  EXPECT_FALSE(rows("a").empty());
  EXPECT_LT(rows("a").size(), 20u) << "rows are merged";
  EXPECT_EQ(found(open(), "kettle42"), (std::set<std::uint64_t>{42, 142, 242, 342, 442, 542, 642}));
  EXPECT_EQ(found(open(), "kettle99"), (std::set<std::uint64_t>{99, 199, 299, 399, 499, 599, 699})) << "the last ones too";
}

TEST_P(RecallContract, AForkFindsWhatItSharesAndWhatIsItsOwn) {
  Conversation origin = open("origin");
  for (int i = 0; i < 100; ++i) origin.apply(say("shared walnut " + std::to_string(i))).value();
  Conversation fork = origin.fork(Version(50), "fork").value();
  for (int i = 0; i < 100; ++i) origin.apply(say("later hazelnut " + std::to_string(i))).value();
  for (int i = 0; i < 100; ++i) fork.apply(say("forked chestnut " + std::to_string(i))).value();
  const Conversation again = open("fork");
  EXPECT_EQ(found(again, "walnut").size(), 50u);
  EXPECT_EQ(found(again, "chestnut").size(), 100u);
  EXPECT_TRUE(found(again, "hazelnut").empty());
}

TEST_P(RecallContract, RedactedWordsAreNotFoundAndTheirHashesAreInNoRow) {
  Conversation conversation = open();
  for (int i = 0; i < 200; ++i)
    conversation.apply(say(i == 70 ? "the secret wombatpassword" : "nothing much " + std::to_string(i))).value();
  ASSERT_EQ(found(conversation, "wombatpassword"), std::set<std::uint64_t>{70});
  ASSERT_TRUE(conversation.redact({Ordinal(70)}, {"me", 1, "why"}));
  EXPECT_TRUE(found(conversation, "wombatpassword").empty());
  EXPECT_TRUE(found(open(), "wombatpassword").empty());
  EXPECT_EQ(found(open(), "nothing").size(), 199u);
  const Word word = distinct_words("wombatpassword").front();
  for (const WordsRow& each : rows("a")) EXPECT_TRUE(Segment::read(each.bytes).find(word).empty());
  // The hole is filled, without the word.
  EXPECT_TRUE(index_store(store()));
  for (const WordsRow& each : rows("a")) EXPECT_TRUE(Segment::read(each.bytes).find(word).empty());
  EXPECT_EQ(found(open(), "nothing").size(), 199u);
}

TEST_P(RecallContract, ARecalledQuoteOfARedactedMessageIsDerivedFromIt) {
  Conversation conversation = open();
  conversation.apply(say("the code is 4711 wombat")).value();
  conversation.apply(say("and something else")).value();
  conversation.apply({op::Clear{false}}).value();
  conversation.apply({op::Recall{.text = "wombat"}}).value();
  const Redaction redaction = conversation.find_derived({Ordinal(0)}).value();
  ASSERT_EQ(redaction.derived.size(), 1u);
  EXPECT_EQ(redaction.derived[0].ordinal, Ordinal(2));
  ASSERT_TRUE(conversation.redact({Ordinal(0)}, {"me", 1, "why"}, {.derived = true}));
  for (const Message& message : open().history().log()) EXPECT_EQ(message.text().find("4711"), std::string::npos);
}

TEST_P(RecallContract, AnOlderStoreIsIndexedWithProgress) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  for (int i = 0; i < 10; ++i) {
    std::vector<std::string> bodies;
    for (int k = 0; k < 30; ++k) bodies.push_back(body(static_cast<std::uint64_t>(i * 30 + k), 200));
    ASSERT_TRUE(writing.append_to(store(), bodies));
  }
  EXPECT_TRUE(rows("a").empty());
  std::uint64_t last = 0;
  const IndexProgress done = index_store(store(), {.on_progress =
                                                       [&](const IndexProgress& at) {
                                                         EXPECT_GE(at.messages, last);
                                                         last = at.messages;
                                                       }})
                                 .value();
  EXPECT_EQ(done.conversations, 1u);
  EXPECT_EQ(done.messages, 300u);
  EXPECT_EQ(last, 300u);
  ASSERT_FALSE(rows("a").empty());
  EXPECT_EQ(rows("a").back().end, 300u);
  EXPECT_EQ(index_store(store()).value().messages, 0u) << "there is nothing left to do";
}

TEST_P(RecallContract, ReplayingDoesNotSearchAgain) {
  Conversation conversation = open();
  conversation.apply(say("the kettle is blue")).value();
  conversation.apply({op::Clear{false}}).value();
  const Outcome outcome = conversation.apply({op::Recall{.text = "kettles"}}).value();
  EXPECT_EQ(outcome.operation, "RECALL");
  const Conversation again = open();
  EXPECT_EQ(again.version(), conversation.version());
  ASSERT_EQ(again.view().size(), 1u);
  EXPECT_EQ(again.view()[0], conversation.view()[0]);
  EXPECT_EQ(again.history().marked("recalled"), std::vector<std::uint64_t>{1});
}

UNDERTEXT_OF_EVERY_STORE(RecallContract);

}  // namespace
}  // namespace undertext
