// What takes something out, asked of every store: redact, purge, prune, compact.
#include <array>
#include <fstream>
#include <iterator>

#include "kinds.hpp"
#include "writing.hpp"

namespace undertext {
namespace {

using test::body;
using test::stub_of;
using test::Writing;

class RemovalContract : public test::OfEveryStore {
 protected:
  static constexpr const char* canary = "canary-7f3a9c";

  void expect_whole() {
    const CheckReport report = check_store(store()).value();
    for (const Damage& damage : report.damage)
      ADD_FAILURE() << damage.conversation << ": " << damage.what;
  }

  // In any file the store writes to, while it is open.
  bool canary_is_anywhere() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      if (bytes.find(canary) != std::string::npos) return true;
    }
    return false;
  }
  bool has_files() const { return GetParam() == "sqlite" || GetParam() == "tenant"; }

  std::string secret(std::uint64_t number, std::size_t size) {
    return R"({"role":"user","content":")" + (canary + body(number, size)) + "\"}";
  }

  const Removal removal_{"admin 'x'", 777, "a request\0of theirs"};
};

TEST_P(RemovalContract, ARedactedMessageLeavesAStubAndItsDigestAndTheChainHolds) {
  Writing writing("redact");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {secret(0, 100), secret(1, 20'000), body(2)}));
  ASSERT_TRUE(writing.append_to(store(), {body(3)}));
  if (has_files()) {
    EXPECT_TRUE(canary_is_anywhere()) << "else the test proves nothing";
  }
  const std::vector<MessageRecord> before = store().messages("redact", 0, 10).value();
  const std::vector<MessageRecord> stubs = {stub_of(before[1]), stub_of(before[0])};
  ASSERT_TRUE(store().redact("redact", stubs, removal_));
  EXPECT_FALSE(canary_is_anywhere());
  reopen();
  const std::vector<MessageRecord> after = store().messages("redact", 0, 10).value();
  EXPECT_EQ(after[0], stubs[1]);
  EXPECT_EQ(after[1], stubs[0]);
  EXPECT_EQ(after[2], before[2]);
  EXPECT_EQ(after[0].redacted, sha256(before[0].body));
  const std::vector<RemovalRecord> removals = store().removals("redact").value();
  ASSERT_EQ(removals.size(), 2u);
  EXPECT_EQ(removals[0], (RemovalRecord{"redact", 1, removal_, sha256(before[1].body)}));
  expect_whole();

  // Again: another stub, the same digest; and the same call done again adds nothing.
  ASSERT_TRUE(store().redact("redact", {stub_of(after[0], "{}")}, removal_));
  EXPECT_EQ(store().messages("redact", 0, 1).value().front().body, "{}");
  EXPECT_EQ(store().messages("redact", 0, 1).value().front().redacted, sha256(before[0].body));
  EXPECT_EQ(store().removals("redact").value().size(), 2u);
  expect_whole();
}

TEST_P(RemovalContract, ARedactionThatCannotBeDoneWhollyIsNotDoneAtAll) {
  Writing writing("half");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0), body(1)}));
  const std::vector<MessageRecord> before = store().messages("half", 0, 10).value();
  MessageRecord beyond = stub_of(before[0]);
  beyond.ordinal = 2;
  EXPECT_CODE(store().redact("half", {stub_of(before[0]), beyond}, removal_).error(),
              ErrorCode::not_found);
  MessageRecord wrong = stub_of(before[1]);
  wrong.redacted = Digest{};
  EXPECT_CODE(store().redact("half", {stub_of(before[0]), wrong}, removal_).error(),
              ErrorCode::invalid_argument);
  MessageRecord other_role = stub_of(before[1]);
  other_role.role = Role::tool;
  EXPECT_CODE(store().redact("half", {other_role}, removal_).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(store().redact("half", {before[0]}, removal_).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(store().redact("nobody", {}, removal_).error(), ErrorCode::not_found);
  EXPECT_EQ(store().messages("half", 0, 10).value(), before);
  EXPECT_TRUE(store().removals("half").value().empty());

  // A fork does not own its origin's messages.
  ASSERT_TRUE(store().create(writing.fork("fork")));
  EXPECT_CODE(store().redact("fork", {stub_of(before[0])}, removal_).error(), ErrorCode::not_found);
  expect_whole();
}

TEST_P(RemovalContract, AConversationIsOnlyPurgedAtTheVersionThatWasExpected) {
  Writing writing("expected");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0, 30)}));
  for (const std::uint64_t other : {0u, 2u}) {
    const Result<void> purged = store().purge("expected", removal_, {.expected_version = other});
    ASSERT_FALSE(purged);
    EXPECT_CODE(purged.error(), ErrorCode::conflict);
    EXPECT_EQ(purged.error().field, "expected_version");
  }
  EXPECT_EQ(store().messages("expected", 0, 100).value().size(), 1u);
  EXPECT_TRUE(store().purge("expected", removal_, {.expected_version = 1}));
  EXPECT_CODE(store().find("expected").error(), ErrorCode::not_found);
  expect_whole();
}

TEST_P(RemovalContract, APurgedConversationIsGoneAndItsIdStaysTaken) {
  Writing writing("purge"), other("stays");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(other.create_in(store()));
  // Side by side, so that pages are shared and split.
  for (std::uint64_t i = 0; i < 60; ++i) {
    ASSERT_TRUE(writing.append_to(store(), {secret(i, 50 + i * 37)},
                                  std::string(canary) + std::to_string(i)));
    ASSERT_TRUE(other.append_to(store(), {body(i, 300)}));
  }
  Commit checkpointed{.conversation = "purge", .expected_version = writing.version()};
  checkpointed.checkpoint = Checkpoint{writing.version(), 2, std::string(canary)};
  checkpointed.pages = {{1, canary + std::string(9000, 'p')}};
  checkpointed.settings = canary;
  ASSERT_TRUE(store().commit(checkpointed));
  ASSERT_TRUE(store().purge("purge", removal_));
  EXPECT_FALSE(canary_is_anywhere());
  reopen();
  EXPECT_FALSE(canary_is_anywhere());
  EXPECT_CODE(store().find("purge").error(), ErrorCode::not_found);
  EXPECT_CODE(store().create(Writing("purge").creation()).error(), ErrorCode::conflict);
  EXPECT_EQ(store().removals("purge").value(),
            (std::vector<RemovalRecord>{{"purge", std::nullopt, removal_, writing.chain()}}));
  EXPECT_EQ(store().list().value().size(), 1u);
  EXPECT_EQ(store().messages("stays", 0, 100).value().size(), 60u);
  EXPECT_TRUE(store().purge("purge", removal_)) << "again, it makes sure";
  EXPECT_EQ(store().removals("purge").value().size(), 1u);
  expect_whole();
}

TEST_P(RemovalContract, BytesRedactedAmongManyConversationsAreGoneFromEveryPage) {
  std::vector<Writing> writings;
  for (int i = 0; i < 12; ++i) {
    writings.emplace_back("c" + std::to_string(i * 5 % 12));
    ASSERT_TRUE(writings.back().create_in(store()));
  }
  for (std::uint64_t turn = 0; turn < 20; ++turn)
    for (Writing& writing : writings)
      ASSERT_TRUE(
          writing.append_to(store(), {turn % 3 == 0 ? secret(turn, 900) : body(turn, 700)}));
  for (Writing& writing : writings) {
    std::vector<MessageRecord> stubs;
    for (const MessageRecord& message : store().messages(writing.id(), 0, 100).value())
      if (message.body.find(canary) != std::string::npos) stubs.push_back(stub_of(message));
    ASSERT_EQ(stubs.size(), 7u);
    ASSERT_TRUE(store().redact(writing.id(), stubs, removal_));
  }
  EXPECT_FALSE(canary_is_anywhere());
  expect_whole();
}

TEST_P(RemovalContract, PurgingAForkLetsItsOriginBePurged) {
  Writing writing("origin");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0)}));
  ASSERT_TRUE(store().create(writing.fork("fork")));
  EXPECT_CODE(store().purge("origin", removal_).error(), ErrorCode::conflict);
  ASSERT_TRUE(store().purge("fork", removal_));
  EXPECT_TRUE(store().find("origin").value().forks.empty());
  EXPECT_TRUE(store().purge("origin", removal_));
  EXPECT_TRUE(store().list().value().empty());
}

TEST_P(RemovalContract, PruningDeletesOldVersionsAndKeepsWhatOperationIdsAreAnsweredWith) {
  Writing writing("prune");
  ASSERT_TRUE(writing.create_in(store()));
  for (std::uint64_t i = 0; i < 10; ++i) {
    Commit commit = writing.append({i < 3 ? secret(i, 200) : body(i)},
                                   i % 2 == 0 ? "op" + std::to_string(i) : "");
    commit.versions[0].arguments = canary;
    commit.versions[0].chain = next_chain(writing.chain(), commit.versions[0], commit.messages);
    commit.checkpoint = Checkpoint{i + 1, i + 2, "root"};
    commit.pages = {{i + 1, i < 9 ? std::string(canary) : "last"}};
    ASSERT_TRUE(store().commit(commit));
    writing.taken(commit);
  }
  const std::vector<VersionRecord> before = store().versions("prune", 0, 100).value();
  const std::vector<MessageRecord> messages = store().messages("prune", 0, 3).value();
  Prune prune{.conversation = "prune", .expected_version = 10, .first_version = 10};
  prune.stubs = {stub_of(messages[0]), stub_of(messages[1]), stub_of(messages[2])};
  prune.checkpoint = Checkpoint{10, 12, "pruned root"};
  prune.pages = {{10, "last"}, {11, "eleven"}};

  Prune stale = prune;
  stale.expected_version = stale.checkpoint.version = stale.first_version = 9;
  EXPECT_CODE(store().prune(stale).error(), ErrorCode::conflict);
  Prune some = prune;
  some.first_version = 6;
  ASSERT_TRUE(store().prune(some));
  reopen();
  std::vector<VersionRecord> after = store().versions("prune", 0, 100).value();
  ASSERT_EQ(after.size(), 5u);
  EXPECT_EQ(after[0].version, 6u);
  EXPECT_EQ(after[0].chain, before[5].chain);
  EXPECT_EQ(after[0].log_length, before[5].log_length);
  EXPECT_EQ(after[0].operation, "");
  EXPECT_EQ(after[1], before[6]);
  EXPECT_EQ(store().find("prune").value().first_version, 6u);
  const VersionRecord kept = store().find_operation("prune", "op0").value().value();
  EXPECT_EQ(kept.version, 1u);
  EXPECT_EQ(kept.answer, "answer");
  EXPECT_EQ(kept.arguments, "");
  EXPECT_TRUE(store().messages("prune", 0, 1).value().front().redacted);
  const std::array<std::uint64_t, 1> old_page = {5}, new_page = {11};
  EXPECT_CODE(store().pages("prune", old_page).error(), ErrorCode::corrupt);
  EXPECT_EQ(store().pages("prune", new_page).value().front().bytes, "eleven");
  EXPECT_EQ(store().checkpoint("prune").value(), prune.checkpoint);
  expect_whole();

  // All of them, and on from there.
  ASSERT_TRUE(store().prune(prune));
  EXPECT_FALSE(canary_is_anywhere());
  reopen();
  EXPECT_EQ(store().find("prune").value().version, 10u);
  EXPECT_EQ(store().find("prune").value().chain, writing.chain());
  EXPECT_EQ(store().find_operation("prune", "op8").value()->version, 9u);
  EXPECT_CODE(store().commit(writing.append({body(10)}, "op0")).error(), ErrorCode::conflict);
  ASSERT_TRUE(writing.append_to(store(), {body(10)}, "op10"));
  EXPECT_CODE(store().prune(some).error(), ErrorCode::conflict);
  ASSERT_TRUE(store().create(writing.fork("fork", 12)));
  prune.expected_version = prune.first_version = prune.checkpoint.version = 11;
  EXPECT_CODE(store().prune(prune).error(), ErrorCode::conflict) << "it has a fork";
  expect_whole();
}

TEST_P(RemovalContract, CompactingKeepsEverything) {
  Writing writing("compact"), gone("gone");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(gone.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0)}));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(gone.append_to(store(), {body(1, 20'000)}));
  ASSERT_TRUE(store().purge("gone", removal_));
  const auto size = [&] {
    return has_files() ? std::filesystem::file_size(folder_.file("store.db")) : 0;
  };
  const auto before = size();
  ASSERT_TRUE(store().compact());
  if (has_files()) {
    EXPECT_LT(size(), before / 4);
  }
  reopen();
  EXPECT_EQ(store().messages("compact", 0, 10).value().size(), 1u);
  EXPECT_TRUE(writing.append_to(store(), {body(1)}));
  expect_whole();
}

UNDERTEXT_OF_EVERY_STORE(RemovalContract);

}  // namespace
}  // namespace undertext
