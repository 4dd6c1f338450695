// Requests of clients for tests, and a conversation that records them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <undertext/client.hpp>
#include <undertext/conversation.hpp>
#include <undertext/request_record.hpp>

namespace undertext::test {

// Follows a client as a gateway does: RECONCILE, the answer, the record.
class Recording {
 public:
  explicit Recording(std::string client) : client_(find_client(client).value()) {}

  struct Recorded {
    std::uint64_t number = 0;
    Version version;
  };

  Recorded take(Conversation& conversation, const std::string& request,
                const std::string& answer = {}, const std::vector<Message>& answered = {}) {
    ClientRequest read = read_client_request(client_, {}, request).value();
    RequestRecord record = describe_request(client_, read, request);
    record.version = conversation.apply({std::move(read.reconcile)}).value().version;
    record.status = 200;
    if (!answered.empty())
      record.answer_version = conversation.apply({op::Append{answered}}).value().version;
    Recorded recorded{0, record.version};
    recorded.number = conversation.record_request(std::move(record), request, answer).value();
    requests_[recorded.number] = request;
    answers_[recorded.number] = answer;
    return recorded;
  }

  void forget(std::uint64_t number) { requests_.erase(number), answers_.erase(number); }
  void forget_all() { requests_.clear(), answers_.clear(); }

  // Every raw text comes back byte for byte.
  void expect_all(const Conversation& conversation) const {
    for (const auto& [number, request] : requests_) {
      const Result<std::string> rebuilt = conversation.raw_request(number);
      ASSERT_TRUE(rebuilt) << number << ": " << rebuilt.error().message;
      ASSERT_EQ(*rebuilt, request) << number;
      if (answers_.at(number).empty()) continue;
      const Result<std::string> answer = conversation.raw_answer(number);
      ASSERT_TRUE(answer) << number << ": " << answer.error().message;
      ASSERT_EQ(*answer, answers_.at(number)) << number;
    }
  }

 private:
  ClientProfile client_;
  std::map<std::uint64_t, std::string> requests_, answers_;
};

}  // namespace undertext::test
