#include "gateway/turn_editor.hpp"

#include <cstdlib>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <undertext/client.hpp>
#include <undertext/dialect.hpp>
#include <undertext/identity.hpp>

#include "base/json_text.hpp"

namespace undertext {
namespace {

// A client that keeps its own list, in one of the dialects.
class Client {
 public:
  explicit Client(Dialect dialect) : dialect_(dialect) {}

  void say(const std::string& text) { add(is_gemini() ? "user" : "user", text); }
  void answer(const std::string& text) { add(is_gemini() ? "model" : "assistant", text); }
  // A call of a tool and its result.
  void use_tool(const std::string& path, const std::string& result) {
    const std::string id = "call_" + std::to_string(++calls_);
    const std::string arguments = R"({"path":")" + path + R"("})";
    switch (dialect_) {
      case Dialect::anthropic:
        list_.push_back(R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                        R"(","name":"read","input":)" + arguments + "}]}");
        list_.push_back(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id +
                        R"(","content":")" + result + "\"}]}");
        break;
      case Dialect::openai_chat:
        list_.push_back(
            R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
            R"(","type":"function","function":{"name":"read","arguments":"{\"path\":\")" + path +
            R"(\"}"}}]})");
        list_.push_back(R"({"role":"tool","tool_call_id":")" + id + R"(","content":")" + result +
                        "\"}");
        break;
      case Dialect::openai_responses:
        list_.push_back(R"({"type":"function_call","call_id":")" + id +
                        R"(","name":"read","arguments":"{\"path\":\")" + path + R"(\"}"})");
        list_.push_back(R"({"type":"function_call_output","call_id":")" + id + R"(","output":")" +
                        result + "\"}");
        break;
      case Dialect::gemini:
        list_.push_back(R"({"role":"model","parts":[{"functionCall":{"id":")" + id +
                        R"(","name":"read","args":)" + arguments + "}}]}");
        list_.push_back(R"({"role":"user","parts":[{"functionResponse":{"id":")" + id +
                        R"(","name":"read","response":{"output":")" + result + "\"}}}]}");
        break;
    }
  }
  void ask(const std::string& member) { asked_ = member + ','; }  // in every request
  void write_lists_of_one_as_objects() { is_one_ = true; }        // as Gemini takes them
  void drop_last(std::size_t count) { list_.resize(list_.size() - std::min(count, list_.size())); }
  std::vector<std::string>& list() { return list_; }
  Dialect dialect() const { return dialect_; }

  std::string body() const {
    std::string list;
    for (const std::string& each : list_) list += (list.empty() ? "" : ",") + each;
    switch (dialect_) {
      case Dialect::anthropic:
        return R"({"model":"m",)" + asked_ +
               R"("max_tokens":100,"system":"Be brief.","messages":[)" + list +
               R"(],"stream":true})";
      case Dialect::openai_chat:
        return R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)" + list + "]}";
      case Dialect::openai_responses:
        return R"({"model":"m",)" + asked_ +
               R"("instructions":"Be brief.","store":false,"input":[)" + list + "]}";
      case Dialect::gemini: break;
    }
    const std::string said = R"({"text":"Be brief."})";
    return R"({"systemInstruction":{"parts":)" + (is_one_ ? said : '[' + said + ']') +
           R"(},"contents":[)" + list + "]}";
  }

 private:
  bool is_gemini() const { return dialect_ == Dialect::gemini; }
  void add(const std::string& role, const std::string& text) {
    list_.push_back(is_gemini() ? R"({"role":")" + role + R"(","parts":[{"text":")" + text + "\"}]}"
                                : R"({"role":")" + role + R"(","content":")" + text + "\"}");
  }

  const Dialect dialect_;
  std::vector<std::string> list_;
  std::string asked_;
  std::uint64_t calls_ = 0;
  bool is_one_ = false;
};

// The messages of a request, one by one.
std::vector<std::string> messages_in(const std::string& body) {
  const JsonText json = JsonText::parse(body, {}).value();
  std::vector<std::string> all;
  for (const std::string_view name : {"messages", "input", "contents"})
    if (const std::optional<JsonValue> list = json.root().find(name))
      for (const JsonValue message : list->elements()) all.emplace_back(message.raw());
  return all;
}

// The client's list as its request has it, and as the conversation has it.
std::vector<Identity> list_in(const Client& client, const std::string& body) {
  const ClientRequest request =
      read_client_request(client_of(client.dialect(), {}), client.dialect(), body).value();
  std::vector<Identity> list;
  for (const op::Reconcile::Sent& sent : request.reconcile.list) list.push_back(sent.identity);
  return list;
}
std::vector<Identity> list_in(const Client& client, const History& history) {
  const VolatileParts parts = client_of(client.dialect(), {}).volatile_parts;
  std::vector<Identity> list;
  for (const Ordinal ordinal : history.client_list())
    list.push_back(identity(history.log()[ordinal.value], parts));
  return list;
}

bool begins_with(const std::vector<std::string>& list, const std::vector<std::string>& beginning) {
  return list.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), list.begin());
}

class TurnEditorTest : public ::testing::Test {
 protected:
  void set(std::string_view policy) {
    policy_ = policy;
    restart();
  }
  // As a new process does.
  void restart() {
    open_.clear();
    recorder_.emplace(TurnRecorderOptions{
        .store = [this](const std::string&) { return store_; },
        .open = [this](const std::string&, const std::string& id) { return open(id); },
        .secret = "secret"});
    editor_.emplace(TurnEditorOptions{.policies = GatewayPolicies::read(policy_).value()});
  }
  std::shared_ptr<Conversation> open(const std::string& id) {
    std::shared_ptr<Conversation>& conversation = open_[id];
    if (!conversation)
      conversation = std::make_shared<Conversation>(
          Conversation::open(store_, id, {}, {.make = OpenOptions::Make::never}).value());
    return conversation;
  }

  struct Sent {
    RequestEdit edit;
    std::string asked;  // what the client sent
    std::string body;   // what the upstream gets
    std::string conversation;
    std::uint64_t version = 0;
  };
  enum class When : std::uint8_t { in_time, late };
  // One request and its answer, which the client takes over.
  Sent send(Client& client, const std::string& answer, const std::string& session = "s",
            When when = When::in_time) {
    SentRequest request{.dialect = client.dialect(),
                        .method = "POST",
                        .head = {.headers = {{"x-session-id", session}}}};
    request.body = std::make_shared<const std::string>(client.body());
    request.at_ms = now_ms_;
    const std::shared_ptr<ObservedTurn> turn = recorder_->begin(request).value();
    std::optional<RequestEdit> offered;
    const auto offer = [&](RequestEdit edit) { offered = std::move(edit); };
    RequestEdit edit = editor_->edit(*turn, now_ms_, offer);
    if (when == When::late) edit = offered.value_or(RequestEdit());
    Sent sent{.edit = std::move(edit),
              .asked = *request.body,
              .body = *request.body,
              .conversation = turn->conversation->id()};
    if (sent.edit.body) sent.body = *sent.edit.body;
    if (sent.edit.on_sent) sent.edit.on_sent();
    now_ms_ += 1000;
    recorder_->finish(*turn, answered(client.dialect(), answer)).value();
    sent.version = turn->conversation->requests({.last = 1}).value().front().version.value;
    client.answer(answer);
    return sent;
  }
  static GivenAnswer answered(Dialect dialect, const std::string& text) {
    const std::string quoted = '"' + text + '"';
    switch (dialect) {
      case Dialect::anthropic:
        return {.status = 200,
                .body = R"({"id":"x","role":"assistant","content":[{"type":"text","text":)" +
                        quoted + "}]}"};
      case Dialect::openai_chat:
        return {.status = 200,
                .body = R"({"id":"x","choices":[{"message":{"role":"assistant","content":)" +
                        quoted + "}}]}"};
      case Dialect::openai_responses:
        return {
            .status = 200,
            .body =
                R"({"id":"x","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":)" +
                quoted + "}]}]}"};
      case Dialect::gemini: break;
    }
    return {.status = 200,
            .body = R"({"candidates":[{"content":{"role":"model","parts":[{"text":)" + quoted +
                    "}]}}]}"};
  }
  static std::string field(const RequestEdit& edit, std::string_view name) {
    for (const http::Field& each : edit.answer_fields)
      if (each.name == name) return each.value;
    return {};
  }
  // Versions up to this one that were edits of a policy.
  std::uint64_t edits(const std::string& conversation, std::uint64_t version) {
    std::uint64_t count = 0;
    for (const Receipt& receipt : open(conversation)->history().receipts())
      count += !receipt.strategy.empty() && receipt.version <= version;
    return count;
  }

  std::int64_t now_ms_ = 1'780'000'000'000;
  std::string policy_;
  const std::shared_ptr<Store> store_ = memory_store();
  std::map<std::string, std::shared_ptr<Conversation>> open_;
  std::optional<TurnRecorder> recorder_;
  std::optional<TurnEditor> editor_;
};

std::string long_text(std::uint64_t words, std::uint64_t seed) {
  std::string text;
  for (std::uint64_t i = 0; i < words; ++i) text += "word" + std::to_string(seed * 31 + i) + " ";
  return text;
}

TEST_F(TurnEditorTest, WhatNoPolicyEditsGoesAsItCame) {
  set("observe");
  Client client(Dialect::anthropic);
  client.say(long_text(50'000, 1));
  const Sent sent = send(client, "ok");
  EXPECT_FALSE(sent.edit.body.has_value());
  EXPECT_TRUE(sent.edit.answer_fields.empty());
}

TEST_F(TurnEditorTest, BelowTheThresholdARequestGoesAsItCameWithItsVersion) {
  set(R"({"mode":"compact","thresholdTokens":100000})");
  Client client(Dialect::anthropic);
  client.say("hello");
  const Sent sent = send(client, "hi");
  EXPECT_FALSE(sent.edit.body.has_value());
  EXPECT_EQ(field(sent.edit, "x-undertext-version"), "1");
  EXPECT_EQ(field(sent.edit, "x-undertext-saved"), "0");
}

TEST_F(TurnEditorTest, AnEditIsAVersionWithAReceiptAndTheClientsListStaysWhole) {
  set(R"({"mode":"compact","thresholdTokens":3000})");
  Client client(Dialect::anthropic);
  Sent sent;
  for (int i = 0; i < 20; ++i) {
    client.say("look at file " + std::to_string(i));
    client.use_tool("f" + std::to_string(i), long_text(200, static_cast<std::uint64_t>(i)));
    sent = send(client, "seen " + std::to_string(i));
  }
  ASSERT_TRUE(sent.edit.body.has_value());
  EXPECT_LT(sent.edit.body->size(), client.body().size() / 2);
  EXPECT_GT(std::stoull(field(sent.edit, "x-undertext-saved")), 1000u);
  EXPECT_GT(edits(sent.conversation, sent.version), 0u);
  const History history = open(sent.conversation)->history();
  EXPECT_EQ(list_in(client, history), list_in(client, sent.asked));
}

TEST_F(TurnEditorTest, AnEditKeepsASystemPromptThatIsAnObjectInsteadOfAList) {
  set(R"({"mode":"compact","thresholdTokens":3000})");
  Client client(Dialect::gemini);
  client.write_lists_of_one_as_objects();
  Sent sent;
  for (int i = 0; i < 20; ++i) {
    client.say("look at file " + std::to_string(i));
    client.use_tool("f" + std::to_string(i), long_text(200, static_cast<std::uint64_t>(i)));
    sent = send(client, "seen " + std::to_string(i));
  }
  ASSERT_TRUE(sent.edit.body.has_value());
  EXPECT_LT(sent.edit.body->size(), client.body().size() / 2);
  EXPECT_NE(sent.edit.body->find("Be brief."), std::string::npos) << *sent.edit.body;
  EXPECT_EQ(open(sent.conversation)->view()[0].text(), "Be brief.");
}

TEST_F(TurnEditorTest, WhereAnEditIsLateThePrefixGoesOnAndTheRecordTellsWhatWasSent) {
  set(R"({"mode":"compact","thresholdTokens":3000})");
  Client client(Dialect::anthropic);
  std::vector<std::string> before;
  std::uint64_t seed = 0, edits_before = 0;
  const auto turn = [&](When when) {
    client.say("look at file " + std::to_string(++seed));
    client.use_tool("f" + std::to_string(seed), long_text(200, seed));
    return send(client, "seen " + std::to_string(seed), "s", when);
  };
  const auto edits_in_all = [&](const Sent& sent) {
    return edits(sent.conversation, open(sent.conversation)->version().value);
  };
  int late = 0;
  for (int i = 0; i < 40; ++i) {
    // The first edit has no view behind it that differs from the client's list.
    const bool is_to_be_late = edits_before > 0;
    const Sent sent = turn(When::in_time);
    const bool is_edited = edits_in_all(sent) > edits_before;
    if (!is_edited && edits_before > 0) {
      EXPECT_TRUE(begins_with(messages_in(sent.body), before)) << i;
    }
    edits_before = edits_in_all(sent);
    before = messages_in(sent.body);
    if (!is_to_be_late) continue;
    const Sent next = turn(When::late);
    if (edits_in_all(next) == edits_before) {
      EXPECT_FALSE(next.edit.body.has_value()) << "nothing was offered, for nothing takes long";
      before.clear();
      continue;
    }
    ++late;
    ASSERT_TRUE(next.edit.body.has_value()) << i;
    EXPECT_TRUE(begins_with(messages_in(next.body), before)) << "the prefix goes on";
    EXPECT_EQ(edits(next.conversation, next.version), edits_before)
        << "the model has not seen the edit";
    edits_before = edits_in_all(next);
    before.clear();
  }
  EXPECT_GT(late, 0);
}

TEST_F(TurnEditorTest, FitThatCannotFitGoesThroughUnchanged) {
  set(R"({"mode":"fit","windowTokens":300})");
  Client client(Dialect::anthropic);
  client.say(long_text(2000, 1));
  const Sent sent = send(client, "ok");
  EXPECT_FALSE(sent.edit.body.has_value());
  EXPECT_EQ(edits(sent.conversation, sent.version), 0u);
}

TEST_F(TurnEditorTest, ColdEditsOnlyAfterThePause) {
  set(R"({"mode":"tidy","when":"cold","windowTokens":100000,"thresholdTokens":2000,"keepResults":1})");
  Client client(Dialect::anthropic);
  Sent sent;
  for (int i = 0; i < 8; ++i) {
    client.say("look at file " + std::to_string(i));
    client.use_tool("f" + std::to_string(i), long_text(200, static_cast<std::uint64_t>(i)));
    sent = send(client, "seen");
    EXPECT_FALSE(sent.edit.body.has_value()) << i;
  }
  now_ms_ += 301'000;
  client.say("and now?");
  sent = send(client, "good");
  EXPECT_TRUE(sent.edit.body.has_value());
  EXPECT_EQ(edits(sent.conversation, sent.version), 1u);
}

// Each trigger of an edit that the client asks for: what is sent stays whole up to it, and is
// edited beyond.
TEST_F(TurnEditorTest, AnAskedEditComesAtItsTriggerAndNotBefore) {
  struct Case {
    Dialect dialect;
    std::string edit;  // with the trigger's value in place of N
    std::uint64_t below, above;
    bool clears;
  };
  const Case cases[] = {
      {Dialect::anthropic,
       R"("type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":N})", 8, 7, true},
      {Dialect::anthropic,
       R"("type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":N})", 100'000,
       4'000, true},
      {Dialect::anthropic,
       R"("type":"compact_20260112","trigger":{"type":"input_tokens","value":N})", 100'000, 4'000,
       false},
      {Dialect::openai_responses, R"("type":"compaction","compact_threshold":N)", 100'000, 4'000,
       false},
  };
  for (const Case& each : cases)
    for (const bool is_above : {false, true}) {
      SCOPED_TRACE(each.edit + (is_above ? " above" : " below"));
      set(R"({"compaction":"pointer"})");
      std::string edit = each.edit;
      edit.replace(edit.find('N'), 1, std::to_string(is_above ? each.above : each.below));
      const bool is_list = each.dialect == Dialect::openai_responses;
      Client client(each.dialect);
      client.ask(R"("context_management":)" +
                 (is_list ? "[{" + edit + "}]" : R"({"edits":[{)" + edit + "}]}"));
      client.say("read the files");
      for (int i = 0; i < 8; ++i) {
        client.use_tool("f" + std::to_string(i), long_text(300, static_cast<std::uint64_t>(i)));
        client.answer("Read part " + std::to_string(i));
        client.say("go on");
      }
      const Sent sent = send(client, "done", "asked" + std::to_string(now_ms_));
      EXPECT_EQ(sent.body.find("context_management"), std::string::npos)
          << "no upstream has to know it";
      EXPECT_EQ(sent.body.find("word1 ") == std::string::npos, is_above);
      EXPECT_EQ(sent.body.find("result of read cleared") != std::string::npos,
                is_above && each.clears);
      EXPECT_NE(sent.body.find("word" + std::to_string(7 * 31 + 299) + " "), std::string::npos)
          << "the newest result stays";
      EXPECT_EQ(edits(sent.conversation, sent.version), is_above ? 1u : 0u);
    }
}

TEST_F(TurnEditorTest, AnAskedCompactionThatFreesTooLittleIsTriedAgainWhenTheViewHasGrown) {
  for (const bool pauses : {false, true}) {
    SCOPED_TRACE(pauses ? "with a pause" : "without");
    set(R"({"compaction":"pointer"})");
    editor_.emplace(TurnEditorOptions{.policies = GatewayPolicies::read(policy_).value(),
                                      .seal = std::make_shared<CompactionSeal>("key")});
    Client client(Dialect::anthropic);
    // The tools alone are above the trigger.
    client.ask(
        R"("tools":[{"name":"read","input_schema":{"type":"object"},"description":")" +
        long_text(4000, 1) +
        R"("}],"context_management":{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":4000},"pause_after_compaction":)" +
        (pauses ? "true" : "false") + "}]}");
    client.say("read the files");
    std::uint64_t made = 0, answered_here = 0;
    constexpr std::uint64_t turns = 24, words = 120;
    for (std::uint64_t i = 0; i < turns; ++i) {
      client.use_tool("f" + std::to_string(i), long_text(words, i));
      const Sent sent = send(client, "Read part " + std::to_string(i), pauses ? "p" : "s");
      client.say("go on");
      answered_here += sent.edit.answer.has_value();
      EXPECT_EQ(sent.body.find("context_management") == std::string::npos, !sent.edit.answer);
      made = edits(sent.conversation, open(sent.conversation)->version().value);
    }
    EXPECT_GT(made, 1u) << "it is tried again";
    EXPECT_LT(made, turns / 2);
    EXPECT_EQ(answered_here, pauses ? made : 0u) << "no client pauses for ever";
  }
}

TEST_F(TurnEditorTest, APauseThatIsMadeTooLateLosesNoAnswer) {
  for (const bool is_late : {false, true}) {
    SCOPED_TRACE(is_late ? "late" : "in time");
    set(R"({"compaction":"pointer"})");
    editor_.emplace(TurnEditorOptions{.policies = GatewayPolicies::read(policy_).value(),
                                      .seal = std::make_shared<CompactionSeal>("key")});
    Client client(Dialect::anthropic);
    client.ask(
        R"("context_management":{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":4000},"pause_after_compaction":true}]})");
    client.say("read the files");
    for (int i = 0; i < 8; ++i) {
      client.use_tool("f" + std::to_string(i), long_text(300, static_cast<std::uint64_t>(i)));
      client.answer("Read part " + std::to_string(i));
      client.say("go on");
    }
    SentRequest request{.dialect = client.dialect(),
                        .head = {.headers = {{"x-session-id", is_late ? "late" : "in-time"}}}};
    request.body = std::make_shared<const std::string>(client.body());
    request.at_ms = now_ms_;
    const std::shared_ptr<ObservedTurn> turn = recorder_->begin(request).value();
    const RequestEdit edit = editor_->edit(*turn, now_ms_);
    ASSERT_TRUE(edit.answer);
    const std::uint64_t before = turn->conversation->history().log().size();
    const GivenAnswer paused{
        .status = 200, .form = ResponseForm::event_stream, .body = edit.answer_body};
    recorder_->finish(*turn, is_late ? answered(client.dialect(), "done") : paused).value();
    const History history = turn->conversation->history();
    EXPECT_EQ(history.log().size(), before + (is_late ? 1u : 0u))
        << "the block alone is no message";
    EXPECT_EQ(history.view()[history.view().size() - 1].text(), is_late ? "done" : "go on");
  }
}

TEST_F(TurnEditorTest, ThinkingOfOlderTurnsIsClearedAndComesBackWithExpand) {
  set(R"({"compaction":"pointer"})");
  Client client(Dialect::anthropic);
  client.ask(
      R"("context_management":{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}}]})");
  client.say("begin");
  Sent sent;
  for (int i = 0; i < 5; ++i) {
    client.list().push_back(
        R"({"role":"assistant","content":[{"type":"thinking","thinking":"thought)" +
        std::to_string(i) + " " + long_text(20, 1) +
        R"(","signature":"s"},{"type":"text","text":"said)" + std::to_string(i) + "\"}]}");
    client.say("go on");
    sent = send(client, "ok");
    client.say("and on");
    EXPECT_EQ(sent.body.find("context_management"), std::string::npos);
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_NE(sent.body.find("said" + std::to_string(i)), std::string::npos);
    EXPECT_EQ(sent.body.find("thought" + std::to_string(i)) != std::string::npos, i >= 4)
        << sent.body;
  }
  const std::shared_ptr<Conversation> conversation = open(sent.conversation);
  std::uint64_t expanded = 0;
  for (std::uint64_t i = 0; i < conversation->view().size(); ++i) {
    const Ordinal ordinal = conversation->view().ordinal(i);
    if (conversation->history().stands_for(ordinal).empty()) continue;
    conversation->apply({op::Expand{i}}).value();
    ++expanded;
  }
  EXPECT_EQ(expanded, 4u);
  std::string all;
  for (const Message& message : conversation->view()) all += message.json();
  EXPECT_NE(all.find("thought0"), std::string::npos);
}

TEST_F(TurnEditorTest, RepairMendsWhatTheProviderWouldRefuseAndReportsIt) {
  Client client(Dialect::anthropic);
  client.say("read it");
  client.use_tool("x", "one");
  client.list().erase(client.list().begin() + 1);  // the call
  set("fit");
  EXPECT_FALSE(send(client, "ok", "a").edit.body.has_value());
  client.drop_last(1);
  set(R"({"repair":"on"})");
  const Sent sent = send(client, "ok", "b");
  ASSERT_TRUE(sent.edit.body.has_value());
  EXPECT_EQ(field(sent.edit, "x-undertext-repaired"), "PAIR_ORPHAN_RESULT");
  EXPECT_TRUE(
      validate_request(*sent.edit.body, default_profile(Dialect::anthropic)).value().empty());
}

TEST_F(TurnEditorTest, TheRestOfARequestStaysAsItIs) {
  set(R"({"mode":"compact","thresholdTokens":1000})");
  Client client(Dialect::anthropic);
  client.say("begin");
  Sent sent;
  for (std::uint64_t i = 0; i < 10; ++i) {
    client.use_tool("f", long_text(300, i));
    sent = send(client, "seen");
    client.say("go on");
  }
  ASSERT_TRUE(sent.edit.body.has_value());
  EXPECT_TRUE(sent.edit.body->starts_with(
      R"({"model":"m","max_tokens":100,"system":"Be brief.","messages":[)"))
      << *sent.edit.body;
  EXPECT_TRUE(sent.edit.body->ends_with(R"(],"stream":true})"));
}

// Random lists in all dialects under random policies. Holds after each request: what is sent is
// valid; what was sent before is its beginning, unless an edit was recorded or the client changed
// its list; the conversation knows the client's whole list; without an edit the request goes as it
// came. A restart changes none of this.
TEST_F(TurnEditorTest, RandomClientsUnderRandomPoliciesSendValidRequestsWithStablePrefixes) {
  const char* const given = std::getenv("SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::uint64_t edited = 0;
  for (int story = 0; story < 24; ++story) {
    const Dialect dialect = static_cast<Dialect>(below(4));
    constexpr std::string_view modes[] = {"fit", "tidy", "compact"}, whens[] = {"limit", "cold"},
                               survivals[] = {"{}", R"({"paths":0.5})", R"({"constraints":1})"},
                               tools[] = {"none", "recall"};
    set(R"({"mode":")" + std::string(modes[below(3)]) + R"(","when":")" +
        std::string(whens[below(2)]) + R"(","windowTokens":)" + std::to_string(2000 + below(6000)) +
        R"(,"headroomTurns":)" + std::to_string(below(5)) + R"(,"keepResults":)" +
        std::to_string(below(4)) + R"(,"repair":")" + (below(2) ? "on" : "off") +
        R"(","survival":)" + std::string(survivals[below(3)]) + R"(,"tools":")" +
        std::string(tools[below(2)]) + "\"}");
    SCOPED_TRACE(policy_ + " " + std::string(name(dialect)));
    const std::string session = "session-" + std::to_string(story);
    Client client(dialect);
    std::vector<std::string> before;
    std::uint64_t edits_before = 0;
    for (int turn = 0; turn < 30; ++turn) {
      bool is_append_only = true;
      if (below(12) == 0 && client.list().size() > 4) {
        client.drop_last(1 + below(3));
        is_append_only = false;
      }
      client.say("question " + std::to_string(below(1000)) + " of turn " + std::to_string(turn));
      for (std::uint64_t k = below(3); k > 0; --k)
        client.use_tool("file" + std::to_string(below(5)), long_text(below(250), below(9)));
      if (below(10) == 0) restart();
      if (below(6) == 0) now_ms_ += 7'200'000;
      const std::string body = client.body();
      // a call without result
      if (!validate_request(body, default_profile(dialect)).value().empty()) is_append_only = false;
      const Sent sent = send(client, "answer " + std::to_string(below(1000)), session);
      const bool was_valid = validate_request(body, default_profile(dialect)).value().empty();
      const std::vector<std::string> now = messages_in(sent.body);
      const std::uint64_t edits_now = edits(sent.conversation, sent.version);
      edited += edits_now - std::min(edits_now, edits_before);
      if (sent.edit.body || was_valid) {
        EXPECT_TRUE(validate_request(sent.body, default_profile(dialect)).value().empty())
            << sent.body;
      }
      if (edits_now == 0 && was_valid) {
        EXPECT_EQ(sent.body, body);
      }
      if (is_append_only && edits_now == edits_before) {
        EXPECT_TRUE(begins_with(now, before)) << turn;
      }
      const History history = open(sent.conversation)->history();
      EXPECT_EQ(list_in(client, history), list_in(client, sent.asked));
      before = now;
      edits_before = edits_now;
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(edited, 0u) << "nothing was tried";
}

}  // namespace
}  // namespace undertext
