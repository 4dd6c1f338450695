#include <filesystem>
#include <limits>
#include <map>

#include <gtest/gtest.h>
#include <unistd.h>

#include "json/request.hpp"
#include "server/app_fixture.hpp"
#include "server/inspector_files.hpp"

namespace undertext {
namespace {

// Every test on both kinds of store; tenants have a store each.
class AppTest : public testing::TestWithParam<const char*> {
 protected:
  ~AppTest() override {
    app.stop();
    stores.clear();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::shared_ptr<Store> store_of(const std::string& tenant) {
    const std::lock_guard locked(lock);
    std::shared_ptr<Store>& store = stores[tenant];
    if (!store) {
      std::filesystem::create_directories(folder);
      store = open_store(GetParam() == std::string("memory")
                             ? "memory:"
                             : "sqlite:" + folder + "/" + tenant + ".db",
                         {.durability = Durability::normal})
                  .value();
    }
    return store;
  }

  std::string get(const std::string& target) { return call(app, "GET", target)->reply.body; }
  std::shared_ptr<Answered> post(const std::string& target, std::string body,
                                 std::vector<http::Field> fields = {}) {
    return call(app, "POST", target, {.body = std::move(body), .fields = std::move(fields)});
  }
  void make(const std::string& id) {
    ASSERT_EQ(post("/v1/conversations", R"({"id":")" + id + "\"}")->reply.status, 201u);
  }
  std::shared_ptr<Answered> operate(const std::string& id, std::string body,
                                    std::vector<http::Field> fields = {}) {
    return post("/v1/conversations/" + id + "/operations", std::move(body), std::move(fields));
  }
  void append(const std::string& id, const std::string& text) {
    ASSERT_EQ(operate(id, R"({"operation":"APPEND","messages":[{"role":"user","content":")" + text +
                              "\"}]}")
                  ->reply.status,
              200u);
  }

  std::mutex lock;
  std::map<std::string, std::shared_ptr<Store>> stores;
  std::string folder = testing::TempDir() + "undertext_app_" + std::to_string(getpid());
  App app{{.store = [this](const std::string& tenant) { return store_of(tenant); }}};
};
INSTANTIATE_TEST_SUITE_P(Stores, AppTest, testing::Values("memory", "sqlite"));

TEST_P(AppTest, a_conversation_is_made_listed_shown_and_taken_out) {
  const auto made = post("/v1/conversations", R"({"id":"a","settings":{"tokenLimit":50}})");
  EXPECT_EQ(made->reply.status, 201u);
  EXPECT_EQ(made->reply.body, R"({"ok":true,"result":{"id":"a","version":0}})");
  EXPECT_EQ(made->field("Location"), "/v1/conversations/a");
  append("a", "hello");
  const std::string shown = get("/v1/conversations/a");
  EXPECT_NE(shown.find(R"("id":"a","version":1,"totalMessages":1)"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("settings":{"tokenLimit":50},"forks":[])"), std::string::npos) << shown;
  EXPECT_NE(get("/v1/conversations").find(R"("conversations":[{"id":"a","version":1)"),
            std::string::npos);
  EXPECT_EQ(call(app, "DELETE", "/v1/conversations/a?why=done")->reply.body,
            R"({"ok":true,"result":{"purged":"a"}})");
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a")->reply.status, 404u);
  EXPECT_EQ(operate("a", R"({"operation":"CLEAR"})")->reply.status, 404u);
  const std::vector<RemovalRecord> removals = store_of("")->removals("a").value();
  ASSERT_EQ(removals.size(), 1u);
  EXPECT_EQ(removals[0].removal.who, "tester");
  EXPECT_EQ(removals[0].removal.why, "done");
  EXPECT_EQ(post("/v1/conversations", R"({"id":"a"})")->reply.status, 409u) << "the id stays taken";
}

TEST_P(AppTest, every_read_ends_with_the_time_of_its_request) {
  make("a");
  append("a", "a walnut");
  for (const char* text : {"one", "two"}) {
    RequestRecord record;
    record.dialect = "anthropic";
    record.model = "claude-sonnet-4-5";
    record.status = 200;
    record.usage = {.request_id = text, .model = record.model, .prompt = 10'000};
    Conversation::open(store_of(""), "a").value().record_request(record, text, text).value();
  }
  App hurried{{.store = [this](const std::string& tenant) { return store_of(tenant); },
               .limits = {.request = {.time = std::chrono::milliseconds(0)}}}};
  const std::string many = "/v1/conversations/a/";
  const std::tuple<const char*, std::string, const char*> reads[] = {
      {"GET", "/v1/ledger", ""},
      {"GET", "/v1/recall?text=walnut", ""},
      {"GET", many + "messages?contains=walnut", ""},
      {"GET", many + "recall?text=walnut", ""},
      {"GET", many + "requests", ""},
      {"GET", many + "requests/1", ""},
      {"GET", many + "requests/2/cache-break", ""},
      {"GET", many + "ledger", ""},
      {"POST", many + "what-if", R"({"policy":"compact"})"},
      {"POST", many + "cost", R"({"dialect":"anthropic","operations":[{"operation":"CLEAR"}]})"},
  };
  for (const auto& [method, target, body] : reads) {
    const auto in_time = call(app, method, target, {.body = body});
    EXPECT_EQ(in_time->reply.status, 200u) << target << ": " << in_time->reply.body;
    const auto late = call(hurried, method, target, {.body = body});
    EXPECT_EQ(late->reply.status, 503u) << target << ": " << late->reply.body;
    EXPECT_NE(late->reply.body.find("it took longer than 0 s"), std::string::npos)
        << target << ": " << late->reply.body;
  }
  hurried.stop();
}

TEST_P(AppTest, a_conversation_without_an_id_gets_one_of_its_own) {
  EXPECT_EQ(post("/v1/conversations", "")->reply.status, 201u);
  EXPECT_EQ(post("/v1/conversations", "{}")->reply.status, 201u);
  EXPECT_NE(get("/v1/conversations?limit=1").find(R"("next":)"), std::string::npos);
  EXPECT_EQ(get("/v1/conversations?limit=3").find(R"("next":)"), std::string::npos);
}

TEST_P(AppTest, what_is_no_body_is_refused_by_the_name_of_what_is_wrong) {
  make("a");
  const std::pair<const char*, const char*> cases[] = {
      {R"({"id":".x"})", "id"},
      {R"({"id":7})", "id"},
      {R"({"name":"x"})", "name"},
      {R"({"settings":[]})", "settings"},
      {R"({"settings":{"tokenLimit":"x"}})", "tokenLimit"},
      {R"({"settings":{"tokenizer":"/etc/passwd"}})", "tokenizer"},
      {R"({"settings":{"summarisers":{"m":{"endpoint":"http://127.0.0.1:1/v1"}}}})",
       "summarisers"}};
  for (const auto& [body, field] : cases) {
    const auto answered = post("/v1/conversations", body);
    EXPECT_EQ(answered->reply.status, 400u) << body << answered->reply.body;
    EXPECT_NE(answered->reply.body.find("\"field\":\"" + std::string(field) + "\""),
              std::string::npos)
        << answered->reply.body;
  }
  for (const char* body : {"[]", "7", "{", "null"})
    EXPECT_EQ(post("/v1/conversations", body)->reply.status, 400u) << body;
}

TEST_P(AppTest, answers_are_those_of_the_line_protocol_to_the_byte) {
  make("a");
  Conversation same = Conversation::open(Settings{}).value();
  const char* lines[] = {
      R"({"operation":"APPEND","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"}]})",
      R"([{"operation":"DELETE","indices":[0]},{"operation":"UNDO"}])",
      R"({"operation":"DELETE","indices":[9]})",
      R"([{"operation":"CLEAR"},{"operation":"REDO"},{"operation":"REDO"}])",
      R"({"operation":"NOPE"})",
      R"({"operation":)",
      ""};
  for (const char* line : lines)
    EXPECT_EQ(operate("a", line)->reply.body, answer(same, line)) << line;
  EXPECT_EQ(get("/v1/conversations/a/messages?role=user&last=1"),
            answer(same, R"({"query":"messages","role":"user","last":1})"));
  EXPECT_EQ(get("/v1/conversations/a/blocks?role=user&last=1"),
            answer(same, R"({"query":"blocks","role":"user","last":1})"));
  EXPECT_EQ(get("/v1/conversations/a/count?all=true&contains=o"),
            answer(same, R"({"query":"count","all":true,"contains":"o"})"));
  EXPECT_EQ(get("/v1/conversations/a/messages?roles=user,tool&start=0&end=5"),
            answer(same, R"({"query":"messages","roles":["user","tool"],"start":0,"end":5})"));
  const std::pair<const char*, const char*> queries[] = {{"uncompressed", "uncompressed"},
                                                         {"mark-map", "markMap"},
                                                         {"stats", "stats"},
                                                         {"version", "version"},
                                                         {"receipts", "receipts"},
                                                         {"tokens", "tokens"},
                                                         {"blocks", "blocks"}};
  for (const auto& [path, query] : queries)
    EXPECT_EQ(get("/v1/conversations/a/" + std::string(path)),
              answer(same, R"({"query":")" + std::string(query) + "\"}"));
  EXPECT_EQ(get("/v1/conversations/a/diff?from=1&to=2"),
            answer(same, R"({"query":"diff","from":1,"to":2})"));
  EXPECT_EQ(get("/v1/conversations/a/diff?from=1&to=99"),
            answer(same, R"({"query":"diff","from":1,"to":99})"));
  EXPECT_EQ(get("/v1/conversations/a/batches/7"),
            answer(same, R"({"query":"batchSnapshot","batchIndex":7})"));
  EXPECT_EQ(get("/v1/conversations/a/render?dialect=anthropic"),
            answer(same, R"({"query":"render","dialect":"anthropic"})"));
  EXPECT_EQ(post("/v1/conversations/a/render", R"({"dialect":"anthropic"})")->reply.body,
            get("/v1/conversations/a/render?dialect=anthropic"));
  EXPECT_EQ(post("/v1/conversations/a/fit", R"({"budget":{"window":1000}})")->reply.body,
            answer(same, R"({"query":"fit","budget":{"window":1000}})"));
  EXPECT_EQ(post("/v1/conversations/a/query", R"({"query":"version"})")->reply.body,
            answer(same, R"({"query":"version"})"));
}

TEST_P(AppTest, a_query_changes_nothing_and_an_operation_is_no_query) {
  make("a");
  EXPECT_EQ(post("/v1/conversations/a/query", R"({"operation":"CLEAR"})")->reply.status, 400u);
  EXPECT_EQ(post("/v1/conversations/a/query", R"([{"operation":"CLEAR"}])")->reply.status, 400u);
  EXPECT_EQ(operate("a", R"({"query":"version"})")->reply.status, 400u);
  EXPECT_EQ(post("/v1/conversations/a/render", R"({"query":"version"})")->reply.status, 400u);
  EXPECT_EQ(get("/v1/conversations/a/version"), R"({"ok":true,"result":0})");
}

TEST_P(AppTest, if_match_lets_an_operation_through_only_at_that_version) {
  make("a");
  append("a", "one");
  const std::string clear = R"({"operation":"CLEAR"})";
  EXPECT_EQ(operate("a", clear, {{"If-Match", "\"0\""}})->reply.status, 412u);
  EXPECT_EQ(operate("a", R"({"operation":"CLEAR","expectedVersion":0})")->reply.status, 409u);
  EXPECT_EQ(operate("a", R"({"operation":"CLEAR","expectedVersion":0})", {{"If-Match", "\"1\""}})
                ->reply.status,
            400u);
  for (const char* bad : {"1", "\"x\"", "W/\"1\"", "\"1\", \"2\"", "\"\"", ""}) {
    EXPECT_EQ(operate("a", clear, {{"If-Match", bad}})->reply.status, 400u) << bad;
  }
  EXPECT_EQ(get("/v1/conversations/a/version"), R"({"ok":true,"result":1})");
  const auto done =
      operate("a", R"([{"operation":"CLEAR","expectedVersion":1},{"operation":"UNDO"}])",
              {{"If-Match", "\"1\""}});
  EXPECT_EQ(done->reply.status, 200u) << done->reply.body;
  EXPECT_EQ(done->field("ETag"), "\"3\"");
  EXPECT_EQ(operate("a", clear, {{"If-Match", "*"}})->field("ETag"), "\"4\"");
}

TEST_P(AppTest, what_is_repeated_with_its_key_answers_as_the_first_time) {
  make("a");
  const std::string one = R"({"operation":"APPEND","messages":[{"role":"user","content":"x"}]})";
  const std::string list = "[" + one + "," + one + "]";
  const std::string first = operate("a", one, {{"Idempotency-Key", "k"}})->reply.body;
  EXPECT_EQ(operate("a", one, {{"Idempotency-Key", "k"}})->reply.body, first);
  const std::string of_list = operate("a", list, {{"Idempotency-Key", "l"}})->reply.body;
  EXPECT_EQ(operate("a", list, {{"Idempotency-Key", "l"}})->reply.body, of_list);
  EXPECT_EQ(get("/v1/conversations/a/version"), R"({"ok":true,"result":3})");
  EXPECT_EQ(operate("a", R"({"operation":"CLEAR","operationId":"other"})",
                    {{"Idempotency-Key", "another"}})
                ->reply.status,
            400u);
}

TEST_P(AppTest, a_preview_tells_what_would_happen_and_stores_nothing) {
  make("a");
  append("a", "one");
  append("a", "two");
  const auto previewed = post(
      "/v1/conversations/a/preview",
      R"([{"operation":"DELETE","indices":[0]},{"operation":"APPEND","messages":[{"role":"user","content":"new"}]}])");
  const std::string& body = previewed->reply.body;
  EXPECT_EQ(previewed->reply.status, 200u) << body;
  EXPECT_NE(body.find(R"("before":{"version":2,"messages":2)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("after":{"version":4,"messages":2)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("diff":{"removed":[0],"added":[2],"moved":[]})"), std::string::npos)
      << body;
  EXPECT_NE(body.find(R"({"change":"removed","index":0,"ordinal":0)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"({"change":"added","index":1,"ordinal":2)"), std::string::npos) << body;
  EXPECT_NE(post("/v1/conversations/a/preview", R"({"operation":"CLEAR"})")
                ->reply.body.find(R"("results":[{"ok":true,"operation":"CLEAR")"),
            std::string::npos);
  EXPECT_EQ(
      post("/v1/conversations/a/preview", R"({"operation":"DELETE","indices":[7]})")->reply.status,
      400u);
  EXPECT_EQ(post("/v1/conversations/a/preview", R"({"query":"version"})")->reply.status, 400u);
  EXPECT_EQ(get("/v1/conversations/a/version"), R"({"ok":true,"result":2})");
}

TEST_P(AppTest, versions_come_in_pages_newest_first) {
  make("a");
  for (const char* text : {"1", "2", "3", "4"}) append("a", text);
  const std::string first = get("/v1/conversations/a/history?limit=3");
  EXPECT_NE(first.find(R"({"ok":true,"result":[{"version":4,)"), std::string::npos) << first;
  EXPECT_NE(first.find(R"(],"next":2})"), std::string::npos) << first;
  const std::string rest = get("/v1/conversations/a/history?limit=3&before=2");
  EXPECT_NE(rest.find(R"({"ok":true,"result":[{"version":1,)"), std::string::npos) << rest;
  EXPECT_EQ(rest.find("next"), std::string::npos) << rest;
  EXPECT_EQ(get("/v1/conversations/a/history?before=0"), R"({"ok":true,"result":[]})");
}

TEST_P(AppTest, a_body_that_would_take_more_to_be_read_than_there_is_is_too_large) {
  App small{{.store = [this](const std::string& tenant) { return store_of(tenant); },
             .limits = {.request_bytes = 4 << 20}}};
  make("a");
  std::string many = "[";
  for (int i = 0; i < 100'000; ++i) many += "1,";
  many += "1]";
  const std::string path = "/v1/conversations/a/operations";
  EXPECT_EQ(call(small, "POST", path, {.body = many})->reply.status, 413u);
  EXPECT_EQ(call(app, "POST", path, {.body = many})->reply.status, 400u)
      << "with more room it is read, and is no operation";
  std::string header = get("/v1/conversations/a/export");
  header.resize(header.find('\n') + 1);
  EXPECT_EQ(call(small, "POST", "/v1/imports?id=b", {.body = header + many})->reply.status, 413u);
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "1\n";
  EXPECT_EQ(call(small, "POST", "/v1/imports?id=b", {.body = header + lines})->reply.status, 400u)
      << "lines are read one by one";
}

TEST_P(AppTest, a_timeline_has_both_ends_and_no_version_twice) {
  make("a");
  for (int i = 0; i < 9; ++i) append("a", "x");
  const std::string three = get("/v1/conversations/a/timeline?points=3");
  for (const char* version : {R"({"version":0,)", R"({"version":4,)", R"({"version":9,)"})
    EXPECT_NE(three.find(version), std::string::npos) << three;
  EXPECT_NE(three.find(R"("messagesByRole":{"system":0,"user":9,)"), std::string::npos) << three;
  const std::string all = get("/v1/conversations/a/timeline?points=5000");
  std::size_t points = 0;
  for (std::size_t at = all.find(R"({"version":)"); at != std::string::npos;
       at = all.find(R"({"version":)", at + 1))
    ++points;
  EXPECT_EQ(points, 10u);
  EXPECT_NE(get("/v1/conversations/a/timeline?from=5&to=5").find(R"("result":[{"version":5,)"),
            std::string::npos);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/timeline?from=11")->reply.status, 400u);
}

TEST_P(AppTest, rows_tell_what_is_known_of_messages_at_any_version) {
  make("a");
  append("a", "one");
  append("a", "two");
  ASSERT_EQ(operate("a", R"({"operation":"MARK","indices":[1],"mark":"pinned"})")->reply.status,
            200u);
  ASSERT_EQ(
      operate(
          "a",
          R"({"operation":"COMPRESS","indices":[0],"summary":{"role":"user","content":"short"}})")
          ->reply.status,
      200u);
  const std::string now = get("/v1/conversations/a/rows");
  EXPECT_NE(now.find(R"("version":4,"count":2,"rows":[{"index":0,"ordinal":2,)"), std::string::npos)
      << now;
  const std::string summary =
      R"("marks":[],"standsFor":[0],"role":"user","blocks":[{"kind":"text","text":"short"}],"message":{"role":"user","content":"short"}})";
  EXPECT_NE(now.find(summary), std::string::npos) << now;
  EXPECT_NE(
      now.find(
          R"("marks":["pinned"],"standsFor":[],"role":"user","blocks":[{"kind":"text","text":"two"}],)"),
      std::string::npos)
      << now;
  EXPECT_NE(get("/v1/conversations/a/rows?atVersion=2&start=1&end=2")
                .find(R"("version":2,"count":2,"rows":[{"index":1,"ordinal":1,)"),
            std::string::npos);
  EXPECT_EQ(get("/v1/conversations/a/rows?atVersion=2").find("pinned"), std::string::npos)
      << "it was not marked then";
  EXPECT_NE(
      get("/v1/conversations/a/rows?ordinals=0,1").find(R"("rows":[{"index":null,"ordinal":0,)"),
      std::string::npos);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/rows?ordinals=9")->reply.status, 404u);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/rows?atVersion=9")->reply.status, 404u);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/rows?start=5&end=4")->reply.status, 400u);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/rows?start=0&end=1001")->reply.status, 400u);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/rows?start=0&ordinals=1")->reply.status, 400u);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/rows?start=18446744073709551615")->reply.status,
            200u);
}

TEST_P(AppTest, an_answer_is_one_line_whatever_stands_between_the_tokens_of_a_message) {
  make("a");
  ASSERT_EQ(
      operate(
          "a",
          "{\"operation\":\"APPEND\",\"messages\":[{\"role\":\n\"user\",\r\n\"content\":\"x\"}]}")
          ->reply.status,
      200u);
  for (const char* path : {"rows", "messages", "state"}) {
    EXPECT_EQ(get("/v1/conversations/a/" + std::string(path)).find_first_of("\r\n"),
              std::string::npos)
        << path;
  }
}

TEST_P(AppTest, a_fork_goes_its_own_way) {
  make("a");
  append("a", "one");
  append("a", "two");
  const auto forked = post("/v1/conversations/a/fork", R"({"id":"b","version":1})");
  EXPECT_EQ(forked->reply.status, 201u) << forked->reply.body;
  EXPECT_EQ(forked->field("Location"), "/v1/conversations/b");
  append("b", "else");
  EXPECT_NE(get("/v1/conversations/b").find(R"("origin":{"id":"a","version":1})"),
            std::string::npos);
  EXPECT_NE(get("/v1/conversations/a").find(R"("forks":[{"id":"b","version":1}])"),
            std::string::npos);
  EXPECT_NE(get("/v1/conversations/a/messages").find("two"), std::string::npos);
  EXPECT_EQ(call(app, "DELETE", "/v1/conversations/a")->reply.status, 409u) << "it has a fork";
  EXPECT_EQ(post("/v1/conversations/a/fork", R"({"id":"b"})")->reply.status, 409u);
  EXPECT_EQ(post("/v1/conversations/a/fork", R"({"version":77})")->reply.status, 404u);
}

TEST_P(AppTest, usage_is_added_up_until_a_report_is_final) {
  make("a");
  const auto report = [&](const char* body) {
    return post("/v1/conversations/a/usage", body)->reply;
  };
  EXPECT_EQ(report(R"({"requestId":"r","model":"m","prompt":100,"final":false})").status, 200u);
  EXPECT_EQ(
      report(R"({"requestId":"r","model":"m","prompt":100,"completion":7,"cost":0.5})").status,
      200u);
  EXPECT_EQ(report(R"({"requestId":"r","model":"m","prompt":100})").status, 409u);
  EXPECT_EQ(report(R"({"model":"m","prompt":100})").status, 400u);
  EXPECT_EQ(report(R"({"requestId":"s","prompt":1,"cost":"x"})").status, 400u);
  EXPECT_EQ(report(R"({"requestId":"s","prompt":1,"cached":2})").status, 400u);
  EXPECT_NE(
      get("/v1/conversations/a/usage")
          .find(
              R"({"totals":{"requests":1,"prompt":100,"completion":7,"cached":0,"total":107,"cost":0.5})"),
      std::string::npos)
      << get("/v1/conversations/a/usage");

  const std::string kept = get("/v1/conversations/a/usage");
  const auto put = [&](const std::string& body) {
    return call(app, "PUT", "/v1/conversations/a/usage", {.body = body})->reply;
  };
  EXPECT_EQ(put("{}").status, 200u);
  EXPECT_NE(get("/v1/conversations/a/usage").find(R"({"totals":{"requests":0,)"),
            std::string::npos);
  EXPECT_EQ(put(R"({"nonsense":1})").status, 400u);
  EXPECT_EQ(
      put(R"({"models":[{"model":"m","totals":{"requests":1,"prompt":1},"factor":-1}]})").status,
      400u);
  const std::string result = kept.substr(kept.find(R"("result":)") + 9);
  EXPECT_EQ(put(result.substr(0, result.size() - 1)).status, 200u) << result;
  EXPECT_EQ(get("/v1/conversations/a/usage"), kept);
}

TEST_P(AppTest, what_is_exported_comes_back_with_its_history) {
  make("a");
  append("a", "one");
  append("a", "two");
  const auto exported = call(app, "GET", "/v1/conversations/a/export");
  EXPECT_EQ(exported->reply.content_type, "application/x-ndjson");
  ASSERT_TRUE(exported->ended);
  const auto imported = post("/v1/imports?id=b", exported->text());
  EXPECT_EQ(imported->reply.body, R"({"ok":true,"result":{"id":"b","versions":2,"messages":2}})");
  EXPECT_EQ(get("/v1/conversations/b/messages?atVersion=1"),
            get("/v1/conversations/a/messages?atVersion=1"));
  EXPECT_EQ(post("/v1/imports?id=b", exported->text())->reply.status, 409u);
  EXPECT_EQ(post("/v1/imports", exported->text())->reply.status, 400u);
  EXPECT_EQ(post("/v1/imports?id=c", exported->text().substr(0, exported->text().size() / 2))
                ->reply.status,
            400u);
  EXPECT_EQ(post("/v1/imports?id=c", "")->reply.status, 400u);
  EXPECT_EQ(post("/v1/imports?id=c", exported->text())->reply.status, 201u)
      << "what was refused left the id free";
  EXPECT_EQ(call(app, "GET", "/v1/conversations/nope/export")->reply.status, 404u);
}

TEST_P(AppTest, an_export_cannot_name_files_or_places_of_the_one_who_runs_the_server) {
  make("a");
  std::string text = call(app, "GET", "/v1/conversations/a/export")->text();
  const std::size_t at = text.find(R"("tokenizer":"estimate")");
  ASSERT_NE(at, std::string::npos) << text;
  const auto refused =
      post("/v1/imports?id=b", text.replace(at, 22, R"("tokenizer":"/etc/passwd")"));
  EXPECT_EQ(refused->reply.status, 400u);
  EXPECT_NE(refused->reply.body.find(R"("field":"tokenizer")"), std::string::npos)
      << refused->reply.body;
}

TEST_P(AppTest, a_conversation_is_taken_out_only_at_the_version_that_was_asked_for) {
  make("a");
  append("a", "x");
  EXPECT_EQ(
      call(app, "DELETE", "/v1/conversations/a", {.fields = {{"If-Match", "\"0\""}}})->reply.status,
      412u);
  EXPECT_EQ(
      call(app, "DELETE", "/v1/conversations/a", {.fields = {{"If-Match", "\"1\""}}})->reply.status,
      200u);
}

TEST_P(AppTest, a_recorded_request_comes_back_byte_for_byte) {
  post("/v1/conversations", R"({"id":"a"})");
  const std::string request =
      R"({"client":"anthropic","status":200,"responseId":"msg_1","answerBase64":"/wA=",)"
      R"("request":"{\"model\":\"m\", \"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"})";
  EXPECT_EQ(post("/v1/conversations/a/requests", request)->reply.body, R"({"ok":true,"result":1})");
  const std::string listed = get("/v1/conversations/a/requests?last=1");
  EXPECT_NE(listed.find(R"("number":1,"version":0,)"), std::string::npos) << listed;
  EXPECT_NE(listed.find(R"("model":"m")"), std::string::npos) << listed;
  const std::string whole = get("/v1/conversations/a/requests/1");
  EXPECT_NE(
      whole.find(
          R"("request":"{\"model\":\"m\", \"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}","answerBase64":"/wA=")"),
      std::string::npos)
      << whole;
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/requests/2")->reply.status, 404u);
  EXPECT_EQ(post("/v1/conversations/a/requests", R"({"client":"nobody"})")->reply.status, 400u);
  EXPECT_EQ(post("/v1/conversations/a/requests", R"({"requestBase64":"*"})")->reply.status, 400u);
}

TEST_P(AppTest, what_another_process_took_out_has_no_usage) {
  make("a");
  get("/v1/conversations/a/usage");
  ASSERT_TRUE(store_of("")->purge("a", {"another process", 1, "asked to"}));
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/usage")->reply.status, 404u);
  EXPECT_EQ(post("/v1/conversations/a/usage", R"({"requestId":"r","prompt":1})")->reply.status,
            404u);
}

TEST_P(AppTest, what_is_handed_out_again_and_again_is_bounded) {
  make("a");
  const std::string long_name(300, 'x'), long_text(17 << 10, 'x');
  EXPECT_EQ(post("/v1/conversations/a/usage", R"({"requestId":")" + long_name + R"(","prompt":1})")
                ->reply.status,
            400u);
  EXPECT_EQ(post("/v1/conversations/a/usage",
                 R"({"requestId":"r","prompt":1,"model":")" + long_name + R"("})")
                ->reply.status,
            400u);
  EXPECT_EQ(
      operate("a", R"({"operation":"CLEAR","description":")" + long_text + R"("})")->reply.status,
      400u);
  const std::string blanks(17 << 10, ' ');
  EXPECT_EQ(
      post("/v1/conversations/a/compressions", R"({"strategy":{"name":)" + blanks + R"("none"}})")
          ->reply.status,
      413u);
  EXPECT_EQ(post("/v1/conversations", R"({"settings":{"limits":{"messageBytes":99999999999}}})")
                ->reply.status,
            400u);
}

TEST_P(AppTest, an_export_does_not_tell_where_the_server_sends_messages) {
  const std::string note =
      R"({"tokenLimit":7,"summarisers":{"m":{"kind":"openai","baseUrl":"http://127.0.0.1:1/v1","model":"x","keyFile":"/secret"}}})";
  Conversation::open(store_of(""), "a", {}, {.note = note}).value();
  const auto exported = call(app, "GET", "/v1/conversations/a/export");
  EXPECT_EQ(exported->text().find("secret"), std::string::npos);
  EXPECT_NE(exported->text().find("tokenLimit"), std::string::npos);
}

TEST_P(AppTest, a_search_finds_parts_of_ids_page_by_page) {
  for (const char* id : {"apple", "banana", "cherry", "pineapple"}) make(id);
  const std::string found = get("/v1/conversations?search=apple&limit=1");
  EXPECT_NE(found.find(R"("id":"apple")"), std::string::npos);
  EXPECT_NE(found.find(R"("next":"apple")"), std::string::npos) << found;
  const std::string rest = get("/v1/conversations?search=apple&limit=5&after=apple");
  EXPECT_NE(rest.find(R"("id":"pineapple")"), std::string::npos);
  EXPECT_EQ(rest.find("banana"), std::string::npos);
  EXPECT_EQ(rest.find("next"), std::string::npos) << rest;
}

TEST_P(AppTest, a_tenant_sees_nothing_of_another) {
  make("a");
  append("a", "secret");
  for (const Route& route : app.routes()) {
    if (route.path.find("{id}") == std::string::npos) continue;
    std::string target = route.path;
    for (const std::pair<std::string, std::string>& place :
         {std::pair<std::string, std::string>{"{id}", "a"},
          {"{index}", "0"},
          {"{ordinal}", "0"},
          {"{number}", "1"},
          {"{job}", "1"}}) {
      if (const std::size_t at = target.find(place.first); at != std::string::npos)
        target.replace(at, place.first.size(), place.second);
    }
    if (route.name == "getDiff") target += "?from=0&to=1";
    if (route.name == "recall") target += "?text=x";
    if (route.name == "getCost") target += "?from=0&dialect=anthropic";
    const std::string body = route.name == "reportUsage" ? R"({"requestId":"r","prompt":1})"
                             : route.name == "query"     ? R"({"query":"messages"})"
                             : route.name == "operate" || route.name == "preview"
                                 ? R"({"operation":"CLEAR"})"
                             : route.name == "callTool" ? R"({"name":"context_status"})"
                             : route.name == "compress" ? R"({"strategy":"keep_recent"})"
                                                        : "{}";
    const auto answered = call(app, route.method, target,
                               {.body = route.body == Body::none ? "" : body, .tenant = "other"});
    EXPECT_EQ(answered->reply.status, 404u) << route.method << target << answered->reply.body;
    EXPECT_EQ(answered->reply.body.find("secret"), std::string::npos) << target;
  }
  EXPECT_EQ(get("/v1/conversations/a/version"), R"({"ok":true,"result":1})");
}

TEST_P(AppTest, what_another_process_committed_is_seen_by_the_next_request) {
  make("a");
  EXPECT_EQ(get("/v1/conversations/a/version"), R"({"ok":true,"result":0})");
  Conversation other = Conversation::open(store_of(""), "a").value();
  other.apply({op::Append{{Message::parse(R"({"role":"user","content":"x"})").value()}}}).value();
  EXPECT_EQ(get("/v1/conversations/a/version"), R"({"ok":true,"result":1})");
  EXPECT_NE(get("/v1/conversations/a/rows").find(R"("count":1)"), std::string::npos);
  ASSERT_TRUE(store_of("")->purge("a", {"other", 1, ""}));
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/version")->reply.status, 404u);
  EXPECT_EQ(operate("a", R"({"operation":"CLEAR"})")->reply.status, 404u);
}

TEST_P(AppTest, pages_come_with_what_keeps_them_apart_from_others) {
  for (const char* target : {"/", "/docs", "/docs.css"}) {
    const auto page = call(app, "GET", target);
    EXPECT_EQ(page->reply.status, 200u) << target;
    EXPECT_NE(page->field("Content-Security-Policy").find("default-src 'none'"), std::string::npos)
        << target;
    EXPECT_EQ(page->field("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(page->field("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(page->reply.body.find("<script>"), std::string::npos);
  }
  EXPECT_EQ(call(app, "GET", "/assets/../index.html")->reply.status, 404u);
  EXPECT_EQ(call(app, "GET", "/healthz")->reply.status, 200u);
  EXPECT_EQ(call(app, "GET", "/readyz")->reply.status, 200u);
  EXPECT_NE(get("/v1/dialects").find(R"({"name":"anthropic","dialect":"anthropic"})"),
            std::string::npos);
}

TEST_P(AppTest, the_page_comes_compressed_to_who_takes_that) {
  const std::vector<InspectorFile> files = inspector_files();
  if (files.empty()) GTEST_SKIP() << "inspector: the page was not built";
  std::size_t page_bytes = 0;
  for (const InspectorFile& file : files) {
    const std::string target = file.path == "/index.html" ? "/" : std::string(file.path);
    const bool is_smaller = !file.gzip.empty();
    page_bytes += is_smaller ? file.gzip.size() : file.bytes.size();
    for (const char* taken : {"gzip", "gzip, deflate, br, zstd", "br, gzip;q=0.5"}) {
      const auto packed = call(app, "GET", target, {.fields = {{"Accept-Encoding", taken}}});
      EXPECT_EQ(packed->field("Content-Encoding"), is_smaller ? "gzip" : "") << taken;
      EXPECT_EQ(packed->field("Vary"), "Accept-Encoding");
      EXPECT_TRUE(packed->reply.body == (is_smaller ? file.gzip : file.bytes)) << target;
    }
    for (const char* refused : {"br", "gzip;q=0", "gzip; q=0.000, br", "x-notgzip"}) {
      const auto plain = call(app, "GET", target, {.fields = {{"Accept-Encoding", refused}}});
      EXPECT_EQ(plain->field("Content-Encoding"), "") << refused;
      EXPECT_TRUE(plain->reply.body == file.bytes) << target;
    }
    EXPECT_EQ(call(app, "GET", target)->field("Content-Encoding"), "");
  }
  EXPECT_LE(page_bytes, 200'000u);
}

TEST_P(AppTest, conversations_are_listed_the_newest_first_where_that_is_asked_for) {
  for (const char* id : {"a", "b", "c"}) make(id);
  Conversation changed = Conversation::open(store_of(""), "b").value();
  // Times are milliseconds: of the same one, the order is that of the ids.
  while (store_of("")->find("b").value().updated_at_ms <=
         store_of("")->find("c").value().updated_at_ms)
    changed.apply({op::Append{{Message::parse(R"({"role":"user","content":"x"})").value()}}})
        .value();
  const std::string newest = get("/v1/conversations?order=newest");
  EXPECT_LT(newest.find(R"("id":"b")"), newest.find(R"("id":"a")")) << newest;
  EXPECT_LT(newest.find(R"("id":"b")"), newest.find(R"("id":"c")")) << newest;
  const std::string first = get("/v1/conversations?order=newest&limit=1");
  EXPECT_NE(first.find(R"("next":"b")"), std::string::npos) << first;
  const std::string behind = get("/v1/conversations?order=newest&after=b");
  EXPECT_EQ(behind.find(R"("id":"b")"), std::string::npos) << behind;
  EXPECT_EQ(behind.find("next"), std::string::npos) << behind;
  EXPECT_EQ(call(app, "GET", "/v1/conversations?order=oldest")->reply.status, 400u);
}

// A catalog reads files that anybody wrote.
class AnyCost final : public Catalog {
 public:
  explicit AnyCost(double cost) : cost_(cost) {}
  std::optional<ConversationAbout> about(std::string_view) const override {
    ConversationAbout about;
    about.cost = cost_;
    return about;
  }
  std::vector<UnreadFound> search_unread(std::string_view, std::size_t) const override {
    return {};
  }

 private:
  const double cost_;
};

TEST_P(AppTest, a_cost_that_has_no_spelling_is_none) {
  make("a");
  for (const auto& [cost, spelled] :
       {std::pair(0.25, "0.25"), std::pair(1e9, "1000000000"), std::pair(1e300, "0"),
        std::pair(-1e300, "0"), std::pair(std::numeric_limits<double>::infinity(), "0"),
        std::pair(std::numeric_limits<double>::quiet_NaN(), "0")}) {
    App with{{.store = [this](const std::string& tenant) { return store_of(tenant); },
              .catalog = std::make_shared<AnyCost>(cost)}};
    const std::string listed = call(with, "GET", "/v1/conversations")->reply.body;
    EXPECT_NE(listed.find(std::string(R"("cost":)") + spelled + "}"), std::string::npos) << listed;
    with.stop();
  }
}

TEST_P(AppTest, the_documents_hold_every_route) {
  const std::string openapi = get("/openapi.json"), docs = get("/docs");
  for (const Route& route : app.routes()) {
    EXPECT_NE(openapi.find("\"operationId\":\"" + route.name + "\""), std::string::npos)
        << route.name;
    EXPECT_NE(docs.find("id=\"" + route.name + "\""), std::string::npos) << route.name;
  }
}

}  // namespace
}  // namespace undertext
