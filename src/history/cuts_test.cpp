#include "history/cuts.hpp"

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "history/random_conversation.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

History history_of(const std::vector<std::string>& messages) {
  op::Append append;
  for (const std::string& json : messages) append.messages.push_back(Message::parse(json).value());
  return History().apply({append}, {}).value().history;
}

std::string cuts_of(const History& history) {
  std::string cuts;
  for (std::uint64_t i = 0; i <= history.view().size(); ++i)
    cuts += history.view().is_legal_cut(i) ? '|' : 'x';
  return cuts;
}

const std::string user = R"({"role":"user","content":"q"})",
                  answer = R"({"role":"assistant","content":"a"})";
const std::string thoughtful =
    R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}]})";
std::string call(const std::string& ids, bool thinks = false) {
  std::string calls;
  for (const char id : ids)
    calls += std::string(calls.empty() ? "" : ",") + R"({"id":")" + id + "\"}";
  return R"({"role":"assistant","content":null,)" +
         std::string(thinks ? R"("reasoning_content":"hm",)" : "") + "\"toolCalls\":[" + calls +
         "]}";
}
std::string result(const std::string& id) {
  return R"({"role":"tool","toolCallId":")" + id + R"(","content":"r"})";
}

TEST(Cuts, AreWhereThePictureShowsThem) {
  EXPECT_EQ(cuts_of(history_of({user, call("12"), result("1"), result("2"), call("3", true),
                                result("3"), answer, user})),
            "||xxxxx||");
}

TEST(Cuts, StandAroundATurnWithoutThinkingAfterEveryResult) {
  EXPECT_EQ(cuts_of(history_of({user, call("1"), result("1"), call("2"), result("2"), answer})),
            "||x|x||");
}

TEST(Cuts, AreNotBetweenAResultAndAnAnswerThatWasThoughtAbout) {
  EXPECT_EQ(cuts_of(history_of({user, call("1"), result("1"), thoughtful, user})), "||xx||");
  EXPECT_EQ(cuts_of(history_of({user, thoughtful, user})), "||||")
      << "without a tool there is nothing to keep together";
}

TEST(Cuts, SeeThroughSystemMessages) {
  const std::string system = R"({"role":"system","content":"s"})";
  EXPECT_EQ(cuts_of(history_of(
                {user, call("1", true), system, result("1"), system, system, answer, user})),
            "||xxxxx||");
}

TEST(Cuts, AResultWhoseCallIsGoneBindsNothing) {
  EXPECT_EQ(cuts_of(history_of({user, result("1"), thoughtful})), "||||");
  EXPECT_EQ(cuts_of(history_of({user, result("1"), thoughtful, user, call("2"), result("2")})),
            "|||||x|")
      << "whatever else is in the view";
}

TEST(Cuts, AreNotBetweenReasoningAndTheCallsThatFollowFromIt) {
  const std::string reasoning =
      R"({"role":"assistant","content":[{"type":"reasoning","summary":[]}]})";
  const std::string system = R"({"role":"system","content":"s"})";
  EXPECT_EQ(
      cuts_of(history_of({user, reasoning, call("1"), call("2"), result("1"), result("2"), user})),
      "||xxxx||");
  EXPECT_EQ(cuts_of(history_of({user, reasoning, system, answer, call("1"), result("1"), user})),
            "||xxxx||");
  EXPECT_EQ(cuts_of(history_of({user, reasoning, system, answer, answer, user})), "||xx|||")
      << "what it led to is the answer";
  EXPECT_EQ(cuts_of(history_of({user, reasoning, reasoning, call("1"), result("1"), user})),
            "||xxx||");
  EXPECT_EQ(cuts_of(history_of({user, reasoning, user, call("1"), result("1")})), "||||x|")
      << "it led to nothing";
  EXPECT_EQ(cuts_of(history_of({user, thoughtful, answer, user})), "|||||")
      << "it has said what it led to";
}

TEST(Cuts, OfTheEmptyViewAndBeyondTheEndAreLegal) {
  EXPECT_TRUE(History().view().is_legal_cut(0));
  EXPECT_EQ(History().view().next_legal_cut(0), 0u);
  EXPECT_EQ(History().view().previous_legal_cut(0), 0u);
  const History history = history_of({user, call("1"), result("1")});
  EXPECT_TRUE(history.view().is_legal_cut(3));
  EXPECT_TRUE(history.view().is_legal_cut(1000));
}

// Every cut, and what any choice of messages must take with it, against the definition.
TEST(Cuts, OfRandomConversationsAreThoseOfTheDefinition) {
  const char* given_seed = std::getenv("SEED");
  const std::uint64_t first_seed =
      given_seed ? std::strtoull(given_seed, nullptr, 10) : std::random_device{}();
  std::printf("SEED=%llu\n", static_cast<unsigned long long>(first_seed));
  std::uint64_t legal = 0, illegal = 0, thinking = 0, grown = 0, unclear = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + 1500; ++seed) {
    SCOPED_TRACE("SEED=" + std::to_string(seed));
    RandomConversation random(seed, {.turns_max = 7, .wild = seed % 3 != 0, .edits_max = 12});
    History history = random.make();
    for (int round = 0; round < 3; ++round, history = random.edited(history)) {
      const View view = history.view();
      const PlainBonds bonds(history);
      // such a pair may come to be when what stood between goes, and then nothing reaches back
      if (!bonds.clear) {
        ++unclear;
        continue;
      }
      thinking += bonds.thinking.size();
      std::uint64_t last = 0;
      for (std::uint64_t i = 0; i <= view.size(); ++i) {
        const bool expected = bonds.is_legal_cut(i);
        ASSERT_EQ(view.is_legal_cut(i), expected) << "at " << i << " of " << view.size();
        if (expected) {
          for (std::uint64_t k = i > last ? last + 1 : i; k <= i; ++k)
            ASSERT_EQ(view.next_legal_cut(k), i) << "from " << k;
          last = i;
        }
        ASSERT_EQ(view.previous_legal_cut(i), last) << "from " << i;
        ++(expected ? legal : illegal);
      }
      Stretches kept;
      std::set<std::uint64_t> expected;
      for (std::uint64_t i = random.below(8); i < view.size(); i += 1 + random.below(12)) {
        const std::uint64_t end =
            std::min(view.size(), i + 1 + (random.one_in(3) ? random.below(6) : 0));
        for (; i < end; ++i) {
          add_stretch(kept, i, i + 1);
          expected.insert(i);
        }
      }
      const std::size_t asked = expected.size();
      expected = bonds.with_bound(expected);
      grown += expected.size() - asked;
      const Stretches whole = with_whole_turns(view.rep().log, view.rep().placed, kept);
      ASSERT_EQ(whole, with_indices({}, {expected.begin(), expected.end()}));
    }
  }
  std::printf("  %llu legal, %llu illegal, %llu thinking, %llu grown; %llu views passed over\n",
              static_cast<unsigned long long>(legal), static_cast<unsigned long long>(illegal),
              static_cast<unsigned long long>(thinking), static_cast<unsigned long long>(grown),
              static_cast<unsigned long long>(unclear));
  if (!given_seed) {
    EXPECT_GT(illegal, 1000u);
    EXPECT_GT(thinking, 1000u);
    EXPECT_GT(grown, 1000u);
  }
}

}  // namespace
}  // namespace undertext
