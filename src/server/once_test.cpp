// Requests that are sent again with the same Idempotency-Key.
#include "server/once.hpp"

#include <thread>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

#include "server/app_fixture.hpp"

namespace undertext {
namespace {

class OnceTest : public testing::Test {
 protected:
  // As after a restart, or in another process: nothing is known but what is in the store.
  void start_again() {
    app = std::make_unique<App>(AppOptions{.store = [this](const std::string&) { return store; }});
  }
  OnceTest() { start_again(); }

  std::shared_ptr<Answered> post(const std::string& target, const std::string& body,
                                 const std::string& key) {
    return call(*app, "POST", target, {.body = body, .fields = {{"Idempotency-Key", key}}});
  }
  void expect_same(const std::shared_ptr<Answered>& first,
                   const std::shared_ptr<Answered>& second) {
    EXPECT_EQ(first->reply.status, second->reply.status);
    EXPECT_EQ(first->reply.body, second->reply.body);
    EXPECT_EQ(first->field("Location"), second->field("Location"));
  }
  void expect_refused(const std::shared_ptr<Answered>& answered) {
    EXPECT_EQ(answered->reply.status, 422u) << answered->reply.body;
    EXPECT_NE(answered->reply.body.find(R"("code":"invalid_argument","field":"Idempotency-Key")"),
              std::string::npos)
        << answered->reply.body;
  }
  std::size_t conversations() { return store->list().value().size(); }

  // As if the process had been killed between the key and the conversation: the record of the key
  // is what another store has of it.
  std::shared_ptr<Answered> leave_key(const std::string& target, const std::string& body,
                                      const std::string& key) {
    const std::shared_ptr<Store> killed = std::exchange(store, memory_store());
    app.reset();
    start_again();
    call(*app, "POST", "/v1/conversations", {.body = R"({"id":"origin"})"});
    const auto answered = post(target, body, key);
    const ConversationRecord left = store->list({.staged = true}).value().front();
    store = killed;
    start_again();
    EXPECT_TRUE(store->create(
        {.id = left.id, .settings = left.settings, .created_at_ms = left.created_at_ms}));
    return answered;
  }

  std::shared_ptr<Store> store = memory_store();
  std::unique_ptr<App> app;
};

TEST_F(OnceTest, a_conversation_is_made_once_for_a_key_also_after_a_restart) {
  const auto first = post("/v1/conversations", "", "k1");
  ASSERT_EQ(first->reply.status, 201u) << first->reply.body;
  expect_same(first, post("/v1/conversations", "", "k1"));
  start_again();
  expect_same(first, post("/v1/conversations", "", "k1"));
  EXPECT_EQ(conversations(), 1u);
  EXPECT_NE(post("/v1/conversations", "", "k2")->reply.body, first->reply.body);
  const auto named = post("/v1/conversations", R"({"id":"named"})", "k3");
  ASSERT_EQ(named->reply.status, 201u);
  expect_same(named, post("/v1/conversations", R"({"id":"named"})", "k3"));
  EXPECT_EQ(conversations(), 3u);
  EXPECT_EQ(post("/v1/conversations", R"({"id":"named"})", "k4")->reply.status, 409u);
  EXPECT_EQ(post("/v1/conversations", R"({"id":"named"})", "k4")->reply.status, 409u)
      << "errors are not remembered";
}

TEST_F(OnceTest, a_key_that_comes_with_another_request_is_refused) {
  ASSERT_EQ(post("/v1/conversations", R"({"id":"a"})", "k")->reply.status, 201u);
  expect_refused(post("/v1/conversations", R"({"id":"b"})", "k"));
  expect_refused(post("/v1/conversations/a/fork", R"({"id":"b"})", "k"));
  start_again();
  expect_refused(post("/v1/conversations", "", "k"));
  EXPECT_EQ(conversations(), 1u);
}

TEST_F(OnceTest, what_was_refused_leaves_its_key_free) {
  ASSERT_EQ(
      post("/v1/conversations", R"({"settings":{"tokenizer":"no such one"}})", "k")->reply.status,
      404u);
  EXPECT_EQ(post("/v1/conversations", "", "k")->reply.status, 201u);
}

TEST_F(OnceTest, where_the_first_try_did_not_come_to_it_the_next_one_does_it) {
  const auto first = leave_key("/v1/conversations", R"({"id":"a"})", "k");
  expect_same(first, post("/v1/conversations", R"({"id":"a"})", "k"));
  EXPECT_EQ(conversations(), 1u);
}

TEST_F(OnceTest, what_somebody_else_made_under_the_id_is_not_taken_for_what_the_key_asked_for) {
  call(*app, "POST", "/v1/conversations", {.body = R"({"id":"origin"})"});
  const std::string lines = call(*app, "GET", "/v1/conversations/origin/export")->text();
  struct Made {
    std::string target, body, id;
  };
  for (const Made& made : {Made{"/v1/conversations", R"({"id":"a"})", "a"},
                           Made{"/v1/conversations/origin/fork", R"({"id":"b"})", "b"},
                           Made{"/v1/imports?id=c", lines, "c"}}) {
    SCOPED_TRACE(made.target);
    ASSERT_EQ(leave_key(made.target, made.body, "key of " + made.id)->reply.status, 201u);
    ASSERT_EQ(
        post("/v1/conversations", R"({"id":")" + made.id + R"("})", "another key of " + made.id)
            ->reply.status,
        201u);
    EXPECT_EQ(post(made.target, made.body, "key of " + made.id)->reply.status, 409u);
    EXPECT_EQ(post(made.target, made.body, "key of " + made.id)->reply.status, 409u)
        << "and so it stays";
    EXPECT_EQ(
        post("/v1/conversations", R"({"id":")" + made.id + R"("})", "another key of " + made.id)
            ->reply.status,
        201u)
        << "its own key";
  }
}

TEST_F(OnceTest, of_different_imports_to_one_id_at_once_one_is_done_and_answered_so) {
  const std::string append =
      R"({"operation":"APPEND","messages":[{"role":"user","content":"hello"}]})";
  call(*app, "POST", "/v1/conversations", {.body = R"({"id":"a"})"});
  call(*app, "POST", "/v1/conversations", {.body = R"({"id":"b"})"});
  call(*app, "POST", "/v1/conversations/b/operations", {.body = append});
  const std::string lines[] = {call(*app, "GET", "/v1/conversations/a/export")->text(),
                               call(*app, "GET", "/v1/conversations/b/export")->text()};
  for (int round = 0; round < 50; ++round) {
    const std::string name = std::to_string(round);
    unsigned status[2] = {};
    std::thread other([&] {
      status[1] = post("/v1/imports?id=copy" + name, lines[1], "b" + name)->reply.status;
    });
    status[0] = post("/v1/imports?id=copy" + name, lines[0], "a" + name)->reply.status;
    other.join();
    const std::uint64_t version = store->find("copy" + name).value().version;
    EXPECT_EQ(status[version], 201u);
    EXPECT_EQ(status[1 - version], 409u);
  }
}

TEST_F(OnceTest, what_a_key_made_and_somebody_took_out_is_not_made_again) {
  const auto first = post("/v1/conversations", "", "k");
  ASSERT_EQ(call(*app, "DELETE", first->field("Location"))->reply.status, 200u);
  for (int again = 0; again < 3; ++again)
    EXPECT_EQ(post("/v1/conversations", "", "k")->reply.status, 409u);
  EXPECT_EQ(conversations(), 0u);
}

TEST_F(OnceTest, a_fork_is_made_once_for_a_key_whatever_the_head_is_by_then) {
  const std::string append =
      R"({"operation":"APPEND","messages":[{"role":"user","content":"hello"}]})";
  ASSERT_EQ(call(*app, "POST", "/v1/conversations", {.body = R"({"id":"a"})"})->reply.status, 201u);
  ASSERT_EQ(call(*app, "POST", "/v1/conversations/a/operations", {.body = append})->reply.status,
            200u);
  const auto first = post("/v1/conversations/a/fork", "", "k");
  ASSERT_EQ(first->reply.status, 201u) << first->reply.body;
  EXPECT_NE(first->reply.body.find(R"("version":1)"), std::string::npos);
  ASSERT_EQ(call(*app, "POST", "/v1/conversations/a/operations", {.body = append})->reply.status,
            200u);
  start_again();
  expect_same(first, post("/v1/conversations/a/fork", "", "k"));
  EXPECT_EQ(conversations(), 2u);
}

TEST_F(OnceTest, an_import_is_done_once_for_a_key) {
  ASSERT_EQ(call(*app, "POST", "/v1/conversations", {.body = R"({"id":"a"})"})->reply.status, 201u);
  const auto exported = call(*app, "GET", "/v1/conversations/a/export");
  const auto first = post("/v1/imports?id=copy", exported->text(), "k");
  ASSERT_EQ(first->reply.status, 201u) << first->reply.body;
  start_again();
  expect_same(first, post("/v1/imports?id=copy", exported->text(), "k"));
  expect_refused(post("/v1/imports?id=other", exported->text(), "k"));
  EXPECT_EQ(post("/v1/imports?id=copy", exported->text(), "k2")->reply.status, 409u);
}

TEST_F(OnceTest, an_operation_with_the_key_of_another_is_refused_and_changes_nothing) {
  const std::string one = R"({"operation":"APPEND","messages":[{"role":"user","content":"one"}]})";
  ASSERT_EQ(call(*app, "POST", "/v1/conversations", {.body = R"({"id":"a"})"})->reply.status, 201u);
  const auto first = post("/v1/conversations/a/operations", one, "k");
  ASSERT_EQ(first->reply.status, 200u);
  expect_same(first, post("/v1/conversations/a/operations", one, "k"));
  expect_refused(post("/v1/conversations/a/operations", R"({"operation":"CLEAR"})", "k"));
  EXPECT_EQ(call(*app, "GET", "/v1/conversations/a/version")->reply.body,
            R"({"ok":true,"result":1})");
}

TEST_F(OnceTest, a_compression_is_begun_once_for_a_key) {
  ASSERT_EQ(call(*app, "POST", "/v1/conversations", {.body = R"({"id":"a"})"})->reply.status, 201u);
  const std::string append =
      R"({"operation":"APPEND","messages":[{"role":"user","content":"hello"},{"role":"user","content":"you"}]})";
  ASSERT_EQ(call(*app, "POST", "/v1/conversations/a/operations", {.body = append})->reply.status,
            200u);
  const std::string order = R"({"strategy":{"name":"keep_recent","n":1}})";
  const auto events = call(*app, "GET", "/v1/conversations/a/events");
  ASSERT_TRUE(events->wait_for_text("id: 1\n"));
  const auto first = post("/v1/conversations/a/compressions", order, "k");
  ASSERT_EQ(first->reply.status, 202u) << first->reply.body;
  const auto second = post("/v1/conversations/a/compressions", order, "k");
  EXPECT_EQ(second->reply.status, 202u);
  EXPECT_EQ(first->field("Location"), second->field("Location"));
  expect_refused(post("/v1/conversations/a/compressions",
                      R"({"strategy":{"name":"keep_recent","n":0}})", "k"));
  ASSERT_TRUE(events->wait_for_text(R"("state":"done")"));
  start_again();
  const auto later = call(*app, "GET", "/v1/conversations/a/events");
  ASSERT_TRUE(later->wait_for_text("id: 2\n"));
  ASSERT_EQ(post("/v1/conversations/a/compressions", order, "k")->reply.status, 202u);
  ASSERT_TRUE(later->wait_for_text(R"("state":"done")"));
  EXPECT_EQ(call(*app, "GET", "/v1/conversations/a/version")->reply.body,
            R"({"ok":true,"result":2})")
      << "done once";
}

TEST_F(OnceTest, a_compression_that_failed_may_be_sent_again_with_its_key) {
  ASSERT_EQ(call(*app, "POST", "/v1/conversations", {.body = R"({"id":"a"})"})->reply.status, 201u);
  const std::string append =
      R"({"operation":"APPEND","messages":[{"role":"user","content":"hello you"}]})";
  ASSERT_EQ(call(*app, "POST", "/v1/conversations/a/operations", {.body = append})->reply.status,
            200u);
  const auto events = call(*app, "GET", "/v1/conversations/a/events");
  const auto failed = post("/v1/conversations/a/compressions",
                           R"({"strategy":"sliding_window","targetTokens":1})", "k");
  ASSERT_EQ(failed->reply.status, 202u) << failed->reply.body;
  ASSERT_TRUE(events->wait_for_text(R"("state":"failed")"));
  const auto mended = post("/v1/conversations/a/compressions",
                           R"({"strategy":"sliding_window","targetTokens":1000})", "k");
  ASSERT_EQ(mended->reply.status, 202u) << mended->reply.body;
  EXPECT_NE(mended->field("Location"), failed->field("Location"));
  EXPECT_TRUE(events->wait_for_text(R"("state":"done")"));
}

TEST(RequestsByKey, a_key_belongs_to_one_request_from_its_beginning_on) {
  RequestsByKey requests(2);
  EXPECT_TRUE(requests.begin("k", "one"));
  EXPECT_TRUE(requests.begin("k", "one")) << "sent again meanwhile";
  EXPECT_FALSE(requests.begin("k", "another"));
  requests.end("k", false);
  EXPECT_FALSE(requests.begin("k", "another")) << "the second one is not at its end";
  requests.end("k", false);
  EXPECT_TRUE(requests.begin("k", "another")) << "nothing came of either";
  requests.end("k", true);
  EXPECT_FALSE(requests.begin("k", "one"));
}

TEST(RequestsByKey, the_oldest_are_forgotten) {
  RequestsByKey requests(2);
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_TRUE(requests.begin(key, "request"));
    requests.end(key, true);
  }
  EXPECT_FALSE(requests.begin("b", "another"));
  EXPECT_TRUE(requests.begin("c", "request"));
  EXPECT_TRUE(requests.begin("a", "another"));
}

}  // namespace
}  // namespace undertext
