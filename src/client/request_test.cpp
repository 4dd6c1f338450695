#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/client.hpp>
#include <undertext/history.hpp>

#include "client/markers.hpp"

namespace undertext {
namespace {

ClientRequest read(std::string_view client, const std::string& body,
                   const ClientRequestHead& head = {}) {
  Result<ClientRequest> request =
      read_client_request(find_client(client).value(), {}, body, {}, head);
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return std::move(request).value();
}

std::string without(const std::string& json) {
  const JsonText text = JsonText::parse(json, {}).value();
  return without_markers(json, text.root());
}

TEST(ClientRequest, MarkersAreLeftOutOfPartsAndOfNothingElse) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"messages":[{"role":"user","content":"x"}]})",
       R"({"messages":[{"role":"user","content":"x"}]})"},
      {R"({"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]})",
       R"({"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]})"},
      {R"([{"content":[{"cache_control":{"a":1}, "text":"x"}]}])",
       R"([{"content":[{"text":"x"}]}])"},
      {R"([{"content":[{"cache_control":null}]}])", R"([{"content":[{}]}])"},
      {R"([{"content":[{"a":1,"cache_control":1,"prompt_cache_breakpoint":2,"b":3}]}])",
       R"([{"content":[{"a":1,"b":3}]}])"},
      {R"([{"content":[{"cache_control":1,"prompt_cache_breakpoint":2,"b":3}]}])",
       R"([{"content":[{"b":3}]}])"},
      {R"({"system":[{"text":"S","cache_control":1}],"tools":[{"name":"t","cache_control":1}],"messages":[]})",
       R"({"system":[{"text":"S"}],"tools":[{"name":"t","cache_control":1}],"messages":[]})"},
      {R"([{"content":[{"type":"tool_result","content":[{"text":"a","cache_control":1}],"cache_control":2}]}])",
       R"([{"content":[{"type":"tool_result","content":[{"text":"a"}]}]}])"},
      {R"([{"content":[{"type":"tool_use","input":{"cache_control":1,"content":[{"cache_control":1}]}}]}])",
       R"([{"content":[{"type":"tool_use","input":{"cache_control":1,"content":[{"cache_control":1}]}}]}])"},
  };
  for (const auto& [given, expected] : cases) EXPECT_EQ(without(given), expected);
}

TEST(ClientRequest, TheSessionStandsWhereTheProfileSays) {
  const std::string body =
      R"({"messages":[{"role":"user","content":"x"}],"metadata":{"user_id":"{\"device\":1,\"session_id\":\"s-1\"}"}})";
  EXPECT_EQ(read("claude_code", body).session, "s-1");
  EXPECT_EQ(read("claude_code", body, {{}, {{"X-Claude-Code-Session-Id", "s-2"}}}).session, "s-2");
  EXPECT_EQ(read("anthropic", body).session, "");
  EXPECT_EQ(read("claude_code", body, {{}, {{"x-claude-code-agent-id", "a-1"}}}).agent, "a-1");
  const ClientRequest codex = read(
      "codex", R"({"input":[],"prompt_cache_key":"k"})",
      {{}, {{"x-codex-turn-metadata", R"({"forked_from_thread_id":"p","request_kind":"turn"})"}}});
  EXPECT_EQ(codex.session, "k");
  EXPECT_EQ(codex.parent, "p");
}

TEST(ClientRequest, WhatARequestIsForIsTold) {
  const auto kind = [](std::string_view client, const std::string& body,
                       const ClientRequestHead& head = {}) {
    return name(read(client, body, head).kind);
  };
  EXPECT_EQ(kind("claude_code", R"({"messages":[{"role":"user","content":"x"}],"tools":[{}]})"),
            "turn");
  EXPECT_EQ(kind("claude_code", R"({"messages":[{"role":"user","content":"x"}]})",
                 {"/v1/messages/count_tokens", {}}),
            "count_tokens");
  EXPECT_EQ(
      kind(
          "claude_code",
          R"({"messages":[{"role":"user","content":"x"}],"tools":[],"output_config":{"format":{}}})"),
      "side_request");
  const ClientRequestHead session = {{}, {{"x-session-id", "s"}}};
  const std::string title =
      R"({"messages":[{"role":"system","content":"You are a title generator."},
      {"role":"user","content":"Generate a title for this conversation:\n"},{"role":"user","content":"x"}])";
  EXPECT_EQ(kind("openai_chat", title + "}", session), "side_request");
  EXPECT_EQ(kind("openai_chat", title + "}"), "turn") << "of no session";
  EXPECT_EQ(kind("openai_chat", title + R"(,"tools":[{}]})", session), "turn");
  EXPECT_EQ(
      kind("claude_code", R"({"messages":[{"role":"user","content":[{"type":"text","text":"x\n"},
                                    {"type":"text","text":"CRITICAL: Respond with TEXT ONLY."}]}],"tools":[{}]})"),
      "compaction");
  EXPECT_EQ(kind("codex", R"({"input":[{"type":"compaction_trigger"}]})"), "compaction");
  EXPECT_EQ(kind("codex", R"({"input":[]})",
                 {{}, {{"X-Codex-Turn-Metadata", R"({"request_kind":"compaction"})"}}}),
            "compaction");
}

TEST(ClientRequest, WhatHoldsOnlyWhatIsNewIsADelta) {
  EXPECT_FALSE(
      read("openai_responses", R"({"input":"x","previous_response_id":null})").reconcile.is_delta);
  const ClientRequest after =
      read("openai_responses", R"({"input":"x","previous_response_id":"resp_1"})");
  EXPECT_TRUE(after.reconcile.is_delta);
  EXPECT_EQ(after.previous_response, "resp_1");
  const auto reference = [](const std::string& more) {
    return read("openai_responses", R"({"input":"x",)" + more + "}").reconcile.reference;
  };
  EXPECT_NE(after.reconcile.reference, 0u);
  EXPECT_EQ(after.reconcile.reference, reference(R"("previous_response_id":"resp_1")"));
  EXPECT_NE(after.reconcile.reference, reference(R"("previous_response_id":"resp_2")"));
  EXPECT_EQ(reference(R"("conversation":"conv_1")"), 0u) << "all its requests have the same one";
  EXPECT_EQ(
      read("openai_responses", R"({"input":"x","conversation":{"id":"conv_1"}})").conversation,
      "conv_1");
  EXPECT_EQ(read("openai_responses", R"({"input":"x","conversation":"conv_2"})").conversation,
            "conv_2");
  for (const std::string name : {"cachedContent", "cached_content"}) {
    const ClientRequest behind =
        read("gemini", R"({"contents":[],")" + name + R"(":"cachedContents/1"})");
    EXPECT_TRUE(behind.reconcile.is_delta);
    EXPECT_EQ(behind.cached_content, "cachedContents/1");
  }
}

TEST(ClientRequest, AnIdThatADialectLacksDoesNotCount) {
  const auto identities = [](const std::string& contents) {
    std::vector<Identity> found;
    for (const op::Reconcile::Sent& sent :
         read("gemini", R"({"contents":[)" + contents + "]}").reconcile.list)
      found.push_back(sent.identity);
    return found;
  };
  const std::string call = R"({"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]})";
  const std::string answer =
      R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]})";
  const std::vector<Identity> both = identities(call + "," + answer + "," + call + "," + answer);
  EXPECT_EQ(both[0], both[2]);
  EXPECT_EQ(both[1], both[3]);
}

// Follows one request after the other.
struct Conversation {
  History history;
  Reconciliation last;

  void follow(std::string_view client, const std::string& body) {
    const Result<Step> step = history.apply({read(client, body).reconcile}, {});
    ASSERT_TRUE(step) << step.error().message;
    history = step->history;
    last = *step->applied.reconciliation;
  }
  std::uint64_t stored() const { return history.stats().total_messages; }
  std::vector<std::uint64_t> list() const {
    std::vector<std::uint64_t> ordinals;
    for (const Ordinal ordinal : history.client_list()) ordinals.push_back(ordinal.value);
    return ordinals;
  }
};

const std::string asked = R"({"role":"user","content":"q"},)";
const std::string answered =
    R"({"type":"reasoning","id":"rs_1","summary":[]},)"
    R"({"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]},)"
    R"({"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"},)";
const std::string named =
    R"({"type":"item_reference","id":"rs_1"},{"type":"item_reference","id":"msg_1"},{"type":"item_reference","id":"fc_1"},)";
const std::string told = R"({"type":"function_call_output","call_id":"c","output":"r"})";

std::string input(const std::string& items) { return R"({"input":[)" + items + "]}"; }

TEST(ClientRequest, AnItemThatIsNamedIsTheItem) {
  Conversation conversation;
  conversation.follow("openai_responses", input(asked + answered + told));
  conversation.follow("openai_responses", input(asked + named + told));
  EXPECT_EQ(conversation.last.outcome, ReconcileOutcome::same);
  conversation.follow("openai_responses",
                      input(asked + named + told + R"(,{"role":"user","content":"next"})"));
  EXPECT_EQ(conversation.last, (Reconciliation{ReconcileOutcome::appended, 5, 1, 0}));
  EXPECT_EQ(conversation.list(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(ClientRequest, AnAnswerThatWasRecordedIsKnownByItsId) {
  Conversation conversation;
  conversation.follow("openai_responses", input(R"({"role":"user","content":"q"})"));
  const std::vector<op::Reconcile::Sent> answer =
      read("openai_responses", input(answered.substr(0, answered.size() - 1))).reconcile.list;
  op::Append append;
  for (const op::Reconcile::Sent& each : answer) append.messages.push_back(each.message);
  conversation.history = conversation.history.apply({append}, {}).value().history;
  conversation.follow("openai_responses", input(asked + named + told));
  EXPECT_EQ(conversation.last, (Reconciliation{ReconcileOutcome::appended, 1, 4, 0}));
  EXPECT_EQ(conversation.stored(), 5u);
}

TEST(ClientRequest, AnItemThatIsNotThereStaysANameOfIt) {
  Conversation conversation;
  const std::string items = asked + R"({"type":"item_reference","id":"msg_9"})";
  conversation.follow("openai_responses", input(items));
  conversation.follow("openai_responses", input(items));
  EXPECT_EQ(conversation.last, (Reconciliation{ReconcileOutcome::same, 2, 0, 0}));
}

TEST(ClientRequest, AReferenceNeedsNoType) {
  Conversation conversation;
  conversation.follow("openai_responses", input(asked + answered + told));
  for (const std::string type : {"", R"("type":null,)"}) {
    std::string items = asked;
    for (const std::string id : {"rs_1", "msg_1", "fc_1"})
      items += "{" + type + R"("id":")" + id + "\"},";
    conversation.follow("openai_responses", input(items + told));
    EXPECT_EQ(conversation.last.outcome, ReconcileOutcome::same) << items;
  }
  Conversation unknown;
  unknown.follow("openai_responses", input(asked + R"({"type":"item_reference","id":"msg_9"})"));
  unknown.follow("openai_responses", input(asked + R"({"id":"msg_9"})"));
  EXPECT_EQ(unknown.last, (Reconciliation{ReconcileOutcome::same, 2, 0, 0}));
}

TEST(ClientRequest, AFrameworksMessagesAreTheSameToTheByteAndKeepTheirMarkers) {
  Conversation conversation;
  const auto list = [](const std::string& message) { return R"({"messages":[)" + message + "]}"; };
  const std::string marked =
      R"({"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]})";
  conversation.follow("framework", list(marked));
  EXPECT_EQ(conversation.history.view()[0].json(), marked);
  conversation.follow("framework", list(R"({"ordinal":0},{"role":"user","content":"y","n":1})"));
  EXPECT_EQ(conversation.last.outcome, ReconcileOutcome::appended);
  conversation.follow("framework", list(R"({"ordinal":0},{"role":"user","content":"y","n":1.0})"));
  EXPECT_EQ(conversation.last.outcome, ReconcileOutcome::edited);
  EXPECT_EQ(conversation.history.view()[1].json(), R"({"role":"user","content":"y","n":1.0})");
}

TEST(ClientRequest, OneConversationMayBeFollowedByTwoProfilesInTurn) {
  Conversation conversation;
  const std::string body =
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}]})";
  conversation.follow("claude_code", body);
  for (const std::string_view client : {"anthropic", "generic", "openai_chat", "framework",
                                        "claude_code", "openai_chat", "framework"}) {
    conversation.follow(client, body);
    EXPECT_EQ(conversation.stored(), 3u) << client;
    EXPECT_EQ(conversation.history.view().size(), 3u) << client;
  }
}

TEST(ClientRequest, OddListsAreFollowed) {
  Conversation conversation;
  const std::string empty = R"({"messages":[]})";
  conversation.follow("anthropic", empty);
  EXPECT_EQ(conversation.history.version(), Version(0));
  std::string many;
  for (int i = 0; i < 300; ++i) many += R"({"role":"user","content":"again"},)";
  const std::string last = R"({"role":"assistant","content":"a"})";
  conversation.follow("anthropic", R"({"messages":[)" + many + last + "]}");
  EXPECT_EQ(conversation.stored(), 301u);
  // One of them less is one less, and nothing is stored again.
  conversation.follow("anthropic",
                      R"({"messages":[)" + many.substr(many.find("},") + 2) + last + "]}");
  EXPECT_EQ(conversation.last, (Reconciliation{ReconcileOutcome::edited, 300, 0, 1}));
  conversation.follow("anthropic", empty);
  EXPECT_EQ(conversation.history.view().size(), 0u);
  conversation.follow("anthropic", R"({"messages":[)" + many + last + "]}");
  EXPECT_EQ(conversation.stored(), 301u);
  const std::string large(10u << 20, 'x');
  const std::string body = R"({"messages":[{"role":"user","content":")" + large + R"("}]})";
  conversation.follow("anthropic", body);
  conversation.follow("anthropic", body);
  EXPECT_EQ(conversation.last.outcome, ReconcileOutcome::same);
  EXPECT_FALSE(read_client_request(find_client("anthropic").value(), {},
                                   R"({"messages":[{"content":"no role"}]})"));
  EXPECT_FALSE(read_client_request(find_client("framework").value(), {},
                                   R"({"messages":[{"ordinal":"1"}]})"));
}

TEST(ClientRequest, ADeltaForAnUnknownResponseAppendsAndDropsNothing) {
  Conversation conversation;
  const std::string delta =
      R"({"input":[{"role":"user","content":"q"}],"previous_response_id":"resp_unknown"})";
  conversation.follow("openai_responses", delta);
  EXPECT_EQ(conversation.last, (Reconciliation{ReconcileOutcome::appended, 0, 1, 0}));
  conversation.follow("openai_responses", R"({"input":[],"previous_response_id":"resp_unknown"})");
  EXPECT_EQ(conversation.last.outcome, ReconcileOutcome::same);
  EXPECT_EQ(conversation.history.view().size(), 1u);
}

TEST(ClientRequest, ProgramsAreKnownByTheirUserAgent) {
  const ClientRequestHead opencode{
      .headers = {{"User-Agent", "opencode/1.0.150 ai-sdk/provider-utils/3.0.19"}}};
  const ClientProfile client = client_of(Dialect::openai_chat, opencode);
  EXPECT_EQ(client.name, "opencode");
  EXPECT_EQ(client.volatile_parts.members,
            find_client("openai_chat").value().volatile_parts.members);
  EXPECT_EQ(client_of(Dialect::anthropic, opencode).name, "opencode");
  const ClientRequestHead gemini{.headers = {{"user-agent", "GeminiCLI/v0.20.0 (linux; x64)"}}};
  EXPECT_EQ(client_of(Dialect::gemini, gemini).name, "gemini_cli");
  EXPECT_EQ(client_of(Dialect::anthropic, gemini).name, "anthropic");
  EXPECT_EQ(client_of(Dialect::gemini, {.headers = {{"user-agent", "curl/8"}}}).name, "gemini");
}

TEST(ClientRequest, SummariesOfGeminiCliAndOpencodeAreCompactions) {
  Conversation conversation;
  conversation.follow(
      "gemini_cli",
      R"({"contents":[{"role":"user","parts":[{"text":"U1"}]},{"role":"model","parts":[{"text":"A1"}]},{"role":"user","parts":[{"text":"U2"}]}]})");
  conversation.follow(
      "gemini_cli",
      R"({"contents":[{"role":"user","parts":[{"text":"<state_snapshot>S</state_snapshot>"}]},{"role":"model","parts":[{"text":"Got it."}]},{"role":"user","parts":[{"text":"U3"}]}]})");
  EXPECT_EQ(conversation.last.outcome, ReconcileOutcome::compacted);

  const ClientProfile opencode = find_client("opencode").value();
  const auto list = [&](const std::string& messages) {
    return read_client_request(opencode, Dialect::openai_chat, R"({"messages":[)" + messages + "]}")
        .value()
        .reconcile;
  };
  History history =
      History()
          .apply(
              {list(
                  R"({"role":"system","content":"S"},{"role":"user","content":"U1"},{"role":"assistant","content":"A1"})")},
              {})
          .value()
          .history;
  const Step step =
      history
          .apply(
              {list(
                  R"({"role":"system","content":"S"},{"role":"user","content":"What did we do so far?"},{"role":"assistant","content":"much"},{"role":"user","content":"U2"})")},
              {})
          .value();
  EXPECT_EQ(step.applied.reconciliation->outcome, ReconcileOutcome::compacted);
}

TEST(ClientRequest, TheQuestionOfOpencodeThatAUserTypesCompactsNothing) {
  const ClientProfile opencode = find_client("opencode").value();
  const auto outcomes = [&](const std::vector<std::string>& requests) {
    std::vector<ReconcileOutcome> found;
    History history;
    for (const std::string& messages : requests) {
      const std::string body = R"({"messages":[{"role":"system","content":"S"},)" + messages + "]}";
      op::Reconcile list =
          read_client_request(opencode, Dialect::openai_chat, body).value().reconcile;
      Step step = history.apply({std::move(list)}, {}).value();
      found.push_back(step.applied.reconciliation->outcome);
      history = step.history;
    }
    return found;
  };
  const std::string question = R"({"role":"user","content":"What did we do so far?"})";
  const auto user = [](const std::string& text) {
    return R"({"role":"user","content":")" + text + R"("})";
  };
  const auto said = [](const std::string& text) {
    return R"(,{"role":"assistant","content":")" + text + R"("},)";
  };
  const ReconcileOutcome appended = ReconcileOutcome::appended, edited = ReconcileOutcome::edited,
                         compacted = ReconcileOutcome::compacted;
  // asked first, and gone on with; then its user goes back behind the answer, and to the beginning
  EXPECT_EQ(outcomes({question, question + said("nothing") + user("U2"),
                      question + said("nothing") + user("U2") + said("A2") + user("U3"),
                      question + said("nothing") + user("other"), user("anew")}),
            (std::vector{appended, appended, appended, edited, edited}));
  // asked in the middle, where what was said before it was taken back
  const std::string
      before = user("U1") + said("A1"),
      tool = R"(,{"role":"assistant","content":"","tool_calls":[)"
             R"({"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},)"
             R"({"role":"tool","tool_call_id":"c1","content":"R"},)";
  EXPECT_EQ(outcomes({before + user("U2") + said("A2") + user("U3"), before + question,
                      before + question + said("much") + user("U4")}),
            (std::vector{appended, edited, appended}));
  // asked first after all was taken back: what answers looks into it
  EXPECT_EQ(outcomes({before + user("U2"), question + tool + user("U3")}),
            (std::vector{appended, edited}));
  EXPECT_EQ(outcomes({before + user("U2"), question + said("much") + user("U3"),
                      question + said("more") + user("U4")}),
            (std::vector{appended, compacted, compacted}));
}

TEST(ClientRequest, OpencodeAsksForASummaryAndItsSubAgentsNameTheSessionThatAskedThem) {
  const ClientProfile opencode = find_client("opencode").value();
  const ClientRequestHead head{
      .headers = {{"x-session-id", "child"}, {"x-parent-session-id", "ses_1"}}};
  const auto kind = [&](const std::string& text) {
    const std::string body = R"({"messages":[{"role":"user","content":")" + text + R"("}]})";
    return read_client_request(opencode, Dialect::openai_chat, body, {}, head).value();
  };
  EXPECT_EQ(kind(R"(Here is the conversation so far:\n\n<conversation>\n[User]: hi)").kind,
            ClientRequestKind::compaction);
  EXPECT_EQ(kind("Here is the conversation so far: hi").kind, ClientRequestKind::turn);
  EXPECT_EQ(kind("look").asked_by, "ses_1");
  EXPECT_EQ(kind("look").session, "child");
}

TEST(ClientRequest, EveryProfileIsThereByItsName) {
  for (const std::string_view name : client_names())
    EXPECT_EQ(find_client(name).value().name, name);
  EXPECT_EQ(find_client("nobody").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace undertext
