#include "server/once.hpp"

#include <cstring>
#include <utility>

#include <undertext/conversation.hpp>

#include "engine/tries.hpp"
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
  return {record.id, record.settings.substr(0, digest_letters),
          record.settings.substr(digest_letters), is_new};
}

// The first to come with the key leaves its own request and id.
KeptKey keep_key(Store& store, const std::string& key, const std::string& request,
                 const MakingOnce& making) {
  const Digest digest = sha256(key);
  const std::string record_id = hidden_id(hex(digest));
  for (Tries tries;;) {
    const Result<ConversationRecord> known = store.find(record_id);
    if (known) return read_kept(*known, false);
    if (known.error().code != ErrorCode::not_found) throw Failure(known.error());
    if (store.find(making.id)) throw Failure(id_taken(making.id));
    const std::int64_t now = wall_clock_ms();
    // of 256 keys one looks after those of yesterday
    if (digest.front() == 0) discard_abandoned(store, now).value();
    const Result<ConversationRecord> kept =
        store.create({.id = record_id, .settings = request + making.id, .created_at_ms = now});
    if (kept) return read_kept(*kept, true);
    if (!tries.may_retry(kept.error())) throw Failure(kept.error());
  }
}

}  // namespace

Parameter idempotency_key(std::string what) {
  return {.name = "Idempotency-Key",
          .in = Parameter::In::header,
          .what = std::move(what),
          .least = 1,
          .most = 255};
}

http::Reply key_reused() {
  return error_reply(
      {ErrorCode::invalid_argument, "this key was given for another request", "Idempotency-Key"},
      422);
}

http::Reply make_once(Store& store, const Call& call, const MakingOnce& making) {
  const std::string* key = call.find("Idempotency-Key");
  if (key == nullptr) return making.make(making.id, {});
  const std::string request = hex(sha256(making.what + "\n" + hex(sha256(call.request.body))));
  const KeptKey kept = keep_key(store, *key, request, making);
  if (kept.request != request) return key_reused();
  const std::string mark = hex(sha256(*key + "\n" + request));
  const auto is_made = [&] {
    const Result<std::string> maker = Conversation::stored_maker(store, kept.id);
    return maker && *maker == mark;
  };
  const auto again = [&] { return making.again(store.find(kept.id).value()); };
  if (!kept.is_new && is_made()) return again();
  try {
    return making.make(kept.id, mark);
  } catch (const Failure& failure) {
    const bool is_conflict = failure.error().code == ErrorCode::conflict;
    // It was not there a moment ago: a request with the same key, which came at the same time, was
    // first.
    if (is_conflict && is_made()) return again();
    // What the key made was taken out since, and its id with it: the key makes nothing else.
    const bool was_taken_out = is_conflict && !kept.is_new && !store.find(kept.id);
    // Errors are not remembered. After `unavailable` it may have happened all the same, and the
    // next one finds out.
    if (failure.error().code != ErrorCode::unavailable && !was_taken_out)
      static_cast<void>(store.purge(kept.record_id, {}));
    throw;
  }
}

bool RequestsByKey::begin(std::string_view key, std::string_view request) {
  const std::uint64_t key_digest = short_digest(key), request_digest = short_digest(request);
  const std::lock_guard lock(lock_);
  const auto [found, is_new] = requests_.try_emplace(key_digest, Known{.request = request_digest});
  Known& known = found->second;
  if (is_new) {
    order_.push_back(key_digest);
  } else if (known.request != request_digest) {
    if (known.at_work > 0 || known.is_done) return false;
    known.request = request_digest;
  }
  ++known.at_work;
  if (order_.size() > count_max_) {
    requests_.erase(order_.front());
    order_.pop_front();
  }
  return true;
}

void RequestsByKey::end(std::string_view key, bool is_done) {
  const std::lock_guard lock(lock_);
  const auto found = requests_.find(short_digest(key));
  if (found == requests_.end()) return;  // forgotten meanwhile, for so many came
  Known& known = found->second;
  if (known.at_work > 0) --known.at_work;
  known.is_done = known.is_done || is_done;
}

}  // namespace undertext
