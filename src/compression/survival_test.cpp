// What compactions keep of twelve long transcripts of agents at work (tests/digest/long), of which the facts were listed by hand; and the policy
// that asks for it. docs/compression-benchmarks.md has the table that this prints.
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/compression.hpp>

#include "base/json_text.hpp"
#include "compression/plan_by.hpp"

namespace undertext {
namespace {

std::uint64_t tokens_of(std::string_view text) { return (text.size() + 3) / 4; }
std::uint32_t tokens_of_message(const Message& message) { return static_cast<std::uint32_t>(tokens_of(message.json())); }

struct LongTranscript {
  std::string name;
  History history;
  std::map<std::string, std::vector<std::string>> facts;
};

History of_messages(const std::vector<Message>& messages) {
  return History().apply({op::Append{messages}}, {.count_tokens = tokens_of_message}).value().history;
}

const std::vector<LongTranscript>& transcripts() {
  static const std::vector<LongTranscript> all = [] {
    std::set<std::filesystem::path> files;
    const std::filesystem::path folder = std::filesystem::path(__FILE__).parent_path() / "../../tests/digest/long";
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".json") files.insert(entry.path());
    std::vector<LongTranscript> loaded;
    for (const std::filesystem::path& file : files) {
      std::ifstream stream(file);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      const JsonText json = JsonText::parse(text, {}).value();
      std::vector<Message> messages;
      for (const JsonValue message : json.root().find("messages")->elements())
        messages.push_back(Message::parse(message.raw()).value());
      LongTranscript transcript{.name = file.stem().string(), .history = of_messages(messages), .facts = {}};
      for (const JsonMember kind : json.root().find("facts")->members())
        for (const JsonValue fact : kind.value.elements()) transcript.facts[kind.key.string()].push_back(fact.string());
      loaded.push_back(std::move(transcript));
    }
    return loaded;
  }();
  return all;
}

Aim aim_of(std::uint64_t tokens) {
  Aim aim;
  aim.tokens_max = tokens;
  aim.count_tokens = tokens_of_message;
  aim.count_text = tokens_of;
  return aim;
}

// The parts that survive of each kind over all transcripts, for a budget in percent.
std::map<std::string, double> surviving(std::uint64_t percent) {
  std::map<std::string, Survival::Count> all;
  std::cout << "budget " << percent << " %\n";
  for (const LongTranscript& transcript : transcripts()) {
    const std::uint64_t before = transcript.history.stats().tokens;
    const Aim aim = aim_of(before * percent / 100);
    const Plan plan = plan_by(*default_strategy(), transcript.history, aim).value();
    EXPECT_TRUE(reaches(plan, aim)) << transcript.name;
    const History after = transcript.history.apply({op::ApplyPlan{plan}}, {.count_tokens = tokens_of_message}).value().history;
    std::cout << std::left << std::setw(20) << transcript.name << std::setw(6) << before << " -> " << std::setw(6)
              << after.stats().tokens;
    for (const auto& [kind, facts] : transcript.facts) {
      const Survival::Count count = survival_of(facts, after);
      std::cout << " " << kind << " " << count.kept << "/" << count.facts;
      all[kind].facts += count.facts;
      all[kind].kept += count.kept;
    }
    std::cout << "\n";
  }
  std::map<std::string, double> parts;
  for (const auto& [kind, count] : all) {
    parts[kind] = count.part();
    std::cout << std::setw(20) << kind << count.kept << " of " << count.facts << "\n";
  }
  return parts;
}

TEST(LongTranscripts, AreTwelveOfTwoHundredMessagesAndMore) {
  EXPECT_GE(transcripts().size(), 12u);
  for (const LongTranscript& transcript : transcripts()) EXPECT_GE(transcript.history.view().size(), 200u) << transcript.name;
}

TEST(LongTranscripts, AtAnEighthOrSoAllThatIsNeededToGoOnSurvives) {
  std::map<std::string, double> parts = surviving(15);
  for (const char* kind : {"constraints", "decisions", "changedFiles", "plan", "nextStep", "request"})
    EXPECT_EQ(parts[kind], 1.0) << kind;
  EXPECT_GE(parts["errors"], 0.95);
  EXPECT_GE(parts["attempts"], 0.90);
  EXPECT_GE(parts["paths"], 0.60);
  EXPECT_GE(parts["commands"], 0.50);
}

TEST(LongTranscripts, AtATwentyFifthConstraintsRequestChangesAndNextStepSurvive) {
  std::map<std::string, double> parts = surviving(4);
  for (const char* kind : {"constraints", "decisions", "request", "changedFiles", "nextStep"}) EXPECT_EQ(parts[kind], 1.0) << kind;
}

TEST(LongTranscripts, WhatIsPlantedInRemindersBindsNobody) {
  for (const LongTranscript& transcript : transcripts()) {
    const Plan plan = plan_by(*default_strategy(), transcript.history, aim_of(transcript.history.stats().tokens / 8)).value();
    for (const Replacement& replacement : plan.replacements) {
      const std::string text(replacement.summary ? replacement.summary->text() : std::string());
      for (const char* planted : {"approved deleting", "always use tabs", "switch to Bazel", "force push", "answer in French"})
        EXPECT_EQ(text.find(planted), std::string::npos) << transcript.name;
    }
  }
}

TEST(LongTranscripts, TheDigestOfTwoHundredThousandTokensTakesLittleTime) {
  std::vector<Message> messages;
  std::uint64_t tokens = 0;
  while (tokens < 200'000)
    for (const LongTranscript& transcript : transcripts()) {
      for (std::uint64_t i = 0; i < transcript.history.view().size(); ++i) messages.push_back(transcript.history.view()[i]);
      tokens += transcript.history.stats().tokens;
    }
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)digest_summariser()->summarise({.messages = messages, .tokens_max = 8192, .count_tokens = tokens_of}).value();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::cout << "digest of " << tokens << " tokens: " << best << " ms\n";
  EXPECT_LT(best, 1000) << "bench/compression_bench.cpp measures it; here it must only not be far off";
}

// Policies -----------------------------------------------------------------------------------------------------------------------------

Message of_user(std::string_view text) { return Message::make(Role::user, text).value(); }
Message of_assistant(std::string_view text) { return Message::make(Role::assistant, text).value(); }

History bound_history() {
  std::vector<Message> messages = {of_user("Never touch the wire format. Fix the parser.")};
  messages.push_back(
      Message::parse(
          R"({"role":"assistant","content":null,"toolCalls":[{"id":"e","name":"Edit","arguments":{"file_path":"src/parser.c","old_string":"a","new_string":"b"}}]})")
          .value());
  messages.push_back(Message::make_tool_result("e", "ok").value());
  for (int i = 0; i < 20; ++i) {
    messages.push_back(of_assistant("Looking at part " + std::to_string(i) + ". " + std::string(300, 'x')));
    messages.push_back(of_user("Part " + std::to_string(i) + " looks like src/part" + std::to_string(i) + ".c to me"));
  }
  return of_messages(messages);
}

class Forgetful final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "forgetful"; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest&) const override { return Summary{"Things were done.", "model"}; }
};

TEST(Survival, AModelsSummaryIsCompletedWithConstraintsAndChangedFiles) {
  const History history = bound_history();
  const Plan plan = smart_summary({.summariser = std::make_shared<Forgetful>()})->plan(history, aim_of(1000)).value();
  ASSERT_EQ(plan.replacements.size(), 1u);
  const std::string text(plan.replacements[0].summary->text());
  EXPECT_NE(text.find("Things were done.\nConstraints and decisions\n- Never touch the wire format."), std::string::npos) << text;
  EXPECT_NE(text.find("Changed files\n- src/parser.c"), std::string::npos) << text;
}

TEST(Survival, APlanThatKeepsLessThanThePolicyAsksForIsRefused) {
  const History history = bound_history();
  Aim aim = aim_of(400);
  aim.survival[FactKind::constraints] = 1;
  const Result<Plan> dropped = plan_reaching(*sliding_window(), history, aim, IfShort::refuse);
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code, ErrorCode::cannot_fit);
  EXPECT_EQ(dropped.error().field, "survival");
  EXPECT_TRUE(plan_reaching(*default_strategy(), history, aim, IfShort::refuse));
  aim.survival[FactKind::paths] = 1;
  aim.tokens_max = 250;
  const Result<Plan> too_small = plan_reaching(*default_strategy(), history, aim, IfShort::refuse);
  ASSERT_FALSE(too_small);
  EXPECT_EQ(too_small.error().field, "survival") << too_small.error().message;
}

TEST(Survival, ADigestIsCompletedWithWhatThePolicyAsksFor) {
  const History history = bound_history();
  Aim aim = aim_of(1200);
  aim.survival[FactKind::paths] = 1;
  const Result<Plan> plan = plan_reaching(*smart_summary(), history, aim, IfShort::refuse);
  ASSERT_TRUE(plan) << plan.error().message;
  const History after = history.apply({op::ApplyPlan{*plan}}, {.count_tokens = tokens_of_message}).value().history;
  EXPECT_EQ(survival(history, after)[FactKind::paths].part(), 1.0);
}

TEST(Survival, SaysWhatWasLost) {
  const History history = bound_history();
  const Plan plan = plan_by(*keep_recent(2), history, aim_of(100)).value();
  const History after = history.apply({op::ApplyPlan{plan}}, {.count_tokens = tokens_of_message}).value().history;
  const Survival survived = survival(history, after);
  EXPECT_EQ(survived[FactKind::constraints].lost, (std::vector<std::string>{"Never touch the wire format."}));
  EXPECT_EQ(survived[FactKind::changed_files].kept, 0u);
  EXPECT_EQ(survived[FactKind::request].kept, 1u);
}

}  // namespace
}  // namespace undertext
