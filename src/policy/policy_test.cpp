#include "policy/policy.hpp"

#include <gtest/gtest.h>

#include "policy/edit_plan.hpp"

namespace undertext {
namespace {

using Mode = GatewayPolicy::Mode;

GatewayPolicies read(std::string_view text) { return GatewayPolicies::read(text).value(); }

TEST(GatewayPolicies, WithoutAWordRequestsPassUnchanged) {
  const GatewayPolicies policies;
  EXPECT_EQ(policies.of({.tenant = "a", .model = "m", .conversation = "c"}).mode, Mode::observe);
  EXPECT_FALSE(policies.may_edit("a"));
  EXPECT_FALSE(edit_goal(policies.of({}), {.tokens = 1'000'000, .window = 1}).has_value());
}

TEST(GatewayPolicies, ANameIsTheWholePolicy) {
  for (const Mode mode : {Mode::observe, Mode::fit, Mode::tidy, Mode::compact})
    EXPECT_EQ(read(name(mode)).of({}).mode, mode);
}

TEST(GatewayPolicies, TheMoreSpecificMemberCountsAndOthersAreInherited) {
  const GatewayPolicies policies = read(R"({"mode":"fit","headroomTurns":7,
    "tenants":{"acme":{"mode":"tidy","thresholdTokens":1000}},
    "models":{"claude-*":{"mode":"compact"},"claude-opus-*":{"thresholdPercent":50}},
    "conversations":{"c1":{"mode":"observe"}}})");
  EXPECT_EQ(policies.of({.tenant = "other"}).mode, Mode::fit);
  const GatewayPolicy acme = policies.of({.tenant = "acme"});
  EXPECT_EQ(acme.mode, Mode::tidy);
  EXPECT_EQ(acme.headroom_turns, 7u) << "inherited";
  const GatewayPolicy opus = policies.of({.tenant = "acme", .model = "Claude-Opus-4-7"});
  EXPECT_EQ(opus.mode, Mode::compact);
  EXPECT_EQ(opus.threshold_percent, 50u);
  EXPECT_FALSE(opus.threshold_tokens.has_value()) << "per cent were given last";
  EXPECT_EQ(policies.of({.model = "claude-opus-4-7", .conversation = "c1"}).mode, Mode::observe);
}

TEST(GatewayPolicies, ATenantWithoutEditsPassesAtOnceUnlessItsModelsMayHaveSome) {
  const GatewayPolicies tenants = read(R"({"tenants":{"acme":{"repair":"on"}}})");
  EXPECT_TRUE(tenants.may_edit("acme"));
  EXPECT_FALSE(tenants.may_edit("other"));
  EXPECT_TRUE(read(R"({"models":{"gpt-5":{"mode":"fit"}}})").may_edit("other"));
}

TEST(GatewayPolicies, ToolsAreOfferedWithoutAnyEditOfTheMessages) {
  using Tools = GatewayPolicy::Tools;
  EXPECT_FALSE(GatewayPolicies().offers_recall());
  const GatewayPolicies read_ones = read(R"({"tools":"recall"})");
  GatewayPolicies set;
  set.set_tools(Tools::recall);
  for (const GatewayPolicies& policies : {read_ones, set}) {
    EXPECT_TRUE(policies.offers_recall());
    EXPECT_EQ(policies.of({.tenant = "a"}).tools, Tools::recall);
    EXPECT_FALSE(policies.may_edit("a"));
  }
}

TEST(GatewayPolicies, ToolsThatAreSetAreTheGatewaysOwnAndATenantsCountMore) {
  using Tools = GatewayPolicy::Tools;
  GatewayPolicies policies =
      read(R"({"mode":"fit","tools":"none","tenants":{"acme":{"tools":"none"}}})");
  policies.set_tools(Tools::recall);
  EXPECT_EQ(policies.of({.tenant = "other"}).tools, Tools::recall);
  EXPECT_EQ(policies.of({.tenant = "other"}).mode, Mode::fit);
  EXPECT_EQ(policies.of({.tenant = "acme"}).tools, Tools::none);
}

TEST(GatewayPolicies, WhatIsWrongIsNamed) {
  const auto field = [](std::string_view text) {
    const Result<GatewayPolicies> read = GatewayPolicies::read(text);
    return read ? std::string("accepted") : read.error().field;
  };
  EXPECT_EQ(field(R"({"mode":"squeeze"})"), "mode");
  EXPECT_EQ(field(R"({"mood":"fit"})"), "mood");
  EXPECT_EQ(field(R"({"thresholdPercent":101})"), "thresholdPercent");
  EXPECT_EQ(field(R"({"thresholdTokens":-1})"), "thresholdTokens");
  EXPECT_EQ(field(R"({"repair":true})"), "repair");
  EXPECT_EQ(field(R"({"survival":{"errors":2}})"), "survival.errors");
  EXPECT_EQ(field(R"({"survival":{"weather":1}})"), "survival.weather");
  EXPECT_EQ(field(R"({"tenants":{"a":{"when":"never"}}})"), "tenants.a.when");
  EXPECT_EQ(field(R"([])"), "policy");
  EXPECT_EQ(field("squeeze"), "") << "no JSON, and no mode";
}

TEST(EditGoal, AtTheThresholdNothingHappensAndAboveItAnEdit) {
  const GatewayPolicy policy = read("compact").of({});
  EXPECT_FALSE(edit_goal(policy, {.tokens = 40'000, .window = 100'000}));
  const std::optional<EditGoal> goal = edit_goal(policy, {.tokens = 40'001, .window = 100'000});
  ASSERT_TRUE(goal);
  EXPECT_EQ(goal->tokens_max, 10'000u);
  EXPECT_FALSE(goal->is_over_limit);
}

TEST(EditGoal, FitLooksAtTheWindowWithTheAnswersShare) {
  const GatewayPolicy policy = read("fit").of({});
  EXPECT_FALSE(edit_goal(policy, {.tokens = 90'000, .window = 100'000, .reserve = 10'000}));
  const std::optional<EditGoal> goal =
      edit_goal(policy, {.tokens = 90'001, .window = 100'000, .reserve = 10'000});
  ASSERT_TRUE(goal);
  EXPECT_EQ(goal->tokens_limit, 90'000u);
  EXPECT_TRUE(is_worth(policy, *goal, 90'001, 90'000));
  EXPECT_FALSE(is_worth(policy, *goal, 120'000, 90'001)) << "it would be refused all the same";
}

TEST(EditGoal, ColdWaitsForTheCacheToExpireUnlessTheWindowIsFull) {
  const GatewayPolicy policy = read(R"({"mode":"compact","when":"cold"})").of({});
  const EditSituation warm{.tokens = 50'000, .window = 100'000, .idle_ms = 299'000};
  EXPECT_FALSE(edit_goal(policy, warm));
  EditSituation cold = warm;
  cold.idle_ms = 301'000;
  EXPECT_TRUE(edit_goal(policy, cold).value().is_cold);
  cold.cache_lifetime_ms = 3'600'000;
  EXPECT_FALSE(edit_goal(policy, cold)) << "this cache lives longer";
  EditSituation unknown = warm;
  unknown.idle_ms.reset();
  EXPECT_FALSE(edit_goal(policy, unknown));
  EditSituation full = warm;
  full.tokens = 100'001;
  EXPECT_TRUE(edit_goal(policy, full).value().is_over_limit);
}

TEST(EditGoal, WhileTheCacheLivesAnEditHasToPayForWhatIsWrittenAgain) {
  const GatewayPolicy policy = read("tidy").of({});
  EditSituation situation{
      .tokens = 50'000, .window = 100'000, .tokens_per_turn = 1'000, .idle_ms = 1'000};
  const EditGoal warm = edit_goal(policy, situation).value();
  EXPECT_DOUBLE_EQ(warm.rewrite_turns, 11.5);
  EXPECT_FALSE(is_worth(policy, warm, 50'000, 30'000))
      << "it would stay large, and soon be written again";
  EXPECT_TRUE(is_worth(policy, warm, 50'000, 20'000));
  situation.tokens_per_turn = 5'000;
  EXPECT_FALSE(is_worth(policy, edit_goal(policy, situation).value(), 50'000, 20'000))
      << "the next edit comes before it has paid";
  situation.idle_ms = 301'000;
  EXPECT_TRUE(is_worth(policy, edit_goal(policy, situation).value(), 50'000, 30'000))
      << "all is written again anyway";
  situation.cache_write = situation.cache_read = 1;
  situation.idle_ms = 1'000;
  EXPECT_TRUE(is_worth(policy, edit_goal(policy, situation).value(), 50'000, 20'000))
      << "there is no cache to lose";
}

TEST(EditGoal, AnEditIsNotWorthATurnThatCostsMoreThanTheClientsOwnCompactionsLeave) {
  const GatewayPolicy policy = read(R"({"mode":"compact","targetPercent":37})").of({});
  EditSituation situation{
      .tokens = 76'000, .window = 100'000, .tokens_per_turn = 500, .idle_ms = 1'000};
  const EditGoal warm = edit_goal(policy, situation).value();
  EXPECT_FALSE(is_worth(policy, warm, 76'000, 37'000))
      << "the client would soon compact, and come down further";
  EXPECT_TRUE(is_worth(policy, warm, 60'000, 10'000));
  situation.idle_ms = 301'000;
  const EditGoal cold = edit_goal(policy, situation).value();
  EXPECT_FALSE(is_worth(policy, cold, 76'000, 37'000)) << "nor where the edit itself is free";
  EXPECT_TRUE(is_worth(policy, cold, 42'000, 37'000));
  situation.tokens = 100'001;
  EXPECT_TRUE(is_worth(policy, edit_goal(policy, situation).value(), 100'001, 95'000))
      << "it would be refused";
  const GatewayPolicy unknown =
      read(R"({"mode":"compact","thresholdTokens":40000,"targetTokens":30000})").of({});
  situation = {.tokens = 76'000, .tokens_per_turn = 500, .idle_ms = 1'000};
  EXPECT_TRUE(is_worth(unknown, edit_goal(unknown, situation).value(), 76'000, 30'000))
      << "where the client would compact is not known";
}

TEST(EditWaits, ATryThatFailedIsRepeatedOnceTheCacheHasExpiredOrTheWindowIsFull) {
  const EditGoal warm{.tokens_gain = 1'000}, cold{.tokens_gain = 1'000, .is_cold = true},
      full{.tokens_gain = 1'000, .is_over_limit = true};
  EditWaits waits;
  EXPECT_FALSE(waits.waits(40'000, warm));
  waits.failed(40'000, warm);
  EXPECT_TRUE(waits.waits(41'000, warm));
  EXPECT_FALSE(waits.waits(41'000, cold));
  waits.failed(41'000, cold);
  EXPECT_TRUE(waits.waits(41'500, cold));
  EXPECT_TRUE(waits.waits(41'500, warm));
  EXPECT_FALSE(waits.waits(41'500, full));
  waits.failed(41'500, full);
  EXPECT_TRUE(waits.waits(42'000, full));
  EXPECT_FALSE(waits.waits(60'000, warm)) << "it has grown";
  waits.failed(60'000, warm);
  EXPECT_FALSE(waits.waits(59'000, warm)) << "it has shrunk";
}

TEST(EditGoal, HeadroomLowersTheTargetDownToAQuarterOfTheThreshold) {
  const GatewayPolicy policy =
      read(R"({"mode":"compact","thresholdTokens":1000,"targetTokens":900,"headroomTurns":10})")
          .of({});
  EXPECT_EQ(edit_goal(policy, {.tokens = 1001, .tokens_per_turn = 50}).value().tokens_max, 500u);
  EXPECT_EQ(edit_goal(policy, {.tokens = 1001, .tokens_per_turn = 500}).value().tokens_max, 250u);
}

TEST(EditGoal, HeadroomNeverRaisesATarget) {
  for (const std::uint64_t growth : {0u, 1u, 20u, 50u, 500u})
    for (const char* const mode : {"fit", "tidy", "compact"}) {
      const std::string begin =
          R"({"windowTokens":1000,"thresholdTokens":1000,"mode":")" + std::string(mode) + '"';
      const EditSituation situation{.tokens = 1001, .tokens_per_turn = growth};
      const std::uint64_t without =
          edit_goal(read(begin + "}").of({}), situation).value().tokens_max;
      std::uint64_t before = without;
      for (const int turns : {1, 10, 100}) {
        const GatewayPolicy policy =
            read(begin + R"(,"headroomTurns":)" + std::to_string(turns) + "}").of({});
        const std::uint64_t target = edit_goal(policy, situation).value().tokens_max;
        EXPECT_LE(target, before) << mode << " with " << turns << " turns of " << growth;
        before = target;
      }
    }
}

TEST(EditGoal, AnUnknownWindowIsEditedByTokensOnly) {
  EXPECT_FALSE(edit_goal(read("compact").of({}), {.tokens = 900'000'000}));
  EXPECT_TRUE(
      edit_goal(read(R"({"mode":"compact","thresholdTokens":1000})").of({}), {.tokens = 1001}));
  EXPECT_TRUE(edit_goal(read(R"({"mode":"fit","windowTokens":1000})").of({}), {.tokens = 1001}));
}

}  // namespace
}  // namespace undertext
