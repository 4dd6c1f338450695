// supersede and dedupe: which results they stub, that each stub expands, and that no sequence of calls makes them lose something.
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/compression.hpp>

#include "base/json_text.hpp"

namespace undertext {
namespace {

std::uint32_t count_bytes(const Message& message) { return static_cast<std::uint32_t>(message.json().size() / 4 + 1); }

History history_with(const std::vector<Message>& messages) {
  return History().apply({op::Append{messages}}, {.count_tokens = count_bytes}).value().history;
}

Aim aim_for(std::optional<std::uint64_t> tokens = {}) {
  Aim aim;
  aim.tokens_max = tokens;
  aim.count_tokens = count_bytes;
  return aim;
}

Message said(Role role, std::string_view text) { return Message::make(role, text).value(); }

struct Work {
  std::vector<Message> messages = {said(Role::user, "Fix it.")};
  int calls = 0;

  void call(std::string_view tool, std::string_view arguments, std::string_view result, bool failed = false) {
    const std::string id = "c" + std::to_string(++calls);
    messages.push_back(Message::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id + R"(","name":")" +
                                      std::string(tool) + R"(","input":)" + std::string(arguments) + "}]}")
                           .value());
    std::string json = R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id + R"(","content":)";
    append_json_string(json, result);
    if (failed) json += R"(,"is_error":true)";
    messages.push_back(Message::parse(json + "}]}").value());
  }
  void read(std::string_view path) { call("Read", R"({"file_path":")" + std::string(path) + "\"}", std::string(400, 'x')); }
  void edit(std::string_view path, bool failed = false) {
    call("Edit", R"({"file_path":")" + std::string(path) + R"(","old_string":"a","new_string":"b"})",
         failed ? "String to replace not found in file." : "ok", failed);
  }
  void run(std::string_view command, std::string_view output, bool failed = false) {
    std::string arguments = R"({"command":)";
    append_json_string(arguments, command);
    call("Bash", arguments + "}", std::string(output) + "\n" + std::string(400, 'y'), failed);
  }
  // Somebody has read the last result.
  History done() {
    messages.push_back(said(Role::assistant, "Done."));
    return history_with(messages);
  }
};

// The indices that the strategy stubs.
std::vector<std::uint64_t> stubbed(const History& history, const Strategy& strategy, Aim aim = aim_for()) {
  std::vector<std::uint64_t> indices;
  const Plan plan = strategy.plan(history, aim).value();
  for (const Replacement& replacement : plan.replacements) indices.push_back(replacement.hidden.front().start);
  return indices;
}

using Indices = std::vector<std::uint64_t>;

TEST(Supersede, StubsAReadOfAFileThatWasReadAgainOrChanged) {
  Work work;
  work.read("a.c");  // 1, 2
  work.read("b.c");  // 3, 4
  work.read("c.c");  // 5, 6
  work.read("a.c");  // 7, 8
  work.edit("b.c");  // 9, 10
  EXPECT_EQ(stubbed(work.done(), *supersede()), (Indices{2, 4}));
}

TEST(Supersede, AnEditThatFailedSupersedesNothing) {
  Work work;
  work.read("a.c");
  work.edit("a.c", true);
  EXPECT_EQ(stubbed(work.done(), *supersede()), Indices{});
}

TEST(Supersede, APartIsSupersededByTheWholeAndNotTheOtherWayRound) {
  Work work;
  work.call("Read", R"({"file_path":"a.c","offset":1,"limit":50})", std::string(400, 'x'));  // 1, 2
  work.read("a.c");                                                                          // 3, 4
  work.call("Read", R"({"file_path":"a.c","offset":9,"limit":50})", std::string(400, 'x'));
  EXPECT_EQ(stubbed(work.done(), *supersede()), (Indices{2}));
}

TEST(Supersede, AScriptMayReadAndChange) {
  Work work;
  work.run("cat src/a.c", "text");                       // 1, 2
  work.run("sed -i 's/a/b/' src/a.c && make", "built");  // 3, 4
  EXPECT_EQ(stubbed(work.done(), *supersede()), (Indices{2}));
}

TEST(Supersede, StubsAFailureThatWasRepeatedWithSuccess) {
  Work work;
  work.run("make", "a.c:1: error: no\nmake: *** [all] Error 1", true);
  work.edit("a.c");
  work.run("make", "built");
  EXPECT_EQ(stubbed(work.done(), *supersede()), (Indices{2}));
}

TEST(Dedupe, StubsAllButTheLastOfEqualCalls) {
  Work work;
  work.run("git status", "clean");
  work.run("git log", "one");
  work.run("git status", "clean");
  work.run("git status -s", "clean");
  EXPECT_EQ(stubbed(work.done(), *dedupe()), (Indices{2}));
}

TEST(Dedupe, AResultIsNotGivenUpForAFailure) {
  Work work;
  work.run("curl -s http://localhost/x", "answer");
  work.run("curl -s http://localhost/x", "curl: (7) connection refused", true);
  EXPECT_EQ(stubbed(work.done(), *dedupe()), Indices{});
}

TEST(Dedupe, OfATestTheLastRunCountsHoweverItWent) {
  Work work;
  work.run("pytest -q", "5 passed in 1s");
  work.run("pytest -q", "1 failed, 4 passed in 1s", true);
  EXPECT_EQ(stubbed(work.done(), *dedupe()), (Indices{2}));
}

TEST(Dedupe, LateStubsTheNewestAndNoMoreThanTheAimNeeds) {
  Work work;
  for (int i = 0; i < 6; ++i) work.run("git status", "clean");
  const History history = work.done();
  const Indices all = stubbed(history, *dedupe());
  EXPECT_EQ(all, (Indices{2, 4, 6, 8, 10}));
  EXPECT_EQ(stubbed(history, *dedupe({.late = true}), aim_for(history.stats().tokens - 100)), (Indices{8, 10}));
}

TEST(Dedupe, WhatNobodyHasReadAndWhatIsPinnedStays) {
  Work work;
  work.run("git status", "clean");
  work.run("git status", "clean");
  work.run("git status", "clean");
  const History history = history_with(work.messages);
  const History pinned =
      history.apply({op::Mark{Names::indices({2}), std::string(pinned_mark)}}, {.count_tokens = count_bytes}).value().history;
  EXPECT_EQ(stubbed(pinned, *dedupe()), (Indices{4}));
}

TEST(OlderResults, ToolsCanBeExcluded) {
  Work work;
  work.read("a.c");
  work.read("a.c");
  EXPECT_EQ(stubbed(work.done(), *supersede({.exclude = {"Read"}})), Indices{});
}

// Any sequence of calls: the last whole read of each file and the last of each call stay, every stub is one line that expands to its
// original, and planning again finds nothing. SEED=… plays a run again.
TEST(OlderResults, AnySequenceOfCallsKeepsTheLawsOfStrategies) {
  const char* const given = std::getenv("SEED");
  const std::uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device()();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int run = 0; run < 200; ++run) {
    Work work;
    const int calls = 1 + static_cast<int>(random() % 20);
    for (int i = 0; i < calls; ++i) {
      const std::string path = std::string(1, static_cast<char>('a' + random() % 3)) + ".c";
      switch (random() % 5) {
        case 0: work.read(path); break;
        case 1: work.edit(path, random() % 3 == 0); break;
        case 2: work.run("cat " + path, "text"); break;
        case 3: work.run("make", random() % 2 == 0 ? "built" : "a.c:1: error: no", random() % 2 == 0); break;
        default: work.messages.push_back(said(Role::user, "Go on with " + path)); break;
      }
    }
    const History history = random() % 3 == 0 ? history_with(work.messages) : work.done();
    for (const StrategyPtr& strategy : {supersede(), dedupe(), pipeline({supersede(), dedupe()})}) {
      const Plan plan = strategy->plan(history, aim_for()).value();
      if (plan.replacements.empty()) continue;
      const History after = history.apply({op::ApplyPlan{plan}}, {.count_tokens = count_bytes}).value().history;
      ASSERT_EQ(after.view().size(), history.view().size());
      ASSERT_EQ(after.stats().tokens, plan.tokens_after);
      ASSERT_LT(plan.tokens_after, plan.tokens_before);
      ASSERT_TRUE(strategy->plan(after, aim_for()).value().replacements.empty()) << strategy->name();
      History back = after;
      for (const Replacement& replacement : plan.replacements) {
        const std::uint64_t index = replacement.hidden.front().start;
        ASSERT_EQ(std::string(after.view()[index].text()).find('\n'), std::string::npos);
        back = back.apply({op::Expand{index}}, {.count_tokens = count_bytes}).value().history;
      }
      for (std::uint64_t i = 0; i < history.view().size(); ++i)
        ASSERT_EQ(back.view().ordinal(i).value, history.view().ordinal(i).value);
    }
  }
}

}  // namespace
}  // namespace undertext
