// The full-text index, asked of every store: rows of words, and what a conversation finds by them.
#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include <undertext/conversation.hpp>
#include <undertext/index_store.hpp>
#include <undertext/store_recall.hpp>

#include "failing_store.hpp"
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

  // Of a store in a file. tests/postgres/redacted_words.py looks into those of PostgreSQL.
  void expect_no_file_has(const std::string& bytes) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      std::ifstream file(entry.path(), std::ios::binary);
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}).find(bytes),
                std::string::npos)
          << entry.path();
    }
  }

  Conversation open(const std::string& id = "a") {
    return Conversation::open(shared(), id).value();
  }
  static Operation say(const std::string& text) {
    return {op::Append{{Message::make(Role::user, text).value()}}};
  }
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
  ASSERT_TRUE(add(writing, {body(0), body(1), body(2), body(3)},
                  {row(0, 1, "a"), row(1, 2, "b"), row(2, 4, "c")}));
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
  EXPECT_CODE(add(writing, {body(0), body(1)}, {row(1, 2, "a"), row(0, 1, "b")}).error(),
              ErrorCode::invalid_argument);
  ASSERT_TRUE(add(writing, {body(0)}, {}));
  Commit alone{.conversation = "a", .expected_version = writing.version()};
  alone.words = {row(0, 2, "a")};
  EXPECT_CODE(store().commit(alone).error(), ErrorCode::not_found);
  EXPECT_TRUE(rows("a").empty());
}

TEST_P(RecallContract, ARedactionDeletesTheRowsThatHaveWordsOfTheMessage) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(add(writing, {body(0), body(1), body(2), body(3)},
                  {row(0, 1, "a"), row(1, 3, "canary-b"), row(3, 4, "c")}));
  const std::vector<MessageRecord> before = store().messages("a", 0, 10).value();
  ASSERT_TRUE(store().redact("a", {stub_of(before[2])}, {"me", 1, "why"}));
  EXPECT_EQ(rows("a"), (std::vector{row(0, 1, "a"), row(3, 4, "c")}));
  expect_no_file_has("canary-b");
}

TEST_P(RecallContract, APruneDeletesTheRowsThatHaveWordsOfItsStubs) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(add(writing, {body(0), body(1), body(2), body(3)},
                  {row(0, 1, "a"), row(1, 3, "canary-b"), row(3, 4, "c")}));
  const std::vector<MessageRecord> before = store().messages("a", 0, 10).value();
  const std::uint64_t version = writing.version();
  Prune prune{.conversation = "a", .expected_version = version, .first_version = version};
  prune.stubs = {stub_of(before[1])};
  prune.checkpoint = Checkpoint{version, 11, "root"};
  prune.pages = {{10, "page"}};
  ASSERT_TRUE(store().prune(prune));
  EXPECT_EQ(rows("a"), (std::vector{row(0, 1, "a"), row(3, 4, "c")}));
  expect_no_file_has("canary-b");
}

TEST_P(RecallContract, WordsOfPrunedMessagesAreNotFoundAndTheirHashesAreInNoRow) {
  Conversation conversation = open();
  for (int i = 0; i < 200; ++i)
    conversation.apply(say("wombatpassword, then hidden " + std::to_string(i))).value();
  conversation.apply({op::Restore{0}}).value();
  for (int i = 0; i < 200; ++i)
    conversation.apply(say("nothing of it, and visible " + std::to_string(i))).value();
  const Word word = asked_words("wombatpassword").words.front();
  const auto has_word = [&] {
    const std::vector<WordsRow> all = rows("a");
    return std::any_of(all.begin(), all.end(), [&](const WordsRow& each) {
      return !Segment::read(each.bytes).find(word).empty();
    });
  };
  ASSERT_TRUE(has_word());
  EXPECT_EQ(conversation.prune_versions({.versions = 1}).value().messages, 200u);
  EXPECT_FALSE(has_word());
  EXPECT_TRUE(found(conversation, "wombatpassword").empty());
  EXPECT_EQ(found(conversation, "nothing").size(), 200u);
  ASSERT_TRUE(index_store(store()));
  EXPECT_FALSE(has_word()) << "stubs have no words";
  EXPECT_EQ(found(open(), "nothing").size(), 200u);
}

TEST_P(RecallContract, APurgeDeletesAllRows) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(add(writing, {body(0)}, {row(0, 1, "canary-a")}));
  ASSERT_TRUE(store().purge("a", {"me", 1, "why"}, {}));
  expect_no_file_has("canary-a");
  EXPECT_TRUE(check_store(store()).value().damage.empty());
}

TEST_P(RecallContract, WhatIsStoredIsFoundByWhoeverOpensItNext) {
  {
    Conversation conversation = open();
    for (int i = 0; i < 700; ++i)
      conversation
          .apply(say("message " + std::to_string(i) + " about kettle" + std::to_string(i % 100)))
          .value();
    EXPECT_EQ(found(conversation, "kettle42"),
              (std::set<std::uint64_t>{42, 142, 242, 342, 442, 542, 642}));
  }
  EXPECT_FALSE(rows("a").empty());
  EXPECT_LT(rows("a").size(), 20u) << "rows are merged";
  EXPECT_EQ(found(open(), "kettle42"), (std::set<std::uint64_t>{42, 142, 242, 342, 442, 542, 642}));
  EXPECT_EQ(found(open(), "kettle99"), (std::set<std::uint64_t>{99, 199, 299, 399, 499, 599, 699}))
      << "the last ones too";
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

TEST_P(RecallContract, CopiesInWhichNothingChangedAddNoWordsAndTheirOriginalIsFound) {
  Conversation conversation = open();
  std::string text = "walnut";
  for (int i = 0; i < 2000; ++i) text += " word" + std::to_string(i);
  conversation.apply(say(text)).value();
  const auto words_bytes = [&] {
    std::uint64_t bytes = 0;
    for (const WordsRow& each : rows("a", WordsBytes::without)) bytes += each.size_bytes;
    return bytes;
  };
  const std::uint64_t before = words_bytes();
  const Operation nothing{op::Transform{std::vector{Role::user}, op::ReplaceText{"~", "-"}}};
  conversation.apply(std::vector<Operation>(60, nothing)).value();
  conversation.apply(nothing).value();
  ASSERT_EQ(conversation.stats().total_messages, 62u);
  EXPECT_LE(words_bytes(), before + 1024);
  conversation.apply({op::Clear{false}}).value();
  EXPECT_EQ(found(conversation, "walnut"), std::set<std::uint64_t>{0});
  EXPECT_EQ(found(open(), "walnut"), std::set<std::uint64_t>{0});
}

TEST_P(RecallContract, RedactedWordsAreNotFoundAndTheirHashesAreInNoRow) {
  Conversation conversation = open();
  for (int i = 0; i < 200; ++i)
    conversation
        .apply(say(i == 70 ? "the secret wombatpassword" : "nothing much " + std::to_string(i)))
        .value();
  ASSERT_EQ(found(conversation, "wombatpassword"), std::set<std::uint64_t>{70});
  ASSERT_TRUE(conversation.redact({Ordinal(70)}, {"me", 1, "why"}));
  EXPECT_TRUE(found(conversation, "wombatpassword").empty());
  EXPECT_TRUE(found(open(), "wombatpassword").empty());
  EXPECT_EQ(found(open(), "nothing").size(), 199u);
  const Word word = asked_words("wombatpassword").words.front();
  for (const WordsRow& each : rows("a")) EXPECT_TRUE(Segment::read(each.bytes).find(word).empty());
  // The hole is filled, without the word.
  EXPECT_TRUE(index_store(store()));
  for (const WordsRow& each : rows("a")) EXPECT_TRUE(Segment::read(each.bytes).find(word).empty());
  EXPECT_EQ(found(open(), "nothing").size(), 199u);
}

TEST_P(RecallContract, ARedactionAndAPruneLeaveNoHoleInTheIndex) {
  Conversation conversation = open();
  for (int i = 0; i < 200; ++i)
    conversation.apply(say("nothing much " + std::to_string(i))).value();
  const auto gap = [&] {
    std::uint64_t end = 0;
    for (const WordsRow& each : rows("a", WordsBytes::without)) {
      if (each.first > end) return "no row from " + std::to_string(end);
      end = std::max(end, each.end);
    }
    return end >= 192 ? std::string() : "no row behind " + std::to_string(end);
  };
  ASSERT_EQ(gap(), "");
  ASSERT_TRUE(conversation.redact({Ordinal(70)}, {"me", 1, "why"}));
  EXPECT_EQ(gap(), "");
  conversation.apply({op::Restore{100}}).value();
  EXPECT_EQ(conversation.prune_versions({.versions = 1}).value().messages, 100u);
  EXPECT_EQ(gap(), "");
  EXPECT_EQ(found(open(), "nothing").size(), 99u);
}

TEST_P(RecallContract, ARedactionInAForkLeavesNoHoleInItsOrigin) {
  Conversation origin = open("origin");
  for (int i = 0; i < 64; ++i) origin.apply(say("shared walnut " + std::to_string(i))).value();
  Conversation fork = origin.fork(Version(40), "fork").value();
  const auto covered = [&] {
    std::uint64_t messages = 0;
    for (const WordsRow& each : rows("origin", WordsBytes::without))
      messages += each.end - each.first;
    return messages;
  };
  const std::uint64_t before = covered();
  ASSERT_TRUE(fork.redact({Ordinal(7)}, {"me", 1, "why"}));
  EXPECT_EQ(covered(), before);
}

TEST_P(RecallContract, RowsWrittenLaterAreThoseThatTheCommitsWouldHaveWritten) {
  Conversation conversation = open();
  std::string text = "walnut";
  for (int i = 0; i < 200; ++i) text += " word" + std::to_string(i);
  conversation.apply(say(text)).value();
  for (int i = 0; i < 8; ++i) conversation.apply(say("nothing " + std::to_string(i))).value();
  const Operation copy{op::Transform{std::vector{Role::user}, op::ReplaceText{"~", "-"}}};
  for (int i = 0; i < 4; ++i) conversation.apply(copy).value();
  const std::uint64_t messages = conversation.stats().total_messages;
  const std::vector<WordsRow> committed = rows("a");
  ASSERT_FALSE(committed.empty());
  const auto with_walnut = [&] {
    std::set<std::uint64_t> ordinals;
    for (const WordsRow& each : rows("a"))
      for (const Posting& posting :
           Segment::read(each.bytes).find(asked_words("walnut").words.front()))
        ordinals.insert(posting.ordinal);
    return ordinals;
  };
  ASSERT_EQ(with_walnut(), std::set<std::uint64_t>{0});
  // A redaction deletes the row of a message that is none of the copies, and writes another one.
  ASSERT_TRUE(conversation.redact({Ordinal(3)}, {"me", 1, "why"}));
  ASSERT_TRUE(index_store(store()));
  EXPECT_EQ(with_walnut(), std::set<std::uint64_t>{0});
  // Nor are they found in messages that no row has.
  StoreRecall recall(shared());
  conversation.apply(copy).value();
  ASSERT_GT(conversation.stats().total_messages, messages);
  const StoreRecalled found = recall.search({.text = "walnut"}).value();
  ASSERT_EQ(found.found.size(), 1u);
  EXPECT_EQ(found.found[0].ordinal, Ordinal(0));
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
  for (const Message& message : open().history().log())
    EXPECT_EQ(message.text().find("4711"), std::string::npos);
}

TEST_P(RecallContract, AnOlderStoreIsIndexedWithProgress) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  for (int i = 0; i < 10; ++i) {
    std::vector<std::string> bodies;
    for (int k = 0; k < 30; ++k)
      bodies.push_back(body(static_cast<std::uint64_t>(i * 30 + k), 200));
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

TEST_P(RecallContract, AQuoteHasCallsWithTheirNamesAndArguments) {
  Conversation conversation = open();
  const std::string call =
      R"({"role":"assistant","content":"Now the kettle:",)"
      R"("toolCalls":[{"id":"c1","name":"switch_on","arguments":{"device":"kettle-7"}}]})";
  conversation.apply({op::Append{{Message::parse(call).value()}}}).value();
  conversation.apply({op::Clear{false}}).value();
  conversation.apply({op::Recall{.text = "kettle"}}).value();
  EXPECT_NE(conversation.view()[0].text().find("> call switch_on {\"device\":\"kettle-7\"}"),
            std::string::npos)
      << conversation.view()[0].text();
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

// All conversations of a store

using Found = std::vector<std::pair<std::string, std::uint64_t>>;
Operation say_each(std::uint64_t count, const std::function<std::string(std::uint64_t)>& text) {
  op::Append append;
  for (std::uint64_t i = 0; i < count; ++i)
    append.messages.push_back(Message::make(Role::user, text(i)).value());
  return {append};
}
Found found_everywhere(StoreRecall& recall, const StoreRecallQuery& query) {
  Found all;
  for (const StoreFound& each : recall.search(query).value().found)
    all.emplace_back(each.conversation, each.ordinal.value);
  return all;
}

TEST_P(RecallContract, AStoreIsSearchedAsAWholeAndWhatIsNewIsFoundToo) {
  for (int i = 0; i < 30; ++i)
    open("c" + std::to_string(i))
        .apply(say_each(20,
                        [i](std::uint64_t k) {
                          return "message " + std::to_string(k) + " about pan" + std::to_string(i);
                        }))
        .value();
  StoreRecall recall(shared(), {.fresh_ms = 0});
  const Found pans = found_everywhere(recall, {.text = "pan17", .messages_max = 100});
  EXPECT_EQ(pans.size(), 20u);
  for (const auto& [id, ordinal] : pans) EXPECT_EQ(id, "c17");
  EXPECT_EQ(recall.search({.text = "pan17"}).value().conversations, 30u);
  open("c3").apply(say("a kettle at last")).value();
  open("new").apply(say("another kettle")).value();
  EXPECT_EQ(found_everywhere(recall, {.text = "kettles"}).size(), 2u);
  open("c3")
      .apply(say_each(100, [](std::uint64_t k) { return "and a teapot " + std::to_string(k); }))
      .value();
  EXPECT_EQ(found_everywhere(recall, {.text = "kettle"}).size(), 2u);
  EXPECT_EQ(found_everywhere(recall, {.text = "teapot", .messages_max = 200}).size(), 100u);
  EXPECT_CODE(recall.search({.text = ""}).error(), ErrorCode::invalid_argument);
}

TEST_P(RecallContract, ASearchThatFailsWhileTheIndexIsRebuiltLosesNoConversation) {
  constexpr std::uint64_t others = 5;
  for (std::uint64_t i = 0; i < others; ++i)
    open("c" + std::to_string(i))
        .apply(say_each(4, [](std::uint64_t k) { return "walnut " + std::to_string(k); }))
        .value();
  const auto store = std::make_shared<test::FailingStore>(shared());
  const StoreRecallQuery walnuts{.text = "walnut", .messages_max = 100};
  std::uint64_t failures = 0;
  for (std::uint64_t n = 1;; ++n) {
    const std::string large = "large" + std::to_string(n);
    open(large)
        .apply(say_each(300, [](std::uint64_t k) { return "pebble " + std::to_string(k); }))
        .value();
    StoreRecall recall(store, {.fresh_ms = 0});
    store->fail_at(0);
    const Found before = found_everywhere(recall, walnuts);
    EXPECT_FALSE(before.empty());
    // More than half of the index goes, so that the next search rebuilds it.
    ASSERT_TRUE(shared()->purge(large, {"ann", 1, "asked for"}));
    store->fail_at(n);
    const Result<StoreRecalled> failed = recall.search(walnuts);
    const bool has_failed = store->calls() >= n;
    store->fail_at(0);
    EXPECT_EQ(static_cast<bool>(failed), !has_failed) << "call " << n;
    failures += has_failed ? 1 : 0;
    EXPECT_EQ(recall.search(walnuts).value().conversations, others);
    EXPECT_EQ(found_everywhere(recall, walnuts), before) << "after call " << n << " failed";
    if (!has_failed) break;
  }
  EXPECT_GT(failures, others);  // one look at the list, and one or more reads of each
}

TEST_P(RecallContract, ASearchThatIsInterruptedWhileItIndexesLetsTheNextOneGoOn) {
  for (int i = 0; i < 60; ++i)
    open("c" + std::to_string(i))
        .apply(say_each(5,
                        [i](std::uint64_t k) {
                          return "message " + std::to_string(k) + " about pan" + std::to_string(i);
                        }))
        .value();
  StoreRecall recall(shared(), {.fresh_ms = 0}), uninterrupted(shared(), {.fresh_ms = 0});
  const StoreRecallQuery query{.text = "pan3", .messages_max = 5};
  int searches = 0;
  for (bool is_found = false; !is_found; ++searches) {
    ASSERT_LT(searches, 50);
    int questions = 0;
    // Enough for what is found and a few conversations, and not for all of them.
    const auto work =
        std::make_shared<Work>(WorkLimits{.interrupted = [&questions]() -> Result<void> {
          if (++questions <= 20) return {};
          return Error{ErrorCode::unavailable, "enough"};
        }});
    const Result<StoreRecalled> some = recall.search(query, work);
    is_found = static_cast<bool>(some);
    if (is_found) continue;
    EXPECT_CODE(some.error(), ErrorCode::unavailable);
    EXPECT_EQ(questions, 21);
  }
  EXPECT_GT(searches, 3);
  EXPECT_EQ(found_everywhere(recall, query), found_everywhere(uninterrupted, query));
  EXPECT_EQ(found_everywhere(recall, query).size(), 5u);
}

TEST_P(RecallContract, ASearchOfAStoreFindsNothingThatIsRedactedPurgedOrOutOfItsScope) {
  for (const char* id : {"a", "b", "c"})
    open(id)
        .apply(say_each(40,
                        [id](std::uint64_t i) {
                          return i == 20 ? std::string("wombat of ") + id
                                         : "nothing " + std::to_string(i);
                        }))
        .value();
  StoreRecall recall(shared(), {.fresh_ms = 0});
  EXPECT_EQ(found_everywhere(recall, {.text = "wombat"}).size(), 3u);
  // A look that is not fresh does not find it either: messages are read again.
  StoreRecall old(shared(), {.fresh_ms = 3'600'000});
  EXPECT_EQ(found_everywhere(old, {.text = "wombat"}).size(), 3u);
  ASSERT_TRUE(open("a").redact({Ordinal(20)}, {"me", 1, "why"}));
  ASSERT_TRUE(store().purge("b", {"me", 1, "why"}, {}));
  EXPECT_EQ(found_everywhere(recall, {.text = "wombat"}), (Found{{"c", 20}}));
  EXPECT_EQ(found_everywhere(old, {.text = "wombat"}), (Found{{"c", 20}}));
  const auto not_c = [](const ConversationRecord& record) { return record.id != "c"; };
  EXPECT_TRUE(found_everywhere(recall, {.text = "wombat", .in_scope = not_c}).empty());
  EXPECT_TRUE(found_everywhere(recall, {.text = "wombat", .roles = {Role::assistant}}).empty());
}

TEST_P(RecallContract, AMessageThatForksShareIsFoundOnceAndAQuoteNever) {
  Conversation origin = open("origin");
  origin
      .apply(say_each(40,
                      [](std::uint64_t i) {
                        return i == 7 ? std::string("the only walnut")
                                      : "something " + std::to_string(i);
                      }))
      .value();
  Conversation fork = origin.fork(origin.version(), "fork").value();
  fork.apply(say("a chestnut of the fork")).value();
  fork.apply({op::Clear{false}}).value();
  fork.apply({op::Recall{.text = "walnut"}}).value();
  StoreRecall recall(shared());
  EXPECT_EQ(found_everywhere(recall, {.text = "walnut"}), (Found{{"origin", 7}}));
  EXPECT_EQ(found_everywhere(recall, {.text = "chestnut"}), (Found{{"fork", 40}}));
}

TEST_P(RecallContract, AMessageOfAUserThatBeginsAsAQuoteDoesIsFoundEverywhere) {
  Conversation conversation = open();
  conversation.apply(say("the only walnut")).value();
  conversation.apply({op::Clear{false}}).value();
  conversation.apply({op::Recall{.text = "walnut"}}).value();
  const std::string quote = conversation.view()[0].text();
  conversation.apply(say(quote + "and so a user says hazelnut")).value();
  for (int i = 0; i < 20; ++i) conversation.apply(say("nothing " + std::to_string(i))).value();
  StoreRecall recall(shared(), {.fresh_ms = 0});
  const Found typed_and_original{{"a", 0}, {"a", 2}};
  const auto found_walnuts = [&] {
    Found all = found_everywhere(recall, {.text = "walnut"});
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(found_walnuts(), typed_and_original);
  EXPECT_EQ(found_everywhere(recall, {.text = "hazelnut"}), (Found{{"a", 2}}));
  // The records of the operations go; the mark stays.
  conversation.prune_versions({.versions = 1}).value();
  EXPECT_EQ(found_everywhere(recall, {.text = "hazelnut"}), (Found{{"a", 2}}));
  EXPECT_EQ(found_walnuts(), typed_and_original);
}

TEST_P(RecallContract, AnIndexWithoutRoomForAllLeavesTheOldestOut) {
  for (int i = 0; i < 8; ++i)
    open("c" + std::to_string(i))
        .apply(say_each(
            20,
            [i](std::uint64_t k) { return "spoon" + std::to_string(i) + " " + std::to_string(k); }))
        .value();
  StoreRecall recall(shared(), {.fresh_ms = 0, .bytes_max = 1});
  const StoreRecalled one =
      recall.search({.text = "spoon1 spoon2 spoon3 spoon4 spoon5 spoon6 spoon7"}).value();
  EXPECT_EQ(one.conversations, 1u);
  EXPECT_EQ(one.conversations_out, 7u);
}

UNDERTEXT_OF_EVERY_STORE(RecallContract);

}  // namespace
}  // namespace undertext
