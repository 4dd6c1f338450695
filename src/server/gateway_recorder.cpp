#include "server/gateway_recorder.hpp"

#include <optional>
#include <utility>

#include "base/json_text.hpp"
#include "gateway/conversation_recorder.hpp"
#include "server/open_conversations.hpp"
#include "server/tenant_stores.hpp"

namespace undertext {
namespace {

std::optional<std::string> note_of(const GatewayRecording& recording) {
  const bool offers_recall = recording.policies.of({}).tools == GatewayPolicy::Tools::recall;
  if (recording.project.empty() && !offers_recall) return {};
  std::string note = "{";
  if (offers_recall) note += R"("contextTools":true)";
  if (!recording.project.empty()) {
    note += note.size() > 1 ? R"(,"project":)" : R"("project":)";
    append_json_string(note, recording.project);
  }
  return note + "}";
}

std::shared_ptr<const CompactionSeal> seal_of(const GatewayRecording& recording) {
  const bool is_needed =
      recording.policies.answers_compactions() && !recording.compaction_key.empty();
  return !is_needed ? nullptr : std::make_shared<const CompactionSeal>(recording.compaction_key);
}

// The recorder with what it works on.
class StoreRecorder final : public ExchangeRecorder, public ExchangeEditor {
 public:
  StoreRecorder(GatewayRecording recording, const ServerLog& log)
      : seal_(seal_of(recording)),
        stores_(std::move(recording.store), recording.quota),
        open_(
            [this](const std::string& tenant) { return stores_.of(tenant); },
            {.count = 64, .bytes_each = std::uint64_t{4} << 20, .bytes = std::uint64_t{64} << 20}),
        recorder_(
            {.turns = {.store = [this](const std::string& tenant) { return stores_.of(tenant); },
                       .open = [this](const std::string& tenant,
                                      const std::string& id) { return open_.get(tenant, id); },
                       .secret = std::move(recording.secret),
                       .note = note_of(recording),
                       .compacts =
                           [policies = recording.policies](const std::string& tenant,
                                                           const std::string& model,
                                                           const std::string& conversation) {
                             const GatewayPolicy policy = policies.of(
                                 {.tenant = tenant, .model = model, .conversation = conversation});
                             return policy.compaction == GatewayPolicy::Compaction::pointer;
                           },
                       .seal = seal_},
             .edits = {.policies = recording.policies,
                       .seal = seal_,
                       .on_event =
                           [&log](std::string_view event, const std::string& detail) {
                             log.event(ServerLog::Level::info, event, {{"detail", detail}});
                           }},
             .one_user = recording.one_user,
             .on_recorded =
                 [watch = recording.quota_watch, money = recording.money](
                     const std::string& tenant, const Conversation& conversation) {
                   if (watch) watch->recorded(tenant);
                   if (money) money->recorded(tenant, conversation);
                 },
             .on_failure =
                 [&log, watch = recording.quota_watch](
                     const std::string& tenant, const std::string& what, const Error& error) {
                   if (watch && error.field == "quota") watch->reached(tenant);
                   log.event(ServerLog::Level::warning, "not recorded",
                             {{"what", what},
                              {"code", std::string(name(error.code))},
                              {"error", error.message}});
                 }}) {}

  void request(const std::shared_ptr<const ObservedRequest>& request) override {
    recorder_.request(request);
  }
  void finished(ObservedExchange exchange) override { recorder_.finished(std::move(exchange)); }
  std::uint64_t failures() const override { return recorder_.failures(); }
  bool keeps_bodies(CallKind call) const override { return recorder_.keeps_bodies(call); }
  std::shared_ptr<Conversation> conversation_of(std::uint64_t number) override {
    return recorder_.conversation_of(number);
  }
  bool may_edit(const ObservedRequest& request) const override {
    return recorder_.may_edit(request);
  }
  RequestEdit edit(const std::shared_ptr<const ObservedRequest>& request,
                   const Offer& offer) override {
    return recorder_.edit(request, offer);
  }
  RequestEdit unedited(const ObservedRequest& request) const override {
    return recorder_.unedited(request);
  }
  bool is_held_up() const override { return recorder_.is_held_up(); }

 private:
  const std::shared_ptr<const CompactionSeal> seal_;
  TenantStores stores_;
  OpenConversations open_;
  ConversationRecorder recorder_;
};

constexpr std::chrono::seconds quota_look_again{10};  // as often as QuotaStore counts

}  // namespace

void QuotaWatch::reached(const std::string& tenant, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  reached_[tenant] = {.until = now + quota_look_again};
}

void QuotaWatch::recorded(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  const auto found = reached_.find(tenant);
  // A turn that was under way when the quota was reached says nothing about what it leaves for
  // others.
  if (found != reached_.end() && found->second.is_tried) reached_.erase(found);
}

bool QuotaWatch::is_reached(const std::string& tenant, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = reached_.find(tenant);
  if (found == reached_.end()) return false;
  if (now < found->second.until) return true;
  found->second = {.until = now + quota_look_again, .is_tried = true};  // for all but this one
  return false;
}

GatewayRecorder gateway_recorder(GatewayRecording recording, const ServerLog& log) {
  const auto recorder = std::make_shared<StoreRecorder>(std::move(recording), log);
  return {.recorder = recorder, .editor = recorder};
}

}  // namespace undertext
