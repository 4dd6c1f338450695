// The gateway beside parts that fail.
#include "gateway/gateway.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext {
namespace {

using namespace http::testing;

// Fails at whatever it is asked.
class FailingParts final : public ExchangeRecorder, public ExchangeEditor {
 public:
  void request(const std::shared_ptr<const ObservedRequest>&) override {
    throw std::runtime_error("no disk");
  }
  void finished(ObservedExchange) override { throw std::runtime_error("no disk"); }
  bool may_edit(const ObservedRequest& request) const override {
    if (request.number == 1) throw std::runtime_error("a bug");
    return true;
  }
  RequestEdit edit(const std::shared_ptr<const ObservedRequest>&, const Offer&) override {
    throw std::runtime_error("no disk");
  }
  RequestEdit unedited(const ObservedRequest&) const override { throw std::runtime_error("a bug"); }
};

TEST(Gateway, PassesRequestsOnThoughItsRecorderAndItsEditorThrow) {
  if (!UpstreamClient::available()) GTEST_SKIP() << "curl: built without libcurl";
  const http::Server upstream = serve(echoing());
  const auto parts = std::make_shared<FailingParts>();
  GatewayOptions options;
  options.upstreams = Upstreams::make({.urls = {{"anthropic", upstream.address()}}}).value();
  options.recorder = parts;
  options.editor = parts;
  Gateway gateway = Gateway::start(std::move(options)).value();
  for (int number = 1; number <= 2; ++number) {
    RawClient client(port_in(gateway.address()));
    client.send(
        "POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: "
        "5\r\n\r\nhello");
    const std::string answer = client.read_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    EXPECT_NE(answer.find("hello"), std::string::npos) << answer;
  }
  gateway.stop();
  EXPECT_GT(gateway.counts().record_failed, 0u);
}

}  // namespace
}  // namespace undertext
