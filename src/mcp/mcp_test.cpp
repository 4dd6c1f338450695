#include "mcp/mcp.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/json_text.hpp"
#include "json/kept_settings.hpp"
#include "json/request.hpp"

namespace undertext {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What a request of 2026-07-28 says about itself.
const std::string stateless_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string request(std::string_view method, std::string_view params = "",
                    std::string_view meta = stateless_meta) {
  std::string out =
      R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":{)";
  out += std::string(params) + (params.empty() || meta.empty() ? "" : ",") + std::string(meta);
  return out + "}}";
}

class McpTest : public ::testing::Test {
 protected:
  McpTest() : store_(memory_store()) {
    make("here", "/home/me/here", "The tokenizer crashed.");
    make("there", "/home/me/there", "A tokenizer elsewhere.");
    make("plain", "", "A tokenizer of nobody.");
    options_.scope.store = store_;
    options_.scope.open = [this](const std::string& id) {
      return std::make_shared<Conversation>(
          open_kept(store_, id, {.options = {.make = OpenOptions::Make::never}}).value());
    };
    options_.scope.project = "/home/me/here";
  }

  void make(const std::string& id, const std::string& project, const std::string& text) {
    const std::string config = project.empty() ? "{}" : R"({"project":")" + project + R"("})";
    Conversation made = open_kept(store_, id, {.config = config}).value();
    answer(made, R"({"operation":"APPEND","messages":[{"role":"user","content":")" + text +
                     R"("},{"role":"user","content":"and?"}]})");
    answer(made, R"({"operation":"DELETE","ordinals":[0]})");
  }

  std::string ask(std::string_view message, const McpFields* fields = nullptr) {
    answer_ = answer_mcp(message, options_, fields);
    return answer_.messages.empty() ? "" : answer_.messages.front();
  }
  void expect_error(std::string_view message, int code, unsigned status,
                    const McpFields* fields = nullptr) {
    const std::string told = ask(message, fields);
    EXPECT_TRUE(has(told, R"("error":{"code":)" + std::to_string(code) + ",")) << message << told;
    EXPECT_EQ(answer_.status, status) << message;
    EXPECT_TRUE(JsonText::parse(told, {})) << told;
  }

  std::shared_ptr<Store> store_;
  McpOptions options_;
  McpAnswer answer_;
};

TEST_F(McpTest, TheHandshakeGivesTheRevisionThatWasAskedFor) {
  for (const std::string_view revision : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    const std::string told = ask(
        request("initialize",
                R"("protocolVersion":")" + std::string(revision) + R"(","capabilities":{})", ""));
    EXPECT_TRUE(has(told, R"("protocolVersion":")" + std::string(revision))) << told;
    EXPECT_TRUE(has(told, R"("serverInfo":{"name":"undertext")"));
    EXPECT_FALSE(has(told, "resultType"));
  }
  EXPECT_TRUE(has(ask(request("initialize", R"("protocolVersion":"1999-01-01")", "")),
                  R"("protocolVersion":"2025-11-25")"));
  expect_error(request("initialize", "", ""), -32602, 200);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})"),
            R"({"jsonrpc":"2.0","id":2,"result":{}})");
}

TEST_F(McpTest, RequestsWithoutAHandshakeSayTheirRevision) {
  for (const std::string& asked :
       {request("server/discover"), request("server/discover", "", "")}) {
    const McpFields no_field;
    for (const McpFields* const fields : {static_cast<const McpFields*>(nullptr), &no_field}) {
      if (fields != nullptr && asked.find("_meta") != std::string::npos) continue;
      const std::string told = ask(asked, fields);
      EXPECT_TRUE(has(told, R"("supportedVersions":["2026-07-28","2025-11-25")")) << told;
      EXPECT_TRUE(has(told, R"("resultType":"complete")")) << told;
      EXPECT_TRUE(has(told, R"("ttlMs":300000,"cacheScope":"private")")) << told;
    }
  }
  const std::string told = ask(request("tools/list"));
  EXPECT_TRUE(has(told, R"("resultType":"complete")"));
  EXPECT_TRUE(has(told, R"("ttlMs":300000,"cacheScope":"private")"));
  EXPECT_TRUE(has(told, R"("io.modelcontextprotocol/serverInfo":{"name":"undertext")"));
  expect_error(request("tools/list", "",
                       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"})"),
               -32022, 400);
  EXPECT_TRUE(has(answer_.messages[0], R"("requested":"1900-01-01")"));
  expect_error(request("tools/list", "",
                       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})"),
               -32602, 400);
  expect_error(
      request("tools/list", "", R"("_meta":{"io.modelcontextprotocol/protocolVersion":7})"), -32602,
      400);
  expect_error(request("ping"), -32601, 404);
}

TEST_F(McpTest, FieldsOfHttpMustSayWhatTheMessageSays) {
  const McpFields good{"2026-07-28", "tools/call", "context_status"};
  const std::string call = request("tools/call", R"("name":"context_status")");
  EXPECT_TRUE(has(ask(call, &good), R"("isError":false)"));
  EXPECT_EQ(answer_.status, 200u);
  const McpFields encoded{"2026-07-28", "tools/call",
                          "=?base64?" + base64("context_status") + "?="};
  EXPECT_TRUE(has(ask(call, &encoded), R"("isError":false)"));
  const McpFields bad[] = {{{}, "tools/call", "context_status"},
                           {"2025-11-25", "tools/call", "context_status"},
                           {"2026-07-28", {}, "context_status"},
                           {"2026-07-28", "tools/list", "context_status"},
                           {"2026-07-28", "tools/call", {}},
                           {"2026-07-28", "tools/call", "context_search"},
                           {"2026-07-28", "tools/call", "=?base64?!!?="}};
  for (const McpFields& fields : bad) expect_error(call, -32020, 400, &fields);
  const McpFields unknown{"2031-01-01", {}, {}};
  expect_error(request("tools/list", "", ""), -32022, 400, &unknown);
  const McpFields only_field{"2026-07-28", "tools/list", {}};
  expect_error(request("tools/list", "", ""), -32602, 400, &only_field);
  const McpFields older{"2025-11-25", {}, {}}, none{};
  EXPECT_TRUE(has(ask(request("tools/list", "", ""), &older), "context_search"));
  EXPECT_TRUE(has(ask(request("tools/list", "", ""), &none), "context_search"));
}

TEST_F(McpTest, ToolsThatEditAreOfferedOnlyWhereTheyAreAllowed) {
  const auto count = [&] {
    const std::string told = ask(request("tools/list"));
    std::size_t tools = 0;
    for (std::size_t at = 0; (at = told.find("\"inputSchema\"", at)) != std::string::npos; ++at)
      ++tools;
    return tools;
  };
  EXPECT_EQ(count(), 3u);
  expect_error(request("tools/call", R"("name":"context_undo")"), -32602, 200);
  options_.tools = ContextTools::with_edits;
  EXPECT_EQ(count(), 7u);
  EXPECT_TRUE(
      has(ask(request("tools/call", R"("name":"context_show","arguments":{"ordinals":[0]})")),
          "Back in context"));
}

TEST_F(McpTest, ASearchLooksIntoTheProjectAndNowhereElse) {
  const std::string search =
      request("tools/call", R"("name":"context_search","arguments":{"text":"tokenizer"})");
  std::string told = ask(search);
  EXPECT_TRUE(has(told, "The tokenizer crashed.")) << told;
  EXPECT_TRUE(has(told, "[0] user of conversation here"));
  EXPECT_FALSE(has(told, "elsewhere"));
  EXPECT_FALSE(has(told, "nobody"));
  options_.scope.project.reset();
  told = ask(search);
  EXPECT_TRUE(has(told, "elsewhere") && has(told, "nobody") && has(told, "crashed")) << told;
  options_.scope.conversation = "there";
  told = ask(search);
  EXPECT_TRUE(has(told, "elsewhere") && !has(told, "nobody"));
  options_.scope.conversation = "none";
  EXPECT_TRUE(has(ask(search), "There is no conversation to search yet."));
}

TEST_F(McpTest, ASearchOfAConversationThatIsNamedFindsWhatItShows) {
  Conversation here = open_kept(store_, "here", {}).value();
  answer(here, R"({"operation":"APPEND","messages":[{"role":"user","content":"a lantern"}]})");
  const auto search = [&](const std::string& more) {
    return ask(request("tools/call",
                       R"("name":"context_search","arguments":{"text":"lantern")" + more + "}"));
  };
  EXPECT_FALSE(has(search(""), "[2] user"));
  EXPECT_TRUE(has(search(R"(,"conversation":"here")"), "[2] user of conversation here"));
}

TEST_F(McpTest, ASearchThatFindsNothingSaysWhatWasNotSearched) {
  const std::string search =
      request("tools/call", R"("name":"context_search","arguments":{"text":"zebra"})");
  EXPECT_TRUE(has(ask(search), "Of conversation here, which is taken for yours, only hidden"));
  Conversation shown = open_kept(store_, "a-shown", {.config = R"({"project":"/new"})"}).value();
  answer(shown, R"({"operation":"APPEND","messages":[{"role":"user","content":"a zebra"}]})");
  options_.scope.project = "/new";
  const std::string told = ask(search);
  EXPECT_TRUE(has(told, "it has none") && has(told, "all: true")) << told;
  EXPECT_FALSE(has(told, "in your context")) << told;
  EXPECT_TRUE(
      has(ask(request("tools/call",
                      R"("name":"context_search","arguments":{"text":"zebra","all":true})")),
          "a zebra"));
}

TEST_F(McpTest, ArgumentsMayBeNull) {
  EXPECT_TRUE(
      has(ask(request("tools/call", R"("name":"context_status","arguments":null)")), "In context"));
}

TEST_F(McpTest, ASearchOfTheWholeStoreReachesOldConversationsAndStaysInTheProject) {
  // Of those made in one millisecond the first by id counts as the newest.
  for (int i = 0; i < 40; ++i)
    make("a-later" + std::to_string(i), "/home/me/here", "Something else.");
  const std::string asked =
      request("tools/call", R"("name":"context_search","arguments":{"text":"tokenizers"})");
  EXPECT_FALSE(has(ask(asked), "The tokenizer crashed.")) << "it is not among the newest";
  options_.scope.recall = std::make_shared<StoreRecall>(store_);
  const std::string told = ask(asked);
  EXPECT_TRUE(has(told, "The tokenizer crashed.")) << told;
  EXPECT_FALSE(has(told, "elsewhere") || has(told, "nobody")) << told;
}

// What stands everywhere in the store may be rare within a long conversation, and what is rare
// everywhere in a short one.
TEST_F(McpTest, ASearchOfTheWholeStoreOrdersWhatItFindsAsTheStoreDoes) {
  options_.scope.project.reset();
  options_.scope.recall = std::make_shared<StoreRecall>(store_);
  for (int i = 0; i < 8; ++i) make("common" + std::to_string(i), "", "The deployment.");
  op::Append many;
  for (int i = 0; i < 300; ++i)
    many.messages.push_back(
        Message::make(Role::user, i == 150 ? "A deployment." : "Number " + std::to_string(i))
            .value());
  open_kept(store_, "long", {}).value().apply({many}).value();
  make("rare", "", "The quokka deployment is down.");
  make("newest", "", "Nothing.");
  const std::string asked = "quokka deployment";
  const std::string best =
      StoreRecall(store_).search({.text = asked}).value().found.front().conversation;
  EXPECT_EQ(best, "rare");
  const std::string told = ask(
      request("tools/call", R"("name":"context_search","arguments":{"text":")" + asked + "\"}"));
  const std::size_t first = told.find(" of conversation ");
  ASSERT_NE(first, std::string::npos) << told;
  EXPECT_TRUE(std::string_view(told).substr(first).starts_with(" of conversation " + best)) << told;
}

TEST_F(McpTest, AConversationOutsideOfTheScopeIsNone) {
  const std::string told = ask(
      request("tools/call",
              R"("name":"context_expand","arguments":{"ordinals":[0],"conversation":"there"})"));
  EXPECT_TRUE(has(told, R"("isError":true)") && has(told, "there is no such conversation here"))
      << told;
  expect_error(request("resources/read", R"("uri":"undertext://conversation/there")"), -32602, 200);
  expect_error(request("resources/read", R"("uri":"undertext://conversation/there")", ""), -32002,
               200);
  expect_error(request("resources/read", R"("uri":"undertext://conversation/../here")"), -32602,
               200);
  expect_error(request("resources/read", R"("uri":"file:///etc/passwd")"), -32602, 200);
  expect_error(request("resources/read", R"("uri":"undertext://conversation/.staged")"), -32602,
               200);
}

TEST_F(McpTest, ConversationsAreResources) {
  std::string told = ask(request("resources/list"));
  EXPECT_TRUE(has(told, R"({"uri":"undertext://conversation/here","name":"here")")) << told;
  EXPECT_FALSE(has(told, "conversation/there"));
  told = ask(request("resources/read", R"("uri":"undertext://conversation/here")"));
  EXPECT_TRUE(has(told, R"(\"content\":\"and?\")")) << told;
  EXPECT_TRUE(has(told, R"(\"ordinals\":[1])"));
  EXPECT_TRUE(has(ask(request("resources/templates/list")),
                  R"("uriTemplate":"undertext://conversation/{id}")"));
}

TEST_F(McpTest, LongListsOfResourcesComeInPages) {
  options_.scope.project.reset();
  for (int i = 0; i < 205; ++i) make("many-" + std::to_string(i), "", "x");
  std::size_t count = 0;
  std::string cursor;
  for (int pages = 0; pages < 5; ++pages) {
    const std::string told = ask(request("resources/list", cursor));
    for (std::size_t at = 0; (at = told.find("\"uri\"", at)) != std::string::npos; ++at) ++count;
    const std::size_t next = told.find("\"nextCursor\":");
    if (next == std::string::npos) break;
    const std::size_t begin = next + 14;
    cursor = R"("cursor":")" + told.substr(begin, told.find('"', begin) - begin) + "\"";
  }
  EXPECT_EQ(count, 208u);
  expect_error(request("resources/list", R"("cursor":"/../")"), -32602, 200);
}

TEST_F(McpTest, NotificationsAndResponsesAreTakenInSilence) {
  for (const std::string_view message :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})",
        R"({"jsonrpc":"2.0","method":"tools/call"})", R"({"jsonrpc":"2.0","id":3,"result":{}})",
        R"({"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}})"}) {
    EXPECT_EQ(ask(message), "") << message;
    EXPECT_EQ(answer_.status, 202u) << message;
  }
}

TEST_F(McpTest, ASubscriptionIsAcknowledgedAndEnds) {
  ask(request("subscriptions/listen", R"("notifications":{"toolsListChanged":true})"));
  ASSERT_EQ(answer_.messages.size(), 2u);
  EXPECT_TRUE(has(answer_.messages[0], "notifications/subscriptions/acknowledged") &&
              has(answer_.messages[0], R"("notifications":{})"));
  EXPECT_TRUE(has(answer_.messages[1], R"("id":1,"result":{"resultType":"complete")"));
}

TEST_F(McpTest, ListsOfMessagesAreTakenOfTheOneRevisionThatHasThem) {
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})",
                    note = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
  EXPECT_EQ(ask("[" + ping + "," + note + "]"), R"([{"jsonrpc":"2.0","id":1,"result":{}}])");
  EXPECT_EQ(ask("[" + note + "]"), "");
  expect_error("[]", -32600, 400);
  std::string many = ping;
  for (int i = 0; i < 40; ++i) many += "," + ping;
  expect_error("[" + many + "]", -32600, 400);
  const McpFields newer{"2025-06-18", {}, {}};
  expect_error("[" + ping + "]", -32600, 400, &newer);
}

TEST_F(McpTest, WhatIsNoRequestIsAnErrorAndNeverMore) {
  expect_error("", -32700, 400);
  expect_error("{", -32700, 400);
  expect_error("\xff", -32700, 400);
  expect_error(std::string(10'000, '['), -32700, 400);
  expect_error(R"({"a":1,"a":2})", -32700, 400);
  expect_error("7", -32600, 400);
  expect_error("{}", -32600, 400);
  expect_error(R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600, 400);
  expect_error(R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, 400);
  expect_error(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600, 400);
  expect_error(R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600, 400);
  expect_error(R"({"jsonrpc":"2.0","id":")" + std::string(5000, 'a') + R"(","method":"ping"})",
               -32600, 400);
  expect_error(R"({"jsonrpc":"2.0","id":)" + std::string(5000, '9') + R"(,"method":"ping"})",
               -32600, 400);
  expect_error(R"({"jsonrpc":"2.0","id":1,"method":7})", -32600, 400);
  expect_error(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(5000, 'm') + R"("})", -32600,
               400);
  expect_error(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32602, 400);
  expect_error(R"({"jsonrpc":"2.0","id":1,"method":"no/such"})", -32601, 200);
  expect_error(request("tools/call", ""), -32602, 200);
  expect_error(request("tools/call", R"("name":7)"), -32602, 200);
  expect_error(request("tools/call", R"("name":"rm")"), -32602, 200);
  expect_error(request("tools/list", R"("cursor":"x")"), -32602, 200);
  EXPECT_TRUE(has(ask(request("tools/call", R"("name":"context_expand","arguments":[])")),
                  R"("isError":true)"));
  // An id of any size that may be is repeated as it was spelled.
  EXPECT_TRUE(ask(R"({"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"})")
                  .find("123456789012345678901234567890") != std::string::npos);
  EXPECT_TRUE(
      has(ask(R"({"jsonrpc":"2.0","id":"\u0061\"","method":"ping"})"), R"("id":"\u0061\"")"));
}

TEST_F(McpTest, AnswersAreOneLine) {
  Conversation made =
      open_kept(store_, "lines", {.config = R"({"project":"/home/me/here"})"}).value();
  made.apply(
          {op::Append{{Message::parse("{\n\"role\":\"user\",\r\n\"content\":\"a\\nb\"}").value()}}})
      .value();
  for (const std::string_view asked : {R"("uri":"undertext://conversation/lines")"})
    EXPECT_EQ(ask(request("resources/read", asked)).find_first_of("\r\n"), std::string::npos);
}

}  // namespace
}  // namespace undertext
