#include "server/gateway_recorder.hpp"

#include <utility>

#include "base/json_text.hpp"
#include "gateway/conversation_recorder.hpp"
#include "server/open_conversations.hpp"
#include "server/tenant_stores.hpp"

namespace undertext {
namespace {

std::optional<std::string> note_of(const std::string& project) {
  if (project.empty()) return {};
  std::string note = R"({"project":)";
  append_json_string(note, project);
  return note + "}";
}

// The recorder with what it works on.
class StoreRecorder final : public ExchangeRecorder {
 public:
  StoreRecorder(GatewayRecording recording, const ServerLog& log)
      : stores_(std::move(recording.store), recording.quota),
        open_([this](const std::string& tenant) { return stores_.of(tenant); },
              {.count = 64, .bytes_each = std::uint64_t{4} << 20, .bytes = std::uint64_t{64} << 20}),
        recorder_(
            {.turns = {.store = [this](const std::string& tenant) { return stores_.of(tenant); },
                       .open = [this](const std::string& tenant, const std::string& id) { return open_.get(tenant, id); },
                       .secret = std::move(recording.secret),
                       .note = note_of(recording.project)},
             .one_user = recording.one_user,
             .on_recorded =
                 [watch = recording.quota_watch](const std::string& tenant) {
                   if (watch) watch->freed(tenant);
                 },
             .on_failure =
                 [&log, watch = recording.quota_watch](const std::string& tenant, const std::string& what, const Error& error) {
                   if (watch && error.field == "quota") watch->reached(tenant);
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

constexpr std::chrono::seconds quota_look_again{10};  // as often as QuotaStore counts

}  // namespace

void QuotaWatch::reached(const std::string& tenant, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  until_[tenant] = now + quota_look_again;
}

void QuotaWatch::freed(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  until_.erase(tenant);
}

bool QuotaWatch::is_reached(const std::string& tenant, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = until_.find(tenant);
  if (found == until_.end()) return false;
  if (now < found->second) return true;
  found->second = now + quota_look_again;  // for all but this one
  return false;
}

std::shared_ptr<ExchangeRecorder> gateway_recorder(GatewayRecording recording, const ServerLog& log) {
  return std::make_shared<StoreRecorder>(std::move(recording), log);
}

}  // namespace undertext
