// The contract of store.hpp, asked whole of every store.
#include <algorithm>
#include <array>
#include <chrono>

#include "failing_store.hpp"
#include "kinds.hpp"
#include "store/staged.hpp"
#include "writing.hpp"

namespace undertext {
namespace {

using namespace std::string_literals;
using test::body;
using test::FailingStore;
using test::Writing;

class StoreContract : public test::OfEveryStore {
 protected:
  void expect_whole() {
    const CheckReport report = check_store(store()).value();
    for (const Damage& damage : report.damage)
      ADD_FAILURE() << damage.conversation << ": " << damage.what;
  }
  std::vector<MessageRecord> all_messages(std::string_view id) {
    std::vector<MessageRecord> all;
    for (std::uint64_t from = 0;;) {
      const std::vector<MessageRecord> some = store().messages(id, from, ~std::uint64_t{0}).value();
      if (some.empty()) return all;
      all.insert(all.end(), some.begin(), some.end());
      from = some.back().ordinal + 1;
    }
  }
};

TEST_P(StoreContract, AnEmptyStoreListsNothingAndFindsNothing) {
  EXPECT_TRUE(store().list().value().empty());
  EXPECT_CODE(store().find("nobody").error(), ErrorCode::not_found);
  EXPECT_CODE(store().messages("nobody", 0, 1).error(), ErrorCode::not_found);
  EXPECT_CODE(store().versions("nobody", 0, 1).error(), ErrorCode::not_found);
  EXPECT_CODE(store().checkpoint("nobody").error(), ErrorCode::not_found);
  EXPECT_CODE(store().find_operation("nobody", "x").error(), ErrorCode::not_found);
  EXPECT_CODE(store().removals("nobody").error(), ErrorCode::not_found);
  EXPECT_CODE(store().commit(Writing("nobody").append({body(0)})).error(), ErrorCode::not_found);
  EXPECT_CODE(store().purge("nobody", {"me", 1, "why"}).error(), ErrorCode::not_found);
  expect_whole();
}

TEST_P(StoreContract, ANewConversationIsFoundAsItWasMade) {
  const Writing writing("first");
  const ConversationRecord made = store().create(writing.creation()).value();
  EXPECT_EQ(made.id, "first");
  EXPECT_EQ(made.settings, "settings of first");
  EXPECT_EQ(made.created_at_ms, 1000);
  EXPECT_EQ(made.updated_at_ms, 1000);
  EXPECT_EQ(made.version, 0u);
  EXPECT_EQ(made.chain, first_chain("first"));
  reopen();
  EXPECT_EQ(store().find("first").value(), made);
  EXPECT_CODE(store().create(writing.creation()).error(), ErrorCode::conflict);
}

TEST_P(StoreContract, ListsGoThroughAllIdsInOrderPageByPage) {
  std::vector<std::string> ids;
  for (int i = 0; i < 25; ++i) ids.push_back("c" + std::to_string(i * 7 % 25));
  ids.push_back("Z");
  ids.push_back("_");
  ids.push_back("-");
  for (const std::string& id : ids) ASSERT_TRUE(Writing(id).create_in(store()));
  std::sort(ids.begin(), ids.end());
  reopen();
  std::vector<std::string> listed;
  ListOptions options{.limit = 4};
  for (;;) {
    const auto some = store().list(options).value();
    for (const ConversationRecord& record : some) listed.push_back(record.id);
    if (some.size() < options.limit) break;
    options.after = some.back().id;
  }
  EXPECT_EQ(listed, ids);
  EXPECT_TRUE(store().list({.after = "zz"}).value().empty());
  EXPECT_TRUE(store().list({.after = std::string("\xff\0'\"", 4)}).value().empty() ||
              GetParam() == "postgres");
  EXPECT_CODE(store().list({.limit = 0}).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(store().list({.limit = 1001}).error(), ErrorCode::invalid_argument);
}

TEST_P(StoreContract, WhatIsCommittedIsReadBackByteForByte) {
  Writing writing("bytes");
  ASSERT_TRUE(writing.create_in(store()));
  Commit commit =
      writing.append({body(0), "\0 NUL \xff\xfe '\"; DROP TABLE messages; --"s, ""}, "op\0x'"s);
  commit.messages[1].role = Role::tool;
  commit.messages[2].time_ms = -5;
  commit.messages[2].tokens = 4'000'000'000u;
  commit.versions[0].operation = "APPEND";
  commit.versions[0].arguments = std::string("\0\1\2", 3);
  commit.versions[0].answer = std::string("\0answer", 7);
  commit.versions[0].chain = next_chain(writing.chain(), commit.versions[0], commit.messages);
  ASSERT_TRUE(store().commit(commit));
  reopen();
  EXPECT_EQ(store().messages("bytes", 0, 10).value(), commit.messages);
  EXPECT_EQ(store().versions("bytes", 0, 10).value(), commit.versions);
  const ConversationRecord record = store().find("bytes").value();
  EXPECT_EQ(record.version, 1u);
  EXPECT_EQ(record.log_length, 3u);
  EXPECT_EQ(record.chain, commit.versions[0].chain);
  EXPECT_EQ(record.updated_at_ms, commit.versions[0].at_ms);
  EXPECT_EQ(store().list().value().front(), record);
  expect_whole();
}

TEST_P(StoreContract, ABodyThatIsGivenAsThatOfAnEarlierMessageIsReadLikeAnyOther) {
  Writing writing("copies");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0)}));
  const std::uint64_t size_before = store().size_bytes("copies").value();
  Commit commit = writing.append({body(0), body(0), body(1)});  // its chain is of the bodies
  const std::vector<MessageRecord> whole = commit.messages;
  for (const std::size_t copy : {0u, 1u}) {
    commit.messages[copy].body.clear();
    commit.messages[copy].same_as = copy;  // the second is a copy of a copy
  }
  ASSERT_TRUE(store().commit(commit));
  writing.taken(commit);
  reopen();
  EXPECT_EQ(store().messages("copies", 1, 10).value(), whole);
  EXPECT_GT(store().size_bytes("copies").value(), size_before);
  expect_whole();
  // What is taken out of one stays in the others.
  const std::vector<MessageRecord> stubs = {
      test::stub_of(store().messages("copies", 0, 1).value().front())};
  ASSERT_TRUE(store().redact("copies", stubs, {"me", 1, "why"}));
  EXPECT_EQ(store().messages("copies", 1, 10).value(), whole);
  expect_whole();
}

TEST_P(StoreContract, ABodyIsNotThatOfALaterMessageOrOfNone) {
  Writing writing("copies");
  ASSERT_TRUE(writing.create_in(store()));
  Commit commit = writing.append({body(0)});
  commit.messages[0].same_as = 0;
  EXPECT_CODE(store().commit(commit).error(), ErrorCode::invalid_argument);
  commit.messages[0].body.clear();
  EXPECT_CODE(store().commit(commit).error(), ErrorCode::invalid_argument);
  EXPECT_EQ(store().find("copies").value().version, 0u);
}

TEST_P(StoreContract, RangesHoldWhatIsAskedForAndThere) {
  Writing writing("ranges");
  ASSERT_TRUE(writing.create_in(store()));
  for (std::uint64_t i = 0; i < 30; ++i)
    ASSERT_TRUE(writing.append_to(store(), {body(2 * i), body(2 * i + 1)}));
  reopen();
  const auto messages = [&](std::uint64_t first, std::uint64_t end) {
    std::vector<std::uint64_t> found;
    for (const MessageRecord& message : store().messages("ranges", first, end).value())
      found.push_back(message.ordinal);
    return found;
  };
  EXPECT_EQ(messages(58, 100), (std::vector<std::uint64_t>{58, 59}));
  EXPECT_EQ(messages(10, 12), (std::vector<std::uint64_t>{10, 11}));
  EXPECT_TRUE(messages(12, 12).empty());
  EXPECT_TRUE(messages(12, 10).empty());
  EXPECT_TRUE(messages(60, ~std::uint64_t{0}).empty());
  EXPECT_TRUE(messages(~std::uint64_t{0} - 1, ~std::uint64_t{0}).empty());
  EXPECT_EQ(store().versions("ranges", 0, ~std::uint64_t{0}).value().size(), 30u);
  EXPECT_EQ(store().versions("ranges", 30, 31).value().front().version, 30u);
}

TEST_P(StoreContract, AVeryLargeAnswerIsCutOffAndCanBeAskedOnFrom) {
  Writing writing("large");
  ASSERT_TRUE(writing.create_in(store()));
  const std::string large = body(0, std::size_t{3} << 20);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(writing.append_to(store(), {large}));
  const std::string huge = body(1, std::size_t{16} << 20);
  ASSERT_TRUE(writing.append_to(store(), {huge}));
  reopen();
  EXPECT_LT(store().messages("large", 0, 7).value().size(), 7u);
  const std::vector<MessageRecord> all = all_messages("large");
  ASSERT_EQ(all.size(), 7u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(all[i].body == large);
  EXPECT_TRUE(all[6].body == huge);
  expect_whole();
}

TEST_P(StoreContract, ManySmallRecordsAreAllReadByAskingOn) {
  Writing writing("many");
  ASSERT_TRUE(writing.create_in(store()));
  std::vector<std::string> bodies(12'000, "{}");
  ASSERT_TRUE(writing.append_to(store(), bodies));
  EXPECT_EQ(all_messages("many").size(), bodies.size());
  expect_whole();
}

TEST_P(StoreContract, ACommitThatGoesOnFromAnotherVersionIsRefusedAndChangesNothing) {
  Writing writing("cas");
  ASSERT_TRUE(writing.create_in(store()));
  const Commit loser = writing.append({body(100)}, "loser");
  ASSERT_TRUE(writing.append_to(store(), {body(0)}));
  EXPECT_CODE(store().commit(loser).error(), ErrorCode::conflict);
  Commit ahead = loser;
  ahead.expected_version = 7;
  ahead.versions[0].version = 8;
  EXPECT_CODE(store().commit(ahead).error(), ErrorCode::conflict);
  reopen();
  EXPECT_EQ(store().find("cas").value().version, 1u);
  EXPECT_EQ(store().messages("cas", 0, 10).value().size(), 1u);
  EXPECT_FALSE(store().find_operation("cas", "loser").value());
  expect_whole();
}

TEST_P(StoreContract, SeveralVersionsAreOneCommit) {
  Writing writing("several");
  ASSERT_TRUE(writing.create_in(store()));
  Commit commit = writing.append({body(0)}, "a");
  Writing ahead = writing;
  ahead.taken(commit);
  const Commit second = ahead.append({body(1), body(2)}, "b");
  commit.versions.push_back(second.versions[0]);
  commit.messages.insert(commit.messages.end(), second.messages.begin(), second.messages.end());
  ASSERT_TRUE(store().commit(commit));
  reopen();
  EXPECT_EQ(store().versions("several", 0, 10).value(), commit.versions);
  EXPECT_EQ(store().find_operation("several", "b").value()->version, 2u);
  expect_whole();
}

TEST_P(StoreContract, AnOperationIdIsKnownOnceItIsCommittedAndNeverTwice) {
  Writing writing("ids"), other("other");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(other.create_in(store()));
  const Commit first = writing.append({body(0)}, "pay-once");
  ASSERT_TRUE(store().commit(first));
  writing.taken(first);
  reopen();
  EXPECT_EQ(store().find_operation("ids", "pay-once").value().value(), first.versions[0]);
  EXPECT_FALSE(store().find_operation("ids", "pay").value());
  EXPECT_FALSE(store().find_operation("ids", "").value());
  EXPECT_CODE(store().commit(writing.append({body(1)}, "pay-once")).error(), ErrorCode::conflict);
  EXPECT_TRUE(writing.append_to(store(), {body(1)}, "pay-twice"));
  EXPECT_TRUE(other.append_to(store(), {body(2)}, "pay-once")) << "ids are a conversation's own";
  // Twice in one commit.
  Commit twice = writing.append({}, "x");
  VersionRecord again = twice.versions[0];
  ++again.version;
  twice.versions.push_back(again);
  EXPECT_CODE(store().commit(twice).error(), ErrorCode::conflict);
  EXPECT_EQ(store().find("ids").value().version, 2u);
  expect_whole();
}

TEST_P(StoreContract, CommitsWhosePartsDoNotFitAreRefused) {
  Writing writing("parts");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0), body(1)}));
  const Commit good = writing.append({body(2), body(3)});
  std::vector<Commit> bad(9, good);
  bad[0].versions[0].version += 1;
  bad[1].messages[0].ordinal += 1;
  bad[2].messages.pop_back();
  bad[3].versions.clear();
  bad[4].pages.push_back({1, "page"});
  bad[5].checkpoint = Checkpoint{good.versions[0].version + 1, 1, "root"};
  bad[6].checkpoint = Checkpoint{1, 3, "root"};
  bad[6].pages = {{2, "one"}, {2, "two"}};
  bad[7].checkpoint = Checkpoint{1, 3, "root"};
  bad[7].pages = {{3, "beyond"}};
  bad[8].versions[0].log_length = 1;
  bad[8].messages.clear();
  for (std::size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE(i);
    const Result<void> done = store().commit(bad[i]);
    ASSERT_FALSE(done);
    EXPECT_CODE(done.error(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(store().find("parts").value().version, 1u);
  EXPECT_TRUE(store().commit(good));
  expect_whole();
}

TEST_P(StoreContract, HostileConversationIdsAreRefusedByEveryMethod) {
  const std::vector<std::string> hostile = {"",
                                            ".",
                                            "..",
                                            "../x",
                                            "a/b",
                                            "a\\b",
                                            "a'b",
                                            "a\"b",
                                            "a b",
                                            std::string("a\0b", 3),
                                            "ä",
                                            "a\n",
                                            std::string(129, 'a'),
                                            std::string(10'000, 'a'),
                                            "$1",
                                            "%",
                                            ";--"};
  for (const std::string& id : hostile) {
    SCOPED_TRACE(id.substr(0, 40));
    EXPECT_CODE(store().create(Writing(id).creation()).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().find(id).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().versions(id, 0, 1).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().messages(id, 0, 1).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().pages(id, {}).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().checkpoint(id).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().find_operation(id, "x").error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().commit(Writing(id).append({body(0)})).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().redact(id, {}, {}).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().purge(id, {}).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().removals(id).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(store().prune({.conversation = id}).error(), ErrorCode::invalid_argument);
  }
  EXPECT_TRUE(Writing(std::string(128, 'a')).create_in(store()));
  EXPECT_EQ(store().list().value().size(), 1u);
}

// What is staged, and an id for it.
class Staged {
 public:
  explicit Staged(std::string publish_as) : writing_(std::move(publish_as)) {}
  const std::string& id() const { return id_; }

  NewConversation creation() const {
    NewConversation made = writing_.creation();
    made.id = id_;
    return made;
  }
  Result<void> append_to(Store& store, std::vector<std::string> bodies) {
    Commit commit = writing_.append(std::move(bodies));
    commit.conversation = id_;
    commit.checkpoint =
        Checkpoint{commit.versions.back().version, commit.versions.back().version + 1, "root"};
    commit.pages = {{commit.versions.back().version, "page"}};
    Result<void> done = store.commit(commit);
    if (done) writing_.taken(commit);
    return done;
  }
  const Writing& published() const { return writing_; }

 private:
  std::string id_ = staged_id(1'763'222'470'000);
  Writing writing_;
};

TEST_P(StoreContract, WhatIsStagedIsSeenByNobodyUntilItIsPublishedAsAWhole) {
  ASSERT_TRUE(Writing("other").create_in(store()));
  Staged staged("import");
  ASSERT_TRUE(store().create(staged.creation()));
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_TRUE(staged.append_to(store(), {body(2 * i), body(2 * i + 1)}));
  reopen();
  ASSERT_EQ(store().list().value().size(), 1u);
  EXPECT_EQ(store().list().value().front().id, "other");
  EXPECT_CODE(store().find("import").error(), ErrorCode::not_found);
  EXPECT_EQ(store().list({.staged = true}).value().front().id, staged.id());
  EXPECT_TRUE(store().list({.after = staged.id(), .staged = true}).value().empty());

  ASSERT_TRUE(store().publish(staged.id(), "import"));
  reopen();
  EXPECT_TRUE(store().list({.staged = true}).value().empty());
  EXPECT_CODE(store().find(staged.id()).error(), ErrorCode::not_found);
  const ConversationRecord record = store().find("import").value();
  EXPECT_EQ(record.id, "import");
  EXPECT_EQ(record.settings, "settings of import");
  EXPECT_EQ(record.version, 3u);
  EXPECT_EQ(record.log_length, 6u);
  EXPECT_EQ(record.checkpoint_version, 3u);
  EXPECT_EQ(all_messages("import").size(), 6u);
  const std::array<std::uint64_t, 3> pages = {1, 2, 3};
  EXPECT_EQ(store().pages("import", pages).value().size(), 3u);
  Writing writing(record);
  EXPECT_TRUE(writing.append_to(store(), {body(9)}));
  EXPECT_EQ(store().list().value().size(), 2u);
  expect_whole();
}

TEST_P(StoreContract, AnIdThatIsTakenOrPurgedIsNotPublishedUnder) {
  ASSERT_TRUE(Writing("taken").create_in(store()));
  ASSERT_TRUE(Writing("purged").create_in(store()));
  ASSERT_TRUE(store().purge("purged", {"me", 1, "why"}));
  Staged staged("taken");
  ASSERT_TRUE(store().create(staged.creation()));
  ASSERT_TRUE(staged.append_to(store(), {body(0)}));
  EXPECT_CODE(store().publish(staged.id(), "taken").error(), ErrorCode::conflict);
  EXPECT_CODE(store().publish(staged.id(), "purged").error(), ErrorCode::conflict);
  EXPECT_CODE(store().publish(staged_id(1), "free").error(), ErrorCode::not_found);
  EXPECT_CODE(store().publish("taken", "free").error(), ErrorCode::invalid_argument);
  EXPECT_CODE(store().publish(staged.id(), staged_id(1)).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(store().publish(staged.id(), "../x").error(), ErrorCode::invalid_argument);
  EXPECT_EQ(store().find("taken").value().version, 0u);
  EXPECT_EQ(store().find(staged.id()).value().version, 1u);
  expect_whole();
}

TEST_P(StoreContract, WhatWasStagedAndIsPurgedLeavesNothingAndItsIdFree) {
  Staged staged("import");
  ASSERT_TRUE(store().create(staged.creation()));
  ASSERT_TRUE(staged.append_to(store(), {body(0)}));
  ASSERT_TRUE(store().purge(staged.id(), {"me", 1, "why"}));
  EXPECT_CODE(store().purge(staged.id(), {"me", 1, "why"}).error(), ErrorCode::not_found);
  EXPECT_CODE(store().removals(staged.id()).error(), ErrorCode::not_found);
  EXPECT_CODE(staged.append_to(store(), {body(1)}).error(), ErrorCode::not_found);
  EXPECT_TRUE(Writing("import").create_in(store()));
  expect_whole();
}

TEST_P(StoreContract, HostileOperationIdsAreOnlyBytes) {
  Writing writing("hostile");
  ASSERT_TRUE(writing.create_in(store()));
  const std::vector<std::string> ids = {
      "'", "\"",       "' OR 1=1 --",         std::string("a\0b", 3), std::string("a\0c", 3),
      "a", "\xff\xfe", std::string(1000, 'x')};
  for (const std::string& id : ids) ASSERT_TRUE(writing.append_to(store(), {body(0)}, id));
  reopen();
  for (std::size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(store().find_operation("hostile", ids[i]).value()->version, i + 1);
  EXPECT_CODE(store().commit(writing.append({body(0)}, std::string(10'000, 'x'))).error(),
              ErrorCode::too_large);
  expect_whole();
}

TEST_P(StoreContract, CheckpointsAndTheirPagesAreReplacedTogether) {
  Writing writing("pages");
  ASSERT_TRUE(writing.create_in(store()));
  EXPECT_FALSE(store().checkpoint("pages").value());
  Commit first = writing.append({body(0)});
  first.checkpoint = Checkpoint{1, 4, "root one"};
  first.pages = {{3, "three"}, {1, std::string("o\0ne", 4)}, {2, ""}};
  ASSERT_TRUE(store().commit(first));
  writing.taken(first);
  reopen();
  EXPECT_EQ(store().checkpoint("pages").value(), first.checkpoint);
  EXPECT_EQ(store().find("pages").value().checkpoint_version, 1u);
  const std::array<std::uint64_t, 4> order = {2, 1, 3, 1};
  EXPECT_EQ(
      store().pages("pages", order).value(),
      (std::vector<Page>{
          {2, ""}, {1, std::string("o\0ne", 4)}, {3, "three"}, {1, std::string("o\0ne", 4)}}));
  const std::array<std::uint64_t, 2> missing = {1, 9};
  EXPECT_CODE(store().pages("pages", missing).error(), ErrorCode::corrupt);

  // Without a version: only a checkpoint and settings.
  Commit second{.conversation = "pages", .expected_version = 1};
  second.checkpoint = Checkpoint{1, 5, "root two"};
  second.pages = {{4, "four"}};
  second.settings = std::string("new\0settings", 12);
  ASSERT_TRUE(store().commit(second));
  reopen();
  EXPECT_EQ(store().checkpoint("pages").value(), second.checkpoint);
  EXPECT_EQ(store().find("pages").value().settings, *second.settings);
  const std::array<std::uint64_t, 2> kept = {4, 3};
  EXPECT_EQ(store().pages("pages", kept).value(), (std::vector<Page>{{4, "four"}, {3, "three"}}));

  // Whoever did not see that checkpoint must not write over it.
  Commit stale{.conversation = "pages", .expected_version = 1};
  stale.checkpoint = Checkpoint{1, 5, "root three"};
  stale.pages = {{4, "another four"}};
  EXPECT_CODE(store().commit(stale).error(), ErrorCode::conflict);
  stale.pages.clear();
  stale.checkpoint->next_page = 4;
  EXPECT_CODE(store().commit(stale).error(), ErrorCode::conflict);
  stale.checkpoint = Checkpoint{0, 6, "older"};
  EXPECT_CODE(store().commit(stale).error(), ErrorCode::conflict);
  EXPECT_EQ(store().checkpoint("pages").value(), second.checkpoint);
  expect_whole();
}

TEST_P(StoreContract, AForkGoesOnWhereItsOriginWasAndSharesItsRecords) {
  Writing origin("origin");
  ASSERT_TRUE(origin.create_in(store()));
  Commit checkpointed = origin.append({body(0), body(1)});
  checkpointed.checkpoint = Checkpoint{1, 3, "root"};
  checkpointed.pages = {{1, "one"}, {2, "two"}};
  ASSERT_TRUE(store().commit(checkpointed));
  origin.taken(checkpointed);
  const Writing at_fork = origin;
  ASSERT_TRUE(origin.append_to(store(), {body(2)}));

  NewConversation made = at_fork.fork("fork", 3);
  made.checkpoint = Checkpoint{1, 4, "fork root"};
  made.pages = {{3, "fork's own"}};
  const ConversationRecord record = store().create(made).value();
  EXPECT_EQ(record.origin, made.origin);
  EXPECT_EQ(record.version, 1u);
  EXPECT_EQ(record.log_length, 2u);
  EXPECT_EQ(record.chain, at_fork.chain());
  reopen();
  EXPECT_EQ(store().find("fork").value(), record);
  EXPECT_EQ(store().find("origin").value().forks, std::vector<std::string>{"fork"});
  EXPECT_TRUE(store().messages("fork", 0, 10).value().empty())
      << "the origin's records are asked for there";
  EXPECT_EQ(store().checkpoint("fork").value(), made.checkpoint);

  Writing fork(record);
  ASSERT_TRUE(fork.append_to(store(), {body(20)}, "in the fork"));
  ASSERT_TRUE(origin.append_to(store(), {body(3)}));
  EXPECT_EQ(store().messages("fork", 0, 10).value().front().ordinal, 2u);
  EXPECT_EQ(store().messages("origin", 2, 3).value().front().body, body(2));

  // The origin keeps the pages that the fork may need.
  Commit later{.conversation = "origin", .expected_version = origin.version()};
  later.checkpoint = Checkpoint{origin.version(), 5, "later"};
  later.pages = {{3, "three"}, {4, "four"}};
  ASSERT_TRUE(store().commit(later));
  const std::array<std::uint64_t, 2> shared = {1, 2};
  EXPECT_EQ(store().pages("origin", shared).value().size(), 2u);
  EXPECT_CODE(store().purge("origin", {"me", 1, "why"}).error(), ErrorCode::conflict);

  // A fork of a checkpoint that has been replaced meanwhile.
  NewConversation late = at_fork.fork("late", 3);
  late.checkpoint = Checkpoint{1, 3, "late root"};
  EXPECT_CODE(store().create(late).error(), ErrorCode::conflict);
  late.checkpoint.reset();
  EXPECT_TRUE(store().create(late));

  // A fork of the fork, and forks of what is not there.
  EXPECT_TRUE(store().create(fork.fork("second", 4)));
  NewConversation bad = at_fork.fork("bad");
  bad.origin->version = 99;
  EXPECT_CODE(store().create(bad).error(), ErrorCode::not_found);
  bad.origin->conversation = "nobody";
  EXPECT_CODE(store().create(bad).error(), ErrorCode::not_found);
  expect_whole();
}

TEST_P(StoreContract, APassedDeadlineIsUnavailableAndNothingHappens) {
  Writing writing("late");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0)}));
  const CallOptions late{std::chrono::steady_clock::now() - std::chrono::seconds(1)};
  EXPECT_CODE(store().create(Writing("later").creation(), late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().find("late", late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().list({.call = late}).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().versions("late", 0, 1, late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().messages("late", 0, 1, late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().checkpoint("late", late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().find_operation("late", "x", late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().commit(writing.append({body(1)}), late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().purge("late", {}, {.call = late}).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().removals("late", late).error(), ErrorCode::unavailable);
  EXPECT_CODE(store().check(late).error(), ErrorCode::unavailable);
  EXPECT_EQ(store().find("late").value().version, 1u);
  EXPECT_EQ(store().list().value().size(), 1u);
}

TEST_P(StoreContract, AFailingCallChangesNothingOrAllAndTheNextOneTells) {
  const auto failing = std::make_shared<FailingStore>(shared());
  for (const FailingStore::When when : {FailingStore::When::before, FailingStore::When::after}) {
    for (std::uint64_t n = 1; n <= 2; ++n) {
      const std::string id =
          "f" + std::to_string(n) + (when == FailingStore::When::before ? "b" : "a");
      Writing writing(id);
      failing->fail_at(n, when);
      const Result<void> created = writing.create_in(*failing);
      EXPECT_EQ(bool(created), n != 1);
      const bool is_there = bool(store().find(id));
      EXPECT_EQ(is_there, n == 2 || when == FailingStore::When::after);
      if (!is_there) continue;
      const Result<void> committed = writing.append_to(*failing, {body(0)}, "op");
      if (!committed) {
        EXPECT_CODE(committed.error(), ErrorCode::unavailable);
      }
      EXPECT_EQ(bool(store().find_operation(id, "op").value()),
                bool(committed) || when == FailingStore::When::after);
    }
  }
  expect_whole();
}

UNDERTEXT_OF_EVERY_STORE(StoreContract);

}  // namespace
}  // namespace undertext
