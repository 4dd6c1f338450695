#include "server/quota_store.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds between_counts{10};

struct Used {
  std::uint64_t bytes = 0, conversations = 0;
  void add(const Used& more) {
    bytes += more.bytes;
    conversations += more.conversations;
  }
  void take_away(const Used& less) {
    bytes -= less.bytes;
    conversations -= less.conversations;
  }
};

// A checkpoint, or words of what is stored already: made from operations that were within the
// quota.
bool is_new(const Commit& commit) { return !commit.messages.empty() || !commit.versions.empty(); }

std::uint64_t bytes_of(const Commit& commit) {
  std::uint64_t bytes = 0;
  for (const MessageRecord& message : commit.messages) bytes += message.body.size();
  for (const VersionRecord& version : commit.versions)
    bytes += version.arguments.size() + version.answer.size();
  for (const Page& page : commit.pages) bytes += page.bytes.size();
  for (const WordsRow& row : commit.words) bytes += row.bytes.size();
  return bytes;
}

class QuotaStore final : public Store {
 public:
  QuotaStore(std::shared_ptr<Store> inner, Quota quota,
             std::shared_ptr<std::atomic<std::uint64_t>> refused)
      : inner_(std::move(inner)), quota_(quota), refused_(std::move(refused)) {}

  std::string name() const override { return inner_->name(); }

  Result<ConversationRecord> create(const NewConversation& made, const CallOptions& o) override {
    std::uint64_t bytes = made.settings.size();
    for (const Page& page : made.pages) bytes += page.bytes.size();
    return within({bytes, 1}, o, [&] { return inner_->create(made, o); });
  }
  Result<void> commit(const Commit& commit, const CallOptions& o) override {
    const Used more{bytes_of(commit), 0};
    if (is_new(commit)) return within(more, o, [&] { return inner_->commit(commit, o); });
    Result<void> done = inner_->commit(commit, o);
    const std::lock_guard lock(lock_);
    if (done && used_) used_->add(more);
    return done;
  }
  Result<void> put_request(const NewRequest& request, const CallOptions& o) override {
    const RequestRow& row = request.row;
    const Used more{row.facts.size() + row.parts.size() + row.request.size() + row.answer.size(),
                    0};
    return within(more, o, [&] { return inner_->put_request(request, o); });
  }
  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& o) override {
    return recounted(inner_->redact(id, stubs, removal, o));
  }
  Result<void> purge(std::string_view id, const Removal& removal, const PurgeOptions& o) override {
    return recounted(inner_->purge(id, removal, o));
  }
  Result<void> prune(const Prune& prune, const CallOptions& o) override {
    return recounted(inner_->prune(prune, o));
  }

  Result<ConversationRecord> find(std::string_view id, const CallOptions& o) override {
    return inner_->find(id, o);
  }
  Result<std::vector<ConversationRecord>> list(const ListOptions& o) override {
    return inner_->list(o);
  }
  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& o) override {
    return inner_->publish(staged, id, o);
  }
  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return inner_->versions(id, first, end, o);
  }
  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, const CallOptions& o) override {
    return inner_->messages(id, first, end, o);
  }
  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& o) override {
    return inner_->pages(id, numbers, o);
  }
  Result<std::optional<Checkpoint>> checkpoint(std::string_view id, const CallOptions& o) override {
    return inner_->checkpoint(id, o);
  }
  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& o) override {
    return inner_->find_operation(id, operation_id, o);
  }
  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes bytes,
                                           const CallOptions& o) override {
    return inner_->requests(id, first, end, bytes, o);
  }
  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& o) override {
    return inner_->last_request(id, o);
  }
  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes bytes, const CallOptions& o) override {
    return inner_->words(id, first, end, bytes, o);
  }
  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& o) override {
    return inner_->find_requests(keys, o);
  }
  Result<std::vector<RemovalRecord>> removals(std::string_view id, const CallOptions& o) override {
    return inner_->removals(id, o);
  }
  Result<std::uint64_t> size_bytes(std::string_view id, const CallOptions& o) override {
    return inner_->size_bytes(id, o);
  }
  Result<std::vector<Damage>> check(const CallOptions& o) override { return inner_->check(o); }
  Result<void> compact(const CallOptions& o) override { return inner_->compact(o); }
  Result<void> backup(const std::string& path, const CallOptions& o) override {
    return inner_->backup(path, o);
  }

 private:
  bool fits(const Used& more) const {
    const auto has_room = [](std::uint64_t used, std::uint64_t under_way, std::uint64_t asked,
                             std::uint64_t most) {
      return used <= most && under_way <= most - used && asked <= most - used - under_way;
    };
    return has_room(used_->bytes, under_way_.bytes, more.bytes, quota_.bytes_max) &&
           has_room(used_->conversations, under_way_.conversations, more.conversations,
                    quota_.conversations_max);
  }

  // Carries out a call that stores so much. Its bytes are set aside before, so that calls at the
  // same time do not fit where one does.
  template <class Call>
  auto within(const Used& more, const CallOptions& options, Call call) -> decltype(call()) {
    if (auto error = set_aside(more, options)) return *std::move(error);
    const Aside aside(*this, more);
    auto done = call();
    const std::lock_guard lock(lock_);
    if (done && used_) used_->add(more);
    // It may be stored all the same.
    if (!done && done.error().code == ErrorCode::unavailable) used_.reset();
    return done;
  }

  // Ends what set_aside() began, also where the call threw.
  class Aside {
   public:
    Aside(QuotaStore& of, const Used& more) : of_(of), more_(more) {}
    ~Aside() {
      const std::lock_guard lock(of_.lock_);
      of_.under_way_.take_away(more_);
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    QuotaStore& of_;
    const Used more_;
  };

  std::optional<Error> set_aside(const Used& more, const CallOptions& options) {
    const std::lock_guard lock(lock_);
    if (!used_ || (!fits(more) && Clock::now() - counted_at_ >= between_counts))
      if (auto error = count(options)) return error;
    if (fits(more)) {
      under_way_.add(more);
      return std::nullopt;
    }
    refused_->fetch_add(1, std::memory_order_relaxed);
    const bool is_number = used_->conversations + under_way_.conversations + more.conversations >
                           quota_.conversations_max;
    const std::string most = is_number ? std::to_string(quota_.conversations_max) + " conversations"
                                       : std::to_string(quota_.bytes_max >> 20) + " MiB";
    return Error{ErrorCode::too_large,
                 "the tenant may store " + most + ", and has: purge or prune some first", "quota"};
  }

  std::optional<Error> count(const CallOptions& options) {
    Used used;
    for (const bool staged : {false, true}) {
      ListOptions list{.limit = 1000, .staged = staged, .call = options};
      for (;;) {
        const Result<std::vector<ConversationRecord>> some = inner_->list(list);
        if (!some) return some.error();
        for (const ConversationRecord& record : *some) {
          const Result<std::uint64_t> bytes = inner_->size_bytes(record.id, options);
          if (!bytes && bytes.error().code == ErrorCode::not_found) continue;  // purged in between
          if (!bytes) return bytes.error();
          used.bytes += *bytes;
          ++used.conversations;
        }
        if (some->size() < list.limit) break;
        list.after = some->back().id;
      }
    }
    used_ = used;
    counted_at_ = Clock::now();
    return std::nullopt;
  }

  Result<void> recounted(Result<void> done) {
    const std::lock_guard lock(lock_);
    used_.reset();
    return done;
  }

  const std::shared_ptr<Store> inner_;
  const Quota quota_;
  const std::shared_ptr<std::atomic<std::uint64_t>> refused_;
  std::mutex lock_;
  std::optional<Used> used_;  // guarded by lock_; nothing: to be counted
  Used under_way_;            // guarded by lock_; of calls that have not returned
  Clock::time_point counted_at_;
};

}  // namespace

std::shared_ptr<Store> within_quota(std::shared_ptr<Store> store, Quota quota,
                                    std::shared_ptr<std::atomic<std::uint64_t>> refused) {
  if (!quota.is_set()) return store;
  return std::make_shared<QuotaStore>(std::move(store), quota, std::move(refused));
}

}  // namespace undertext
