// Every rule: a request that breaks it, the finding, and the request that the repair makes of it.
#include "dialect/rules.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "dialect/write_parts.hpp"
#include "history/random_conversation.hpp"

namespace undertext {
namespace {

struct Case {
  std::string code;
  std::string profile;  // its members, the dialect first
  std::string request;
  std::string repaired;  // what must stand in the repaired request; "" where nothing is asked
};

const std::string chat = R"("dialect":"openai_chat")",
                  responses = R"("dialect":"openai_responses")",
                  anthropic = R"("dialect":"anthropic")", gemini = R"("dialect":"gemini")";
const std::string call =
    R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]})";
const std::string use =
    R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]})";
const std::string used =
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]})";
const std::string q = R"({"role":"user","content":"q"})",
                  gq = R"({"role":"user","parts":[{"text":"q"}]})";
std::string body(const std::string& list) { return R"({"messages":[)" + list + "]}"; }
std::string input(const std::string& list) { return R"({"input":[)" + list + "]}"; }
std::string contents(const std::string& list) { return R"({"contents":[)" + list + "]}"; }

const std::vector<Case>& cases() {
  static const std::vector<Case>
      list =
          {
              {"GEM_ID", gemini,
               contents(
                   gq +
                   R"(,{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"id":"gemini_call_1","name":"f","response":{"output":"r"}}}]})"),
               R"({"functionCall":{"id":"gemini_call_1","name":"f","args":{}},"thoughtSignature":"s"})"},
              {"ITEM_DUP_ID", responses,
               input(
                   q +
                   R"(,{"type":"message","id":"m","role":"assistant","content":"a"},{"type":"message","id":"m","role":"assistant","content":"a"})"),
               R"({"type":"message","id":"m","role":"assistant","content":"a"},{"type":"message","role":"assistant","content":"a"})"},
              {"NO_MESSAGES", chat, body(""), R"({"role":"user","content":"Continue."})"},
              {"NO_MESSAGES", responses, input(""), R"({"role":"user","content":"Continue."})"},
              {"NO_MESSAGES", anthropic, body(""), R"({"role":"user","content":"Continue."})"},
              {"NO_MESSAGES", gemini, contents(""),
               R"({"role":"user","parts":[{"text":"Continue."}]})"},
              {"MEDIA_UNSUPPORTED", anthropic,
               body(
                   R"({"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/heic","data":"AA"}}]})"),
               body(R"({"role":"user","content":"[image]"})")},
              {"MEDIA_UNSUPPORTED", anthropic,
               body(
                   R"({"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"AA"}}]})"),
               body(R"({"role":"user","content":"[file]"})")},
              {"MEDIA_UNSUPPORTED", chat,
               body(
                   R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/heic;base64,AA"}}]})"),
               body(R"({"role":"user","content":"[image]"})")},
              {"MEDIA_URL", anthropic,
               body(
                   R"({"role":"user","content":[{"type":"image","source":{"type":"url","url":"gs://b/i.png"}}]})"),
               body(R"({"role":"user","content":"[image]"})")},
              {"MEDIA_URL", chat,
               body(
                   R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/i.png"}}]})"),
               body(R"({"role":"user","content":"[image]"})")},
              {"RESULT_ERROR_CONTENT", anthropic,
               body(
                   q + "," + use +
                   R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":""}]})"),
               R"({"type":"tool_result","tool_use_id":"a","content":"[error]","is_error":true})"},
              {"RESULT_ERROR_CONTENT", anthropic,
               body(
                   q + "," + use +
                   R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true}]})"),
               R"({"type":"tool_result","tool_use_id":"a","content":"[error]","is_error":true})"},
              {"RESULT_ERROR_CONTENT", anthropic,
               body(
                   q + "," + use +
                   R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"e"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]}]})"),
               R"("content":[{"type":"text","text":"e"},{"type":"text","text":"[image: see below]"}],"is_error":true},{"type":"image")"},
              {"THINK_LAST_BLOCK", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"}]},{"role":"assistant","content":"a"},)" +
                   q),
               R"([{"type":"thinking","thinking":"h","signature":"s"},{"type":"text","text":"a"}])"},
              {"EMPTY_TEXT", gemini,
               contents(gq +
                        R"(,{"role":"model","parts":[{"text":"","thought":true},{"text":"a"}]},)" +
                        gq),
               R"({"role":"model","parts":[{"text":"a"}]})"},
              {"PAIR_ORPHAN_RESULT", chat,
               body(q + R"(,{"role":"tool","tool_call_id":"x","content":"r"})"), body(q)},
              {"PAIR_ORPHAN_RESULT", anthropic,
               body(q + R"(,{"role":"assistant","content":"a"},)" + used),
               body(
                   q +
                   R"(,{"role":"assistant","content":"a"},{"role":"user","content":"Continue."})")},
              {"PAIR_ORPHAN_RESULT", responses,
               input(q + R"(,{"type":"function_call_output","call_id":"x","output":"r"})"),
               input(q)},
              {"PAIR_ORPHAN_RESULT", gemini,
               contents(
                   R"({"role":"user","parts":[{"text":"q"},{"functionResponse":{"name":"f","response":{"output":"r"}}}]})"),
               contents(R"({"role":"user","parts":[{"text":"q"}]})")},
              {"PAIR_MISSING_RESULT", chat, body(q + "," + call), R"("tool_call_id":"a")"},
              {"PAIR_MISSING_RESULT", chat,
               body(q + "," + call + "," + q +
                    R"(,{"role":"tool","tool_call_id":"a","content":"r"})"),
               body(q + "," + call + R"(,{"role":"tool","tool_call_id":"a","content":"r"},)" + q)},
              {"PAIR_MISSING_RESULT", anthropic, body(q + "," + use + "," + q),
               R"("is_error":true)"},
              {"PAIR_MISSING_RESULT", responses,
               input(q + R"(,{"type":"function_call","call_id":"a","name":"f","arguments":"{}"})"),
               R"("function_call_output","call_id":"a")"},
              {"PAIR_MISSING_RESULT", gemini,
               contents(gq +
                        R"(,{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]})"),
               R"({"functionResponse":{"name":"f","response":{"error")"},
              {"PAIR_DUP_RESULT", anthropic,
               body(
                   q + "," + use +
                   R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"a","content":"2"}]})"),
               R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"2"}]})"},
              {"PAIR_DUP_CALL_ID", anthropic,
               body(q + "," + use + "," + used + "," + use + "," + used), ""},
              {"PAIR_DUP_CALL_ID", responses,
               input(
                   R"({"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"2"})"),
               ""},
              {"GEM_COUNT", gemini,
               contents(
                   gq +
                   R"(,{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]})"),
               R"("name":"g","response")"},
              {"GEM_CALL_POSITION", gemini,
               contents(
                   gq +
                   R"(,{"role":"model","parts":[{"text":"t"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]})"),
               R"({"role":"model","parts":[{"text":"t"},{"functionCall":{"name":"f","args":{}}}]})"},
              {"RESULT_NOT_FIRST", anthropic,
               body(
                   q + "," + use +
                   R"(,{"role":"user","content":[{"type":"text","text":"so"},{"type":"tool_result","tool_use_id":"a","content":"1"}]})"),
               R"([{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"so"}])"},
              {"SERVER_PAIR_ORPHAN", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"text","text":"t"}]},)" +
                   q),
               R"("content":[{"type":"text","text":"t"}])"},
              {"THINK_LAST_BLOCK", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"thinking","thinking":"h","signature":"s"}]},)" +
                   q),
               R"("content":[{"type":"text","text":"t"}])"},
              {"THINK_UNSIGNED", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":""},{"type":"text","text":"t"}]},)" +
                   q),
               R"("content":[{"type":"text","text":"t"}])"},
              {"THINK_MISSING", anthropic + R"(,"thinking_required":true)",
               body(q + "," + use + "," + used), R"("thinking":{"type":"disabled"})"},
              {"REASONING_NO_FOLLOWER", responses,
               input(R"({"type":"reasoning","id":"rs_1","summary":[]},)" + q), input(q)},
              {"ITEM_REF_UNSTORED", responses + R"(,"store":false)",
               input(q + R"(,{"type":"item_reference","id":"m"})"), input(q)},
              {"REASONING_NOT_PORTABLE", responses + R"(,"store":false)",
               input(R"({"type":"reasoning","summary":[]},{"role":"assistant","content":"a"})"),
               input(R"({"role":"assistant","content":"a"})")},
              {"GEM_SIG_MISSING", gemini + R"(,"gemini3":true)",
               contents(
                   gq +
                   R"(,{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]})"),
               "skip_thought_signature_validator"},
              {"REASONING_CONTENT_MISSING", chat + R"(,"requires_reasoning_content":true)",
               body(q + R"(,{"role":"assistant","content":"a"},)" + call +
                    R"(,{"role":"tool","tool_call_id":"a","content":"r"})"),
               R"({"role":"assistant","content":"a","reasoning_content":""})"},
              {"EMPTY_MESSAGE", anthropic, body(q + R"(,{"role":"assistant","content":""},)" + q),
               body(q + "," + q)},
              {"EMPTY_MESSAGE", gemini, contents(gq + R"(,{"role":"user","parts":[]})"),
               contents(gq)},
              {"EMPTY_TEXT", anthropic,
               body(
                   R"({"role":"user","content":[{"type":"text","text":" \n"},{"type":"text","text":"q"}]})"),
               body(R"({"role":"user","content":[{"type":"text","text":"q"}]})")},
              {"CONTENT_NULL", chat, body(q + R"(,{"role":"assistant","content":null})"),
               R"({"role":"assistant","content":""})"},
              {"FIRST_NOT_USER", anthropic, body(R"({"role":"assistant","content":"a"},)" + q),
               R"([{"role":"user")"},
              {"NO_MESSAGES", anthropic, R"({"system":"s","messages":[]})",
               body(R"({"role":"user","content":"Continue."})").substr(1)},
              {"NO_MESSAGES", gemini,
               R"({"systemInstruction":{"parts":[{"text":"s"}]},"contents":[]})",
               R"("contents":[{"role":"user","parts":[{"text":"Continue."}]}])"},
              {"FIRST_NOT_USER", chat + R"(,"first_user":true)",
               body(R"({"role":"system","content":"s"})"),
               R"({"role":"system","content":"s"},{"role":"user")"},
              {"TRAILING_ASSISTANT", anthropic, body(q + R"(,{"role":"assistant","content":"a"})"),
               R"({"role":"user","content":"Continue."}]})"},
              {"TRAILING_WS", anthropic + R"(,"prefill":true)",
               body(q + R"(,{"role":"assistant","content":"a \n"})"),
               R"({"role":"assistant","content":"a"})"},
              {"ROLE_ALTERNATION", chat + R"(,"strict_alternation":true)", body(q + "," + q),
               body(R"({"role":"user","content":"q\n\nq"})")},
              {"ROLE_ALTERNATION", anthropic + R"(,"strict_alternation":true)", body(q + "," + q),
               body(
                   R"({"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"q"}]})")},
              {"ROLE_ALTERNATION", chat + R"(,"prefill_twice":false)",
               body(q + "," + q +
                    R"(,{"role":"assistant","content":"a"},{"role":"assistant","content":"b"})"),
               body(q + "," + q + R"(,{"role":"assistant","content":"a\n\nb"})")},
              {"USER_AFTER_TOOL", chat + R"(,"user_after_tool":false)",
               body(q + "," + call + R"(,{"role":"tool","tool_call_id":"a","content":"r"},)" + q),
               R"({"role":"assistant","content":"Understood."})"},
              {"SYSTEM_POSITION", chat + R"(,"system_anywhere":false)",
               body(q + R"(,{"role":"system","content":"s"})"),
               "<system-reminder>s</system-reminder>"},
              {"SYSTEM_POSITION", anthropic + R"(,"system_anywhere":false)",
               body(q + R"(,{"role":"system","content":"s"})"),
               "<system-reminder>s</system-reminder>"},
              {"SYSTEM_ROLE_UNSUPPORTED", chat + R"(,"system_role":false)",
               body(R"({"role":"system","content":"s"},)" + q),
               "<system-reminder>s</system-reminder>"},
              {"SYSTEM_ROLE_UNSUPPORTED", chat + R"(,"developer_role":false)",
               body(R"({"role":"developer","content":"s"},)" + q),
               body(R"({"role":"system","content":"s"},)" + q)},
              {"MEDIA_IN_TOOL_RESULT", chat,
               body(
                   q + "," + call +
                   R"(,{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"https://x/y"}}]})"),
               R"({"role":"user","content":[{"type":"image_url")"},
              {"ARGS_NOT_OBJECT", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[1]}]},)" +
                   used),
               R"("input":{"_raw":[1]})"},
              {"CALL_ID_FORMAT", chat, body(q + R"(,{"role":"assistant","content":null,"tool_calls":[{"id":"0123456789012345678901234567890123456789x","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"0123456789012345678901234567890123456789x","content":"r"})"),
               R"("id":"call_)"},
              {"CALL_ID_FORMAT", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a.b","content":"r"}]})"),
               R"("id":"call_)"},
              {"TOOL_NAME_FORMAT", chat,
               body(
                   q +
                   R"(,{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"my.tool","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"})"),
               R"("name":"my_tool_0e36dc91")"},
              {"TOOL_NAME_FORMAT", responses,
               input(
                   q +
                   R"(,{"type":"function_call","call_id":"a","name":"my.tool","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"r"})"),
               R"("name":"my_tool_0e36dc91")"},
              {"TOOL_NAME_FORMAT", gemini,
               contents(
                   gq +
                   R"(,{"role":"model","parts":[{"functionCall":{"name":"1.my tool","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"1.my tool","response":{"output":"1"}}}]})"),
               R"("functionResponse":{"name":"_.my_tool_c16c1102")"},
              {"CALL_ID_FORMAT", responses,
               input(
                   q +
                   R"(,{"type":"function_call","call_id":"0123456789012345678901234567890123456789012345678901234567890123x","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"0123456789012345678901234567890123456789012345678901234567890123x","output":"r"})"),
               R"("function_call_output","call_id":"call_)"},
              {"CACHE_TOO_MANY", anthropic,
               R"({"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"2","cache_control":{"type":"ephemeral"}},{"type":"text","text":"3","cache_control":{"type":"ephemeral"}},{"type":"text","text":"4","cache_control":{"type":"ephemeral"}}]}]})",
               R"([{"type":"text","text":"1"},{"type":"text","text":"2","cache_control")"},
              {"CACHE_ON_EMPTY", anthropic,
               body(
                   R"({"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"","cache_control":{"type":"ephemeral"}}]})"),
               body(R"({"role":"user","content":[{"type":"text","text":"q"}]})")},
              {"CACHE_ON_THINKING", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s","cache_control":{"type":"ephemeral"}},{"type":"text","text":"t"}]},)" +
                   q),
               R"({"type":"thinking","thinking":"h","signature":"s"})"},
              {"CACHE_TTL_ORDER", anthropic,
               body(
                   R"({"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"2","cache_control":{"type":"ephemeral","ttl":"1h"}}]})"),
               R"({"type":"text","text":"2"})"},
              {"COMPACTION_NOT_FIRST", anthropic,
               body(
                   q +
                   R"(,{"role":"assistant","content":[{"type":"compaction","content":"s","signature":"c"},{"type":"text","text":"t"}]},)" +
                   q),
               R"("content":[{"type":"text","text":"s"},{"type":"text","text":"t"}])"},
              {"COMPACTION_MULTIPLE", anthropic,
               body(
                   R"({"role":"assistant","content":[{"type":"compaction","content":"1","signature":"c"}]},)" +
                   q +
                   R"(,{"role":"assistant","content":[{"type":"compaction","content":"2","signature":"d"},{"type":"text","text":"t"}]},)" +
                   q),
               R"("content":[{"type":"text","text":"2"},{"type":"text","text":"t"}])"},
              {"COMPACTION_TRIGGER_NOT_LAST", responses,
               input(R"({"type":"compaction_trigger"},)" + q), input(q)},
              {"STATE_CONFLICT", responses,
               R"({"previous_response_id":"r","conversation":"c","input":[)" + q + "]}", ""},
              {"TOOL_UNDEFINED", anthropic,
               R"({"tools":[{"name":"g"}],"messages":[)" + q + "," + use + "," + used + "]}", ""},
              {"GEM_PART_UNION", gemini,
               contents(
                   R"({"role":"user","parts":[{"text":"q","inlineData":{"mimeType":"image/png","data":"AA"}},{}]})"),
               R"([{"text":"q"},{"inlineData":{"mimeType":"image/png","data":"AA"}}])"},
              {"EMPTY_LIST", chat,
               body(q + R"(,{"role":"assistant","content":"a","tool_calls":[],"refusal":null},)" +
                    q),
               R"({"role":"assistant","content":"a","refusal":null})"},
              {"EMPTY_LIST", chat, body(R"({"role":"user","content":[ ]},)" + q),
               body(R"({"role":"user","content":""},)" + q)},
              {"EMPTY_LIST", chat,
               body(q + "," + call + R"(,{"role":"tool","tool_call_id":"a","content":[]})"),
               R"({"role":"tool","tool_call_id":"a","content":""})"},
              {"GEM_ROLE", gemini, contents(R"({"role":"assistant","parts":[{"text":"q"}]})"),
               contents(gq)},
          };
  return list;
}

std::set<std::string> codes_of(const std::vector<Finding>& findings) {
  std::set<std::string> codes;
  for (const Finding& finding : findings) codes.emplace(finding.code);
  return codes;
}

History with(const std::vector<Message>& messages) {
  return RandomConversation::applied(History(), op::Append{messages});
}

TEST(DialectRules, EachIsFoundAndRepaired) {
  for (const Case& rule : cases()) {
    SCOPED_TRACE(rule.code + " " + rule.request);
    const Profile profile = Profile::parse("{" + rule.profile + "}").value();
    const std::set<std::string> found = codes_of(validate_request(rule.request, profile).value());
    EXPECT_TRUE(found.count(rule.code) > 0) << testing::PrintToString(found);
    const Imported imported = import_messages(profile.dialect, rule.request).value();
    const Rendering rendering =
        render(with(imported.messages).view(), profile, {.request = imported.rest}).value();
    EXPECT_TRUE(codes_of(rendering.findings).count(rule.code) > 0);
    std::set<std::string> left = codes_of(validate_request(rendering.json, profile).value());
    EXPECT_TRUE(left.empty()) << testing::PrintToString(left) << rendering.json;
    EXPECT_NE(rendering.json.find(rule.repaired), std::string::npos) << rendering.json;
    for (const Finding& finding : rendering.findings)
      EXPECT_FALSE(finding.error.empty() || finding.repair.empty());
  }
}

// Those that need to know what was sent before.
const std::string thought =
    R"({"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s1"},{"type":"text","text":"t"}]})";

History of(Dialect dialect, const std::string& request) {
  return with(import_messages(dialect, request).value().messages);
}

TEST(DialectRules, AnEditBeforeABoundThinkingBlockBreaksIt) {
  const Profile profile = find_profile("anthropic_bound").value();
  const History sent = of(Dialect::anthropic, body(q + "," + thought + "," + q));
  const History edited = RandomConversation::applied(
      sent, op::Transform{Names::indices({0}), ReplaceText{"q", "other"}});
  RenderOptions options{.sent = sent.view()};
  const Rendering stripped = render(edited.view(), profile, options).value();
  ASSERT_EQ(codes_of(stripped.findings), std::set<std::string>{"THINK_PREFIX_CHANGED"});
  EXPECT_EQ(stripped.findings[0].place.index, 1u);
  EXPECT_EQ(stripped.findings[0].about, "something changed at message 0 of the view");
  EXPECT_EQ(stripped.json.find("thinking"), std::string::npos);
  options.bound = BoundThinking::drop_block;
  const Rendering dropped = render(edited.view(), profile, options).value();
  EXPECT_NE(dropped.json.find("thinking"), std::string::npos);
  EXPECT_EQ(dropped.advice.size(), 1u);
  options.bound = BoundThinking::refuse;
  EXPECT_EQ(render(edited.view(), profile, options).error().code, ErrorCode::conflict);
  // What is only appended breaks nothing.
  const History longer =
      RandomConversation::applied(sent, op::Append{{Message::make(Role::assistant, "a").value(),
                                                    Message::make(Role::user, "b").value()}});
  EXPECT_TRUE(validate(longer.view(), profile, {.sent = sent.view()}).value().empty());
  // Nor does a cache marker.
  const std::string
      marked =
          R"({"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]})",
      plain = R"({"role":"user","content":[{"type":"text","text":"q"}]})";
  EXPECT_TRUE(
      validate(of(Dialect::anthropic, body(plain + "," + thought + "," + q)).view(), profile,
               {.sent = of(Dialect::anthropic, body(marked + "," + thought + "," + q)).view()})
          .value()
          .empty());
}

TEST(DialectRules, CallsThatShareAnIdKeepTheirResults) {
  const auto uses = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i)
      list += (i ? "," : "") +
              (R"({"type":"tool_use","id":"a","name":"f","input":{"n":)" + std::to_string(i)) +
              "}}";
    return R"({"role":"assistant","content":[)" + list + "]}";
  };
  const auto results = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i)
      list += (i ? "," : "") +
              (R"({"type":"tool_result","tool_use_id":"a","content":"r)" + std::to_string(i)) +
              "\"}";
    return R"({"role":"user","content":[)" + list + "]}";
  };
  const Profile profile = default_profile(Dialect::anthropic);
  // The second exchange uses an id that the first has used, twice.
  const std::string twice = body(q + "," + use + "," + used + "," + uses(2) + "," + results(2));
  const Rendering rendering = render(of(Dialect::anthropic, twice).view(), profile).value();
  std::map<std::string, std::string> said;  // id: what was answered
  Arena arena;
  for (const Message& message :
       import_messages(Dialect::anthropic, rendering.json).value().messages)
    for (const Block& block : read_stored(message, arena).blocks) {
      if (block.kind == BlockKind::call && block.json != "{}")
        said[std::string(block.id)] = std::string(block.json);
      if (block.kind == BlockKind::result && said.count(std::string(block.id)) > 0)
        said[std::string(block.id)] += block.text;
    }
  std::set<std::string> pairs;
  for (const auto& [id, pair] : said) pairs.insert(pair);
  EXPECT_EQ(pairs, (std::set<std::string>{R"({"n":0}r0)", R"({"n":1}r1)"})) << rendering.json;
  // However many there are.
  const std::string many = body(q + "," + uses(3000) + "," + results(3000));
  EXPECT_TRUE(
      validate_request(render(of(Dialect::anthropic, many).view(), profile).value().json, profile)
          .value()
          .empty());
}

// "f R1, g R2": each result that a request of `dialect` holds, behind the call that has its id.
std::string answered(const History& history, Dialect dialect) {
  const std::string json = render(history.view(), default_profile(dialect)).value().json;
  const Imported sent = import_messages(dialect, json).value();
  struct Call {
    std::string name;
    bool is_custom = false;
  };
  std::map<std::string, Call> calls;
  std::string told;
  Arena arena;
  for (const Message& message : sent.messages) {
    for (const Block& block : read_stored(message, arena).blocks) {
      const std::string id(block.id), name(block.name);
      if (block.kind == BlockKind::call) calls[id] = {name, block.is_custom};
      if (block.kind != BlockKind::result) continue;
      const Call& made = calls[id];
      if (dialect == Dialect::gemini) {
        EXPECT_EQ(made.name, name) << json;
      }
      if (dialect == Dialect::openai_responses) {
        EXPECT_EQ(made.is_custom, block.is_custom) << json;
      }
      told += (told.empty() ? "" : ", ") + made.name + " " + result_body(block);
    }
  }
  return told;
}

TEST(DialectRules, ResultsOfCallsThatShareAnIdFollowTheOrderOfTheCalls) {
  const auto function = [](const std::string& name) {
    return R"({"id":"c","type":"function","function":{"name":")" + name + R"(","arguments":"{}"}})";
  };
  const auto calling = [](const std::string& calls) {
    return R"(,{"role":"assistant","content":null,"tool_calls":[)" + calls + "]}";
  };
  const auto result = [](const std::string& text) {
    return R"(,{"role":"tool","tool_call_id":"c","content":")" + text + "\"}";
  };
  const auto item = [](const std::string& name) {
    return R"(,{"type":"function_call","call_id":"c","name":")" + name + R"(","arguments":"{}"})";
  };
  const auto output = [](const std::string& text) {
    return R"(,{"type":"function_call_output","call_id":"c","output":")" + text + "\"}";
  };
  const std::string f = function("f"), g = function("g"), h = function("h"),
                    custom = R"({"id":"c","type":"custom","custom":{"name":"p","input":"x"}})",
                    two = result("R1") + result("R2"), more = "," + q;
  struct Shared {
    Dialect from;
    std::string request, answered;
  };
  const std::vector<Shared> all = {
      {Dialect::openai_chat, body(q + calling(f + "," + g) + two), "f R1, g R2"},
      {Dialect::openai_chat, body(q + calling(f + "," + g + "," + h) + two + result("R3")),
       "f R1, g R2, h R3"},
      {Dialect::openai_chat, body(q + calling(f + "," + custom) + two), "f R1, p R2"},
      {Dialect::openai_chat, body(q + calling(custom + "," + f) + two), "p R1, f R2"},
      // one message each
      {Dialect::openai_chat, body(q + calling(f) + calling(g) + two + more), "f R1, g R2"},
      {Dialect::openai_chat,
       body(q + calling(f) + calling(custom) + calling(h) + two + result("R3") + calling(g) +
            result("R4") + more),
       "f R1, p R2, h R3, g R4"},
      {Dialect::openai_responses,
       input(q + item("f") + item("g") + output("R1") + output("R2") + more), "f R1, g R2"},
      // behind what another one said
      {Dialect::openai_chat, body(q + calling(f + "," + g) + more + two), "f R1, g R2"},
      {Dialect::openai_chat, body(q + calling(f) + calling(g) + more + two), "f R1, g R2"},
      // one after another
      {Dialect::openai_chat, body(q + calling(f) + result("R1") + calling(g) + result("R2")),
       "f R1, g R2"},
  };
  for (const Shared& shared : all)
    for (const Dialect to :
         {Dialect::openai_chat, Dialect::openai_responses, Dialect::anthropic, Dialect::gemini})
      EXPECT_EQ(answered(of(shared.from, shared.request), to), shared.answered)
          << shared.request << " to " << static_cast<int>(to);
}

TEST(DialectRules, WhatHoldsOnlyBlankMessagesIsSentAsAUsersWord) {
  const Profile profile = default_profile(Dialect::anthropic);
  const Rendering blank =
      render(of(Dialect::anthropic, body(R"({"role":"user","content":" "})")).view(), profile)
          .value();
  EXPECT_EQ(blank.json, body(R"({"role":"user","content":"Continue."})"));
}

TEST(DialectRules, ABlockThatAnEditBrokeStaysBrokenAndThoseMadeSinceAreKept) {
  const Profile profile = find_profile("anthropic_bound").value();
  std::string later = thought;
  later.replace(later.find("s1"), 2, "s2");
  const auto messages = [](const std::string& list) {
    return import_messages(Dialect::anthropic, body(list)).value().messages;
  };
  History history = with(messages(q + "," + thought + "," + q));
  history = RandomConversation::applied(
      history, op::Transform{Names::indices({0}), ReplaceText{"q", "other"}});
  const History edited =
      RandomConversation::applied(history, op::Append{messages(later + "," + q)});
  RenderOptions options{.sent_before = views_sent(edited, edited.version(), profile).value()};
  const Rendering rendering = render(edited.view(), profile, options).value();
  ASSERT_EQ(rendering.findings.size(), 1u);
  EXPECT_EQ(rendering.findings[0].code, "THINK_PREFIX_CHANGED");
  EXPECT_EQ(rendering.findings[0].place.index, 1u);
  EXPECT_EQ(rendering.json.find("s1"), std::string::npos);
  EXPECT_NE(rendering.json.find("s2"), std::string::npos);
  // Taken back, the edit has broken nothing.
  const History undone = RandomConversation::applied(history, op::Undo{});
  options.sent_before = views_sent(undone, undone.version(), profile).value();
  EXPECT_TRUE(validate(undone.view(), profile, options).value().empty());
  EXPECT_TRUE(
      views_sent(edited, edited.version(), default_profile(Dialect::anthropic)).value().empty());
  EXPECT_EQ(views_sent(edited, Version(9), profile).error().code, ErrorCode::not_found);
}

TEST(DialectRules, AThinkingBlockThatWasChangedIsLeftOut) {
  const Profile profile = default_profile(Dialect::anthropic);
  const History sent = of(Dialect::anthropic, body(q + "," + thought + "," + q));
  std::string changed = thought;
  changed.replace(changed.find("\"h\""), 3, "\"H\"");
  const Rendering rendering =
      render(of(Dialect::anthropic, body(q + "," + changed + "," + q)).view(), profile,
             {.sent = sent.view()})
          .value();
  EXPECT_EQ(codes_of(rendering.findings), std::set<std::string>{"THINK_MODIFIED"});
  EXPECT_EQ(rendering.json.find("thinking"), std::string::npos);
}

TEST(DialectRules, AnItemWhoseReasoningWasRemovedLosesItsId) {
  const Profile profile = default_profile(Dialect::openai_responses);
  const std::string item =
      R"({"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]})";
  const History sent = of(Dialect::openai_responses,
                          input(q + R"(,{"type":"reasoning","id":"rs_1","summary":[]},)" + item));
  const Rendering rendering = render(of(Dialect::openai_responses, input(q + "," + item)).view(),
                                     profile, {.sent = sent.view()})
                                  .value();
  EXPECT_EQ(codes_of(rendering.findings), std::set<std::string>{"REASONING_MISSING"});
  EXPECT_EQ(rendering.json.find("msg_1"), std::string::npos);
}

TEST(DialectRules, TheHistoryTellsWhichItemLostItsReasoning) {
  const Profile profile = default_profile(Dialect::openai_responses);
  // A name that has to be mended, so that the item is written anew.
  const History whole = of(
      Dialect::openai_responses,
      input(
          q +
          R"(,{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","id":"fc_1","call_id":"a","name":"my.f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"r"})"));
  const History cut = RandomConversation::applied(whole, op::Delete{Names::indices({1})});
  const RenderOptions options{.sent_before = views_sent(cut, cut.version(), profile).value()};
  const Rendering rendering = render(cut.view(), profile, options).value();
  EXPECT_EQ(codes_of(rendering.findings),
            (std::set<std::string>{"REASONING_MISSING", "TOOL_NAME_FORMAT"}));
  EXPECT_EQ(rendering.json.find("fc_1"), std::string::npos) << rendering.json;
}

// An item that must have its id cannot go without it.
TEST(DialectRules, AHostedToolWhoseReasoningWasRemovedGoesToo) {
  const Profile profile = default_profile(Dialect::openai_responses);
  const std::string search =
      R"({"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}})";
  const History whole =
      of(Dialect::openai_responses,
         input(q + R"(,{"type":"reasoning","id":"rs_1","summary":[]},)" + search + "," + q));
  const History cut = RandomConversation::applied(whole, op::Delete{Names::indices({1})});
  const Rendering rendering =
      render(cut.view(), profile, {.sent_before = views_sent(cut, cut.version(), profile).value()})
          .value();
  EXPECT_EQ(codes_of(rendering.findings), std::set<std::string>{"REASONING_MISSING"});
  EXPECT_EQ(rendering.json, input(q + "," + q));
  EXPECT_EQ(rendering.losses.at(0).code, "L_SERVER_TOOL_DROPPED");
}

TEST(DialectRules, ReasoningWhoseFollowerWasRemovedIsFoundBeforeOtherReasoning) {
  const Profile profile = default_profile(Dialect::openai_responses);
  const auto thought_item = [](const std::string& id) {
    return R"({"type":"reasoning","id":")" + id + R"(","summary":[]})";
  };
  const auto said = [](const std::string& id) {
    return R"({"type":"message","id":")" + id +
           R"(","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]})";
  };
  const std::string list = q + "," + thought_item("rs_1") + "," + said("m1") + "," +
                           thought_item("rs_2") + "," + said("m2");
  const History whole = of(Dialect::openai_responses, input(list));
  const History cut = RandomConversation::applied(whole, op::Delete{Names::indices({2})});
  const Rendering rendering =
      render(cut.view(), profile, {.sent_before = views_sent(cut, cut.version(), profile).value()})
          .value();
  EXPECT_EQ(codes_of(rendering.findings), std::set<std::string>{"REASONING_NO_FOLLOWER"});
  EXPECT_EQ(rendering.json, input(q + "," + thought_item("rs_2") + "," + said("m2")));
  // Models make several in a row, and nobody removed anything.
  const History made =
      of(Dialect::openai_responses,
         input(q + "," + thought_item("rs_1") + "," + thought_item("rs_2") + "," + said("m2")));
  EXPECT_TRUE(validate(made.view(), profile).value().empty());
}

TEST(DialectRules, FindingsNameTheMessageThatTheyAreAbout) {
  // Three tool messages join one turn of Anthropic; the last two answer nothing.
  const std::string result = R"({"role":"tool","tool_call_id":"@","content":"r"})";
  std::string list = q + "," + call;
  for (const char id : {'a', 'x', 'y'})
    list += "," + std::string(result).replace(result.find('@'), 1, 1, id);
  const std::vector<Finding> findings =
      validate(of(Dialect::openai_chat, body(list)).view(), default_profile(Dialect::anthropic))
          .value();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].place.index, 3u);
  EXPECT_EQ(findings[1].place.index, 4u);
  EXPECT_EQ(findings[1].place.path, "messages.2.content.2");
}

TEST(DialectRules, WhatAnEditLeavesIsAskedAsItIsSent) {
  // Gemini's bytes are void after an edit, and the engine's own form looks like Anthropic's.
  const History whole = of(
      Dialect::gemini,
      contents(
          R"({"role":"user","parts":[{"text":"look here"},{"inlineData":{"mimeType":"image/heic","data":"AA"}}]})"));
  const History edited = RandomConversation::applied(
      whole, op::Transform{Names::indices({0}), ReplaceText{"here", "there"}});
  const Profile profile = default_profile(Dialect::anthropic);
  const Rendering rendering = render(edited.view(), profile).value();
  EXPECT_EQ(rendering.json.find("heic"), std::string::npos) << rendering.json;
  EXPECT_EQ(rendering.losses.at(0).code, "L_MEDIA_UNSUPPORTED");
}

TEST(DialectRules, AProfileMayDoWithoutSome) {
  const std::string request = body(q + R"(,{"role":"assistant","content":"a"})");
  EXPECT_EQ(
      codes_of(validate_request(request, Profile::parse("{" + anthropic + "}").value()).value()),
      std::set<std::string>{"TRAILING_ASSISTANT"});
  EXPECT_TRUE(validate_request(
                  request,
                  Profile::parse("{" + anthropic + R"(,"without":["TRAILING_ASSISTANT"]})").value())
                  .value()
                  .empty());
  EXPECT_EQ(Profile::parse("{" + anthropic + R"(,"without":["NO_SUCH_RULE"]})").error().field,
            "without");
}

TEST(DialectRules, EveryCodeIsTested) {
  std::set<std::string> tested = {"THINK_PREFIX_CHANGED", "THINK_MODIFIED", "REASONING_MISSING"};
  for (const Case& rule : cases()) tested.insert(rule.code);
  for (const Rule& rule : rules())
    EXPECT_TRUE(tested.count(std::string(rule.name)) > 0) << rule.name;
}

// As docs/dialects.md has it.
std::string row_of(const Rule& rule) {
  std::string where;
  const auto add = [&where](const std::string& words) {
    where += (where.empty() ? "" : ", ") + words;
  };
  constexpr std::pair<Dialect, const char*> dialects[] = {{Dialect::openai_chat, "Chat"},
                                                          {Dialect::openai_responses, "Responses"},
                                                          {Dialect::anthropic, "Anthropic"},
                                                          {Dialect::gemini, "Gemini"}};
  const bool is_everywhere =
      std::all_of(std::begin(dialects), std::end(dialects),
                  [&rule](const auto& each) { return (rule.dialects & bit(each.first)) != 0; });
  if (is_everywhere) add("all");
  for (const auto& [dialect, called] : dialects)
    if (!is_everywhere && (rule.dialects & bit(dialect)) != 0) add(called);
  if (rule.flag != nullptr)
    add((rule.wants ? "`" : "not `") + std::string(member_name(rule.flag)) + "`");
  return "| `" + std::string(rule.name) + "` | " + where + " | " + std::string(rule.error) + " | " +
         std::string(rule.repair) + " |\n";
}

TEST(DialectRules, TheManualHasEveryCodeWithItsWords) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "../../docs/dialects.md");
  std::stringstream bytes;
  bytes << file.rdbuf();
  const std::string manual = bytes.str();
  for (const Rule& rule : rules())
    EXPECT_NE(manual.find(row_of(rule)), std::string::npos) << row_of(rule);
  for (const LossText& text : loss_texts())
    EXPECT_NE(manual.find("| `" + std::string(text.code) + "` | " +
                          std::string(name(text.severity)) + " | " + std::string(text.note) + " |"),
              std::string::npos)
        << text.code;
}

}  // namespace
}  // namespace undertext
