#include "json/query_json.hpp"

#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace undertext {
namespace {

Result<Query> read(std::string_view json) {
  Result<JsonText> text = JsonText::parse(json, {});
  if (!text) return text.error();
  return read_query(text->root());
}

MessageQuery filters(std::string_view members) {
  Result<Query> query = read(R"({"query":"messages",)" + std::string(members) + "}");
  if (!query) {
    ADD_FAILURE() << members << ": " << query.error().message;
    return {};
  }
  return std::get<ask::Messages>(*query).which;
}

std::string field_at_fault(std::string_view json) {
  const Result<Query> query = read(json);
  if (query) {
    ADD_FAILURE() << json << " was accepted";
    return "";
  }
  EXPECT_EQ(query.error().code, ErrorCode::invalid_argument) << json;
  return query.error().field;
}

TEST(QueryJson, EveryFilterArrives) {
  const MessageQuery query = filters(
      R"("all":true,"atVersion":1,"atBatch":2,"roles":["user","tool"],"from":-3,"to":4,"marked":"m","contains":"c","start":5,"end":6,"first":7,"last":8)");
  EXPECT_TRUE(query.all);
  EXPECT_EQ(query.at_version, Version(1));
  EXPECT_EQ(query.at_batch, BatchIndex(2));
  EXPECT_EQ(query.roles, (std::vector{Role::user, Role::tool}));
  EXPECT_EQ(query.from_ms, -3);
  EXPECT_EQ(query.to_ms, 4);
  EXPECT_EQ(query.marked, "m");
  EXPECT_EQ(query.contains, "c");
  EXPECT_EQ(query.start, 5u);
  EXPECT_EQ(query.end, 6u);
  EXPECT_EQ(query.first, 7u);
  EXPECT_EQ(query.last, 8u);
  EXPECT_EQ(filters(R"("role":"assistant")").roles, std::vector{Role::assistant});
}

TEST(QueryJson, EveryQueryIsReadUnderItsName) {
  const auto kind = [](const char* json) { return read(json).value(); };
  EXPECT_TRUE(std::holds_alternative<ask::Messages>(kind(R"({"query":"messages"})")));
  EXPECT_TRUE(std::holds_alternative<ask::Count>(kind(R"({"query":"count","last":3})")));
  EXPECT_TRUE(std::holds_alternative<ask::Uncompressed>(kind(R"({"query":"uncompressed"})")));
  EXPECT_TRUE(std::holds_alternative<ask::MarkMap>(kind(R"({"query":"markMap"})")));
  EXPECT_TRUE(std::holds_alternative<ask::State>(kind(R"({"query":"state"})")));
  EXPECT_TRUE(std::holds_alternative<ask::Stats>(kind(R"({"query":"stats"})")));
  EXPECT_TRUE(std::holds_alternative<ask::HeadVersion>(kind(R"({"query":"version"})")));
  EXPECT_TRUE(std::holds_alternative<ask::Batches>(kind(R"({"query":"batches"})")));
  EXPECT_EQ(
      std::get<ask::BatchSnapshot>(kind(R"({"query":"batchSnapshot","batchIndex":3})")).batch_index,
      BatchIndex(3));
  EXPECT_TRUE(std::holds_alternative<ask::Versions>(kind(R"({"query":"history"})")));
  EXPECT_EQ(std::get<ask::Diff>(kind(R"({"query":"diff","from":1,"to":2})")).to, Version(2));
  EXPECT_EQ(std::get<ask::Blame>(kind(R"({"query":"blame","ordinal":4})")).ordinal, Ordinal(4));
}

TEST(QueryJson, ATimeBeyondTheTypeIsTheNearestOne) {
  using Limits64 = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(filters(R"("to":99999999999999999999)").to_ms, Limits64::max());
  EXPECT_EQ(filters(R"("from":-99999999999999999999)").from_ms, Limits64::min());
}

TEST(QueryJson, AnUnknownQueryIsRefused) {
  for (const char* query : {"\"everything\"", "\"\"", "\"Messages\"", "1", "null", "{}", "[]"}) {
    EXPECT_EQ(field_at_fault(std::string(R"({"query":)") + query + "}"), "query") << query;
  }
}

TEST(QueryJson, AnUnknownFieldIsNamed) {
  EXPECT_EQ(field_at_fault(R"({"query":"messages","lst":3})"), "lst");
  EXPECT_EQ(field_at_fault(R"({"query":"stats","last":3})"), "last");
  EXPECT_EQ(field_at_fault(R"({"query":"uncompressed","role":"user"})"), "role");
  EXPECT_EQ(field_at_fault(R"({"query":"stats","expectedVersion":3})"), "expectedVersion");
}

TEST(QueryJson, AMissingFieldIsNamed) {
  EXPECT_EQ(field_at_fault(R"({"query":"batchSnapshot"})"), "batchIndex");
  EXPECT_EQ(field_at_fault(R"({"query":"diff","to":1})"), "from");
  EXPECT_EQ(field_at_fault(R"({"query":"diff","from":1})"), "to");
  EXPECT_EQ(field_at_fault(R"({"query":"blame"})"), "ordinal");
}

TEST(QueryJson, AWrongTypeInAnyFieldIsRefusedByTheFieldsName) {
  for (const char* field : {"atVersion", "atBatch", "start", "end", "first", "last"}) {
    for (const char* value : {"-1", "1.5", "1.0", "1e2", "\"1\"", "null", "true", "[]", "{}"}) {
      EXPECT_EQ(field_at_fault(std::string(R"({"query":"count",")") + field + "\":" + value + "}"),
                field)
          << value;
    }
  }
  for (const char* field : {"from", "to"}) {
    for (const char* value : {"1.5", "1e3", "\"1\"", "null", "true", "[]"}) {
      EXPECT_EQ(
          field_at_fault(std::string(R"({"query":"messages",")") + field + "\":" + value + "}"),
          field)
          << value;
    }
  }
  for (const char* field : {"marked", "contains"}) {
    for (const char* value : {"1", "null", "true", "[\"a\"]", "{}"}) {
      EXPECT_EQ(
          field_at_fault(std::string(R"({"query":"messages",")") + field + "\":" + value + "}"),
          field)
          << value;
    }
  }
  for (const char* value : {"1", "null", "\"user\"", "[]", "[1]", "[\"nobody\"]"}) {
    EXPECT_EQ(field_at_fault(std::string(R"({"query":"messages","roles":)") + value + "}"), "roles")
        << value;
  }
  for (const char* value : {"1", "null", "\"nobody\"", "[\"user\"]"}) {
    EXPECT_EQ(field_at_fault(std::string(R"({"query":"messages","role":)") + value + "}"), "role")
        << value;
  }
  for (const char* value : {"1", "null", "\"true\""}) {
    EXPECT_EQ(field_at_fault(std::string(R"({"query":"messages","all":)") + value + "}"), "all")
        << value;
  }
}

TEST(QueryJson, RoleAndRolesExcludeEachOther) {
  EXPECT_EQ(field_at_fault(R"({"query":"messages","role":"user","roles":["user"]})"), "role");
}

}  // namespace
}  // namespace undertext
