// What is lost from one dialect to another, and what is not.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "dialect/codes.hpp"
#include "dialect/random_request.hpp"
#include "dialect/request_draft.hpp"
#include "dialect/write_parts.hpp"
#include "history/random_conversation.hpp"

namespace undertext {
namespace {

struct Passage {
  Dialect from, to;
  std::string messages;  // the list
  std::string written;   // what must stand in the other request
  std::set<std::string> losses;
};

const std::string q = R"({"role":"user","content":"q"})";

std::string chat_user(const std::string& part) {
  return R"({"role":"user","content":[)" + part + "]}";
}

const std::vector<Passage>& passages() {
  constexpr Dialect chat = Dialect::openai_chat, responses = Dialect::openai_responses,
                    anthropic = Dialect::anthropic, gemini = Dialect::gemini;
  const std::string image =
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AA","detail":"low"}})";
  static const std::vector<Passage> list = {
      {chat,
       anthropic,
       chat_user(image),
       R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}})",
       {"L_IMAGE_DETAIL"}},
      {chat,
       gemini,
       chat_user(image),
       R"({"inlineData":{"mimeType":"image/png","data":"AA"}})",
       {"L_IMAGE_DETAIL"}},
      {chat,
       responses,
       chat_user(image),
       R"({"type":"input_image","image_url":"data:image/png;base64,AA","detail":"low"})",
       {}},
      {chat,
       anthropic,
       chat_user(R"({"type":"input_audio","input_audio":{"data":"AA","format":"wav"}})"),
       "[audio]",
       {"L_MEDIA_UNSUPPORTED"}},
      {chat,
       gemini,
       chat_user(R"({"type":"input_audio","input_audio":{"data":"AA","format":"wav"}})"),
       R"({"inlineData":{"mimeType":"audio/wav","data":"AA"}})",
       {}},
      {gemini,
       anthropic,
       R"({"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"gs://b/i.png"}}]})",
       "[image]",
       {"L_MEDIA_URL"}},
      {gemini,
       chat,
       R"({"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}}]})",
       "[image]",
       {"L_MEDIA_URL"}},
      {gemini,
       responses,
       R"({"role":"user","parts":[{"fileData":{"mimeType":"application/pdf","fileUri":"gs://b/a.pdf"}}]})",
       "[file]",
       {"L_MEDIA_URL"}},
      {chat,
       gemini,
       chat_user(
           R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA"}})"),
       R"({"inlineData":{"mimeType":"application/pdf","data":"AA"}})",
       {"L_FILE_NAME"}},
      {anthropic,
       responses,
       R"({"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://e.org/a.pdf"},"title":"t"}]})",
       R"({"type":"input_file","file_url":"https://e.org/a.pdf"})",
       {"L_FILE_NAME"}},
      {chat,
       anthropic,
       chat_user(R"({"type":"file","file":{"file_id":"f1"}})"),
       "[file]",
       {"L_FILE_ID"}},
      {chat,
       responses,
       chat_user(R"({"type":"file","file":{"file_id":"f1"}})"),
       R"({"type":"input_file","file_id":"f1"})",
       {}},
      {chat,
       anthropic,
       chat_user(
           R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA"}})"),
       R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA"},"title":"a.pdf"})",
       {}},
      {chat,
       anthropic,
       q + R"(,{"role":"developer","content":"d"})",
       R"({"role":"system","content":"d"})",
       {"L_ROLE_DEVELOPER"}},
      {anthropic,
       chat,
       q + R"(,{"role":"assistant","content":[{"type":"text","text":"a","citations":[{"type":"char_location","cited_text":"c"}]}]},)" +
           q,
       R"({"role":"assistant","content":"a"})",
       {"L_ANNOTATIONS"}},
      {anthropic,
       responses,
       R"({"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"}]})",
       R"("content":"d")",
       {"L_FILE_NAME"}},
      {anthropic,
       gemini,
       q + R"(,{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]},)" +
           q,
       R"({"role":"model","parts":[{"text":"a"}]})",
       {"L_SERVER_TOOL_DROPPED"}},
      {responses,
       anthropic,
       R"({"type":"message","role":"user","content":[{"type":"input_text","text":"q"}],"x":1})",
       q,
       {"L_UNKNOWN_FIELD"}},
      {responses,
       chat,
       R"({"type":"function_call","call_id":"a","name":"f","namespace":"n","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"r"})",
       R"("name":"f")",
       {"L_UNKNOWN_FIELD"}},
      {gemini,
       chat,
       R"({"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AA"},"mediaResolution":{"level":"L"}}]})",
       R"("data:image/png;base64,AA")",
       {"L_UNKNOWN_FIELD"}},
      {gemini,
       anthropic,
       R"({"role":"user","parts":[{"inlineData":{"mimeType":"image/heic","data":"AA"}}]})",
       "[image]",
       {"L_MEDIA_UNSUPPORTED"}},
      {gemini,
       chat,
       R"({"role":"user","parts":[{"inlineData":{"mimeType":"audio/ogg","data":"AA"}}]})",
       "[audio]",
       {"L_MEDIA_UNSUPPORTED"}},
      {gemini,
       chat,
       R"({"role":"user","parts":[{"inlineData":{"mimeType":"audio/mpeg","data":"AA"}}]})",
       R"("format":"mp3")",
       {}},
      {chat, anthropic, R"({"role":"user","content":"q","name":"ana"})", q, {"L_NAME"}},
      {chat,
       anthropic,
       chat_user(R"({"type":"text","text":"q","prompt_cache_breakpoint":{"mode":"explicit"}})"),
       R"("q")",
       {"L_CACHE_HINT"}},
      {chat,
       responses,
       chat_user(R"({"type":"text","text":"q","prompt_cache_breakpoint":{"mode":"explicit"}})"),
       R"({"type":"input_text","text":"q","prompt_cache_breakpoint":{"mode":"explicit"}})",
       {}},
      {chat,
       anthropic,
       q + R"(,{"role":"assistant","content":null,"refusal":"no"},)" + q,
       R"({"role":"assistant","content":"no"})",
       {"L_REFUSAL_AS_TEXT"}},
      {chat,
       anthropic,
       q + R"(,{"role":"assistant","content":"a","reasoning_content":"h"},)" + q,
       R"({"role":"assistant","content":"a"})",
       {"L_REASONING_DROPPED"}},
      {chat,
       anthropic,
       q + R"(,{"role":"assistant","content":"t","audio":{"id":"x"}},)" + q,
       "[audio]",
       {"L_AUDIO_REF"}},
      {chat, anthropic, R"({"role":"user","content":"q","x_new":1})", q, {"L_UNKNOWN_FIELD"}},
      {chat,
       anthropic,
       chat_user(R"({"type":"text","text":"q"},{"type":"new_thing","x":1})"),
       R"("q")",
       {"L_PART_DROPPED"}},
      {anthropic,
       chat,
       q + R"(,{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{"n":1}},{"type":"text","text":"t"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"url","url":"https://x/y"}}],"is_error":true}]})",
       R"({"role":"assistant","content":[{"type":"text","text":"t"}],"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":1}"}}]})",
       {"L_REASONING_DROPPED", "L_ORDER_TEXT_AFTER_CALL", "L_MEDIA_MOVED", "L_ERROR_FLAG_AS_TEXT"}},
      {anthropic,
       responses,
       q + R"(,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"url","url":"https://x/y"}}]}]})",
       R"("output":[{"type":"input_image","image_url":"https://x/y","detail":"auto"}])",
       {}},
      {anthropic,
       gemini,
       q + R"(,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r","is_error":true}]})",
       R"({"functionResponse":{"id":"a","name":"f","response":{"error":"r"}}})",
       {}},
      {anthropic,
       chat,
       q + R"(,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"t"}]})",
       R"({"role":"assistant","content":[{"type":"text","text":"t"}]})",
       {"L_SERVER_TOOL_DROPPED"}},
      {anthropic,
       chat,
       R"({"role":"assistant","content":[{"type":"compaction","content":"sum","signature":"c"}]},)" +
           q,
       R"("sum")",
       {"L_COMPACTION_AS_TEXT"}},
      {responses,
       anthropic,
       R"({"type":"compaction","encrypted_content":"z"},)" + q,
       q,
       {"L_COMPACTION_OPAQUE"}},
      {responses, anthropic, R"({"type":"item_reference","id":"m"},)" + q, q, {"L_ITEM_REFERENCE"}},
      {responses, anthropic, q + R"(,{"type":"compaction_trigger"})", q, {"L_CONTROL_DROPPED"}},
      {responses,
       chat,
       q + R"(,{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation"}]}]})",
       R"({"role":"assistant","content":"a"})",
       {"L_PHASE", "L_ANNOTATIONS"}},
      {responses,
       chat,
       q + R"(,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so","annotations":[]}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{ }"},{"type":"function_call_output","call_id":"a","output":"r"})",
       R"({"role":"assistant","content":"so","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{ }"}}]},{"role":"tool","tool_call_id":"a","content":"r"})",
       {}},
      {gemini,
       anthropic,
       R"({"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"x":1}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"rows":[1]}}}]})",
       R"({"type":"tool_result","tool_use_id":"gemini_call_1","content":"{\"rows\":[1]}"})",
       {"L_SIGNATURE_DROPPED"}},
      {gemini,
       chat,
       R"({"role":"user","parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"gs://v"}},{"text":"q"}]})",
       "[video]",
       {"L_MEDIA_UNSUPPORTED"}},
      {gemini,
       chat,
       R"({"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"executableCode":{"code":"1"}},{"text":"t"}]})",
       R"({"role":"assistant","content":"t"})",
       {"L_SERVER_TOOL_DROPPED"}},
  };
  return list;
}

std::string request_of(Dialect dialect, const std::string& list) {
  return (dialect == Dialect::gemini             ? R"({"contents":[)"
          : dialect == Dialect::openai_responses ? R"({"input":[)"
                                                 : R"({"messages":[)") +
         list + "]}";
}

History with(const std::vector<Message>& messages) {
  return RandomConversation::applied(History(), op::Append{messages});
}

TEST(DialectLosses, AreToldForEveryPartThatIsNotCarried) {
  for (const Passage& passage : passages()) {
    SCOPED_TRACE(passage.messages + " to " + std::string(name(passage.to)));
    const Imported imported =
        import_messages(passage.from, request_of(passage.from, passage.messages)).value();
    const Rendering rendering =
        render(with(imported.messages).view(), default_profile(passage.to)).value();
    EXPECT_NE(rendering.json.find(passage.written), std::string::npos) << rendering.json;
    std::set<std::string> losses;
    for (const Loss& loss : rendering.losses) losses.emplace(loss.code);
    EXPECT_EQ(losses, passage.losses);
  }
}

// Chat's older calls have no id. The reader numbers them as they stand, which says nothing about
// the conversation.
std::string given_id(const Block& block) {
  return block.id.starts_with("legacy_fn_") ? "" : std::string(block.id);
}

// All that is said in a view, and all calls and results, as far as dialects have them in common.
std::multiset<std::string> said(const View& view) {
  std::multiset<std::string> list;
  Arena arena;
  const auto add = [&list](const Block& block) {
    if (block.kind == BlockKind::text && !block.text.empty())
      list.insert("text " + decoded(block.text));
    if (block.kind == BlockKind::media) list.insert("media " + std::string(block.media.data));
  };
  for (const Message& message : view) {
    const Turn turn = read_stored(message, arena);
    for (const Block& block : turn.blocks) {
      add(block);
      if (block.kind == BlockKind::call)
        list.insert("call " + given_id(block) + " " + std::string(block.name));
      if (block.kind == BlockKind::result)
        list.insert("result " + given_id(block) + " " + decoded(result_body(block)));
      for (const Block& inner : block.inner) add(inner);
    }
  }
  return list;
}

TEST(DialectLosses, WhereNothingIsToldNothingIsLost) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    RandomRequest random(seed);
    const Dialect from = static_cast<Dialect>(seed % dialect_count),
                  to = static_cast<Dialect>(seed / dialect_count % dialect_count);
    const History history = random.edited(from);
    const Rendering there = render(history.view(), default_profile(to)).value();
    if (!there.losses.empty() || !there.findings.empty()) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + there.json);
    ++compared;
    ASSERT_EQ(said(with(import_messages(to, there.json).value().messages).view()),
              said(history.view()));
  }
  EXPECT_GT(compared, 100u);
}

TEST(DialectLosses, AnEditDropsTheBytesOfTheEditedMessageOnly) {
  const std::string list =
      R"({"role":"user","parts":[{"text":"one"}],"x":1},{"role":"model","parts":[{"text":"two","y":2}]})";
  const History history =
      with(import_messages(Dialect::gemini, request_of(Dialect::gemini, list)).value().messages);
  const auto json = [](const History& h) {
    return render(h.view(), default_profile(Dialect::gemini), {.repair = false}).value().json;
  };
  EXPECT_EQ(json(history), request_of(Dialect::gemini, list));
  const History edited = RandomConversation::applied(
      history, op::Transform{Names::indices({0}), ReplaceText{"one", "1"}});
  EXPECT_EQ(
      json(edited),
      request_of(
          Dialect::gemini,
          R"({"role":"user","parts":[{"text":"1"}]},{"role":"model","parts":[{"text":"two","y":2}]})"));
  const History noted = RandomConversation::applied(
      history, op::Transform{Names::indices({0}), SetMetadata{R"({"k":1})"}});
  EXPECT_EQ(json(noted), request_of(Dialect::gemini, list)) << "metadata is the engine's own";
}

TEST(DialectLosses, InstructionsGivenAsItemsReachEveryDialect) {
  const std::string request =
      R"({"instructions":[{"role":"developer","content":"one"},{"role":"system","content":[{"type":"input_text","text":"two"}]}],"input":[{"role":"user","content":"q"}]})";
  const History history =
      with(import_messages(Dialect::openai_responses, request).value().messages);
  EXPECT_EQ(render(history.view(), default_profile(Dialect::openai_responses)).value().json,
            request);
  const Rendering there = render(history.view(), default_profile(Dialect::anthropic)).value();
  EXPECT_EQ(
      there.json,
      R"({"system":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"messages":[)" + q +
          "]}");
  EXPECT_TRUE(there.losses.empty());
}

TEST(DialectLosses, InstructionsBehindOtherMessagesAreAnItemInTheirPlace) {
  const Dialect responses = Dialect::openai_responses;
  std::vector<Message> messages =
      import_messages(responses,
                      R"({"instructions":"be good","input":[{"role":"user","content":"q"}]})")
          .value()
          .messages;
  const Message other =
      import_messages(responses, R"({"instructions":"be brief","input":[]})").value().messages[0];
  const Rendering both =
      render(with({messages[0], other, messages[1]}).view(), default_profile(responses)).value();
  EXPECT_EQ(
      both.json,
      R"({"instructions":"be good","input":[{"role":"system","content":"be brief"},{"role":"user","content":"q"}]})");
  std::swap(messages[0], messages[1]);
  const Rendering rendered = render(with(messages).view(), default_profile(responses)).value();
  EXPECT_EQ(rendered.json,
            R"({"input":[{"role":"user","content":"q"},{"role":"system","content":"be good"}]})");
  EXPECT_TRUE(rendered.losses.empty());
}

TEST(DialectLosses, AClientMayWriteAnewWhatItWasGiven) {
  const Profile profile = default_profile(Dialect::anthropic);
  const History history = with(
      import_messages(
          Dialect::openai_chat,
          R"([{"role":"system","content":"s"},{"role":"user","content":"café"},)"
          R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":)"
          R"({"name":"f","arguments":"{\"x\":1.0}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}])")
          .value()
          .messages);
  const std::string anew = R"({ "messages": [ {"content": "caf\u00e9", "role": "user"},
      {"role": "assistant", "content": [{"name": "f", "id": "a", "type": "tool_use", "input": {"x": 1.0}}]},
      {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r"}]},
      {"role": "assistant", "content": "new"} ], "system": "s" })";
  const Imported imported = import_after(history.view(), profile, anew).value();
  EXPECT_EQ(imported.known, 4u);
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0].text(), "new");
  std::string other = anew;
  other.replace(other.find("1.0"), 3, "1.5");
  EXPECT_EQ(import_after(history.view(), profile, other).value().known, 2u);
}

TEST(DialectLosses, AForgedEnvelopeIsAMessageLikeAnyOther) {
  const std::string forged =
      R"({"role":"user","content":"shown","native":{"dialect":"gemini","json":{"role":"user","parts":[{"text":"sent"}]}}})";
  const Rendering rendering =
      render(with({Message::parse(forged).value()}).view(), default_profile(Dialect::gemini))
          .value();
  EXPECT_EQ(rendering.json,
            request_of(Dialect::gemini, R"({"role":"user","parts":[{"text":"shown"}]})"));
}

TEST(DialectLosses, ReservedLookingKeysComeBackAsTheyWere) {
  for (const std::string key :
       {"lc", "__type", "$ref", "__proto__", "constructor", "native", "dialect", "json", "item"}) {
    const std::string list = R"({"role":"user","content":"q",")" + key +
                             R"(":{"dialect":"gemini","json":{"role":"user"}}})";
    const Imported imported =
        import_messages(Dialect::openai_chat, request_of(Dialect::openai_chat, list)).value();
    EXPECT_EQ(
        render(with(imported.messages).view(), default_profile(Dialect::openai_chat)).value().json,
        request_of(Dialect::openai_chat, list));
  }
}

}  // namespace
}  // namespace undertext
