#include <gtest/gtest.h>

#include <undertext/history.hpp>

namespace undertext {
namespace {

Message user(const std::string& text) {
  return Message::parse(R"({"role":"user","content":")" + text + "\"}").value();
}

const ApplyContext context{.now_ms = 77, .count_tokens = [](const Message& m) {
                             return static_cast<std::uint32_t>(m.text().size());
                           }};

History four() {
  return History()
      .apply({op::Append{{user("aa"), user("bb"), user("cc"), user("dd")}}}, context)
      .value()
      .history;
}

TEST(Receipts, OfAPlanTellAllThatItDid) {
  Plan plan{.base = Version(1), .replacements = {}};
  plan.replacements.push_back({{{2, 3}}, user("C")});
  plan.replacements.push_back({{{0, 1}}, user("A")});
  plan.replacements.push_back({{{3, 4}}});
  plan.strategy = "s", plan.summariser = "d", plan.model = "m", plan.reason = "r";
  plan.prompt_tokens = 5, plan.completion_tokens = 6;
  // what a strategy claims; a receipt tells what is so
  plan.tokens_before = 1000, plan.tokens_after = 1;
  const History history = four().apply({op::ApplyPlan{plan}}, context).value().history;
  ASSERT_EQ(history.receipts().size(), 1u);
  const Receipt receipt = history.receipts()[0];
  EXPECT_EQ(receipt.version, 2u);
  EXPECT_EQ(receipt.timestamp_ms, 77);
  EXPECT_EQ(receipt.strategy + receipt.summariser + receipt.model + receipt.reason, "sdmr");
  EXPECT_EQ(receipt.prompt_tokens, 5u);
  EXPECT_EQ(receipt.completion_tokens, 6u);
  EXPECT_EQ(receipt.tokens_before, 8u);
  EXPECT_EQ(receipt.tokens_after, 4u);
  EXPECT_EQ(receipt.hidden, (std::vector<std::uint64_t>{0, 2, 3}));
  ASSERT_EQ(receipt.summaries.size(), 2u);
  EXPECT_EQ(receipt.summaries[0].summary, 4u);
  EXPECT_EQ(history.log()[4].text(), "A");
  EXPECT_EQ(receipt.summaries[0].stands_for, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(receipt.summaries[1].stands_for, (std::vector<std::uint64_t>{2}));
  EXPECT_FALSE(receipt.target_reached().has_value());
  EXPECT_FALSE(history.version_info(Version(2)).target_reached.has_value());
}

TEST(Receipts, OfAPlanWithATargetTellWhetherItWasReached) {
  for (const std::uint64_t target : {5u, 6u, 7u}) {
    const Plan plan{.base = Version(1), .replacements = {{{{0, 1}}}}, .target_tokens = target};
    const History history = four().apply({op::ApplyPlan{plan}}, context).value().history;
    const Receipt receipt = history.receipts().at(0);
    EXPECT_EQ(receipt.target_tokens, target);
    EXPECT_EQ(receipt.target_reached(), 6 <= target);
    EXPECT_EQ(history.version_info(Version(2)).target_reached, 6 <= target);
  }
}

TEST(Receipts, OfMessagesThatWereNamedHaveNoStrategy) {
  const History history =
      four().apply({op::Compress{Names::ordinals({3, 1}), user("S")}}, context).value().history;
  const Receipt receipt = *history.receipt(Version(2));
  EXPECT_EQ(receipt.strategy, "");
  EXPECT_EQ(receipt.hidden, (std::vector<std::uint64_t>{1, 3}));
  ASSERT_EQ(receipt.summaries.size(), 1u);
  EXPECT_EQ(receipt.summaries[0].summary, 4u);
}

TEST(Receipts, StayWhenTheCompressionIsUndone) {
  History history = four().apply({op::Compress{Names::indices({0})}}, context).value().history;
  history = history.apply({op::Undo{}}, context).value().history;
  ASSERT_EQ(history.receipts().size(), 1u);
  EXPECT_EQ(history.receipts()[0].hidden, (std::vector<std::uint64_t>{0}));
  EXPECT_TRUE(history.receipts()[0].summaries.empty());
}

TEST(Receipts, AreThereForNothingElse) {
  const History history = four().apply({op::Delete{Names::indices({0})}}, context).value().history;
  EXPECT_TRUE(history.receipts().empty());
  for (std::uint64_t v = 0; v < 5; ++v) EXPECT_FALSE(history.receipt(Version(v)));
}

}  // namespace
}  // namespace undertext
