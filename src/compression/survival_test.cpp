// What compactions keep of long transcripts of agents at work (tests/digest/long), of which the
// facts were listed by hand; and the policy
// that asks for it. docs/compression-benchmarks.md has the table that this prints.
#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
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
std::uint32_t tokens_of_message(const Message& message) {
  return static_cast<std::uint32_t>(tokens_of(message.json()));
}

struct LongTranscript {
  std::string name;
  History history;
  std::map<std::string, std::vector<std::string>> facts;
};

History of_messages(const std::vector<Message>& messages) {
  return History()
      .apply({op::Append{messages}}, {.count_tokens = tokens_of_message})
      .value()
      .history;
}

std::vector<LongTranscript> load(const char* place) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(__FILE__).parent_path() / "../.." / place))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::vector<LongTranscript> loaded;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const JsonText json = JsonText::parse(text, {}).value();
    std::vector<Message> messages;
    for (const JsonValue message : json.root().find("messages")->elements())
      messages.push_back(Message::parse(message.raw()).value());
    LongTranscript transcript{
        .name = file.stem().string(), .history = of_messages(messages), .facts = {}};
    for (const JsonMember kind : json.root().find("facts")->members())
      for (const JsonValue fact : kind.value.elements())
        transcript.facts[kind.key.string()].push_back(fact.string());
    loaded.push_back(std::move(transcript));
  }
  return loaded;
}

const std::vector<LongTranscript>& transcripts() {
  static const std::vector<LongTranscript> all = load("tests/digest/long");
  return all;
}

// Held out, with commands of several lines and users who say in passing what binds.
const std::vector<LongTranscript>& chores() {
  static const std::vector<LongTranscript> all = load("tests/digest/long/chores");
  return all;
}

// Held out, of other fields: a database, a page told in German, a cluster, a crate of Rust.
const std::vector<LongTranscript>& fields() {
  static const std::vector<LongTranscript> all = load("tests/digest/long/fields");
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
std::map<std::string, double> surviving(std::uint64_t percent,
                                        const std::vector<LongTranscript>& played) {
  std::map<std::string, Survival::Count> all;
  std::clock_t took = 0;
  std::cout << "budget " << percent << " %\n";
  for (const LongTranscript& transcript : played) {
    const std::uint64_t before = transcript.history.stats().tokens;
    const Aim aim = aim_of(before * percent / 100);
    const std::clock_t begin = std::clock();
    const Plan plan = plan_by(*default_strategy(), transcript.history, aim).value();
    took += std::clock() - begin;
    EXPECT_TRUE(reaches(plan, aim)) << transcript.name;
    const History after =
        transcript.history.apply({op::ApplyPlan{plan}}, {.count_tokens = tokens_of_message})
            .value()
            .history;
    std::cout << std::left << std::setw(20) << transcript.name << std::setw(6) << before << " -> "
              << std::setw(6) << after.stats().tokens;
    for (const auto& [kind, facts] : transcript.facts) {
      const Survival::Count count = survival_of(facts, after);
      std::cout << " " << kind << " " << count.kept << "/" << count.facts;
      all[kind].facts += count.facts;
      all[kind].kept += count.kept;
    }
    std::cout << "\n";
  }
  std::cout << "a plan takes "
            << 1000.0 * static_cast<double>(took) / CLOCKS_PER_SEC /
                   static_cast<double>(played.size())
            << " ms of the processor\n";
  std::map<std::string, double> parts;
  for (const auto& [kind, count] : all) {
    parts[kind] = count.part();
    std::cout << std::setw(20) << kind << count.kept << " of " << count.facts << "\n";
  }
  return parts;
}

TEST(LongTranscripts, AreTwelveOfTwoHundredMessagesAndMore) {
  EXPECT_GE(transcripts().size(), 12u);
  for (const LongTranscript& transcript : transcripts())
    EXPECT_GE(transcript.history.view().size(), 200u) << transcript.name;
}

TEST(LongTranscripts, AtAnEighthOrSoAllThatIsNeededToGoOnSurvives) {
  std::map<std::string, double> parts = surviving(15, transcripts());
  for (const char* kind :
       {"constraints", "decisions", "changedFiles", "plan", "nextStep", "request"})
    EXPECT_EQ(parts[kind], 1.0) << kind;
  EXPECT_GE(parts["errors"], 0.95);
  EXPECT_GE(parts["attempts"], 0.90);
  EXPECT_GE(parts["paths"], 0.60);
  EXPECT_GE(parts["commands"], 0.50);
}

TEST(LongTranscripts, AtATwentyFifthConstraintsRequestChangesAndNextStepSurvive) {
  std::map<std::string, double> parts = surviving(4, transcripts());
  for (const char* kind : {"constraints", "decisions", "request", "changedFiles", "nextStep"})
    EXPECT_EQ(parts[kind], 1.0) << kind;
}

TEST(ChoreTranscripts, AreFourOfTwoHundredMessagesAndMore) {
  EXPECT_EQ(chores().size(), 4u);
  for (const LongTranscript& transcript : chores())
    EXPECT_GE(transcript.history.view().size(), 200u) << transcript.name;
}

TEST(ChoreTranscripts, AtAnEighthOrSoAllThatIsNeededToGoOnSurvives) {
  std::map<std::string, double> parts = surviving(15, chores());
  for (const char* kind :
       {"constraints", "decisions", "changedFiles", "plan", "nextStep", "request"})
    EXPECT_EQ(parts[kind], 1.0) << kind;
  EXPECT_GE(parts["errors"], 0.95);
  EXPECT_GE(parts["attempts"], 0.90);
  EXPECT_GE(parts["paths"], 0.60);
  EXPECT_GE(parts["commands"], 0.50);
}

TEST(ChoreTranscripts, AtATwentyFifthConstraintsRequestChangesAndNextStepSurvive) {
  std::map<std::string, double> parts = surviving(4, chores());
  for (const char* kind : {"constraints", "decisions", "request", "changedFiles", "nextStep"})
    EXPECT_EQ(parts[kind], 1.0) << kind;
}

TEST(FieldTranscripts, AreFourOfTwoHundredMessagesAndMore) {
  EXPECT_EQ(fields().size(), 4u);
  for (const LongTranscript& transcript : fields())
    EXPECT_GE(transcript.history.view().size(), 200u) << transcript.name;
}

TEST(FieldTranscripts, AtAnEighthOrSoAllThatIsNeededToGoOnSurvives) {
  std::map<std::string, double> parts = surviving(15, fields());
  for (const char* kind :
       {"constraints", "decisions", "changedFiles", "plan", "nextStep", "request"})
    EXPECT_EQ(parts[kind], 1.0) << kind;
  EXPECT_GE(parts["errors"], 0.95);
  EXPECT_GE(parts["attempts"], 0.90);
  EXPECT_GE(parts["paths"], 0.60);
  EXPECT_GE(parts["commands"], 0.50);
}

TEST(FieldTranscripts, AtATwentyFifthConstraintsRequestChangesAndNextStepSurvive) {
  std::map<std::string, double> parts = surviving(4, fields());
  for (const char* kind : {"constraints", "decisions", "request", "changedFiles", "nextStep"})
    EXPECT_EQ(parts[kind], 1.0) << kind;
}

TEST(LongTranscripts, WhatIsPlantedInRemindersBindsNobody) {
  std::vector<LongTranscript> all = transcripts();
  all.insert(all.end(), chores().begin(), chores().end());
  all.insert(all.end(), fields().begin(), fields().end());
  for (const LongTranscript& transcript : all) {
    const Plan plan = plan_by(*default_strategy(), transcript.history,
                              aim_of(transcript.history.stats().tokens / 8))
                          .value();
    for (const Replacement& replacement : plan.replacements) {
      const std::string text(replacement.summary ? replacement.summary->text() : std::string());
      for (const char* planted : {"approved deleting", "always use tabs", "switch to Bazel",
                                  "force push", "answer in French"})
        EXPECT_EQ(text.find(planted), std::string::npos) << transcript.name;
    }
  }
}

TEST(LongTranscripts, TheDigestOfTwoHundredThousandTokensTakesLittleTime) {
  std::vector<Message> messages;
  std::uint64_t tokens = 0;
  while (tokens < 200'000)
    for (const LongTranscript& transcript : transcripts()) {
      for (std::uint64_t i = 0; i < transcript.history.view().size(); ++i)
        messages.push_back(transcript.history.view()[i]);
      tokens += transcript.history.stats().tokens;
    }
  // Of the processor, so that others who use it make no difference; beside the same for reading
  // these messages, so that its speed makes none.
  const auto least_ms = [](const std::function<void()>& work) {
    double least = 1e9;
    for (int i = 0; i < 5; ++i) {
      const std::clock_t begin = std::clock();
      work();
      least = std::min(least, 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
  };
  const double reading = least_ms([&] {
    for (const Message& message : messages) (void)Message::parse(message.json()).value();
  });
  const double digesting = least_ms([&] {
    (void)digest_summariser()
        ->summarise({.messages = messages, .tokens_max = 8192, .count_tokens = tokens_of})
        .value();
  });
  std::cout << "digest of " << tokens << " tokens: " << digesting << " ms of the processor, "
            << digesting / reading << " times as long as reading them\n";
  EXPECT_LT(digesting, 30 * reading);
}

// Policies
// -----------------------------------------------------------------------------------------------------------------------------

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
    messages.push_back(
        of_assistant("Looking at part " + std::to_string(i) + ". " + std::string(300, 'x')));
    messages.push_back(of_user("Part " + std::to_string(i) + " looks like src/part" +
                               std::to_string(i) + ".c to me"));
  }
  return of_messages(messages);
}

// More work on a history.
History with_more_work(const History& history) {
  std::vector<Message> messages;
  for (int i = 20; i < 40; ++i) {
    messages.push_back(
        of_assistant("Looking at part " + std::to_string(i) + ". " + std::string(300, 'y')));
    messages.push_back(of_user("Part " + std::to_string(i) + " looks like src/part" +
                               std::to_string(i) + ".c to me"));
  }
  return history.apply({op::Append{messages}}, {.count_tokens = tokens_of_message}).value().history;
}

class Forgetful final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "forgetful"; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest&) const override {
    return Summary{"Things were done.", "model"};
  }
};

TEST(Survival, AModelsSummaryIsCompletedWithConstraintsAndChangedFiles) {
  const History history = bound_history();
  const Plan plan = smart_summary({.summariser = std::make_shared<Forgetful>()})
                        ->plan(history, aim_of(1000))
                        .value();
  ASSERT_EQ(plan.replacements.size(), 1u);
  const std::string text(plan.replacements[0].summary->text());
  EXPECT_NE(
      text.find("Things were done.\nConstraints and decisions\n- Never touch the wire format."),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Changed files\n- src/parser.c"), std::string::npos) << text;
}

// Notes how long a summary may be.
class Measuring final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "measuring"; }
  bool is_slow() const noexcept override { return false; }
  Result<Summary> summarise(const SummaryRequest& request) const override {
    tokens_max = request.tokens_max;
    return Summary{"Things were done.", "model"};
  }
  mutable std::uint64_t tokens_max = 0;
};

// Says a name that only contains that of the changed file.
class Misnaming final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "misnaming"; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest&) const override {
    return Summary{"Never touch the wire format. lib/mysrc/parser.cpp was changed.", "model"};
  }
};

TEST(Survival, AFileIsNotKeptByALongerName) {
  const History history = bound_history();
  const Plan plan = smart_summary({.summariser = std::make_shared<Misnaming>()})
                        ->plan(history, aim_of(1000))
                        .value();
  ASSERT_EQ(plan.replacements.size(), 1u);
  const std::string text(plan.replacements[0].summary->text());
  EXPECT_NE(text.find("Changed files\n- src/parser.c"), std::string::npos) << text;

  const History says_myapp = of_messages({of_user("Look at myapp.py and lib/src/a.cpp")});
  const std::vector<std::string> facts = {"app.py", "src/a.c", "myapp.py", "src/a.cpp"};
  EXPECT_EQ(survival_of(facts, says_myapp).lost, (std::vector<std::string>{"app.py", "src/a.c"}));
}

// Counts how often it is asked whether to go on, which it allows so many times.
std::shared_ptr<Work> work_that_asks(int& asked, const int& most) {
  return std::make_shared<Work>(WorkLimits{.interrupted = [&asked, &most]() -> Result<void> {
    if (++asked <= most) return {};
    return Error{ErrorCode::unavailable, "enough"};
  }});
}

// As many facts as there may be, then a long text.
TEST(Survival, APlanThatIsMeasuredAsksTheLimitsOfTheCall) {
  std::string listed;
  for (int i = 0; i < 3'000; ++i) listed += "src/part" + std::to_string(i) + ".c\n";
  const History listing =
      of_messages({of_user("Never touch these:\n" + listed), of_assistant("Done.")});
  const std::string all_of_a(4u << 20, 'a');
  const History history = listing
                              .apply({op::Append{{of_assistant(all_of_a), of_user("Go on")}}},
                                     {.count_tokens = tokens_of_message})
                              .value()
                              .history;
  Aim aim = aim_of(history.stats().tokens);
  aim.tokens_max.reset();
  aim.survival[FactKind::paths] = 0.5;
  int asked = 0, most = 1'000'000;
  const std::shared_ptr<Work> work = work_that_asks(asked, most);
  const History limited = history.limited(work);
  const Result<Plan> refused = plan_reaching(*keep_recent(2), limited, aim, IfShort::refuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "survival") << refused.error().message;
  // More often than once for each message that is read.
  EXPECT_GT(asked, 80);
  most = asked - 1;
  asked = 0;
  EXPECT_THROW((void)plan_reaching(*keep_recent(2), limited, aim, IfShort::refuse), Failure);
}

TEST(Survival, ASummaryMayHaveAQuarterOfTheTargetFrom512To8192Tokens) {
  std::vector<Message> messages;
  for (int i = 0; i < 700; ++i) {
    messages.push_back(of_user("Say more of it"));
    messages.push_back(of_assistant(std::string(600, 'x')));
  }
  const History history = of_messages(messages);
  ASSERT_GT(history.stats().tokens, 100'000u);
  struct Case {
    std::uint64_t target, tokens;
  };
  for (const auto& [target, tokens] :
       {Case{1'000, 512}, {2'048, 512}, {8'000, 2'000}, {32'768, 8'192}, {80'000, 8'192}}) {
    const auto summariser = std::make_shared<Measuring>();
    const Plan plan =
        plan_by(*smart_summary({.summariser = summariser}), history, aim_of(target)).value();
    ASSERT_EQ(plan.replacements.size(), 1u) << target;
    EXPECT_LE(summariser->tokens_max, tokens) << target;
    EXPECT_GE(summariser->tokens_max + 2, tokens) << target;
    EXPECT_LE(plan.tokens_after, target);
  }
}

// A tail is cut between messages, and what that leaves is of use to nobody else.
TEST(Survival, ADigestMayHaveAQuarterMoreOfWhatTheTailLeavesOfTheTarget) {
  const History& history = transcripts().front().history;
  for (const std::uint64_t percent : {4u, 15u, 40u}) {
    const std::uint64_t target = history.stats().tokens * percent / 100;
    const auto digest_within = [&](std::optional<std::uint64_t> tokens_max) {
      const Plan plan =
          plan_by(*smart_summary({.summary_tokens_max = tokens_max}), history, aim_of(target))
              .value();
      EXPECT_TRUE(reaches(plan, aim_of(target)));
      std::uint64_t tokens = 0;
      for (const Replacement& made : plan.replacements) tokens += tokens_of(made.summary->text());
      return tokens;
    };
    const std::uint64_t quarter = std::max<std::uint64_t>(512, target / 4);
    const std::uint64_t most = std::min(quarter, target / 3);
    const std::uint64_t around = 80;  // what introduces a digest
    EXPECT_LE(digest_within({}), quarter + quarter / 4 + around) << percent;
    EXPECT_LE(digest_within(most), most + around) << percent;
  }
}

// Wherever the call ends, its end is what is answered, and never a plan without its summary.
TEST(Survival, ADigestAsksTheLimitsOfTheCall) {
  const History& history = transcripts().front().history;
  const Aim aim = aim_of(history.stats().tokens / 8);
  const Plan whole = plan_by(*default_strategy(), history, aim).value();
  int asked = 0, most = 1'000'000;
  const std::shared_ptr<Work> work = work_that_asks(asked, most);
  const History limited = history.limited(work);
  ASSERT_EQ(plan_by(*default_strategy(), limited, aim).value().tokens_after, whole.tokens_after);
  const int all = asked;
  EXPECT_GT(all, 200);
  for (most = 0; most < all; most += 1 + all / 97) {
    asked = 0;
    const Result<Plan> plan = plan_by(*default_strategy(), limited, aim);
    ASSERT_FALSE(plan) << most << " of " << all << ": " << plan->reason;
    EXPECT_EQ(plan.error().message, "enough") << most << " of " << all;
  }
  asked = 0;
  most = 100;
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < history.view().size(); ++i) messages.push_back(history.view()[i]);
  EXPECT_THROW((void)digest_summariser()->summarise(
                   {.messages = messages, .tokens_max = 4000, .work = work}),
               Failure);
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
  const History after =
      history.apply({op::ApplyPlan{*plan}}, {.count_tokens = tokens_of_message}).value().history;
  EXPECT_EQ(survival(history, after)[FactKind::paths].part(), 1.0);
}

// A compaction whose summary the next one finds in its view.
History compacted(const History& history) {
  const Plan plan = plan_by(*smart_summary({.keep = 4}), history, aim_of(1000)).value();
  EXPECT_EQ(plan.replacements.size(), 1u);
  return history.apply({op::ApplyPlan{plan}}, {.count_tokens = tokens_of_message}).value().history;
}

TEST(Survival, ASecondCompactionAnswersForWhatTheFirstOneKept) {
  const History once = compacted(bound_history());
  ASSERT_NE(std::string(once.view()[0].text()).find("Never touch the wire format."),
            std::string::npos);

  const History again = compacted(with_more_work(once));
  const Survival kept = survival(with_more_work(once), again);
  EXPECT_EQ(kept[FactKind::constraints].facts, 1u);
  EXPECT_EQ(kept[FactKind::constraints].kept, 1u);
  EXPECT_EQ(kept[FactKind::changed_files].facts, 1u);
  EXPECT_EQ(kept[FactKind::changed_files].kept, 1u);

  Aim aim = aim_of(300);
  const Plan dropped = plan_by(*sliding_window(), once, aim).value();
  const History after =
      once.apply({op::ApplyPlan{dropped}}, {.count_tokens = tokens_of_message}).value().history;
  EXPECT_EQ(survival(once, after)[FactKind::constraints].lost,
            (std::vector<std::string>{"Never touch the wire format."}));
  aim.survival[FactKind::constraints] = 1;
  const Result<Plan> refused = plan_reaching(*sliding_window(), once, aim, IfShort::refuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "survival");
}

TEST(Survival, WhatWasLostBeforeIsNotLostAgain) {
  const History history = bound_history();
  SmartSummary forgets{.summariser = std::make_shared<Forgetful>(), .keep = 4};
  const Plan plan = plan_by(*smart_summary(forgets), history, aim_of(1000)).value();
  const History once =
      history.apply({op::ApplyPlan{plan}}, {.count_tokens = tokens_of_message}).value().history;
  const Survival first = survival(history, once);
  ASSERT_LT(first[FactKind::paths].kept, first[FactKind::paths].facts);
  EXPECT_EQ(survival(once, once)[FactKind::paths].kept, first[FactKind::paths].kept);
  EXPECT_TRUE(survival(once, once)[FactKind::paths].lost.empty());
}

TEST(Survival, SaysWhatWasLost) {
  const History history = bound_history();
  const Plan plan = plan_by(*keep_recent(2), history, aim_of(100)).value();
  const History after =
      history.apply({op::ApplyPlan{plan}}, {.count_tokens = tokens_of_message}).value().history;
  const Survival survived = survival(history, after);
  EXPECT_EQ(survived[FactKind::constraints].lost,
            (std::vector<std::string>{"Never touch the wire format."}));
  EXPECT_EQ(survived[FactKind::changed_files].kept, 0u);
  EXPECT_EQ(survived[FactKind::request].kept, 1u);
}

}  // namespace
}  // namespace undertext
