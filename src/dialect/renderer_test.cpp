#include <string>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "dialect/random_request.hpp"

namespace undertext {
namespace {

TEST(Renderer, GivesWhatRenderGivesHoweverAConversationGrows) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    RandomRequest random(seed);
    const Dialect dialect = static_cast<Dialect>(seed % dialect_count);
    for (const std::string_view name : profile_names()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::string(name));
      const Profile profile = find_profile(name).value();
      Renderer renderer(profile);
      History history;
      for (const Message& message :
           import_messages(dialect, random.body(dialect)).value().messages) {
        history = RandomConversation::applied(history, op::Append{{message}});
        const Rendering expected = render(history.view(), profile).value();
        const Rendering* const rendering = renderer.render(history.view()).value();
        ASSERT_EQ(rendering->json, expected.json);
        ASSERT_EQ(rendering->losses.size(), expected.losses.size());
        ASSERT_EQ(rendering->findings.size(), expected.findings.size());
      }
      const History shorter = RandomConversation::applied(history, op::Truncate{.remove_first = 1});
      ASSERT_EQ(renderer.render(shorter.view()).value()->json,
                render(shorter.view(), profile).value().json);
    }
  }
}

TEST(EditCost, OfAnEditInTheMiddleCountsWhatFollowsIt) {
  History history;
  for (int i = 0; i < 6; ++i)
    history = RandomConversation::applied(
        history,
        op::Append{
            {Message::make(Role::user, std::string(400, 'a' + static_cast<char>(i))).value()}});
  const History edited = RandomConversation::applied(history, op::Delete{Names::indices({2})});
  const CacheRules rules{CacheRules::Kind::prefix, 0, 1, 1.25, 0.1};
  const EditCost cost = edit_cost(edited, history.version(), edited.version(), rules).value();
  const std::uint64_t each = history.view().tokens(0);
  EXPECT_EQ(cost.stable, 2 * each);
  EXPECT_EQ(cost.rewritten, 3 * each);
  EXPECT_DOUBLE_EQ(cost.saved_per_turn, 0.1 * static_cast<double>(each));
  EXPECT_NEAR(cost.break_even_turns.value(), 3 * 1.15 / 0.1, 1e-6);
  const History longer =
      RandomConversation::applied(history, op::Append{{Message::make(Role::user, "x").value()}});
  EXPECT_EQ(edit_cost(longer, history.version(), longer.version(), rules).value().invalidated, 0u)
      << "an append leaves the cache as it is";
}

}  // namespace
}  // namespace undertext
