// Context tools that the gateway offers and answers, from a client's request to its answer, beside
// an upstream of this process.
#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

#include "../../tests/http/raw_client.hpp"
#include "gateway/gateway.hpp"

namespace undertext {
namespace {

using namespace http::testing;

const std::string request_body =
    R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Which colour?"}]})";

std::string whole(const std::string& block, const std::string& stop) {
  return R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[)" + block +
         R"(],"stop_reason":")" + stop + R"(","usage":{"input_tokens":1,"output_tokens":1}})";
}
const std::string call_block =
    R"({"type":"tool_use","id":"t1","name":"context_search","input":{"text":"kettle"}})";
const std::string text_block = R"({"type":"text","text":"Blue."})";

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }
std::string streamed(bool calls) {
  std::string out = event(
      R"({"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{}}})");
  if (calls) {
    out += event(R"({"type":"content_block_start","index":0,"content_block":)" + call_block + "}");
    out += event(
        R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"text\":\"kettle\"}"}})");
  } else {
    out += event(
        R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
    out += event(
        R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Blue."}})");
  }
  out += event(R"({"type":"content_block_stop","index":0})");
  out += event(
      R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}})");
  return out + event(R"({"type":"message_stop"})");
}

// A model that searches before it answers; what it was sent is kept.
class Upstream {
 public:
  Upstream() : server_(serve(calls())) {}
  std::string address() const { return server_.address(); }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }
  std::atomic<bool> streams = false, fails_later = false;

 private:
  http::Calls calls() {
    http::Calls calls = echoing(1 << 20);
    calls.handle = [this](http::Request request, std::unique_ptr<http::Exchange> exchange) {
      const bool has_result = request.body.find("tool_result") != std::string::npos;
      {
        const std::lock_guard lock(mutex_);
        bodies_.push_back(request.body);
      }
      const bool offered = request.body.find("context_search") != std::string::npos;
      if (has_result && fails_later)
        return exchange->answer(
            {.status = 529,
             .body = R"({"type":"error","error":{"type":"overloaded_error","message":"no"}})"});
      const bool is_call = offered && !has_result;
      if (!streams)
        return exchange->answer(
            {.body = is_call ? whole(call_block, "tool_use") : whole(text_block, "end_turn")});
      const std::shared_ptr<http::Stream> stream = exchange->stream(200, "text/event-stream", {});
      stream->offer(streamed(is_call));
      stream->end();
    };
    return calls;
  }
  std::mutex mutex_;
  std::vector<std::string> bodies_;
  http::Server server_;
};

class KeepingRecorder : public ExchangeRecorder {
 public:
  KeepingRecorder() {
    conversation = std::make_shared<Conversation>();
    conversation->apply({op::Append{{Message::make(Role::user, "the kettle is blue").value()}}})
        .value();
    conversation->apply({op::Clear{false}}).value();
  }
  void request(const std::shared_ptr<const ObservedRequest>& request) override {
    asked = *request->body;
  }
  void finished(ObservedExchange exchange) override {
    answered = exchange.body;
    end = std::string(name(exchange.end));
  }
  std::shared_ptr<Conversation> conversation_of(std::uint64_t) override { return conversation; }
  std::shared_ptr<Conversation> conversation;
  std::string asked, answered, end;  // of the last exchange; read after stop()
};

class GatewayRecall : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!UpstreamClient::available()) GTEST_SKIP() << "curl: built without libcurl";
    GatewayOptions options;
    options.upstreams = Upstreams::make({.urls = {{"anthropic", upstream_.address()}}}).value();
    options.recorder = recorder_;
    options.offers_recall = [this](const ObservedRequest&) { return offers_.load(); };
    gateway_.emplace(Gateway::start(std::move(options)).value());
  }
  std::string ask() {
    RawClient client(port_in(gateway_->address()));
    client.send(
        "POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: "
        "gzip\r\nContent-Length: " +
        std::to_string(request_body.size()) + "\r\n\r\n" + request_body);
    return client.read_all();
  }
  Upstream upstream_;
  std::shared_ptr<KeepingRecorder> recorder_ = std::make_shared<KeepingRecorder>();
  std::atomic<bool> offers_ = true;
  std::optional<Gateway> gateway_;
};

TEST_F(GatewayRecall, AWholeAnswerHasWhatTheModelSaidInTheEnd) {
  const std::string answer = ask();
  EXPECT_NE(answer.find("Blue."), std::string::npos) << answer;
  EXPECT_EQ(answer.find("context_search"), std::string::npos) << answer;
  const std::vector<std::string> bodies = upstream_.bodies();
  ASSERT_EQ(bodies.size(), 2u);
  EXPECT_NE(bodies[0].find("context_search"), std::string::npos);
  EXPECT_NE(bodies[1].find("the kettle is blue"), std::string::npos) << bodies[1];
  EXPECT_EQ(gateway_->counts().recall_calls, 1u);
  gateway_->stop();
  EXPECT_EQ(recorder_->asked, request_body)
      << "what the client sent is recorded, not what was offered";
  EXPECT_EQ(recorder_->end, "complete");
  EXPECT_EQ(recorder_->answered.find("context_search"), std::string::npos);
}

TEST_F(GatewayRecall, AStreamGoesOnWithTheNextAnswer) {
  upstream_.streams = true;
  const std::string answer = ask();
  EXPECT_NE(answer.find("Blue."), std::string::npos) << answer;
  EXPECT_EQ(answer.find("context_search"), std::string::npos) << answer;
  EXPECT_EQ(count_of(answer, "message_start"), 1u);
  EXPECT_EQ(count_of(answer, "message_stop"), 1u);
  gateway_->stop();
  EXPECT_EQ(recorder_->end, "complete");
  EXPECT_NE(recorder_->answered.find("Blue."), std::string::npos);
}

TEST_F(GatewayRecall, WhereTheyAreNotOfferedNothingChanges) {
  offers_ = false;
  EXPECT_NE(ask().find("Blue."), std::string::npos);
  EXPECT_EQ(upstream_.bodies(), std::vector<std::string>{request_body});
}

TEST_F(GatewayRecall, AFailureBehindTheFirstAnswerReachesTheClient) {
  upstream_.fails_later = true;
  const std::string answer = ask();
  EXPECT_NE(answer.find("529"), std::string::npos) << answer;
  EXPECT_NE(answer.find("overloaded_error"), std::string::npos) << answer;
  upstream_.streams = true;
  const std::string torn = ask();
  EXPECT_EQ(torn.find("\r\n0\r\n\r\n"), std::string::npos) << "what has begun is torn: " << torn;
}

TEST_F(GatewayRecall, ManyClientsAtOnceAreEachAnswered) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) good += ask().find("Blue.") != std::string::npos ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 30);
  EXPECT_EQ(gateway_->counts().recall_calls, 30u);
  gateway_->stop();
  EXPECT_EQ(gateway_->counts().open, 0u);
}

}  // namespace
}  // namespace undertext
