#include <algorithm>
#include <deque>

#include <undertext/store.hpp>

#include "store/chain.hpp"
#include "store/rules.hpp"

namespace undertext {
namespace {

// What the walk over a conversation's versions goes on from.
struct Place {
  std::uint64_t version = 0;
  std::uint64_t log_length = 0;
  Digest chain = {};
};

class Checker {
 public:
  Checker(Store& store, const CallOptions& options) : store_(store), options_(options) {}

  std::optional<Error> check(std::string_view id) {
    id_ = id;
    messages_.clear();
    Result<ConversationRecord> found = store_.find(id, options_);
    // Purged since it was listed.
    if (!found && found.error().code == ErrorCode::not_found && listed_) return std::nullopt;
    if (!found) return damage_or_error(found.error());
    record_ = *std::move(found);
    ++report_.conversations;
    if (auto error = check_links()) return error;
    Result<Place> begin = first_place();
    if (!begin) return damage_or_error(begin.error());
    place_ = *begin;
    next_message_ = record_.origin ? record_.origin->log_length : 0;
    // Below the first version that was not pruned, nothing is left to compare them with.
    while (next_message_ < place_.log_length) {
      Result<bool> taken = take_message();
      if (!taken) return damage_or_error(taken.error());
      if (!*taken) break;
    }
    stored_.clear();
    next_message_ = place_.log_length;
    if (auto error = walk()) return damage_or_error(*error);
    return std::nullopt;
  }

  std::optional<Error> check_all() {
    listed_ = true;
    ListOptions list{.call = options_};
    for (;;) {
      Result<std::vector<ConversationRecord>> some = store_.list(list);
      if (!some) {
        id_.clear();
        return damage_or_error(some.error());
      }
      for (const ConversationRecord& record : *some)
        if (auto error = check(record.id)) return error;
      if (some->size() < list.limit) return std::nullopt;
      list.after = some->back().id;
    }
  }

  CheckReport& report() { return report_; }

 private:
  void damage(std::string what) { report_.damage.push_back({id_, std::move(what)}); }

  // What cannot be read for good is damage, and the rest is still worth looking at.
  std::optional<Error> damage_or_error(const Error& error) {
    if (error.code != ErrorCode::corrupt) return error;
    damage(error.message);
    return std::nullopt;
  }

  // Somebody may have written since the record was read.
  bool is_after_the_last(const Checkpoint& checkpoint) {
    const Result<ConversationRecord> now = store_.find(id_, options_);
    return now && checkpoint.version > now->version;
  }

  std::optional<Error> check_links() {
    Result<std::optional<Checkpoint>> checkpoint = store_.checkpoint(id_, options_);
    if (!checkpoint) {
      if (auto error = damage_or_error(checkpoint.error())) return error;
    } else if (*checkpoint && (*checkpoint)->version > record_.version &&
               is_after_the_last(**checkpoint)) {
      damage("the checkpoint is of version " + std::to_string((*checkpoint)->version) +
             ", after the last one");
    }
    for (const std::string& fork : record_.forks) {
      Result<ConversationRecord> found = store_.find(fork, options_);
      const bool is_fork = found && found->origin && found->origin->conversation == id_;
      if (!is_fork && (found || found.error().code == ErrorCode::corrupt))
        damage("its fork " + fork + " does not know it");
    }
    return std::nullopt;
  }

  // The chain at a version, wherever it is kept.
  Result<Digest> chain_at(ConversationRecord record, std::uint64_t version) {
    while (record.origin && version <= record.origin->version) {
      Result<ConversationRecord> origin = store_.find(record.origin->conversation, options_);
      if (!origin && origin.error().code != ErrorCode::not_found &&
          origin.error().code != ErrorCode::corrupt)
        return origin.error();
      if (!origin)
        return Error{ErrorCode::corrupt, "its origin " + record.origin->conversation +
                                             " cannot be read: " + origin.error().message};
      record = *std::move(origin);
    }
    // Of a tenant's conversation, the name that the tenant gave it.
    if (version == 0)
      return first_chain(std::string_view(record.id).substr(record.id.rfind('/') + 1));
    Result<std::vector<VersionRecord>> found =
        store_.versions(record.id, version, version + 1, options_);
    if (!found) return found.error();
    if (found->empty())
      return Error{ErrorCode::corrupt,
                   "version " + std::to_string(version) + " of " + record.id + " is missing"};
    return found->front().chain;
  }

  Result<Place> first_place() {
    Place place;
    if (record_.origin) place = {record_.origin->version, record_.origin->log_length, {}};
    if (record_.first_version > place.version) {
      Result<std::vector<VersionRecord>> found =
          store_.versions(record_.id, record_.first_version, record_.first_version + 1, options_);
      if (!found) return found.error();
      if (found->empty())
        return Error{ErrorCode::corrupt, "what its versions go on from, " +
                                             std::to_string(record_.first_version) +
                                             ", is missing"};
      return Place{found->front().version, found->front().log_length, found->front().chain};
    }
    Result<Digest> chain = chain_at(record_, place.version);
    if (!chain) return chain.error();
    place.chain = *chain;
    return place;
  }

  // The next message into stored_; false: it is missing.
  Result<bool> take_message() {
    if (messages_.empty()) {
      Result<std::vector<MessageRecord>> some =
          store_.messages(id_, next_message_, record_.log_length, options_);
      if (!some) return some.error();
      messages_.assign(std::make_move_iterator(some->begin()),
                       std::make_move_iterator(some->end()));
    }
    if (messages_.empty() || messages_.front().ordinal != next_message_) {
      damage("message " + std::to_string(next_message_) + " is missing");
      messages_.clear();
      return false;
    }
    ++report_.messages;
    ++next_message_;
    stored_.push_back(std::move(messages_.front()));
    messages_.pop_front();
    return true;
  }

  std::optional<Error> walk() {
    while (place_.version < record_.version) {
      Result<std::vector<VersionRecord>> some =
          store_.versions(id_, place_.version + 1, record_.version + 1, options_);
      if (!some) return some.error();
      if (some->empty() || some->front().version != place_.version + 1) {
        damage("version " + std::to_string(place_.version + 1) + " is missing");
        return std::nullopt;
      }
      for (const VersionRecord& version : *some) {
        if (version.version != place_.version + 1) break;  // asked for again, and then missing
        if (auto error = check_version(version)) return error;
      }
    }
    if (record_.log_length != place_.log_length)
      damage("the log's length is not that of the last version");
    if (record_.chain != place_.chain) damage("the chain is not that of the last version");
    return std::nullopt;
  }

  std::optional<Error> check_version(const VersionRecord& version) {
    ++report_.versions;
    stored_.clear();
    bool complete =
        version.log_length >= place_.log_length && version.log_length <= record_.log_length;
    if (!complete)
      damage("version " + std::to_string(version.version) +
             ": the length of its log cannot be right");
    while (complete && next_message_ < version.log_length) {
      Result<bool> taken = take_message();
      if (!taken) return taken.error();
      complete = *taken;
    }
    if (complete && !are_redacted(version.arguments) &&
        next_chain(place_.chain, version, stored_) != version.chain)
      damage("version " + std::to_string(version.version) +
             ": record and messages are not what was stored (its chain of digests differs)");
    // From here on as if all had been well, so that each fault is told once.
    place_ = {version.version, version.log_length, version.chain};
    if (next_message_ != version.log_length) messages_.clear();
    next_message_ = version.log_length;
    return std::nullopt;
  }

  Store& store_;
  const CallOptions& options_;
  CheckReport report_;
  bool listed_ = false;
  std::string id_;
  ConversationRecord record_;
  Place place_;
  std::deque<MessageRecord> messages_;  // read ahead, from next_message_ on
  std::vector<MessageRecord> stored_;   // by the version at hand
  std::uint64_t next_message_ = 0;
};

}  // namespace

Result<CheckReport> check_store(Store& store, std::string_view id, const CallOptions& options) {
  Checker checker(store, options);
  if (id.empty()) {
    Result<std::vector<Damage>> own = store.check(options);
    if (!own) return own.error();
    checker.report().damage = *std::move(own);
  }
  if (auto error = id.empty() ? checker.check_all() : checker.check(id)) return *error;
  return std::move(checker.report());
}

}  // namespace undertext
