// Counts made anew. That every count of every version is right is shown by the model test; here,
// what it costs.
#include <gtest/gtest.h>

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {
namespace {

Message user(const std::string& text) {
  return Message::parse(R"({"role":"user","content":")" + text + "\"}").value();
}

std::uint64_t nodes_made() {
  return EntryTree::nodes_made() + StoredTree::nodes_made() + BatchTree::nodes_made() +
         HouseTree<State, NoSums>::nodes_made();
}
std::uint64_t bytes_made() {
  return EntryTree::node_bytes_made() + StoredTree::node_bytes_made() +
         BatchTree::node_bytes_made() + HouseTree<State, NoSums>::node_bytes_made();
}

TEST(Recount, SharesWhatTheVersionsShared) {
  const std::uint64_t nodes_before = nodes_made(), bytes_before = bytes_made();
  op::Append append;
  for (int k = 0; k < 20'000; ++k) append.messages.push_back(user("message " + std::to_string(k)));
  History history = History().apply({append}, {}).value().history;
  for (std::uint64_t k = 0; k < 2'000; ++k) {
    const std::uint64_t at = (k * 7919) % 20'000;
    history = history.apply({op::Replace{Names::indices({at}), {user("new")}}}, {}).value().history;
    if (k % 3 == 0) history = history.apply({op::Append{{user("more")}}}, {}).value().history;
  }
  const std::uint64_t nodes = nodes_made() - nodes_before, bytes = bytes_made() - bytes_before;
  const History again = history.recounted([](const Message&) { return 3u; });
  // All that the history ever made is more than what it holds; a node made twice would show.
  EXPECT_LE(nodes_made() - nodes_before - nodes, nodes);
  EXPECT_LE(bytes_made() - bytes_before - bytes, bytes);
  EXPECT_EQ(again.stats().tokens, 3 * history.view().size());
  EXPECT_EQ(again.view_at(Version(1000)).value().sums().tokens(),
            3 * history.view_at(Version(1000)).value().size());
  EXPECT_EQ(again.view_at(BatchIndex(7)).value().sums().tokens(), 3 * 20'002u + 3);
}

TEST(Recount, LeavesTheOldHistoryAsItWasAndTheNewOneOpenToEdits) {
  const ApplyContext ones{.count_tokens = [](const Message&) { return 1u; }};
  const History history =
      History().apply({op::Append{{user("a"), user("b"), user("c")}}}, ones).value().history;
  const History again = history.recounted([](const Message&) { return 10u; });
  EXPECT_EQ(history.stats().tokens, 3u);
  EXPECT_EQ(again.stats().tokens, 30u);
  const History both = again.apply({op::Append{{user("d")}}}, ones).value().history;
  const History other = again.apply({op::Append{{user("e")}}}, ones).value().history;
  EXPECT_EQ(both.stats().tokens, 31u);
  EXPECT_EQ(both.view()[3].text(), "d");
  EXPECT_EQ(other.view()[3].text(), "e");
}

TEST(Recount, WhereNoBodyWasReplacedEveryCountStays) {
  const ApplyContext ones{.count_tokens = [](const Message&) { return 1u; }};
  const History history =
      History().apply({op::Append{{user("a"), user("b")}}}, ones).value().history;
  EXPECT_EQ(history.recounted_where_replaced([](const Message&) { return 10u; }).stats().tokens,
            2u);
}

TEST(Recount, ACountTooLargeToKeepIsTheLargestThatCanBe) {
  const History history = History().apply({op::Append{{user("a")}}}, {}).value().history;
  EXPECT_EQ(history.recounted([](const Message&) { return ~0u; }).stats().tokens,
            tokens_per_message_max);
  EXPECT_EQ(history.recounted({}).stats().tokens, 0u);
}

}  // namespace
}  // namespace undertext
