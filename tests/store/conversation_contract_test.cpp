// Conversations that last, over every store: what is stored comes back, and nothing is half done.
#include <gtest/gtest.h>

#include <undertext/blocks.hpp>
#include <undertext/conversation.hpp>

#include "failing_store.hpp"
#include "kinds.hpp"
#include "store/chain.hpp"

namespace undertext::test {
namespace {

Message text(Role role, const std::string& words) { return Message::make(role, words).value(); }
Operation append(const std::string& words) { return {op::Append{{text(Role::user, words)}}}; }
Operation append_as(const std::string& words, const std::string& id) {
  Operation operation = append(words);
  operation.options.operation_id = id;
  return operation;
}

Conversation kept_in(const std::shared_ptr<Store>& store, OpenOptions options = {},
                     const std::string& id = "c") {
  Settings settings;
  settings.clock_ms = [] { return 1000; };
  return Conversation::open(store, id, settings, options).value();
}

std::vector<std::string> texts(const View& view) {
  std::vector<std::string> found;
  for (const Message& message : view) found.push_back(message.text());
  return found;
}
using Texts = std::vector<std::string>;

class StoredConversation : public OfEveryStore {};
UNDERTEXT_OF_EVERY_STORE(StoredConversation);

TEST_P(StoredConversation, WhatWasAppliedIsThereWhenItIsOpenedAgain) {
  const std::shared_ptr<Store> store = shared();
  {
    Conversation first = kept_in(store);
    first.apply(append("one")).value();
    first.apply(append("two")).value();
    first.apply({op::Delete{Names::indices({0})}}).value();
  }
  Conversation again = kept_in(store);
  EXPECT_EQ(again.version(), Version(3));
  EXPECT_EQ(texts(again.view()), Texts({"two"}));
  EXPECT_EQ(texts(again.history().view_at(Version(2)).value()), Texts({"one", "two"}));
  again.apply({op::Undo{}}).value();
  EXPECT_EQ(texts(kept_in(store).view()), Texts({"one", "two"}));
}

TEST_P(StoredConversation, ARepeatedOperationIdAnswersAsTheFirstTimeAlsoAfterOpeningAgain) {
  const std::shared_ptr<Store> store = shared();
  const Outcome first = kept_in(store).apply(append_as("one", "a")).value();
  Conversation again = kept_in(store);
  again.apply(append("two")).value();
  const Outcome repeated = again.apply(append_as("something else", "a")).value();
  EXPECT_EQ(repeated.version, first.version);
  EXPECT_EQ(repeated.stats.total_messages, 1u);
  EXPECT_EQ(texts(again.view()), Texts({"one", "two"}));
}

TEST_P(StoredConversation, AnAppendThatComesSecondGoesOnFromWhatCameFirst) {
  const std::shared_ptr<Store> store = shared();
  Conversation a = kept_in(store), b = kept_in(store);
  a.apply(append("from a")).value();
  EXPECT_EQ(b.apply(append("from b")).value().version, Version(2));
  EXPECT_EQ(texts(b.view()), Texts({"from a", "from b"}));
  EXPECT_TRUE(a.catch_up());
  EXPECT_EQ(texts(a.view()), Texts({"from a", "from b"}));
}

TEST_P(StoredConversation, WhoExpectsAnotherVersionGetsAConflict) {
  const std::shared_ptr<Store> store = shared();
  Conversation a = kept_in(store), b = kept_in(store);
  a.apply(append("from a")).value();
  Operation late = append("late");
  late.options.expected_version = Version(0);
  EXPECT_EQ(b.apply(late).error().code, ErrorCode::conflict);
  EXPECT_EQ(texts(b.view()), Texts({"from a"})) << "it is up to date after that";
}

TEST_P(StoredConversation, SubscribersHearWhenOthersHaveChangedIt) {
  const std::shared_ptr<Store> store = shared();
  Conversation a = kept_in(store), b = kept_in(store);
  std::vector<std::uint64_t> heard;
  const Subscription subscription = b.subscribe([&](const Event& event) {
    if (event.type == Event::Type::context_changed) heard.push_back(event.version.value);
  });
  a.apply(append("one")).value();
  a.apply(append("two")).value();
  EXPECT_TRUE(b.catch_up());
  EXPECT_EQ(heard, std::vector<std::uint64_t>({2}));
}

TEST_P(StoredConversation, OpeningReadsCheckpointsAndTheFewOperationsSince) {
  const std::shared_ptr<Store> store = shared();
  {
    Conversation c = kept_in(store, {.checkpoint_versions = 4});
    for (int i = 0; i < 50; ++i) c.apply(append("message " + std::to_string(i))).value();
    c.apply({op::Truncate{.keep_last = 10}}).value();
  }
  const std::uint64_t checkpoint = store->find("c").value().checkpoint_version;
  EXPECT_GE(checkpoint, 48u);
  const Conversation again = kept_in(store);
  EXPECT_EQ(texts(again.view()).front(), "message 40");
  for (std::uint64_t v = 0; v <= 50; ++v)
    EXPECT_EQ(again.history().view_at(Version(v)).value().size(), v);
}

TEST_P(StoredConversation, MemoryIsBoundedByTheCacheSetting) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store, {.cache_bytes = 50000, .checkpoint_versions = 8});
  std::vector<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    expected.push_back(std::to_string(i) + std::string(2000, 'x'));
    c.apply(append(expected.back())).value();
  }
  // Bodies that were written are no longer held: the history reads them when it is looked at.
  EXPECT_FALSE(c.history().view().begin() == c.history().view().end());
  EXPECT_EQ(texts(c.view()), expected);
  EXPECT_EQ(texts(kept_in(store, {.cache_bytes = 1}).view()), expected)
      << "with no cache worth the name, too";
}

TEST_P(StoredConversation, AStoredForkSharesMessagesAndGoesItsOwnWay) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store, {.checkpoint_versions = 3});
  for (int i = 0; i < 10; ++i) c.apply(append("m" + std::to_string(i))).value();
  Conversation fork = c.fork(Version(7), "f").value();
  EXPECT_EQ(fork.id(), "f");
  EXPECT_EQ(texts(fork.view()).size(), 7u);
  fork.apply(append("fork")).value();
  c.apply(append("trunk")).value();
  Conversation fork_of_fork = fork.fork(Version(8), "ff").value();
  fork_of_fork.apply({op::Delete{Names::indices({0})}}).value();
  EXPECT_EQ(store->messages("f", 0, 100).value().size(), 1u) << "the others are the origin's";
  EXPECT_EQ(texts(kept_in(store, {}, "f").view()),
            Texts({"m0", "m1", "m2", "m3", "m4", "m5", "m6", "fork"}));
  EXPECT_EQ(texts(kept_in(store, {}, "ff").view()),
            Texts({"m1", "m2", "m3", "m4", "m5", "m6", "fork"}));
  EXPECT_EQ(texts(kept_in(store, {}, "ff").history().view_at(Version(2)).value()),
            Texts({"m0", "m1"}));
  EXPECT_EQ(texts(kept_in(store).view()).back(), "trunk");
  EXPECT_EQ(c.fork(Version(1), "f").error().code, ErrorCode::conflict);
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

TEST_P(StoredConversation, WhatANewerReleaseStoredIsUnsupportedAndNotDamaged) {
  const std::shared_ptr<Store> store = shared();
  kept_in(store).apply(append("one")).value();
  const ConversationRecord record = store->find("c").value();
  VersionRecord newer;
  newer.version = 2;
  newer.log_length = 1;
  newer.operation = "SHOW";
  newer.arguments = "\x7f of which nothing is known";
  newer.chain = next_chain(record.chain, newer, {});
  ASSERT_TRUE(store->commit({.conversation = "c", .expected_version = 1, .versions = {newer}}));
  const Result<Conversation> opened = Conversation::open(store, "c");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported) << opened.error().message;
}

TEST_P(StoredConversation, ARedactedMessageIsAStubEverywhereAndPairsStayWhole) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store, {.checkpoint_versions = 2});
  c
      .apply({op::Append{
          {text(Role::user, "my secret is 1234"),
           Message::parse(
               R"({"role":"assistant","content":null,"toolCalls":[{"id":"t1","name":"f","arguments":"1234"}]})")
               .value(),
           Message::make_tool_result("t1", "1234").value()}}})
      .value();
  Conversation fork = c.fork(Version(1), "f").value();
  ASSERT_TRUE(fork.redact({Ordinal(0), Ordinal(1), Ordinal(2)}, {"ann", 77, "asked for"}));
  for (Conversation* each : {&c, &fork}) {
    Conversation again = kept_in(store, {}, each->id());
    for (const Message& message : again.view())
      EXPECT_EQ(message.json().find("1234"), std::string_view::npos) << message.json();
    EXPECT_EQ(read_blocks(again.view()[2]).at(0).call_id, "t1");
    EXPECT_EQ(read_blocks(again.view()[1]).at(1).call_id, "t1");
    EXPECT_NE(again.view()[0].metadata_json().find(R"("who":"ann","at":77,"why":"asked for")"),
              std::string_view::npos);
  }
  EXPECT_CODE(c.redact({Ordinal(9)}, {}).error(), ErrorCode::not_found);
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

// The bytes of everything that a store keeps of a conversation.
std::string all_records(Store& store, const std::string& id) {
  std::string bytes;
  const ConversationRecord record = store.find(id).value();
  for (const VersionRecord& version : store.versions(id, 0, 1000).value())
    bytes += version.arguments + version.answer;
  for (const MessageRecord& message : store.messages(id, 0, 1000).value()) bytes += message.body;
  for (std::uint64_t number = 1; number < record.next_page; ++number) {
    const std::uint64_t numbers[] = {number};
    if (const auto pages = store.pages(id, numbers)) bytes += pages->front().bytes;
  }
  return bytes;
}

TEST_P(StoredConversation,
       WhatWasDerivedFromARedactedMessageIsListedAndRedactedWhereThatIsAskedFor) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store, {.checkpoint_versions = 2});
  c.apply({op::Append{{text(Role::user, "the code is 47-11-0815"), text(Role::user, "hm"),
                       text(Role::user, "other")}}})
      .value();
  // #3
  c.apply({op::Transform{Names::indices({0}), ReplaceText{"the code", "that code"}},
           {.operation_id = "t"}})
      .value();
  // #4
  c.apply({op::Merge{{0, 1}}, {.description = "puts 47-11-0815 first"}}).value();
  // #5, #6
  c.apply({op::Split{0, {8}}}).value();
  Conversation untouched = c.fork(Version(0), "u").value();
  Conversation f = c.fork(Version(4), "f").value();
  // #7
  c.apply({op::Compress{Names::indices({0, 1}),
                        text(Role::assistant, "a code, 47-11-0815, was told")}})
      .value();
  // #7 of f
  f.apply({op::Replace{Names::indices({1}), {text(Role::user, "47-11-0815 it is")}}}).value();
  f.apply({op::Filter{.content_excludes = {"11-0815"}}}).value();
  f.apply({op::Append{{text(Role::user, "unrelated")}}, {.description = "kept"}}).value();
  ASSERT_TRUE(c.catch_up());

  const Redaction found = c.find_derived({Ordinal(0)}).value();
  using Derived = Redaction::Derived;
  using Quoting = Redaction::Quoting;
  const std::vector<Derived> derived = {{"c", Ordinal(3), false}, {"c", Ordinal(4), false},
                                        {"c", Ordinal(5), false}, {"c", Ordinal(6), false},
                                        {"c", Ordinal(7), true},  {"f", Ordinal(7), false}};
  EXPECT_EQ(found.derived, derived);
  const std::vector<Quoting> operations = {{"c", Version(2)}, {"c", Version(3)}, {"f", Version(6)}};
  EXPECT_EQ(found.operations, operations);
  EXPECT_EQ(found.messages, 0u);
  EXPECT_NE(all_records(*store, "c").find("47-11-0815"), std::string::npos);

  const auto ordinals = [](const Conversation& each) {
    std::vector<std::vector<Ordinal>> all;
    for (std::uint64_t v = 0; v <= each.version().value; ++v)
      all.push_back(each.messages({.at_version = Version(v)}).value().ordinals);
    return all;
  };
  const auto of_c = ordinals(c), of_f = ordinals(f);
  const Redaction done = c.redact({Ordinal(0)}, {"ann", 1, "why"}, {.derived = true}).value();
  EXPECT_EQ(done.messages, 7u);
  EXPECT_EQ(done.derived, derived);
  for (const char* id : {"c", "f", "u"}) {
    const std::string bytes = all_records(*store, id);
    EXPECT_EQ(bytes.find("47-11-0"), std::string::npos) << id;
    EXPECT_EQ(bytes.find("11-0815"), std::string::npos) << id;
    EXPECT_TRUE(kept_in(store, {}, id).check());
  }
  EXPECT_EQ(ordinals(kept_in(store)), of_c);
  EXPECT_EQ(ordinals(kept_in(store, {}, "f")), of_f);
  EXPECT_EQ(kept_in(store, {}, "f").history().version_info(Version(7)).description, "kept");
  EXPECT_EQ(c.history().version_info(Version(3)).description, "[redacted]");
  EXPECT_EQ(texts(f.view()).back(), "unrelated");
  EXPECT_TRUE(
      c.apply({op::Transform{Names::indices({0}), ReplaceText{"a", "b"}}, {.operation_id = "t"}}))
      << "answered as before";
  EXPECT_TRUE(check_store(*store).value().damage.empty());
  EXPECT_TRUE(c.find_derived({Ordinal(0)}).value().operations.empty());
}

Message looks_redacted(const std::string& words, const std::string& who) {
  return Message::parse(R"({"role":"user","content":")" + words +
                        R"(","metadata":{"redacted":{"who":")" + who +
                        R"(","at":1,"why":"","sha256":""}}})")
      .value();
}

TEST_P(StoredConversation, AMessageThatOnlyLooksRedactedIsRedactedWithWhatQuotesIt) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store);
  c.apply({op::Append{{looks_redacted("code 47-11-0815", "me")}}}).value();
  c.apply({op::Append{{text(Role::user, "b")}}, {.description = "the code is 47-11-0815"}}).value();
  EXPECT_EQ(c.recall({.text = "0815", .which = {.all = true}}).value().units.size(), 1u);
  const Redaction done = c.redact({Ordinal(0)}, {"ann", 1, "why"}, {.derived = true}).value();
  EXPECT_EQ(done.operations.size(), 1u);
  EXPECT_EQ(all_records(*store, "c").find("11-0815"), std::string::npos);
  EXPECT_TRUE(kept_in(store).history().log()[0].is_redacted());
  EXPECT_FALSE(kept_in(store).history().log()[1].is_redacted());
}

TEST_P(StoredConversation, AMessageThatOnlyLooksPrunedReturns) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store);
  c.apply(append("old")).value();
  c.apply({op::Delete{Names::indices({0})}}).value();
  c.apply({op::Append{{looks_redacted("still here", "retention")}}}).value();
  ASSERT_TRUE(c.prune_versions({.versions = 1}));
  c.apply({op::Delete{Names::indices({0})}}).value();
  c.apply({op::Show{{1}}}).value();
  EXPECT_EQ(texts(c.view()), Texts({"still here"}));
  EXPECT_CODE(c.redact({Ordinal(1)}, {"retention", 1, "why"}).error(), ErrorCode::invalid_argument);
}

TEST_P(StoredConversation, UsageIsStoredWithTheConversation) {
  const std::shared_ptr<Store> store = shared();
  Conversation a = kept_in(store), b = kept_in(store);
  a.apply(append("hello")).value();
  ASSERT_TRUE(
      a.update_usage({.request_id = "r1", .model = "m", .prompt = 100, .estimated_prompt = 120}));
  ASSERT_TRUE(b.record_usage({.request_id = "r2",
                              .model = "n",
                              .prompt = 50,
                              .completion = 5,
                              .cached = 10,
                              .cost = 0.25}));
  EXPECT_EQ(b.usage().totals().requests, 2u) << "what the other one reported counts, too";
  ASSERT_TRUE(a.update_usage(
      {.request_id = "r1", .model = "m", .prompt = 110, .completion = 7, .estimated_prompt = 120}));
  ASSERT_TRUE(a.finish_usage("r1"));
  EXPECT_EQ(a.finish_usage("r1").error().code, ErrorCode::not_found);
  EXPECT_EQ(b.record_usage({.request_id = "r1", .model = "m", .prompt = 1}).error().code,
            ErrorCode::conflict)
      << "it is finished";
  b.apply(append("more")).value();
  a.apply({op::Truncate{.keep_last = 1}}).value();

  Conversation again = kept_in(store);
  EXPECT_EQ(again.usage().statistics(), a.usage().statistics());
  EXPECT_EQ(again.usage().totals().prompt, 160u);
  EXPECT_EQ(again.usage().history(), a.usage().history());
  EXPECT_EQ(again.usage().correction("m").learned_from, 1u);
  EXPECT_DOUBLE_EQ(again.usage().correction("m").factor, a.usage().correction("m").factor);
  EXPECT_EQ(again.fork(again.version(), "f").value().usage().totals().requests, 0u)
      << "a fork has asked nobody yet";
  ASSERT_TRUE(again.set_tokenizer("estimate"));
  EXPECT_EQ(again.usage().totals().requests, 2u);

  const UsageTracker kept = again.usage();
  ASSERT_TRUE(b.set_usage(UsageTracker()));
  ASSERT_TRUE(again.catch_up());
  EXPECT_EQ(again.usage().totals().requests, 0u);
  ASSERT_TRUE(again.set_usage(kept));
  EXPECT_EQ(kept_in(store).usage().statistics(), kept.statistics());
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

TEST_P(StoredConversation, AReportOfUsageIsNoNewsForThoseWhoFollowTheMessages) {
  const std::shared_ptr<Store> store = shared();
  Conversation a = kept_in(store), b = kept_in(store);
  a.apply(append("hello")).value();
  ASSERT_TRUE(b.catch_up());
  int heard = 0;
  const Subscription subscription = b.subscribe([&](const Event&) { ++heard; });
  ASSERT_TRUE(a.record_usage({.request_id = "r1", .model = "m", .prompt = 100}));
  ASSERT_TRUE(b.catch_up());
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(b.usage().totals().prompt, 100u);
}

// What is carried out again when a conversation is opened looks into no body.
TEST_P(StoredConversation, OperationsThatLookedIntoAMessageCanBeCarriedOutAgainWhenItIsRedacted) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store);
  c.apply({op::Append{{text(Role::user, "a secret"), text(Role::user, "nothing"),
                       text(Role::user, "the secret")}}})
      .value();
  c.apply({op::Filter{.content_contains = {"secret"}}}).value();
  c.apply({op::Split{0, {2}}}).value();
  c.apply({op::Merge{{0, 1}}}).value();
  c.apply({op::Transform{Names::indices({1}), ReplaceText{"the", "that"}}}).value();
  const auto shown = [](const Conversation& each) {
    std::vector<std::uint64_t> ordinals;
    for (const Ordinal ordinal : each.messages().value().ordinals)
      ordinals.push_back(ordinal.value);
    return ordinals;
  };
  const std::vector<std::uint64_t> before = shown(c);
  Conversation untouched = c.fork(Version(1), "u").value();
  Conversation fork = c.fork(Version(2), "f").value();
  fork.apply({op::Split{1, {3}}}).value();
  const std::vector<std::uint64_t> fork_before = shown(fork);
  std::vector<Ordinal> all;
  for (std::uint64_t o = 0; o < c.stats().total_messages; ++o) all.push_back(Ordinal(o));
  ASSERT_TRUE(c.redact(all, {"ann", 1, "all of it"}));
  EXPECT_EQ(shown(c), before);
  EXPECT_EQ(shown(kept_in(store)), before);
  EXPECT_EQ(shown(kept_in(store, {}, "f")), fork_before);
  const std::uint64_t stub_tokens = kept_in(store, {}, "u").view().tokens(0);
  EXPECT_EQ(kept_in(store).history().log().tokens(0), stub_tokens) << "forks count the stubs, too";
}

TEST_P(StoredConversation, WhatWasPrunedOrRedactedElsewhereIsNoticedBeforeAnythingIsCommitted) {
  const std::shared_ptr<Store> store = shared();
  Conversation a = kept_in(store), b = kept_in(store);
  for (int i = 0; i < 4; ++i) a.apply(append("secret " + std::to_string(i))).value();
  ASSERT_TRUE(b.catch_up());
  ASSERT_TRUE(a.redact({Ordinal(0)}, {"ann", 1, "why"}));
  b.apply({op::Merge{{0, 1}}}).value();
  for (const MessageRecord& record : store->messages("c", 0, 10).value())
    EXPECT_EQ(record.body.find("secret 0"), std::string::npos);
  ASSERT_TRUE(a.catch_up());
  a.prune_versions({.versions = 1}).value();
  EXPECT_CODE(b.apply({op::Restore{2}}).error(), ErrorCode::not_found);
  a.prune_versions({.versions = 1}).value();
  b.apply(append("more")).value();
  EXPECT_EQ(texts(kept_in(store).view()).back(), "more");
  EXPECT_TRUE(check_store(*store).value().damage.empty());
  EXPECT_TRUE(kept_in(store).check());
}

TEST_P(StoredConversation, AForkOfNothingBeginsWithNothing) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store);
  c.apply(append("one")).value();
  Conversation fork = c.fork(Version(0), "f").value();
  fork.apply(append("other")).value();
  EXPECT_EQ(texts(kept_in(store, {}, "f").view()), Texts({"other"}));
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

TEST_P(StoredConversation, AForkThatBeginsBelowWhereItsOriginWasForkedReadsItsOwnMessages) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store);
  for (int i = 0; i < 10; ++i) c.apply(append("m" + std::to_string(i))).value();
  Conversation fork = c.fork(Version(7), "f").value();
  Conversation below = fork.fork(Version(3), "below").value();
  below.apply(append("own")).value();
  ASSERT_TRUE(below.checkpoint());
  EXPECT_EQ(texts(kept_in(store, {}, "below").view()), Texts({"m0", "m1", "m2", "own"}));
}

TEST_P(StoredConversation, NoTokenizerNamedMeansTheOneItIsCountedBy) {
  const std::shared_ptr<Store> store = shared();
  Settings settings;
  settings.tokenizer = "claude";
  Conversation named = Conversation::open(store, "c", settings).value();
  named.apply(append("some words to count")).value();
  EXPECT_EQ(kept_in(store).settings().tokenizer, "claude");
  named.apply(append("more")).value();
}

TEST_P(StoredConversation, RetentionMustSayWhatToKeep) {
  Conversation c = kept_in(shared());
  EXPECT_CODE(c.prune_versions({}).error(), ErrorCode::invalid_argument);
}

TEST_P(StoredConversation, VersionsThatArePrunedAreGoneAndAllOthersAreAsTheyWere) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store, {.checkpoint_versions = 5});
  for (int i = 0; i < 6; ++i) c.apply(append("m" + std::to_string(i))).value();
  c.apply({op::Compress{Names::indices({0, 1}), text(Role::user, "both")}}).value();
  c.apply({op::Clear{}}).value();
  c.apply({op::Rollback{1}}).value();
  c.apply({op::Delete{Names::indices({4})}}).value();
  c.apply(append("after")).value();  // version 11
  const std::vector<std::string> head = texts(c.view());
  const Reclaimed reclaimed = c.prune_versions({.versions = 2}).value();
  EXPECT_EQ(reclaimed.first_version, Version(10));
  EXPECT_EQ(reclaimed.versions, 10u);
  EXPECT_EQ(reclaimed.messages, 0u) << "all can still be rolled back to or expanded";
  Conversation again = kept_in(store);
  EXPECT_EQ(texts(again.view()), head);
  EXPECT_EQ(again.history().view_at(Version(9)).error().code, ErrorCode::not_found);
  EXPECT_EQ(again.history().versions().size(), 2u);
  again.apply({op::Rollback{0}}).value();
  EXPECT_EQ(texts(again.view()), Texts({"m0", "m1", "m2", "m3", "m4", "m5"}));
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

TEST_P(StoredConversation, MessagesThatNoKeptVersionNeedsAreTakenOutWithTheVersions) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store);
  c.apply(append("old secret")).value();
  c.apply({op::Replace{Names::indices({0}), {text(Role::user, "new")}}}).value();
  c.apply({op::Undo{}}).value();
  c.apply({op::Clear{false}}).value();
  c.apply({op::StartBatch{}}).value();
  c.apply({op::Restore{0}}).value();  // no batch, nothing to go back to
  c.apply(append("now")).value();
  EXPECT_EQ(c.prune_versions({.versions = 1}).value().messages, 2u);
  EXPECT_EQ(texts(c.view()), Texts({"now"}));
  for (const MessageRecord& record : store->messages("c", 0, 10).value()) {
    EXPECT_EQ(record.body.find("secret"), std::string::npos);
  }
  EXPECT_TRUE(check_store(*store).value().damage.empty());
  c.apply(append("later")).value();
  EXPECT_EQ(texts(kept_in(store).view()), Texts({"now", "later"}));
}

TEST_P(StoredConversation, AnotherTokenizerCountsAnewAndWhatItCountedIsStored) {
  const std::shared_ptr<Store> store = shared();
  kept_in(store).apply(append("some words to count")).value();
  Settings settings;
  settings.tokenizer = "claude";
  const std::uint64_t tokens = Conversation::open(store, "c", settings).value().stats().tokens;
  EXPECT_GT(tokens, 0u);
  EXPECT_EQ(Conversation::open(store, "c", settings).value().stats().tokens, tokens);
}

TEST_P(StoredConversation,
       AConversationThatSomebodyElseCountsByAnotherTokenizerCountsByThatFromThenOn) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store);
  c.apply(append("some words to count")).value();
  Settings settings;
  settings.tokenizer = "claude";
  std::vector<Event::Type> told;
  const Subscription subscription =
      c.subscribe([&](const Event& event) { told.push_back(event.type); });
  const Conversation theirs = Conversation::open(store, "c", settings).value();
  EXPECT_TRUE(c.catch_up());
  EXPECT_EQ(told, std::vector{Event::Type::rewritten});
  EXPECT_EQ(c.tokenizer()->name(), theirs.tokenizer()->name());
  EXPECT_EQ(c.stats().tokens, theirs.stats().tokens);
  EXPECT_EQ(c.apply(append("more")).value().version, Version(2));
  Conversation again = Conversation::open(store, "c", settings).value();
  EXPECT_EQ(c.stats().tokens, again.stats().tokens) << "counted as they count";
}

TEST_P(StoredConversation, ARedactionIsToldHereAndElsewhere) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store), elsewhere = kept_in(store);
  c.apply(append("a secret")).value();
  ASSERT_TRUE(elsewhere.catch_up());
  std::vector<Event::Type> here, there;
  const Subscription one = c.subscribe([&](const Event& event) { here.push_back(event.type); });
  const Subscription other =
      elsewhere.subscribe([&](const Event& event) { there.push_back(event.type); });
  ASSERT_TRUE(c.redact({Ordinal(0)}, {"me", 1, "why"}));
  EXPECT_EQ(here, std::vector{Event::Type::rewritten});
  ASSERT_TRUE(elsewhere.catch_up());
  EXPECT_EQ(there, std::vector{Event::Type::rewritten});
}

TEST_P(StoredConversation, AReaderThatReadsEverythingGivesMemoryBack) {
  const std::shared_ptr<Store> store = shared();
  {
    Conversation c = kept_in(store, {.checkpoint_versions = 50});
    std::vector<Operation> list;
    for (int i = 0; i < 3000; ++i) list.push_back(append("message " + std::to_string(i)));
    c.apply(std::move(list)).value();
  }
  Conversation reader = kept_in(store, {.cache_bytes = 30000});
  const History before = reader.history();
  EXPECT_EQ(texts(before.view()).size(), 3000u);
  EXPECT_EQ(&before.rep(), &reader.history().rep()) << "a read changes nothing";
  EXPECT_TRUE(reader.catch_up());
  const History after = reader.history();
  EXPECT_NE(&before.rep(), &after.rep()) << "what was read goes with the last who looks at it";
  EXPECT_EQ(texts(after.view()).back(), "message 2999");
  EXPECT_EQ(texts(before.view()).back(), "message 2999");
}

TEST_P(StoredConversation, ASettingsNoteIsKeptForWhoeverOpensItNext) {
  const std::shared_ptr<Store> store = shared();
  kept_in(store, {.note = "first"}).apply(append("one")).value();
  kept_in(store);
  EXPECT_EQ(Conversation::stored_note(*store, "c").value(), "first");
  kept_in(store, {.note = "second"});
  EXPECT_EQ(Conversation::stored_note(*store, "c").value(), "second");
  EXPECT_EQ(texts(kept_in(store).view()), Texts({"one"}));
}

TEST_P(StoredConversation, WhoMadeItStaysWithItAndDoesNotGoAlongWithAFork) {
  const std::shared_ptr<Store> store = shared();
  Conversation c = kept_in(store, {.note = "first", .made_by = "somebody"});
  c.apply(append("one")).value();
  kept_in(store, {.note = "second", .made_by = "somebody else"});
  Settings counted_anew;
  counted_anew.tokenizer = "claude";
  if (Conversation::open(counted_anew)) {
    ASSERT_TRUE(Conversation::open(store, "c", counted_anew));
  }
  EXPECT_EQ(Conversation::stored_maker(*store, "c").value(), "somebody");
  c.fork(Version(1), "unmarked").value();
  c.fork(Version(1), "marked", "a third").value();
  EXPECT_EQ(Conversation::stored_maker(*store, "unmarked").value(), "");
  EXPECT_EQ(Conversation::stored_maker(*store, "marked").value(), "a third");
  EXPECT_EQ(Conversation::stored_note(*store, "marked").value(), "second");
  EXPECT_EQ(texts(Conversation::open(store, "marked").value().view()), Texts({"one"}));
}

TEST_P(StoredConversation, HowItIsOpenedSaysWhetherItMustBeThere) {
  const std::shared_ptr<Store> store = shared();
  EXPECT_EQ(Conversation::open(store, "c", {}, {.make = OpenOptions::Make::never}).error().code,
            ErrorCode::not_found);
  kept_in(store);
  EXPECT_EQ(Conversation::open(store, "c", {}, {.make = OpenOptions::Make::always}).error().code,
            ErrorCode::conflict);
  for (const char* id : {"", "..", "a/b", "a b", "a'b"}) {
    EXPECT_EQ(Conversation::open(store, id).error().code, ErrorCode::invalid_argument) << id;
  }
}

// Every call to the store fails once, whichever it is: the operation then fails, the conversation
// is as it was, and the same again works.
TEST_P(StoredConversation, AStoreThatFailsAtAnyCallLosesNothingAndDoublesNothing) {
  const std::vector<Operation> steps = {
      append_as("a", "1"),
      append_as("b", "2"),
      {op::Insert{1, {text(Role::system, "c")}}, {.operation_id = "3"}},
      {op::Compress{Names::indices({0, 2}), text(Role::user, "both")}, {.operation_id = "4"}},
      {op::Rollback{0}, {.operation_id = "5"}},
      append_as("d", "6")};
  const std::shared_ptr<Store> inner = shared();
  const auto store = std::make_shared<FailingStore>(inner);
  std::uint64_t last = 0;
  for (std::uint64_t k = 2;; ++k) {  // every call, failing before it has done anything, and after
    const std::uint64_t n = k / 2;
    const std::string id = "c" + std::to_string(k);
    store->fail_at(n, k % 2 == 0 ? FailingStore::When::before : FailingStore::When::after);
    std::optional<Conversation> c;
    for (int tries = 0; tries < 3 && !c; ++tries) {
      Result<Conversation> made =
          Conversation::open(store, id, {}, {.cache_bytes = 10, .checkpoint_versions = 2});
      if (made) c.emplace(std::move(*made));
    }
    ASSERT_TRUE(c);
    for (const Operation& step : steps) {
      Result<Outcome> outcome = c->apply(step);
      if (!outcome) {
        ASSERT_EQ(outcome.error().code, ErrorCode::unavailable) << "call " << n;
        outcome = c->apply(step);
      }
      ASSERT_TRUE(outcome) << "call " << n << ": " << outcome.error().message;
    }
    ASSERT_EQ(c->version(), Version(6)) << "call " << n;
    std::vector<std::string> seen;
    while (seen.empty()) {
      try {
        seen = texts(c->view());
      } catch (const Failure& failure) {
        ASSERT_EQ(failure.error().code, ErrorCode::unavailable);
      }
    }
    ASSERT_EQ(seen, Texts({"a", "b", "d"})) << "call " << n;
    ASSERT_EQ(texts(kept_in(inner, {}, id).view()), Texts({"a", "b", "d"})) << "call " << n;
    ASSERT_TRUE(check_store(*inner, id).value().damage.empty()) << "call " << n;
    last = n;
    if (store->calls() < n) break;
  }
  EXPECT_GT(last, 20u);
}

// Like the digest, but planned while others may write.
class SlowDigest final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "slow digest"; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest& request) const override {
    return digest_summariser()->summarise(request);
  }
};

using Compress = std::function<Result<Outcome>(Conversation&)>;

TEST_P(StoredConversation,
       AStoreThatFailsAtAnyCallWhileACompressionRunsIsUnavailableAndChangesNothing) {
  const StrategyPtr quick = smart_summary({.keep = 2}),
                    slow = smart_summary({.summariser = std::make_shared<SlowDigest>(), .keep = 2});
  const std::pair<std::string, Compress> routes[] = {
      {"quick", [&](Conversation& c) { return c.compress(*quick); }},
      {"slow", [&](Conversation& c) { return c.compress(*slow); }},
      {"list", [&](Conversation& c) -> Result<Outcome> {
         Result<std::vector<Outcome>> outcomes =
             c.apply(std::vector<Operation>{{c.compress_by(quick).value()}});
         if (!outcomes) return outcomes.error();
         return outcomes->back();
       }}};
  const std::shared_ptr<Store> inner = shared();
  for (const auto& [id, compress] : routes) {
    {
      Conversation made = kept_in(inner, {}, id);
      for (int i = 0; i < 40; ++i)
        made.apply({op::Append{{text(i % 2 == 0 ? Role::user : Role::assistant,
                                     "please look at src/file" + std::to_string(i) +
                                         ".cpp, which does not compile")}}})
            .value();
      ASSERT_TRUE(made.checkpoint());
    }
    const auto store = std::make_shared<FailingStore>(inner);
    std::uint64_t failures = 0;
    for (std::uint64_t n = 1;; ++n) {
      Conversation c = kept_in(store, {.cache_bytes = 10}, id);
      const Version before = c.version();
      store->fail_at(n);
      const Result<Outcome> outcome = compress(c);
      const bool has_failed = store->calls() >= n;
      store->fail_at(0);
      if (outcome) {
        ASSERT_EQ(kept_in(inner, {}, id).view().size(), 3u) << id << ", call " << n;
        if (!has_failed) break;
        // the call only gave memory back, and may fail
        kept_in(inner, {}, id).apply({op::Undo{}}).value();
        continue;
      }
      ++failures;
      ASSERT_TRUE(has_failed) << id << ", call " << n << ": " << outcome.error().message;
      EXPECT_EQ(outcome.error().code, ErrorCode::unavailable)
          << id << ", call " << n << ": " << outcome.error().message;
      EXPECT_EQ(c.version(), before) << id << ", call " << n;
      EXPECT_EQ(kept_in(inner, {}, id).version(), before) << id << ", call " << n;
    }
    EXPECT_GT(failures, 3u) << "of calls before the plan, while it is made, and to commit it";
  }
}

}  // namespace
}  // namespace undertext::test
