#include <undertext/usage.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tokens/usage_bytes.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

RequestUsage usage(std::string id, std::uint64_t prompt, std::uint64_t completion,
                   std::string model = "m") {
  return {.request_id = std::move(id),
          .model = std::move(model),
          .prompt = prompt,
          .completion = completion};
}

TEST(UsageTracker, UpdatesOfARequestReplaceEachOther) {
  UsageTracker tracker;
  EXPECT_TRUE(tracker.update(usage("r1", 100, 0)));
  EXPECT_TRUE(tracker.update(usage("r1", 100, 20)));
  EXPECT_TRUE(tracker.update(usage("r1", 100, 50)));
  EXPECT_EQ(tracker.totals().requests, 1u);
  EXPECT_EQ(tracker.totals().completion, 50u);
  EXPECT_EQ(tracker.totals().total, 150u);
  EXPECT_TRUE(tracker.history().empty());
  EXPECT_TRUE(tracker.finish("r1"));
  EXPECT_EQ(tracker.history().size(), 1u);
  EXPECT_EQ(tracker.totals().total, 150u);
}

TEST(UsageTracker, AFinishedRequestStaysAsItIs) {
  UsageTracker tracker;
  EXPECT_TRUE(tracker.record(usage("r1", 100, 20)));
  EXPECT_EQ(tracker.update(usage("r1", 1, 1)).error().code, ErrorCode::conflict);
  EXPECT_EQ(tracker.finish("r1").error().code, ErrorCode::not_found);
  EXPECT_EQ(tracker.drop("r1").error().code, ErrorCode::not_found);
  EXPECT_EQ(tracker.totals().total, 120u);
}

TEST(UsageTracker, ADroppedRequestWasNeverThere) {
  UsageTracker tracker;
  EXPECT_TRUE(tracker.update(usage("r1", 100, 20)));
  EXPECT_TRUE(tracker.drop("r1"));
  EXPECT_EQ(tracker.totals(), UsageTotals());
  EXPECT_FALSE(tracker.find("r1"));
  EXPECT_TRUE(tracker.update(usage("r1", 7, 0)));
  EXPECT_EQ(tracker.totals().prompt, 7u);
}

TEST(UsageTracker, WhatCannotBeIsRefusedAndChangesNothing) {
  UsageTracker tracker;
  const auto field_of = [&tracker](RequestUsage wrong) {
    const Result<void> done = tracker.update(std::move(wrong));
    EXPECT_TRUE(!done && done.error().code == ErrorCode::invalid_argument);
    return done ? "" : done.error().field;
  };
  EXPECT_EQ(field_of(usage("", 1, 1)), "requestId");
  for (const double cost : {-0.01, std::nan(""), std::numeric_limits<double>::infinity()}) {
    RequestUsage wrong = usage("r", 1, 1);
    wrong.cost = cost;
    EXPECT_EQ(field_of(wrong), "cost");
  }
  RequestUsage cached = usage("r", 10, 1);
  cached.cached = 11;
  EXPECT_EQ(field_of(cached), "cached");
  RequestUsage early = usage("r", 10, 1);
  early.at_ms = -1;
  EXPECT_EQ(field_of(early), "atMs");
  EXPECT_EQ(tracker.totals(), UsageTotals());
}

TEST(UsageTracker, SumsStopAtTheirLargestValue) {
  UsageTracker tracker;
  EXPECT_TRUE(tracker.record(usage("a", largest, largest)));
  EXPECT_TRUE(tracker.record(usage("b", largest, 1)));
  EXPECT_EQ(tracker.totals().prompt, largest);
  EXPECT_EQ(tracker.totals().total, largest);
  EXPECT_EQ(tracker.totals().requests, 2u);
  EXPECT_EQ(tracker.correct("m", largest), largest);
  EXPECT_EQ(tracker.upper_bound("m", largest), largest);
  RequestUsage dear = usage("c", 1, 1);
  dear.cost = std::numeric_limits<double>::max();
  EXPECT_TRUE(tracker.record(dear));
  dear.request_id = "d";
  EXPECT_TRUE(tracker.record(dear));
  EXPECT_TRUE(std::isfinite(tracker.totals().cost));
}

TEST(UsageTracker, StatisticsAreOfAllRequestsAndOfEachModel) {
  UsageTracker tracker;
  RequestUsage first = usage("a", 1000, 100, "big");
  first.cached = 600;
  first.cost = 0.25;
  EXPECT_TRUE(tracker.record(first));
  EXPECT_TRUE(tracker.record(usage("b", 200, 300, "small")));
  EXPECT_TRUE(tracker.update(usage("c", 300, 20, "small")));  // still open
  const UsageStatistics all = tracker.statistics();
  EXPECT_EQ(all.totals, tracker.totals());
  EXPECT_EQ(all.totals.requests, 3u);
  EXPECT_DOUBLE_EQ(all.prompt_mean, 500);
  EXPECT_DOUBLE_EQ(all.completion_mean, 140);
  EXPECT_EQ(all.prompt_max, 1000u);
  EXPECT_EQ(all.completion_max, 300u);
  EXPECT_DOUBLE_EQ(all.cached_share, 0.4);
  EXPECT_DOUBLE_EQ(all.totals.cost, 0.25);
  ASSERT_EQ(all.by_model.size(), 2u);
  EXPECT_EQ(all.by_model[0].model, "big");
  EXPECT_EQ(all.by_model[1].totals, tracker.totals_of("small"));
  EXPECT_EQ(all.by_model[1].totals.total, 820u);
  EXPECT_EQ(UsageTracker().statistics(), UsageStatistics());
}

TEST(UsageTracker, AReportedTotalIsKeptAsReported) {
  UsageTracker tracker;
  RequestUsage more = usage("a", 10, 10);
  more.total = 35;  // with thoughts that are in neither
  EXPECT_TRUE(tracker.record(more));
  EXPECT_EQ(tracker.totals().total, 35u);
}

TEST(UsageTracker, HistoryIsBoundedAndTotalsGoOn) {
  UsageTracker tracker({.history = 10});
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(tracker.record(usage("r" + std::to_string(i), 1, 0)));
  EXPECT_EQ(tracker.history().size(), 10u);
  EXPECT_EQ(tracker.history().front().request_id, "r15");
  EXPECT_EQ(tracker.totals().requests, 25u);
  EXPECT_FALSE(tracker.find("r14"));
  EXPECT_EQ(tracker.find("r24")->prompt, 1u);
}

TEST(UsageTracker, TooManyOpenRequestsFinishTheOldest) {
  UsageTracker tracker({.open = 2});
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(tracker.update(usage(id, 1, 0)));
  EXPECT_EQ(tracker.open().size(), 2u);
  EXPECT_EQ(tracker.history().front().request_id, "a");
  EXPECT_EQ(tracker.update(usage("a", 2, 0)).error().code, ErrorCode::conflict);
  EXPECT_EQ(tracker.totals().requests, 3u);
}

TEST(UsageTracker, TooManyModelsAreCountedTogether) {
  UsageTracker tracker({.models = 2});
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(tracker.record(usage("r" + std::to_string(i), 1, 0, "model" + std::to_string(i))));
  EXPECT_EQ(tracker.totals().requests, 10u);
  EXPECT_EQ(tracker.statistics().by_model.size(), 3u);
  EXPECT_EQ(tracker.totals_of("").requests, 8u);
}

TEST(UsageTracker, ACopyIsItsOwn) {
  UsageTracker tracker;
  EXPECT_TRUE(tracker.record(usage("a", 1, 0)));
  UsageTracker copy = tracker;
  EXPECT_TRUE(copy.record(usage("b", 1, 0)));
  EXPECT_EQ(tracker.totals().requests, 1u);
  EXPECT_EQ(copy.totals().requests, 2u);
}

void report(UsageTracker& tracker, std::uint64_t estimate, std::uint64_t prompt,
            std::string model = "m") {
  RequestUsage told = usage(std::to_string(tracker.totals().requests), prompt, 0, std::move(model));
  told.estimated_prompt = estimate;
  ASSERT_TRUE(tracker.record(told));
}

TEST(UsageCorrection, BeforeAnythingIsLearnedTheEstimateStandsAndTheBoundIsAQuarterAbove) {
  const UsageTracker tracker;
  EXPECT_EQ(tracker.correct("m", 1000), 1000u);
  EXPECT_NEAR(static_cast<double>(tracker.upper_bound("m", 1000)), 1250, 35);
  EXPECT_EQ(tracker.correction("m").learned_from, 0u);
}

TEST(UsageCorrection, LearnsTheRatioOfEachModelByItself) {
  UsageTracker tracker;
  for (std::uint64_t i = 0; i < 40; ++i) {
    report(tracker, 1000 + i, (1000 + i) * 13 / 10, "more");
    report(tracker, 1000 + i, (1000 + i) * 9 / 10, "less");
  }
  EXPECT_NEAR(tracker.correction("more").factor, 1.3, 0.02);
  EXPECT_NEAR(tracker.correction("less").factor, 0.9, 0.02);
  EXPECT_EQ(tracker.correct("other", 1000), 1000u);
  EXPECT_EQ(tracker.correction("more").learned_from, 40u);
}

TEST(UsageCorrection, OneReportMovesItHalfWay) {
  UsageTracker tracker;
  report(tracker, 1000, 1200);
  EXPECT_GT(tracker.correction("m").factor, 1.05);
  EXPECT_LT(tracker.correction("m").factor, 1.15);
}

TEST(UsageCorrection, FollowsAModelThatChanges) {
  UsageTracker tracker;
  for (int i = 0; i < 100; ++i) report(tracker, 1000, 1000);
  for (int i = 0; i < 100; ++i) report(tracker, 1000, 1300);
  EXPECT_NEAR(tracker.correction("m").factor, 1.3, 0.02);
}

TEST(UsageCorrection, AnOutlierHardlyMovesIt) {
  UsageTracker tracker;
  for (int i = 0; i < 50; ++i) report(tracker, 1000, 1100 + static_cast<std::uint64_t>(i % 3) * 10);
  const double before = tracker.correction("m").factor;
  report(tracker, 1000, 5000);
  EXPECT_NEAR(tracker.correction("m").factor, before, 0.02);
  const UsageCorrection seen = tracker.correction("m");
  report(tracker, 1000, 90'000);  // a mistake
  report(tracker, 1000, 0);
  EXPECT_EQ(tracker.correction("m").learned_from, seen.learned_from);
  EXPECT_EQ(tracker.correction("m").factor, seen.factor);
}

TEST(UsageCorrection, SmallPromptsAndOpenRequestsTeachNothing) {
  UsageTracker tracker;
  report(tracker, 99, 200);
  RequestUsage open = usage("open", 2000, 0);
  open.estimated_prompt = 1000;
  EXPECT_TRUE(tracker.update(open));
  EXPECT_EQ(tracker.correction("m").learned_from, 0u);
  EXPECT_TRUE(tracker.finish("open"));
  EXPECT_EQ(tracker.correction("m").learned_from, 1u);
}

TEST(UsageCorrection, TheBoundHoldsInNineteenRequestsOfTwenty) {
  const std::uint64_t seed = 314;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(std::log(1.15), 0.06);
  int held = 0, asked = 0;
  for (int run = 0; run < 50; ++run) {
    UsageTracker tracker;
    for (int i = 0; i < 120; ++i) {
      const auto prompt = static_cast<std::uint64_t>(10'000 * std::exp(noise(random)));
      if (i >= 20) {
        ++asked;
        held += prompt <= tracker.upper_bound("m", 10'000) ? 1 : 0;
      }
      report(tracker, 10'000, prompt);
    }
  }
  EXPECT_NEAR(static_cast<double>(held) / asked, 0.95, 0.02) << "seed " << seed;
}

// Reports at random; whatever a tracker says afterwards, its copy by way of bytes says too, and
// goes on saying.
TEST(UsageState, ATrackerThatWasStoredGoesOnAsIfItHadNotBeen) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  UsageTracker one, two;
  for (int step = 0; step < 2000; ++step) {
    const std::string id = "r" + std::to_string(random() % 400);
    RequestUsage report = usage(id, 100 + random() % 1000, random() % 50);
    report.model = "m" + std::to_string(random() % 5);
    report.cached = random() % 100;
    report.cost = static_cast<double>(random() % 100) / 7;
    report.estimated_prompt = 100 + random() % 1000;
    const bool ends = random() % 3 == 0;
    const auto apply = [&](UsageTracker& tracker) {
      return ends ? tracker.record(report) : tracker.update(report);
    };
    const Result<void> first = apply(one), second = apply(two);
    ASSERT_EQ(bool(first), bool(second)) << "seed " << seed << " step " << step;
    if (random() % 10 == 0 && one.history().size() <= 100) two = read_usage_bytes(usage_bytes(two));
    ASSERT_EQ(one.totals().requests, two.totals().requests) << "seed " << seed << " step " << step;
    ASSERT_EQ(one.statistics().by_model.size(), two.statistics().by_model.size())
        << "seed " << seed;
    ASSERT_EQ(one.history(), two.history()) << "seed " << seed;
    ASSERT_EQ(one.open(), two.open()) << "seed " << seed;
    ASSERT_NEAR(one.correction("m1").factor_high, two.correction("m1").factor_high, 1e-9)
        << "seed " << seed;
  }
}

TEST(UsageState, WhatCannotBeIsRefused) {
  const auto code = [](const UsageState& state) {
    const Result<UsageTracker> restored = UsageTracker::restored(state);
    return restored ? std::string() : restored.error().field;
  };
  EXPECT_EQ(code({}), "");
  EXPECT_EQ(code({.models = {{.model = "m", .totals = {}, .learned = {}},
                             {.model = "m", .totals = {}, .learned = {}}},
                  .open = {},
                  .history = {}}),
            "models");
  EXPECT_EQ(code({.models = {{.model = "m", .totals = {}, .learned = {.factor = -1}}},
                  .open = {},
                  .history = {}}),
            "factor");
  EXPECT_EQ(code({.models = {}, .open = {}, .history = {usage("r", 1, 1), usage("r", 1, 1)}}),
            "requestId");
  EXPECT_EQ(code({.models = {}, .open = {usage("", 1, 1)}, .history = {}}), "requestId");
}

}  // namespace
}  // namespace undertext
