#include "server/once.hpp"

#include <cstring>
#include <utility>

#include "server/wall_clock.hpp"
#include "store/chain.hpp"
#include "store/rules.hpp"
#include "store/staged.hpp"
#include "transfer/import.hpp"

namespace undertext {
namespace {

constexpr std::size_t digest_letters = 64;

std::uint64_t short_digest(std::string_view text) {
  const Digest digest = sha256(text);
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

// What is kept of a key: the digest of its request, and the id.
struct KeptKey {
  std::string record_id;
  std::string request, id;
  bool is_new = false;  // made by this call
};

KeptKey read_kept(const ConversationRecord& record, bool is_new) {
  return {record.id, record.settings.substr(0, digest_letters), record.settings.substr(digest_letters), is_new};
}

// The first to come with the key leaves its own request and id.
KeptKey keep_key(Store& store, const std::string& key, const std::string& request, const MakingOnce& making) {
  const Digest digest = sha256(key);
  const std::string record_id = hidden_id(hex(digest));
  for (;;) {
    const Result<ConversationRecord> known = store.find(record_id);
    if (known) return read_kept(*known, false);
    if (known.error().code != ErrorCode::not_found) throw Failure(known.error());
    if (store.find(making.id)) throw Failure(id_taken(making.id));
    const std::int64_t now = wall_clock_ms();
    if (digest.front() == 0) discard_abandoned(store, now).value();  // of 256 keys one looks after those of yesterday
    const Result<ConversationRecord> kept = store.create({.id = record_id, .settings = request + making.id, .created_at_ms = now});
    if (kept) return read_kept(*kept, true);
    if (kept.error().code != ErrorCode::conflict) throw Failure(kept.error());
  }
}

}  // namespace

Parameter idempotency_key(std::string what) {
  return {.name = "Idempotency-Key", .in = Parameter::In::header, .what = std::move(what), .least = 1, .most = 255};
}

http::Reply key_reused() {
  return error_reply({ErrorCode::invalid_argument, "this key was given for another request", "Idempotency-Key"}, 422);
}

http::Reply make_once(Store& store, const Call& call, const MakingOnce& making) {
  const std::string* key = call.find("Idempotency-Key");
  if (key == nullptr) return making.make(making.id);
  const std::string request = hex(sha256(making.what + "\n" + hex(sha256(call.request.body))));
  const KeptKey kept = keep_key(store, *key, request, making);
  if (kept.request != request) return key_reused();
  const auto already = [&] { return store.find(kept.id); };
  if (!kept.is_new)
    if (const Result<ConversationRecord> made = already()) return making.again(*made);
  try {
    return making.make(kept.id);
  } catch (const Failure& failure) {
    // It was not there a moment ago: a request with the same key, which came at the same time, was first.
    if (failure.error().code == ErrorCode::conflict)
      if (const Result<ConversationRecord> made = already()) return making.again(*made);
    // Errors are not remembered. After `unavailable` it may have happened all the same, and the next one finds out.
    if (failure.error().code != ErrorCode::unavailable) store.purge(kept.record_id, {});
    throw;
  }
}

bool RequestsByKey::is_another(std::string_view key, std::string_view request) const {
  const std::uint64_t key_digest = short_digest(key), request_digest = short_digest(request);
  const std::lock_guard lock(lock_);
  const auto found = requests_.find(key_digest);
  return found != requests_.end() && found->second != request_digest;
}

void RequestsByKey::remember(std::string_view key, std::string_view request) {
  const std::uint64_t key_digest = short_digest(key), request_digest = short_digest(request);
  const std::lock_guard lock(lock_);
  if (!requests_.emplace(key_digest, request_digest).second) return;
  order_.push_back(key_digest);
  if (order_.size() <= count_max_) return;
  requests_.erase(order_.front());
  order_.pop_front();
}

}  // namespace undertext
