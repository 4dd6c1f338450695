#include "server/late_store.hpp"

#include <mutex>
#include <utility>

#include "base/answering_failure.hpp"
#include "store/tenant.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;
using Opened = Result<std::shared_ptr<Store>>;

// One for all tenants.
class Opening {
 public:
  explicit Opening(LateStoreOptions options)
      : options_(std::move(options)),
        failure_(options_.failure),
        try_again_(Clock::now() + options_.between_tries) {}

  const std::string& name() const { return options_.name; }

  Opened store() {
    std::unique_lock lock(mutex_);
    if (store_) return store_;
    if (is_trying_ || Clock::now() < try_again_) return failure_;
    is_trying_ = true;
    lock.unlock();
    Opened opened = answering_failure([this] { return options_.open(); });
    lock.lock();
    is_trying_ = false;
    try_again_ = Clock::now() + options_.between_tries;
    if (opened)
      store_ = *opened;
    else
      failure_ = opened.error();
    return opened;
  }

 private:
  const LateStoreOptions options_;
  std::mutex mutex_;
  std::shared_ptr<Store> store_;
  Error failure_;
  Clock::time_point try_again_;
  bool is_trying_ = false;
};

class LateStore final : public Store {
 public:
  // Without a tenant: as it was opened.
  explicit LateStore(std::shared_ptr<Opening> opening, std::optional<std::string> tenant = {})
      : opening_(std::move(opening)), tenant_(std::move(tenant)) {}

  std::string name() const override {
    const std::lock_guard lock(mutex_);
    return store_ ? store_->name() : opening_->name();
  }
  std::shared_ptr<Store> for_tenant(std::string_view tenant) override {
    return std::make_shared<LateStore>(opening_, std::string(tenant));
  }

  Result<ConversationRecord> create(const NewConversation& made, const CallOptions& o) override {
    return with([&](Store& store) { return store.create(made, o); });
  }
  Result<ConversationRecord> find(std::string_view id, const CallOptions& o) override {
    return with([&](Store& store) { return store.find(id, o); });
  }
  Result<std::vector<ConversationRecord>> list(const ListOptions& o) override {
    return with([&](Store& store) { return store.list(o); });
  }
  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& o) override {
    return with([&](Store& store) { return store.publish(staged, id, o); });
  }
  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return with([&](Store& store) { return store.versions(id, first, end, o); });
  }
  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return with([&](Store& store) { return store.messages(id, first, end, o); });
  }
  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& o) override {
    return with([&](Store& store) { return store.pages(id, numbers, o); });
  }
  Result<std::optional<Checkpoint>> checkpoint(std::string_view id, const CallOptions& o) override {
    return with([&](Store& store) { return store.checkpoint(id, o); });
  }
  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& o) override {
    return with([&](Store& store) { return store.find_operation(id, operation_id, o); });
  }
  Result<void> commit(const Commit& commit, const CallOptions& o) override {
    return with([&](Store& store) { return store.commit(commit, o); });
  }
  Result<void> put_request(const NewRequest& request, const CallOptions& o) override {
    return with([&](Store& store) { return store.put_request(request, o); });
  }
  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes bytes,
                                           const CallOptions& o) override {
    return with([&](Store& store) { return store.requests(id, first, end, bytes, o); });
  }
  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& o) override {
    return with([&](Store& store) { return store.last_request(id, o); });
  }
  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& o) override {
    return with([&](Store& store) { return store.find_requests(keys, o); });
  }
  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes bytes, const CallOptions& o) override {
    return with([&](Store& store) { return store.words(id, first, end, bytes, o); });
  }
  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& o) override {
    return with([&](Store& store) { return store.redact(id, stubs, removal, o); });
  }
  Result<void> purge(std::string_view id, const Removal& removal, const PurgeOptions& o) override {
    return with([&](Store& store) { return store.purge(id, removal, o); });
  }
  Result<std::vector<RemovalRecord>> removals(std::string_view id, const CallOptions& o) override {
    return with([&](Store& store) { return store.removals(id, o); });
  }
  Result<void> prune(const Prune& prune, const CallOptions& o) override {
    return with([&](Store& store) { return store.prune(prune, o); });
  }
  Result<std::uint64_t> size_bytes(std::string_view id, const CallOptions& o) override {
    return with([&](Store& store) { return store.size_bytes(id, o); });
  }
  Result<std::vector<Damage>> check(const CallOptions& o) override {
    return with([&](Store& store) { return store.check(o); });
  }
  Result<void> compact(const CallOptions& o) override {
    return with([&](Store& store) { return store.compact(o); });
  }
  Result<void> distribute(const CallOptions& o) override {
    return with([&](Store& store) { return store.distribute(o); });
  }
  Result<void> backup(const std::string& path, const CallOptions& o) override {
    return with([&](Store& store) { return store.backup(path, o); });
  }

 private:
  // What the call answers, or why there is no store.
  template <class Call>
  auto with(Call call) -> decltype(call(std::declval<Store&>())) {
    const Opened opened = store();
    if (!opened) return opened.error();
    return call(**opened);
  }

  Opened store() {
    {
      const std::lock_guard lock(mutex_);
      if (store_) return store_;
    }
    Opened opened = opening_->store();
    if (opened && tenant_) opened = store_of_tenant(*std::move(opened), *tenant_);
    if (!opened) return opened;
    const std::lock_guard lock(mutex_);
    if (!store_) store_ = *std::move(opened);
    return store_;
  }

  const std::shared_ptr<Opening> opening_;
  const std::optional<std::string> tenant_;
  mutable std::mutex mutex_;
  std::shared_ptr<Store> store_;  // once it is open
};

}  // namespace

std::shared_ptr<Store> late_store(LateStoreOptions options) {
  return std::make_shared<LateStore>(std::make_shared<Opening>(std::move(options)));
}

}  // namespace undertext
