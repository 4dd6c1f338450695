#include "server/gateway_recorder.hpp"

#include <utility>

#include "gateway/conversation_recorder.hpp"
#include "server/open_conversations.hpp"
#include "server/tenant_stores.hpp"

namespace undertext {
namespace {

// The recorder with what it works on.
class StoreRecorder final : public ExchangeRecorder {
 public:
  StoreRecorder(GatewayRecording recording, const ServerLog& log)
      : stores_(std::move(recording.store), recording.quota),
        open_([this](const std::string& tenant) { return stores_.of(tenant); },
              {.count = 64, .bytes_each = std::uint64_t{4} << 20, .bytes = std::uint64_t{64} << 20}),
        recorder_({.turns = {.store = [this](const std::string& tenant) { return stores_.of(tenant); },
                             .open = [this](const std::string& tenant, const std::string& id) { return open_.get(tenant, id); },
                             .secret = std::move(recording.secret)},
                   .one_user = recording.one_user,
                   .on_failure = [&log](const std::string& what, const Error& error) {
                     log.event(ServerLog::Level::warning, "not recorded",
                               {{"what", what}, {"code", std::string(name(error.code))}, {"error", error.message}});
                   }}) {}

  void request(const std::shared_ptr<const ObservedRequest>& request) override { recorder_.request(request); }
  void finished(ObservedExchange exchange) override { recorder_.finished(std::move(exchange)); }

 private:
  TenantStores stores_;
  OpenConversations open_;
  ConversationRecorder recorder_;
};

}  // namespace

std::shared_ptr<ExchangeRecorder> gateway_recorder(GatewayRecording recording, const ServerLog& log) {
  return std::make_shared<StoreRecorder>(std::move(recording), log);
}

}  // namespace undertext
