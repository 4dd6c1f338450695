// Rows of requests, asked of every store.
#include <vector>

#include "kinds.hpp"
#include "writing.hpp"

namespace undertext {
namespace {

using test::body;
using test::stub_of;
using test::Writing;

RequestRow request_row(std::uint64_t number, std::uint64_t version,
                       std::vector<std::string> keys = {}) {
  const std::string n = std::to_string(number);
  return {.number = number,
          .version = version,
          .at_ms = 1000 + static_cast<std::int64_t>(number),
          .keys = std::move(keys),
          .facts = std::string("facts\0", 6) + n,
          .parts = "parts " + n,
          .request = "request " + n,
          .answer = "answer " + n};
}

RequestRow without_bytes(RequestRow row) {
  row.request = row.answer = {};
  return row;
}

class RequestContract : public test::OfEveryStore {
 protected:
  Result<void> put(const std::string& id, RequestRow row,
                   std::optional<std::uint64_t> next_page = {}) {
    return store().put_request({id, std::move(row), next_page});
  }
  std::vector<RequestRow> all(const std::string& id) {
    return store().requests(id, 0, 1000, RequestBytes::with).value();
  }
  std::vector<FoundRequest> find(const std::vector<std::string>& keys) {
    return store().find_requests(keys).value();
  }
};

TEST_P(RequestContract, RowsAreReadAsTheyWerePutWithOrWithoutTheirBytes) {
  ASSERT_TRUE(Writing("a").create_in(store()));
  EXPECT_EQ(store().last_request("a").value(), 0u);
  EXPECT_TRUE(all("a").empty());
  const std::vector<RequestRow> rows = {request_row(1, 0, {"k1", "k2"}), request_row(2, 0),
                                        request_row(3, 0, {"k2"})};
  for (const RequestRow& row : rows) ASSERT_TRUE(put("a", row));
  reopen();
  EXPECT_EQ(all("a"), rows);
  EXPECT_EQ(store().last_request("a").value(), 3u);
  EXPECT_EQ(store().requests("a", 2, 3, RequestBytes::without).value(),
            std::vector{without_bytes(rows[1])});
  EXPECT_CODE(store().requests("none", 1, 2, RequestBytes::with).error(), ErrorCode::not_found);
  EXPECT_CODE(store().last_request("none").error(), ErrorCode::not_found);
}

TEST_P(RequestContract, ANumberIsTakenOnceAndNoneIsLeftOut) {
  ASSERT_TRUE(Writing("a").create_in(store()));
  EXPECT_CODE(put("a", request_row(2, 0)).error(), ErrorCode::conflict);
  ASSERT_TRUE(put("a", request_row(1, 0)));
  EXPECT_CODE(put("a", request_row(1, 0)).error(), ErrorCode::conflict);
  EXPECT_CODE(put("a", request_row(0, 0)).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(put("none", request_row(1, 0)).error(), ErrorCode::not_found);
  EXPECT_CODE(put("a", request_row(2, 0), 7).error(), ErrorCode::conflict) << "another checkpoint";
  EXPECT_TRUE(put("a", request_row(2, 0), 1));
}

TEST_P(RequestContract, KeysAreBounded) {
  ASSERT_TRUE(Writing("a").create_in(store()));
  EXPECT_CODE(put("a", request_row(1, 0, std::vector<std::string>(17, "k"))).error(),
              ErrorCode::invalid_argument);
  EXPECT_CODE(put("a", request_row(1, 0, {""})).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(put("a", request_row(1, 0, {"k", "k"})).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(put("a", request_row(1, 0, {std::string(600, 'k')})).error(),
              ErrorCode::invalid_argument);
  EXPECT_TRUE(put("a", request_row(1, 0, {std::string(256, 'k'), std::string("k\0\xff", 3)})));
}

TEST_P(RequestContract, TheNewestRowOfAKeyIsFoundInAllConversations) {
  ASSERT_TRUE(Writing("a").create_in(store()));
  ASSERT_TRUE(Writing("b").create_in(store()));
  ASSERT_TRUE(put("a", request_row(1, 0, {"session:1", "response:1"})));
  ASSERT_TRUE(put("a", request_row(2, 0, {"session:1", "response:2"})));
  RequestRow later = request_row(1, 0, {"session:1", "response:3"});
  later.at_ms = 5000;
  ASSERT_TRUE(put("b", later));
  EXPECT_EQ(find({"response:2", "none", "session:1"}),
            (std::vector<FoundRequest>{{"response:2", "a", 2}, {"session:1", "b", 1}}));
  EXPECT_TRUE(find({}).empty());
  ASSERT_TRUE(store().purge("b", {"admin", 1, "why"}));
  EXPECT_EQ(find({"session:1", "response:3"}), (std::vector<FoundRequest>{{"session:1", "a", 2}}));
}

TEST_P(RequestContract, ARedactionTakesAllTextsAndLeavesTheFacts) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  ASSERT_TRUE(writing.append_to(store(), {body(0)}));
  ASSERT_TRUE(put("a", request_row(1, 1, {"k"})));
  ASSERT_TRUE(
      store().redact("a", {stub_of(store().messages("a", 0, 1).value()[0])}, {"admin", 1, "why"}));
  RequestRow left = without_bytes(request_row(1, 1, {"k"}));
  left.parts.clear();
  EXPECT_EQ(all("a"), std::vector{left});
  ASSERT_TRUE(put("a", request_row(2, 1)));
  ASSERT_TRUE(store().redact("a", {}, {"admin", 1, "why"}));
  EXPECT_EQ(all("a")[1].request, "");
  EXPECT_EQ(find({"k"}).size(), 1u);
  EXPECT_EQ(store().removals("a").value().size(), 1u)
      << "nothing was removed from the log the second time";
}

TEST_P(RequestContract, PruningRemovesRowsOfPrunedVersionsAndPutsPacksAnewAndKeepsTheLastNumber) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(store()));
  for (std::uint64_t v = 1; v <= 4; ++v) {
    ASSERT_TRUE(writing.append_to(store(), {body(v)}));
    ASSERT_TRUE(put("a", request_row(v, v, {"k" + std::to_string(v)})));
  }
  RequestRow again = request_row(3, 3);
  again.request = "packed again";
  const std::uint64_t size = store().size_bytes("a").value();
  ASSERT_TRUE(store().prune({.conversation = "a",
                             .expected_version = 4,
                             .first_version = 3,
                             .checkpoint = {4, 2, "root"},
                             .pages = {{1, "page"}},
                             .requests = {again}}));
  EXPECT_LT(store().size_bytes("a").value(), size);
  std::vector<RequestRow> left = {request_row(3, 3, {"k3"}), request_row(4, 4, {"k4"})};
  left[0].request = again.request;
  left[0].answer = again.answer;
  EXPECT_EQ(all("a"), left);
  EXPECT_TRUE(find({"k1"}).empty());
  ASSERT_TRUE(writing.append_to(store(), {body(5)}));
  ASSERT_TRUE(store().prune({.conversation = "a",
                             .expected_version = 5,
                             .first_version = 5,
                             .checkpoint = {5, 3, "root"},
                             .pages = {{2, "page"}}}));
  EXPECT_EQ(store().last_request("a").value(), 4u);
  EXPECT_CODE(put("a", request_row(1, 5)).error(), ErrorCode::conflict);
  EXPECT_TRUE(put("a", request_row(5, 5)));
}

TEST_P(RequestContract, TheyCountInTheSizeOfAConversation) {
  ASSERT_TRUE(Writing("a").create_in(store()));
  const std::uint64_t before = store().size_bytes("a").value();
  RequestRow row = request_row(1, 0);
  row.request = std::string(10'000, 'x');
  ASSERT_TRUE(put("a", row));
  EXPECT_GE(store().size_bytes("a").value(), before + 10'000);
}

TEST_P(RequestContract, WhatIsStagedIsNotFoundBeforeItIsPublished) {
  ASSERT_TRUE(Writing(".1700000000000-1").create_in(store()));
  ASSERT_TRUE(put(".1700000000000-1", request_row(1, 0, {"k"})));
  EXPECT_TRUE(find({"k"}).empty());
  ASSERT_TRUE(store().publish(".1700000000000-1", "a"));
  EXPECT_EQ(find({"k"}), (std::vector<FoundRequest>{{"k", "a", 1}}));
  EXPECT_EQ(all("a"), std::vector{request_row(1, 0, {"k"})});
}

UNDERTEXT_OF_EVERY_STORE(RequestContract);

}  // namespace
}  // namespace undertext
