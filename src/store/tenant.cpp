#include "store/tenant.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "store/rules.hpp"
#include "store/staged.hpp"

namespace undertext {
namespace {

// Behind every id that begins with the prefix, and before every other one that is behind it.
std::string end_of(std::string_view prefix) { return std::string(prefix) + '\x7f'; }

constexpr char before_keys = '\x1f';  // no key of a user's begins so

class TenantView final : public Store {
 public:
  TenantView(std::shared_ptr<Store> inner, std::string_view tenant)
      : inner_(std::move(inner)), prefix_(tenant.empty() ? "" : std::string(tenant) + "/") {}

  std::string name() const override { return inner_->name(); }
  std::shared_ptr<Store> for_tenant(std::string_view tenant) override {
    return std::make_shared<TenantView>(inner_, tenant);
  }

  Result<ConversationRecord> create(const NewConversation& made,
                                    const CallOptions& options) override {
    if (auto error = bad_own_id(made.id)) return *error;
    NewConversation stored = made;
    stored.id = stored_id(made.id);
    if (made.origin) {
      if (auto error = bad_id(made.origin->conversation)) return *error;
      stored.origin->conversation = stored_id(made.origin->conversation);
    }
    Result<ConversationRecord> record = inner_->create(stored, options);
    if (!record)
      return plain(record.error(),
                   {stored.id, made.origin ? stored.origin->conversation : std::string()});
    return plain(*std::move(record));
  }

  Result<ConversationRecord> find(std::string_view id, const CallOptions& options) override {
    return read<ConversationRecord>(
        id, [&](const std::string& stored) -> Result<ConversationRecord> {
          Result<ConversationRecord> record = inner_->find(stored, options);
          if (!record) return record;
          return plain(*std::move(record));
        });
  }

  Result<std::vector<ConversationRecord>> list(const ListOptions& options) override {
    if (auto error = bad_list(options)) return *error;
    ListOptions inner = options;
    const std::string prefix = options.staged ? "." + prefix_ : prefix_;  // of what is looked for
    inner.after = prefix + (options.staged && !options.after.empty() ? options.after.substr(1)
                                                                     : options.after);
    std::vector<ConversationRecord> found;
    for (;;) {
      inner.limit = options.limit - static_cast<std::uint32_t>(found.size());
      Result<std::vector<ConversationRecord>> some = inner_->list(inner);
      // It may be about what another one owns.
      if (!some && some.error().code == ErrorCode::corrupt)
        return Error{ErrorCode::corrupt, "a record of the store is damaged"};
      if (!some) return some.error();
      const std::string last = some->empty() ? "" : some->back().id;
      const bool is_all = some->size() < inner.limit;
      for (ConversationRecord& record : *some)
        if (is_mine(record.id)) found.push_back(plain(std::move(record)));
      const bool is_beyond = !prefix_.empty() && !last.starts_with(prefix);
      if (is_all || is_beyond || found.size() == options.limit) return found;
      const std::size_t slash = last.find('/');
      inner.after =
          prefix_.empty() && slash != std::string::npos ? end_of(last.substr(0, slash + 1)) : last;
    }
  }

  Result<void> publish(std::string_view staged, std::string_view id,
                       const CallOptions& options) override {
    if (auto error = bad_id(id)) return error;
    return write(staged, [&](const std::string& stored) {
      const std::string given = stored_id(id);
      Result<void> done = inner_->publish(stored, given, options);
      if (!done) done = plain(std::move(done.error()), {given});
      return done;
    });
  }

  Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    return read<std::vector<VersionRecord>>(id, [&](const std::string& stored) {
      return inner_->versions(stored, first, end, options);
    });
  }
  Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                              std::uint64_t end,
                                              const CallOptions& options) override {
    return read<std::vector<MessageRecord>>(id, [&](const std::string& stored) {
      return inner_->messages(stored, first, end, options);
    });
  }
  Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                  const CallOptions& options) override {
    return read<std::vector<Page>>(
        id, [&](const std::string& stored) { return inner_->pages(stored, numbers, options); });
  }
  Result<std::optional<Checkpoint>> checkpoint(std::string_view id,
                                               const CallOptions& options) override {
    return read<std::optional<Checkpoint>>(
        id, [&](const std::string& stored) { return inner_->checkpoint(stored, options); });
  }
  Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                      std::string_view operation_id,
                                                      const CallOptions& options) override {
    return read<std::optional<VersionRecord>>(id, [&](const std::string& stored) {
      return inner_->find_operation(stored, operation_id, options);
    });
  }

  Result<void> commit(const Commit& commit, const CallOptions& options) override {
    if (prefix_.empty()) {
      if (auto error = bad_own_id(commit.conversation)) return error;
      return inner_->commit(commit, options);
    }
    return write(commit.conversation, [&](const std::string& stored) {
      Commit mine = commit;
      mine.conversation = stored;
      for (MessageRecord& message : mine.messages)
        if (message.stored_in)
          message.stored_in->conversation = stored_id(message.stored_in->conversation);
      return inner_->commit(mine, options);
    });
  }

  Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                      const Removal& removal, const CallOptions& options) override {
    return write(id, [&](const std::string& stored) {
      return inner_->redact(stored, stubs, removal, options);
    });
  }
  Result<void> purge(std::string_view id, const Removal& removal,
                     const PurgeOptions& options) override {
    return write(
        id, [&](const std::string& stored) { return inner_->purge(stored, removal, options); });
  }

  Result<std::vector<RemovalRecord>> removals(std::string_view id,
                                              const CallOptions& options) override {
    return read<std::vector<RemovalRecord>>(id, [&](const std::string& stored) {
      Result<std::vector<RemovalRecord>> found = inner_->removals(stored, options);
      if (found)
        for (RemovalRecord& removal : *found)
          removal.conversation = plain_id(std::move(removal.conversation));
      return found;
    });
  }

  Result<void> prune(const Prune& prune, const CallOptions& options) override {
    return write(prune.conversation, [&](const std::string& stored) {
      Prune mine = prune;
      mine.conversation = stored;
      return inner_->prune(mine, options);
    });
  }

  Result<void> put_request(const NewRequest& request, const CallOptions& options) override {
    for (const std::string& key : request.row.keys)
      if (auto error = bad_request_key(key)) return error;
    return write(request.conversation, [&](const std::string& stored) {
      NewRequest mine = request;
      mine.conversation = stored;
      for (std::string& key : mine.row.keys) key = stored_key(key);
      return inner_->put_request(mine, options);
    });
  }
  Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                           std::uint64_t end, RequestBytes bytes,
                                           const CallOptions& options) override {
    return read<std::vector<RequestRow>>(id, [&](const std::string& stored) {
      Result<std::vector<RequestRow>> rows = inner_->requests(stored, first, end, bytes, options);
      if (rows)
        for (RequestRow& row : *rows)
          for (std::string& key : row.keys) key = plain_key(std::move(key));
      return rows;
    });
  }
  Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end,
                                      WordsBytes bytes, const CallOptions& options) override {
    return read<std::vector<WordsRow>>(id, [&](const std::string& stored) {
      return inner_->words(stored, first, end, bytes, options);
    });
  }
  Result<std::uint64_t> last_request(std::string_view id, const CallOptions& options) override {
    return read<std::uint64_t>(
        id, [&](const std::string& stored) { return inner_->last_request(stored, options); });
  }
  Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                  const CallOptions& options) override {
    std::vector<std::string> mine;
    for (const std::string& key : keys)
      if (!bad_request_key(key)) mine.push_back(stored_key(key));
    Result<std::vector<FoundRequest>> found = inner_->find_requests(mine, options);
    if (!found) return found;
    std::erase_if(*found, [&](const FoundRequest& one) { return !is_mine(one.conversation); });
    for (FoundRequest& one : *found) {
      one.key = plain_key(std::move(one.key));
      one.conversation = plain_id(std::move(one.conversation));
    }
    return found;
  }

  Result<std::uint64_t> size_bytes(std::string_view id, const CallOptions& options) override {
    return read<std::uint64_t>(
        id, [&](const std::string& stored) { return inner_->size_bytes(stored, options); });
  }

  // What is wrong with the store itself concerns all; the operator hears of everything.
  Result<std::vector<Damage>> check(const CallOptions& options) override {
    Result<std::vector<Damage>> damage = inner_->check(options);
    if (!damage || prefix_.empty()) return damage;
    std::erase_if(*damage, [&](const Damage& one) {
      return !one.conversation.empty() && !is_mine(one.conversation);
    });
    for (Damage& one : *damage) {
      one.what = without(std::move(one.what), one.conversation);
      if (!one.conversation.empty()) one.conversation = plain_id(std::move(one.conversation));
    }
    return damage;
  }

  Result<void> compact(const CallOptions& options) override { return inner_->compact(options); }

  Result<void> backup(const std::string& path, const CallOptions& options) override {
    if (prefix_.empty()) return inner_->backup(path, options);
    return Error{ErrorCode::unsupported,
                 "a backup is of the whole store, and not one tenant's to make"};
  }

 private:
  // The dot of what is staged comes before the tenant too.
  std::string stored_id(std::string_view id) const {
    return is_staged_id(id) ? "." + prefix_ + std::string(id.substr(1)) : prefix_ + std::string(id);
  }
  std::string plain_id(std::string stored) const {
    return stored.erase(stored.starts_with('.') ? 1 : 0, prefix_.size());
  }
  std::string stored_key(const std::string& key) const {
    return prefix_.empty() ? key : before_keys + prefix_ + key;
  }
  std::string plain_key(std::string stored) const {
    return prefix_.empty() ? stored : stored.erase(0, 1 + prefix_.size());
  }
  bool is_mine(std::string_view stored) const {
    if (prefix_.empty()) return stored.find('/') == std::string_view::npos;
    return stored.substr(stored.starts_with('.') ? 1 : 0).starts_with(prefix_);
  }

  ConversationRecord plain(ConversationRecord record) const {
    record.id = plain_id(std::move(record.id));
    if (record.origin)
      record.origin->conversation = plain_id(std::move(record.origin->conversation));
    for (std::string& fork : record.forks) fork = plain_id(std::move(fork));
    return record;
  }

  // The text with the stored id spelled as its tenant knows it.
  std::string without(std::string text, const std::string& stored) const {
    if (prefix_.empty() || stored.empty()) return text;
    for (std::size_t at = text.find(stored); at != std::string::npos;
         at = text.find(stored, at + stored.size() - prefix_.size()))
      text.erase(stored.starts_with('.') ? at + 1 : at, prefix_.size());
    return text;
  }
  Error plain(Error error, std::initializer_list<std::string> stored_ids) const {
    for (const std::string& id : stored_ids) error.message = without(std::move(error.message), id);
    return error;
  }

  template <class T, class Function>
  Result<T> read(std::string_view id, Function function) {
    if (auto error = bad_own_id(id)) return *error;
    const std::string stored = stored_id(id);
    Result<T> answer = function(stored);
    if (!answer) return plain(answer.error(), {stored});
    return answer;
  }

  template <class Function>
  Result<void> write(std::string_view id, Function function) {
    if (auto error = bad_own_id(id)) return error;
    const std::string stored = stored_id(id);
    Result<void> done = function(stored);
    if (!done) done = plain(std::move(done.error()), {stored});
    return done;
  }

  const std::shared_ptr<Store> inner_;
  // of every stored id: the tenant and a slash, or nothing for the operator
  const std::string prefix_;
};

}  // namespace

bool is_tenant_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), good);
}

Result<std::shared_ptr<Store>> store_of_tenant(std::shared_ptr<Store> store,
                                               std::string_view tenant) {
  if (tenant == operators_tenant) tenant = "";
  if (!tenant.empty() && !is_tenant_name(tenant))
    return Error{ErrorCode::invalid_argument, "a tenant's name is 1 to 64 of A-Z a-z 0-9 _ -",
                 "tenant"};
  if (std::shared_ptr<Store> own = store->for_tenant(tenant)) return own;
  return std::shared_ptr<Store>(std::make_shared<TenantView>(std::move(store), tenant));
}

}  // namespace undertext
