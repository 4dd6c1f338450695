#include <undertext/cache_break.hpp>

#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/json_text.hpp"

namespace undertext {
namespace {

using Kind = CacheBreak::Kind;

constexpr std::string_view hi = R"({"role":"user","content":"Hi"})";
constexpr std::string_view hello =
    R"({"role":"assistant","content":[{"type":"text","text":"Hello."}]})";
constexpr std::string_view go_on = R"({"role":"user","content":"Go on"})";
constexpr std::string_view system_text =
    R"([{"type":"text","text":"Be brief."},{"type":"text","text":"The day is Monday."}])";
constexpr std::string_view one_tool =
    R"([{"name":"read","description":"Reads.","input_schema":{"type":"object"}}])";

struct Request {
  std::string model = "m";
  std::string messages = list({hi, hello, go_on});
  std::string system = std::string(system_text);
  std::string tools = std::string(one_tool);
  std::string more = {};

  static std::string list(std::initializer_list<std::string_view> messages) {
    std::string out = "[";
    for (const std::string_view message : messages)
      (out += out.size() > 1 ? "," : "").append(message);
    return out + "]";
  }
  std::string json() const {
    return R"({"model":")" + model + R"(","messages":)" + messages + R"(,"system":)" + system +
           R"(,"tools":)" + tools + R"(,"max_tokens":100)" + more + "}";
  }
};

CacheBreak compared(const Request& before, const Request& after) {
  return cache_break(Dialect::anthropic, before.json(), after.json());
}

TEST(CacheBreak, ARequestIsTheSameAsItselfWhateverOrderItsMembersHave) {
  const std::string before =
      R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"max_tokens":5})";
  const std::string after =
      R"({"max_tokens":7,"messages":[{"role":"user","content":"Hi"}],"model":"m"})";
  EXPECT_EQ(cache_break(Dialect::openai_chat, before, after).kind, Kind::same);
}

TEST(CacheBreak, MessagesThatAreAddedBreakNothing) {
  const CacheBreak found = compared(
      {},
      {.messages = Request::list({hi, hello, go_on, R"({"role":"assistant","content":"Yes."})"})});
  EXPECT_EQ(found.kind, Kind::extended);
  EXPECT_EQ(found.path, "messages[3]");
}

TEST(CacheBreak, ABlockThatIsAddedToTheLastMessageIsNamed) {
  const CacheBreak found = compared(
      {},
      {.messages = Request::list(
           {hi, hello,
            R"({"role":"user","content":[{"type":"text","text":"Go on"},{"type":"text","text":"please"}]})"})});
  EXPECT_EQ(found.kind, Kind::extended);
  EXPECT_EQ(found.path, "messages[2].content[1]");
}

TEST(CacheBreak, WhatEndsEarlierCanStillBeReadFromTheCache) {
  const CacheBreak found = compared({}, {.messages = Request::list({hi})});
  EXPECT_EQ(found.kind, Kind::shortened);
  EXPECT_EQ(found.path, "messages[1]");
}

TEST(CacheBreak, MarkersThatMoveAndTextsThatBecomeListsForThemBreakNothing) {
  const std::string_view marked =
      R"({"role":"user","content":[{"type":"text","text":"Go on","cache_control":{"type":"ephemeral"}}]})";
  const CacheBreak found = compared(
      {.messages = Request::list({hi, hello, marked})},
      {.messages = Request::list({hi, hello, go_on, R"({"role":"assistant","content":"Yes."})"})});
  EXPECT_EQ(found.kind, Kind::extended);
  EXPECT_EQ(found.path, "messages[3]");
}

TEST(CacheBreak, WhatBreaksTheCacheIsNamedInTheOrderOfTheProvider) {
  const auto path_of = [](const Request& after) {
    const CacheBreak found = compared({}, after);
    EXPECT_EQ(found.kind, Kind::broken) << name(found.kind);
    return found.path;
  };
  EXPECT_EQ(path_of({.tools = R"([{"name":"read","description":"Reads it."}])"}),
            "tools[0].description");
  EXPECT_EQ(
      path_of(
          {.system =
               R"([{"type":"text","text":"Be brief."},{"type":"text","text":"The day is Tuesday."}])"}),
      "system[1].text");
  EXPECT_EQ(path_of({.messages =
                         Request::list({hi, R"({"role":"assistant","content":"Hallo."})", go_on})}),
            "messages[1].content[0].text");
  EXPECT_EQ(path_of({.messages = Request::list({hi, go_on})}), "messages[1].role");
  EXPECT_EQ(path_of({.model = "another"}), "model");
  EXPECT_EQ(path_of({.more = R"(,"thinking":{"type":"enabled"})"}), "thinking.type");
  EXPECT_EQ(
      path_of({.messages = Request::list({go_on}), .system = R"("Otherwise")", .tools = "[]"}),
      "tools");
}

TEST(CacheBreak, TheByteIsCountedInUtf8AndNoCharacterIsTakenApart) {
  const auto of = [](std::string_view text) {
    return R"({"model":"m","messages":[{"role":"user","content":")" + std::string(text) + R"("}]})";
  };
  CacheBreak found = cache_break(Dialect::openai_chat, of("é😀 one"), of("é😀 two"));
  EXPECT_EQ(found.path, "messages[0].content");
  EXPECT_EQ(found.byte_in_value, 7u);
  EXPECT_EQ(found.same, "é😀 ");
  EXPECT_EQ(found.before, "one");
  EXPECT_EQ(found.after, "two");
  EXPECT_EQ(found.equal_bytes,
            std::string(R"({"messages":[{"role":"user","content":"é😀 )").size());
  found = cache_break(Dialect::openai_chat, of("a😀"), of("a😁"));
  EXPECT_EQ(found.byte_in_value, 1u);
  EXPECT_EQ(found.after, "😁");
  EXPECT_EQ(cache_break(Dialect::openai_chat, of("\\u00e9"), of("é")).kind, Kind::same)
      << "an escape is the character";
}

TEST(CacheBreak, AToolThatGoesBreaksWhatIsBehindIt) {
  const CacheBreak found =
      compared({.tools = R"([{"name":"a"},{"name":"b"}])"}, {.tools = R"([{"name":"a"}])"});
  EXPECT_EQ(found.kind, Kind::broken);
  EXPECT_EQ(found.path, "system[0].type");
  EXPECT_EQ(found.was, "tools[1].name");
}

TEST(CacheBreak, IdsOfItemsAreNotReadByTheModelButReferencesByIdAre) {
  const auto item = [](std::string_view id, std::string_view text) {
    return R"({"input":[{"type":"message","id":")" + std::string(id) + R"(","content":")" +
           std::string(text) + R"("}]})";
  };
  EXPECT_EQ(cache_break(Dialect::openai_responses, item("1", "a"), item("2", "a")).kind,
            Kind::same);
  EXPECT_EQ(cache_break(Dialect::openai_responses, item("1", "a"), item("2", "b")).path,
            "input[0].content");
  const std::string one = R"({"input":[{"type":"item_reference","id":"a"}]})",
                    two = R"({"input":[{"type":"item_reference","id":"b"}]})";
  EXPECT_EQ(cache_break(Dialect::openai_responses, one, two).path, "input[0].id");
}

TEST(CacheBreak, ARequestThatHoldsOnlyWhatIsNewIsNotCompared) {
  const CacheBreak found = cache_break(Dialect::openai_responses, R"({"input":"first"})",
                                       R"({"input":"more","previous_response_id":"resp_1"})");
  EXPECT_EQ(found.kind, Kind::reference);
  EXPECT_EQ(found.path, "previous_response_id");
}

TEST(CacheBreak, WhatIsNoRequestIsUnknown) {
  EXPECT_EQ(cache_break(Dialect::anthropic, "null", "{}").kind, Kind::unknown);
  EXPECT_EQ(cache_break(Dialect::anthropic, "{}", "no JSON").kind, Kind::unknown);
}

// Against a plain model: the texts of both, compared byte by byte.
TEST(CacheBreak, TheEqualBytesAreThoseOfTheTexts) {
  const char* given = std::getenv("SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937 chance(seed);
  const auto list = [&] {
    std::string out = "[";
    for (unsigned count = 1 + chance() % 4; count > 0; --count) {
      if (out.size() > 1) out += ',';
      out += R"({"role":"user","content":")" + std::string("abab").substr(0, chance() % 5) +
             std::to_string(chance() % 2) + R"("})";
    }
    return out;
  };
  for (int i = 0; i < 300; ++i) {
    const std::string a = R"({"messages":)" + list(), b = R"({"messages":)" + list();
    const CacheBreak found = cache_break(Dialect::openai_chat, a + "]}", b + "]}");
    // What closes the last message is read with what follows it.
    const std::string old = a.substr(0, a.size() - 1), now = b.substr(0, b.size() - 1);
    std::size_t common = 0;
    while (common < std::min(old.size(), now.size()) && old[common] == now[common]) ++common;
    const bool is_prefix = common == old.size() || common == now.size();
    EXPECT_EQ(found.kind == Kind::broken, !is_prefix) << a << '\n' << b;
    EXPECT_EQ(found.equal_bytes, common) << a << '\n' << b;
  }
}

}  // namespace
}  // namespace undertext
