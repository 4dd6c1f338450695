#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/history.hpp>

#include "history/client_match.hpp"
#include "history/pruned.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

using Texts = std::vector<std::string>;

// "u:hello" is a message of the user; a:, s: and t: (a result of the call c) are the others. A *
// before the text: the client's own summary.
Message message(std::string_view short_form) {
  const char role = short_form.front();
  std::string_view text = short_form.substr(2);
  if (text.starts_with('*')) text.remove_prefix(1);
  if (role == 't') return Message::make_tool_result("c", text).value();
  return Message::make(role == 'u'   ? Role::user
                       : role == 'a' ? Role::assistant
                                     : Role::system,
                       text)
      .value();
}

op::Reconcile sent(const Texts& list) {
  op::Reconcile request;
  for (const std::string& each : list)
    request.list.push_back({message(each), identity(message(each)), each.at(2) == '*'});
  return request;
}

struct Followed {
  History history;
  Reconciliation last;

  Followed& reconcile(const op::Reconcile& request) {
    Result<Step> step = history.apply({request}, {});
    EXPECT_TRUE(step) << (step ? "" : step.error().message);
    history = step->history;
    last = *step->applied.reconciliation;
    return *this;
  }
  Followed& reconcile(const Texts& list) { return reconcile(sent(list)); }
  Followed& apply(Operation::What what) {
    Result<Step> step = history.apply({std::move(what)}, {});
    EXPECT_TRUE(step) << (step ? "" : step.error().message);
    if (step) history = step->history;
    return *this;
  }
  Texts view() const {
    Texts texts;
    for (const Message& each : history.view()) texts.push_back(each.text());
    return texts;
  }
  std::vector<std::uint64_t> list() const {
    std::vector<std::uint64_t> ordinals;
    for (const Ordinal ordinal : history.client_list()) ordinals.push_back(ordinal.value);
    return ordinals;
  }
  std::uint64_t stored() const { return history.stats().total_messages; }
};

constexpr auto same = ReconcileOutcome::same;
constexpr auto appended = ReconcileOutcome::appended;
constexpr auto edited = ReconcileOutcome::edited;
constexpr auto compacted = ReconcileOutcome::compacted;

TEST(Reconcile, AGrowingListAppends) {
  Followed client;
  client.reconcile({"s:S", "u:U1"});
  EXPECT_EQ(client.last, (Reconciliation{appended, 0, 2, 0}));
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.last, (Reconciliation{appended, 2, 2, 0}));
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "A1", "U2"}));
  EXPECT_EQ(client.history.version(), Version(2));
  EXPECT_EQ(client.history.stats().total_batches, 1u);
}

TEST(Reconcile, TheSameRequestMakesNoVersion) {
  Followed client;
  client.reconcile({"s:S", "u:U1"}).reconcile({"s:S", "u:U1"});
  EXPECT_EQ(client.last, (Reconciliation{same, 2, 0, 0}));
  EXPECT_EQ(client.history.version(), Version(1));
}

TEST(Reconcile, WhatASummaryOfTheClientsTellsIsSaidAgainBehindItAsANewMessage) {
  Followed client;
  client.reconcile({"u:U1", "a:ok", "u:go on", "a:ok"})
      .reconcile({"u:*summary"})
      .reconcile({"u:*summary", "u:go on", "a:ok"});
  EXPECT_EQ(client.last, (Reconciliation{appended, 1, 2, 0}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{4, 5, 6}));
  const Followed compacted_list = client;
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"U1", "ok", "go on", "ok", "go on", "ok"}));
  // Before the summary they come back.
  client = compacted_list;
  client.reconcile({"u:U1", "a:ok", "u:go on", "a:ok"});
  EXPECT_EQ(client.view(), (Texts{"U1", "ok", "go on", "ok"}));
  EXPECT_EQ(client.stored(), 7u);
}

TEST(Reconcile, WhatAFormerSummaryTellsIsNewBehindTheNextOneToo) {
  Followed client;
  client.reconcile({"u:U1", "a:ok", "u:U2"})
      .reconcile({"u:*first", "u:U3"})
      .reconcile({"u:*second", "a:ok", "u:U4"});
  EXPECT_EQ(client.last, (Reconciliation{compacted, 0, 3, 2}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{5, 6, 7}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"first", "U3", "ok", "U4"}));
}

TEST(Reconcile, WhatIsNoSummaryIsNoOtherWordingOfOne) {
  Followed client;
  client.reconcile({"u:U1", "a:A1"}).reconcile({"u:*summary", "a:A2"}).reconcile({"u:U3", "a:A2"});
  EXPECT_EQ(client.view(), (Texts{"U3", "A2"}));
  EXPECT_EQ(client.history.stands_for(Ordinal(4)), std::vector<Ordinal>());
}

TEST(Reconcile, WhatStandsBeforeANewSummaryComesBackWhereItsClientWentBackAndSummarisedFromThere) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2", "a:A2"})
      .reconcile({"u:*first", "u:U3"})
      .reconcile({"u:U1", "a:A1", "u:*second", "u:U4"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 6, 7}));
  EXPECT_EQ(client.stored(), 8u);
}

TEST(Reconcile, AnAnswerThatWasRecordedIsNotStoredAgain) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::Append{{message("a:A1")}})
      .reconcile({"u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.last, (Reconciliation{appended, 1, 2, 0}));
  EXPECT_EQ(client.stored(), 3u);
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(Reconcile, AnAnswerThatARequestLeavesOutIsDroppedAndComesBack) {
  Followed client;
  client.reconcile({"u:U1"}).apply(op::Append{{message("a:A1")}}).reconcile({"u:U1", "u:U2"});
  EXPECT_EQ(client.last, (Reconciliation{edited, 1, 1, 0}));
  EXPECT_EQ(client.view(), (Texts{"U1", "U2"}));
  client.reconcile({"u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.last, (Reconciliation{edited, 2, 1, 0}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2"}));
  EXPECT_EQ(client.stored(), 3u);
}

TEST(Reconcile, AnAnswerBehindWhatACompactionKeptComesBack) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2"})
      .apply(op::Append{{message("a:A2")}})
      .reconcile({"u:*summary", "u:U2"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{4, 2}));
  client.reconcile({"u:*summary", "u:U2", "a:A2", "u:U3"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{4, 2, 3, 5}));
  EXPECT_EQ(client.view(), (Texts{"summary", "U2", "A2", "U3"}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2", "A2", "U3"}));
}

TEST(Reconcile, WhatIsAnsweredToAnotherPromptIsNoOtherFormOfAnAnswerThatIsLeftOut) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::Append{{message("a:A1")}})
      .reconcile({"u:U1", "u:U2", "a:A2"})
      .reconcile({"u:U1", "a:A1", "u:U2", "a:A2"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2", "A2"}));
  EXPECT_EQ(client.stored(), 4u);
}

TEST(Reconcile, ARetryDropsTheAnswerInOneVersion) {
  Followed client;
  client.reconcile({"u:U1"}).apply(op::Append{{message("a:A1")}}).reconcile({"u:U1"});
  EXPECT_EQ(client.last, (Reconciliation{edited, 1, 0, 0}));
  EXPECT_EQ(client.view(), (Texts{"U1"}));
  EXPECT_EQ(client.history.version(), Version(3));
  EXPECT_EQ(client.reconcile({"u:U1"}).last.outcome, same);
  client.apply(op::Append{{message("a:A1 again")}});
  Followed undone = client;
  client.reconcile({"u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 3}));
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2"}));
  undone.reconcile({"u:U1"}).apply(op::Undo{});
  EXPECT_EQ(undone.view(), (Texts{"U1", "A1 again"}));
}

TEST(Reconcile, ResultsGoWithTheAnswerThatIsLeftOut) {
  const Message call =
      Message::parse(
          R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{}"}]})")
          .value();
  for (
      const Message& result :
      {message("t:done"),
       Message::parse(
           R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]})")
           .value()}) {
    Followed client;
    client.reconcile({"u:U1"}).apply(op::Append{{call, result}}).reconcile({"u:U1", "u:U2"});
    EXPECT_EQ(client.view(), (Texts{"U1", "U2"}));
    op::Reconcile both = sent({"u:U1"});
    both.list.push_back({call, identity(call)});
    both.list.push_back({result, identity(result)});
    client.reconcile(both);
    EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_EQ(client.stored(), 4u);
  }
}

TEST(Reconcile, AResultThatTheClientHasInAnotherFormIsNotThereTwice) {
  const Message call =
      Message::parse(
          R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{}"}]})")
          .value();
  Followed client;
  client.reconcile({"u:U1"}).apply(op::Append{{call, message("t:done")}});
  op::Reconcile request = sent({"u:U1"});
  request.list.push_back({call, identity(call)});
  request.list.push_back({message("t:done, cut"), identity(message("t:done, cut"))});
  client.reconcile(request);
  EXPECT_EQ(client.view(), (Texts{"U1", "", "done, cut"}));
  EXPECT_EQ(client.history.stands_for(Ordinal(3)), (std::vector<Ordinal>{Ordinal(2)}));
}

TEST(Reconcile, AnAnswerThatWasDeletedBeforeItIsSentStaysHidden) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::Append{{message("a:A1")}})
      .apply(op::Delete{Names::ordinals({1})})
      .reconcile({"u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(client.view(), (Texts{"U1", "U2"}));
}

TEST(Reconcile, WhatStandsForAnAnswerThatIsLeftOutGoesWithIt) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::Append{{message("a:A1")}})
      .apply(op::Transform{Names::indices({1}), op::ReplaceText{"A", "B"}})
      .reconcile({"u:U1", "u:U2"});
  EXPECT_EQ(client.view(), (Texts{"U1", "U2"}));
  Followed summarised;
  summarised.reconcile({"u:U1"})
      .apply(op::Append{{message("a:A1")}})
      .apply(op::Compress{Names::indices({0, 1}), message("u:sum")})
      .reconcile({"u:U1", "u:U2"});
  EXPECT_EQ(summarised.view(), (Texts{"U1", "U2"}));
}

TEST(Reconcile, AnAnswerThatWasHiddenBeforeADeltaIsPartOfWhatItGoesOnWith) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::Append{{message("a:A1")}})
      .apply(op::Compress{Names::indices({0, 1}), message("u:sum")});
  op::Reconcile delta = sent({"u:U2"});
  delta.is_delta = true;
  client.reconcile(delta).reconcile({"u:U1", "a:A1", "u:U2", "a:A2"});
  EXPECT_EQ(client.view(), (Texts{"sum", "U2", "A2"}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 3, 4}));
}

TEST(Reconcile, WhatAForkAchievedIsNoAnswer) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::MergedFork{"f", 1, MergeMode::messages, {}, {message("a:of the fork")}})
      .reconcile({"u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.view(), (Texts{"U1", "of the fork", "A1", "U2"}));
}

// A provider's answer that is a compaction, as it comes back: behind what its client kept.
TEST(Reconcile, AnAnswerThatIsTheClientsSummaryStandsForWhatItReplaces) {
  Followed client;
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2"})
      .apply(op::Append{{message("a:compaction")}})
      .reconcile({"s:S", "u:U1", "u:U2", "a:*compaction", "u:U3"});
  EXPECT_EQ(client.last, (Reconciliation{compacted, 3, 2, 1}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 3, 4, 5}));
  EXPECT_EQ(client.stored(), 6u);
  EXPECT_EQ(client.history.stands_for(Ordinal(4)), (std::vector<Ordinal>{Ordinal(2)}));
  const std::optional<Receipt> receipt = client.history.receipt(client.history.version());
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->hidden, (std::vector<std::uint64_t>{2}));
  ASSERT_EQ(receipt->summaries.size(), 1u);
  EXPECT_EQ(receipt->summaries[0].summary, 4u);
  EXPECT_EQ(client.reconcile({"s:S", "u:U1", "u:U2", "a:*compaction", "u:U3"}).last.outcome, same);
  Followed expanded = client;
  expanded.apply(op::Expand{3});
  EXPECT_EQ(expanded.view(), (Texts{"S", "U1", "A1", "U2", "U3"}));
  // A client that sends all of it again goes back to before.
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2", "a:*compaction", "u:U3"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(client.stored(), 6u);
}

// As with a compaction block: the client may go on sending what stands before it, for a while.
TEST(Reconcile, AListedAnswerIsTheClientsSummaryOnceWhatStandsBeforeItGoes) {
  Followed client;
  client.reconcile({"s:S", "u:U1"})
      .apply(op::Append{{message("a:*compaction")}})
      .reconcile({"s:S", "u:U1", "a:*compaction", "u:U2"});
  EXPECT_EQ(client.last.outcome, appended);
  client.apply(op::Append{{message("a:A2")}})
      .reconcile({"s:S", "a:*compaction", "u:U2", "a:A2", "u:U3"});
  EXPECT_EQ(client.last.outcome, compacted);
  EXPECT_EQ(client.history.stands_for(Ordinal(2)), (std::vector<Ordinal>{Ordinal(1)}));
  EXPECT_EQ(client.view(), (Texts{"S", "compaction", "U2", "A2", "U3"}));
  client.apply(op::Expand{1});
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "U2", "A2", "U3"}));
}

TEST(Reconcile, ASystemPromptThatChangesWithTheClientsSummaryIsReplacedAndNotSummarised) {
  Followed client;
  client.reconcile({"s:S", "u:U1", "a:A1"}).reconcile({"s:S, later", "u:*summary", "u:U2"});
  EXPECT_EQ(client.last.outcome, compacted);
  EXPECT_EQ(client.view(), (Texts{"S, later", "summary", "U2"}));
  EXPECT_EQ(client.history.stands_for(Ordinal(3)), (std::vector<Ordinal>{Ordinal(0)}));
  EXPECT_EQ(client.history.stands_for(Ordinal(4)), (std::vector<Ordinal>{Ordinal(1), Ordinal(2)}));
  client.apply(op::Expand{1});
  EXPECT_EQ(client.view(), (Texts{"S, later", "U1", "A1", "U2"}));
}

TEST(Reconcile, WhatIsSaidBehindANewSummaryIsNoOtherWordingOfWhatItTells) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2"}).reconcile({"u:*summary", "a:A1", "u:U3"});
  EXPECT_EQ(client.last, (Reconciliation{compacted, 1, 2, 2}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{3, 1, 4}));
  EXPECT_EQ(client.history.stands_for(Ordinal(3)), (std::vector<Ordinal>{Ordinal(0), Ordinal(2)}));
  EXPECT_EQ(client.history.stands_for(Ordinal(4)), std::vector<Ordinal>());
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2", "U3"}));
}

TEST(Reconcile, AnAnswerThatComesBackOtherwiseIsReplaced) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::Append{{message("a:A1")}})
      .reconcile({"u:U1", "a:A1, cut", "u:U2"});
  EXPECT_EQ(client.view(), (Texts{"U1", "A1, cut", "U2"}));
  EXPECT_EQ(client.history.stands_for(Ordinal(2)), (std::vector<Ordinal>{Ordinal(1)}));
}

TEST(Reconcile, WhatWasAppendedAndIsNoAnswerStays) {
  Followed client;
  client.reconcile({"u:U1"})
      .apply(op::Append{{message("u:recalled"), message("a:A1")}})
      .reconcile({"u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.view(), (Texts{"U1", "recalled", "A1", "U2"}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 2, 3}));
}

TEST(Reconcile, AConversationThatWasThereBeforeIsRecognised) {
  Followed client;
  client.apply(op::Append{{message("s:S"), message("u:U1"), message("a:A1")}})
      .reconcile({"s:S", "u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.stored(), 4u);
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "A1", "U2"}));
}

TEST(Reconcile, AChangedMessageIsReplacedAndCanBeExpanded) {
  Followed client;
  client.reconcile({"s:S", "u:U1", "a:A1"}).reconcile({"s:S", "u:U1, better", "a:A1"});
  EXPECT_EQ(client.last, (Reconciliation{edited, 2, 1, 1}));
  EXPECT_EQ(client.view(), (Texts{"S", "U1, better", "A1"}));
  EXPECT_EQ(client.history.stats().total_batches, 2u);
  client.apply(op::Expand{1});
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "A1"}));
}

TEST(Reconcile, ARewindDropsAndARetryBringsBack) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2", "a:A2"}).reconcile({"u:U1", "a:A1"});
  EXPECT_EQ(client.last, (Reconciliation{edited, 2, 0, 2}));
  EXPECT_EQ(client.view(), (Texts{"U1", "A1"}));
  client.reconcile({"u:U1", "a:A1", "u:U2", "a:A2", "u:U3"});
  EXPECT_EQ(client.last, (Reconciliation{edited, 2, 3, 0}));
  EXPECT_EQ(client.stored(), 5u);
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

// As Codex compacts: context is written again, before the last message that stays.
TEST(Reconcile, ARewindToBeforeACompactionStoresNothing) {
  Followed client;
  const Texts first = {"s:S", "s:context", "u:U1", "a:A1", "u:U2", "a:A2"};
  client.reconcile(first).reconcile({"s:S", "u:U1", "s:context", "u:U2", "u:*summary", "u:U3"});
  EXPECT_EQ(client.last.outcome, compacted);
  const std::uint64_t stored = client.stored();
  client.reconcile(Texts(first.begin(), first.begin() + 3));
  EXPECT_EQ(client.view(), (Texts{"S", "context", "U1"}));
  client.reconcile(first);
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(client.stored(), stored);
}

TEST(Reconcile, EqualTextsFromBeforeACompactionAreNoRewind) {
  Followed client;
  client.reconcile({"u:yes", "a:A1", "u:go on"}).reconcile({"u:*first", "a:A2", "u:U2"});
  client.reconcile({"u:*first", "a:A2", "u:U2", "u:yes"})
      .reconcile({"u:*second", "u:yes", "a:A3", "u:go on"});
  EXPECT_EQ(client.last, (Reconciliation{compacted, 1, 3, 3}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{7, 6, 8, 9}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"first", "A2", "U2", "yes", "A3", "go on"}));
}

TEST(Reconcile, EqualTextAtANewPositionIsANewMessage) {
  Followed client;
  client.reconcile({"u:go on", "a:A1"}).reconcile({"u:go on", "a:A1", "u:go on"});
  EXPECT_EQ(client.stored(), 3u);
  client.reconcile({"u:go on", "a:A1", "u:go on", "a:A2", "u:go on"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  client.reconcile({"u:go on"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0}));
}

TEST(Reconcile, ACompressedViewStaysCompressed) {
  Followed client;
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2"})
      .apply(op::Compress{Names::indices({1, 2}), message("u:sum")});
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2", "a:A2", "u:U3"});
  EXPECT_EQ(client.last.outcome, appended);
  EXPECT_EQ(client.view(), (Texts{"S", "sum", "U2", "A2", "U3"}));
}

TEST(Reconcile, ASummaryIsExpandedToWhatRemains) {
  Followed client;
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2", "a:A2"})
      .apply(op::Compress{Names::indices({1, 2, 3}), message("u:sum")});
  client.reconcile({"s:S", "u:U1", "u:U2", "a:A2"});
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "U2", "A2"}));
}

TEST(Reconcile, ASummaryOfASummaryIsExpandedOnlyAsFarAsItMust) {
  Followed client;
  client.reconcile({"u:1", "a:2", "u:3", "a:4", "u:5"})
      .apply(op::Compress{Names::indices({0, 1}), message("u:sum 1-2")});
  client.apply(op::Compress{Names::indices({1, 2}), message("u:sum 3-4")});
  client.apply(op::Compress{Names::indices({0, 1}), message("u:sum 1-4")});
  client.reconcile({"u:1", "a:2", "u:3", "u:5"});
  EXPECT_EQ(client.view(), (Texts{"sum 1-2", "3", "5"}));
}

TEST(Reconcile, ASummaryOfWhatComesBackStaysThoughThatReplacedWhatIsDropped) {
  Followed client;
  client.reconcile({"u:U1", "a:A1"})
      .reconcile({"u:U1", "a:other", "u:U2"})
      .reconcile({"u:U1", "a:A1"});
  client.apply(op::Restore{2}).apply(op::Compress{Names::ordinals({2, 3}), message("u:sum")});
  EXPECT_EQ(client.view(), (Texts{"U1", "sum"}));
  client.reconcile({"u:U1", "a:other", "u:U2"});
  EXPECT_EQ(client.view(), (Texts{"U1", "sum"}));
  client.reconcile({"u:U1", "a:A1"});
  EXPECT_EQ(client.view(), (Texts{"U1", "A1"}));
}

TEST(Reconcile, AMessagePutInBetweenStandsWhereTheClientHasIt) {
  Followed client;
  client.reconcile({"u:1", "a:2", "u:3"})
      .apply(op::Compress{Names::indices({0, 1}), message("u:sum")});
  client.reconcile({"u:1", "u:new", "a:2", "u:3"});
  EXPECT_EQ(client.view(), (Texts{"sum", "new", "3"}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"1", "new", "2", "3"}));
}

TEST(Reconcile, TheClientsOwnSummaryStandsForWhatItDropped) {
  Followed client;
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2", "a:A2"});
  client.reconcile({"s:S", "u:*continued", "a:A2", "u:U3"});
  EXPECT_EQ(client.last, (Reconciliation{compacted, 2, 2, 3}));
  EXPECT_EQ(client.view(), (Texts{"S", "continued", "A2", "U3"}));
  EXPECT_EQ(client.history.stands_for(Ordinal(5)),
            (std::vector<Ordinal>{Ordinal(1), Ordinal(2), Ordinal(3)}));
  const std::optional<Receipt> receipt = client.history.receipt(client.history.version());
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->hidden, (std::vector<std::uint64_t>{1, 2, 3}));
  ASSERT_EQ(receipt->summaries.size(), 1u);
  EXPECT_EQ(receipt->summaries[0].summary, 5u);
  client.apply(op::Expand{1});
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "A1", "U2", "A2", "U3"}));
}

TEST(Reconcile, MessagesThatACompactionKeptKeepTheirOrdinals) {
  Followed client;
  client.reconcile({"s:S", "u:U1", "a:A1", "u:U2", "a:A2"})
      .apply(op::Compress{Names::indices({1, 2}), message("u:sum")});
  client.reconcile({"s:S", "u:U1", "u:U2", "a:*compaction", "u:U3"});
  EXPECT_EQ(client.last.outcome, compacted);
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "U2", "compaction", "U3"}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 3, 6, 7}));
  client.apply(op::Expand{3});
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "A1", "U2", "A2", "U3"}));
}

// Claude Code writes the same note about /compact behind each of its summaries.
TEST(Reconcile, ASecondSummaryStandsAlsoForWhatFollowedTextsThatAreSaidAgain) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2", "a:A2"});
  client.reconcile({"u:*continued 1", "u:note", "a:none", "u:U3", "a:A3"});
  client.reconcile({"u:*continued 2", "u:note", "a:none", "u:U4"});
  EXPECT_EQ(client.last.outcome, compacted);
  EXPECT_EQ(client.view(), (Texts{"continued 2", "note", "none", "U4"}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(),
            (Texts{"continued 1", "note", "none", "U3", "A3", "note", "none", "U4"}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(),
            (Texts{"U1", "A1", "U2", "A2", "note", "none", "U3", "A3", "note", "none", "U4"}));
}

TEST(Reconcile, WhatASummaryKeptBeforeAChangedEndKeepsItsOrdinal) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2", "a:A2"});
  client.reconcile({"u:*continued", "u:U2", "a:A2, changed"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{4, 2, 5}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2", "A2, changed"}));
}

TEST(Reconcile, TheClientsSummaryStandsForNoMoreThanItReplaces) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2", "a:A2", "u:U3"})
      .apply(op::Compress{Names::indices({0, 1, 2, 3}), message("u:sum")});
  client.reconcile({"u:*continued", "u:U2", "a:A2, changed", "u:U3"});
  EXPECT_EQ(client.view(), (Texts{"continued", "U2", "A2, changed", "U3"}));
  client.apply(op::Expand{0});
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2", "A2, changed", "U3"}));
}

TEST(Reconcile, UndoTakesBackOneRequestAndLeavesTheClientList) {
  Followed client;
  client.reconcile({"u:U1", "a:A1"}).reconcile({"u:other"}).apply(op::Undo{});
  EXPECT_EQ(client.view(), (Texts{"U1", "A1"}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(client.reconcile({"u:other"}).last.outcome, same);
}

// A long request is read from memory that no cache holds: once is what it has to cost.
TEST(Reconcile, EachMessageOfALongRequestIsWalkedThroughOnce) {
  constexpr std::uint64_t count = 1000;
  op::Reconcile request;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Message each =
        Message::make(i % 2 == 0 ? Role::user : Role::assistant, "message " + std::to_string(i))
            .value();
    request.list.push_back({each, identity(each)});
  }
  Followed client;
  client.reconcile(request);
  const Message more = message("u:one more");
  request.list.push_back({more, identity(more)});
  const std::uint64_t before = messages_walked();
  client.reconcile(request);
  EXPECT_EQ(client.last, (Reconciliation{appended, count, 1, 0}));
  EXPECT_EQ(messages_walked() - before, count + 1);
}

TEST(Reconcile, ARequestWithOnlyWhatIsNewDropsNothing) {
  Followed client;
  client.reconcile({"u:U1"}).apply(op::Append{{message("a:A1")}});
  op::Reconcile delta = sent({"u:U2"});
  delta.is_delta = true;
  client.reconcile(delta);
  EXPECT_EQ(client.last, (Reconciliation{appended, 1, 2, 0}));
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2"}));
  EXPECT_EQ(client.reconcile(delta).last.outcome, same);
  client.reconcile({"u:U1", "a:A1", "u:U2", "a:A2"});
  EXPECT_EQ(client.last, (Reconciliation{appended, 3, 1, 0}));
}

TEST(Reconcile, ADeltaMayBeginWithInstructionsAndWithWhatWasSentSinceSomethingWasCached) {
  Followed client;
  client.reconcile({"s:S", "u:long document", "u:U1"}).apply(op::Append{{message("a:A1")}});
  op::Reconcile delta = sent({"s:S", "u:U1", "a:A1", "u:U2"});
  delta.is_delta = true;
  client.reconcile(delta);
  EXPECT_EQ(client.view(), (Texts{"S", "long document", "U1", "A1", "U2"}));
}

TEST(Reconcile, InstructionsThatADeltaRepeatsAreNotAppendedAgain) {
  Followed client;
  client.reconcile({"u:U1"});
  for (const char* const text : {"u:U2", "u:U3", "u:U4"}) {
    client.apply(op::Append{{message("a:A")}});
    op::Reconcile delta = sent({"s:S", text});
    delta.is_delta = true;
    client.reconcile(delta);
  }
  EXPECT_EQ(client.view(), (Texts{"U1", "A", "S", "U2", "A", "U3", "A", "U4"}));
}

op::Reconcile delta_to(std::uint64_t reference, const Texts& list) {
  op::Reconcile delta = sent(list);
  delta.is_delta = true;
  delta.reference = reference;
  return delta;
}

TEST(Reconcile, WhatIsSaidAgainToAnotherAnswerIsANewMessage) {
  Followed client;
  client.reconcile({"u:hi"}).reconcile(delta_to(1, {"u:yes"}));
  EXPECT_EQ(client.last, (Reconciliation{appended, 1, 1, 0}));
  EXPECT_EQ(client.reconcile(delta_to(1, {"u:yes"})).last.outcome, same);
  client.reconcile(delta_to(2, {"u:yes"}));
  EXPECT_EQ(client.last, (Reconciliation{appended, 2, 1, 0}));
  EXPECT_EQ(client.reconcile(delta_to(2, {"u:yes"})).last.outcome, same);
  EXPECT_EQ(client.view(), (Texts{"hi", "yes", "yes"}));
  // A whole list refers to nothing, and a delta behind it goes on with it.
  client.reconcile({"u:hi", "u:yes", "u:yes", "u:no"}).reconcile(delta_to(3, {"u:no"}));
  EXPECT_EQ(client.view(), (Texts{"hi", "yes", "yes", "no", "no"}));
}

// Else a summary that stands for the former one would hide what is said now.
TEST(Reconcile, WhatWasDroppedDoesNotComeBackWhereItIsSaidToAnotherAnswer) {
  Followed client;
  client.reconcile({"u:hi"}).reconcile(delta_to(1, {"u:no"}));
  client.reconcile({"u:hi", "u:no", "u:yes"}).reconcile({"u:hi", "u:no"});
  client.reconcile(delta_to(2, {"u:yes"}));
  EXPECT_EQ(client.last, (Reconciliation{appended, 2, 1, 0}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 3}));
}

TEST(Reconcile, ADeltaToAnotherAnswerMayHaveThatAnswerAndInstructions) {
  Followed client;
  client.reconcile({"s:S", "u:U1"}).reconcile(delta_to(1, {"s:S", "u:U2"}));
  client.apply(op::Append{{message("a:A2")}}).reconcile(delta_to(2, {"s:S", "a:A2", "u:U2"}));
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "U2", "A2", "U2"}));
}

TEST(Reconcile, ADeltaThatIsSentAgainAfterItsAnswerWasRecordedChangesNothing) {
  Followed client;
  client.reconcile({"s:S", "u:U1"}).reconcile(delta_to(1, {"s:S", "u:U2"}));
  client.apply(op::Append{{message("a:A2")}}).reconcile(delta_to(1, {"s:S", "u:U2"}));
  EXPECT_EQ(client.last, (Reconciliation{same, 3, 0, 0}));
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "U2", "A2"}));
  client.reconcile(delta_to(2, {"s:S", "u:U3"}));
  EXPECT_EQ(client.view(), (Texts{"S", "U1", "U2", "A2", "U3"}));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(Reconcile, ADeltaThatRefersToNothingKnownRepeatsWhatItEndsWith) {
  Followed client;
  client.reconcile(delta_to(0, {"u:yes"})).reconcile(delta_to(0, {"u:yes"}));
  EXPECT_EQ(client.last.outcome, same);
  EXPECT_EQ(client.reconcile(delta_to(1, {"u:yes"})).last.outcome, same);
}

TEST(Reconcile, WhatADeltaRefersToOutlivesPrunedVersions) {
  Followed client;
  client.reconcile({"u:hi"}).reconcile(delta_to(1, {"u:yes"}));
  for (const char* const mark : {"a", "b", "c"}) client.apply(op::Mark{Names::indices({0}), mark});
  client.history = without_versions_below(client.history, 4);
  EXPECT_EQ(client.reconcile(delta_to(1, {"u:yes"})).last.outcome, same);
  client.reconcile(delta_to(2, {"u:yes"}));
  EXPECT_EQ(client.view(), (Texts{"hi", "yes", "yes"}));
}

TEST(Reconcile, OnlyARecordWithAReferenceNeedsANewTag) {
  Followed client;
  const auto tag = [&] {
    const History::Rep& rep = client.history.rep();
    return rep.versions[rep.head_number()].operation->tag;
  };
  EXPECT_EQ((client.reconcile({"u:hi"}), tag()), 34);
  EXPECT_EQ((client.reconcile(delta_to(0, {"u:U1"})), tag()), 34);
  EXPECT_EQ((client.reconcile(delta_to(1, {"u:U2"})), tag()), 35);
}

op::Reconcile with_other_parts(op::Reconcile request) {
  request.volatile_parts.system_texts = {"bill:"};
  for (op::Reconcile::Sent& each : request.list)
    each.identity = identity(each.message, request.volatile_parts);
  return request;
}

TEST(Reconcile, OtherVolatilePartsMakeOtherIdentitiesAndNoOtherMessages) {
  Followed client;
  client.reconcile({"s:bill: 1", "u:U1"});
  op::Reconcile request = with_other_parts(sent({"s:bill: 1", "u:U1", "a:A1"}));
  client.reconcile(request);
  EXPECT_EQ(client.last, (Reconciliation{appended, 2, 1, 0}));
  request.list[0].message = message("s:bill: 2");
  request.list[0].identity = identity(request.list[0].message, request.volatile_parts);
  EXPECT_EQ(client.reconcile(request).last.outcome, same);
}

// Identities were made with "caller", and it does not count any more.
TEST(Reconcile, AMemberThatDoesNotCountAnyMoreMakesNoNewMessage) {
  const auto call = [](std::string_view caller, const VolatileParts& parts) {
    const Message made =
        Message::parse(
            R"({"role":"assistant","content":[{"type":"openai_responses","item":{"type":"web_search_call","id":"ws_1","caller":")" +
            std::string(caller) + R"("}}]})")
            .value();
    return op::Reconcile::Sent{made, identity(made, parts)};
  };
  VolatileParts parts = VolatileParts::common();
  op::Reconcile before = sent({"u:U1"});
  before.list.push_back(call("one", parts));
  Followed client;
  client.reconcile(before);
  const Followed listed = client;
  client.reconcile({"u:U1", "u:U2"});
  parts.members.emplace_back("caller");
  op::Reconcile now = sent({"u:U1"});
  now.volatile_parts = parts;
  now.list.push_back(call("two", parts));
  EXPECT_EQ(Followed(listed).reconcile(now).last.outcome, same);
  client.reconcile(now);
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(client.stored(), 3u);
}

TEST(Reconcile, WhatOneProfileDroppedComesBackWithAnother) {
  Followed client;
  client.reconcile({"u:U1", "a:A1", "u:U2"}).reconcile({"u:U1"});
  client.reconcile(with_other_parts(sent({"u:U1", "a:other"})));
  client.reconcile(with_other_parts(sent({"u:U1", "a:A1", "u:U2"})));
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(client.view(), (Texts{"U1", "A1", "U2"}));
  client.reconcile({"u:U1"}).reconcile({"u:U1", "a:A1", "u:U2"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(client.stored(), 4u);
}

// A session in which one text was said before every answer.
Texts turns_of(int count) {
  Texts list;
  for (int i = 0; i < count; ++i) {
    list.push_back("u:go on");
    list.push_back("a:A" + std::to_string(i));
  }
  return list;
}

TEST(Reconcile, ATextThatWasSaidAThousandTimesComesBackAtItsPlace) {
  const Texts all = turns_of(1000);
  Followed client;
  client.reconcile(all).reconcile(Texts{});
  for (const std::ptrdiff_t count : {200, 201, 202, 1301, 2000}) {
    client.reconcile(Texts(all.begin(), all.begin() + count));
    std::vector<std::uint64_t> first(static_cast<std::size_t>(count));
    std::iota(first.begin(), first.end(), 0);
    EXPECT_EQ(client.list(), first) << count;
    EXPECT_EQ(client.stored(), all.size()) << count;
  }
}

TEST(Reconcile, TheLastMessageOfARewindIsTheOneBehindItsNeighbour) {
  Followed client;
  client.reconcile(turns_of(3)).reconcile(Texts{}).reconcile({"a:A0", "u:go on"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{1, 2}));
  client.reconcile({"a:A0", "u:go on", "a:A1"});
  EXPECT_EQ(client.list(), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(client.stored(), 6u);
}

TEST(Reconcile, AForkGoesOnWithTheListOfItsVersion) {
  Followed client;
  client.reconcile({"u:U1", "a:A1"}).reconcile({"u:U1"});
  Followed fork{client.history.fork(Version(1)).value(), {}};
  EXPECT_EQ(fork.list(), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(fork.reconcile({"u:U1", "a:A1"}).last.outcome, same);
}

TEST(Reconcile, TheListOutlivesPrunedVersions) {
  Followed client;
  client.reconcile({"u:U1", "a:A1"}).reconcile({"u:U1", "a:A1", "u:U2"}).reconcile({"u:U1"});
  Followed pruned{without_versions_below(client.history, 3), {}};
  EXPECT_EQ(pruned.reconcile({"u:U1"}).last.outcome, same);
  EXPECT_EQ(pruned.history.rep().clients.size(), 1u);
}

TEST(Reconcile, AnEmptyListDropsEverything) {
  Followed client;
  EXPECT_EQ(client.reconcile(Texts{}).last.outcome, same);
  client.reconcile({"u:U1", "a:A1"}).reconcile(Texts{});
  EXPECT_EQ(client.last, (Reconciliation{edited, 0, 0, 2}));
  EXPECT_EQ(client.view(), Texts());
}

TEST(Reconcile, ADroppedHalfOfAPairIsWarnedOf) {
  const Message call =
      Message::parse(
          R"({"role":"assistant","content":"","toolCalls":[{"id":"c","name":"f","arguments":"{}"}]})")
          .value();
  op::Reconcile request = sent({"u:U1"});
  request.list.push_back({call, identity(call), false});
  op::Reconcile both = request;
  both.list.push_back({message("t:done"), identity(message("t:done")), false});
  Followed client;
  client.reconcile(both);
  const Result<Step> step = client.history.apply({request}, {});
  ASSERT_TRUE(step);
  ASSERT_EQ(step->applied.warnings.size(), 1u);
  EXPECT_EQ(step->applied.warnings[0].code, Warning::Code::tool_call_without_result);
}

}  // namespace
}  // namespace undertext
