#include "json/request.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json_text.hpp"

namespace undertext {
namespace {

// A conversation whose clock stands still, and the lines said to it.
class Talk {
 public:
  explicit Talk(Settings settings = {}) : conversation_(open(std::move(settings))) {}

  std::string say(std::string_view line) {
    std::string text = answer(conversation_, line);
    EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos) << text;
    EXPECT_TRUE(JsonText::parse(text, {.depth = 1000})) << text;
    return text;
  }
  Conversation& conversation() { return conversation_; }

 private:
  static Conversation open(Settings settings) {
    settings.clock_ms = [] { return std::int64_t{1700000000000}; };
    return Conversation::open(std::move(settings)).value();
  }
  Conversation conversation_;
};

// The error's member, or what else was answered.
std::string error_member(const std::string& text, std::string_view member) {
  const JsonText json = JsonText::parse(text, {.depth = 1000}).value();
  const std::optional<JsonValue> error = json.root().find("error");
  if (!error) return text;
  const std::optional<JsonValue> value = error->find(member);
  if (!value) return "";
  return value->is(JsonType::string) ? value->string() : std::string(value->raw());
}
std::string code(const std::string& text) { return error_member(text, "code"); }
std::string field(const std::string& text) { return error_member(text, "field"); }
std::string path(const std::string& text) { return error_member(text, "path"); }

constexpr std::string_view append_three =
    R"({"operation":"APPEND","messages":[{"role":"system","content":"S"},{"role":"user","content":"U"},{"role":"assistant","content":"A"}]})";

TEST(Request, AnOperationIsAnsweredWithItsNameVersionBatchAndStats) {
  Talk talk;
  EXPECT_EQ(
      talk.say(R"({"operation":"insert","data":{"role":"user","content":"Hello"}})"),
      R"({"ok":true,"operation":"APPEND","version":1,"affectedBatchIndex":0,"stats":{"totalMessages":1,"currentBatchMessages":1,)"
      R"("totalBatches":1,"currentBatchIndex":0,"tokens":5}})");
}

TEST(Request, MessagesComeBackAsTheyWereGiven) {
  Talk talk;
  const std::string message =
      R"({ "content" : "caf\u00e9 \ud83d \/", "role":"user","n":1.50e+3,"x":[{},{"z":null}] })";
  talk.say(R"({"operation":"APPEND","messages":[)" + message + "]}");
  EXPECT_EQ(talk.say(R"({"query":"messages"})"),
            R"({"ok":true,"messages":[)" + message + R"(],"ordinals":[0]})");
}

TEST(Request, LineBreaksBetweenTheTokensOfAMessageBecomeSpaces) {
  Talk talk;
  talk.conversation()
      .apply(Operation{
          op::Append{{Message::parse("{\"role\":\"user\",\r\n\t\"content\":\"a\\nb\"}").value()}}})
      .value();
  EXPECT_EQ(talk.say(R"({"query":"messages"})"),
            "{\"ok\":true,\"messages\":[{\"role\":\"user\",  "
            "\t\"content\":\"a\\nb\"}],\"ordinals\":[0]}");
}

TEST(Request, EveryQueryHasItsAnswer) {
  Talk talk;
  talk.say(append_three);
  talk.say(R"({"operation":"CLEAR","description":"fresh"})");
  talk.say(R"({"operation":"UNDO"})");
  const std::string s = R"({"role":"system","content":"S"})",
                    u = R"({"role":"user","content":"U"})",
                    a = R"({"role":"assistant","content":"A"})";
  const std::string suA = s + "," + u + "," + a;
  EXPECT_EQ(talk.say(R"({"query":"messages","role":"user"})"),
            R"({"ok":true,"messages":[)" + u + R"(],"ordinals":[1]})");
  EXPECT_EQ(talk.say(R"({"query":"messages","last":0})"),
            R"({"ok":true,"messages":[],"ordinals":[]})");
  EXPECT_EQ(talk.say(R"({"query":"count"})"), R"({"ok":true,"count":3,"tokens":15})");
  EXPECT_EQ(talk.say(R"({"query":"uncompressed"})"),
            R"({"ok":true,"messages":[)" + suA + R"(],"ordinals":[0,1,2]})");
  EXPECT_EQ(talk.say(R"({"query":"version"})"), R"({"ok":true,"result":3})");
  EXPECT_EQ(
      talk.say(R"({"query":"stats"})"),
      R"({"ok":true,"result":{"totalMessages":3,"currentBatchMessages":3,"totalBatches":1,"currentBatchIndex":0,"tokens":15}})");
  EXPECT_EQ(
      talk.say(R"({"query":"markMap"})"),
      R"({"ok":true,"result":{"originalIndices":[0,1,2],"typeIndices":{"system":[0],"user":[1],"assistant":[2],"tool":[]},)"
      R"("batchBoundaries":[0],"boundaryToBatch":[0],"currentBatch":0}})");
  EXPECT_EQ(
      talk.say(R"({"query":"history"})"),
      R"({"ok":true,"result":[)"
      R"({"version":0,"parent":null,"operation":null,"batchIndex":0,"timestamp":1700000000000,"description":null,"messageCount":0,"tokens":0},)"
      R"({"version":1,"parent":0,"operation":"APPEND","batchIndex":0,"timestamp":1700000000000,"description":null,"messageCount":3,"tokens":15},)"
      R"({"version":2,"parent":1,"operation":"CLEAR","batchIndex":1,"timestamp":1700000000000,"description":"fresh","messageCount":1,"tokens":5},)"
      R"({"version":3,"parent":2,"operation":"UNDO","batchIndex":0,"timestamp":1700000000000,"description":null,"messageCount":3,"tokens":15,"restores":1}]})");
  EXPECT_EQ(talk.say(R"({"query":"diff","from":1,"to":2})"),
            R"({"ok":true,"result":{"removed":[1,2],"added":[],"moved":[]}})");
  EXPECT_EQ(
      talk.say(R"({"query":"blame","ordinal":1})"),
      R"({"ok":true,"result":{"ordinal":1,"stored":{"version":1,"operation":"APPEND","timestamp":1700000000000},)"
      R"("hidden":[{"version":2,"operation":"CLEAR","timestamp":1700000000000,"description":"fresh"}],)"
      R"("shown":[{"version":1,"operation":"APPEND","timestamp":1700000000000},{"version":3,"operation":"UNDO","timestamp":1700000000000}],"visible":true}})");
  EXPECT_EQ(talk.say(R"({"query":"batchSnapshot","batchIndex":0})"),
            R"({"ok":true,"result":null})");
  EXPECT_EQ(talk.say(R"({"query":"batchSnapshot","batchIndex":7})"),
            R"({"ok":true,"result":null})");

  talk.say(R"({"operation":"CLEAR","description":"fresh"})");
  const std::string snapshot = R"({"batchIndex":0,"timestamp":1700000000000,"messages":[)" + suA +
                               R"(],"messageCount":3,"description":"fresh"})";
  EXPECT_EQ(talk.say(R"({"query":"batchSnapshot","batchIndex":0})"),
            R"({"ok":true,"result":)" + snapshot + "}");
  EXPECT_EQ(talk.say(R"({"query":"state"})"),
            R"({"ok":true,"result":{"messages":[)" + s + R"(],"batchSnapshots":[)" + snapshot +
                R"(],"currentBatchIndex":1,"totalMessageCount":1}})");
  EXPECT_EQ(
      talk.say(R"({"query":"batches"})"),
      R"({"ok":true,"result":[{"index":0,"boundary":0,"openedBy":null,"openedAt":1700000000000,"messageCount":3},)"
      R"({"index":1,"boundary":3,"openedBy":"CLEAR","openedAt":1700000000000,"messageCount":1,"description":"fresh"}]})");
}

TEST(Request, AnEmptyConversationHasAnEmptyState) {
  Talk talk;
  EXPECT_EQ(
      talk.say(R"({"query":"state"})"),
      R"({"ok":true,"result":{"messages":[],"batchSnapshots":[],"currentBatchIndex":0,"totalMessageCount":0}})");
}

TEST(Request, WarningsAndEventsAreShownWhenThereAreAny) {
  Talk talk({.token_limit = 10});
  const std::string call = talk.say(
      R"({"operation":"APPEND","messages":[{"role":"assistant","content":"","toolCalls":[{"id":"c1"}]},{"role":"tool","content":"r","toolCallId":"c1"}]})");
  EXPECT_NE(call.find(R"("events":[{"type":"TOKEN_LIMIT_EXCEEDED","tokensUsed":)"),
            std::string::npos)
      << call;
  EXPECT_NE(call.find(R"("tokenLimit":10}]})"), std::string::npos) << call;
  const std::string cut = talk.say(R"({"operation":"TRUNCATE","keepLast":1})");
  EXPECT_NE(
      cut.find(R"("warnings":[{"code":"tool_result_without_call","ordinal":1,"toolCallId":"c1"}])"),
      std::string::npos)
      << cut;
  EXPECT_EQ(cut.find("events"), std::string::npos) << cut;
}

TEST(Request, AListIsOneAtomicStep) {
  Talk talk;
  const std::string done = talk.say(
      R"([{"operation":"APPEND","messages":[{"role":"user","content":"a"}]},{"operation":"CLEAR"}])");
  EXPECT_NE(done.find(R"({"ok":true,"results":[{"ok":true,"operation":"APPEND","version":1,)"),
            std::string::npos)
      << done;
  EXPECT_NE(done.find(R"(},{"ok":true,"operation":"CLEAR","version":2,)"), std::string::npos)
      << done;

  const std::string failed = talk.say(
      R"([{"operation":"APPEND","messages":[{"role":"user","content":"a"}]},{"operation":"insert","insert":{"position":9,"messages":[{"role":"user","content":"a"}]}}])");
  EXPECT_EQ(error_member(failed, "operationIndex"), "1");
  EXPECT_EQ(field(failed), "position");
  EXPECT_EQ(path(failed), "insert.position");
  EXPECT_EQ(talk.say(R"({"query":"version"})"), R"({"ok":true,"result":2})");
}

TEST(Request, AnErrorInAListSaysWhichOperation) {
  Talk talk;
  for (const char* element : {"1", "null", "[]", R"("UNDO")", R"({"query":"stats"})", "{}",
                              R"({"operation":"EXPLODE"})", R"({"operation":"UNDO","x":1})"}) {
    const std::string text =
        talk.say(std::string("[") + R"({"operation":"START_BATCH"},)" + element + "]");
    EXPECT_EQ(code(text), "invalid_argument") << element;
    EXPECT_EQ(error_member(text, "operationIndex"), "1") << element;
  }
  EXPECT_EQ(code(talk.say("[]")), "invalid_argument");
  EXPECT_EQ(talk.conversation().version(), Version(0));
}

TEST(Request, ALineIsAnOperationOrAQuery) {
  Talk talk;
  EXPECT_EQ(field(talk.say(R"({"operation":"UNDO","query":"stats"})")), "query");
  EXPECT_EQ(field(talk.say("{}")), "operation");
  EXPECT_EQ(field(talk.say(R"({"messages":[]})")), "operation");
  for (const char* line : {"", " ", "1", "null", "\"x\"", "true", "{nonsense",
                           "{\"operation\":\"UNDO\"} x", "\xEF\xBB\xBF{}", "[1", "nul"}) {
    EXPECT_EQ(code(talk.say(line)), "invalid_argument") << line;
  }
  EXPECT_EQ(code(talk.say(std::string_view("{\"operation\":\"UNDO\0\"}", 21))), "invalid_argument");
}

TEST(Request, MalformedTextIsAnsweredWithItsPlace) {
  Talk talk;
  EXPECT_EQ(error_member(talk.say("{\"operation\":\"\xFF\"}"), "byteOffset"), "14");
  EXPECT_EQ(code(talk.say(R"({"operation":"UNDO","operation":"UNDO"})")), "invalid_argument");
  EXPECT_EQ(code(talk.say(std::string(100000, '['))), "invalid_argument");
}

TEST(Request, AMessageMayBeNestedAsDeepInAListAsAnywhere) {
  const auto nested = [](int depth) {  // the message is the first level
    return R"({"role":"user","content":"a","x":)" +
           std::string(static_cast<std::size_t>(depth - 1), '[') +
           std::string(static_cast<std::size_t>(depth - 1), ']') + "}";
  };
  Talk talk;
  const auto append = [&](int depth) {
    return R"({"operation":"APPEND","messages":[)" + nested(depth) + "]}";
  };
  EXPECT_TRUE(talk.say(append(128)).starts_with(R"({"ok":true)"));
  EXPECT_EQ(code(talk.say(append(129))), "invalid_argument");
  const auto insert = [&](int depth) {
    return R"([{"operation":"insert","insert":{"position":-1,"messages":[)" + nested(depth) +
           "]}}]";
  };
  EXPECT_TRUE(talk.say(insert(128)).starts_with(R"({"ok":true)"));
  EXPECT_EQ(code(talk.say(insert(129))), "invalid_argument");
}

TEST(Request, ErrorsOfTheConversationNameTheFieldAsItWasWritten) {
  Talk talk;
  talk.say(append_three);
  const std::pair<const char*, const char*> cases[] = {
      {R"({"operation":"APPEND","messages":[]})", "messages"},
      {R"({"operation":"INSERT","position":9,"messages":[{"role":"user","content":"a"}]})",
       "position"},
      {R"({"operation":"INSERT","position":0,"messages":[]})", "messages"},
      {R"({"operation":"REPLACE","index":3,"message":{"role":"user","content":"a"}})", "index"},
      {R"({"operation":"TRUNCATE"})", "keepFirst"},
      {R"({"operation":"TRUNCATE","role":"user"})", "keepFirst"},
      {R"({"operation":"TRUNCATE","range":{"start":2,"end":1}})", "range"},
      {R"({"operation":"FILTER"})", "roles"},
      {R"({"operation":"FILTER","contentContains":[""]})", "contentContains"},
      {R"({"operation":"FILTER","contentExcludes":["a",""]})", "contentExcludes"},
      {R"({"operation":"DELETE","indices":[]})", "indices"},
      {R"({"operation":"DELETE","indices":[0,0]})", "indices"},
      {R"({"operation":"DELETE","indices":[3]})", "indices"},
      {R"({"operation":"DELETE","ordinals":[3]})", "ordinals"},
      {R"({"operation":"delete","indices":[3]})", "indices"},
      {R"({"operation":"compress","indices":[]})", "indices"},
      {R"({"operation":"replace","indices":[7],"data":{"role":"user","content":"a"}})", "indices"},
      {R"({"operation":"replace","indices":[0],"data":[]})", "data"},
      {R"({"operation":"insert","data":[]})", "data"},
      {R"({"operation":"EXPAND","index":0})", "index"},
      {R"({"operation":"MERGE","indices":[0]})", "indices"},
      {R"({"operation":"MERGE","indices":[0,1]})", "indices"},
      {R"({"operation":"SPLIT","index":0,"at":[]})", "at"},
      {R"({"operation":"SPLIT","index":0,"at":[9]})", "at"},
      {R"({"operation":"SPLIT","index":9,"at":[1]})", "index"},
      {R"({"operation":"TRANSFORM","indices":[0],"replaceText":{"find":"","with":"a"}})", "find"},
      {R"({"operation":"START_BATCH","boundary":4})", "boundary"},
      {R"({"operation":"batch_start","batch":4})", "batch"},
      {R"({"operation":"batch_start","indices":[4]})", "indices"},
      {R"({"operation":"END_BATCH","targetBatch":1})", "targetBatch"},
      {R"({"operation":"batch_end","indices":[1]})", "indices"},
      {R"({"operation":"ROLLBACK","targetBatchIndex":1})", "targetBatchIndex"},
      {R"({"operation":"MARK","indices":[0],"mark":""})", "mark"},
      {R"({"operation":"MARK","ordinals":[3],"mark":"m"})", "ordinals"},
      {R"({"query":"messages","start":2,"end":1})", "start"},
      {R"({"query":"messages","first":2,"last":1})", "last"},
      {R"({"query":"messages","all":true,"atBatch":0})", "atBatch"},
      {R"({"query":"messages","atVersion":1,"atBatch":0})", "atBatch"},
  };
  for (const auto& [line, at_fault] : cases) {
    const std::string text = talk.say(line);
    EXPECT_EQ(code(text), "invalid_argument") << line;
    EXPECT_EQ(field(text), at_fault) << line << "\n" << text;
  }
  EXPECT_EQ(path(talk.say(
                R"({"operation":"TRANSFORM","indices":[0],"replaceText":{"find":"","with":"a"}})")),
            "replaceText.find");
  EXPECT_EQ(path(talk.say(R"({"operation":"truncate","truncate":{}})")), "truncate.keepFirst");
  EXPECT_EQ(talk.conversation().version(), Version(1));
}

TEST(Request, WhatNeverExistedIsNotFound) {
  Talk talk;
  for (const char* line :
       {R"({"operation":"UNDO"})", R"({"operation":"REDO"})",
        R"({"operation":"RESTORE","version":1})", R"({"query":"messages","atVersion":1})",
        R"({"query":"count","atBatch":1})", R"({"query":"diff","from":0,"to":1})",
        R"({"query":"diff","from":1,"to":0})", R"({"query":"blame","ordinal":0})"}) {
    EXPECT_EQ(code(talk.say(line)), "not_found") << line;
  }
}

TEST(Request, ARepeatedOperationIdIsAnsweredAsTheFirstTime) {
  Talk talk;
  const std::string line =
      R"({"operation":"APPEND","messages":[{"role":"user","content":"a"}],"operationId":"x","expectedVersion":0})";
  const std::string first = talk.say(line);
  EXPECT_EQ(talk.say(line), first);
  EXPECT_EQ(talk.say(R"({"operation":"CLEAR","operationId":"x"})"), first);
  EXPECT_EQ(talk.say("[" + line + "," + line + "]"),
            R"({"ok":true,"results":[)" + first + "," + first + "]}");
  EXPECT_EQ(talk.conversation().version(), Version(1));
}

TEST(Request, ADoorThatTakesOperationsOrQueriesRefusesTheOther) {
  Talk talk;
  const RequestOptions operations{.takes = RequestOptions::Takes::operations},
      queries{.takes = RequestOptions::Takes::queries};
  for (const char* line : {R"({"operation":"CLEAR"})", R"([{"operation":"CLEAR"}])",
                           R"({"operation":"CLEAR","query":"version"})", "{}", "7"}) {
    EXPECT_EQ(answer_request(talk.conversation(), line, queries).error.value().code,
              ErrorCode::invalid_argument)
        << line;
  }
  EXPECT_EQ(
      answer_request(talk.conversation(), R"({"query":"version"})", operations).error.value().code,
      ErrorCode::invalid_argument);
  EXPECT_EQ(talk.conversation().version(), Version(0));
  EXPECT_EQ(answer_request(talk.conversation(), R"([{"operation":"CLEAR"},{"operation":"CLEAR"}])",
                           operations)
                .version,
            Version(2));
  const LineAnswer asked = answer_request(talk.conversation(), R"({"query":"version"})", queries);
  EXPECT_EQ(asked.line, R"({"ok":true,"result":2})");
  EXPECT_EQ(asked.version, Version(2));
  EXPECT_FALSE(asked.error);
}

TEST(Request, AnAnswerHasRoomOrIsRefused) {
  Talk talk;
  const std::string append =
      R"({"operation":"APPEND","messages":[{"role":"user","content":"0123456789"}]})";
  for (int i = 0; i < 10; ++i) answer(talk.conversation(), append);
  const auto error_of = [&](const std::string& query, AnswerRoom room) -> std::optional<ErrorCode> {
    RequestOptions options;
    options.room = std::move(room);
    const LineAnswer answer = answer_request(talk.conversation(), query, options);
    return answer.error ? std::optional(answer.error->code) : std::nullopt;
  };
  for (const char* query :
       {R"({"query":"messages"})", R"({"query":"messages","role":"user"})", R"({"query":"state"})",
        R"({"query":"uncompressed"})", R"({"query":"history"})", R"({"query":"markMap"})",
        R"({"query":"render","dialect":"openai_chat"})",
        R"({"query":"tokens","perMessage":true})"}) {
    EXPECT_EQ(error_of(query, {.bytes_max = 30}), ErrorCode::too_large) << query;
    EXPECT_EQ(error_of(query, {.reserve = [](std::uint64_t) { return false; }}),
              ErrorCode::unavailable)
        << query;
    std::uint64_t reserved = 0;
    EXPECT_FALSE(
        error_of(query, {.bytes_max = 10'000,
                         .reserve = [&](std::uint64_t bytes) { return (reserved = bytes) > 0; }}))
        << query;
    EXPECT_GT(reserved, 10u) << query;
  }
  EXPECT_FALSE(error_of(R"({"query":"messages","last":1})", {.bytes_max = 100}));
}

TEST(Request, AListAndAnOperationHaveALength) {
  Talk talk;
  RequestOptions options;
  options.operations_max = 2;
  options.messages_max = 1;
  const std::string message = R"({"role":"user","content":"x"})",
                    one = R"({"operation":"APPEND","messages":[)" + message + "]}";
  const std::string two = R"({"operation":"APPEND","messages":[)" + message + "," + message + "]}";
  EXPECT_EQ(answer_request(talk.conversation(), two, options).error.value().code,
            ErrorCode::too_large);
  EXPECT_EQ(
      answer_request(talk.conversation(), "[" + one + "," + two + "]", options).error.value().code,
      ErrorCode::too_large);
  EXPECT_EQ(answer_request(talk.conversation(), "[" + one + "," + one + "," + one + "]", options)
                .error.value()
                .code,
            ErrorCode::too_large);
  EXPECT_EQ(talk.conversation().version(), Version(0));
  EXPECT_FALSE(answer_request(talk.conversation(), "[" + one + "," + one + "]", options).error);
}

TEST(Request, TheListOfAClientHasALengthOfItsOwn) {
  Talk talk;
  RequestOptions options;
  options.messages_max = 1;
  options.client_list_max = 2;
  const auto list_of = [](int count) {
    std::string list;
    for (int k = 0; k < count; ++k)
      list += std::string(k == 0 ? "" : ",") + R"({"role":"user","content":"x"})";
    return R"({"operation":"RECONCILE","messages":[)" + list + "]}";
  };
  EXPECT_FALSE(answer_request(talk.conversation(), list_of(2), options).error);
  for (const std::string& line : {list_of(3), "[" + list_of(3) + "]"}) {
    const LineAnswer refused = answer_request(talk.conversation(), line, options);
    EXPECT_EQ(refused.error.value().code, ErrorCode::too_large);
    EXPECT_EQ(refused.error->field, "messages");
  }
  EXPECT_EQ(talk.conversation().version(), Version(1));
}

TEST(Request, WhatADoorSaysOfAnOperationMustNotDifferFromItsLine) {
  Talk talk;
  const std::string clear = R"({"operation":"CLEAR"})";
  const LineAnswer too_late =
      answer_request(talk.conversation(), clear, {.expected_version = Version(1)});
  EXPECT_EQ(too_late.error.value().code, ErrorCode::conflict);
  EXPECT_EQ(too_late.error->field, "expectedVersion");
  const LineAnswer other =
      answer_request(talk.conversation(), R"({"operation":"CLEAR","expectedVersion":0})",
                     {.expected_version = Version(1)});
  EXPECT_EQ(field(other.line), "expectedVersion");
  EXPECT_EQ(field(answer_request(talk.conversation(), R"({"operation":"CLEAR","operationId":"x"})",
                                 {.operation_id = "y"})
                      .line),
            "operationId");
  const RequestOptions twice{.expected_version = Version(0), .operation_id = "k"};
  const std::string list =
      "[" + clear + R"(,{"operation":"CLEAR","operationId":"own"},)" + clear + "]";
  const std::string first = answer_request(talk.conversation(), list, twice).line;
  EXPECT_EQ(answer_request(talk.conversation(), list, twice).line, first);
  EXPECT_EQ(talk.conversation().version(), Version(3));
  EXPECT_EQ(answer_request(talk.conversation(), R"({"operation":"UNDO","operationId":"own"})", {})
                .version,
            Version(2));
  EXPECT_EQ(answer_request(talk.conversation(), R"({"operation":"UNDO","operationId":"k/2"})", {})
                .version,
            Version(3));
}

TEST(Request, ALongUnknownNameIsNotRepeatedInFull) {
  Talk talk;
  const std::string text =
      talk.say(R"({"operation":"UNDO",")" + std::string(1000000, 'x') + R"(":1})");
  EXPECT_EQ(code(text), "invalid_argument");
  EXPECT_LT(text.size(), 1000u);
}

}  // namespace
}  // namespace undertext
