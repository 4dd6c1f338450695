#include "history/operation_bytes.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "history/recorded_examples.hpp"

namespace undertext {
namespace {

std::string bytes_of(const RecordedOperation& record) {
  ByteOut out;
  write_record(out, record, KeptPart::present);
  return std::move(out.bytes);
}

RecordedOperation record_of(std::string_view bytes) {
  ByteIn in(bytes, "a record");
  RecordedOperation record = read_record(in, KeptPart::present);
  in.end();
  return record;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::optional<ErrorCode> failure_of(std::string_view bytes) {
  try {
    record_of(bytes);
    return {};
  } catch (const Failure& failure) {
    return failure.error().code;
  }
}

TEST(OperationBytes, AreTheSameInEveryRelease) {
  for (const RecordedExample& example : recorded_examples()) {
    const std::string bytes = bytes_of(example.record);
    EXPECT_EQ(hexadecimal(bytes), example.bytes) << example.json;
    const RecordedOperation again = record_of(bytes);
    EXPECT_EQ(hexadecimal(bytes_of(again)), example.bytes) << example.json;
    EXPECT_EQ(again.operation.what.index(), example.record.operation.what.index());
    EXPECT_EQ(again.operation.options.description, example.record.operation.options.description);
    EXPECT_EQ(again.kept, example.record.kept);
  }
}

TEST(OperationBytes, EveryTagHasAnExample) {
  std::set<unsigned> seen;
  for (const RecordedExample& example : recorded_examples())
    seen.insert(record_of(bytes_of(example.record)).tag);
  for (const OperationRow& row : operation_rows) {
    for (const std::uint8_t tag : row.tags) EXPECT_TRUE(tag == 0 || seen.contains(tag)) << row.name;
  }
}

TEST(OperationBytes, ARecordKeepsTheTagItWasReadWith) {
  const RecordedOperation record = record_of(std::string("\x0a\x06\x00", 3));
  EXPECT_EQ(record.tag, 10);
  EXPECT_EQ(hexadecimal(bytes_of(record)), "0a0600");
}

TEST(OperationBytes, ATagOfANewerReleaseIsUnsupported) {
  for (unsigned tag = 1; tag <= tag_max; ++tag) {
    if (row_with_tag(tag) != nullptr) continue;
    EXPECT_EQ(failure_of(std::string(1, static_cast<char>(tag))), ErrorCode::unsupported) << tag;
  }
}

TEST(OperationBytes, WhatIsDamagedIsCorrupt) {
  EXPECT_EQ(failure_of(std::string(1, '\0')), ErrorCode::corrupt);
  EXPECT_EQ(failure_of("\xff\x01"), ErrorCode::corrupt);
  EXPECT_EQ(failure_of("\x07\x02\x01\x02"), ErrorCode::corrupt);  // neither indices nor ordinals
  for (const RecordedExample& example : recorded_examples()) {
    const std::string bytes = bytes_of(example.record);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(failure_of(std::string_view(bytes).substr(0, size)), ErrorCode::corrupt)
          << example.json;
    EXPECT_EQ(failure_of(bytes + '\0'), ErrorCode::corrupt) << example.json;
  }
}

TEST(OperationBytes, WhatMendsUnitsIsNotRecordedWithoutWhatItKeptSinceItsSecondTag) {
  const Operation operation{op::Delete{Names::indices({1}), Pairs::shrink}};
  EXPECT_THROW(bytes_of({operation}), Failure);
  EXPECT_EQ(hexadecimal(bytes_of({operation, {}, 7})), "070001020200");
}

TEST(OperationBytes, AFilterByTextIsNotRecordedWithoutWhatItKept) {
  const RecordedOperation record{{op::Filter{.content_contains = {"x"}}, {}}};
  EXPECT_THROW(bytes_of(record), Failure);
  ByteOut out;
  write_record(out, record, KeptPart::absent);
  EXPECT_EQ(hexadecimal(out.bytes),
            "18000101780000"
            "00");
}

}  // namespace
}  // namespace undertext
