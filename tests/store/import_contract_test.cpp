// An import is there as a whole or not at all, in every store, whatever fails on the way.
#include <string>
#include <vector>

#include "failing_store.hpp"
#include "kinds.hpp"
#include "store/staged.hpp"
#include "transfer/export.hpp"
#include "transfer/import.hpp"

namespace undertext {
namespace {

using test::FailingStore;

class ImportContract : public test::OfEveryStore {
 protected:
  // More versions than are committed at once.
  std::vector<std::string> exported() {
    const std::shared_ptr<Store> from = memory_store();
    Conversation conversation = Conversation::open(from, "original").value();
    std::vector<Operation> operations;
    for (int i = 0; i < 600; ++i)
      operations.push_back({op::Append{{Message::make(Role::user, "hello").value()}}, {}});
    conversation.apply(std::move(operations)).value();
    std::vector<std::string> lines;
    const auto error = export_conversation(
        *from, conversation, {.write = [&](std::string_view line) { lines.emplace_back(line); }});
    EXPECT_FALSE(error);
    return lines;
  }
  static Result<ImportedConversation> import(const std::shared_ptr<Store>& store,
                                             const std::vector<std::string>& lines,
                                             const std::string& id = "copy") {
    return import_conversation(
        store, id, [&lines, next = std::size_t{0}]() mutable -> std::optional<std::string_view> {
          if (next == lines.size()) return {};
          return lines[next++];
        });
  }
};

TEST_P(ImportContract, AnImportThatFailsAtAnyCallLeavesTheIdFreeAndNothingToSee) {
  const std::vector<std::string> lines = exported();
  const auto failing = std::make_shared<FailingStore>(shared());
  failing->fail_at(0);
  ASSERT_TRUE(import(failing, lines));
  const std::uint64_t calls = failing->calls();
  ASSERT_GT(calls, 5u);
  EXPECT_CODE(import(failing, lines).error(), ErrorCode::conflict);
  for (std::uint64_t call = 1; call <= calls; ++call) {
    SCOPED_TRACE(call);
    const std::string id = "copy-" + std::to_string(call);
    failing->fail_at(call);
    const Result<ImportedConversation> failed = import(failing, lines, id);
    ASSERT_FALSE(failed);
    EXPECT_CODE(failed.error(), ErrorCode::unavailable);
    EXPECT_CODE(store().find(id).error(), ErrorCode::not_found);
    EXPECT_TRUE(store().list({.staged = true}).value().empty());
    failing->fail_at(0);
    const Result<ImportedConversation> retried = import(failing, lines, id);
    ASSERT_TRUE(retried) << retried.error().message;
    EXPECT_EQ(store().find(id).value().version, 600u);
  }
  const CheckReport report = check_store(store()).value();
  EXPECT_TRUE(report.damage.empty());
}

TEST_P(ImportContract, WhatAKilledImportLeftIsTakenOutAfterADay) {
  constexpr std::int64_t now = 1'763'222'470'000, hour = 3'600'000;
  const std::string old = staged_id(now - 25 * hour), fresh = staged_id(now - hour);
  for (const std::string& id : {old, fresh})
    ASSERT_TRUE(Conversation::open(shared(), id, {},
                                   {.make = OpenOptions::Make::always, .publish_as = "copy"}));
  EXPECT_EQ(discard_abandoned(store(), now).value(), 1u);
  ASSERT_EQ(store().list({.staged = true}).value().size(), 1u);
  EXPECT_EQ(store().list({.staged = true}).value().front().id, fresh);
  ASSERT_TRUE(import(shared(), exported()));  // now, so that what was fresh then is old
  EXPECT_TRUE(store().list({.staged = true}).value().empty());
}

UNDERTEXT_OF_EVERY_STORE(ImportContract);

}  // namespace
}  // namespace undertext
