#include "gateway/turn_recorder.hpp"

#include <map>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>

namespace undertext {
namespace {

class TurnRecorderTest : public ::testing::Test {
 protected:
  TurnRecorderTest()
      : store_(memory_store()),
        recorder_({.store = [this](const std::string&) { return store_; },
                   .open = [this](const std::string&, const std::string& id) { return open(id); },
                   .secret = "secret"}) {}

  std::shared_ptr<Conversation> open(const std::string& id) {
    std::shared_ptr<Conversation>& conversation = open_[id];
    if (!conversation)
      conversation = std::make_shared<Conversation>(Conversation::open(store_, id, {}, {.make = OpenOptions::Make::never}).value());
    return conversation;
  }

  SentRequest sent(std::string body, std::vector<std::pair<std::string, std::string>> headers = {}, std::string user = "alice") {
    SentRequest request{.user = std::move(user), .dialect = Dialect::anthropic, .method = "POST"};
    request.head = {.path = "/v1/messages", .headers = std::move(headers)};
    request.body = std::move(body);
    request.at_ms = ++now_ms_;
    return request;
  }
  static GivenAnswer answer(const std::string& text) {
    return {.status = 200,
            .body = R"({"id":"msg_)" + text + R"(","role":"assistant","model":"m","content":[{"type":"text","text":")" + text +
                    R"("}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}})"};
  }
  static std::string body(std::initializer_list<std::string> texts) {
    std::string list;
    bool is_user = true;
    for (const std::string& text : texts) {
      if (!list.empty()) list += ',';
      list += R"({"role":")" + std::string(is_user ? "user" : "assistant") + R"(","content":")" + text + "\"}";
      is_user = !is_user;
    }
    return R"({"model":"m","max_tokens":9,"messages":[)" + list + "]}";
  }
  // One request and its answer; the conversation's id.
  std::string turn(const SentRequest& request, const GivenAnswer& given) {
    const std::shared_ptr<ObservedTurn> begun = recorder_.begin(request).value();
    if (!begun) return {};
    recorder_.finish(*begun, given).value();
    return begun->conversation->id();
  }
  std::string texts(const std::string& id) {
    std::string all;
    const std::shared_ptr<Conversation> conversation = open(id);
    for (const Message& message : conversation->view()) all += std::string(all.empty() ? "" : " ") + message.text();
    return all;
  }
  // The conversation that its requests name as their session's.
  std::string part_of(const std::string& id) {
    for (const RequestRecord& record : open(id)->requests({}).value())
      for (const std::string& key : record.keys)
        if (key.starts_with("part_of:")) return key.substr(8);
    return {};
  }
  std::size_t conversations() { return store_->list().value().size(); }

  std::int64_t now_ms_ = 1'780'000'000'000;
  std::shared_ptr<Store> store_;
  std::map<std::string, std::shared_ptr<Conversation>> open_;
  TurnRecorder recorder_;
};

TEST_F(TurnRecorderTest, AClientWithoutASessionIsFollowedByItsList) {
  const std::string first = turn(sent(body({"hi"})), answer("hello"));
  const std::string second = turn(sent(body({"hi", "hello", "more"})), answer("yes"));
  EXPECT_EQ(first, second);
  EXPECT_EQ(texts(first), "hi hello more yes");
  EXPECT_EQ(conversations(), 1u);
}

TEST_F(TurnRecorderTest, ARequestThatLeftTheListEarlierIsAFork) {
  const std::string first = turn(sent(body({"hi"})), answer("hello"));
  turn(sent(body({"hi", "hello", "more"})), answer("yes"));
  const std::string other = turn(sent(body({"hi", "hello", "less"})), answer("no"));
  EXPECT_NE(other, first);
  EXPECT_EQ(texts(first), "hi hello more yes");
  EXPECT_EQ(texts(other), "hi hello less no");
  EXPECT_EQ(store_->find(other).value().origin.value().conversation, first);
}

TEST_F(TurnRecorderTest, ARequestThatIsTriedAgainHasOneAnswer) {
  const std::string first = turn(sent(body({"hi"})), answer("hello"));
  const std::string again = turn(sent(body({"hi"})), answer("hey"));
  EXPECT_EQ(first, again);
  EXPECT_EQ(texts(first), "hi hey");
}

TEST_F(TurnRecorderTest, ARequestThatComesBeforeItsPredecessorsAnswerIsToldHasThatAnswerOnce) {
  for (const std::string second : {"hello", "another"}) {
    const std::vector<std::pair<std::string, std::string>> session = {{"x-session-id", second}};
    const std::shared_ptr<ObservedTurn> first = recorder_.begin(sent(body({"hi"}), session)).value();
    const std::shared_ptr<ObservedTurn> next = recorder_.begin(sent(body({"hi", second, "more"}), session)).value();
    recorder_.finish(*first, answer("hello")).value();
    recorder_.finish(*next, answer("yes")).value();
    EXPECT_EQ(texts(first->conversation->id()), "hi " + second + " more yes");
    EXPECT_EQ(open(first->conversation->id())->requests({}).value()[0].answer_version.value != 0, second == "hello");
  }
}

TEST_F(TurnRecorderTest, AnAnswerThatTheClientDoesNotKeepGoesAlsoAfterARestart) {
  const std::string id = turn(sent(body({"hi"})), answer("hello"));
  recorder_ = TurnRecorder({.store = [this](const std::string&) { return store_; },
                            .open = [this](const std::string&, const std::string& each) { return open(each); },
                            .secret = "secret"});
  EXPECT_EQ(turn(sent(body({"hi"})), answer("hey")), id);
  EXPECT_EQ(texts(id), "hi hey");
}

TEST_F(TurnRecorderTest, ATornAnswerIsMarkedAndGoesWhenTheClientDoesNotKeepIt) {
  GivenAnswer torn = answer("hel");
  torn.is_torn = true;
  const std::string first = turn(sent(body({"hi"})), torn);
  EXPECT_EQ(open(first)->history().marked("torn").size(), 1u);
  turn(sent(body({"hi"})), answer("hello"));
  EXPECT_EQ(texts(first), "hi hello");
}

TEST_F(TurnRecorderTest, CallsOfGeminiWithoutIdsKeepTheirResults) {
  const std::string ask = R"({"role":"user","parts":[{"text":"look"}]},)";
  const std::string call = R"({"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}}}]})";
  const std::string result = R"({"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"one"}}}]},)";
  const auto list = [](const std::string& contents) { return R"({"contents":[)" + contents.substr(0, contents.size() - 1) + "]}"; };
  const auto send = [&](const std::string& contents) {
    SentRequest request = sent(list(contents));
    request.dialect = Dialect::gemini;
    return request;
  };
  const GivenAnswer called{.status = 200, .body = R"({"candidates":[{"content":)" + call + "}]}"};
  std::string contents = ask, id;
  for (int i = 0; i < 3; ++i) {
    id = turn(send(contents), called);
    contents += call + "," + result;
  }
  EXPECT_EQ(turn(send(contents), called), id);
  const std::shared_ptr<Conversation> conversation = open(id);
  const Version seen = conversation->requests({.last = 1}).value()[0].version;
  const Profile profile = find_profile("gemini").value();
  EXPECT_EQ(render(conversation->history().view_at(seen).value(), profile).value().json, list(contents));
}

TEST_F(TurnRecorderTest, ASessionIsAConversationAndItsSubAgentsAndTitlesAreOthers) {
  const auto session = [&](std::string json, std::string agent = {}) {
    std::vector<std::pair<std::string, std::string>> headers = {{"X-Claude-Code-Session-Id", "s-1"}};
    if (!agent.empty()) headers.emplace_back("x-claude-code-agent-id", agent);
    return sent(std::move(json), std::move(headers));
  };
  std::string title = body({"Title?"});
  title.insert(title.size() - 1, R"(,"tools":[],"output_config":{"format":{"type":"json_schema"}})");
  const std::string side = turn(session(title), answer("T"));
  const std::string main = turn(session(body({"hi"})), answer("hello"));
  const std::string agent = turn(session(body({"look"}), "a-1"), answer("seen"));
  EXPECT_EQ(main, "claude_code-s-1");
  EXPECT_EQ(turn(session(body({"hi", "hello", "more"})), answer("yes")), main);
  EXPECT_EQ(turn(session(body({"look", "seen", "again"}), "a-1"), answer("so")), agent);
  EXPECT_EQ(texts(main), "hi hello more yes");
  EXPECT_EQ(conversations(), 3u);
  EXPECT_NE(side, main);
  EXPECT_TRUE(side.starts_with(main)) << side;
  EXPECT_TRUE(agent.starts_with(main)) << agent;
  EXPECT_EQ(part_of(side), main) << "though it came first";
  EXPECT_EQ(part_of(agent), main);
  EXPECT_EQ(part_of(main), "");
}

TEST_F(TurnRecorderTest, AConversationThatBeginsOtherwiseUnderOneSessionIsAnotherAndLinkedToIt) {
  const auto in = [&](std::initializer_list<std::string> texts_sent) { return sent(body(texts_sent), {{"x-session-id", "s"}}); };
  const std::string main = turn(in({"hi"}), answer("hello"));
  const std::string other = turn(in({"Title of: hi"}), answer("T"));
  EXPECT_EQ(turn(in({"hi", "hello", "more"}), answer("yes")), main);
  EXPECT_NE(other, main);
  EXPECT_EQ(part_of(other), main);
  EXPECT_EQ(part_of(main), "");
}

TEST_F(TurnRecorderTest, ARequestForATitleWithTheSameWordsIsAnotherConversationOfTheSession) {
  const auto in = [&](const std::string& system, const std::string& tools, std::initializer_list<std::string> texts_sent) {
    std::string json = body(texts_sent);
    json.insert(json.size() - 1, R"(,"system":")" + system + R"(","tools":)" + tools);
    return sent(std::move(json), {{"x-session-id", "s"}});
  };
  const std::string tool = R"([{"name":"read","input_schema":{"type":"object"}}])";
  const std::string title = turn(in("You make titles.", "[]", {"hi"}), answer("T"));
  const std::string main = turn(in("You are an agent.", tool, {"hi"}), answer("hello"));
  EXPECT_NE(title, main);
  EXPECT_EQ(turn(in("You are an agent of today.", tool, {"hi", "hello", "more"}), answer("yes")), main);
  EXPECT_EQ(turn(in("You are an agent of today.", tool, {"hi"}), answer("hello")), main) << "it is tried again";
  EXPECT_EQ(conversations(), 2u);
}

TEST_F(TurnRecorderTest, AFirstTurnThatFailedIsGoneOnWithThoughThePromptHasChangedWhereItMay) {
  const auto in = [&](const std::string& last, const std::string& description) {
    std::string json = body({"hi"});
    json.insert(json.size() - 1, R"(,"system":[{"type":"text","text":"billing"},{"type":"text","text":"You are an agent."},)"
                                 R"({"type":"text","text":")" +
                                     last + R"("}],"tools":[{"name":"read","description":")" + description + "\"}]");
    return sent(std::move(json), {{"X-Claude-Code-Session-Id", "s-1"}});
  };
  const std::string first = turn(in("Monday", "reads"), {.status = 529, .body = "{}"});
  EXPECT_EQ(turn(in("Tuesday", "reads a file"), answer("hello")), first);
  EXPECT_EQ(conversations(), 1u);
}

TEST_F(TurnRecorderTest, AListWithoutASessionIsFoundThoughItsSystemPromptHasChanged) {
  const auto with = [&](const std::string& system, std::initializer_list<std::string> texts_sent) {
    std::string json = body(texts_sent);
    json.insert(json.size() - 1, R"(,"system":")" + system + "\"");
    return sent(std::move(json));
  };
  const std::string first = turn(with("Today is Monday.", {"hi"}), answer("hello"));
  EXPECT_EQ(turn(with("Today is Tuesday.", {"hi", "hello", "more"}), answer("yes")), first);
  EXPECT_EQ(texts(first), "Today is Tuesday. hi hello more yes");
  EXPECT_NE(turn(with("You make titles.", {"hi"}), answer("T")), first) << "there is no answer that tells";
}

TEST_F(TurnRecorderTest, AListThatBeginsAnewAndHasAnAnswerOfAnotherIsAForkOfIt) {
  const std::string long_answer = "This is file number four of seven.";
  const std::string first = turn(sent(body({"Folder: a. hi"})), answer(long_answer));
  const std::string resumed = turn(sent(body({"Folder: a, b. hi", long_answer, "more"})), answer("yes"));
  EXPECT_EQ(store_->find(resumed).value().origin.value().conversation, first);
  EXPECT_EQ(texts(resumed), "Folder: a, b. hi " + long_answer + " more yes");
  EXPECT_EQ(texts(first), "Folder: a. hi " + long_answer);
  EXPECT_EQ(turn(sent(body({"Folder: a, b. hi", long_answer, "more", "yes", "last"})), answer("so")), resumed);
  EXPECT_FALSE(store_->find(turn(sent(body({"other", "yes", "more"})), answer("no"))).value().origin)
      << "short answers tell nothing";
  EXPECT_FALSE(store_->find(turn(sent(body({"other", long_answer, "more"}), {}, "bob"), answer("no"))).value().origin);
}

TEST_F(TurnRecorderTest, ASessionThatGoesOnWithAnothersAnswerIsAForkOfIt) {
  const auto in = [&](const std::string& session, std::initializer_list<std::string> texts_sent) {
    return sent(body(texts_sent), {{"X-Claude-Code-Session-Id", session}});
  };
  const std::string first = turn(in("a", {"hi"}), answer("hello"));
  const std::string fork = turn(in("b", {"hi", "hello", "less"}), answer("no"));
  const std::string other = turn(in("c", {"hi"}), answer("hey"));
  EXPECT_EQ(store_->find(fork).value().origin.value().conversation, first);
  EXPECT_FALSE(store_->find(other).value().origin);
  turn(in("a", {"hi", "hello", "more"}), answer("yes"));
  EXPECT_EQ(texts(first), "hi hello more yes");
  EXPECT_EQ(texts(fork), "hi hello less no");
  EXPECT_EQ(turn(in("b", {"hi", "hello", "less", "no", "last"}), answer("so")), fork);
}

TEST_F(TurnRecorderTest, AForkThatItsClientNamesGoesOnFromThereAndASubAgentIsLinked) {
  const auto codex = [&](const std::string& thread, const std::string& input, const std::string& metadata) {
    SentRequest request =
        sent(R"({"model":"m","input":)" + input + "}", {{"thread-id", thread}, {"x-codex-turn-metadata", metadata}});
    request.dialect = Dialect::openai_responses;
    return request;
  };
  const GivenAnswer given = {
      .status = 200,
      .body =
          R"({"id":"r","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]})"};
  const std::string first = turn(codex("a", R"([{"role":"user","content":"hi"}])", "{}"), given);
  const std::string fork = turn(codex("b", R"([{"role":"user","content":"other"}])", R"({"forked_from_thread_id":"a"})"), given);
  EXPECT_EQ(store_->find(fork).value().origin.value().conversation, first);
  EXPECT_EQ(texts(fork), "other hello");
  SentRequest asked = codex("c", R"([{"role":"user","content":"look"}])", "{}");
  asked.head.headers.emplace_back("x-codex-parent-thread-id", "a");
  const std::string agent = turn(asked, given);
  EXPECT_EQ(agent, "codex-c");
  EXPECT_EQ(part_of(agent), first);
}

TEST_F(TurnRecorderTest, ASessionIdOfAnotherUserLeadsNowhere) {
  const std::vector<std::pair<std::string, std::string>> session = {{"X-Claude-Code-Session-Id", "s-1"}};
  const std::string alices = turn(sent(body({"hi"}), session, "alice"), answer("hello"));
  const std::string bobs = turn(sent(body({"hi"}), session, "bob"), answer("hello"));
  EXPECT_NE(alices, bobs);
  SentRequest named = sent(body({"hi"}), {}, "bob");
  named.conversation = alices;
  EXPECT_NE(turn(named, answer("hello")), alices);
  EXPECT_NE(turn(sent(body({"hi", "hello", "more"}), {}, "bob"), answer("yes")), alices);
  EXPECT_EQ(texts(alices), "hi hello");
}

TEST_F(TurnRecorderTest, AResponseThatIsNamedIsGoneOnWith) {
  const auto responses = [&](const std::string& json) {
    SentRequest request = sent(json);
    request.dialect = Dialect::openai_responses;
    request.head.path = "/v1/responses";
    return request;
  };
  const auto given = [](const std::string& id, const std::string& text) {
    return GivenAnswer{
        .status = 200,
        .body =
            R"({"id":")" + id +
            R"(","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":")" +
            text + R"(","annotations":[]}]}]})"};
  };
  const std::string first = turn(responses(R"({"model":"m","input":"hi"})"), given("resp_1", "hello"));
  const std::string second =
      turn(responses(R"({"model":"m","input":"more","previous_response_id":"resp_1"})"), given("resp_2", "yes"));
  EXPECT_EQ(first, second);
  EXPECT_EQ(texts(first), "hi hello more yes");
  const std::string other =
      turn(responses(R"({"model":"m","input":"less","previous_response_id":"resp_1"})"), given("resp_3", "no"));
  EXPECT_NE(other, first);
  EXPECT_EQ(texts(other), "hi hello less no");
}

TEST_F(TurnRecorderTest, CountsOfTokensAreNoTurnsAndRefusalsHaveNoAnswer) {
  SentRequest count = sent(body({"hi"}));
  count.head.path = "/v1/messages/count_tokens";
  EXPECT_EQ(turn(count, {.status = 200, .body = R"({"input_tokens":3})"}), "");
  EXPECT_EQ(conversations(), 0u);
  const std::string refused =
      turn(sent(body({"hi"})), {.status = 529, .body = R"({"type":"error","error":{"type":"overloaded_error"}})"});
  EXPECT_EQ(texts(refused), "hi");
  EXPECT_EQ(turn(sent(body({"hi"})), answer("hello")), refused);
  EXPECT_EQ(texts(refused), "hi hello");
}

TEST_F(TurnRecorderTest, ARecordHasTheBytesTheStatusAndTheUsage) {
  const std::string json = body({"hi"});
  const std::string id = turn(sent(json), answer("hello"));
  const std::shared_ptr<Conversation> conversation = open(id);
  const std::vector<RequestRecord> records = conversation->requests({}).value();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].status, 200u);
  EXPECT_EQ(records[0].usage.prompt, 3u);
  EXPECT_EQ(records[0].model, "m");
  EXPECT_EQ(conversation->raw_request(1).value(), json);
  EXPECT_EQ(conversation->raw_answer(1).value(), answer("hello").body);
}

TEST_F(TurnRecorderTest, OfMetadataOnlyFactsAreKept) {
  SentRequest request = sent("", {{"x-session-id", "s"}});
  request.body.reset();
  const std::string id = turn(request, {.status = 200});
  EXPECT_EQ(texts(id), "");
  EXPECT_EQ(open(id)->requests({}).value().size(), 1u);
  EXPECT_FALSE(open(id)->raw_request(1));
}

TEST_F(TurnRecorderTest, WhatIsNoRequestIsRefusedAndChangesNothing) {
  for (const std::string_view bad : {"", "null", "{\"messages\":3}", "{"}) {
    const Result<std::shared_ptr<ObservedTurn>> begun = recorder_.begin(sent(std::string(bad)));
    EXPECT_FALSE(begun) << bad;
  }
  EXPECT_EQ(conversations(), 0u);
}

}  // namespace
}  // namespace undertext
