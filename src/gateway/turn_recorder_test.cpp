#include "gateway/turn_recorder.hpp"

#include <map>
#include <set>

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
      conversation = std::make_shared<Conversation>(
          Conversation::open(store_, id, {}, {.make = OpenOptions::Make::never}).value());
    return conversation;
  }

  SentRequest sent(std::string body, std::vector<std::pair<std::string, std::string>> headers = {},
                   std::string user = "alice") {
    SentRequest request{.user = std::move(user), .dialect = Dialect::anthropic, .method = "POST"};
    request.head = {.path = "/v1/messages", .headers = std::move(headers)};
    request.body = std::make_shared<const std::string>(std::move(body));
    request.at_ms = ++now_ms_;
    return request;
  }
  static GivenAnswer answer(const std::string& text) {
    return {
        .status = 200,
        .body = R"({"id":"msg_)" + text +
                R"(","role":"assistant","model":"m","content":[{"type":"text","text":")" + text +
                R"("}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}})"};
  }
  static std::string body(const std::vector<std::string>& texts) {
    std::string list;
    bool is_user = true;
    for (const std::string& text : texts) {
      if (!list.empty()) list += ',';
      list += R"({"role":")" + std::string(is_user ? "user" : "assistant") + R"(","content":")" +
              text + "\"}";
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
    for (const Message& message : conversation->view())
      all += std::string(all.empty() ? "" : " ") + message.text();
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
  GivenAnswer torn = answer("hel");
  torn.is_torn = true;
  const std::string first = turn(sent(body({"hi"})), {.status = 529, .body = "{}"});
  EXPECT_EQ(turn(sent(body({"hi"})), torn), first);
  EXPECT_EQ(turn(sent(body({"hi"})), answer("hello")), first);
  // Clients that retry by themselves say so: this one has timed out.
  EXPECT_EQ(turn(sent(body({"hi"}), {{"x-stainless-retry-count", "1"}}), answer("hey")), first);
  EXPECT_EQ(texts(first), "hi hey");
  EXPECT_EQ(conversations(), 1u);
}

TEST_F(TurnRecorderTest, AClientThatJoinsAPrefillWithItsAnswerIsFollowed) {
  for (const std::vector<std::pair<std::string, std::string>>& headers :
       {std::vector<std::pair<std::string, std::string>>{},
        {{"user-agent", "claude-cli/2.1.3 (external, cli)"}, {"x-claude-code-session-id", "s1"}}}) {
    const std::string first =
        turn(sent(body({"Oslo?", "The answer"}), headers), answer(" is north"));
    EXPECT_EQ(texts(first), "Oslo? The answer  is north");
    const std::vector<std::string> second = {"Oslo?", "The answer is north", "Rome?", "It"};
    EXPECT_EQ(turn(sent(body(second), headers), answer(" is south")), first);
    EXPECT_EQ(texts(first), "Oslo? The answer is north Rome? It  is south");
    const std::vector<std::string> third = {"Oslo?", "The answer is north", "Rome?", "It is south",
                                            "Bern?"};
    EXPECT_EQ(turn(sent(body(third), headers), answer("between")), first);
    EXPECT_EQ(texts(first), "Oslo? The answer is north Rome? It is south Bern? between");
  }
  EXPECT_EQ(conversations(), 2u) << "one of each client";
}

TEST_F(TurnRecorderTest, AClientThatSendsAPrefillBesideItsAnswerIsFollowed) {
  const std::string first = turn(sent(body({"Oslo?", "The answer"})), answer(" is north"));
  const SentRequest apart = sent(
      R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Oslo?"},)"
      R"({"role":"assistant","content":"The answer"},{"role":"assistant","content":" is north"},)"
      R"({"role":"user","content":"Rome?"}]})");
  EXPECT_EQ(turn(apart, answer("South")), first);
  EXPECT_EQ(texts(first), "Oslo? The answer  is north Rome? South");
}

// What each chunk of a stream brought is a content of its own, in chats of the SDKs for Python and
// for JavaScript.
TEST_F(TurnRecorderTest, AChatThatSendsThePiecesOfStreamedAnswersHasEachAnswerOnce) {
  const auto user = [](const std::string& text) {
    return R"({"parts":[{"text":")" + text + R"("}],"role":"user"})";
  };
  const auto piece = [](const std::string& part) {
    return R"({"parts":[)" + part + R"(],"role":"model"})";
  };
  const auto ask = [&](const std::vector<std::string>& contents,
                       const std::vector<std::string>& pieces) {
    std::string list, events;
    for (const std::string& content : contents) list += (list.empty() ? "" : ", ") + content;
    for (const std::string& each : pieces)
      events += R"(data: {"candidates":[{"content":)" + each + "}]}\n\n";
    SentRequest request = sent(R"({"contents": [)" + list + R"(], "generationConfig": {}})");
    request.dialect = Dialect::gemini;
    request.head.path = "/v1beta/models/g:streamGenerateContent";
    return turn(request,
                {.status = 200, .form = ResponseForm::event_stream, .body = std::move(events)});
  };
  const std::vector<std::string> one = {piece(R"({"text":"a \u00e9 "})"), piece(R"({"text":"b"})")},
                                 two = {piece(R"({"thought":true,"text":"so"})"),
                                        piece(R"({"text":"c"})"),
                                        piece(R"({"text":"d","thoughtSignature":"c2ln"})"),
                                        piece(R"({"functionCall":{"name":"f","args":{}}})")};
  std::vector<std::string> contents = {user("first")};
  const std::string first = ask(contents, one);
  contents.insert(contents.end(), one.begin(), one.end());
  contents.push_back(user("second"));
  EXPECT_EQ(ask(contents, two), first);
  contents.insert(contents.end(), two.begin(), two.end());
  contents.push_back(
      R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]})");
  EXPECT_EQ(ask(contents, one), first);
  EXPECT_EQ(conversations(), 1u);
  EXPECT_EQ(open(first)->history().log().size(), 6u) << texts(first);
  EXPECT_EQ(open(first)->view().size(), 6u);
}

TEST_F(TurnRecorderTest, TheSameListThatWasAnsweredIsAnotherSessions) {
  const std::string first = turn(sent(body({"hi"})), answer("hello"));
  const std::string second =
      turn(sent(body({"hi"}), {{"x-stainless-retry-count", "0"}}), answer("hey"));
  EXPECT_NE(second, first);
  EXPECT_EQ(texts(first), "hi hello");
  EXPECT_EQ(texts(second), "hi hey");
  EXPECT_EQ(turn(sent(body({"hi", "hello", "more"})), answer("yes")), first);
  EXPECT_EQ(turn(sent(body({"hi", "hey", "more"})), answer("so")), second);
  EXPECT_EQ(texts(first), "hi hello more yes");
  EXPECT_EQ(texts(second), "hi hey more so");
  SentRequest count = sent(body({"hi"}));
  count.head.path = "/v1/messages/count_tokens";
  EXPECT_EQ(turn(count, {.status = 200, .body = R"({"input_tokens":3})"}), second)
      << "what is only counted is no session";
  // Where more was said than a first question, it is a fork, and a fork of the same origin.
  for (const std::string reply : {"no", "never", "nowhere"}) {
    const std::string fork = turn(sent(body({"hi", "hello", "more"})), answer(reply));
    EXPECT_EQ(store_->find(fork).value().origin.value().conversation, first);
    EXPECT_EQ(texts(fork), "hi hello more " + reply);
  }
  EXPECT_EQ(texts(first), "hi hello more yes");
}

TEST_F(TurnRecorderTest, TheSameListAtTheSameTimeIsOfSessionsOfTheirOwn) {
  const std::string one = turn(sent(body({"hi"})), answer("hello"));
  for (const std::vector<std::string>& list :
       {std::vector<std::string>{"look"}, std::vector<std::string>{"hi", "hello", "more"}}) {
    std::vector<std::shared_ptr<ObservedTurn>> turns;
    for (int i = 0; i < 3; ++i) turns.push_back(recorder_.begin(sent(body(list))).value());
    const std::shared_ptr<ObservedTurn> retry =
        recorder_.begin(sent(body(list), {{"x-stainless-retry-count", "1"}})).value();
    EXPECT_EQ(retry->conversation, turns.back()->conversation);
    const auto is_other = [&](std::size_t a, std::size_t b) {
      return turns[a]->conversation->id() != turns[b]->conversation->id();
    };
    EXPECT_TRUE(is_other(0, 1) && is_other(1, 2) && is_other(0, 2));
    std::string said;
    for (const std::string& text : list) said += text + ' ';
    recorder_.finish(*turns.back(), {.status = 0}).value();
    turns.back() = retry;
    for (std::size_t i = 0; i < turns.size(); ++i)
      recorder_.finish(*turns[i], answer("answer" + std::to_string(i))).value();
    for (std::size_t i = 0; i < turns.size(); ++i)
      EXPECT_EQ(texts(turns[i]->conversation->id()), said + "answer" + std::to_string(i));
  }
}

TEST_F(TurnRecorderTest, AListIsGoneOnWithWhereItIsKnownThoughItsBeginningIsUnderWay) {
  const std::string known = turn(sent(body({"hi"})), answer("hello"));
  const std::shared_ptr<ObservedTurn> other = recorder_.begin(sent(body({"hi"}))).value();
  EXPECT_EQ(turn(sent(body({"hi", "hello", "more"})), answer("yes")), known);
  recorder_.finish(*other, answer("hey")).value();
  EXPECT_EQ(texts(known), "hi hello more yes");
  EXPECT_EQ(texts(other->conversation->id()), "hi hey");
}

TEST_F(TurnRecorderTest, NamesThatAreSpeltAlikeAreConversationsOfTheirOwn) {
  const std::string alike(100, 'n');
  std::set<std::string> ids;
  for (const std::string& name :
       {std::string("a/b"), std::string("a-b"), std::string("a b"), std::string(".a"),
        std::string("c.a"), alike + "1", alike + "2", std::string("gr\xc3\xbc\xc3\x9f")}) {
    SentRequest named = sent(body({"hi"}));
    named.conversation = name;
    const std::string id = turn(named, answer("hello"));
    EXPECT_TRUE(ids.insert(id).second) << name << " is " << id;
    EXPECT_LE(id.size(), 100u);
    named.body = std::make_shared<const std::string>(body({"hi", "hello", "more"}));
    EXPECT_EQ(turn(named, answer("yes")), id);
    EXPECT_EQ(texts(id), "hi hello more yes");
  }
  EXPECT_TRUE(ids.contains("a-b")) << "what is an id already stays one";
}

TEST_F(TurnRecorderTest, WhatIsBesideAConversationThatIsNamedLeavesItAsItIs) {
  const auto named = [&](std::string json,
                         std::vector<std::pair<std::string, std::string>> headers = {}) {
    headers.emplace_back("X-Claude-Code-Session-Id", "s-1");
    headers.emplace_back("X-Undertext-Conversation", "mine");
    SentRequest request = sent(std::move(json), std::move(headers));
    request.conversation = "mine";
    return request;
  };
  const auto with = [](std::string json, const std::string& more) {
    json.insert(json.size() - 1, more);
    return json;
  };
  const std::string agentic =
      R"(,"system":"You are an agent.","tools":[{"name":"read","input_schema":{"type":"object"}}])";
  const std::string formed = R"(,"tools":[],"output_config":{"format":{"type":"json_schema"}})";
  EXPECT_EQ(turn(named(with(body({"Title?"}), formed)), answer("T")), "mine-side");
  EXPECT_EQ(turn(named(with(body({"hi"}), agentic)), answer("hello")), "mine");
  const std::string agent = turn(
      named(with(body({"look"}), agentic), {{"x-claude-code-agent-id", "a-1"}}), answer("seen"));
  EXPECT_EQ(agent, "mine-agent-a-1");
  EXPECT_EQ(turn(named(with(body({"look", "seen", "again"}), agentic),
                       {{"x-claude-code-agent-id", "a-1"}}),
                 answer("so")),
            agent);
  // One that its client does not call so.
  EXPECT_EQ(turn(named(with(body({"hi"}), R"(,"system":"You make titles.")")), answer("T2")),
            "mine-side");
  EXPECT_EQ(turn(named(with(body({"hi", "hello", "more"}), agentic)), answer("yes")), "mine");
  EXPECT_EQ(texts("mine"), "You are an agent. hi hello more yes");
  EXPECT_EQ(part_of("mine-side"), "mine");
  EXPECT_EQ(part_of(agent), "mine");
  EXPECT_EQ(part_of("mine"), "");
  SentRequest codex = sent(
      R"({"model":"m","input":[{"role":"user","content":"look"}]})",
      {{"thread-id", "t2"}, {"x-codex-parent-thread-id", "t1"}, {"x-codex-turn-metadata", "{}"}});
  codex.dialect = Dialect::openai_responses;
  codex.conversation = "mine";
  EXPECT_EQ(turn(codex, {.status = 500}), "mine-agent-t2");
}

TEST_F(TurnRecorderTest, WhatFollowsTheClientsCompactionGoesOnWithItsSession) {
  const std::string tools = R"(,"tools":[{"name":"read","input_schema":{"type":"object"}}])";
  for (const bool is_asked : {true, false})
    for (const bool title_is_under_way : {true, false}) {
      const std::string session = std::string(is_asked ? "asked" : "not_asked") +
                                  (title_is_under_way ? "_under_way" : "_done");
      const auto in = [&](const std::vector<std::string>& list, const std::string& more) {
        std::string json = body(list);
        json.insert(json.size() - 1, more);
        return sent(std::move(json), {{"X-Claude-Code-Session-Id", session}});
      };
      const std::string reply = "An answer to " + session + " that tells.";
      const std::string main = turn(in({"hi"}, tools), answer(reply));
      if (is_asked)
        turn(in({"hi", reply, "CRITICAL: Respond with TEXT ONLY. Summarise."}, tools),
             answer("A summary."));
      const std::string summary =
          "This session is being continued from a previous conversation: " + session;
      // The client asks beside for what the new prompt is about.
      const SentRequest aside = in({"go on"}, R"(,"system":"What is this about?")");
      std::shared_ptr<ObservedTurn> title = recorder_.begin(aside).value();
      EXPECT_NE(title->conversation->id(), main);
      if (!title_is_under_way) recorder_.finish(*title, answer("Going on.")).value();
      const std::vector<std::string> list = {summary, reply, "go on"};
      EXPECT_EQ(turn(in(list, tools), answer("so")), main) << session;
      EXPECT_EQ(texts(main), summary + " " + reply + " go on so");
      if (title_is_under_way) recorder_.finish(*title, answer("Going on.")).value();
      EXPECT_EQ(texts(title->conversation->id()), "What is this about? go on Going on.");
      EXPECT_EQ(turn(in({summary, reply, "go on", "so", "more"}, tools), answer("yes")), main);
      EXPECT_EQ(part_of(title->conversation->id()), main);
    }
}

TEST_F(TurnRecorderTest, AKeyThatAnErrorRepeatsIsNotKept) {
  GivenAnswer refused{.status = 401,
                      .body = R"({"error":{"message":"Incorrect API key: sk-secret-1"}})"};
  refused.secrets = {"sk-secret-1", "none"};
  const std::string id = turn(sent(body({"hi"})), refused);
  EXPECT_EQ(open(id)->raw_answer(1).value(), R"({"error":{"message":"Incorrect API key: [key]"}})");
  GivenAnswer said = answer("sk-secret-1");
  said.secrets = refused.secrets;
  EXPECT_EQ(turn(sent(body({"hi"})), said), id);
  EXPECT_EQ(texts(id), "hi sk-secret-1") << "what a model says is the user's";
}

TEST_F(TurnRecorderTest, ARequestThatIsTriedAgainIsOneVersionThatOneUndoTakesBack) {
  const std::string id = turn(sent(body({"hi"})), answer("hello"));
  const Version answered = open(id)->version();
  recorder_.begin(sent(body({"hi"}), {{"x-stainless-retry-count", "1"}})).value();
  EXPECT_EQ(open(id)->version().value, answered.value + 1);
  EXPECT_EQ(texts(id), "hi");
  open(id)->apply({op::Undo{}}).value();
  EXPECT_EQ(texts(id), "hi hello");
}

TEST_F(TurnRecorderTest, AnAnswerThatWasLeftOutComesBackWithItsClient) {
  const std::vector<std::pair<std::string, std::string>> session = {{"x-session-id", "s"}};
  const std::string id = turn(sent(body({"hi"}), session), answer("hello"));
  turn(sent(body({"hi"}), session), answer("hey"));
  EXPECT_EQ(turn(sent(body({"hi", "hello", "more"}), session), answer("yes")), id);
  EXPECT_EQ(texts(id), "hi hello more yes");
  EXPECT_EQ(open(id)->history().stats().total_messages, 5u);
}

TEST_F(TurnRecorderTest, ARequestThatComesBeforeItsPredecessorsAnswerIsToldHasThatAnswerOnce) {
  for (const std::string second : {"hello", "another"}) {
    const std::vector<std::pair<std::string, std::string>> session = {{"x-session-id", second}};
    const std::shared_ptr<ObservedTurn> first =
        recorder_.begin(sent(body({"hi"}), session)).value();
    const std::shared_ptr<ObservedTurn> next =
        recorder_.begin(sent(body({"hi", second, "more"}), session)).value();
    recorder_.finish(*first, answer("hello")).value();
    recorder_.finish(*next, answer("yes")).value();
    EXPECT_EQ(texts(first->conversation->id()), "hi " + second + " more yes");
    EXPECT_EQ(open(first->conversation->id())->requests({}).value()[0].answer_version.value != 0,
              second == "hello");
  }
}

TEST_F(TurnRecorderTest, AnAnswerThatTheClientDoesNotKeepGoesAlsoAfterARestart) {
  const std::string id = turn(sent(body({"hi"})), answer("hello"));
  recorder_ = TurnRecorder(
      {.store = [this](const std::string&) { return store_; },
       .open = [this](const std::string&, const std::string& each) { return open(each); },
       .secret = "secret"});
  EXPECT_EQ(turn(sent(body({"hi"}), {{"x-stainless-retry-count", "2"}}), answer("hey")), id);
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

TEST_F(TurnRecorderTest, AStreamWithoutItsEndIsTornThoughItsConnectionEndedProperly) {
  const std::string begun =
      R"(data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[]}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}

)";
  for (const std::string end : {"", "data: {\"type\":\"message_stop\"}\n\n"}) {
    GivenAnswer given{.status = 200, .form = ResponseForm::event_stream, .body = begun + end};
    const std::string id = turn(sent(body({end.empty() ? "cut" : "whole"})), given);
    EXPECT_EQ(open(id)->history().marked("torn").size(), end.empty() ? 1u : 0u);
    EXPECT_EQ(open(id)->requests({}).value()[0].is_torn, end.empty());
  }
}

TEST_F(TurnRecorderTest, AConversationOfNoUserIsGoneOnWithByWhoeverNamesIt) {
  const std::string first = turn(sent(body({"hi"})), answer("hello"));
  open(first)->fork(open(first)->version(), "mine").value();  // as the command does it
  SentRequest named = sent(body({"hi", "hello", "more"}));
  named.conversation = "mine";
  EXPECT_EQ(turn(named, answer("yes")), "mine");
  EXPECT_EQ(texts("mine"), "hi hello more yes");
  EXPECT_EQ(texts(first), "hi hello");
  named.conversation = first;
  named.user = "bob";
  EXPECT_NE(turn(named, answer("yes")), first);
}

TEST_F(TurnRecorderTest, CallsOfGeminiWithoutIdsKeepTheirResults) {
  const std::string ask = R"({"role":"user","parts":[{"text":"look"}]},)";
  const std::string call =
      R"({"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}}}]})";
  const std::string result =
      R"({"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"one"}}}]},)";
  const auto list = [](const std::string& contents) {
    return R"({"contents":[)" + contents.substr(0, contents.size() - 1) + "]}";
  };
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
  EXPECT_EQ(render(conversation->history().view_at(seen).value(), profile).value().json,
            list(contents));
}

TEST_F(TurnRecorderTest, ASessionIsAConversationAndItsSubAgentsAndTitlesAreOthers) {
  const auto session = [&](std::string json, std::string agent = {}) {
    std::vector<std::pair<std::string, std::string>> headers = {
        {"X-Claude-Code-Session-Id", "s-1"}};
    if (!agent.empty()) headers.emplace_back("x-claude-code-agent-id", agent);
    return sent(std::move(json), std::move(headers));
  };
  std::string title = body({"Title?"});
  title.insert(title.size() - 1,
               R"(,"tools":[],"output_config":{"format":{"type":"json_schema"}})");
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
  const auto in = [&](std::initializer_list<std::string> texts_sent) {
    return sent(body(texts_sent), {{"x-session-id", "s"}});
  };
  const std::string main = turn(in({"hi"}), answer("hello"));
  const std::string other = turn(in({"Title of: hi"}), answer("T"));
  EXPECT_EQ(turn(in({"hi", "hello", "more"}), answer("yes")), main);
  EXPECT_NE(other, main);
  EXPECT_EQ(part_of(other), main);
  EXPECT_EQ(part_of(main), "");
}

TEST_F(TurnRecorderTest, ARequestForATitleWithTheSameWordsIsAnotherConversationOfTheSession) {
  const auto in = [&](const std::string& system, const std::string& tools,
                      std::initializer_list<std::string> texts_sent) {
    std::string json = body(texts_sent);
    json.insert(json.size() - 1, R"(,"system":")" + system + R"(","tools":)" + tools);
    return sent(std::move(json), {{"x-session-id", "s"}});
  };
  const std::string tool = R"([{"name":"read","input_schema":{"type":"object"}}])";
  const std::string title = turn(in("You make titles.", "[]", {"hi"}), answer("T"));
  const std::string main = turn(in("You are an agent.", tool, {"hi"}), answer("hello"));
  EXPECT_NE(title, main);
  EXPECT_EQ(turn(in("You are an agent of today.", tool, {"hi", "hello", "more"}), answer("yes")),
            main);
  EXPECT_EQ(turn(in("You are an agent of today.", tool, {"hi"}), answer("hello")), main)
      << "it is tried again";
  EXPECT_EQ(conversations(), 2u);
}

TEST_F(TurnRecorderTest, ASessionGoesOnWithItsListThoughATitleOfTheSameWordsWasAskedForSince) {
  for (const std::string end : {"answered", "failed", "rewritten", "title of the next prompt"}) {
    const auto in = [&](const std::string& system, const std::string& tools,
                        std::initializer_list<std::string> texts_sent) {
      std::string json = body(texts_sent);
      json.insert(json.size() - 1, R"(,"system":")" + system + R"(","tools":)" + tools);
      return sent(std::move(json), {{"x-session-id", end}});
    };
    const std::string tool = R"([{"name":"read","input_schema":{"type":"object"}}])";
    const auto ask = [&](std::initializer_list<std::string> texts_sent, const GivenAnswer& given) {
      return turn(in("You are an agent.", tool, texts_sent), given);
    };
    const bool has_failed = end == "failed", is_next = end == "title of the next prompt";
    const std::string main =
        ask({"hi"}, has_failed ? GivenAnswer{.status = 529, .body = "{}"} : answer("hello"));
    const std::string title =
        turn(in("You make titles.", "[]", {is_next ? "more" : "hi"}), answer("T"));
    EXPECT_NE(title, main) << end;
    EXPECT_TRUE(!has_failed || ask({"hi"}, answer("hello")) == main);
    const std::string said = end == "rewritten" || is_next ? "Hello." : "hello";
    EXPECT_EQ(ask({"hi", said, "more"}, answer("yes")), main) << end;
    EXPECT_EQ(texts(main), "You are an agent. hi " + said + " more yes");
    EXPECT_EQ(texts(title), std::string("You make titles. ") + (is_next ? "more" : "hi") + " T");
  }
}

TEST_F(TurnRecorderTest, ASessionThatBeginsWithTheSameWordsTwiceIsRecorded) {
  const std::vector<std::pair<std::string, std::string>> session = {{"x-session-id", "s"}};
  const std::string id = turn(sent(body({"go on"}), session), answer("go on"));
  EXPECT_EQ(turn(sent(body({"go on", "go on", "go on"}), session), answer("yes")), id);
  EXPECT_EQ(texts(id), "go on go on go on yes");
  EXPECT_EQ(open(id)->requests({}).value().size(), 2u);
}

TEST_F(TurnRecorderTest, AgentsOfOneSessionThatShareTheirFirstMessageKeepTheirOwnConversations) {
  for (const bool is_rewritten : {false, true}) {
    const auto in = [&](const std::string& agent, const std::vector<std::string>& texts_sent) {
      std::string json = body(texts_sent);
      json.insert(json.find('[') + 1, R"({"role":"user","content":"The folder is /work."},)");
      json.insert(json.size() - 1, R"(,"system":"You are agent )" + agent + R"(.")");
      return sent(std::move(json), {{"x-session-id", is_rewritten ? "rewritten" : "kept"}});
    };
    const std::string one = turn(in("1", {"task 1"}), answer("done 1"));
    const std::string two = turn(in("2", {"task 2"}), answer("done 2"));
    EXPECT_NE(one, two);
    const std::string dot = is_rewritten ? "." : "";  // clients do not keep all that they are given
    EXPECT_EQ(turn(in("1", {"task 1", "done 1" + dot, "more"}), answer("so")), one);
    EXPECT_EQ(turn(in("2", {"task 2", "done 2" + dot, "more"}), answer("so")), two);
    EXPECT_EQ(turn(in("1", {"task 1", "done 1" + dot, "more", "so" + dot, "last"}), answer("bye")),
              one);
    EXPECT_EQ(texts(two), "You are agent 2. The folder is /work. task 2 done 2" + dot + " more so");
  }
}

TEST_F(TurnRecorderTest, AgentsOfOneSessionThatDifferInTheirPromptOnlyKeepTheirOwnConversations) {
  const std::string tools = R"(,"tools":[{"name":"read","input_schema":{"type":"object"}}])";
  for (const bool has_examples : {true, false})
    for (const bool has_tools : {true, false}) {
      const std::string session =
          std::string(has_examples ? "examples" : "plain") + (has_tools ? "-tools" : "");
      const auto in = [&](const std::string& agent, const std::vector<std::string>& said) {
        std::vector<std::string> list;
        if (has_examples) list = {"an example of a task", "an example of an answer to it"};
        list.insert(list.end(), said.begin(), said.end());
        std::string json = body(list);
        json.insert(json.size() - 1, R"(,"system":"You are agent )" + agent + R"(.")" +
                                         (has_tools ? tools : std::string()));
        return sent(std::move(json), {{"x-session-id", session}});
      };
      const std::string one = turn(in("1", {"the task"}), answer("done 1"));
      const std::string two = turn(in("2", {"the task"}), answer("done 2"));
      EXPECT_NE(one, two) << session;
      EXPECT_EQ(part_of(two), one) << session;
      EXPECT_EQ(turn(in("1", {"the task", "done 1", "more"}), answer("so 1")), one) << session;
      EXPECT_EQ(turn(in("2", {"the task", "done 2", "more"}), answer("so 2")), two) << session;
      const std::string examples =
          has_examples ? "an example of a task an example of an answer to it " : "";
      EXPECT_EQ(texts(one), "You are agent 1. " + examples + "the task done 1 more so 1");
      EXPECT_EQ(texts(two), "You are agent 2. " + examples + "the task done 2 more so 2");
      // The prompt of one that was given an answer may change.
      EXPECT_EQ(turn(in("2 of the next day", {"the task", "done 2.", "other"}), answer("yes")), two)
          << session;
    }
}

TEST_F(TurnRecorderTest, ASessionWhoseClientSendsTheLastMessagesOnlyIsOneConversationThatKeepsAll) {
  const std::vector<std::pair<std::string, std::string>> session = {{"x-session-id", "s"}};
  std::vector<std::string> all;
  std::string id;
  for (int number = 1; number <= 12; ++number) {
    all.push_back("question " + std::to_string(number));
    // It begins to leave messages out when there are more than eleven.
    const std::size_t begin = all.size() <= 11 ? 0 : all.size() - 7;
    const std::vector<std::string> window(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                          all.end());
    const std::string turned =
        turn(sent(body(window), session), answer("answer " + std::to_string(number)));
    if (id.empty()) id = turned;
    EXPECT_EQ(turned, id) << number;
    all.push_back("answer " + std::to_string(number));
  }
  EXPECT_EQ(conversations(), 1u);
  EXPECT_EQ(open(id)->history().log().size(), all.size());
  // The same words in another session are that one's.
  const std::vector<std::string> window(all.end() - 6, all.end());
  std::vector<std::string> other = window;
  other.push_back("question of another");
  EXPECT_NE(turn(sent(body(other), {{"x-session-id", "other"}}), answer("so")), id);
}

TEST_F(TurnRecorderTest, AFirstTurnThatFailedIsGoneOnWithThoughThePromptHasChangedWhereItMay) {
  const auto in = [&](const std::string& last, const std::string& description) {
    std::string json = body({"hi"});
    json.insert(
        json.size() - 1,
        R"(,"system":[{"type":"text","text":"billing"},{"type":"text","text":"You are an agent."},)"
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
  EXPECT_NE(turn(with("You make titles.", {"hi"}), answer("T")), first)
      << "there is no answer that tells";
}

TEST_F(TurnRecorderTest, AListThatBeginsAnewAndHasAnAnswerOfAnotherIsAForkOfIt) {
  const std::string long_answer = "This is file number four of seven.";
  const std::string first = turn(sent(body({"Folder: a. hi"})), answer(long_answer));
  const std::string resumed =
      turn(sent(body({"Folder: a, b. hi", long_answer, "more"})), answer("yes"));
  EXPECT_EQ(store_->find(resumed).value().origin.value().conversation, first);
  EXPECT_EQ(texts(resumed), "Folder: a, b. hi " + long_answer + " more yes");
  EXPECT_EQ(texts(first), "Folder: a. hi " + long_answer);
  EXPECT_EQ(
      turn(sent(body({"Folder: a, b. hi", long_answer, "more", "yes", "last"})), answer("so")),
      resumed);
  EXPECT_FALSE(
      store_->find(turn(sent(body({"other", "yes", "more"})), answer("no"))).value().origin)
      << "short answers tell nothing";
  EXPECT_FALSE(
      store_->find(turn(sent(body({"other", long_answer, "more"}), {}, "bob"), answer("no")))
          .value()
          .origin);
}

TEST_F(TurnRecorderTest, ForksOfForksHaveShortNamesOfTheirOwnAndAreRecorded) {
  SentRequest named = sent(body({"Folder: 0. hi"}));
  named.conversation = std::string(95, 'n');
  std::string last = turn(named, answer("This is file number 0 of seven."));
  std::set<std::string> ids = {last};
  for (int level = 1; level <= 12; ++level) {
    const std::string before = "This is file number " + std::to_string(level - 1) + " of seven.";
    const std::string next = "This is file number " + std::to_string(level) + " of seven.";
    const std::string beginning = "Folder: " + std::to_string(level) + ". hi";
    const std::string fork = turn(sent(body({beginning, before, "more"})), answer(next));
    EXPECT_EQ(store_->find(fork).value().origin.value().conversation, last);
    EXPECT_EQ(texts(fork), beginning + " " + before + " more " + next);
    EXPECT_TRUE(ids.insert(fork).second) << fork;
    EXPECT_LE(fork.size(), 100u) << fork;
    EXPECT_EQ(fork.find("-fork-"), fork.rfind("-fork-")) << fork;
    last = fork;
  }
}

TEST_F(TurnRecorderTest, AClientThatSendsTheLastMessagesOnlyHasOneConversationThatKeepsAll) {
  for (const bool keeps_the_first : {false, true}) {
    const std::string name = keeps_the_first ? "first" : "last";
    std::vector<std::string> all;
    std::string id;
    for (int number = 1; number <= 30; ++number) {
      all.push_back("Question " + std::to_string(number) + " of " + name);
      const std::size_t begin = all.size() <= 5 ? 0 : all.size() - 5;
      std::vector<std::string> window(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
      if (keeps_the_first && begin > 0) window.insert(window.begin(), {all[0], all[1]});
      std::string json = body(window);
      json.insert(json.size() - 1,
                  R"(,"system":"It is )" + std::to_string(number) + R"( o'clock.")");
      // Most answers are as short as those of other conversations.
      const std::string said =
          number % 3 == 0 ? "A long answer to question " + std::to_string(number) : "ok";
      const std::string turned = turn(sent(json), answer(said));
      if (id.empty()) id = turned;
      EXPECT_EQ(turned, id) << name << ' ' << number;
      all.push_back(said);
      std::string shown = "It is " + std::to_string(number) + " o'clock.";
      for (const std::string& text : window) shown += " " + text;
      EXPECT_EQ(texts(turned), shown + " " + said);
    }
    EXPECT_EQ(open(id)->requests({}).value().size(), 30u);
    std::set<std::string> kept;
    const View log = open(id)->history().log();
    for (const Message& message : log) kept.insert(message.text());
    for (const std::string& text : all) EXPECT_TRUE(kept.contains(text)) << text;
  }
  EXPECT_EQ(conversations(), 2u);
}

TEST_F(TurnRecorderTest, AMessageThatIsLeftOutBelongsToTheConversationUnlessThatHasGoneOn) {
  const std::string long_answer = "This is file number four of seven.";
  const std::string first = turn(sent(body({"hi"})), answer("hello"));
  turn(sent(body({"hi", "hello", "more"})), answer(long_answer));
  EXPECT_EQ(turn(sent(body({"more", long_answer, "go on"})), answer("yes")), first);
  EXPECT_EQ(texts(first), "more " + long_answer + " go on yes");
  const std::string late = turn(sent(body({"more", long_answer, "go back"})), answer("no"));
  EXPECT_NE(late, first);
  EXPECT_EQ(store_->find(late).value().origin.value().conversation, first);
  EXPECT_EQ(texts(late), "more " + long_answer + " go back no");
}

TEST_F(TurnRecorderTest, AnAnswerThatIsJudgedUnderAnotherSystemPromptStaysWhereItWasGiven) {
  const auto with_system = [](std::string json, const std::string& system) {
    return json.insert(json.size() - 1, R"(,"system":")" + system + "\"");
  };
  const std::string long_answer = "This is file number four of seven.";
  const std::string asked = turn(sent(with_system(body({"hi"}), "Answer.")), answer(long_answer));
  std::string judged =
      R"({"model":"m","max_tokens":9,"system":"Judge.","messages":[{"role":"assistant","content":")" +
      long_answer + R"("},{"role":"user","content":"Is that right?"}]})";
  EXPECT_NE(turn(sent(std::move(judged)), answer("yes")), asked);
  EXPECT_EQ(turn(sent(with_system(body({"hi", long_answer, "go on"}), "Answer.")), answer("ok")),
            asked);
  EXPECT_EQ(texts(asked), "Answer. hi " + long_answer + " go on ok");
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

TEST_F(TurnRecorderTest, SessionsWhoseIdsBeginAlikeOrAreSpeltAlikeAreConversationsOfTheirOwn) {
  const std::string alike(100, 's');
  std::set<std::string> ids;
  for (const std::string& session :
       {alike + "1", alike + "2", std::string("a/b"), std::string("a-b")}) {
    const std::string id = turn(sent(body({"hi"}), {{"x-session-id", session}}), answer("hello"));
    EXPECT_TRUE(ids.insert(id).second) << session << " is " << id;
    EXPECT_EQ(turn(sent(body({"hi", "hello", "more"}), {{"x-session-id", session}}), answer("yes")),
              id);
    EXPECT_EQ(texts(id), "hi hello more yes");
  }
}

TEST_F(TurnRecorderTest, AForkThatItsClientNamesGoesOnFromThereAndASubAgentIsLinked) {
  const auto codex = [&](const std::string& thread, const std::string& input,
                         const std::string& metadata) {
    SentRequest request = sent(R"({"model":"m","input":)" + input + "}",
                               {{"thread-id", thread}, {"x-codex-turn-metadata", metadata}});
    request.dialect = Dialect::openai_responses;
    return request;
  };
  const GivenAnswer given = {
      .status = 200,
      .body =
          R"({"id":"r","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]})"};
  const std::string first = turn(codex("a", R"([{"role":"user","content":"hi"}])", "{}"), given);
  const std::string fork =
      turn(codex("b", R"([{"role":"user","content":"other"}])", R"({"forked_from_thread_id":"a"})"),
           given);
  EXPECT_EQ(store_->find(fork).value().origin.value().conversation, first);
  EXPECT_EQ(texts(fork), "other hello");
  SentRequest asked = codex("c", R"([{"role":"user","content":"look"}])", "{}");
  asked.head.headers.emplace_back("x-codex-parent-thread-id", "a");
  const std::string agent = turn(asked, given);
  EXPECT_EQ(agent, "codex-c");
  EXPECT_EQ(part_of(agent), first);
}

TEST_F(TurnRecorderTest, ASessionIdOfAnotherUserLeadsNowhere) {
  const std::vector<std::pair<std::string, std::string>> session = {
      {"X-Claude-Code-Session-Id", "s-1"}};
  const std::string alices = turn(sent(body({"hi"}), session, "alice"), answer("hello"));
  const std::string bobs = turn(sent(body({"hi"}), session, "bob"), answer("hello"));
  EXPECT_NE(alices, bobs);
  SentRequest named = sent(body({"hi"}), {}, "bob");
  named.conversation = alices;
  EXPECT_NE(turn(named, answer("hello")), alices);
  EXPECT_NE(turn(sent(body({"hi", "hello", "more"}), {}, "bob"), answer("yes")), alices);
  EXPECT_EQ(texts(alices), "hi hello");
}

class ResponsesTest : public TurnRecorderTest {
 protected:
  SentRequest responses(const std::string& json) {
    SentRequest request = sent(json);
    request.dialect = Dialect::openai_responses;
    request.head.path = "/v1/responses";
    return request;
  }
  // A request that holds only what is new.
  SentRequest delta(const std::string& text, const std::string& previous) {
    return responses(R"({"model":"m","input":")" + text + R"(","previous_response_id":")" +
                     previous + "\"}");
  }
  static GivenAnswer given(const std::string& id, const std::string& text) {
    return {
        .status = 200,
        .body =
            R"({"id":")" + id +
            R"(","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":")" +
            text + R"(","annotations":[]}]}]})"};
  }
};

TEST_F(ResponsesTest, AResponseThatIsNamedIsGoneOnWith) {
  const std::string first =
      turn(responses(R"({"model":"m","input":"hi"})"), given("resp_1", "hello"));
  const std::string second = turn(delta("more", "resp_1"), given("resp_2", "yes"));
  EXPECT_EQ(first, second);
  EXPECT_EQ(texts(first), "hi hello more yes");
  const std::string other = turn(delta("less", "resp_1"), given("resp_3", "no"));
  EXPECT_NE(other, first);
  EXPECT_EQ(texts(other), "hi hello less no");
}

TEST_F(ResponsesTest, TheSameWordsBehindAnotherResponseAreSaidAgain) {
  const std::string id = turn(responses(R"({"model":"m","input":"hi"})"), given("resp_1", "hello"));
  EXPECT_EQ(turn(delta("go on", "resp_1"), given("resp_2", "yes")), id);
  EXPECT_EQ(turn(delta("go on", "resp_2"), given("resp_3", "so")), id);
  EXPECT_EQ(texts(id), "hi hello go on yes go on so");
}

TEST_F(ResponsesTest, ARequestBehindAResponseThatIsTriedAgainIsThereOnce) {
  const std::string id = turn(responses(R"({"model":"m","input":"hi"})"), given("resp_1", "hello"));
  EXPECT_EQ(turn(delta("more", "resp_1"),
                 {.status = 529, .body = R"({"error":{"message":"overloaded"}})"}),
            id);
  EXPECT_EQ(turn(delta("more", "resp_1"), given("resp_2", "yes")), id);
  EXPECT_EQ(texts(id), "hi hello more yes");
  EXPECT_EQ(conversations(), 1u);
  // Once it is answered, a client that asks again wants another answer: nothing is dropped for it.
  const std::string fork = turn(delta("more", "resp_1"), given("resp_3", "no"));
  EXPECT_EQ(store_->find(fork).value().origin.value().conversation, id);
  EXPECT_EQ(texts(fork), "hi hello more no");
  EXPECT_EQ(texts(id), "hi hello more yes");
  EXPECT_EQ(turn(delta("last", "resp_2"), given("resp_4", "bye")), id);
  EXPECT_EQ(turn(delta("last", "resp_3"), given("resp_5", "ciao")), fork);
  EXPECT_EQ(texts(id), "hi hello more yes last bye");
  EXPECT_EQ(texts(fork), "hi hello more no last ciao");
}

TEST_F(ResponsesTest, TwoRequestsBehindOneResponseAtOnceAreNoMixture) {
  const std::string id = turn(responses(R"({"model":"m","input":"hi"})"), given("resp_1", "hello"));
  const std::shared_ptr<ObservedTurn> more = recorder_.begin(delta("more", "resp_1")).value();
  const std::shared_ptr<ObservedTurn> again = recorder_.begin(delta("more", "resp_1")).value();
  const std::shared_ptr<ObservedTurn> less = recorder_.begin(delta("less", "resp_1")).value();
  recorder_.finish(*more, {.status = 0}).value();
  recorder_.finish(*less, given("resp_3", "no")).value();
  recorder_.finish(*again, given("resp_2", "yes")).value();
  EXPECT_EQ(more->conversation->id(), id);
  EXPECT_EQ(again->conversation->id(), id);
  const std::string fork = less->conversation->id();
  EXPECT_NE(fork, id);
  EXPECT_EQ(texts(id), "hi hello more yes");
  EXPECT_EQ(texts(fork), "hi hello less no");
}

TEST_F(ResponsesTest, AnAnswerThatIsMadeInTheBackgroundIsThereOnceItsClientHasIt) {
  const auto get = [&](const std::string& id, std::string user = "alice") {
    SentRequest request = sent("", {}, std::move(user));
    request.dialect = Dialect::openai_responses;
    request.method = "GET";
    request.head.path = "/v1/responses/" + id;
    request.body.reset();
    return request;
  };
  const auto status = [](const std::string& id, const std::string& how) {
    return GivenAnswer{.status = 200,
                       .body = R"({"id":")" + id + R"(","object":"response","status":")" + how +
                               R"(","model":"m","output":[]})"};
  };
  for (const bool has_restarted : {false, true}) {
    const std::string n = has_restarted ? "2" : "1", first = "resp_a" + n, second = "resp_b" + n;
    const std::string id =
        turn(responses(R"({"model":"m","background":true,"input":"hi )" + n + "\"}"),
             status(first, "queued"));
    if (has_restarted)
      recorder_ = TurnRecorder(
          {.store = [this](const std::string&) { return store_; },
           .open = [this](const std::string&, const std::string& each) { return open(each); },
           .secret = "secret"});
    EXPECT_EQ(turn(get(first), status(first, "in_progress")), id);
    EXPECT_EQ(texts(id), "hi " + n);
    EXPECT_EQ(turn(get(first, "bob"), given(first, "stolen")), "");
    GivenAnswer late = given(first, "hello");
    late.body.insert(late.body.size() - 1, R"(,"usage":{"input_tokens":3,"output_tokens":2})");
    EXPECT_EQ(turn(get(first), late), id);
    EXPECT_EQ(texts(id), "hi " + n + " hello");
    EXPECT_EQ(turn(get(first), late), "") << "it is there";
    EXPECT_EQ(texts(id), "hi " + n + " hello");
    const std::vector<RequestRecord> records = open(id)->requests({}).value();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].method, "GET");
    EXPECT_EQ(records[1].usage.prompt, 3u);
    EXPECT_EQ(open(id)->raw_answer(2).value(), late.body);
    // It is gone on with as any other.
    EXPECT_EQ(turn(delta("more", first), given(second, "yes")), id);
    EXPECT_EQ(texts(id), "hi " + n + " hello more yes");
    EXPECT_EQ(turn(get("resp_of_nobody"), late), "");
  }
  const std::string list =
      R"({"model":"m","background":true,"input":[{"role":"user","content":"look"})";
  const std::string id = turn(responses(list + "]}"), status("resp_l", "queued"));
  turn(get("resp_l"), given("resp_l", "seen"));
  EXPECT_EQ(turn(responses(list + R"(,{"role":"assistant","content":"seen"},)"
                                  R"({"role":"user","content":"more"}]})"),
                 given("resp_m", "yes")),
            id);
  EXPECT_EQ(texts(id), "look seen more yes");
}

TEST_F(ResponsesTest, AnAnswerOfTheBackgroundWhoseStreamBrokeOffIsWholeOnceItsClientHasIt) {
  GivenAnswer torn = given("resp_1", "hel");
  torn.is_torn = true;
  const std::string id =
      turn(responses(R"({"model":"m","background":true,"stream":true,"input":"hi"})"), torn);
  EXPECT_EQ(texts(id), "hi hel");
  SentRequest get = responses("");
  get.method = "GET";
  get.head.path = "/v1/responses/resp_1";
  get.body.reset();
  EXPECT_EQ(turn(get, given("resp_1", "hello")), id);
  EXPECT_EQ(texts(id), "hi hello");
}

TEST_F(ResponsesTest, AnItemListThatLeftTheConversationEarlierIsAFork) {
  const auto list = [&](std::initializer_list<std::string> items) {
    std::string all;
    for (const std::string& item : items) all += (all.empty() ? "" : ",") + item;
    return responses(R"({"model":"m","store":false,"input":[)" + all + "]}");
  };
  const auto user = [](const std::string& text) {
    return R"({"type":"message","role":"user","content":[{"type":"input_text","text":")" + text +
           R"("}]})";
  };
  const auto output = [](const std::string& call, const std::string& text) {
    return R"({"type":"function_call_output","call_id":")" + call + R"(","output":")" + text +
           R"("})";
  };
  const auto answer_of = [](const std::string& items) {
    return GivenAnswer{
        .status = 200,
        .body = R"({"id":"r","object":"response","status":"completed","output":[)" + items + "]}"};
  };
  const std::string thought =
      R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"})";
  const std::string call_1 =
      R"({"type":"function_call","id":"fc_1","status":"completed","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"})";
  const std::string call_2 =
      R"({"type":"function_call","id":"fc_2","status":"completed","call_id":"c2","name":"read","arguments":"{\"path\":\"b\"}"})";
  const auto said = [](const std::string& text) {
    return R"({"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":")" +
           text + R"(","annotations":[]}]})";
  };
  const std::string calls = thought + "," + call_1 + "," + call_2, one = output("c1", "one"),
                    two = output("c2", "two");
  const std::string done = said("Both files are read."), next = said("There is no more.");
  const std::string first = turn(list({user("look")}), answer_of(calls));
  EXPECT_EQ(turn(list({user("look"), calls, one, two}), answer_of(done)), first);
  EXPECT_EQ(turn(list({user("look"), calls, one, two, done, user("more")}), answer_of(next)),
            first);
  EXPECT_EQ(conversations(), 1u);
  const std::string whole = texts(first);
  const auto expect_fork = [&](std::initializer_list<std::string> items, const char* where) {
    const std::string fork = turn(list(items), answer_of(done));
    EXPECT_NE(fork, first) << where;
    const std::optional<Origin> origin = store_->find(fork).value().origin;
    EXPECT_TRUE(origin && origin->conversation == first) << where;
  };
  expect_fork({user("look"), calls, one, two, done, user("less")}, "behind the last answer");
  expect_fork({user("look"), calls, one, output("c2", "other")}, "between two results");
  expect_fork({user("look"), calls, output("c1", "other"), two}, "behind the calls");
  expect_fork({user("look"), user("here")}, "behind the first message");
  EXPECT_EQ(texts(first), whole);
}

TEST_F(ResponsesTest, ARequestWithoutInputIsATurn) {
  const std::string first =
      turn(responses(R"({"model":"m","prompt":{"id":"p"}})"), given("resp_1", "hello"));
  EXPECT_EQ(turn(delta("more", "resp_1"), given("resp_2", "yes")), first);
  EXPECT_EQ(
      turn(responses(R"({"model":"m","previous_response_id":"resp_2"})"), given("resp_3", "so")),
      first);
  EXPECT_EQ(texts(first), "hello more yes so");
}

TEST_F(ResponsesTest, AListThatNamesAnswersByTheirIdsForksBehindThem) {
  const auto list = [&](const std::vector<std::string>& texts_sent) {
    std::string all;
    for (const std::string& text : texts_sent)
      all += (all.empty() ? "" : ",") + (text.starts_with("msg_")
                                             ? R"({"type":"item_reference","id":")" + text + "\"}"
                                             : R"({"role":"user","content":")" + text + "\"}");
    return responses(R"({"model":"m","input":[)" + all + "]}");
  };
  const auto given_as = [](const std::string& id, const std::string& text) {
    return GivenAnswer{
        .status = 200,
        .body =
            R"({"id":"r","object":"response","status":"completed","output":[{"type":"message","id":")" +
            id +
            R"(","status":"completed","role":"assistant","content":[{"type":"output_text","text":")" +
            text + R"("}]}]})"};
  };
  const std::string first = turn(list({"hi"}), given_as("msg_1", "hello"));
  EXPECT_EQ(turn(list({"hi", "msg_1", "more"}), given_as("msg_2", "yes")), first);
  EXPECT_EQ(turn(list({"hi", "msg_1", "more", "msg_2", "last"}), given_as("msg_3", "bye")), first);
  EXPECT_EQ(texts(first), "hi hello more yes last bye");
  const std::string late =
      turn(list({"hi", "msg_1", "more", "msg_2", "other"}), given_as("msg_4", "so"));
  const std::string early = turn(list({"hi", "msg_1", "less"}), given_as("msg_5", "no"));
  EXPECT_NE(late, first);
  EXPECT_NE(early, first);
  EXPECT_EQ(texts(late), "hi hello more yes other so");
  EXPECT_EQ(texts(early), "hi hello less no");
  EXPECT_EQ(texts(first), "hi hello more yes last bye");
}

TEST_F(TurnRecorderTest, AListThatGoesOnFromAnEarlierAnswerIsAForkThoughTheNewestSaysTheSame) {
  const std::string same = "There is nothing more to do here.";
  const std::string first = turn(sent(body({"hi"})), answer("hello"));
  turn(sent(body({"hi", "hello", "more"})), answer(same));
  turn(sent(body({"hi", "hello", "more", same, "again"})), answer(same));
  const std::string fork = turn(sent(body({"hi", "hello", "more", same, "go back"})), answer("so"));
  EXPECT_NE(fork, first);
  EXPECT_EQ(texts(fork), "hi hello more " + same + " go back so");
  EXPECT_EQ(texts(first), "hi hello more " + same + " again " + same);
}

class CachedContentTest : public TurnRecorderTest {
 protected:
  // A request to Gemini; `cache`: what it names as cached.
  SentRequest gemini(std::initializer_list<std::string> texts, const std::string& cache = {},
                     const std::string& session = {}) {
    std::string list;
    bool is_user = true;
    for (const std::string& text : texts) {
      if (!list.empty()) list += ',';
      list += R"({"role":")" + std::string(is_user ? "user" : "model") + R"(","parts":[{"text":")" +
              text + R"("}]})";
      is_user = !is_user;
    }
    std::string json = R"({"contents":[)" + list + "]";
    if (!cache.empty()) json += R"(,"cached_content":"cachedContents/)" + cache + "\"";
    SentRequest request = sent(json + "}");
    request.dialect = Dialect::gemini;
    request.head = {.path = "/v1beta/models/m:generateContent"};
    if (!session.empty()) request.head.headers = {{"x-session-id", session}};
    return request;
  }
  std::string ask(const SentRequest& request, const std::string& reply) {
    return turn(request,
                {.status = 200,
                 .body = R"({"candidates":[{"content":{"role":"model","parts":[{"text":")" + reply +
                         R"("}]},"finishReason":"STOP"}]})"});
  }
  void restart() {
    recorder_ = TurnRecorder(
        {.store = [this](const std::string&) { return store_; },
         .open = [this](const std::string&, const std::string& each) { return open(each); },
         .secret = "secret"});
  }
};

TEST_F(CachedContentTest, AConversationThatIsNamedKeepsWhatMovedToACache) {
  const std::string id = ask(gemini({"one"}), "two");
  const auto named = [&](SentRequest request) {
    request.conversation = id;
    return request;
  };
  EXPECT_EQ(ask(named(gemini({"three"}, "a")), "four"), id);
  EXPECT_EQ(texts(id), "one two three four");
  EXPECT_EQ(ask(named(gemini({"three", "four", "five"}, "a")), "six"), id);
  EXPECT_EQ(texts(id), "one two three four five six");
  restart();
  EXPECT_EQ(ask(named(gemini({"three", "four", "other"}, "a")), "end"), id);
  EXPECT_EQ(texts(id), "one two three four other end") << "what it sent behind the cache is whole";
  // A newer cache has more of it.
  EXPECT_EQ(ask(named(gemini({"other", "end", "more"}, "b")), "yes"), id);
  EXPECT_EQ(ask(named(gemini({"other", "end", "less"}, "b")), "no"), id);
  EXPECT_EQ(texts(id), "one two three four other end less no");
  // Without a cache everything is sent, and nothing is new but its last message.
  EXPECT_EQ(
      ask(named(gemini({"one", "two", "three", "four", "other", "end", "less", "no", "last"})),
          "bye"),
      id);
  EXPECT_EQ(texts(id), "one two three four other end less no last bye");
}

TEST_F(CachedContentTest, ASessionGoesOnBehindItsCache) {
  const std::string id = ask(gemini({"one"}, "", "s"), "two");
  EXPECT_EQ(ask(gemini({"three"}, "a", "s"), "four"), id);
  EXPECT_EQ(ask(gemini({"three", "four", "five"}, "a", "s"), "six"), id);
  EXPECT_EQ(texts(id), "one two three four five six");
  const std::string other = ask(gemini({"another beginning"}, "a", "s"), "of another line");
  EXPECT_NE(other, id);
  EXPECT_EQ(texts(id), "one two three four five six");
}

TEST_F(CachedContentTest, ListsBehindOneCacheAreConversationsOfTheirOwn) {
  const std::string first = ask(gemini({"one"}, "a"), "two"), second = ask(gemini({"1"}, "a"), "2");
  EXPECT_NE(first, second);
  EXPECT_NE(ask(gemini({"one"}, "b"), "2"), first) << "the same words about something else";
  EXPECT_EQ(ask(gemini({"one", "two", "three"}, "a"), "four"), first);
  EXPECT_EQ(ask(gemini({"1", "2", "3"}, "a"), "4"), second);
  EXPECT_EQ(texts(first), "one two three four");
  EXPECT_EQ(texts(second), "1 2 3 4");
  const std::string fork = ask(gemini({"one", "two", "other"}, "a"), "end");
  EXPECT_NE(fork, first);
  EXPECT_EQ(texts(fork), "one two other end");
  EXPECT_EQ(ask(gemini({"one", "two", "other", "end", "more"}, "a"), "yes"), fork);
  EXPECT_EQ(texts(fork), "one two other end more yes");
}

TEST_F(CachedContentTest, CachesThatASessionUsesInTurnKeepTheirPlaces) {
  const std::string id = ask(gemini({"one"}, "", "s"), "two");
  EXPECT_EQ(ask(gemini({"three"}, "a", "s"), "four"), id);
  EXPECT_EQ(ask(gemini({"five"}, "b", "s"), "six"), id);
  EXPECT_EQ(texts(id), "one two three four five six");
  EXPECT_EQ(ask(gemini({"three", "four", "other"}, "a", "s"), "end"), id);
  EXPECT_EQ(texts(id), "one two three four other end")
      << "what was sent behind the cache before is not appended again";
  EXPECT_EQ(ask(gemini({"five", "six", "seven"}, "b", "s"), "eight"), id);
  EXPECT_EQ(texts(id), "one two three four five six seven eight");
  restart();
  EXPECT_EQ(ask(gemini({"three", "four", "again"}, "a", "s"), "so"), id);
  EXPECT_EQ(texts(id), "one two three four again so");
  // A list that begins otherwise is no move to a cache that was named before.
  EXPECT_NE(ask(gemini({"another beginning"}, "b", "s"), "of another line"), id);
  EXPECT_EQ(texts(id), "one two three four again so");
}

TEST_F(CachedContentTest, AListThatMovesToACacheIsKnownByItsLastAnswer) {
  const std::string reply = "an answer that is hardly given twice",
                    more = "another answer that is hardly given";
  const std::string id = ask(gemini({"one"}), reply);
  EXPECT_EQ(ask(gemini({"one", reply, "three"}, "a"), more), id);
  EXPECT_EQ(texts(id), "one " + reply + " three " + more);
  EXPECT_EQ(ask(gemini({"three", more, "five"}, "b"), "six"), id);
  EXPECT_EQ(texts(id), "one " + reply + " three " + more + " five six");
  EXPECT_EQ(ask(gemini({"one", reply, "three", more, "five", "six", "seven"}), "eight"), id);
  EXPECT_EQ(conversations(), 1u);
}

TEST_F(TurnRecorderTest, CountsOfTokensAreNoTurnsAndRefusalsHaveNoAnswer) {
  SentRequest count = sent(body({"hi"}));
  count.head.path = "/v1/messages/count_tokens";
  EXPECT_EQ(turn(count, {.status = 200, .body = R"({"input_tokens":3})"}), "");
  count = sent(R"({"model":"m","input":"hi"})");
  count.dialect = Dialect::openai_responses;
  count.head.path = "/v1/responses/input_tokens";
  EXPECT_EQ(turn(count, {.status = 200, .body = R"({"input_tokens":3})"}), "");
  EXPECT_EQ(conversations(), 0u);
  const std::string refused =
      turn(sent(body({"hi"})),
           {.status = 529, .body = R"({"type":"error","error":{"type":"overloaded_error"}})"});
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
