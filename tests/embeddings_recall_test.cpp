// A recall whose best messages a model ranks again (tests/endpoint/fault_server.py).
#include <gtest/gtest.h>

#include <undertext/conversation.hpp>
#include <undertext/embeddings.hpp>

#include "endpoint/fault_server.hpp"

namespace undertext {
namespace {

TEST(EmbeddingsOfARecall, ChangeItsOrderAndTheirFailureDoesNot) {
  const FaultServer server;
  const auto order = [&](const std::string& model) {
    Settings with;
    if (!model.empty())
      with.rerank = embeddings_rerank(
                        {.base_url = server.origin() + "/v1", .model = model, .timeout_ms = 30'000})
                        .value();
    Conversation conversation = Conversation::open(with).value();
    // All say "kettle"; the words alone prefer the first, which says it twice.
    const auto say = [&](const char* text) {
      conversation.apply({op::Append{{Message::make(Role::user, text).value()}}}).value();
    };
    say("kettle, the kettle that is blue");
    for (int i = 0; i < 12; ++i) say(("nothing of this kind " + std::to_string(i)).c_str());
    say("there was some other kettle that stood upon its shelf for quite a while");
    for (int i = 0; i < 12; ++i) say(("and nothing of that kind " + std::to_string(i)).c_str());
    say("a red kettle");
    std::vector<std::uint64_t> best;
    const RecallQuery query{
        .text = "kettle crimson", .budget_tokens = 100'000, .which = {.all = true}};
    for (const RecalledUnit& unit : conversation.recall(query).value().units)
      best.push_back(unit.matched.front().value);
    return best;
  };
  const std::vector<std::uint64_t> by_words = order("");
  EXPECT_EQ(by_words, (std::vector<std::uint64_t>{0, 26, 13}));
  EXPECT_EQ(order("synonyms").front(), 26u) << "crimson is red";
  EXPECT_EQ(order("synonyms").size(), 3u);
  EXPECT_EQ(order("status-500"), by_words);
}

}  // namespace
}  // namespace undertext
