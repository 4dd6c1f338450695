// Events and compressions: what lasts longer than a call.
#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

#include "../../tests/store/failing_store.hpp"
#include "json/kept_settings.hpp"
#include "server/app_fixture.hpp"

namespace undertext {
namespace {

using std::chrono::milliseconds;

class LiveTest : public testing::Test {
 protected:
  LiveTest() { make("a"); }

  void make(const std::string& id) {
    ASSERT_EQ(
        call(app, "POST", "/v1/conversations", {.body = R"({"id":")" + id + "\"}"})->reply.status,
        201u);
  }
  std::shared_ptr<Answered> operate(const std::string& body) {
    return call(app, "POST", "/v1/conversations/a/operations", {.body = body});
  }
  void append(int count = 1) {
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(
          operate(R"({"operation":"APPEND","messages":[{"role":"user","content":"some words"}]})")
              ->reply.status,
          200u);
  }
  std::shared_ptr<Answered> watch(const std::string& query = "",
                                  std::vector<http::Field> fields = {}) {
    return call(app, "GET", "/v1/conversations/a/events" + query, {.fields = std::move(fields)});
  }

  std::shared_ptr<Store> store = memory_store();
  std::atomic<bool> allowed = true;
  App app{{.store = [this](const std::string&) { return store; },
           .still_allowed = [this](const Caller&) { return allowed.load(); },
           .limits = {.streams_per_tenant = 3,
                      .heartbeat = milliseconds(30),
                      .watch = milliseconds(10)}}};
};

bool has_ended(const Answered& a) { return a.ended; }

TEST_F(LiveTest, a_stream_begins_with_the_head_and_tells_every_version_once) {
  append(2);
  const auto stream = watch();
  EXPECT_EQ(stream->reply.content_type, "text/event-stream");
  ASSERT_TRUE(stream->wait_for_text(
      "id: 2\nevent: version\ndata: {\"version\":2,\"parent\":1,\"operation\":\"APPEND\""));
  append(1);
  operate(R"([{"operation":"CLEAR"},{"operation":"UNDO"}])");
  ASSERT_TRUE(stream->wait_for_text("id: 5\n"));
  const std::string text = stream->text();
  EXPECT_EQ(text.find("id: 1\n"), std::string::npos);
  for (const char* id : {"id: 2\n", "id: 3\n", "id: 4\n", "id: 5\n"}) {
    EXPECT_NE(text.find(id), std::string::npos) << id;
    EXPECT_EQ(text.find(id), text.rfind(id)) << id;
  }
}

TEST_F(LiveTest, who_comes_back_goes_on_where_it_was) {
  append(5);
  const auto stream = watch("?after=1", {{"Last-Event-ID", "3"}});
  ASSERT_TRUE(stream->wait_for_text("id: 5\n"));
  EXPECT_EQ(stream->text().find("id: 3\n"), std::string::npos)
      << "the field goes before the parameter";
  EXPECT_NE(stream->text().find("id: 4\n"), std::string::npos);
  const auto nothing_missed = watch("?after=5");
  append(1);
  ASSERT_TRUE(nothing_missed->wait_for_text("id: 6\n"));
  EXPECT_EQ(nothing_missed->text().find("id: 5\n"), std::string::npos);
  EXPECT_EQ(watch("?after=x")->reply.status, 400u);
  EXPECT_EQ(watch("", {{"Last-Event-ID", "x"}})->reply.status, 400u);
}

TEST_F(LiveTest, many_versions_come_in_pages_and_too_many_as_a_reset) {
  Conversation other = Conversation::open(store, "a").value();
  std::vector<Operation> many(
      2000, Operation{op::Append{{Message::parse(R"({"role":"user","content":"x"})").value()}}});
  other.apply(many).value();
  const auto behind = watch("?after=0");
  ASSERT_TRUE(behind->wait_for_text("id: 2000\n"));
  EXPECT_NE(behind->text().find("id: 1\n"), std::string::npos);
  for (int i = 0; i < 5; ++i) other.apply(many).value();
  const auto far_behind = watch("?after=0");
  ASSERT_TRUE(far_behind->wait_for_text("id: 12000\nevent: reset\ndata: {\"version\":12000}\n"));
  const auto beyond = watch("?after=99999");
  ASSERT_TRUE(beyond->wait_for_text("event: reset"));
}

TEST_F(LiveTest, what_another_process_committed_is_told_too) {
  const auto stream = watch();
  ASSERT_TRUE(stream->wait_for_text("id: 0\n"));
  Conversation other = Conversation::open(store, "a").value();
  other.apply({op::Append{{Message::parse(R"({"role":"user","content":"x"})").value()}}}).value();
  EXPECT_TRUE(stream->wait_for_text("id: 1\n"));
}

TEST_F(LiveTest, what_another_process_redacts_or_counts_anew_is_told_and_followed) {
  append(2);
  const auto stream = watch();
  ASSERT_TRUE(stream->wait_for_text("id: 2\n"));
  Conversation elsewhere =
      Conversation::open(store, "a", {}, {.make = OpenOptions::Make::never}).value();
  ASSERT_TRUE(elsewhere.redact({Ordinal(0)}, {"me", 1, "private"}));
  EXPECT_TRUE(stream->wait_for_text("event: event\ndata: {\"type\":\"REWRITTEN\",\"version\":2}"));
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/rows?end=1")->reply.body.find("some words"),
            std::string::npos);
  ASSERT_TRUE(elsewhere.set_tokenizer("claude-3-5-haiku"));
  append();
  EXPECT_NE(
      call(app, "GET", "/v1/conversations/a")->reply.body.find(R"("tokenizer":"estimate:claude")"),
      std::string::npos)
      << call(app, "GET", "/v1/conversations/a")->reply.body;
}

// Whoever asks the store waits for as long as it says.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(lock_);
    asked_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !closed_; });
  }
  void set_closed(bool closed) {
    const std::lock_guard lock(lock_);
    closed_ = closed;
    asked_ = false;
    changed_.notify_all();
  }
  void wait_until_asked() {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [&] { return asked_; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool closed_ = false, asked_ = false;
};

TEST(LiveLinesTest, neither_heartbeats_nor_revocation_wait_for_the_store) {
  Gate gate;
  const auto store = std::make_shared<test::FailingStore>(memory_store());
  store->before_each([&] { gate.pass(); });
  std::atomic<bool> allowed = true;
  App app{{.store = [&](const std::string&) { return store; },
           .still_allowed = [&](const Caller&) { return allowed.load(); },
           .limits = {.heartbeat = milliseconds(30), .watch = milliseconds(10)}}};
  ASSERT_EQ(call(app, "POST", "/v1/conversations", {.body = R"({"id":"a"})"})->reply.status, 201u);
  const auto stream = call(app, "GET", "/v1/conversations/a/events");
  ASSERT_TRUE(stream->wait_for_text("id: 0\n"));
  gate.set_closed(true);
  gate.wait_until_asked();
  const std::size_t told = stream->text().size();
  EXPECT_TRUE(stream->wait(
      [&](const Answered& a) { return a.streamed.find(":\n\n:\n\n", told) != std::string::npos; }));
  allowed = false;
  EXPECT_TRUE(stream->wait([](const Answered& a) { return a.ended; }));
  gate.set_closed(false);
}

TEST_F(LiveTest, limits_that_are_crossed_are_told_behind_their_version) {
  ASSERT_EQ(call(app, "POST", "/v1/conversations",
                 {.body = R"({"id":"small","settings":{"tokenLimit":3}})"})
                ->reply.status,
            201u);
  const auto stream = call(app, "GET", "/v1/conversations/small/events");
  ASSERT_TRUE(stream->wait_for_text("id: 0\n"));
  call(
      app, "POST", "/v1/conversations/small/operations",
      {.body =
           R"({"operation":"APPEND","messages":[{"role":"user","content":"rather more words than three tokens"}]})"});
  ASSERT_TRUE(stream->wait_for_text(
      "event: event\ndata: {\"type\":\"TOKEN_LIMIT_EXCEEDED\",\"tokensUsed\":"));
  EXPECT_LT(stream->text().find("id: 1\n"), stream->text().find("event: event\n"));
}

TEST_F(LiveTest, a_conversation_that_is_taken_out_ends_its_streams) {
  const auto here = watch();
  ASSERT_TRUE(here->wait_for_text("id: 0\n"));
  call(app, "DELETE", "/v1/conversations/a");
  ASSERT_TRUE(here->wait(has_ended));
  EXPECT_NE(here->text().find("event: deleted\n"), std::string::npos);
  make("b");
  const auto elsewhere = call(app, "GET", "/v1/conversations/b/events");
  ASSERT_TRUE(elsewhere->wait_for_text("id: 0\n"));
  ASSERT_TRUE(store->purge("b", {"another process", 1, ""}));
  ASSERT_TRUE(elsewhere->wait(has_ended));
  EXPECT_NE(elsewhere->text().find("event: deleted\n"), std::string::npos);
}

TEST_F(LiveTest, a_stream_ends_when_its_token_is_no_longer_good) {
  const auto stream = watch();
  ASSERT_TRUE(stream->wait_for_text("id: 0\n"));
  allowed = false;
  ASSERT_TRUE(stream->wait(has_ended));
  append();
  EXPECT_EQ(stream->text().find("id: 1\n"), std::string::npos);
}

TEST_F(LiveTest, a_quiet_stream_is_kept_alive_by_comments) {
  EXPECT_TRUE(watch()->wait_for_text("\n:\n\n:\n\n"));
}

TEST_F(LiveTest, a_client_that_cannot_follow_is_cut_off_and_its_place_is_free_again) {
  std::vector<std::shared_ptr<Answered>> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(watch());
  const auto one_too_many = watch();
  EXPECT_EQ(one_too_many->reply.status, 429u);
  EXPECT_FALSE(one_too_many->field("Retry-After").empty());
  streams[1]->set([](Answered& a) { a.full = true; });
  ASSERT_TRUE(streams[1]->wait(has_ended));
  ASSERT_TRUE(watch()->wait_for_text("id: 0\n"));
  app.stop();
  EXPECT_TRUE(streams[0]->ended);
  EXPECT_EQ(watch()->reply.status, 503u);
}

TEST_F(LiveTest, a_place_is_not_lost_where_there_is_no_memory_for_a_stream) {
  class Failing final : public CollectedExchange {
   public:
    using CollectedExchange::CollectedExchange;
    std::shared_ptr<http::Stream> stream(unsigned, std::string, std::vector<http::Field>) override {
      throw std::bad_alloc();
    }
  };
  for (int i = 0; i < 5; ++i) {
    RouteMatch match = find_route(app.routes(), "GET", "/v1/conversations/a/events");
    const Route& route = *match.route;
    app.handle(route, std::move(match), {}, {.tenant = "", .name = "tester"},
               std::make_unique<Failing>(std::make_shared<Answered>()));
  }
  EXPECT_TRUE(watch()->wait_for_text("id: 0\n"));
}

TEST_F(LiveTest, what_a_client_missed_comes_in_pieces_that_are_not_large) {
  for (int i = 0; i < 100; ++i)
    call(app, "POST", "/v1/conversations/a/operations",
         {R"({"operation":"CLEAR","description":")" + std::string(16'000, 'd') + "\"}"});
  const auto stream = watch("?after=0");
  ASSERT_TRUE(stream->wait_for_text("id: 100\n"));
  const std::lock_guard lock(stream->lock);
  EXPECT_LT(stream->largest_piece, 300'000u);
}

std::string result_of(const std::shared_ptr<Answered>& answered) { return answered->reply.body; }

// What is said of a compression once it has ended.
std::string ended(App& app, const std::string& where) {
  for (;;) {
    std::string said = result_of(call(app, "GET", where));
    if (said.find(R"("state":"running")") == std::string::npos) return said;
    std::this_thread::yield();
  }
}

TEST_F(LiveTest, a_compression_works_in_the_background_and_tells_how_it_went) {
  append(20);
  const auto stream = watch();
  ASSERT_TRUE(stream->wait_for_text("id: 20\n"));
  const auto begun =
      call(app, "POST", "/v1/conversations/a/compressions",
           {.body = R"({"strategy":{"name":"keep_recent","n":3},"description":"make room"})"});
  EXPECT_EQ(begun->reply.status, 202u) << begun->reply.body;
  EXPECT_NE(begun->reply.body.find(
                R"("state":"running","strategy":{"name":"keep_recent","n":3},"startedAt":)"),
            std::string::npos);
  const std::string where = begun->field("Location");
  ASSERT_TRUE(stream->wait_for_text("\"state\":\"done\""));
  const std::string done = result_of(call(app, "GET", where));
  EXPECT_NE(done.find(R"("version":20,"messages":20,)"), std::string::npos) << done;
  EXPECT_NE(done.find(R"("answer":{"ok":true,"operation":"COMPRESS","version":21,)"),
            std::string::npos)
      << done;
  ASSERT_TRUE(stream->wait_for_text("id: 21\n"));
  EXPECT_NE(stream->text().find("event: compression\ndata: {\"job\":"), std::string::npos);
  EXPECT_NE(result_of(call(app, "DELETE", where)).find(R"("state":"done")"), std::string::npos)
      << "it has ended, and stays as it is";
  EXPECT_EQ(call(app, "GET", where, {.tenant = "other"})->reply.status, 404u);
  EXPECT_EQ(call(app, "GET", "/v1/conversations/a/compressions/nope")->reply.status, 404u);
}

TEST_F(LiveTest, a_compression_tells_of_every_stage_it_comes_to) {
  append(20);
  const auto stream = watch();
  ASSERT_TRUE(stream->wait_for_text("id: 20\n"));
  const auto begun = call(app, "POST", "/v1/conversations/a/compressions",
                          {.body = R"({"strategy":{"name":"smart_summary","keep":2}})"});
  EXPECT_NE(begun->reply.body.find(R"("progress":{"stage":"planning"})"), std::string::npos)
      << begun->reply.body;
  ASSERT_TRUE(stream->wait_for_text("\"state\":\"done\""));
  const std::string told = stream->text();
  const std::size_t summarising =
      told.find(R"("progress":{"stage":"summarising","messages":18,"summaryBytes":0})");
  ASSERT_NE(summarising, std::string::npos) << told;
  EXPECT_NE(told.find(R"("progress":{"stage":"applying"})", summarising), std::string::npos)
      << told;
  EXPECT_EQ(result_of(call(app, "GET", begun->field("Location"))).find("progress"),
            std::string::npos);
}

TEST_F(LiveTest, a_compression_of_a_conversation_that_was_taken_out_is_not_there) {
  append(2);
  const std::string where =
      call(app, "POST", "/v1/conversations/a/compressions", {.body = R"({"strategy":"none"})"})
          ->field("Location");
  EXPECT_EQ(call(app, "GET", where)->reply.status, 200u);
  EXPECT_EQ(call(app, "DELETE", "/v1/conversations/a")->reply.status, 200u);
  EXPECT_EQ(call(app, "GET", where)->reply.status, 404u);
  EXPECT_EQ(call(app, "DELETE", where)->reply.status, 404u);
}

TEST_F(LiveTest, a_compression_that_fails_changes_nothing_and_says_why) {
  append(2);
  const auto begun = call(app, "POST", "/v1/conversations/a/compressions",
                          {.body = R"({"strategy":"sliding_window","targetTokens":1})"});
  ASSERT_EQ(begun->reply.status, 202u) << begun->reply.body;
  const std::string failed = ended(app, begun->field("Location"));
  app.stop();
  EXPECT_NE(failed.find(R"("error":{"code":"cannot_fit")"), std::string::npos) << failed;
  EXPECT_EQ(result_of(call(app, "GET", "/v1/conversations/a/version")),
            R"({"ok":true,"result":2})");
  EXPECT_EQ(
      call(app, "POST", "/v1/conversations/a/compressions", {.body = R"({"strategy":"none"})"})
          ->reply.status,
      503u);
}

TEST_F(LiveTest, a_compression_with_progress_frees_what_can_be_freed) {
  append(8);
  const auto stream = watch();
  const auto begun = call(
      app, "POST", "/v1/conversations/a/compressions",
      {.body = R"({"strategy":{"name":"keep_recent","n":2},"targetTokens":1,"progress":true})"});
  ASSERT_EQ(begun->reply.status, 202u) << begun->reply.body;
  ASSERT_TRUE(stream->wait_for_text("\"state\":\"done\"")) << stream->text();
  const std::string done = result_of(call(app, "GET", begun->field("Location")));
  EXPECT_NE(done.find(R"("outcome":"compressed","targetReached":false)"), std::string::npos)
      << done;
  EXPECT_EQ(result_of(call(app, "GET", "/v1/conversations/a/version")),
            R"({"ok":true,"result":9})");
}

TEST_F(LiveTest, a_conversation_whose_model_is_down_is_summarised_by_the_digest) {
  if (!endpoint_summariser({.base_url = "http://127.0.0.1:1/v1", .model = "m"}))
    GTEST_SKIP() << "endpoint: built without libcurl";
  // As its operator made it; nobody listens there.
  open_kept(
      store, "down",
      {.config =
           R"({"summarisers":{"down":{"kind":"openai","baseUrl":"http://127.0.0.1:1/v1","model":"m","attempts":1}},
      "compressionConfig":{"enabled":true,"threshold":1000,"strategy":{"name":"default","summariser":"down"}}})"})
      .value();
  const auto stream = call(app, "GET", "/v1/conversations/down/events");
  std::string words;
  for (int i = 0; i < 40; ++i) words += " word" + std::to_string(i);
  for (int i = 0; i < 20; ++i) {
    const std::string body = R"({"operation":"APPEND","messages":[{"role":"user","content":")" +
                             std::to_string(i) + words + "\"}]}";
    ASSERT_EQ(call(app, "POST", "/v1/conversations/down/operations", {.body = body})->reply.status,
              200u);
  }
  ASSERT_TRUE(stream->wait_for_text(R"("type":"COMPRESSED")")) << stream->text();
  const std::string receipts = result_of(call(app, "GET", "/v1/conversations/down/receipts"));
  EXPECT_NE(receipts.find(R"("summariser":"digest")"), std::string::npos) << receipts;
  EXPECT_NE(receipts.find("cannot be reached"), std::string::npos) << receipts;
}

TEST_F(LiveTest, what_happens_once_a_stream_is_open_is_told_though_the_sender_comes_to_it_later) {
  ASSERT_EQ(call(app, "POST", "/v1/conversations",
                 {.body = R"({"id":"small","settings":{"tokenLimit":3}})"})
                ->reply.status,
            201u);
  const auto busy = watch();
  ASSERT_TRUE(busy->wait_for_text("id: 0\n"));
  std::shared_ptr<Answered> stream;
  {
    const std::lock_guard held(busy->lock);  // the sender waits for this client from now on
    append(1);
    stream = call(app, "GET", "/v1/conversations/small/events");
    const std::string body =
        R"({"operation":"APPEND","messages":[{"role":"user","content":"more than three tokens"}]})";
    ASSERT_EQ(call(app, "POST", "/v1/conversations/small/operations", {.body = body})->reply.status,
              200u);
  }
  EXPECT_TRUE(stream->wait_for_text(R"("type":"TOKEN_LIMIT_EXCEEDED")")) << stream->text();
}

TEST_F(LiveTest, a_compression_without_a_strategy_is_one_by_that_of_the_conversation) {
  for (const char* body : {R"({"targetTokens":1})", "{}", " {\"progress\":true}"}) {
    const auto begun = call(app, "POST", "/v1/conversations/a/compressions", {.body = body});
    EXPECT_EQ(begun->reply.status, 202u) << body << begun->reply.body;
    EXPECT_NE(begun->reply.body.find(R"("strategy":"default")"), std::string::npos)
        << begun->reply.body;
  }
}

TEST_F(LiveTest, a_compression_in_the_background_makes_no_more_than_a_request_may) {
  append(20);
  const std::string body = R"({"strategy":{"name":"smart_summary","keep":2}})";
  {
    App small{{.store = [this](const std::string&) { return store; },
               .limits = {.request = {.bytes_made_max = 8}}}};
    const auto begun = call(small, "POST", "/v1/conversations/a/compressions", {.body = body});
    ASSERT_EQ(begun->reply.status, 202u) << begun->reply.body;
    const std::string failed = ended(small, begun->field("Location"));
    EXPECT_NE(failed.find(R"("state":"failed")"), std::string::npos) << failed;
    EXPECT_NE(failed.find(R"("code":"too_large")"), std::string::npos) << failed;
    EXPECT_EQ(store->find("a").value().version, 20u);
  }
  const auto begun = call(app, "POST", "/v1/conversations/a/compressions", {.body = body});
  EXPECT_NE(ended(app, begun->field("Location")).find(R"("state":"done")"), std::string::npos);
}

TEST_F(LiveTest, what_is_wrong_with_a_compression_is_told_at_once) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"strategy":"nope"})", "strategy"},
      {R"({"strategy":"none","nope":1})", "nope"},
      {R"({"strategy":"none","operation":"CLEAR"})", "operation"},
      {R"({"indices":[0]})", "indices"}};
  for (const auto& [body, field] : cases) {
    const auto refused = call(app, "POST", "/v1/conversations/a/compressions", {.body = body});
    EXPECT_EQ(refused->reply.status, 400u) << body;
    EXPECT_NE(refused->reply.body.find("\"field\":\"" + std::string(field) + "\""),
              std::string::npos)
        << refused->reply.body;
  }
  EXPECT_EQ(call(app, "POST", "/v1/conversations/a/compressions", {.body = ""})->reply.status,
            400u);
}

}  // namespace
}  // namespace undertext
