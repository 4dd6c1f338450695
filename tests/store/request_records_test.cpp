// Records of requests, kept by conversations in every store.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "agent_sessions.hpp"
#include "client_requests.hpp"
#include "engine/request_bytes.hpp"
#include "kinds.hpp"

namespace undertext {
namespace {

using test::AgentTurn;
using test::ClaudeSession;
using test::CodexSession;
using test::Recording;

constexpr const char* canary = "canary-7f3a9c-and-more-of-it";

std::string request_of(const std::vector<std::string>& texts) {
  std::string body = R"({"model":"m","system":"be good","messages":[)";
  for (std::size_t i = 0; i < texts.size(); ++i)
    body += (i == 0 ? "" : ",") +
            (R"({"role":")" + std::string(i % 2 == 0 ? "user" : "assistant")) + R"(","content":")" +
            texts[i] + "\"}";
  return body + "]}";
}

class RequestRecords : public test::OfEveryStore {
 protected:
  Conversation open_conversation(const std::string& id) {
    return Conversation::open(shared(), id).value();
  }

  bool canary_is_anywhere() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      if (bytes.find(canary) != std::string::npos) return true;
    }
    return false;
  }
};

TEST_P(RequestRecords, ARecordHasTheFactsOfItsRequestAndTheVeryBytes) {
  Conversation conversation = open_conversation("a");
  const ClientProfile client = find_client("claude_code").value();
  const std::string body =
      R"({"model":"claude","tools":[{"name":"t"}],"max_tokens":5, "system":[{"type":"text","text":"x-anthropic-billing-header: 1"},)"
      R"({"type":"text","text":"be good","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[)"
      R"({"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]},)"
      R"({"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]})";
  const ClientRequestHead head{"/v1/messages?key=secret", {}};
  ClientRequest request = read_client_request(client, {}, body, {}, head).value();
  RequestRecord given = describe_request(client, request, body, head);
  given.version = conversation.apply({std::move(request.reconcile)}).value().version;
  given.status = 200;
  given.at_ms = 5;
  given.usage = {
      .request_id = "r1", .model = "claude", .prompt = 10, .completion = 5, .cost = 0.25};
  given.first_byte_ms = 12;
  given.keys.push_back("response:msg_1");
  const std::string answer("data: {}\n\n\xff\0", 12);
  ASSERT_EQ(conversation.record_request(given, body, answer).value(), 1u);
  reopen();
  const Conversation again = lasts() ? open_conversation("a") : std::move(conversation);
  const std::vector<RequestRecord> records = again.requests().value();
  ASSERT_EQ(records.size(), 1u);
  const RequestRecord& record = records[0];
  EXPECT_EQ(record.number, 1u);
  EXPECT_EQ(record.version, Version(1));
  EXPECT_EQ(record.client, "claude_code");
  EXPECT_EQ(record.dialect, "anthropic");
  EXPECT_EQ(record.path, "/v1/messages");
  EXPECT_EQ(record.model, "claude");
  EXPECT_EQ(record.messages, 2u);
  EXPECT_EQ(record.usage, given.usage);
  EXPECT_EQ(record.first_byte_ms, 12);
  EXPECT_FALSE(record.duration_ms);
  EXPECT_EQ(record.request_bytes, body.size());
  EXPECT_EQ(record.answer_bytes, answer.size());
  EXPECT_EQ(record.tools_digest.size(), 32u);
  EXPECT_EQ(record.parameters_digest.size(), 32u);
  ASSERT_EQ(record.volatile_parts.size(), 4u);
  const auto expect_part = [&](std::size_t i, const VolatilePart& part) {
    EXPECT_EQ(record.volatile_parts[i], part) << i;
  };
  using Kind = VolatilePart::Kind;
  const std::string ephemeral = R"({"type":"ephemeral"})";
  expect_part(0, {Kind::text,
                  0,
                  Ordinal(0),
                  0,
                  {},
                  R"({"type":"text","text":"x-anthropic-billing-header: 1"})"});
  expect_part(1, {Kind::marker, 1, Ordinal(1), 0, 0, ephemeral});
  expect_part(2, {Kind::marker, 1, Ordinal(1), 1, {}, R"({"type":"ephemeral","ttl":"1h"})"});
  expect_part(3, {Kind::marker, 0, Ordinal(0), 1, {}, ephemeral});
  EXPECT_EQ(again.raw_request(1).value(), body);
  EXPECT_EQ(again.raw_answer(1).value(), answer);
  EXPECT_CODE(again.raw_request(2).error(), ErrorCode::not_found);
  EXPECT_CODE(again.raw_request(0).error(), ErrorCode::not_found);
}

TEST_P(RequestRecords, AnAnswerIdFindsTheConversationOfItsRequest) {
  Conversation a = open_conversation("a"), b = open_conversation("b");
  RequestRecord record;
  record.keys = {"response:1"};
  ASSERT_TRUE(a.record_request(record));
  record.keys = {"response:2"};
  ASSERT_TRUE(b.record_request(record));
  const std::vector<std::string> keys = {"response:2"};
  EXPECT_EQ(store().find_requests(keys).value(),
            (std::vector<FoundRequest>{{"response:2", "b", 1}}));
}

TEST_P(RequestRecords, AVersionThatIsNotThereIsRefused) {
  Conversation conversation = open_conversation("a");
  RequestRecord record;
  record.version = Version(1);
  EXPECT_CODE(conversation.record_request(record).error(), ErrorCode::invalid_argument);
  record.version = Version(0);
  record.keys = std::vector<std::string>(17, "k");
  EXPECT_CODE(conversation.record_request(record).error(), ErrorCode::invalid_argument);
}

TEST_P(RequestRecords, RecordsOfOthersAreRebuiltByOneWhoHasNotSeenTheirVersions) {
  Conversation mine = open_conversation("a"), theirs = open_conversation("a");
  Recording recording("anthropic");
  recording.take(theirs, request_of({"one"}));
  recording.take(theirs, request_of({"one", "two", "three"}));
  recording.expect_all(mine);
  recording.take(mine, request_of({"one", "two", "three", "four", "five"}));
  recording.take(theirs, request_of({"one", "two", "three", "four", "five"}));
  recording.expect_all(mine);
  recording.expect_all(theirs);
}

TEST_P(RequestRecords, ARedactionLeavesTheTextInNoByteOfTheStore) {
  const auto has_files = GetParam() == "sqlite" || GetParam() == "tenant";
  Conversation conversation = open_conversation("a");
  Recording recording("anthropic");
  recording.take(conversation, request_of({canary, "two", "three"}),
                 std::string("data: ") + canary);
  Conversation fork = conversation.fork(conversation.version(), "b").value();
  Recording of_fork("anthropic");
  of_fork.take(fork, request_of({canary, "two", "three", "four", "five"}));
  recording.take(conversation, request_of({canary, "two", "three", "four"}),
                 std::string("data: ") + canary);
  if (has_files) {
    EXPECT_TRUE(canary_is_anywhere());
  }
  ASSERT_TRUE(conversation.redact({Ordinal(1)}, {"admin", 1, "why"}));
  const auto expect_gone = [&](const Conversation& of, std::uint64_t count) {
    const std::vector<RequestRecord> records = of.requests().value();
    ASSERT_EQ(records.size(), count);
    for (const RequestRecord& record : records) {
      EXPECT_FALSE(record.has_raw_request || record.has_raw_answer);
      const Error error = of.raw_request(record.number).error();
      EXPECT_CODE(error, ErrorCode::not_found);
      EXPECT_GT(record.request_bytes, 0u);
    }
  };
  expect_gone(conversation, 2);
  expect_gone(fork, 1);
  EXPECT_NE(conversation.raw_request(1).error().message.find("redacted"), std::string::npos);
  if (has_files) {
    EXPECT_FALSE(canary_is_anywhere());
  }
  // The client still has it.
  recording.take(conversation, request_of({canary, "two", "three", "four", "five"}));
  of_fork.take(fork, request_of({canary, "two", "three", "four", "five", "six"}));
  if (has_files) {
    EXPECT_FALSE(canary_is_anywhere());
  }
  expect_gone(conversation, 3);
  expect_gone(fork, 2);
  // Until it drops it.
  recording.forget_all();
  recording.take(conversation, request_of({"five", "six"}));
  recording.expect_all(conversation);
}

TEST_P(RequestRecords, ADamagedPackIsCorruptAndNeverOtherBytes) {
  Conversation conversation = open_conversation("a");
  Recording recording("anthropic");
  for (const char* last : {"one", "two", "three"})
    recording.take(conversation, request_of({std::string(500, 'x'), "y", last}));
  EXPECT_TRUE(conversation.check());
  const std::vector<RequestRow> rows = store().requests("a", 1, 10, RequestBytes::with).value();
  for (std::size_t at = 0; at < rows[2].request.size(); ++at) {
    RequestRow damaged = rows[2];
    damaged.request[at] = static_cast<char>(damaged.request[at] ^ 1);
    damaged.number = store().last_request("a").value() + 1;
    ASSERT_TRUE(store().put_request({"a", damaged}));
    const Result<std::string> made = conversation.raw_request(damaged.number);
    EXPECT_TRUE(made ? *made == request_of({std::string(500, 'x'), "y", "three"})
                     : made.error().code == ErrorCode::corrupt ||
                           made.error().code == ErrorCode::unsupported ||
                           made.error().code == ErrorCode::not_found)
        << at;
  }
  EXPECT_FALSE(conversation.check());
}

// What a turn stores, in the store's own bytes.
template <class Session>
void expect_small(Store& store, Conversation& conversation, Recording& recording, Session& session,
                  std::size_t result_bytes, int turns, const char* what) {
  std::uint64_t before = store.size_bytes(conversation.id()).value(), sent = 0, stored = 0,
                fresh = 0, largest = 0;
  double worst = 0;
  for (int i = 0; i < turns; ++i) {
    const AgentTurn turn = session.next(result_bytes);
    recording.take(conversation, turn.request, turn.answer);
    // Rows of the index that become one take fewer bytes than before.
    const std::uint64_t now = store.size_bytes(conversation.id()).value();
    const std::int64_t more = static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before);
    EXPECT_LE(static_cast<double>(more), 1.3 * static_cast<double>(turn.new_bytes) + 4096)
        << what << " turn " << i;
    worst =
        std::max(worst, (static_cast<double>(more) - 4096) / static_cast<double>(turn.new_bytes));
    before = now, stored += static_cast<std::uint64_t>(more), fresh += turn.new_bytes,
    sent += turn.request.size();
    largest = std::max<std::uint64_t>(largest, turn.request.size());
  }
  const auto begin = std::chrono::steady_clock::now();
  recording.expect_all(conversation);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%s: %d turns, requests up to %llu bytes, %llu sent, %llu new, %llu stored: %.3f of new, "
      "worst (stored - 4 KiB) / new "
      "%.3f; rebuilt in %.2f ms each\n",
      what, turns, static_cast<unsigned long long>(largest), static_cast<unsigned long long>(sent),
      static_cast<unsigned long long>(fresh), static_cast<unsigned long long>(stored),
      static_cast<double>(stored) / static_cast<double>(fresh), worst, took.count() / turns);
}

TEST_P(RequestRecords, ATurnOfClaudeCodeStoresLittleMoreThanWhatIsNew) {
  for (const std::size_t result_bytes : {300u, 3000u}) {
    Conversation conversation = open_conversation("a" + std::to_string(result_bytes));
    Recording recording("claude_code");
    ClaudeSession session(result_bytes);
    expect_small(store(), conversation, recording, session, result_bytes, 110, "Claude Code");
  }
}

// Its items are kept in the engine's form beside their own, which costs nothing where bodies are
// packed: everywhere but in memory.
TEST_P(RequestRecords, ATurnOfCodexStoresLittleMoreThanWhatIsNew) {
  if (GetParam() == "memory") return;
  for (const std::size_t result_bytes : {300u, 8000u}) {
    Conversation conversation = open_conversation("a" + std::to_string(result_bytes));
    Recording recording("codex");
    CodexSession session(result_bytes);
    expect_small(store(), conversation, recording, session, result_bytes, 40, "Codex");
  }
}

UNDERTEXT_OF_EVERY_STORE(RequestRecords);

TEST(RequestRecordsInMemory, AConversationWithoutAStoreHasThemToo) {
  Conversation conversation;
  Recording recording("anthropic");
  recording.take(conversation, request_of({"one"}), "an answer");
  recording.take(conversation, request_of({"one", "two", "three"}));
  ASSERT_TRUE(conversation.apply({op::Undo{}}));
  recording.expect_all(conversation);
  EXPECT_EQ(conversation.requests({.last = 1}).value().at(0).number, 2u);
  EXPECT_EQ(conversation.fork(conversation.version()).value().requests().value().size(), 0u);
}

}  // namespace
}  // namespace undertext
