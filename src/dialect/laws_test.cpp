// What holds for every conversation, every edit and every profile. SEED=n plays one conversation
// again.
#include <cstdlib>
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

History with(const std::vector<Message>& messages) {
  return messages.empty() ? History()
                          : RandomConversation::applied(History(), op::Append{messages});
}

std::string told(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings)
    text += std::string(finding.code) + " at " + finding.place.path + " " + finding.about + "\n";
  return text;
}

// Conversations as the engine's own tests have them, and as clients of each dialect send them,
// edited.
History conversation_of(std::uint64_t seed) {
  if (seed % 3 == 0)
    return RandomConversation(seed, {.turns_max = 6, .wild = seed % 2 == 0, .edits_max = 8}).make();
  return RandomRequest(seed, 0, seed % 5 == 0).edited(static_cast<Dialect>(seed % 4));
}

template <class Check>
void for_all(Check check, std::uint64_t conversations = 600) {
  const char* const seed = std::getenv("SEED");
  const std::uint64_t first = seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1;
  const std::uint64_t last = seed != nullptr ? first : conversations;
  for (std::uint64_t s = first; s <= last; ++s) {
    const History history = conversation_of(s);
    for (const std::string_view name : profile_names()) {
      SCOPED_TRACE("SEED=" + std::to_string(s) + " " + std::string(name));
      check(history, find_profile(name).value());
      if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) return;
    }
  }
}

TEST(DialectLaws, WhatAClientSendsIsExportedByteForByte) {
  for (std::uint64_t s = 1; s <= 2000; ++s) {
    SCOPED_TRACE("seed " + std::to_string(s));
    RandomRequest random(s, 0, s % 5 == 0);
    const Dialect dialect = static_cast<Dialect>(s % dialect_count);
    const std::string body = random.body(dialect);
    const Result<Imported> imported = import_messages(dialect, body);
    ASSERT_TRUE(imported) << imported.error().message << "\n" << body;
    const std::string json =
        render(with(imported->messages).view(), default_profile(dialect), {.repair = false})
            .value()
            .json;
    // The list holds the very bytes of every message, one after another.
    const Result<JsonText> sent = JsonText::parse(body, {}), back = JsonText::parse(json, {});
    ASSERT_TRUE(back) << json;
    for (const JsonMember member : back->root().members()) {
      const std::optional<JsonValue> was = sent->root().find(member.key.string());
      ASSERT_TRUE(was) << json;
      if (!was->is(JsonType::array)) {
        ASSERT_EQ(member.value.raw(), was->raw());
        continue;
      }
      std::vector<std::string> expected, found;
      for (const JsonValue element : was->elements()) expected.emplace_back(element.raw());
      for (const JsonValue element : member.value.elements()) found.emplace_back(element.raw());
      ASSERT_EQ(found, expected);
    }
    ASSERT_EQ(back->root().count(), sent->root().count() - (sent->root().find("model") ? 1 : 0));
  }
}

TEST(DialectLaws, WhatIsRenderedIsAccepted) {
  for_all([](const History& history, const Profile& profile) {
    const Rendering rendering = render(history.view(), profile).value();
    const Result<std::vector<Finding>> findings = validate_request(rendering.json, profile);
    ASSERT_TRUE(findings) << findings.error().message << "\n" << rendering.json;
    ASSERT_TRUE(findings->empty())
        << told(*findings) << rendering.json << "\nfrom\n"
        << render(history.view(), profile, {.repair = false}).value().json;
  });
}

TEST(DialectLaws, AnAcceptableViewIsRenderedAsItStands) {
  std::size_t acceptable = 0;
  for_all([&](const History& history, const Profile& profile) {
    const Rendering as_it_stands = render(history.view(), profile, {.repair = false}).value();
    if (!as_it_stands.findings.empty()) return;
    ++acceptable;
    ASSERT_EQ(render(history.view(), profile).value().json, as_it_stands.json);
  });
  if (std::getenv("SEED") != nullptr) return;
  EXPECT_GT(acceptable, 300u);
}

TEST(DialectLaws, WhatIsImportedIsExportedByteForByte) {
  for_all([](const History& history, const Profile& profile) {
    for (const bool repair : {true, false}) {
      const std::string json = render(history.view(), profile, {.repair = repair}).value().json;
      const Result<Imported> imported = import_messages(profile.dialect, json);
      ASSERT_TRUE(imported) << imported.error().message << json;
      std::string again =
          render(with(imported->messages).view(), profile, {.repair = false}).value().json;
      if (imported->rest != "{}")
        again.insert(1, imported->rest.substr(1, imported->rest.size() - 2) + ",");
      ASSERT_EQ(again, json);
    }
  });
}

TEST(DialectLaws, RepairingTwiceIsRepairingOnce) {
  for_all([](const History& history, const Profile& profile) {
    const Rendering once = render(history.view(), profile).value();
    const Imported imported = import_messages(profile.dialect, once.json).value();
    const Rendering twice =
        render(with(imported.messages).view(), profile, {.request = imported.rest}).value();
    std::string again = twice.json;
    if (imported.rest != "{}")
      again.insert(1, imported.rest.substr(1, imported.rest.size() - 2) + ",");
    ASSERT_EQ(again, once.json);
    ASSERT_TRUE(twice.losses.empty());
  });
}

TEST(DialectLaws, WhatAClientSendsBackIsKnown) {
  for_all([](const History& history, const Profile& profile) {
    const std::string json = render(history.view(), profile).value().json;
    const Result<Imported> back = import_after(history.view(), profile, json);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->known, history.view().size());
    ASSERT_TRUE(back->messages.empty()) << back->messages.front().json();
  });
}

// A's messages, sent to B and back, are A's bytes.
TEST(DialectLaws, AConversationContinuedInAnotherDialectKeepsItsOwnBytes) {
  for_all(
      [](const History& history, const Profile& profile) {
        for (const Dialect home : {Dialect::openai_chat, Dialect::anthropic, Dialect::gemini,
                                   Dialect::openai_responses}) {
          const Profile at_home = default_profile(home);
          const std::string before = render(history.view(), at_home).value().json;
          const History kept = with(import_messages(home, before).value().messages);
          const Imported back =
              import_after(kept.view(), profile, render(kept.view(), profile).value().json).value();
          ASSERT_EQ(back.known, kept.view().size());
          ASSERT_TRUE(back.messages.empty());
          ASSERT_EQ(render(kept.view(), at_home).value().json, before);
        }
      },
      100);
}

TEST(DialectLaws, TheSameViewGivesTheSameBytes) {
  for_all([](const History& history, const Profile& profile) {
    ASSERT_EQ(render(history.view(), profile).value().json,
              render(history.view(), profile).value().json);
  });
}

}  // namespace
}  // namespace undertext
