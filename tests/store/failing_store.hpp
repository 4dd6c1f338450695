// A store that fails at its n-th call: before it, having done nothing; or after it, as when the
// answer is lost on its way.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <undertext/store.hpp>

namespace undertext::test {

class FailingStore final : public Store {
 public:
  enum class When : std::uint8_t { before, after };

  explicit FailingStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  // The n-th call from now on fails, counted from 1, and all later ones too unless `once`. 0: none.
  void fail_at(std::uint64_t n, When when = When::before, bool once = true) {
    calls_ = 0;
    fail_at_ = n;
    when_ = when;
    once_ = once;
  }
  std::uint64_t calls() const { return calls_; }
  // From now on every call that changes something is answered so, and does nothing.
  void refuse_changes(ErrorCode code) { refused_with_ = code; }
  void take_changes() { refused_with_.reset(); }
  // Called first by every call, such as to hold it up; set before others use the store.
  void before_each(std::function<void()> call) { before_each_ = std::move(call); }
  void before_each_commit(std::function<void()> call) { before_each_commit_ = std::move(call); }

  std::string name() const override { return "failing:" + inner_->name(); }
  Result<ConversationRecord> create(const NewConversation& made, const CallOptions& o) override {
    return result<ConversationRecord>([&] { return inner_->create(made, o); });
  }
  Result<ConversationRecord> find(std::string_view id, const CallOptions& o) override {
    return result<ConversationRecord>([&] { return inner_->find(id, o); });
  }
  Result<std::vector<ConversationRecord>> list(const ListOptions& o) override {
    return result<std::vector<ConversationRecord>>([&] { return inner_->list(o); });
  }
  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& o) override {
    return error([&] { return inner_->publish(staged, id, o); });
  }
  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return result<std::vector<VersionRecord>>([&] { return inner_->versions(id, first, end, o); });
  }
  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return result<std::vector<MessageRecord>>([&] { return inner_->messages(id, first, end, o); });
  }
  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& o) override {
    return result<std::vector<Page>>([&] { return inner_->pages(id, numbers, o); });
  }
  Result<std::optional<Checkpoint>> checkpoint(std::string_view id, const CallOptions& o) override {
    return result<std::optional<Checkpoint>>([&] { return inner_->checkpoint(id, o); });
  }
  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& o) override {
    return result<std::optional<VersionRecord>>(
        [&] { return inner_->find_operation(id, operation_id, o); });
  }
  Result<void> commit(const Commit& commit, const CallOptions& o) override {
    if (before_each_commit_) before_each_commit_();
    return error([&] { return inner_->commit(commit, o); });
  }
  Result<void> put_request(const NewRequest& request, const CallOptions& o) override {
    return error([&] { return inner_->put_request(request, o); });
  }
  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes bytes,
                                           const CallOptions& o) override {
    return result<std::vector<RequestRow>>(
        [&] { return inner_->requests(id, first, end, bytes, o); });
  }
  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& o) override {
    return result<std::uint64_t>([&] { return inner_->last_request(id, o); });
  }
  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes bytes, const CallOptions& o) override {
    return result<std::vector<WordsRow>>([&] { return inner_->words(id, first, end, bytes, o); });
  }
  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& o) override {
    return result<std::vector<FoundRequest>>([&] { return inner_->find_requests(keys, o); });
  }
  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& o) override {
    return error([&] { return inner_->redact(id, stubs, removal, o); });
  }
  Result<void> purge(std::string_view id, const Removal& removal, const PurgeOptions& o) override {
    return error([&] { return inner_->purge(id, removal, o); });
  }
  Result<std::vector<RemovalRecord>> removals(std::string_view id, const CallOptions& o) override {
    return result<std::vector<RemovalRecord>>([&] { return inner_->removals(id, o); });
  }
  Result<void> prune(const Prune& prune, const CallOptions& o) override {
    return error([&] { return inner_->prune(prune, o); });
  }
  Result<std::vector<Damage>> check(const CallOptions& o) override {
    return result<std::vector<Damage>>([&] { return inner_->check(o); });
  }
  Result<void> compact(const CallOptions& o) override {
    return error([&] { return inner_->compact(o); });
  }
  Result<void> backup(const std::string& path, const CallOptions& o) override {
    return error([&] { return inner_->backup(path, o); });
  }

 private:
  bool fails() {
    if (before_each_) before_each_();
    const std::uint64_t call = ++calls_;
    return fail_at_ != 0 && (call == fail_at_ || (call > fail_at_ && !once_));
  }
  static Error failure() { return {ErrorCode::unavailable, "the store fails, as it was told to"}; }

  template <class T, class Call>
  Result<T> result(Call call) {
    if (!fails()) return call();
    if (when_ == When::after) static_cast<void>(call());
    return failure();
  }
  template <class Call>
  Result<void> error(Call call) {
    if (refused_with_) return Error{*refused_with_, "the store refuses changes, as it was told to"};
    if (!fails()) return call();
    if (when_ == When::after) static_cast<void>(call());
    return failure();
  }

  std::shared_ptr<Store> inner_;
  std::atomic<std::uint64_t> calls_ = 0;
  std::uint64_t fail_at_ = 0;
  When when_ = When::before;
  bool once_ = true;
  std::optional<ErrorCode> refused_with_ = {};
  std::function<void()> before_each_ = {};
  std::function<void()> before_each_commit_ = {};
};

}  // namespace undertext::test
