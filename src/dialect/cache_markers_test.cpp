#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "base/json_text.hpp"
#include "dialect/random_request.hpp"
#include "history/random_conversation.hpp"

namespace undertext {
namespace {

const std::string marker = R"("cache_control":{"type":"ephemeral"})";
const std::string system = R"({"role":"system","content":"S"})",
                  question = R"({"role":"user","content":"q"})",
                  answer = R"({"role":"assistant","content":"a"})";

Message message(const std::string& json) { return Message::parse(json).value(); }
History of(const std::vector<std::string>& list) {
  std::vector<Message> messages;
  for (const std::string& json : list) messages.push_back(message(json));
  return RandomConversation::applied(History(), op::Append{messages});
}

std::string many(int count) {  // blocks of one user message
  std::string blocks;
  for (int i = 0; i < count; ++i)
    blocks += (i > 0 ? "," : "") + (R"({"type":"text","text":"b)" + std::to_string(i)) + "\"}";
  return R"({"role":"user","content":[)" + blocks + "]}";
}

std::size_t count(const std::string& json, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = json.find(what); at != std::string::npos; at = json.find(what, at + 1))
    ++found;
  return found;
}

Rendering rendered(const View& view, std::string_view request = {},
                   const Profile& profile = default_profile(Dialect::anthropic)) {
  return render(view, profile, {.request = request, .cache_markers = CacheMarkers::automatic})
      .value();
}

TEST(CacheMarkers, StandBehindTheInstructionsBeforeTheLastAnswerAndAtTheEnd) {
  const Profile profile = find_profile("anthropic").value();
  EXPECT_EQ(rendered(of({system, question, answer, question}).view(), {}, profile).json,
            R"({"system":[{"type":"text","text":"S",)" + marker +
                R"(}],"messages":[{"role":"user","content":[{"type":"text","text":"q",)" + marker +
                "}]}," + answer + R"(,{"role":"user","content":[{"type":"text","text":"q",)" +
                marker + "}]}]}");
}

TEST(CacheMarkers, AreForProvidersThatTakeThem) {
  const View view = of({system, question, answer, question}).view();
  for (const std::string_view name : profile_names()) {
    const Profile profile = find_profile(name).value();
    if (profile.cache.kind == CacheRules::Kind::breakpoints) continue;
    EXPECT_EQ(rendered(view, {}, profile).json, render(view, profile).value().json) << name;
  }
  EXPECT_EQ(count(rendered(view, {}, find_profile("bedrock").value()).json, marker), 3u);
}

TEST(CacheMarkers, AreNoMoreThanFourWithThoseOfTheCaller) {
  const std::string marked =
      R"({"role":"user","content":[{"type":"text","text":"m",)" + marker + "}]}";
  const Profile profile = find_profile("anthropic").value();
  const std::string request = R"({"tools":[{"name":"f",)" + marker + R"(},{"name":"g"}]})";
  for (int given = 0; given <= 3; ++given) {
    std::vector<std::string> list{system};
    for (int i = 0; i < given; ++i) list.push_back(marked);
    list.push_back(many(30));
    const Rendering rendering = rendered(of(list).view(), request, profile);
    EXPECT_TRUE(rendering.findings.empty());
    const std::size_t beside =
        rendering.json.starts_with(R"({"tools")") ? 0 : 1;  // on a tool of the caller's
    EXPECT_LE(count(rendering.json, marker) + beside, 4u);
    EXPECT_EQ(count(rendering.json, R"("b29",)" + marker), given < 3 ? 1u : 0u)
        << "the end comes first";
  }
}

TEST(CacheMarkers, StandOnTheLastToolWhereThereAreNoInstructions) {
  const Profile profile = find_profile("anthropic").value();
  const std::string request =
      R"({"tools":[{"name":"f"},{"name":"g"},{"name":"h","defer_loading":true}]})";
  EXPECT_TRUE(rendered(of({question}).view(), request, profile)
                  .json.starts_with(R"({"tools":[{"name":"f"},{"name":"g",)" + marker +
                                    R"(},{"name":"h","defer_loading":true}],)"));
  EXPECT_EQ(
      rendered(of({question}).view(), R"({"cache_control":{"type":"ephemeral"}})", profile).json,
      R"({"messages":[)" + question + "]}")
      << "the provider marks the end itself";
}

TEST(CacheMarkers, StandOnNoThinkingAndOnNoBlankText) {
  const Profile profile = find_profile("anthropic").value();
  const History history = of(
      {R"({"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":" "}]})",
       R"({"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"}]})"});
  const std::string json =
      render(history.view(), profile, {.repair = false, .cache_markers = CacheMarkers::automatic})
          .value()
          .json;
  EXPECT_NE(json.find(R"("text":"q",)" + marker), std::string::npos);
  EXPECT_EQ(count(json, marker), 1u);
}

TEST(CacheMarkers, BeforeOneThatLivesLongerLiveAsLong) {
  const Profile profile = find_profile("anthropic").value();
  const std::string long_lived = R"("cache_control":{"type":"ephemeral","ttl":"1h"})";
  const std::string json =
      rendered(of({system,
                   R"({"role":"user","content":[{"type":"text","text":"m",)" + long_lived + "}]}",
                   answer, question})
                   .view(),
               {}, profile)
          .json;
  EXPECT_NE(json.find(R"("text":"S",)" + long_lived), std::string::npos);
  EXPECT_TRUE(validate_request(json, profile).value().empty());
}

TEST(CacheMarkers, AreAcceptedInEveryRequestAndChangeNothingElse) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const History history =
        seed % 3 == 0
            ? RandomConversation(seed, {.turns_max = 12, .wild = seed % 2 == 0, .edits_max = 8})
                  .make()
            : RandomRequest(seed).edited(static_cast<Dialect>(seed % 4));
    const View view = history.view();
    for (const std::string_view name : {"anthropic", "bedrock", "anthropic_thinking"}) {
      const Profile profile = find_profile(name).value();
      RenderOptions options{.cache_markers = CacheMarkers::automatic};
      options.cached = cached_prefixes(history, {history.version(), false}, view).value();
      const Rendering marked = render(view, profile, options).value(),
                      plain = render(view, profile).value();
      for (const Finding& finding : validate_request(marked.json, profile).value())
        ASSERT_FALSE(finding.code.starts_with("CACHE_"));
      // Without markers both say the same.
      const Imported a = import_messages(Dialect::anthropic, marked.json).value(),
                     b = import_messages(Dialect::anthropic, plain.json).value();
      ASSERT_EQ(a.messages.size(), b.messages.size());
      for (std::size_t i = 0; i < a.messages.size(); ++i)
        ASSERT_EQ(a.messages[i].text(), b.messages[i].text());
    }
  }
}

TEST(EditCost, AMarkerLooksBackTwentyBlocks) {
  const Profile profile =
      Profile::parse(
          R"({"dialect":"anthropic","cache":{"kind":"breakpoints","lookback":20,"write":1.25,"read":0.1}})")
          .value();
  const History sent = of({system, question});
  const auto reusable = [&](int blocks, CacheMarkers markers) {
    const History now =
        RandomConversation::applied(sent, op::Append{{message(answer), message(many(blocks))}});
    return edit_cost(now, sent.version(), now.version(), profile,
                     {.overhead = 100, .markers = markers})
        .value()
        .reusable;
  };
  const std::uint64_t all = 100 + sent.stats().tokens, instructions = 100 + sent.view().tokens(0);
  EXPECT_EQ(reusable(18, CacheMarkers::given), all) << "19 blocks behind it: it is the twentieth";
  EXPECT_EQ(reusable(19, CacheMarkers::given), instructions);
  EXPECT_EQ(reusable(19, CacheMarkers::automatic), all);
}

TEST(EditCost, CountsTheSignedThinkingThatAnEditBreaks) {
  const std::string thought =
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"text","text":"t"}]})";
  const std::string second =
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"i","signature":"u"},{"type":"text","text":"v"}]})";
  const History sent = of({question, thought, question, second, question});
  const auto broken = [&](std::uint64_t index, const char* profile) {
    const History edited = RandomConversation::applied(
        sent, op::Transform{Names::indices({index}), ReplaceText{"q", "other"}});
    return edit_cost(edited, sent.version(), edited.version(), find_profile(profile).value())
        .value()
        .broken_thinking;
  };
  EXPECT_EQ(broken(0, "anthropic_bound"), 2u);
  EXPECT_EQ(broken(2, "anthropic_bound"), 1u);
  EXPECT_EQ(broken(4, "anthropic_bound"), 0u);
  EXPECT_EQ(broken(0, "anthropic"), 0u) << "where nothing is bound";
  // What was broken before is no cost of the next edit.
  const History first = RandomConversation::applied(
      sent, op::Transform{Names::indices({0}), ReplaceText{"q", "other"}});
  const History next = RandomConversation::applied(
      first, op::Transform{Names::indices({2}), ReplaceText{"q", "other"}});
  EXPECT_EQ(
      edit_cost(next, first.version(), next.version(), find_profile("anthropic_bound").value())
          .value()
          .broken_thinking,
      0u);
}

}  // namespace
}  // namespace undertext
