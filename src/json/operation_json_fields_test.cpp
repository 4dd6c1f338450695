// One wrong value of every kind in every field of every operation.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "json/operation_json.hpp"

namespace undertext {
namespace {

// For every field of every operation: the request with `#` in the field's place, the field, and
// what it takes.
struct FieldCase {
  const char* request;
  const char* field;
  const char* takes;
};

constexpr FieldCase field_cases[] = {
    {R"({"operation":"APPEND","messages":#})", "messages", "messages"},
    {R"({"operation":"INSERT","position":#,"messages":[{"role":"user","content":"a"}]})",
     "position", "count"},
    {R"({"operation":"INSERT","position":0,"messages":#})", "messages", "messages"},
    {R"({"operation":"REPLACE","index":#,"message":{"role":"user","content":"a"}})", "index",
     "count"},
    {R"({"operation":"REPLACE","index":0,"message":#})", "message", "message"},
    {R"({"operation":"TRUNCATE","keepFirst":#})", "keepFirst", "count"},
    {R"({"operation":"TRUNCATE","keepLast":#})", "keepLast", "count"},
    {R"({"operation":"TRUNCATE","removeFirst":#})", "removeFirst", "count"},
    {R"({"operation":"TRUNCATE","removeLast":#})", "removeLast", "count"},
    {R"({"operation":"TRUNCATE","range":#})", "range", "object"},
    {R"({"operation":"TRUNCATE","range":{"start":#,"end":1}})", "start", "count"},
    {R"({"operation":"TRUNCATE","range":{"start":0,"end":#}})", "end", "count"},
    {R"({"operation":"TRUNCATE","keepLast":0,"role":#})", "role", "word"},
    {R"({"operation":"TRUNCATE","keepLast":0,"pairs":#})", "pairs", "word"},
    {R"({"operation":"CLEAR","keepSystemMessage":#})", "keepSystemMessage", "boolean"},
    {R"({"operation":"FILTER","roles":#})", "roles", "words"},
    {R"({"operation":"FILTER","contentContains":#})", "contentContains", "strings"},
    {R"({"operation":"FILTER","contentExcludes":#})", "contentExcludes", "strings"},
    {R"({"operation":"DELETE","indices":#})", "indices", "counts"},
    {R"({"operation":"DELETE","ordinals":#})", "ordinals", "counts"},
    {R"({"operation":"DELETE","indices":[0],"pairs":#})", "pairs", "word"},
    {R"({"operation":"COMPRESS","indices":[0],"summary":#})", "summary", "message"},
    {R"({"operation":"EXPAND","index":#})", "index", "count"},
    {R"({"operation":"MERGE","indices":#})", "indices", "counts"},
    {R"({"operation":"MERGE","indices":[0,1],"separator":#})", "separator", "string"},
    {R"({"operation":"SPLIT","index":#,"at":[1]})", "index", "count"},
    {R"({"operation":"SPLIT","index":0,"at":#})", "at", "counts"},
    {R"({"operation":"TRANSFORM","indices":#,"setMetadata":{}})", "indices", "counts"},
    {R"({"operation":"TRANSFORM","roles":#,"setMetadata":{}})", "roles", "words"},
    {R"({"operation":"TRANSFORM","indices":[0],"setMetadata":#})", "setMetadata", "object"},
    {R"({"operation":"TRANSFORM","indices":[0],"replaceText":#})", "replaceText", "object"},
    {R"({"operation":"TRANSFORM","indices":[0],"replaceText":{"find":#,"with":""}})", "find",
     "string"},
    {R"({"operation":"TRANSFORM","indices":[0],"replaceText":{"find":"a","with":#}})", "with",
     "string"},
    {R"({"operation":"TRANSFORM","indices":[0],"truncateText":#})", "truncateText", "object"},
    {R"({"operation":"TRANSFORM","indices":[0],"truncateText":{"maxChars":#}})", "maxChars",
     "count"},
    {R"({"operation":"TRANSFORM","indices":[0],"truncateText":{"maxChars":1,"keep":#}})", "keep",
     "word"},
    {R"({"operation":"TRANSFORM","indices":[0],"truncateText":{"maxChars":1,"marker":#}})",
     "marker", "string"},
    {R"({"operation":"START_BATCH","boundary":#})", "boundary", "count"},
    {R"({"operation":"START_BATCH","hidePrior":#})", "hidePrior", "boolean"},
    {R"({"operation":"END_BATCH","targetBatch":#})", "targetBatch", "count"},
    {R"({"operation":"END_BATCH","targetBatch":0,"carry":#})", "carry", "words"},
    {R"({"operation":"ROLLBACK","targetBatchIndex":#})", "targetBatchIndex", "count"},
    {R"({"operation":"MARK","indices":[0],"mark":#})", "mark", "string"},
    {R"({"operation":"RESTORE","version":#})", "version", "count"},
    {R"({"operation":"UNDO","expectedVersion":#})", "expectedVersion", "count"},
    {R"({"operation":"UNDO","description":#})", "description", "string"},
    {R"({"operation":"UNDO","operationId":#})", "operationId", "string"},
    {R"({"operation":"truncate","truncate":{"keepLast":#}})", "keepLast", "count"},
    {R"({"operation":"clear","clear":#})", "clear", "object"},
    {R"({"operation":"insert","insert":{"position":0,"messages":#}})", "messages", "messages"},
    {R"({"operation":"replace","replace":{"index":0,"message":#}})", "message", "message"},
    {R"({"operation":"delete","indices":#})", "indices", "counts"},
    {R"({"operation":"compress","indices":[0],"data":#})", "data", "message"},
    {R"({"operation":"batch_start","batch":#})", "batch", "count"},
    {R"({"operation":"batch_end","batch":#})", "batch", "count"},
};

std::vector<std::string> wrong_values(std::string_view takes) {
  if (takes == "count")
    return {"-1",   "1.5",  "1.0", "1e2", "\"1\"",
            "null", "true", "[]",  "{}",  "-9999999999999999999999"};
  if (takes == "counts") return {"0", "null", "{}", "[-1]", "[1.5]", "[\"1\"]", "[null]", "[0,[]]"};
  if (takes == "string") return {"1", "null", "true", "[]", "{}"};
  if (takes == "strings") return {"\"a\"", "null", "{}", "[1]", "[null]"};
  if (takes == "boolean") return {"1", "0", "null", "\"true\"", "[]"};
  if (takes == "word") return {"1", "null", "\"\"", "\"users\"", "\"USER\"", "[]", "{}"};
  if (takes == "words") return {"\"user\"", "null", "{}", "[1]", "[\"users\"]", "[null]"};
  if (takes == "object") return {"1", "null", "\"a\"", "[]", "true"};
  if (takes == "message") return {"1", "null", "\"a\"", "[]", "true"};
  if (takes == "messages") return {"1", "null", "\"a\"", "{}", "[1]", "[null]", "[[]]"};
  ADD_FAILURE() << takes;
  return {};
}

TEST(OperationJsonFields, AWrongTypeInAnyFieldIsRefusedByTheFieldsName) {
  for (const FieldCase& field_case : field_cases) {
    for (const std::string& value : wrong_values(field_case.takes)) {
      std::string request = field_case.request;
      request.replace(request.find('#'), 1, value);
      const JsonText text = JsonText::parse(request, {}).value();
      const Result<SpelledOperation> spelled = read_operation(text.root());
      ASSERT_FALSE(spelled) << request;
      const Error& error = spelled.error();
      EXPECT_EQ(error.code, ErrorCode::invalid_argument) << request;
      EXPECT_EQ(error.field, field_case.field) << request;
      EXPECT_FALSE(error.message.empty()) << request;
    }
  }
}

}  // namespace
}  // namespace undertext
