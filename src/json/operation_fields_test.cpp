#include "json/operation_fields.hpp"

#include <string>

#include <gtest/gtest.h>

#include "history/recorded_examples.hpp"

namespace undertext {
namespace {

std::string json_of(const RecordedOperation& record) {
  std::string json;
  append_record(json, record);
  return json;
}

Result<RecordedOperation> read(std::string_view operation, std::string_view members) {
  const std::string text = R"({"version":1)" + std::string(members) + "}";
  const JsonText json = JsonText::parse(text, {}).value();
  Reading reading;
  Fields fields(json.root(), "a record", reading);
  fields.find("version");
  try {
    RecordedOperation record = take_record(fields, operation);
    fields.done();
    if (reading.failed()) return reading.take_error();
    return record;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

TEST(OperationFields, RecordsAreTheSameInEveryRelease) {
  for (const RecordedExample& example : recorded_examples()) {
    EXPECT_EQ(json_of(example.record), example.json);
    const Result<RecordedOperation> again = read(name(example.record.operation), example.json);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(json_of(*again), example.json);
    EXPECT_EQ(again->operation.what.index(), example.record.operation.what.index());
    EXPECT_EQ(again->kept, example.record.kept);
  }
}

TEST(OperationFields, ARecordOfANewerReleaseIsUnsupported) {
  EXPECT_EQ(read("FROBNICATE", "").error().code, ErrorCode::unsupported);
  EXPECT_EQ(read("EXPAND", R"(,"index":1,"tag":126)").error().code, ErrorCode::unsupported);
  EXPECT_EQ(read("EXPAND", R"(,"index":1,"tag":11)").error().code,
            ErrorCode::unsupported);  // that of MERGE
  EXPECT_EQ(read("EXPAND", R"(,"index":1,"tag":10)").value().tag, 10);
}

TEST(OperationFields, WhatARecordLacksOrHasTooMuchIsNamed) {
  EXPECT_EQ(read("", "").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(read("EXPAND", "").error().field, "index");
  EXPECT_EQ(read("EXPAND", R"(,"index":1,"at":[1])").error().field, "at");
  EXPECT_EQ(read("TRANSFORM", R"(,"indices":[1])").error().field, "replaceText");
  EXPECT_EQ(read("FILTER", R"(,"contentContains":["x"],"kept":[{"start":1}])").error().path,
            "kept[0].end");
}

}  // namespace
}  // namespace undertext
