#include "json/operation_json.hpp"

#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

namespace undertext {
namespace {

Result<SpelledOperation> read(std::string_view json) {
  Result<JsonText> text = JsonText::parse(json, {});
  if (!text) return text.error();
  return read_operation(text->root());
}

template <class Op>
Op read_as(std::string_view json) {
  Result<SpelledOperation> spelled = read(json);
  if (!spelled) {
    ADD_FAILURE() << json << ": " << spelled.error().message;
    return {};
  }
  if (!std::holds_alternative<Op>(spelled->operation.what)) {
    ADD_FAILURE() << json << " is a " << name(spelled->operation);
    return {};
  }
  return std::get<Op>(spelled->operation.what);
}

Error error_of(std::string_view json) {
  Result<SpelledOperation> spelled = read(json);
  if (spelled) {
    ADD_FAILURE() << json << " was accepted";
    return {};
  }
  return spelled.error();
}

TEST(OperationJson, EveryCanonicalOperationIsReadUnderItsName) {
  const std::string_view lines[] = {
      R"({"operation":"APPEND","messages":[{"role":"user","content":"a"}]})",
      R"({"operation":"INSERT","position":0,"messages":[{"role":"user","content":"a"}]})",
      R"({"operation":"REPLACE","index":0,"message":{"role":"user","content":"a"}})",
      R"({"operation":"TRUNCATE","keepLast":1})",
      R"({"operation":"CLEAR"})",
      R"({"operation":"FILTER","roles":["user"]})",
      R"({"operation":"DELETE","indices":[0]})",
      R"({"operation":"COMPRESS","ordinals":[0]})",
      R"({"operation":"EXPAND","index":0})",
      R"({"operation":"MERGE","indices":[0,1]})",
      R"({"operation":"SPLIT","index":0,"at":[1]})",
      R"({"operation":"TRANSFORM","roles":["tool"],"truncateText":{"maxChars":9}})",
      R"({"operation":"START_BATCH"})",
      R"({"operation":"END_BATCH","targetBatch":0})",
      R"({"operation":"ROLLBACK","targetBatchIndex":0})",
      R"({"operation":"MARK","indices":[0],"mark":"m"})",
      R"({"operation":"UNMARK","indices":[0],"mark":"m"})",
      R"({"operation":"UNDO"})",
      R"({"operation":"REDO"})",
      R"({"operation":"RESTORE","version":0})",
      R"({"operation":"IMPORT_MARK_MAP","markMap":{"originalIndices":[],"typeIndices":{},"batchBoundaries":[0],"boundaryToBatch":[0],"currentBatch":0}})",
      R"({"operation":"IMPORT_MARK_MAP","markMap":{"originalIndices":[],"batchBoundaries":[0],"boundaryToBatch":[0],"currentBatch":0}})",
  };
  for (std::string_view line : lines) {
    Result<SpelledOperation> spelled = read(line);
    ASSERT_TRUE(spelled) << line << ": " << spelled.error().message;
    const std::string_view from = line.substr(std::string_view(R"({"operation":")").size());
    EXPECT_EQ(name(spelled->operation), from.substr(0, from.find('"')));
  }
}

TEST(OperationJson, EveryArgumentArrives) {
  const op::Truncate truncate = read_as<op::Truncate>(
      R"({"operation":"TRUNCATE","keepFirst":1,"keepLast":2,"removeFirst":3,"removeLast":4,"range":{"start":5,"end":6},"role":"tool","pairs":"grow"})");
  EXPECT_EQ(truncate.keep_first, 1u);
  EXPECT_EQ(truncate.keep_last, 2u);
  EXPECT_EQ(truncate.remove_first, 3u);
  EXPECT_EQ(truncate.remove_last, 4u);
  EXPECT_EQ(truncate.range, (Range{5, 6}));
  EXPECT_EQ(truncate.role, Role::tool);
  EXPECT_EQ(truncate.pairs, Pairs::grow);

  const op::Filter filter = read_as<op::Filter>(
      R"({"operation":"FILTER","roles":["user","tool"],"contentContains":["a"],"contentExcludes":["b","\u0063"],"pairs":"shrink"})");
  EXPECT_EQ(filter.roles, (std::vector{Role::user, Role::tool}));
  EXPECT_EQ(filter.content_contains, std::vector<std::string>{"a"});
  EXPECT_EQ(filter.content_excludes, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(filter.pairs, Pairs::shrink);

  EXPECT_FALSE(
      read_as<op::Clear>(R"({"operation":"CLEAR","keepSystemMessage":false})").keep_system_message);
  EXPECT_TRUE(read_as<op::Clear>(R"({"operation":"CLEAR"})").keep_system_message);

  const op::Compress compress = read_as<op::Compress>(
      R"({"operation":"COMPRESS","ordinals":[3,1],"summary":{"role":"assistant","content":"s"}})");
  EXPECT_EQ(compress.names.by, Names::By::ordinal);
  EXPECT_EQ(compress.names.numbers, (std::vector<std::uint64_t>{3, 1}));
  EXPECT_EQ(compress.summary->text(), "s");

  EXPECT_EQ(
      read_as<op::Merge>(R"({"operation":"MERGE","indices":[0,1],"separator":" "})").separator,
      " ");
  EXPECT_EQ(read_as<op::Merge>(R"({"operation":"MERGE","indices":[0,1]})").separator, "\n");
  EXPECT_EQ(read_as<op::Split>(R"({"operation":"SPLIT","index":0,"at":[1,4]})").at,
            (std::vector<std::uint64_t>{1, 4}));

  const op::Transform cut = read_as<op::Transform>(
      R"({"operation":"TRANSFORM","ordinals":[7],"truncateText":{"maxChars":9,"keep":"both","marker":"…"}})");
  EXPECT_EQ(std::get<Names>(cut.which).by, Names::By::ordinal);
  EXPECT_EQ(std::get<TruncateText>(cut.change).chars_max, 9u);
  EXPECT_EQ(std::get<TruncateText>(cut.change).keep, TruncateText::Keep::both);
  EXPECT_EQ(std::get<TruncateText>(cut.change).marker, "…");
  const op::Transform set = read_as<op::Transform>(
      R"({"operation":"TRANSFORM","roles":["tool"],"setMetadata":{ "a" : 1.50 }})");
  EXPECT_EQ(std::get<std::vector<Role>>(set.which), std::vector{Role::tool});
  EXPECT_EQ(std::get<SetMetadata>(set.change).object_json, R"({ "a" : 1.50 })");

  const op::StartBatch start =
      read_as<op::StartBatch>(R"({"operation":"START_BATCH","boundary":3,"hidePrior":true})");
  EXPECT_EQ(start.boundary, 3u);
  EXPECT_TRUE(start.hide_prior);
  EXPECT_FALSE(read_as<op::StartBatch>(R"({"operation":"START_BATCH"})").boundary);
  EXPECT_EQ(
      read_as<op::EndBatch>(R"({"operation":"END_BATCH","targetBatch":2,"carry":["assistant"]})")
          .carry,
      std::vector{Role::assistant});
  EXPECT_TRUE(read_as<op::EndBatch>(R"({"operation":"END_BATCH","targetBatch":2,"carry":[]})")
                  .carry.empty());
}

TEST(OperationJson, EveryOperationMayCarryItsOptions) {
  for (const char* start :
       {R"({"operation":"UNDO")", R"({"operation":"clear")", R"({"operation":"batch_start")"}) {
    Result<SpelledOperation> spelled =
        read(std::string(start) + R"(,"expectedVersion":4,"description":"d","operationId":"i"})");
    ASSERT_TRUE(spelled) << start;
    EXPECT_EQ(spelled->operation.options.expected_version, Version(4));
    EXPECT_EQ(spelled->operation.options.description, "d");
    EXPECT_EQ(spelled->operation.options.operation_id, "i");
  }
  EXPECT_EQ(error_of(R"({"operation":"UNDO","operationId":""})").field, "operationId");
}

TEST(OperationJson, AConfigurationHoldsItsArgumentsInABlock) {
  EXPECT_EQ(
      read_as<op::Truncate>(R"({"operation":"truncate","truncate":{"role":"user","keepLast":5}})")
          .keep_last,
      5u);
  EXPECT_EQ(
      read_as<op::Truncate>(R"({"operation":"truncate","truncate":{"keepLast":5},"pairs":"grow"})")
          .pairs,
      Pairs::grow);
  EXPECT_EQ(
      read_as<op::Truncate>(R"({"operation":"truncate","truncate":{"keepLast":5,"pairs":"grow"}})")
          .pairs,
      Pairs::grow);
  EXPECT_EQ(
      error_of(
          R"({"operation":"truncate","truncate":{"keepLast":5,"pairs":"grow"},"pairs":"grow"})")
          .field,
      "pairs");
  EXPECT_EQ(
      read_as<op::Filter>(R"({"operation":"filter","filter":{"roles":["user"]}})").roles.size(),
      1u);
  EXPECT_EQ(
      read_as<op::Replace>(
          R"({"operation":"replace","replace":{"index":2,"message":{"role":"user","content":"a"}}})")
          .names.by,
      Names::By::index);
  EXPECT_FALSE(read_as<op::Clear>(R"({"operation":"clear","clear":{"keepSystemMessage":false}})")
                   .keep_system_message);
  EXPECT_TRUE(read_as<op::Clear>(R"({"operation":"clear"})").keep_system_message);
  EXPECT_EQ(
      read_as<op::Insert>(
          R"({"operation":"insert","insert":{"position":2,"messages":[{"role":"user","content":"a"}]}})")
          .position,
      2u);
}

TEST(OperationJson, InAConfigurationInsertingAtMinusOneAppends) {
  EXPECT_EQ(
      read_as<op::Append>(
          R"({"operation":"insert","insert":{"position":-1,"messages":[{"role":"user","content":"a"}]}})")
          .messages.size(),
      1u);
  for (const char* position : {"-2", "-1.0", "-1e0", "\"-1\"", "null"}) {
    const Error error = error_of(std::string(R"({"operation":"insert","insert":{"position":)") +
                                 position + R"(,"messages":[{"role":"user","content":"a"}]}})");
    EXPECT_EQ(error.field, "position") << position;
    EXPECT_EQ(error.path, "insert.position") << position;
  }
  EXPECT_EQ(
      error_of(R"({"operation":"INSERT","position":-1,"messages":[{"role":"user","content":"a"}]})")
          .field,
      "position");
}

TEST(OperationJson, AConfigurationWithoutItsBlockIsRefused) {
  EXPECT_EQ(error_of(R"({"operation":"truncate"})").field, "truncate");
  EXPECT_EQ(error_of(R"({"operation":"filter"})").field, "filter");
  EXPECT_EQ(error_of(R"({"operation":"truncate","truncate":null})").field, "truncate");
  EXPECT_EQ(error_of(R"({"operation":"truncate","truncate":[]})").field, "truncate");
  EXPECT_EQ(error_of(R"({"operation":"truncate","keepLast":1})").field, "keepLast");
  EXPECT_EQ(error_of(R"({"operation":"truncate","filter":{}})").field, "filter");
}

TEST(OperationJson, TheIndicesOfAModificationAreOrdinals) {
  const op::Delete del =
      read_as<op::Delete>(R"({"operation":"delete","indices":[3],"pairs":"shrink"})");
  EXPECT_EQ(del.names.by, Names::By::ordinal);
  EXPECT_EQ(del.pairs, Pairs::shrink);
  const op::Compress compress = read_as<op::Compress>(
      R"({"operation":"compress","indices":[0,1],"data":{"role":"user","content":"s"}})");
  EXPECT_EQ(compress.names.by, Names::By::ordinal);
  EXPECT_EQ(compress.summary->text(), "s");
  const op::Replace replace = read_as<op::Replace>(
      R"({"operation":"replace","indices":[1,2],"data":[{"role":"user","content":"s"}]})");
  EXPECT_EQ(replace.names.by, Names::By::ordinal);
  EXPECT_EQ(replace.messages.size(), 1u);
}

TEST(OperationJson, AModificationInsertsOneMessageOrAListAtTheEnd) {
  EXPECT_EQ(read_as<op::Append>(
                R"({"operation":"insert","indices":[],"data":{"role":"user","content":"a"}})")
                .messages.size(),
            1u);
  EXPECT_EQ(
      read_as<op::Append>(
          R"({"operation":"insert","data":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})")
          .messages.size(),
      2u);
  EXPECT_EQ(error_of(R"({"operation":"insert"})").field, "data");
  EXPECT_EQ(error_of(R"({"operation":"insert","data":"x"})").field, "data");
  EXPECT_EQ(
      error_of(R"({"operation":"insert","data":{"role":"user","content":"a"},"position":1})").field,
      "position");
  EXPECT_EQ(error_of(R"({"operation":"insert","indices":"x","data":{"role":"user","content":"a"}})")
                .field,
            "indices");
}

TEST(OperationJson, TheNumberOfABatchComesFromBatchOrIndices) {
  EXPECT_EQ(read_as<op::StartBatch>(R"({"operation":"batch_start","batch":2})").boundary, 2u);
  EXPECT_EQ(read_as<op::StartBatch>(R"({"operation":"batch_start","indices":[2]})").boundary, 2u);
  EXPECT_FALSE(read_as<op::StartBatch>(R"({"operation":"batch_start","indices":[]})").boundary);
  EXPECT_EQ(read_as<op::EndBatch>(R"({"operation":"batch_end","batch":1})").target_batch, 1u);
  EXPECT_EQ(
      read_as<op::EndBatch>(R"({"operation":"batch_end","indices":[1],"batch":1})").target_batch,
      1u);
  EXPECT_EQ(error_of(R"({"operation":"batch_end","indices":[1],"batch":2})").field, "batch");
  EXPECT_EQ(error_of(R"({"operation":"batch_end","indices":[1,2]})").field, "indices");
  EXPECT_EQ(error_of(R"({"operation":"batch_end","indices":[]})").field, "batch");
  EXPECT_EQ(error_of(R"({"operation":"batch_end"})").field, "batch");
}

TEST(OperationJson, AnUnknownOperationIsRefused) {
  for (const char* operation :
       {R"("EXPLODE")", R"("append")", R"("Append")", R"("start_batch")", R"("BATCH_START")",
        R"("")", R"("APPEND ")", "1", "null", "[]", "{}", "true"}) {
    const Error error = error_of(std::string(R"({"operation":)") + operation + "}");
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << operation;
    EXPECT_EQ(error.field, "operation") << operation;
  }
}

TEST(OperationJson, TheNameOfAnOperationMayBeSpelledWithEscapes) {
  read_as<op::Undo>(R"({"\u006fperation":"\u0055NDO"})");
}

TEST(OperationJson, AnUnknownFieldIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"operation":"UNDO","x":1})", "x"},
      {R"({"operation":"CLEAR","keepSystem":true,"x":1})", "keepSystem"},
      {R"({"operation":"APPEND","mesages":[{"role":"user","content":"a"}]})", "mesages"},
      {R"({"operation":"CLEAR","pairs":"shrink"})", "pairs"},
      {R"({"operation":"delete","indices":[0],"data":1})", "data"},
      {R"({"operation":"delete","indices":[0],"batch":1})", "batch"},
      {R"({"operation":"delete","ordinals":[0]})", "ordinals"},
      {R"({"operation":"UNDO","query":"stats"})", "query"},
      {R"({"operation":"UNDO","":1})", ""},
  };
  for (const auto& [line, field] : cases) {
    const Error error = error_of(line);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(error.field, field) << line;
  }
  const Error nested = error_of(
      R"({"operation":"truncate","truncate":{"keepLast":1,"range":{"start":0,"end":1,"step":1}}})");
  EXPECT_EQ(nested.field, "step");
  EXPECT_EQ(nested.path, "truncate.range.step");
}

TEST(OperationJson, AMissingFieldIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"operation":"APPEND"})", "messages"},
      {R"({"operation":"INSERT","messages":[{"role":"user","content":"a"}]})", "position"},
      {R"({"operation":"INSERT","position":0})", "messages"},
      {R"({"operation":"REPLACE","message":{"role":"user","content":"a"}})", "index"},
      {R"({"operation":"REPLACE","index":0})", "message"},
      {R"({"operation":"TRUNCATE","range":{"end":1}})", "start"},
      {R"({"operation":"TRUNCATE","range":{"start":1}})", "end"},
      {R"({"operation":"DELETE"})", "indices"},
      {R"({"operation":"COMPRESS"})", "indices"},
      {R"({"operation":"EXPAND"})", "index"},
      {R"({"operation":"MERGE"})", "indices"},
      {R"({"operation":"SPLIT","index":0})", "at"},
      {R"({"operation":"SPLIT","at":[1]})", "index"},
      {R"({"operation":"TRANSFORM","setMetadata":{}})", "indices"},
      {R"({"operation":"TRANSFORM","indices":[0]})", "replaceText"},
      {R"({"operation":"TRANSFORM","indices":[0],"replaceText":{"with":""}})", "find"},
      {R"({"operation":"TRANSFORM","indices":[0],"replaceText":{"find":"a"}})", "with"},
      {R"({"operation":"TRANSFORM","indices":[0],"truncateText":{}})", "maxChars"},
      {R"({"operation":"END_BATCH"})", "targetBatch"},
      {R"({"operation":"ROLLBACK"})", "targetBatchIndex"},
      {R"({"operation":"MARK","indices":[0]})", "mark"},
      {R"({"operation":"UNMARK","mark":"m"})", "indices"},
      {R"({"operation":"RESTORE"})", "version"},
      {R"({"operation":"IMPORT_MARK_MAP"})", "markMap"},
      {R"({"operation":"insert","insert":{"messages":[]}})", "position"},
      {R"({"operation":"replace","replace":{"index":0}})", "message"},
      {R"({"operation":"replace","indices":[0]})", "data"},
      {R"({"operation":"delete"})", "indices"},
      {R"({"operation":"compress"})", "indices"},
  };
  for (const auto& [line, field] : cases) EXPECT_EQ(error_of(line).field, field) << line;
}

TEST(OperationJson, ThingsThatExcludeEachOtherAreRefused) {
  EXPECT_EQ(error_of(R"({"operation":"DELETE","indices":[0],"ordinals":[0]})").field, "indices");
  EXPECT_EQ(
      error_of(R"({"operation":"TRANSFORM","indices":[0],"ordinals":[0],"setMetadata":{}})").field,
      "indices");
  EXPECT_EQ(error_of(R"({"operation":"TRANSFORM","indices":[0],"roles":["user"],"setMetadata":{}})")
                .field,
            "indices");
  EXPECT_EQ(
      error_of(
          R"({"operation":"TRANSFORM","indices":[0],"setMetadata":{},"replaceText":{"find":"a","with":"b"}})")
          .field,
      "replaceText");
}

TEST(OperationJson, AnEmptyListOfFiltersIsRefused) {
  for (const char* field : {"roles", "contentContains", "contentExcludes"}) {
    EXPECT_EQ(error_of(std::string(R"({"operation":"FILTER",")") + field + R"(":[]})").field,
              field);
  }
  EXPECT_EQ(error_of(R"({"operation":"TRANSFORM","roles":[],"setMetadata":{}})").field, "roles");
}

TEST(OperationJson, ACountBeyondTheTypeIsTheLargestCount) {
  EXPECT_EQ(read_as<op::Truncate>(R"({"operation":"TRUNCATE","keepLast":99999999999999999999999})")
                .keep_last,
            ~std::uint64_t{0});
}

TEST(OperationJson, AnErrorInsideAMessageSaysWhereTheMessageStands) {
  const Error content = error_of(
      R"({"operation":"APPEND","messages":[{"role":"user","content":"a"},{"role":"user","content":5}]})");
  EXPECT_EQ(content.field, "content");
  EXPECT_EQ(content.path, "messages[1].content");
  const Error role = error_of(
      R"({"operation":"insert","insert":{"position":-1,"messages":[{"role":"x","content":"a"}]}})");
  EXPECT_EQ(role.field, "role");
  EXPECT_EQ(role.path, "insert.messages[0].role");
  const Error summary =
      error_of(R"({"operation":"COMPRESS","indices":[0],"summary":{"role":"user"}})");
  EXPECT_EQ(summary.field, "content");
  EXPECT_EQ(summary.path, "summary.content");
  const Error data =
      error_of(R"({"operation":"replace","indices":[0],"data":[{"role":"user","content":"a"},7]})");
  EXPECT_EQ(data.field, "data");
  EXPECT_EQ(data.path, "data[1]");
}

TEST(OperationJson, AMessageOverTheLimitIsTooLarge) {
  const std::string line = R"({"operation":"APPEND","messages":[{"role":"user","content":")" +
                           std::string(100, 'a') + R"("}]})";
  const JsonText text = JsonText::parse(line, {}).value();
  const Result<SpelledOperation> spelled =
      read_operation(text.root(), {.limits = {.message = {.message_bytes = 64}}});
  ASSERT_FALSE(spelled);
  EXPECT_EQ(spelled.error().code, ErrorCode::too_large);
}

TEST(OperationJson, AnErrorOfTheHistoryIsToldInTheWordsOfTheSpelling) {
  const Error position{ErrorCode::invalid_argument, "", "position"};
  const auto told = [&](const char* line, const Error& error) {
    return read(line).value().in_the_callers_words(error);
  };
  EXPECT_EQ(told(R"({"operation":"INSERT","position":9,"messages":[]})", position).path, "");
  EXPECT_EQ(told(R"({"operation":"insert","insert":{"position":9,"messages":[]}})", position).path,
            "insert.position");
  EXPECT_EQ(
      told(R"({"operation":"delete","indices":[9]})", {ErrorCode::invalid_argument, "", "ordinals"})
          .field,
      "indices");
  EXPECT_EQ(told(R"({"operation":"batch_end","batch":9})",
                 {ErrorCode::invalid_argument, "", "targetBatch"})
                .field,
            "batch");
  EXPECT_EQ(told(R"({"operation":"batch_end","indices":[9]})",
                 {ErrorCode::invalid_argument, "", "targetBatch"})
                .field,
            "indices");
  EXPECT_EQ(
      told(R"({"operation":"insert","data":[]})", {ErrorCode::invalid_argument, "", "messages"})
          .field,
      "data");
  EXPECT_EQ(told(R"({"operation":"truncate","truncate":{}})",
                 {ErrorCode::conflict, "", "expectedVersion"})
                .path,
            "");
}

}  // namespace
}  // namespace undertext
