// Records what a gateway observes as conversations: every exchange of a provider's API becomes a turn (turn_recorder.hpp).
//
//     auto recorder = std::make_shared<ConversationRecorder>(ConversationRecorderOptions{.turns = {…}});
//     Gateway::start({.upstreams = upstreams, .recorder = recorder});
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "gateway/observed.hpp"
#include "gateway/turn_recorder.hpp"

namespace undertext {

struct ConversationRecorderOptions {
  TurnRecorderOptions turns;
  bool one_user = false;                                       // all credentials are one user's
  std::uint64_t decoded_bytes_max = std::uint64_t{128} << 20;  // of one body
  std::function<void(const std::string& tenant)> on_recorded = {};
  // Something of a tenant could not be recorded.
  std::function<void(const std::string& tenant, const std::string& what, const Error& error)> on_failure = {};
};

class ConversationRecorder final : public ExchangeRecorder {
 public:
  explicit ConversationRecorder(ConversationRecorderOptions options);

  void request(const std::shared_ptr<const ObservedRequest>& request) override;
  void finished(ObservedExchange exchange) override;

 private:
  void failed(const ObservedRequest& request, const std::string& what, const Error& error) const;
  Result<SentRequest> sent(const ObservedRequest& request) const;

  const ConversationRecorderOptions options_;
  TurnRecorder turns_;
  std::map<std::uint64_t, std::shared_ptr<ObservedTurn>> under_way_;  // by ObservedRequest::number
};

}  // namespace undertext
